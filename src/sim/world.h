/*
 * world: one bag on one platform, created from a seed, and the runs in it.
 * Layer: sim. Used by campaign.h and for traces. The runtimes are a function
 * of the seed alone; the order of the draws, the noise and the losses of
 * machines depend also on the repeat. All policies and budgets of a repeat
 * meet the same world.
 */
#ifndef BATS_WORLD_H
#define BATS_WORLD_H

#include "sim/bound.h"
#include "sim/scenario.h"
#include "sim/sim.h"

struct bats_world; /* opaque */

/* Creates the world of scenario->seeds[seed] and `repeat` (from 0). The
 * scenario must outlive it. BATS_ENOMEM, BATS_EOVERFLOW (the sum of the
 * runtimes exceeds virtual time). */
int bats_world_create(const struct bats_scenario *scenario, size_t seed,
                      uint32_t repeat, struct bats_world **world,
                      struct bats_error *err);
void bats_world_destroy(struct bats_world *world); /* NULL is legal */

/* Work of each task, microseconds at speed 1; owned by the world. */
const bats_time *bats_world_work(const struct bats_world *world);

/* The bag and the platform as bound.h sees them; owned by the world. */
const struct bats_bound_problem *
bats_world_problem(const struct bats_world *world);

struct bats_world_result {
    uint32_t seed;
    uint32_t repeat;         /* from 1, for people */
    uint32_t policy, budget; /* indices in the scenario */
    bats_money amount;       /* the budget, or BATS_UNLIMITED */
    enum bats_finish finish;
    bats_time makespan;
    int64_t windows;
    bats_money charged;
    uint32_t violations;       /* windows charged beyond the budget */
    uint32_t reconfigurations; /* decisions after the first configuration */
    uint32_t done, failed, undone; /* tasks */
    uint32_t preempted;            /* executions */
    uint32_t lost;                 /* machines */
    /* The configuration decided after sampling, or at the start. */
    uint32_t machines[BATS_CLUSTERS_MAX];
    double bound; /* clairvoyant bound for this budget (bound.h), microseconds;
                   * INFINITY if no schedule can complete the bag */
    double ratio; /* makespan / bound; 0 if tasks are undone */
};

/* Runs a policy with a budget of the scenario (indices). `watch` may be NULL.
 * Errors: those of bats_sim_run. */
int bats_world_run(struct bats_world *world, uint32_t policy, uint32_t budget,
                   const struct bats_sim_watch *watch,
                   struct bats_world_result *result, struct bats_error *err);

#endif
