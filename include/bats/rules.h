/*
 * rules: options of a run for failed executions, earlier sessions and
 * sampling, and the ways a run may end.
 *
 * Layer: engine. Part of the scheduler's options and answers (sched.h),
 * separate for code that only passes them on.
 */
#ifndef BATS_RULES_H
#define BATS_RULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/units.h"

struct bats_observation; /* sample.h */

#define BATS_NO_TASK UINT32_MAX
#define BATS_NO_MACHINE UINT32_MAX
#define BATS_CATEGORIES_MAX 1024

enum bats_finish {
    BATS_FINISH_NOT_YET,
    BATS_FINISH_ALL_DONE,    /* every task has a result or is skipped */
    BATS_FINISH_BUDGET,      /* tasks are left that the budget, or their
                                workflow's, cannot pay */
    BATS_FINISH_STOPPED,     /* by BATS_EVENT_DRAIN or BATS_EVENT_STOP */
    BATS_FINISH_NO_MACHINES, /* tasks are left, but every machine is lost or in
                                quarantine */
    BATS_FINISH_HALTED,      /* too many tasks have failed (halt rules) */
    BATS_FINISH_SAMPLED,     /* only a sample was wanted (BATS_OFFER_NONE) */
    BATS_FINISH_TIME_LIMIT,  /* tasks are left at the time limit */
    BATS_FINISH_TOO_LATE     /* tasks are left that would end after the
                                deadline, and the policy starts none of
                                these */
};

/* Recorded runs also depend on these. */
#define BATS_YIELD_PROGRESS (10 * BATS_SECOND)
#define BATS_YIELD_PAUSE BATS_SECOND

/*
 * Rules for failed executions, and for an early end. With all members 0 a
 * failed task simply has a result, and nothing is limited.
 */
#define BATS_TIMES_MORE 5

struct bats_sched_rules {
    uint32_t retries;      /* further attempts after a failure, on another
                              machine if one accepts tasks */
    bats_time retry_delay; /* before the next attempt */
    uint32_t losses;       /* losses with its machine after which a task has
                              failed; not counted as attempts. 0: 5, for the
                              policy expert 100 */
    uint32_t yields;       /* times in a row that a task may yield without
                              progress before it has failed: by itself, sooner
                              than BATS_YIELD_PROGRESS after its start. It
                              waits BATS_YIELD_PAUSE the first time, then twice
                              as long each time; < 32. 0: no limit and no
                              wait */
    bats_time timeout;     /* time limit of an execution, which then has
                              failed; 0: none */
    double timeout_median; /* the same, in medians of the cluster's sample */
    double retry_time;     /* a timed-out task is retried with this many times
                              more time, up to BATS_TIMES_MORE times, without
                              counting as a failure. 0: it is not */
    uint32_t halt_failed;  /* stop when this many tasks have failed; 0:
                            * never */
    double halt_share; /* stop when at least three, and this share of the tasks
                          with a result, have failed; 0: never */
    bool halt_now;     /* stop by cancelling, not by letting tasks end */
    bats_time time_limit; /* tasks not expected to end by then are not started,
                             and running ones are cancelled then; 0: none */
};

/* A bag partly done by earlier sessions. */
struct bats_sched_earlier {
    const uint8_t *state;    /* per task: BATS_TASK_DONE, _FAILED (final),
                             _LEFT_OUT (not run) or _PENDING; NULL: all
                             pending */
    const uint8_t *failures; /* per task: failed attempts, out of those allowed
                                by the rules; NULL: none */
    const uint8_t *losses;   /* the same: losses with its machine */
    const uint8_t *yields;   /* the same: current number of yields in a row
                              without progress */
    const uint8_t *memory_more; /* per task: times that it ran out of memory
                                   and was given more, */
    const uint8_t *time_more;   /* or of time; NULL: none */
    const uint8_t *fresh;       /* the same: not 0 = DONE without a run, as its
                              outputs exist; NULL: none */
    bats_money charged;         /* counts against the budget */
    const bats_time *asked; /* per machine that is a job: not 0 = work time of
                               a requested, unbilled job; its price is held
                               from the start, and JOINED, LOST or BILLED
                               follows; NULL: none. BATS_EBUDGET if it cannot
                               be held */
    const bats_time *age;   /* per machine: age of that job; NULL: none has
                               begun */
    const struct bats_observation *seen; /* runtimes; a cluster with enough of
                                            them for its sample is not sampled
                                            again */
    size_t n_seen;
    bool tops_up; /* a cluster with fewer runs only the rest of its sample,
                     also in a separate sampling phase; false: all of it (older
                     records) */
};

/*
 * A separate sampling phase before the rest of the bag (thesis 3.2.2, figure
 * 3.2), for the policies bats and bkp. With bkp, `workers` slots per cluster
 * run the same 7 tasks on every cluster and share the other tasks of the
 * sample. They continue with the bag until their window ends. One machine of
 * the most profitable cluster then runs the rest of the sample. Then comes
 * SAMPLED. With machine-windows the phase is smaller: `workers` slots of the
 * cheapest cluster, and of each other cluster at least one slot and otherwise
 * as many as cost no more; common tasks only until it is clear where they cost
 * more, and none if the expected runtimes already show that by a factor of 2.
 * 8 tasks suffice if they give the mean within 25 %.
 *
 * The schedule CHOSEN may cost up to its upper bound (cost_high in estimate.h;
 * the given budget for BATS_OFFER_BUDGET), or the run's own budget if that is
 * less. If the upper bound is affordable, the configuration is kept as long as
 * the bag is expected to end within windows_high windows; else the policy
 * plans again as soon as the bag seems to exceed the estimate.
 */
struct bats_sched_sampling {
    bool on;
    bool offers; /* no separate phase, but SAMPLED once the clusters are known
                    (before a second window is paid, if there are runtimes by
                    then) and there is a choice: tasks beyond the paid windows,
                    and two clusters that charge. With `on`: the run continues
                    after the phase; no phase if no cluster charges */
    uint32_t workers;  /* iw; 0: 7; with machine-windows, all that cost
                          nothing, and all of a single cluster if the run
                          continues there */
    double confidence; /* as in estimate.h */
    /* Sample of an earlier phase (a profile), copied: SAMPLED comes at
     * once. */
    const struct bats_observation *observations;
    size_t n_observations;
};

#endif
