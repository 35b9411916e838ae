/*
 * options: what a scheduling engine was given, to and from text.
 *
 * Layer: record, private to it. A session keeps of struct bats_sched_options
 * the policy, the seed, the budget and the window in columns, the clusters and
 * the machines in tables; what earlier sessions had done follows from the
 * record; all else is here. So an engine can be built again that decides the
 * same (replay.h).
 */
#ifndef BATS_RECORD_OPTIONS_H
#define BATS_RECORD_OPTIONS_H

#include <jansson.h>

#include "bats/sched.h"

/* A JSON object, or NULL where memory is short or a number is none. */
json_t *bats_options_write(const struct bats_sched_options *options);

/* To be freed; the lists of the options are these. */
struct bats_options_lists {
    uint32_t *nodes;
    size_t n_nodes;
    struct bats_observation *seen;
    bats_time *paid;
    uint8_t *once;
    struct bats_observation *profile;
};

/* Reads it back; options->n_tasks and *lists are to be set before. False: it
 * was written by something else. */
bool bats_options_read(const json_t *object, struct bats_sched_options *options,
                      struct bats_options_lists *lists);

#endif
