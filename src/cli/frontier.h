/*
 * frontier: plays all strategies for two pools, and finds the best ones.
 *
 * Layer: cli. Used by the verbs frontier and report.
 */
#ifndef BATS_CLI_FRONTIER_H
#define BATS_CLI_FRONTIER_H

#include "cli/options.h"
#include "input/pools.h"
#include "report/strategies.h"

/* Plays the grid and the static strategies n_plays times each, on set->jobs
 * threads, and marks the best ones for the budget, deadline, utility and
 * strategy of `set`. pools->model and `name` must live as long as *found;
 * found->list is for free(), also after an error. BATS_EINPUT, BATS_ENOMEM. */
int bats_frontier_find(const struct bats_settings *set,
                       const struct bats_pools *pools, const char *name,
                       uint32_t n_plays, struct bats_strategies *found,
                       struct bats_error *err);

#endif
