/*
 * sbatch: the job script of a schedule, for Slurm.
 *
 * Layer: report. Used by the verb plan.
 *
 * A component of the (heterogeneous) job for each cluster that the schedule
 * has machines of: partition, nodes or ranks, and a time limit of the windows
 * that the schedule may take at most, with 5 minutes and 5 % for the start, the
 * end, and what the estimate does not know. Rank 0, the master, is a rank more
 * in the first component where machines are ranks, and else one of its first
 * node's. The components are in the order of their partitions' names (see
 * jobscripts/two-partitions.sh).
 */
#ifndef BATS_SBATCH_H
#define BATS_SBATCH_H

#include <stdbool.h>
#include <stdio.h>

#include "bats/estimate.h"

struct bats_sbatch {
    const struct bats_estimator *e;
    const struct bats_schedule *schedule;     /* feasible */
    const char *partition[BATS_CLUSTERS_MAX]; /* per cluster */
    bool by_node[BATS_CLUSTERS_MAX];          /* its machines are nodes */
    const char *bag, *profile;
    const char *clusters; /* name of the clusters file, or NULL */
    bats_money charged;   /* for the sample: --budget pays it, too */
};

/* The script, with a final newline. BATS_EINPUT, and nothing is printed: a
 * partition is no plain word (see util/encode.h), and a line of #SBATCH has no
 * way to quote. */
int bats_sbatch_print(FILE *out, const struct bats_sbatch *sbatch,
                      struct bats_error *err);

#endif
