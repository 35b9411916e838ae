/*
 * simulation: the results of a campaign for people and for programs.
 *
 * Layer: cli. Used by the verb simulate.
 */
#ifndef BATS_SIMULATION_H
#define BATS_SIMULATION_H

#include <stdio.h>

#include "sim/campaign.h"

/* What all runs of a policy and a budget amount to, a line each. `name` is
 * what the scenario is called. BATS_ENOMEM. */
int bats_simulation_table(FILE *out, const char *name,
                          const struct bats_scenario *scenario,
                          const struct bats_world_result *results, size_t n,
                          struct bats_error *err);

/* Every run: a line of comma-separated values with a head, or a JSON object
 * per line. BATS_ENOMEM. */
void bats_simulation_csv(FILE *out, const struct bats_scenario *scenario,
                         const struct bats_world_result *results, size_t n);
int bats_simulation_json(FILE *out, const struct bats_scenario *scenario,
                         const struct bats_world_result *results, size_t n,
                         struct bats_error *err);

#endif
