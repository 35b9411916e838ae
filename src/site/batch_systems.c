/* batch_systems: the list of batch systems, each in its own file. */
#include "site/batch_system.h"

#include <stddef.h>

extern const struct bats_batch_system bats_slurm, bats_gridengine, bats_pbs,
    bats_flux;

const struct bats_batch_system *const bats_batch_systems[] = {
    &bats_slurm, &bats_gridengine, &bats_pbs, &bats_flux, NULL};
