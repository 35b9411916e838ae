/*
 * prior: the belief about task runtimes before any result, and its update by
 * results.
 *
 * Layer: estimate. Used by the engine, and by cli, which queries the history.
 *
 * Model. The logarithm of a cluster's mean runtime is the believed one, plus a
 * level error shared by all clusters, plus the cluster's own error; both are
 * normal. A measured mean m of n tasks is an observation of it with error
 *
 *   e = max(0.03, cv / sqrt(n + 1))
 *
 * With x = ln(m / believed) where there are results, and v = own^2 + e^2:
 *
 *   u     = sum(x / v) / (1 / level^2 + sum(1 / v))       the level's error
 *   ln T  = ln believed + u + own^2 / v (x - u)           with results
 *         = ln believed + u                               without
 *
 * So results soon outweigh the belief, and those of one cluster also inform
 * about the others; if the level is unknown (infinite), only relative speeds
 * are believed. If |u|, from results alone, is off by more than 3 deviations,
 * the belief was about other tasks: its level is dropped at once.
 *
 * The level of a kind of tasks comes from its last bags, relative speeds from
 * all kinds (bats_prior_learn).
 */
#ifndef BATS_PRIOR_H
#define BATS_PRIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/error.h"

/* All zero: no belief. */
struct bats_prior {
    double mean[BATS_CLUSTERS_MAX]; /* microseconds; 0: no belief. With an
                                       infinite level, any unit */
    double own[BATS_CLUSTERS_MAX];  /* deviation of the cluster's own error of
                                       ln */
    double level;                   /* the same for the shared level */
    double cv;                      /* of tasks in a bag; 0: unknown */
};

/* There is a belief about every cluster. */
bool bats_prior_is_there(const struct bats_prior *prior, size_t n_clusters);

/* The current belief. */
struct bats_belief {
    double mean[BATS_CLUSTERS_MAX];  /* microseconds; 0: unknown */
    double error[BATS_CLUSTERS_MAX]; /* deviation of its ln; INFINITY:
                                        unknown */
    bool is_dropped;                 /* the level was about other tasks */
};

/* Updates the belief. measured: means per cluster, microseconds, of n results
 * (0: none), with coefficient of variation cv. */
void bats_prior_update(const struct bats_prior *prior, size_t n_clusters,
                       const double *measured, const double *n, double cv,
                       struct bats_belief *belief);

/* ---- from the past ---- */

/* Runtimes of a kind of tasks on the machines of one place in one bag. */
struct bats_prior_row {
    uint32_t bag, kind, place; /* bags numbered from 0 by their ends */
    double tasks, mean, cv;    /* mean in microseconds */
};

/* The knowledge of earlier bags. */
struct bats_prior_past {
    double *speed;    /* by place: ln of its runtimes relative to others */
    double *error;    /* deviation; INFINITY: never seen with another place */
    uint32_t *island; /* places seen together, directly or through others, have
                         the same number */
    size_t n_places;
};

/* Learns relative speeds from all kinds by least squares of
 *
 *   ln mean = level of kind and bag + speed of the place.
 *
 * Rows ascend by bag, and by kind within a bag. The caller releases the result.
 * BATS_ENOMEM. */
int bats_prior_learn(const struct bats_prior_row *rows, size_t n,
                     size_t n_places, struct bats_prior_past *past,
                     struct bats_error *err);
void bats_prior_past_release(struct bats_prior_past *past);

/*
 * The belief about a kind of tasks (UINT32_MAX: unknown) on clusters: cluster
 * i is place[i] (UINT32_MAX: never seen) and charges charge[i]. The level is a
 * mean of the last bags, weighting later ones more; its deviation is the past
 * error of such guesses. A cluster never seen with the others is believed to
 * be faster if it charges more. *bags: number of bags of the kind. False:
 * neither a cluster nor the kind is known.
 */
bool bats_prior_of(const struct bats_prior_past *past,
                   const struct bats_prior_row *rows, size_t n, uint32_t kind,
                   const uint32_t *place, const double *charge,
                   size_t n_clusters, struct bats_prior *prior,
                   uint32_t *bags);

/* The weighted mean of several kinds in one bag, `weight` tasks of each. Kinds
 * without a level count as the mean of the others. */
void bats_prior_mix(const struct bats_prior *kinds, const double *weight,
                    size_t n_kinds, size_t n_clusters,
                    struct bats_prior *prior);

#endif
