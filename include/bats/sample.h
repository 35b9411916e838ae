/*
 * sample: completes the samples of runtimes on every cluster from the few
 * measured ones.
 *
 * Layer: estimate. Used by the estimator's callers (the engine's sampling
 * phase, the profile). Pure. Source: Oprescu's thesis, 3.1.3.
 *
 * A few tasks were run on every cluster, the others on one each. The common
 * tasks give a line (regression.h) from the base, the cluster with most
 * runtimes, to every other cluster. With these lines each task gets a runtime
 * on the base, and from there on all clusters; measured runtimes are kept. So
 * a cluster's sample has as many runtimes as tasks were sampled on all
 * clusters together.
 *
 * A cluster that shares no task with the base gets its line through a third
 * cluster that shares tasks with both, or else from the means of its own
 * runtimes and of the base's. A cluster without a runtime is unknown: its
 * sample is empty.
 */
#ifndef BATS_SAMPLE_H
#define BATS_SAMPLE_H

#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/interval.h"
#include "bats/regression.h"
#include "bats/units.h"

/* A task ran for `runtime` on a machine of `cluster`. */
struct bats_observation {
    uint32_t task;
    uint32_t cluster;
    bats_time runtime; /* >= 0; counts as at least 1 */
};

struct bats_cluster_sample {
    double *runtimes;            /* microseconds, in the order of tasks */
    uint32_t n;                  /* 0: unknown */
    uint32_t n_measured;         /* number of them measured here */
    uint32_t n_pairs;            /* tasks that ran both here and on the base */
    struct bats_regression line; /* from the base; the base has 0, 1 */
};

struct bats_sample {
    size_t n_clusters;
    size_t base;
    struct bats_cluster_sample clusters[BATS_CLUSTERS_MAX];
};

/*
 * Completes the samples from `n` observations in any order. If a task has
 * several on one cluster, the first counts. Errors: BATS_EINPUT (a cluster
 * that does not exist, a negative runtime, no clusters or too many),
 * BATS_ENOMEM. The caller releases it.
 */
int bats_sample_init(struct bats_sample *sample, size_t n_clusters,
                     const struct bats_observation *observations, size_t n,
                     struct bats_error *err);
void bats_sample_release(struct bats_sample *sample);

/*
 * Statistics of each cluster at confidence p (interval.h), into
 * runtimes[n_clusters]. A cluster with a single measured task is_guess. So is
 * one without any that the user gave an expected runtime
 * (expected[n_clusters], microseconds; 0: none; NULL: none at all): its
 * runtimes are the base's, scaled by the ratio of expected runtimes; if the
 * base has no expected runtime, or is empty, it has the expected mean.
 * BATS_ENOMEM.
 */
int bats_sample_runtimes(const struct bats_sample *sample, double p,
                         const bats_time *expected,
                         struct bats_runtimes *runtimes,
                         struct bats_error *err);

#endif
