/*
 * simulation: the results of a campaign for people and for programs.
 *
 * Layer: cli. Used by the verb simulate.
 */
#ifndef BATS_SIMULATION_H
#define BATS_SIMULATION_H

#include <stdio.h>

#include "sim/campaign.h"

struct bats_simulation {
    const char *name; /* of the scenario */
    const struct bats_scenario *scenario;
    const struct bats_world_result *results;
    size_t n;
};

/* Summarises all runs of each policy and budget in one line. BATS_ENOMEM. */
int bats_simulation_table(FILE *out, const struct bats_simulation *simulation,
                          struct bats_error *err);

/* Prints every run: a line of comma-separated values below a header, or a JSON
 * object per line. BATS_ENOMEM. */
void bats_simulation_csv(FILE *out, const struct bats_simulation *simulation);
int bats_simulation_json(FILE *out, const struct bats_simulation *simulation,
                         struct bats_error *err);

/* Writes a page (report/page.h) with the summary of each policy and budget, and
 * the distributions of makespan and cost. `simulation`: a struct
 * bats_simulation. BATS_ESYS, BATS_ENOMEM. */
int bats_simulation_page(void *simulation, FILE *out, struct bats_error *err);

#endif
