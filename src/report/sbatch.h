/*
 * sbatch: the job script of a schedule, for Slurm.
 *
 * Layer: report. Used by the verb plan.
 *
 * The (heterogeneous) job has a component for each cluster that the schedule
 * uses: partition, nodes or ranks, and a time limit. The limit is the upper
 * bound of the schedule's end, plus 5 minutes and 5 % for start, end, and
 * errors of the estimate. Rank 0, the master, is an additional rank in the
 * first component if its machines are ranks; otherwise it is a rank of the
 * first node. The components are sorted by the names of their partitions (see
 * jobscripts/two-partitions.sh).
 */
#ifndef BATS_SBATCH_H
#define BATS_SBATCH_H

#include <stdbool.h>
#include <stdio.h>

#include "bats/estimate.h"

struct bats_sbatch {
    const struct bats_estimator *e;
    const struct bats_schedule *schedule; /* feasible */
    const char *const *partition;         /* per cluster */
    const bool *by_node;                  /* per cluster: machines are nodes */
    const double *ranks;                  /* per cluster: of a machine */
    const char *bag, *profile;
    const char *clusters; /* name of the clusters file, or NULL */
    bats_money charged;   /* charged for the sample; included in --budget */
    bool by_window;       /* the run is charged by whole windows */
};

/* Prints the script, with a final newline. BATS_EINPUT, and nothing is
 * printed, if a partition is not a plain word (see util/encode.h), because a
 * line of #SBATCH has no way to quote. */
int bats_sbatch_print(FILE *out, const struct bats_sbatch *sbatch,
                      struct bats_error *err);

#endif
