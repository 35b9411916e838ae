/*
 * sched: the scheduling engine. Events in, commands and notices out.
 *
 * Layer: engine, pure: it has no clock, no threads and no I/O. A driver (the
 * MPI master, the simulator, a test) tells it what happened and at what time;
 * the answers wait in a queue:
 *
 *     bats_sched_handle(s, now, &event, &err);
 *     while (bats_sched_next(s, &command))
 *         carry out the command;
 *     come back at bats_sched_wakeup(s) at the latest, with a tick
 *
 * It decides which machines are held (policy), which task runs where, which
 * execution is told to stop at the end of a paid window, and when the run is
 * over. The same events give the same commands, on every machine.
 *
 * A task may be executed several times at the same time (replicas, see tail.h).
 * An execution is a task in a slot. The first one that is DONE is the task's
 * result, and the others are told to stop; whatever they answer then ends
 * that execution and changes nothing else. One that ends otherwise while
 * others are left is no end of the task.
 *
 * Invariants (bats_sched_check):
 *   - charged + held <= budget at every instant, also for each workflow
 *     (purse.h);
 *   - charged = sum over machines of windows entered x charge, or what the
 *     allocation is billed until then (billing.h), or what is certain of what
 *     they cost by their ages (tariff.h): then what they may cost at most until
 *     the ends of their windows is held;
 *   - every task is in exactly one state and has at most one result;
 *   - a task runs only when it no longer waits for others (graph.h);
 *   - a machine runs tasks only inside windows that are paid;
 *   - a replica is alone in its slot, and no window is entered for it.
 *
 * In an allocation (billing.h) a machine that waits costs what one costs that
 * works. So every policy comes to the same there: all machines are held from
 * the start, in one window that does not end, until the bag is empty or the
 * budget is near its end. That is a time limit: no task is started that is not
 * expected to end by then, and what still runs then is stopped.
 *
 * Machines may be reclaimed, and NOTICE says so before: then no task begins
 * there that is not expected to end in time, what will not make it is told to
 * stop, so that it goes on elsewhere (with its state, if it saves that), and no
 * further machine of a reclaimable cluster is acquired until this one is gone,
 * for others are likely to follow (Sampaio, Barbosa 2020, III.D).
 *
 * Machines that are jobs (billing.h) wait to be asked for from the start, and a
 * first tick is wanted at once. A job has one window, which may be shorter or
 * longer than others (billing.h: step). Where the plan wants the machine for
 * longer, another job is asked for so early that, as far as the waits seen so
 * far tell, it begins before the first one ends. A job in which nothing
 * runs is ended at once, and one that the plan does not want any more while it
 * waits is withdrawn. A task that was cut off three times after all of a
 * window, or of a block, has failed: no other one is longer.
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
    BATS_EVENT_JOINED,    /* machine: it is there and waits, uncharged; a job:
                             it has begun, so long ago (runtime), and may work
                             for a window; nothing happens if it was PARKED
                             before */
    BATS_EVENT_LOST,      /* machine: it will not come back. While it is a
                             job: this has gone, BILLED follows, and then
                             another may be asked for */
    BATS_EVENT_DONE,      /* machine, slot, task, runtime: exit status 0 */
    BATS_EVENT_FAILED,    /* the same, any other end of the task's own */
    BATS_EVENT_PREEMPTED, /* machine, slot, task: stopped by a CANCEL, or
                           * never started because of it; or lost on a
                           * machine of an unreliable cluster that stays */
    BATS_EVENT_YIELDED,   /* machine, slot, task: it saved its state and wants
                             to be run again; no failure */
    BATS_EVENT_CHOSEN,    /* choice: the answer to SAMPLED */
    BATS_EVENT_TICK,      /* only the time has passed */
    BATS_EVENT_DRAIN,     /* start nothing more, let running tasks end */
    BATS_EVENT_STOP,      /* cancel everything and end */
    BATS_EVENT_HOLD,      /* start nothing more and enter no window, */
    BATS_EVENT_GO,        /* until this */
    BATS_EVENT_KILLED,    /* the driver was killed, and tells it when it is
                             there again: all that was held, except for
                             jobs, is charged (to workflows, too), and
                             nothing may be told any more */
    BATS_EVENT_FOUND,     /* machine, slot, task: it runs there already, begun
                             for an earlier session. The answer is RUN, which
                             needs not be carried out, or nothing: then it is
                             not wanted (bats_sched_execution says). The slot
                             should have nothing to do: between HOLD and GO */

    /* With options.open: */
    BATS_EVENT_ADDED,     /* task, category, need: it was left out, and is in
                           * the bag now, behind all others. The need is that
                           * of its category, if this has had no task yet.
                           * Without options.needs the category is 0 */
    BATS_EVENT_WITHDRAWN, /* task: it is not wanted. SKIP says that it will
                           * not run; if it runs, it is told to stop, and
                           * fails */
    BATS_EVENT_SHUT,      /* nothing more will be added */

    /* Machines that are jobs (billing.h): */
    BATS_EVENT_ENDS,   /* machine, runtime: its job may work for this time
                        * from now instead of a window: it has another
                        * limit, or is about to be preempted */
    BATS_EVENT_BILLED, /* machine, amount: its job has ended, and was billed; or
                          BATS_NO_MACHINE: a job of an earlier session was */
    BATS_EVENT_CLOSED,  /* machine: it cannot have another job */
    BATS_EVENT_RETIRED, /* machine: what runs in its job may end, but it
                         * gets no more tasks; the next job may again. A
                         * machine that is no job: LOST follows when it is
                         * idle */

    BATS_EVENT_NOTICE /* machine, runtime: it will be taken away after this
                       * time, whatever kind it is; LOST may follow then */
};

