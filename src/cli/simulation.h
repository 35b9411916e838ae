/*
 * simulation: the results of a campaign for people and for programs.
 *
 * Layer: cli. Used by the verb simulate.
 */
#ifndef BATS_SIMULATION_H
#define BATS_SIMULATION_H

#include <stdio.h>

#include "sim/campaign.h"

/* Summarises all runs of each policy and budget in one line. `name` is the
 * name of the scenario. BATS_ENOMEM. */
int bats_simulation_table(FILE *out, const char *name,
                          const struct bats_scenario *scenario,
                          const struct bats_world_result *results, size_t n,
                          struct bats_error *err);

/* Prints every run: a line of comma-separated values below a header, or a JSON
 * object per line. BATS_ENOMEM. */
void bats_simulation_csv(FILE *out, const struct bats_scenario *scenario,
                         const struct bats_world_result *results, size_t n);
int bats_simulation_json(FILE *out, const struct bats_scenario *scenario,
                         const struct bats_world_result *results, size_t n,
                         struct bats_error *err);

#endif
