/*
 * options: the options of a scheduling engine, to and from text.
 * Layer: record, private to it. Of struct bats_sched_options, a session keeps
 * the policy, the seed, the budget and the window in columns, and the clusters
 * and machines in tables. The results of earlier sessions follow from the
 * record, and who waits for whom is in a table (graph.h), where its nodes are
 * counted here. All other options are in this text, so that an engine can be
 * rebuilt that makes the same decisions (replay.h).
 */
#ifndef BATS_RECORD_OPTIONS_H
#define BATS_RECORD_OPTIONS_H

#include <jansson.h>

#include "bats/sched.h"

/* Returns a JSON object, or NULL if memory is short or a number is not
 * finite. */
json_t *bats_options_write(const struct bats_sched_options *options);

/* The lists of the options; to be freed. */
struct bats_options_lists {
    struct bats_observation *seen;
    bats_time expected[BATS_CLUSTERS_MAX];
    char utility[256];
    uint8_t unreliable[BATS_CLUSTERS_MAX]; /* 1, or 2: free when lost */
    bats_time noticed[BATS_CLUSTERS_MAX];
    struct bats_instance *known[2];
    struct bats_cluster models[BATS_CLUSTERS_MAX]; /* only price and lifetime */
    uint8_t *once;
    struct bats_observation *profile;
    uint8_t *fresh;
    bats_time *asked; /* n_asked, of at least as many machines */
    uint32_t n_asked;
    uint16_t *category;
    uint16_t *purse;
    struct bats_purse *purses;
    uint32_t graph_nodes; /* 0: there is no graph */
};

/* Reads the options back; set options->n_tasks, options->window and *lists
 * before. False: the object was not written by bats_options_write. */
bool bats_options_read(const json_t *object, struct bats_sched_options *options,
                      struct bats_options_lists *lists);

#endif
