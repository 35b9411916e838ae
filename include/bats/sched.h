/*
 * sched: the scheduling engine. Events in, commands and notices out.
 *
 * Layer: engine, pure: it has no clock, no threads and no I/O. A driver (the
 * MPI master, the simulator, a test) reports what happened and when; the
 * answers wait in a queue:
 *
 *     bats_sched_handle(s, now, &event, &err);
 *     while (bats_sched_next(s, &command))
 *         carry out the command;
 *     come back at bats_sched_wakeup(s) at the latest, with a tick
 *
 * The engine decides which machines are held (policy), which task runs where,
 * which execution is stopped at the end of a paid window, and when the run is
 * over. The same events give the same commands on every machine.
 *
 * An execution is a task in a slot. A task may have several at the same time
 * (replicas, see tail.h). The first one that is DONE gives the task's result,
 * and the others are told to stop; their answers only end these executions. An
 * execution that ends otherwise does not end the task while others are left.
 *
 * Invariants:
 *   - charged + held <= budget at every instant, also for each workflow
 *     (purse.h);
 *   - charged = sum over machines of windows entered x charge; or the
 *     allocation's bill so far (billing.h); or the certain part of the
 *     machines' cost by age (tariff.h), while the most that they may cost
 *     until the ends of their windows is held;
 *   - every task is in exactly one state and has at most one result;
 *   - a task runs only when it no longer waits for others (graph.h);
 *   - a machine runs tasks only inside paid windows;
 *   - a replica is alone in its slot, and no window is entered for it.
 *
 * In an allocation (billing.h) an idle machine costs as much as a working one.
 * So every policy does the same there: it holds all machines from the start,
 * in one endless window, until the bag is empty or the budget nearly spent.
 * The budget acts as a time limit: tasks not expected to end by then are not
 * started, and running ones are stopped then.
 *
 * Machines may be reclaimed after a NOTICE. From then on no task begins there
 * that is not expected to end in time; running tasks that will not make it are
 * told to stop, to continue elsewhere (with their state, if they save it); and
 * no further machine of a reclaimable cluster is acquired until this one is
 * gone, because others are likely to follow (Sampaio, Barbosa 2020, III.D).
 *
 * Machines that are jobs (billing.h) can be requested from the start, so the
 * driver sends a first tick at once. A job has one window, which may be
 * shorter or longer than others (billing.h: step). If the plan wants the
 * machine for longer, a successor is requested early enough to begin before
 * the job ends, judging by the waits so far. An idle job is ended at once; in
 * an open bag after as long as it took to join, at most a minute. A queued one
 * that the plan no longer wants is withdrawn. A task that was cut off three
 * times after a whole window or block has failed: there are no longer ones.
 */
#ifndef BATS_SCHED_H
#define BATS_SCHED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/billing.h"
#include "bats/choice.h"
#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/goal.h"
#include "bats/graph.h"
#include "bats/need.h"
#include "bats/policy.h"
#include "bats/purse.h"
#include "bats/rules.h"
#include "bats/strategy.h"
#include "bats/tail.h"
#include "bats/units.h"

struct bats_instance; /* answers.h */
struct bats_prior;    /* prior.h */

struct bats_sched; /* opaque */

/* ---- events ---- */

enum bats_event_type {
    BATS_EVENT_JOINED,    /* machine: it is present and idle, uncharged; a job:
                             it began `runtime` ago and may work for a window;
                             ignored if it was PARKED before */
    BATS_EVENT_LOST,      /* machine: it will not come back. A job: it is gone,
                             BILLED follows, and then another may be
                             requested */
    BATS_EVENT_DONE,      /* machine, slot, task, runtime: exit status 0 */
    BATS_EVENT_FAILED,    /* the same, any other end of the task itself */
    BATS_EVENT_PREEMPTED, /* machine, slot, task: stopped by a CANCEL, or never
                             started because of it; or lost although its
                             machine, in an unreliable cluster, stays */
    BATS_EVENT_YIELDED,   /* machine, slot, task: it saved its state and wants
                             to run again; no failure */
    BATS_EVENT_CHOSEN,    /* choice: the answer to SAMPLED */
    BATS_EVENT_TICK,      /* only time has passed */
    BATS_EVENT_DRAIN,     /* start nothing more; running tasks may end */
    BATS_EVENT_STOP,      /* cancel everything and end */
    BATS_EVENT_HOLD,      /* start nothing and enter no window */
    BATS_EVENT_GO,        /* end of HOLD */
    BATS_EVENT_KILLED,    /* the driver was killed and has come back: all held
                             money, except for jobs, is charged (also to
                             workflows), and no further event may follow */
    BATS_EVENT_FOUND,     /* machine, slot, task: it already runs there, begun
                             in an earlier session. Answered by RUN, which need
                             not be carried out, or by nothing if the execution
                             is not wanted (see bats_sched_execution). The slot
                             must be idle. Between HOLD and GO */

