/*
 * billing: how the site bills what a run holds.
 *
 * Layer: plan. Plain data: the clusters file or the batch system says it.
 *
 *   window      A machine is charged for each window that it enters, when it
 *               enters it; a parked machine is free. Clouds are like that, and
 *               the emulation of clusters that grow and shrink.
 *   allocation  Everything that the job holds is billed, by the second, until
 *               it is given back, whether it works or not: every Slurm job.
 *   use         A machine is charged for the time in which it runs a task, by
 *               the second: the charge of a window, in proportion. Waiting is
 *               free. What a running task may cost is held before it begins,
 *               and more when it takes longer; a task for which there is no
 *               more is stopped.
 *   job         A machine is a job of its own, which is asked for and may wait
 *               in a queue. From that moment the price of the longest time that
 *               it may take is held: a window, or what the bag needs (`step`,
 *               below), and so long as the site lets jobs run beyond their
 *               limit. When it has ended it is charged what it was billed, and
 *               the rest is free again. What the job is billed in which the run
 *               itself is, goes on meanwhile. With a lease the price is held for
 *               that time only, beyond the present, and again as time passes.
 *               That holds a total only if such jobs end by themselves when
 *               their lease is not prolonged.
 *
 *   second      A machine is charged by the second from the moment it is
 *               acquired until it is given back or reclaimed, at a price that
 *               may depend on its age (tariff.h). It is held from window to
 *               window: what it may cost at most until the end of one is held
 *               before that begins. Clouds are like that today.
 *
 * In an allocation the money is a function of the time alone:
 *
 *   billed(t) = before + rate * max(t, least)
 *
 * so that a budget is a deadline: the latest time t at which billed(t +
 * leaving) is within it.
 */
#ifndef BATS_BILLING_H
#define BATS_BILLING_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/units.h"

enum bats_billing_model {
    BATS_BILLING_WINDOW,
    BATS_BILLING_ALLOCATION, /* then: rate, before, least, leaving */
    BATS_BILLING_USE,
    BATS_BILLING_JOB, /* then: rate, before, leaving (of the run's own job; 0:
                         it is in none), overrun, jobs, step, longest */
    BATS_BILLING_SECOND
};

struct bats_billing {
    enum bats_billing_model model;
    bats_money rate;   /* per hour, of everything that the job holds */
    bats_money before; /* billed when the run begins, beyond what earlier
                        * sessions recorded (may be < 0) */
    bats_time least;   /* the time that is billed even if it is not used */
    bats_time leaving; /* at most, from the deadline until it is given back */
    bats_time overrun; /* a job: time beyond its work time for which it may
                        * be billed */
    uint32_t jobs;     /* at most this many at the same time (of each pool of
                        * strategy.h); 0: no limit. One that has a successor
                        * does not count */
    bats_time step;    /* jobs: the time for which one works may differ from a
                        * window by a multiple of this, as the bag needs; 0: it
                        * does not */
    bats_time longest; /* and is never longer than this, which is a window at
                        * least; 0: no limit, */
#define BATS_JOB_LONGEST (24 * BATS_HOUR) /* but this without a budget */
    bats_time lease; /* jobs: the price is held for this time beyond the
                        * present, again at each tick; a job for which it is
                        * not ends by itself. 0: for all of a job's time */
};

/* "window", "allocation", "use", "job", "second" */
bool bats_billing_find(const char *name, enum bats_billing_model *model);
const char *bats_billing_name(enum bats_billing_model model);

/* The model that options name; without a name they mean windows. */
enum bats_billing_model bats_billing_named(const char *name);

/* The cost of a time at an hourly rate, rounded up to a millionth;
 * BATS_UNLIMITED if it does not fit. time >= 0. */
bats_money bats_billing_cost(bats_money rate, bats_time time);

/* The job that the run itself is in is billed, by the time: all of an
 * allocation, or beside the machines that are jobs. */
bool bats_billing_is_timed(const struct bats_billing *billing);

/* The bill of the run's own job until `now`, without `before`. */
bats_money bats_billing_held(const struct bats_billing *billing,
                             bats_time now);

/* The longest time that `money` >= 0 pays at this rate; BATS_LONGEST at most.
 */
bats_time bats_billing_time(bats_money rate, bats_money money);

/* The same at a charge per window. */
bats_money bats_billing_use(bats_money charge, bats_time window,
                            bats_time time);
bats_time bats_billing_lasts(bats_money charge, bats_time window,
                             bats_money money);

#endif
