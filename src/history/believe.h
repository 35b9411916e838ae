/*
 * believe: what a history says of a bag on the clusters of a run.
 *
 * Layer: history. Used by cli. A cluster is one of the history if it has the
 * same name, and neither site nor hardware contradict; else if it has the same
 * hardware at the same site.
 */
#ifndef BATS_HISTORY_BELIEVE_H
#define BATS_HISTORY_BELIEVE_H

#include "bats/prior.h"
#include "history/store.h"
#include "history/sweep.h"

/* The belief about a bag, by its kinds. */
struct bats_believed {
    struct bats_prior prior; /* of all of them together */
    uint32_t bags; /* earlier ones, of the kind that has most tasks */
    struct bats_prior *kinds; /* by kind; for free() */
};

/* The relative speeds of the places of a history. To be released.
 * BATS_ENOMEM. */
int bats_history_speeds(const struct bats_past *past,
                        struct bats_prior_past *speeds,
                        struct bats_error *err);

/* The kinds of the bag, with their numbers of tasks, and models if it is a
 * sweep (else NULL); `charge` of the clusters. Returns 1, 0 if nothing is believed, or BATS_ENOMEM. */
int bats_history_believe(const struct bats_past *past,
                         const struct bats_past_place *clusters,
                         const double *charge, size_t n_clusters,
                         const struct bats_task_kinds *kinds,
                         const char *names,
                         const struct bats_past_model *models,
                         struct bats_believed *believed,
                         struct bats_error *err);

/* The mean runtime of the kind in its last bag, in seconds, wherever it ran; 0:
 * the kind is not known. */
double bats_history_last(const struct bats_past *past, const char *kind);

#endif