    /* With options.open: */
    BATS_EVENT_ADDED,     /* task, category, need: a task that was left out is
                             added at the end of the bag. The need becomes that
                             of its category if this has had no task yet.
                             Without options.needs the category is 0 */
    BATS_EVENT_WITHDRAWN, /* task: it is no longer wanted. Answered by SKIP; if
                             it runs, it is told to stop, and fails */
    BATS_EVENT_SHUT,      /* nothing more will be added */

    /* Machines that are jobs (billing.h): */
    BATS_EVENT_ENDS,   /* machine, runtime: its job may work for this time from
                          now instead of a window: it has another limit, or
                          will be preempted */
    BATS_EVENT_BILLED, /* machine, amount: bill of its ended job; or
                          BATS_NO_MACHINE: of a job of an earlier session */
    BATS_EVENT_CLOSED, /* machine: it can have no further job */
    BATS_EVENT_RETIRED, /* machine: running tasks of its job may end, but it
                           gets no more; its next job may. Other machines: LOST
                           follows when it is idle */

    BATS_EVENT_NOTICE /* machine, runtime: it will be reclaimed after this
                         time, whatever its kind; LOST may follow then */
};

/* The event names a machine but neither a slot nor a task. */
static inline bool bats_is_job_event(enum bats_event_type type)
{
    return type >= BATS_EVENT_ENDS;
}

struct bats_event {
    enum bats_event_type type;
    uint32_t machine;
    uint32_t slot;         /* 0 .. slots of the machine - 1 */
    uint32_t task;         /* 0 .. n_tasks - 1 */
    bats_time runtime;     /* DONE, FAILED: how long the task ran */
    bats_money amount;     /* BILLED */
    int64_t energy_j;      /* BILLED: that the job used, joules; 0: unknown */
    uint16_t category;     /* ADDED */
    struct bats_need need; /* ADDED */
    struct bats_choice choice;
    bool out_of_memory; /* FAILED, for that reason */
};

/* ---- answers: commands, and notices ---- */

/* Both share one queue, in chronological order. */
enum bats_command_type {
    /* The driver carries out commands. */
    BATS_COMMAND_ACQUIRE, /* machine: unpark it; its first window starts now. A
                             job: request it; answered by JOINED, or by LOST
                             and BILLED if it is not available */
    BATS_COMMAND_RUN,     /* machine, slot, task, replica: run it after the
                             slot's earlier tasks */
    BATS_COMMAND_CANCEL,  /* machine, slot, task: stop it. Answered by
                             PREEMPTED, or by DONE/FAILED if that was faster */
    BATS_COMMAND_PARK,    /* machine: its paid time is over; it may be acquired
                             again. A job, perhaps not begun: end it; answered
                             by BILLED */
    BATS_COMMAND_RELEASE, /* machine: it will not be used again */

    /* Notices inform the books, people and the driver. Machines are not
     * involved. */
    BATS_NOTICE_CHARGE,     /* machine, amount: it has entered a window; or
                               BATS_NO_MACHINE: amount billed for the
                               allocation since the last notice */
    BATS_NOTICE_QUARANTINE, /* machine: different tasks keep failing on it at
                               once but succeed elsewhere; it gets no tasks for
                               a while, or for good */
    BATS_NOTICE_LOSE,       /* machine, slot, task: the execution was lost with
                               its machine */
    BATS_NOTICE_SAMPLED,    /* the sampling phase is over: call
                               bats_sched_estimator and answer with CHOSEN.
                               Until then paid windows are used, and none is
                               entered */
    BATS_NOTICE_FINISHED,   /* finish: the run is over; nothing follows */
    BATS_NOTICE_SKIP,       /* task: it will not run: it waits for one that
                               failed, was left out or skipped; or `unpaid`:
                               its workflow's budget does not cover it; or
                               `withdrawn` */
    BATS_NOTICE_READMIT,    /* machine: its quarantine is over; it gets one
                               task at a time until one succeeds */
    BATS_NOTICE_SHARE       /* purse, machine, amount: this workflow's share of
                               the machine's charge */
};