/* The event names a machine, and neither a slot nor a task. */
static inline bool bats_is_job_event(enum bats_event_type type)
{
    return type >= BATS_EVENT_ENDS;
}

struct bats_event {
    enum bats_event_type type;
    uint32_t machine;
    uint32_t slot;     /* 0 .. slots of the machine - 1 */
    uint32_t task;     /* 0 .. n_tasks - 1 */
    bats_time runtime; /* DONE, FAILED: how long the task ran */
    bats_money amount; /* BILLED */
    uint16_t category; /* ADDED */
    struct bats_need need; /* ADDED */
    struct bats_choice choice;
    bool out_of_memory; /* FAILED, for that reason */
};

/* ---- answers: commands, and notices ---- */

/* Both are in one queue, in the order in which they happened. */
enum bats_command_type {
    /* A command is carried out. */
    BATS_COMMAND_ACQUIRE, /* machine: unpark it; its first window starts now.
                             Or ask for a job; answered by JOINED, or by LOST
                             and BILLED if it cannot be had */
    BATS_COMMAND_RUN,    /* machine, slot, task, replica: run after what it was
                             given before */
    BATS_COMMAND_CANCEL, /* machine, slot, task: stop it. Answered by
                             PREEMPTED, or by DONE/FAILED if that was faster */
    BATS_COMMAND_PARK,   /* machine: its paid time is over; it may be
                             acquired again. Or end its job, which may not have
                             begun; answered by BILLED */
    BATS_COMMAND_RELEASE, /* machine: it will not be used again */

    /* A notice tells the books, people and the driver a fact. No machine is
     * told. */
    BATS_NOTICE_CHARGE,     /* machine, amount: it has entered a window; or
                               BATS_NO_MACHINE: the amount billed for the
                               allocation since the last time */
    BATS_NOTICE_QUARANTINE, /* machine: different tasks keep failing on it at
                               once, and end well elsewhere; it gets none for
                               a while, or no more */
    BATS_NOTICE_LOSE,       /* machine, slot, task: it was lost with the
                               machine and counts as such */
    BATS_NOTICE_SAMPLED,    /* the sampling phase is over: look at
                               bats_sched_estimator and answer with CHOSEN.
                               Until then windows already paid are used, and
                               none is entered. With sampling.offers the run
                               goes on meanwhile, and for as long as the
                               answer is BATS_OFFER_NONE or there is none */
    BATS_NOTICE_FINISHED,   /* finish: the run is over; nothing follows */
    BATS_NOTICE_SKIP,       /* task: it is not run, for it waits for one that
                               has failed, is left out or skipped; or `unpaid`:
                               the budget of its workflow does not cover it;
                               or `withdrawn` */
    BATS_NOTICE_READMIT,    /* machine: its quarantine is over; until a task
                               ends well there it gets one at a time */
    BATS_NOTICE_SHARE       /* purse, machine, amount: the part of the
                             * machine's charge that this workflow pays */
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
    bool time_out;    /* CANCEL: the task has run for too long, and has failed
                      unless it ends by itself before it is told */
    bats_time time;   /* ACQUIRE of a job: its work time */
    bats_money amount;
    bats_money cushion; /* CHARGE: the part of the amount that comes out of
                         * the cushion */
    enum bats_finish finish;
};

