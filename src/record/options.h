/*
 * options: the options of a scheduling engine, as text. Layer: record, private
 * to it. Policy, seed, budget and window are columns of the session; clusters,
 * machines, budgets of workflows and the graph (graph.h) are tables. This text
 * has all other members of struct bats_sched_options, for people and for verbs
 * that read the record, except for measurements and results of earlier runs,
 * and which tasks run only once.
 */
#ifndef BATS_RECORD_OPTIONS_H
#define BATS_RECORD_OPTIONS_H

#include <jansson.h>

struct bats_sched_options;

/* Returns a JSON object, or NULL if out of memory or a number is not
 * finite. */
json_t *bats_options_write(const struct bats_sched_options *options);

#endif
