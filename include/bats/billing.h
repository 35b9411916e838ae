/*
 * billing: how the site bills the machines that a run holds.
 *
 * Layer: plan. Plain data, from the clusters file or the batch system.
 *
 *   window      A machine is charged for each window when it enters it; a
 *               parked machine is free. So are older clouds, and emulated
 *               clusters that grow and shrink.
 *   allocation  Everything that the job holds is billed by the second until it
 *               is given back, whether used or not: every Slurm job.
 *   use         A machine is charged by the second for the time in which it
 *               runs a task, in proportion to the charge of a window. Idle
 *               time is free. The possible cost of a task is held before it
 *               begins, and more if it takes longer; a task is stopped when
 *               the money does not suffice.
 *   job         A machine is a job of its own, which is requested and may be
 *               queued. From the request on, the price of its longest possible
 *               time is held: a window, or what the bag needs (`step`, below),
 *               plus the time that the site lets jobs run beyond their limit.
 *               When it has ended, its bill is charged and the rest is freed.
 *               The run's own job is billed meanwhile. With a lease, money is
 *               held only for that time ahead, and renewed as time passes. The
 *               total stays within the budget only if jobs end by themselves
 *               when their lease is not prolonged.
 *
 *   second      A machine is charged by the second from its acquisition until
 *               it is given back or reclaimed, at a price that may depend on
 *               its age (tariff.h). It is kept from window to window: the most
 *               that it may cost in a window is held before the window begins.
 *               Today's clouds charge like this.
 *
 * In an allocation the bill depends on the time alone:
 *
 *   billed(t) = before + rate * max(t, least)
 *
 * so a budget implies a deadline: the latest time t at which billed(t +
 * leaving) is within it.
 */
#ifndef BATS_BILLING_H
#define BATS_BILLING_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/units.h"

enum bats_billing_model {
    BATS_BILLING_WINDOW,
    BATS_BILLING_ALLOCATION, /* uses rate, before, least, leaving */
    BATS_BILLING_USE,
    BATS_BILLING_JOB, /* uses rate, before, leaving (of the run's own job; 0:
                         none), overrun, jobs, step, longest */
    BATS_BILLING_SECOND
};

struct bats_billing {
    enum bats_billing_model model;
    bats_money rate;   /* per hour, for everything the job holds */
    bats_money before; /* billed before the run begins, beyond what earlier
                          sessions recorded (may be < 0) */
    bats_time least;   /* least time billed */
    bats_time leaving; /* longest time from the deadline until the allocation
                          is given back */
    bats_time overrun; /* a job: longest billed time beyond its work time */
    uint32_t jobs;     /* most jobs at the same time (of each pool of
                          strategy.h); 0: no limit. Those with a successor do
                          not count */
    bats_time step;    /* jobs: work times may differ from a window by
                          multiples of this, as the bag needs; 0: never */
    bats_time longest; /* longest work time, at least a window; 0: no limit,
                          except */
#define BATS_JOB_LONGEST (24 * BATS_HOUR) /* without a budget */
    bats_time lease;    /* jobs: money is held for this time ahead, renewed at
                        each tick; a job whose lease is not prolonged ends by
                        itself. 0: for all of a job's time */
    bats_time starting; /* jobs with leases: longest time from a job's start
                           until it watches its first lease */
};

/* "window", "allocation", "use", "job", "second" */
bool bats_billing_find(const char *name, enum bats_billing_model *model);
const char *bats_billing_name(enum bats_billing_model model);

/* The model that an option names; windows without a name. */
enum bats_billing_model bats_billing_named(const char *name);

/* The cost of a time at an hourly rate, rounded up to a millionth;
 * BATS_UNLIMITED if it does not fit. time >= 0. */
bats_money bats_billing_cost(bats_money rate, bats_time time);

/* The job that the run itself is in is billed by time: the whole allocation,
 * or beside machines that are jobs. */
bool bats_billing_is_timed(const struct bats_billing *billing);

/* The bill of the run's own job until `now`, without `before`. */
bats_money bats_billing_held(const struct bats_billing *billing,
                             bats_time now);

/* The same at a charge per window. */
bats_money bats_billing_use(bats_money charge, bats_time window,
                            bats_time time);
bats_time bats_billing_lasts(bats_money charge, bats_time window,
                             bats_money money);

#endif