/* ---- life cycle ---- */

struct bats_sched_options {
    const struct bats_policy *policy;
    uint32_t n_tasks;                    /* N >= 1 */
    const struct bats_cluster *clusters; /* copied */
    size_t n_clusters;                   /* 1..BATS_CLUSTERS_MAX */
    const bats_time *expected; /* per cluster: runtime of a task, until one is
                                  measured; 0 or NULL: not known. Copied */
    const struct bats_prior *prior; /* what is believed of the clusters, for
                                       the policy bats; NULL: nothing. Copied */
    const struct bats_machine_spec *machines; /* copied */
    uint32_t n_machines;                      /* >= 1 */
    bats_time window;                         /* ATU > 0 */
    bats_money budget;                        /* B or BATS_UNLIMITED */
    struct bats_goal goal;
    struct bats_billing billing;
    bats_time monitor_interval; /* 0: window / 12 */
    bats_time preempt_lead;     /* time before the end of a window when its
                                 * leftover tasks are told to stop; <
                                 * window. 0 if stopping takes no time */
    bats_time prefetch;         /* work in time that a slot is given ahead;
                                 * 0: only the running task */
    uint64_t seed;              /* draw order of the tasks */
    bool in_order;         /* they are drawn in the order of their numbers,
                                   not at random: for runs that need no
                                   sample of the bag; */
    const uint32_t *order; /* or in this order of all of them; or NULL */
    double confidence_z;   /* z of the sample size; 0: 1.96 */
    double sample_error;   /* delta of the sample size; 0: 0.25 */
    struct bats_sched_rules rules;
    struct bats_sched_earlier earlier;
    struct bats_sched_sampling sampling;
    enum bats_tail tail;           /* when idle machines run replicas */
    struct bats_strategy strategy; /* of the policy expert */
    const char *utility; /* NULL, or the policy expert decides itself when the
                            tail begins, and again when the share that answers
                            changes: the strategy for which this is least, an
                            expression of makespan, tail (seconds), cost and
                            task_cost, or cheapest, fastest, product; within
                            budget and deadline, if any is. Copied */
    const struct bats_instance *known[2]; /* for the policy expert: what became
                            of instances of an earlier run, in the unreliable
                            pool and in the other one. When they were sent does
                            not count. Copied */
    size_t n_known[2];
    bool tells_leases; /* by bats_sched_next_lease; else it keeps none */
    bool asks; /* then it tells, by SAMPLED, that strategies are on offer, and
                  goes on with its own; CHOSEN may take another one */
    const struct bats_graph *graph; /* which task waits for which others: of
                                       n_tasks tasks, and no circle. NULL:
                                       none does. Not copied: it must live as
                                       long as the engine */
    const uint16_t *category; /* per task, < n_categories: tasks of one take
                                 similar times. Not copied, as the graph, unless
                                 there are needs. NULL: all are of one */
    uint32_t n_categories;    /* 0 without; else at most
                                 BATS_CATEGORIES_MAX */
    const struct bats_need *needs; /* by category: what its tasks need; NULL:
                                    * one slot each. Copied */
    const uint16_t
        *more; /* by category: that of a task that was out of memory,
                           * larger than itself, or itself: this failure is one
                           * as any other. NULL: it always is. Copied */
    const struct bats_stock *stocks; /* by machine, with its slots; NULL: tasks
                                      * need slots only. Copied */
    const uint16_t *purse;           /* per task: its workflow, < n_purses. Not
                            * copied; may be NULL */
    bool open; /* tasks are added (ADDED), of those that earlier.state leaves
                  out, until SHUT: the run goes on while the bag is empty. Not
                  with a graph, and in_order */
    uint32_t in_all; /* open: tasks that are expected in all; 0: not known */
    const struct bats_purse *purses; /* copied, except for the names */
    uint32_t n_purses; /* at most BATS_PURSES_MAX; needs a graph, which may be
                          without edges */
    const uint8_t *once; /* per task: not 0 = it must not run twice at the
                            same time; NULL: none; copied */
    /* BATS_TAIL_PERFECT: how long `task` takes on a machine of `cluster`. */
    bats_time (*true_runtime)(const void *context, uint32_t task,
                              uint32_t cluster);
    const void *true_context;
    /* For simulations of methods that take runtimes to be known beforehand: the
     * same, of tasks with a graph, as they are told; NULL: they are learned. */
    bats_time (*told_runtime)(const void *context, uint32_t task,
                              uint32_t cluster);
};

