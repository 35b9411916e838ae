/*
 * believe: the prior belief about a bag on a run's clusters, from a history.
 *
 * Layer: history. Used by cli. A cluster matches one of the history by name,
 * unless site or hardware contradict; otherwise by the same hardware at the
 * same site.
 */
#ifndef BATS_HISTORY_BELIEVE_H
#define BATS_HISTORY_BELIEVE_H

#include "bats/prior.h"
#include "history/store.h"
#include "history/sweep.h"

/* The belief about a bag, by its kinds. */
struct bats_believed {
    struct bats_prior prior;  /* of all kinds together */
    uint32_t bags;            /* earlier bags of the kind with most tasks */
    struct bats_prior *kinds; /* by kind; for free() */
};

/* Learns the relative speeds of a history's places. The caller releases them.
 * BATS_ENOMEM. */
int bats_history_speeds(const struct bats_past *past,
                        struct bats_prior_past *speeds,
                        struct bats_error *err);

/* The belief about a bag: its kinds with their numbers of tasks, models if it
 * is a sweep (else NULL), and the clusters' charges. Returns 1, 0 if there is
 * no belief, or BATS_ENOMEM. */
int bats_history_believe(const struct bats_past *past,
                         const struct bats_past_place *clusters,
                         const double *charge, size_t n_clusters,
                         const struct bats_task_kinds *kinds,
                         const char *names,
                         const struct bats_past_model *models,
                         struct bats_believed *believed,
                         struct bats_error *err);

/* Mean runtime of the kind in its last bag, on all clusters, seconds; 0:
 * unknown kind. */
double bats_history_last(const struct bats_past *past, const char *kind);

#endif
