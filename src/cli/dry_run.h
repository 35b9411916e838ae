/*
 * dry_run: shows the first steps of a run without taking them, and warns if
 * emulated time cannot be as requested.
 * Layer: cli. Used by the verb run.
 */
#ifndef BATS_DRY_RUN_H
#define BATS_DRY_RUN_H

#include "cli/past.h"
#include "run/run.h"

/* Prints the platform, beliefs about it (`learner`), the machines that the
 * policy would acquire at the start with their charge, and the first tasks.
 * All machines of an engine join at time 0, and its commands are printed. An
 * error ends the program. */
void bats_dry_run_print(const struct bats_run_options *options,
                        const struct bats_survey *survey,
                        const struct bats_learner *learner);

/* Prints the command of every task on its own line; {%} is 1. `variables`:
 * after its variables. */
void bats_dry_run_list(const struct bats_bagfile *bag, bool variables);

/* Warns on standard error if a cluster's speed is above 1 and the bag has real
 * commands, or if an average @sleep is too short to be emulated. */
void bats_emulation_warn(const struct bats_bagfile *bag,
                         const struct bats_platform *platform,
                         double time_scale);

#endif
