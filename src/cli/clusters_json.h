/*
 * clusters_json: what the verb clusters has found, as one JSON object. Money
 * is a string holding a decimal, null: unlimited; times are seconds.
 *
 * Layer: cli. Used by the verb clusters.
 */
#ifndef BATS_CLUSTERS_JSON_H
#define BATS_CLUSTERS_JSON_H

#include <stdio.h>

#include "run/survey.h"

/* Of a cluster. */
struct bats_clusters_words {
    const char *machine; /* node, rank; NULL: the clusters file says */
    const char *charge;  /* where it comes from */
    char *hosts;         /* for free() */
    const struct bats_node *node; /* one of it */
};

struct bats_clusters_answer {
    const struct bats_survey *survey;
    struct bats_clusters_words words[BATS_CLUSTERS_MAX];
    const char *window, *budget; /* where they come from */
};

/* BATS_ESYS */
int bats_clusters_json(FILE *out, const struct bats_clusters_answer *answer,
                       struct bats_error *err);

#endif
