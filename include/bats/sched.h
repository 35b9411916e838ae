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
 *   - a task runs only when nobody is left that it waits for (graph.h);
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

#include "bats/answers.h"
#include "bats/billing.h"
#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/estimate.h"
#include "bats/goal.h"
#include "bats/graph.h"
#include "bats/plan.h"
#include "bats/policy.h"
#include "bats/purse.h"
#include "bats/sample.h"
#include "bats/strategy.h"
#include "bats/tail.h"
#include "bats/units.h"

struct bats_sched; /* opaque */

#define BATS_NO_TASK UINT32_MAX
#define BATS_NO_MACHINE UINT32_MAX

/* ---- events ---- */

enum bats_event_type {
    BATS_EVENT_JOINED,    /* machine: it is there and waits, uncharged; a job:
                             it has begun, and may work for a window; nothing
                             happens if it was PARKED before */
    BATS_EVENT_LOST,      /* machine: it will not come back. While it is a
                             job: this has gone, BILLED follows, and then
                             another may be asked for */
    BATS_EVENT_DONE,      /* machine, slot, task, runtime: exit status 0 */
    BATS_EVENT_FAILED,    /* the same, any other end of the task's own */
    BATS_EVENT_PREEMPTED, /* machine, slot, task: stopped by a CANCEL, or never
                             started because of it; or lost, on a machine
                             of an unreliable cluster that goes on */
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

    /* Machines that are jobs (billing.h): */
    BATS_EVENT_ENDS,   /* machine, runtime: it may work for so long from now,
                          not for a window: the job has another limit, or is
                          about to be preempted */
    BATS_EVENT_BILLED, /* machine, amount: its job has ended, and was billed; or
                          BATS_NO_MACHINE: a job of an earlier session was */
    BATS_EVENT_CLOSED, /* machine: no other job can be had there */
    BATS_EVENT_RETIRED, /* machine: what runs in its job may end, but it gets
                           no more tasks; the next job may again. If it is no
                           job: LOST is to follow when it has nothing to do */

    BATS_EVENT_NOTICE /* machine, runtime: it will be taken away so long from
                         now, whatever kind it is; LOST may follow then */
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
    struct bats_choice choice;
};

/* ---- answers: commands, and notices ---- */

/* They come in one queue, for what happened when is told by their order. */
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

    /* A notice says what is so: for the books, for people, for the driver. No
     * machine is told of it. */
    BATS_NOTICE_CHARGE,     /* machine, amount: it has entered a window; or
                               BATS_NO_MACHINE: so much was billed for the
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
                               the budget of its workflow does not cover it */
    BATS_NOTICE_READMIT,    /* machine: its quarantine is over; until a task
                               ends well there it gets one at a time */
    BATS_NOTICE_SHARE       /* purse, machine, amount: so much of what the
                               machine was charged is for this workflow */
};

static inline bool bats_is_notice(enum bats_command_type type)
{
    return type >= BATS_NOTICE_CHARGE;
}

enum bats_finish {
    BATS_FINISH_NOT_YET,
    BATS_FINISH_ALL_DONE,    /* every task has a result, or is skipped */
    BATS_FINISH_BUDGET,      /* tasks are left that the budget cannot pay, or
                                that of their workflow */
    BATS_FINISH_STOPPED,     /* by BATS_EVENT_DRAIN or BATS_EVENT_STOP */
    BATS_FINISH_NO_MACHINES, /* tasks are left and every machine is lost or
                                in quarantine */
    BATS_FINISH_HALTED,      /* too many tasks have failed (halt rules) */
    BATS_FINISH_SAMPLED,     /* only a sample was wanted (BATS_OFFER_NONE) */
    BATS_FINISH_TIME_LIMIT,  /* tasks are left that the time limit cuts off */
    BATS_FINISH_TOO_LATE     /* tasks are left, and the policy begins none that
                                would end after the deadline */
};

struct bats_command {
    enum bats_command_type type;
    uint32_t machine;
    uint32_t slot;
    uint32_t task;
    uint32_t replica; /* RUN: replica number (0 = original) */
    uint32_t purse; /* SHARE */
    bool unpaid;    /* SKIP */
    bool time_out;    /* CANCEL: the task has run for too long, and has failed
                      unless it ends by itself before it is told */
    bats_time time; /* ACQUIRE of a job: it will work for so long */
    bats_money amount;
    bats_money cushion; /* CHARGE: so much of the amount comes out of the
                           cushion */
    enum bats_finish finish;
};

/* ---- life cycle ---- */

