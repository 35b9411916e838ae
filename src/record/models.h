/*
 * models: how the machines of the clusters are priced and how long they last,
 * to and from text. Layer: record, private to it; a part of options.h.
 */
#ifndef BATS_RECORD_MODELS_H
#define BATS_RECORD_MODELS_H

#include <jansson.h>

#include "bats/sched.h"

/* Nothing needs to be written: no cluster has more than a charge. */
bool bats_models_are_plain(const struct bats_sched_options *options);

/* A JSON array, or NULL. */
json_t *bats_models_write(const struct bats_sched_options *options);

/* Reads it back, or that there is none, into clusters that have nothing else
 * yet. False: it was not written by bats_models_write. */
bool bats_models_read(const json_t *list,
                      struct bats_cluster clusters[BATS_CLUSTERS_MAX]);

#endif