static inline bool bats_is_notice(enum bats_command_type type)
{
    return type >= BATS_NOTICE_CHARGE;
}

struct bats_command {
    enum bats_command_type type;
    uint32_t machine;
    uint32_t slot;
    uint32_t task;
    uint32_t replica; /* RUN: replica number (0 = original) */
    uint32_t purse;   /* SHARE */
    bool unpaid;      /* SKIP */
    bool withdrawn;   /* SKIP */
    bool time_out;    /* CANCEL: the task ran too long and has failed, unless
                         it ends by itself first */
    bats_time time;   /* ACQUIRE of a job: its work time */
    bats_money amount;
    enum bats_finish finish;
};

/* ---- life cycle ---- */

struct bats_sched_options {
    const struct bats_policy *policy;
    uint32_t n_tasks;                    /* N >= 1 */
    const struct bats_cluster *clusters; /* copied */
    size_t n_clusters;                   /* 1..BATS_CLUSTERS_MAX */
    const bats_time *expected;      /* per cluster: expected task runtime, used
                                       until one is measured; 0 or NULL:
                                       unknown. Copied */
    const struct bats_prior *prior; /* prior belief about the clusters, for the
                                       policy bats; NULL: none. Copied */
    const struct bats_machine_spec *machines; /* copied */
    uint32_t n_machines;                      /* >= 1 */
    bats_time window;                         /* ATU > 0 */
    bats_money budget;                        /* B or BATS_UNLIMITED */
    struct bats_goal goal;
    struct bats_billing billing;
    bats_time monitor_interval; /* 0: window / 12 */
    bats_time preempt_lead;     /* time before a window's end at which its
                                   leftover tasks are stopped; < window. 0 if
                                   stopping takes no time */
    bats_time prefetch;         /* work that a slot prefetches, in time; 0:
                                   only the running task */
    uint64_t seed;              /* draw order of the tasks */
    bool in_order;              /* tasks are drawn by ascending number, not at
                                   random: for runs without sampling */
    const uint32_t *order;      /* or in this order of all tasks; NULL: none */
    double confidence_z;        /* z of the sample size; 0: 1.96 */
    double sample_error;        /* delta of the sample size; 0: 0.25 */
    struct bats_sched_rules rules;
    struct bats_sched_earlier earlier;
    struct bats_sched_sampling sampling;
    enum bats_tail tail;           /* strategy for replicas on idle machines */
    struct bats_strategy strategy; /* for the policy expert */
    const char *utility; /* if not NULL, the policy expert chooses the strategy
                            when the tail begins, and again when the share of
                            answers changes: the one that minimises this
                            expression of makespan, tail (seconds), cost and
                            task_cost, or cheapest, fastest or product; within
                            budget and deadline, if any. Copied */
    bool tells_leases;   /* keep leases for bats_sched_next_lease */
    const struct bats_graph *graph; /* dependencies of the n_tasks tasks,
                                       without a cycle. NULL: none. Not copied:
                                       must outlive the engine */
    const uint16_t *category; /* per task, < n_categories: tasks of a category
                                 have similar runtimes. Not copied, like the
                                 graph, unless there are needs. NULL: a single
                                 category */
    uint32_t n_categories;    /* 0 without categories; at most
                                 BATS_CATEGORIES_MAX */
    const struct bats_need *needs; /* by category: resources of a task; NULL:
                                      one slot each. Copied */
    const uint16_t
        *more; /* by category: the larger category for a task that ran out of
                  memory, or itself: then that failure is like any other. NULL:
                  always. Copied */
    const struct bats_stock *stocks; /* by machine: resources, including slots;
                                        NULL: tasks need only slots. Copied */
    const uint16_t *purse;           /* per task: its workflow, < n_purses. Not
                                      * copied; may be NULL */
    bool open; /* tasks left out by earlier.state may be added (ADDED) until
                  SHUT; the run continues while the bag is empty. Needs
                  in_order, no graph */
    uint32_t in_all; /* open: total number of tasks expected; 0: unknown */
    const struct bats_purse *purses; /* copied, except for the names */
    uint32_t n_purses; /* at most BATS_PURSES_MAX; needs a graph, maybe without
                          edges */
    const uint8_t *once; /* per task: not 0 = must not run twice at the same
                            time; NULL: none; copied */
    /* BATS_TAIL_PERFECT: true runtime of `task` on `cluster`. */
    bats_time (*true_runtime)(const void *context, uint32_t task,
                              uint32_t cluster);
    const void *true_context;
    /* For simulations of methods that know runtimes beforehand: the told
     * runtimes, with a graph; NULL: they are learned. */
    bats_time (*told_runtime)(const void *context, uint32_t task,
                              uint32_t cluster);
};

