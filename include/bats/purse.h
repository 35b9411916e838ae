/*
 * purse: what a workflow may spend, of several in one run.
 *
 * Layer: engine, used by the engine and by those who read bags. Each task may
 * belong to a workflow, and each workflow has a purse: a budget of its own
 * under that of the run, and perhaps a deadline. The rule:
 *
 *   1. What a machine is charged is shared by the workflows whose tasks ran on
 *      it in the time that the charge is for, in proportion to the time they
 *      had its slots. So those that share it pay for its idle time, too, in
 *      that proportion, and one that is alone on it pays all: a budget means
 *      the same for a workflow alone as for a run. That time is the window, the
 *      job, or, where use is charged, the time in which the machine was in use,
 *      which is divided wherever another task begins. The charge for a time in
 *      which nothing ran is nobody's: the run has it.
 *   2. No task begins on a machine before its workflow holds all that the
 *      machine may be charged until the task can be stopped: what it would pay
 *      if it were alone from then on. That is the window's charge, the next
 *      one's too once the machine is to enter it, the job's highest bill, or
 *      the use held for the machine. So
 *
 *          charged + held <= budget, for every workflow, at every instant,
 *
 *      and the sum of what workflows are charged is at most what the run is,
 *      unless that was killed (3).
 *   3. When a charge is shared, what was held beyond the share is free again.
 *      A workflow that cannot hold the next window, or more use, has its tasks
 *      stopped there before the paid time is over; they go back to the bag.
 *      Where the run was killed, nobody knows who had the slots, and for how
 *      long: then each is charged all that it held for a machine, so that their
 *      sum may be more than what the run is charged.
 *   4. A task for which its workflow has too little money everywhere waits as
 *      long as the workflow holds some, which may become free. Then it is
 *      skipped, and what waits for it: the notice SKIP says that it was not
 *      paid.
 *
 * A deadline is a goal of the workflow's own, as that of the run is (goal.h).
 * The policies that say which task runs where (miser, mw-dbs, flow) plan each
 * workflow in its own; with the others, those of its tasks come first that can
 * wait least.
 */
#ifndef BATS_PURSE_H
#define BATS_PURSE_H

#include <stdint.h>

#include "bats/units.h"

#define BATS_PURSES_MAX 1024

struct bats_purse {
    const char *name;   /* for people; not copied */
    bats_money budget;  /* BATS_UNLIMITED: that of the run */
    bats_time deadline; /* since the beginning of the run; 0: none */
    bats_time begin;    /* the same: none of its tasks begins before */
    bats_money charged; /* by earlier sessions */
};

struct bats_purse_status {
    const char *name; /* as in bats_purse */
    bats_money budget, charged, held;
    bats_time deadline; /* 0: none */
    uint32_t left, done, failed;
    uint32_t skipped; /* not run, and of them so many that */
    uint32_t unpaid;  /* its budget did not cover */
    bats_time ended;  /* the last result, or BATS_NEVER: some are left */
    bats_time soonest; /* of an engine's: earliest time of its last result,
                        * by the expected runtimes; 0: unknown */
};

#endif
