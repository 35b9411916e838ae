/*
 * simulation_page: the results of a campaign as a page (report/html.h).
 * Layer: cli. Used by the verb simulate. Shows the summary of each policy and
 * budget, and the distributions of makespan and cost.
 */
#ifndef BATS_SIMULATION_PAGE_H
#define BATS_SIMULATION_PAGE_H

#include <stdio.h>

#include "sim/campaign.h"

/* `name` is that of the scenario. BATS_ESYS, BATS_ENOMEM. */
int bats_simulation_page(FILE *out, const char *name,
                         const struct bats_scenario *scenario,
                         const struct bats_world_result *results, size_t n,
                         struct bats_error *err);

#endif