/* Creates an engine; free it with bats_sched_destroy. Errors: BATS_EINPUT (an
 * option out of range), BATS_EBUDGET (an allocation costs more at least),
 * BATS_ENOMEM. */
int bats_sched_create(const struct bats_sched_options *options,
                      struct bats_sched **sched, struct bats_error *err);
void bats_sched_destroy(struct bats_sched *s);

/* BATS_EBUDGET: the budget does not last for a moment, so an allocation would
 * be given back at once. Where real time costs money, such a run must not
 * begin. */
int bats_sched_may_begin(const struct bats_sched *s, struct bats_error *err);

/*
 * Handles `event` at time `now`. Time never runs backwards: an earlier `now`
 * counts as the latest one seen. Everything due in between (ends of windows,
 * monitoring) is handled first, in order of time. Errors: BATS_ESTATE (the
 * event contradicts the state, for instance a second result of a task; nothing
 * has changed but the time), BATS_ENOMEM, BATS_EOVERFLOW; for CHOSEN also
 * those of bats_sched_estimator and bats_estimate_choose: then nothing was
 * chosen.
 */
int bats_sched_handle(struct bats_sched *s, bats_time now,
                      const struct bats_event *event, struct bats_error *err);

/* Removes the next command or notice from the queue; false if there is
 * none. */
bool bats_sched_next(struct bats_sched *s, struct bats_command *command);

/* ---- executions ---- */

/* State of an execution on a machine. */
enum bats_execution_state {
    BATS_EXECUTION_NONE, /* the task is not in this slot */
    BATS_EXECUTION_RUNS, /* runs, or is queued in the slot */
    BATS_EXECUTION_CANCELLED,
    BATS_EXECUTION_TIMED_OUT /* cancelled because it ran too long */
};
enum bats_execution_state bats_sched_execution(const struct bats_sched *s,
                                               uint32_t machine, uint32_t slot,
                                               uint32_t task);

/* The slot has an execution. */
bool bats_sched_is_busy(const struct bats_sched *s, uint32_t machine,
                        uint32_t slot);

/* Age until which the machine's job is paid with leases (billing.lease): it
 * must end by then. 0: not such a job. */
bats_time bats_sched_paid_age(const struct bats_sched *s, uint32_t machine);

/* Slots held by the execution in this slot of the machine, its own first;
 * `slots` has room for all of the machine. Returns their number, 0 if there is
 * no execution. */
uint32_t bats_sched_holds(const struct bats_sched *s, uint32_t machine,
                          uint32_t slot, uint32_t *slots);

/* The task's current need; NULL if tasks have no needs. */
const struct bats_need *bats_sched_need(const struct bats_sched *s,
                                        uint32_t task);

/* Bits of the machine's GPUs held by the slot's task. */
uint64_t bats_sched_gpus(const struct bats_sched *s, uint32_t machine,
                         uint32_t slot);

/* The task has replicas. */
bool bats_sched_has_replicas(const struct bats_sched *s, uint32_t task);

/* The task must not run twice at the same time: options.once, or it has
 * yielded. */
bool bats_sched_runs_once(const struct bats_sched *s, uint32_t task);

/* The next time at which the engine wants a tick; BATS_NEVER if none. */
bats_time bats_sched_wakeup(const struct bats_sched *s);

#endif