/* Records of runs rest on these, too. */
#define BATS_YIELD_PROGRESS (10 * BATS_SECOND)
#define BATS_YIELD_PAUSE BATS_SECOND

/*
 * Rules for executions that go wrong, and for an early end. With all members 0
 * a failed task is simply a result, and nothing has a limit.
 */
struct bats_sched_rules {
    uint32_t retries;      /* further attempts after a failed one, on another
                              machine if one is open */
    bats_time retry_delay; /* before the next attempt */
    uint32_t losses;       /* times a task may be lost with its machine before
                              it has failed; never counted as its attempts.
                              0: 5, for the policy expert 100 */
    uint32_t yields;       /* times in a row a task may yield without progress
                              before it has failed: of its own accord, sooner
                              than BATS_YIELD_PROGRESS after its start. It
                              waits for BATS_YIELD_PAUSE after the first time,
                              and each time for twice as long; < 32. 0: it
                              never fails for that, and never waits */
    bats_time timeout;     /* an execution that lasts longer is stopped and has
                              failed; 0: none */
    double timeout_median; /* the same, in medians of its cluster's sample */
    uint32_t halt_failed;  /* stop when so many tasks have failed; 0: never */
    double halt_share;  /* stop when they are this share of the tasks that have
                          a result, and three at least; 0: never */
    bool halt_now;      /* stop by cancelling, not by letting tasks end */
    bats_time time_limit; /* a task that is not expected to end by then is not
                             started, and what still runs then is cancelled;
                             0: none */
};

/* A bag of which earlier sessions have done a part. */
struct bats_sched_earlier {
    const uint8_t *state; /* per task: BATS_TASK_DONE, _FAILED (it keeps that
                             result), _LEFT_OUT (it is not run) or _PENDING;
                             NULL: all pending */
    const uint8_t *failures; /* per task: attempts that have failed, of those
                                that the rules allow; NULL: none */
    const uint8_t *losses;   /* the same: times it was lost with its machine */
    const uint8_t *yields; /* the same: times in a row, until now, that it has
                                yielded without progress */
    const uint8_t *fresh; /* the same: not 0 = DONE, though no session has run
                             it: what it makes is there; NULL: none */
    bats_money charged;   /* counts against the budget */
    const bats_time *asked; /* per machine that is a job: not 0 = it was asked
                               for, to work for so long, and is not billed; its
                               price is held from the start, and JOINED, LOST
                               or BILLED follows; NULL: none was. BATS_EBUDGET
                               if it cannot be held */
    const struct bats_observation *seen; /* runtimes: a cluster that has as
                                            many as its sample is not sampled
                                            again */
    size_t n_seen;
    bool tops_up; /* a cluster that has fewer runs only what its sample still
                     lacks, also in a sampling phase of its own; false: all of
                     it (sessions recorded before there was this) */
};

/*
 * A sampling phase of its own before the rest of the bag (thesis 3.2.2, figure
 * 3.2), for the policies bats and bkp: `workers` slots per cluster run the same
 * 7 tasks on every cluster, and share the other tasks of the sample. They go on
 * with the bag until their window ends. What the sample still lacks then is run
 * on one machine of the most profitable cluster. Then comes SAMPLED. That is
 * bkp's; where machine-windows are planned it is less: `workers` slots of the
 * cheapest cluster, and as many of each other one as cost no more, or one;
 * tasks on every cluster until it is clear where they cost more; and none at
 * all where the runtimes that are expected tell that by a factor of 2. 8 tasks
 * are enough if they tell the mean to 25 %.
 *
 * The schedule CHOSEN may cost as much as its upper bound (cost_high in
 * estimate.h; that budget for BATS_OFFER_BUDGET), or as the run's own budget
 * if that is less. If the upper bound can be paid, the configuration is kept
 * for as long as it is expected to end the bag in windows_high windows; else a
 * plan is made anew as soon as the bag seems to take longer than the estimate.
 */
struct bats_sched_sampling {
    bool on;
    bool offers; /* or no such phase, but SAMPLED once the clusters are known,
                    before a second window is paid if there are runtimes by
                    then, where there is something to choose: tasks beyond the
                    paid windows, and two clusters that charge. Both: the run
                    goes on after the phase; there is none where no cluster
                    charges */
    uint32_t workers;  /* iw; 0: 7, or, where machine-windows are planned, all
                          that cost nothing, and all of the only cluster where
                          the run goes on */
    double confidence; /* as in estimate.h */
    unsigned cushion_percent;
    bool cushion; /* may be spent, on top of what is chosen but within
                           the budget */
    /* The sample of an earlier phase (a profile), copied: SAMPLED comes at
     * once. */
    const struct bats_observation *observations;
    size_t n_observations;
};

