/*
 * options: the options of a scheduling engine, as text.
 * Layer: record, private to it. Of struct bats_sched_options, a session keeps
 * the policy, the seed, the budget and the window in columns, the clusters,
 * machines and the budgets of workflows in tables, and who waits for whom in
 * another one (graph.h), whose nodes are counted here. All other options of its
 * own are in this text, for people and for the verbs that read the record; what
 * earlier runs have measured or done is not, nor which tasks run only once.
 */
#ifndef BATS_RECORD_OPTIONS_H
#define BATS_RECORD_OPTIONS_H

#include <jansson.h>

struct bats_sched_options;

/* Returns a JSON object, or NULL if memory is short or a number is not
 * finite. */
json_t *bats_options_write(const struct bats_sched_options *options);

#endif
