/*
 * estimation: collects the data of an estimate from files and options. Layer:
 * cli. Used by `plan`; `e` is ready for the functions of bats/estimate.h.
 */
#ifndef BATS_ESTIMATION_H
#define BATS_ESTIMATION_H

#include "bats/estimate.h"
#include "bats/prior.h"
#include "input/platform.h"
#include "input/profile.h"

/* Do not copy: `e` points into it. */
struct bats_estimation {
    struct bats_estimator e;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_runtimes runtimes[BATS_CLUSTERS_MAX];
    double slots[BATS_CLUSTERS_MAX]; /* tasks at a time on a machine */
    double ranks[BATS_CLUSTERS_MAX]; /* of a machine */
    char currency[16];
    const char *partition[BATS_CLUSTERS_MAX]; /* partition for a Slurm job */
    bool by_node[BATS_CLUSTERS_MAX];          /* its machines are nodes */
    struct bats_head heads[BATS_CLUSTERS_MAX];
};

/*
 * Takes the tasks left of a profile, on its clusters. Charges, limits, window,
 * billing and currency are those of `file` unless it is NULL. Clusters that
 * are not in `file` are left out, with a message on standard error.
 * `confidence` 0: the default. The profile must live as long. Errors:
 * BATS_EINPUT (no cluster is left), BATS_ENOMEM.
 */
int bats_estimation_from_profile(struct bats_estimation *x,
                                 const struct bats_profile *profile,
                                 const struct bats_clusters_file *file,
                                 double confidence, struct bats_error *err);

/* Takes the dependencies of tasks from the profile, which must live as
 * long. */
void bats_estimation_set_graph(struct bats_estimation *x,
                               const struct bats_profile *profile);

/* room[]: how many tasks of the bag (NULL: any tasks) a machine of each cluster
 * of the file runs at the same time; 0: some task needs more than it has.
 * `each`: what a task needs for which the bag says nothing. A machine of
 * unknown slots counts as one; the program ends if tasks need several. */
void bats_estimation_room(const struct bats_clusters_file *file,
                          const struct bats_bagfile *bag,
                          const struct bats_need *each, double *room);

/*
 * Takes `n_tasks` tasks on the clusters of `file` (read from `path`).
 * `runtimes` gives the mean runtimes, as in "slow=15m,fast=3.75m" (NULL:
 * none). For other clusters, the runtime expected in `file` or believed
 * (`prior`, by cluster of the file; NULL: none) counts as a guess; without
 * that, the cluster is left out, with a message on standard error. `room`: how
 * many tasks a machine runs at a time, by cluster of the file; clusters with 0
 * are left out, too. An error ends the program.
 */
void bats_estimation_from_runtimes(struct bats_estimation *x, uint64_t n_tasks,
                                   const char *runtimes,
                                   const struct bats_prior *prior,
                                   const double *room,
                                   const struct bats_clusters_file *file,
                                   const char *path);

/* The kind of schedules on offer. */
enum bats_plans bats_estimation_plans(const char *policy,
                                      enum bats_billing_model billing);

/* The budget that is `share` of the way from the cost of the cheapest schedule
 * on offer to that of the fastest. An error ends the program. */
bats_money bats_estimation_budget(const struct bats_estimator *e,
                                  double share);

#endif
