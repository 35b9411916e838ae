/*
 * prior: what is believed of the runtimes of tasks before any has ended, and
 * what becomes of that as they do.
 *
 * Layer: estimate. Used by the engine, and by cli, which asks the history.
 *
 * Model. The logarithm of a cluster's mean runtime is that of the belief, plus
 * an error of the level, which all clusters share, plus one of the cluster
 * alone; both are normal. A measured mean m of n tasks is another observation
 * of it, whose error is
 *
 *   e = max(0.03, cv / sqrt(n + 1))
 *
 * With x = ln(m / believed) where there are results, and v = own^2 + e^2:
 *
 *   u     = sum(x / v) / (1 / level^2 + sum(1 / v))       the level's error
 *   ln T  = ln believed + u + own^2 / v (x - u)           with results
 *         = ln believed + u                               without
 *
 * So results soon outweigh what was believed, those of a cluster also tell of
 * the others, and where the level is not known (infinite), only the relative
 * speeds are. If |u|, from results alone, is more than 3 deviations off, the
 * belief was about something else: its level is dropped at once.
 *
 * The level of a kind of tasks comes from the last bags of it, relative speeds
 * from all kinds (bats_prior_learn).
 */
#ifndef BATS_PRIOR_H
#define BATS_PRIOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/error.h"

/* All zero: nothing is believed. */
struct bats_prior {
    double mean[BATS_CLUSTERS_MAX]; /* microseconds; 0: nothing is believed.
                                     * With an infinite level, any unit */
    double own[BATS_CLUSTERS_MAX];  /* deviation of ln, of the cluster alone */
    double level;                   /* the same, shared by all */
    double cv;                      /* of tasks in a bag; 0: not known */
};

/* Something is believed of all clusters. */
bool bats_prior_is_there(const struct bats_prior *prior, size_t n_clusters);

/* The belief of now. */
struct bats_belief {
    double mean[BATS_CLUSTERS_MAX];  /* microseconds; 0: not known */
    double error[BATS_CLUSTERS_MAX]; /* deviation of its ln; INFINITY */
    bool is_dropped;                 /* the level was about something else */
};

/* `measured`: means of each cluster, microseconds, of `n` results (0: none),
 * whose coefficient of variation is cv. */
void bats_prior_update(const struct bats_prior *prior, size_t n_clusters,
                       const double *measured, const double *n, double cv,
                       struct bats_belief *belief);

/* ---- from the past ---- */

/* The runtimes of tasks of a kind on machines of one place in one bag. */
struct bats_prior_row {
    uint32_t bag, kind, place; /* bags in the order of their ends, from 0 */
    double tasks, mean, cv;    /* mean in microseconds */
};

/* The knowledge of earlier bags. */
struct bats_prior_past {
    double *speed;    /* by place: ln of its runtimes, relative to others */
    double *error;    /* deviation; INFINITY: never seen beside another */
    uint32_t *island; /* places that were seen beside each other, by way of
                         * others, have the same number */
    size_t n_places;
};

/* Relative speeds, from all kinds: the least squares of
 *   ln mean = level of kind and bag + speed of the place.
 * To be released. BATS_ENOMEM. */
int bats_prior_learn(const struct bats_prior_row *rows, size_t n,
                     size_t n_places, struct bats_prior_past *past,
                     struct bats_error *err);
void bats_prior_past_release(struct bats_prior_past *past);

/*
 * The belief about tasks of a kind (UINT32_MAX: one that is not known) on
 * clusters, of which cluster i is place[i] (UINT32_MAX: never seen) and charges
 * charge[i]. The level is that of the last bags, the later the more; its
 * deviation what such a guess was off by before. A cluster that was never seen
 * beside the others is believed to be faster where it charges more. *bags: of
 * the kind. False: nothing is known of any cluster, nor of the kind.
 */
bool bats_prior_of(const struct bats_prior_past *past,
                   const struct bats_prior_row *rows, size_t n, uint32_t kind,
                   const uint32_t *place, const double *charge,
                   size_t n_clusters, struct bats_prior *prior,
                   uint32_t *bags);

/* Several kinds in one bag, `weight` tasks of each: the mean of them all.
 * Kinds without a level count as the mean of the others. */
void bats_prior_mix(const struct bats_prior *kinds, const double *weight,
                    size_t n_kinds, size_t n_clusters,
                    struct bats_prior *prior);

#endif
