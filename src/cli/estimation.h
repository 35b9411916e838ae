/*
 * estimation: what an estimate is made from, put together from files and
 * options.
 *
 * Layer: cli. Used by `plan`; `e` is ready for the functions of
 * bats/estimate.h.
 */
#ifndef BATS_ESTIMATION_H
#define BATS_ESTIMATION_H

#include "bats/estimate.h"
#include "input/platform.h"
#include "input/profile.h"

/* Not to be copied: `e` points into it. */
struct bats_estimation {
    struct bats_estimator e;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX];
    char currency[16];
};

/*
 * The tasks left of a profile, on its clusters. Charges, caps, window and
 * currency are those of `file` unless it is NULL; clusters that are not in it
 * are left out, and said to be, on standard error. `confidence` 0: the usual
 * one. Errors: BATS_EINPUT (no cluster is left), BATS_ENOMEM.
 */
int bats_estimation_from_profile(struct bats_estimation *x,
                                 const struct bats_profile *profile,
                                 const struct bats_clusters_file *file,
                                 double confidence, struct bats_error *err);

/*
 * `n_tasks` tasks on the clusters of `file` (read from `path`), of which
 * `runtimes` gives the means, as in "slow=15m,fast=3.75m". Clusters that it
 * does not name are left out, and said to be. A machine counts as one slot,
 * for how many ranks a node will have is not known. BATS_EINPUT.
 */
int bats_estimation_from_runtimes(struct bats_estimation *x, uint64_t n_tasks,
                                  const char *runtimes,
                                  const struct bats_clusters_file *file,
                                  const char *path, struct bats_error *err);

#endif
