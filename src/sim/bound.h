/*
 * bound: the clairvoyant bound, a makespan that no schedule can beat.
 *
 * Layer: sim. Used by the worlds, to say how far from the best a run was.
 *
 * Whoever knows every runtime still has to do all the work in windows that he
 * pays as a whole. Within a makespan M a machine can be paid k = ceil(M / ATU)
 * windows at most, of which the last is useful up to M only, and each time it
 * starts up it is lost for that long. So M is too short
 *
 *   - if the most work that the budget buys in such windows is less than the
 *     bag's, tasks being as divisible as a fluid (a bounded knapsack: a type
 *     of machine gives A k pieces, all at the same price, A of them smaller);
 *   - or if the longest task does not fit into it on any type of machine that
 *     the budget can pay for so long.
 *
 * The bound is the shortest M of which neither can be said.
 */
#ifndef BATS_BOUND_H
#define BATS_BOUND_H

#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
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
};

/*
 * *makespan: the bound for `budget` in microseconds, INFINITY if the budget
 * cannot pay the bag however it is spent. Errors: BATS_ENOMEM.
 */
int bats_bound(const struct bats_bound_problem *problem, bats_money budget,
               double *makespan, struct bats_error *err);

/* The time that all machines need together if the bag is a fluid. */
double bats_bound_fluid(const struct bats_bound_problem *problem);

#endif
