/* least: what a deadline costs somebody who knows every runtime, at least: the
 * smallest budget whose bound (sim/bound.h) is in time. */
#ifndef BENCHMARKS_MONEY_LEAST_H
#define BENCHMARKS_MONEY_LEAST_H

#include <math.h>

#include "sim/bound.h"

/* INFINITY if no money suffices. */
static int least_cost(const struct bats_bound_problem *p, bats_time deadline,
                      double *cost, struct bats_error *err)
{
    bats_money low = 0, high = BATS_UNLIMITED;
    double end;
    int rc = bats_bound(p, high, &end, err);
    *cost = INFINITY;
    if (rc < 0 || end > (double)deadline)
        return rc;
    for (high = 1; rc == 0 && low < high;) {
        bats_money middle = *cost < INFINITY ? low + (high - low) / 2 : high;
        rc = bats_bound(p, middle, &end, err);
        if (end <= (double)deadline)
            *cost = (double)(high = middle);
        else
            low = middle + 1;
        if (*cost == INFINITY)
            high *= 2;
    }
    return rc;
}

#endif
