/*
 * rules: what a run is told to do about executions that go wrong, about the
 * sessions before it and about sampling, and how it may end.
 *
 * Layer: engine. Part of the options and answers of the scheduler (sched.h),
 * for those who pass them on and need nothing else of it.
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

/* Records of runs rest on these, too. */
#define BATS_YIELD_PROGRESS (10 * BATS_SECOND)
#define BATS_YIELD_PAUSE BATS_SECOND

/*
 * Rules for executions that go wrong, and for an early end. With all members 0
 * a failed task is simply a result, and nothing has a limit.
 */
#define BATS_TIMES_MORE 5

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
    double retry_time;     /* a task that was stopped for that is tried again,
                            * with so many times as much time, up to
                            * BATS_TIMES_MORE times; no failure yet. 0: it is
                            * not */
    uint32_t halt_failed;  /* stop when this many tasks have failed; 0:
                            * never */
    double halt_share; /* stop when they are this share of the tasks that have
                          a result, and three at least; 0: never */
    bool halt_now;     /* stop by cancelling, not by letting tasks end */
    bats_time time_limit; /* a task that is not expected to end by then is
                           * not started, and running ones are cancelled
                           * then; 0: none */
};

/* A bag that earlier sessions have done in part. */
struct bats_sched_earlier {
    const uint8_t *state; /* per task: BATS_TASK_DONE, _FAILED (it keeps that
                             result), _LEFT_OUT (it is not run) or _PENDING;
                             NULL: all pending */
    const uint8_t *failures; /* per task: attempts that have failed, of those
                                that the rules allow; NULL: none */
    const uint8_t *losses;   /* the same: times it was lost with its machine */
    const uint8_t *yields; /* the same: times in a row, until now, that it has
                                yielded without progress */
    const uint8_t *fresh;  /* the same: not 0 = DONE, though no session has run
                             it: what it makes is there; NULL: none */
    bats_money charged;    /* counts against the budget */
    const bats_time *asked; /* per machine that is a job: not 0 = it was asked
                               for, to work for so long, and is not billed; its
                               price is held from the start, and JOINED, LOST
                               or BILLED follows; NULL: none was. BATS_EBUDGET
                               if it cannot be held */
    const bats_time *age;   /* per machine: how long ago that job began; NULL:
                               none has */
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
    bool cushion; /* may be spent beyond the cost of the choice, within the
                   * budget */
    /* The sample of an earlier phase (a profile), copied: SAMPLED comes at
     * once. */
    const struct bats_observation *observations;
    size_t n_observations;
};

#endif