#define BATS_CATEGORIES_MAX 1024

struct bats_sched_options {
    const struct bats_policy *policy;
    uint32_t n_tasks;                         /* N >= 1 */
    const struct bats_cluster *clusters;      /* copied */
    size_t n_clusters;                        /* 1..BATS_CLUSTERS_MAX */
    const bats_time *expected; /* per cluster: runtime of a task, until one is
                                  measured; 0 or NULL: not known. Copied */
    const struct bats_machine_spec *machines; /* copied */
    uint32_t n_machines;                      /* >= 1 */
    bats_time window;                         /* ATU > 0 */
    bats_money budget;                        /* B or BATS_UNLIMITED */
    struct bats_goal goal;
    struct bats_billing billing;
    bats_time monitor_interval; /* 0: window / 12 */
    bats_time preempt_lead;     /* so long before the end of a window its
                                   leftover tasks are told to stop; < window.
                                   0 where stopping takes no time */
    bats_time prefetch;         /* a slot is given tasks ahead worth so much
                                   time; 0: never more than the running one */
    uint64_t seed;              /* draw order of the tasks */
    bool in_order;              /* they are drawn in the order of their numbers,
                                   not at random: for runs that need no
                                   sample of the bag */
    double confidence_z;        /* z of the sample size; 0: 1.96 */
    double sample_error;        /* delta of the sample size; 0: 0.25 */
    struct bats_sched_rules rules;
    struct bats_sched_earlier earlier;
    struct bats_sched_sampling sampling;
    enum bats_tail tail;               /* when idle machines run replicas */
    struct bats_strategy strategy;     /* of the policy expert */
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
    bool asks; /* then it tells, by SAMPLED, that strategies are on offer, and
                  goes on with its own; CHOSEN may take another one */
    const struct bats_graph *graph; /* which task waits for which others: of
                                       n_tasks tasks, and no circle. NULL:
                                       none does. Not copied: it must live as
                                       long as the engine */
    const uint16_t *category; /* per task, < n_categories: tasks of one take
                                 similar times. Not copied, as the graph. NULL:
                                 all are of one */
    uint32_t n_categories;    /* 0 without; else at most
                                 BATS_CATEGORIES_MAX */
    const uint16_t *purse; /* per task: of which workflow it is, < n_purses. Not
                              copied. NULL: there are none */
    const struct bats_purse *purses; /* copied, but for the names */
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

/* Takes the next command or notice out of the queue; false when there is none.
 */
bool bats_sched_next(struct bats_sched *s, struct bats_command *command);

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

/* The task is on several machines. */
bool bats_sched_has_replicas(const struct bats_sched *s, uint32_t task);

/* The task must not run twice at the same time: options.once, or it has
 * yielded. */
bool bats_sched_runs_once(const struct bats_sched *s, uint32_t task);

/* The next time at which the engine wants a tick; BATS_NEVER if none. */
bats_time bats_sched_wakeup(const struct bats_sched *s);

/* Asserts every invariant listed above (debug builds and tests; slow). */
void bats_sched_check(const struct bats_sched *s);

/* ---- what it knows, for people ---- */

struct bats_sched_status {
    bats_time now;
    enum bats_finish finish;
    uint32_t pending; /* in the bag, or to be tried again after a delay; */
    uint32_t blocked; /* so many of them wait for others */
    bats_time longest_chain; /* of tasks that are left, one after the other; 0:
                                none waits for others, or not known */
    uint32_t running; /* on a machine (running, or waiting there) */
    uint32_t done;
    uint32_t failed;
    uint32_t skipped;          /* not run: they waited for one that failed */
    bats_money budget;         /* B, or BATS_UNLIMITED */
    bats_money charged;        /* by the ledger, */
    bats_money held;           /* and kept for what runs, or will be billed */
    bats_money charged_before; /* of that, by earlier sessions and lives, and
                                  until this run began */
    uint32_t retried;          /* executions that failed and are repeated */
    uint32_t timed_out;        /* executions that were stopped by a time-out */
    uint32_t preempted;    /* executions that were cut off at a window's end */
    uint32_t replicas;     /* that were started, */
    uint32_t replicas_won; /* and those of them that became the result */
    bats_time estimated_end; /* BATS_NEVER if not known */
    bats_time deadline;      /* 0: there is none */
    bats_time late_end;      /* when the bag is expected to be done, if that is
                                too late; else 0 */
    bats_money rest_cost; /* what the pending tasks would cost on one machine
                                of the most profitable cluster; -1 unknown */
    uint32_t sample_size; /* n, tasks per cluster in the sampling phase */
    bats_money cushion;   /* 0, or may be spent on the last tasks beyond the
                             budget, which includes it once they are the last */
    bats_money cushion_spent; /* so far; what the schedule itself costs comes
                                 first */
};
void bats_sched_status(const struct bats_sched *s,
                       struct bats_sched_status *status);

/* Bounds of estimated_end (interval.h, with p = 0.9: they hold in 70 % of all
 * cases), by how runtimes have spread, if the machines stay as they are. False:
 * a cluster in use has fewer than two results. Sorts samples: for people, not
 * for each event. */
bool bats_sched_end_bounds(const struct bats_sched *s, bats_time *low,
                           bats_time *high);

/* The runtimes known of a category, in microseconds of virtual time. */
struct bats_category_status {
    uint32_t done; /* in this session */
    uint32_t left; /* without a result */
    double mean;   /* of the runtimes of those that are done; 0: none is */
    double deviation; /* standard deviation of these; 0 with less than two */
};
void bats_sched_category_status(const struct bats_sched *s, uint32_t category,
                                struct bats_category_status *status);

/* How many tasks of mean length take as long as this one, by its category; 1:
 * not known. */
double bats_sched_weight(const struct bats_sched *s, uint32_t task);

/* By workflow with a budget, when its last result comes at the soonest, for its
 * longest chain of tasks takes so long; 0: not known. soonest[] has room for
 * all of them. */
void bats_sched_purses_soonest(const struct bats_sched *s, bats_time *soonest);

/* False: there are no more. `soonest` is left 0. */
bool bats_sched_purse_status(const struct bats_sched *s, uint32_t purse,
                             struct bats_purse_status *status);

/* The task has ended for good: it will not be run again. */
bool bats_sched_has_result(const struct bats_sched *s, uint32_t task);
bool bats_sched_has_failed(const struct bats_sched *s, uint32_t task);
/* It will not be run, for it waited for one that has failed. */
bool bats_sched_is_skipped(const struct bats_sched *s, uint32_t task);
/* All of these, in the order in which they were skipped; the engine's, valid
 * until the next handle. */
const uint32_t *bats_sched_skipped(const struct bats_sched *s, uint32_t *n);

/* The result of the sampling phase; the engine's, valid until the next
 * handle. */
struct bats_sched_sampled {
    bats_time time;     /* when it was over, and then when a schedule was
                           chosen; BATS_NEVER: not yet */
    bats_money charged; /* until then, in this run and earlier */
    uint32_t tasks;     /* in the sample */
    uint32_t given_up;  /* of them, so many run for ever so long and were
                             left out */
    uint32_t longest;   /* one of these; BATS_NO_TASK: none */
    const struct bats_observation *observations;
    size_t n_observations;
    const struct bats_schedule *chosen; /* NULL: not yet, or none */
};
void bats_sched_sampled(const struct bats_sched *s,
                        struct bats_sched_sampled *sampled);

/*
 * Fills in what schedules for the rest of the bag are estimated from, after
 * SAMPLED (estimate.h); money is counted from now. The arrays are the
 * engine's, valid until the next handle. BATS_ESTATE before SAMPLED;
 * BATS_EINPUT if no task of the sample has ended well anywhere; BATS_ENOMEM.
 */
int bats_sched_estimator(struct bats_sched *s,
                         struct bats_estimator *estimator,
                         struct bats_error *err);

/* For the policy expert. */
struct bats_sched_strategy {
    struct bats_strategy strategy; /* in use */
    bats_time decided; /* when the engine decided on it; -1: it was given */
    double gamma;      /* and the share that answers, as it was seen then */
    bool is_chosen;    /* not by the engine: by CHOSEN */
    double makespan, cost; /* of the whole run, as expected then; microseconds,
                              money; 0: not known */
};
/* False: another policy. */
bool bats_sched_strategy(const struct bats_sched *s,
                         struct bats_sched_strategy *strategy);

/* The strategies from which the last one was taken: efficient ones, within
 * budget and deadline if any is, the fastest first. */
#define BATS_STRATEGIES 9
struct bats_sched_offer {
    struct bats_strategy strategy;
    double makespan, cost; /* of the whole run, expected, */
    double makespan_margin, cost_margin; /* and half the 95 % interval */
    bool is_best; /* by the utility */
};
/* Returns their number; the engine's, valid until the next handle. */
size_t bats_sched_strategies(const struct bats_sched *s,
                             const struct bats_sched_offer **offers);

struct bats_cluster_status {
    uint32_t machines_used; /* that were acquired at least once */
    uint32_t machines_now;  /* acquired at this moment */
    uint32_t machines_lost;
    uint32_t machines_quarantined; /* at this moment */
    uint32_t machines_out; /* of machines_now, so many get no task: they are in
                              quarantine, or will be taken away */
    int64_t windows;    /* entered by all its machines */
    bats_money charged; /* windows x charge; of an allocation, what its
                           machines were billed */
    uint32_t done;
    uint32_t failed;
    double mean_runtime;  /* T_i, microseconds of virtual time; 0: not
                           known */
    bool is_guess;        /* no task has ended well there: T_i is of those that
                             failed, or what the user expects */
    double profitability; /* (T_m/T_i)(c_m/c_i), m the cheapest; 0: unknown */
    double utilisation;   /* time spent in tasks / paid slot time so far */
};
void bats_sched_cluster_status(const struct bats_sched *s, size_t cluster,
                               struct bats_cluster_status *status);

/* A task that runs, or waits at the head of a slot's queue. */
struct bats_running {
    uint32_t task; /* index */
    uint32_t machine;
    bats_time since;
    bool is_replica;
};

/* The tasks that have run longest, at most `max` of them, the longest first.
 * Returns their number. Looks at every slot: for people, not for each event. */
size_t bats_sched_longest(const struct bats_sched *s,
                          struct bats_running *list, size_t max);

/* The windows of a cluster that end next. */
struct bats_turns {
    bats_time at;    /* end of the first one; BATS_NEVER: no machine is held */
    uint32_t ending; /* machines whose window ends then, or up to a sixtieth of
                        a window later; */
    uint32_t parked; /* those of them that are to get no further one, as it is
                        planned now */
    uint32_t busy, slots; /* of all machines held: slots in use, slots */
};

/* Looks at every machine, as above. */
void bats_sched_turns(const struct bats_sched *s, size_t cluster,
                      struct bats_turns *turns);

/* Why the configuration changed. */
enum bats_reason {
    BATS_REASON_START,     /* the sampling phase, or all machines for rr */
    BATS_REASON_SAMPLED,   /* every cluster has its statistics */
    BATS_REASON_VIOLATION, /* the plan no longer fits the money */
    BATS_REASON_LOST,      /* machines were lost */
    BATS_REASON_STALLED,   /* tasks are left and no machine is held */
    BATS_REASON_CHOSEN,    /* the schedule that was chosen after sampling */
    BATS_REASON_PLANNED,   /* the windows were planned again */
    BATS_REASON_LATE       /* none: the deadline will not be kept; `windows`:
                              until the bag will be done */
};

/* The change that led to the new plan. */
enum bats_trigger {
    BATS_TRIGGER_NONE,    /* the reason says it */
    BATS_TRIGGER_RESULTS, /* runtimes are known better */
    BATS_TRIGGER_WINDOW,  /* windows end: machines are kept, or not */
    BATS_TRIGGER_READY,   /* more tasks can begin */
    BATS_TRIGGER_DEADLINE /* time has passed, and the deadline is nearer */
};

struct bats_decision {
    bats_time time;
    enum bats_reason reason;
    enum bats_trigger trigger;
    bool feasible;      /* the whole rest fits the remaining budget */
    int64_t tasks_left; /* N_e: left after the paid windows */
    int64_t tasks_paid; /* N_p: what the former plan could still do; -1 none */
    bats_money budget_left;
    int64_t windows; /* k of the new plan; 0 where it sets none */
    bool is_guess;   /* it rests on the mean of a cluster that is_guess */
    uint32_t machines[BATS_CLUSTERS_MAX]; /* in use from now on */
    uint32_t ending[BATS_CLUSTERS_MAX];   /* of them, so many only until their
                                             windows end */
    /* For people: */
    int64_t tasks_open; /* without a result */
    bats_time end;      /* when the bag was expected to be done; 0: not known */
    bats_money cost;    /* and what would be charged by then, in all */
    bool acts;          /* machines are acquired for it, at once */
    bool replaces;      /* a plan of which nothing has been carried out: the
                           one before */
};

/* All decisions so far, oldest first; valid until the next handle. */
const struct bats_decision *bats_sched_decisions(const struct bats_sched *s,
                                                 size_t *n);

/* One word or two for people: "sampled", "violation". */
const char *bats_reason_name(enum bats_reason reason);
/* "more results"; NULL: BATS_TRIGGER_NONE. */
const char *bats_trigger_name(enum bats_trigger trigger);

#endif
