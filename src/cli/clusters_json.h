/*
 * clusters_json: the findings of the verb clusters, as one JSON object. Money
 * is a string with a decimal number, or null if unlimited; times are in
 * seconds.
 *
 * Layer: cli. Used by the verb clusters.
 */
#ifndef BATS_CLUSTERS_JSON_H
#define BATS_CLUSTERS_JSON_H

#include <stdio.h>

#include "run/survey.h"

/* The texts about one cluster. */
struct bats_clusters_words {
    const char *machine; /* node, rank; NULL: as in the clusters file */
    const char *charge;  /* the source of the charge */
    char *hosts;         /* for free() */
    const struct bats_node *node; /* one node of the cluster */
};

struct bats_clusters_answer {
    const struct bats_survey *survey;
    struct bats_clusters_words words[BATS_CLUSTERS_MAX];
    const char *window, *budget; /* their sources */
};

/* BATS_ESYS */
int bats_clusters_json(FILE *out, const struct bats_clusters_answer *answer,
                       struct bats_error *err);

#endif