/* A new engine that has handled nothing yet; destroy it with
 * bats_sched_destroy. Errors: BATS_EINPUT (an option out of range),
 * BATS_EBUDGET (an allocation costs more at least), BATS_ENOMEM. */
int bats_sched_create(const struct bats_sched_options *options,
                      struct bats_sched **sched, struct bats_error *err);
void bats_sched_destroy(struct bats_sched *s);

/* BATS_EBUDGET: an allocation would have to be given back at once, since the
 * budget does not last for a moment. Time costs money there: where it really
 * passes, such a run must not even begin. */
int bats_sched_may_begin(const struct bats_sched *s, struct bats_error *err);

/*
 * Tells the engine of `event` at time `now`. Time never runs backwards: an
 * earlier `now` counts as the latest one seen. What fell due in between (ends
 * of windows, monitoring) is done first, in the order of its times. Errors:
 * BATS_ESTATE (the event contradicts what the engine knows, for instance a
 * second result of one task; nothing has changed but the time), BATS_ENOMEM,
 * BATS_EOVERFLOW; of CHOSEN, those of bats_sched_estimator and
 * bats_estimate_choose: nothing has been chosen then.
 */
int bats_sched_handle(struct bats_sched *s, bats_time now,
                      const struct bats_event *event, struct bats_error *err);

/* Takes the next command or notice out of the queue; false if there is
 * none. */
bool bats_sched_next(struct bats_sched *s, struct bats_command *command);

/* ---- executions ---- */

/* The state of an execution that is on a machine. */
enum bats_execution_state {
    BATS_EXECUTION_NONE, /* the task is not in this slot */
    BATS_EXECUTION_RUNS, /* or waits in the slot for those before it */
    BATS_EXECUTION_CANCELLED,
    BATS_EXECUTION_TIMED_OUT /* cancelled because it ran for too long */
};
enum bats_execution_state bats_sched_execution(const struct bats_sched *s,
                                               uint32_t machine, uint32_t slot,
                                               uint32_t task);

/* The slot has an execution. */
bool bats_sched_is_busy(const struct bats_sched *s, uint32_t machine,
                        uint32_t slot);

/* The age until which the machine's job is paid, where money is held for leases
 * (billing.lease): it must end by then. 0: not such a job. */
bats_time bats_sched_paid_age(const struct bats_sched *s, uint32_t machine);

/* The slots that the execution in this slot of the machine holds, itself first;
 * `slots` has room for all of the machine. Returns their number, 0 if there is
 * no execution. */
uint32_t bats_sched_holds(const struct bats_sched *s, uint32_t machine,
                          uint32_t slot, uint32_t *slots);

/* What the task needs now, or NULL: nothing of that kind. */
const struct bats_need *bats_sched_need(const struct bats_sched *s,
                                        uint32_t task);

/* The GPUs of the machine that it has, a bit each. */
uint64_t bats_sched_gpus(const struct bats_sched *s, uint32_t machine,
                         uint32_t slot);

/* The task is on several machines. */
bool bats_sched_has_replicas(const struct bats_sched *s, uint32_t task);

/* The task must not run twice at the same time: options.once, or it has
 * yielded. */
bool bats_sched_runs_once(const struct bats_sched *s, uint32_t task);

/* The next time at which the engine wants a tick; BATS_NEVER if none. */
bats_time bats_sched_wakeup(const struct bats_sched *s);

/* Asserts every invariant listed above (debug builds and tests; slow). */
void bats_sched_check(const struct bats_sched *s);

#endif
