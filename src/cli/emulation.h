/*
 * emulation: warns if emulated time cannot be as requested.
 *
 * Layer: cli. Used by the watch and by --dry-run.
 */
#ifndef BATS_EMULATION_H
#define BATS_EMULATION_H

#include <stdio.h>

#include "input/bagfile.h"
#include "input/platform.h"

/* Warns on `out` if the bag has commands that a cluster with a speed above 1
 * would have to run faster than possible, or if its @sleeps are so short that
 * starting them takes as long. */
void bats_emulation_warn(FILE *out, const struct bats_bagfile *bag,
                         const struct bats_platform *platform,
                         double time_scale);

#endif
