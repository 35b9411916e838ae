/*
 * bound: the clairvoyant bound, a makespan that no schedule can beat.
 *
 * Layer: sim. Used by the worlds, to compare runs with the optimum.
 *
 * Even a scheduler that knows every runtime must do all the work in windows
 * that are paid as a whole. Within a makespan M a machine can be paid for at
 * most k = ceil(M / ATU) windows; the last one is useful only up to M, and
 * every start-up is lost time. So M is too short
 *
 *   - if the most work that the budget buys in such windows is less than the
 *     bag's, tasks being as divisible as a fluid (a bounded knapsack: a type
 *     of machine gives A k pieces, all at the same price, A of them smaller);
 *   - or if the longest task does not fit into M on any type of machine that
 *     the budget can pay for that long.
 *
 * The bound is the shortest M that neither condition rules out, but at least
 * the time of the longest chain of tasks on the fastest machine.
 */
#ifndef BATS_BOUND_H
#define BATS_BOUND_H

#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/units.h"

struct bats_bound_type {
    uint32_t machines;
    uint32_t slots;
    double speed;
    bats_money charge;
    bats_time startup;
    double longest; /* work of the longest task, microseconds at speed 1 */
};

struct bats_bound_problem {
    const struct bats_bound_type *types;
    size_t n_types; /* 1..BATS_CLUSTERS_MAX */
    double work;    /* of all tasks, microseconds at speed 1 */
    bats_time window;
    double chain; /* work of the longest chain of dependent tasks; 0: no
                     dependencies */
};

/*
 * *makespan: the bound for `budget` in microseconds; INFINITY if the budget
 * cannot pay for the bag. Errors: BATS_ENOMEM.
 */
int bats_bound(const struct bats_bound_problem *problem, bats_money budget,
               double *makespan, struct bats_error *err);

/* Time that all machines together need for the bag as a fluid. */
double bats_bound_fluid(const struct bats_bound_problem *problem);

#endif
