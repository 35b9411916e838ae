/*
 * purse: the budgets of several workflows in one run.
 *
 * Layer: engine, used by the engine and by readers of bags. Each task may
 * belong to a workflow, and each workflow has a purse: a budget of its own
 * under that of the run, and perhaps a deadline. The rule:
 *
 *   1. A machine's charge is split among the workflows whose tasks ran on it
 *      in the charged time, in proportion to their slot time. So they also
 *      share its idle time in that proportion, and a workflow alone on it pays
 *      all: a budget means the same for a single workflow as for a run. The
 *      charged time is the window, the job or, if use is charged, the time in
 *      use, which is divided wherever another task begins. The charge for a
 *      time in which nothing ran belongs to the run alone.
 *   2. No task begins on a machine before its workflow holds all that the
 *      machine may be charged until the task can be stopped, as if it were
 *      alone from then on. That is the window's charge, and the next one's
 *      once the machine is to enter it; the job's highest bill; or the use
 *      held for the machine. So
 *
 *          charged + held <= budget, for every workflow, at every instant,
 *
 *      and the workflows' charges add up to at most the run's, unless it was
 *      killed (3).
 *   3. When a charge is split, money held beyond the share is freed. If a
 *      workflow cannot hold the next window, or more use, its tasks there are
 *      stopped before the paid time is over and return to the bag. If the run
 *      was killed, it is unknown who had the slots for how long: then each
 *      workflow is charged all that it held for a machine, and the sum may
 *      exceed the run's charge.
 *   4. A task that its workflow can pay for nowhere waits as long as the
 *      workflow holds money that may be freed. Then it is skipped, and so are
 *      tasks that wait for it: the notice SKIP says `unpaid`.
 *
 * A workflow's deadline is a goal of its own, like the run's (goal.h). The
 * policies that place tasks (miser, mw-dbs, flow) plan each workflow for its
 * own deadline; under others, the most urgent tasks come first.
 */
#ifndef BATS_PURSE_H
#define BATS_PURSE_H

#include <stdint.h>

#include "bats/units.h"

#define BATS_PURSES_MAX 1024

struct bats_purse {
    const char *name;   /* for people; not copied */
    bats_money budget;  /* BATS_UNLIMITED: the run's */
    bats_time deadline; /* from the start of the run; 0: none */
    bats_time begin;    /* the same: earliest start of its tasks */
    bats_money charged; /* by earlier sessions */
};

struct bats_purse_status {
    const char *name; /* as in bats_purse */
    bats_money budget, charged, held;
    bats_time deadline; /* 0: none */
    uint32_t left, done, failed;
    uint32_t skipped; /* not run */
    uint32_t unpaid;  /* of these, not covered by its budget */
    bats_time ended;  /* time of the last result; BATS_NEVER: tasks are left */
    bats_time soonest; /* in a running engine: earliest time of its last
                          result, by the expected runtimes; 0: unknown */
};

#endif
