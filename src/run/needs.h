/*
 * needs: what the tasks of a run need, and what its machines have.
 *
 * Layer: run. The survey asks what machines have, engine_options what tasks
 * need, the master which GPUs a task gets. A node's memory and GPUs are
 * divided evenly among its working ranks; a machine has the sum of its ranks.
 * Needs that every machine meets with all of its ranks at work (one core and
 * little memory) are not counted.
 */
#ifndef BATS_RUN_NEEDS_H
#define BATS_RUN_NEEDS_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/error.h"
#include "bats/need.h"

struct bats_crew;           /* crew.h */
struct bats_engine_options; /* engine_options.h */
struct bats_run_options;    /* run.h */
struct bats_survey;         /* survey.h */
struct bats_text;           /* util/text.h */

/* The needs of the task: the bag's, or else those of the options. */
struct bats_need bats_needs_of(const struct bats_run_options *options,
                               uint32_t task);

/* True if some task needs more than a rank has: machines should be nodes. */
bool bats_needs_nodes(const struct bats_crew *crew,
                      const struct bats_run_options *options);

#define BATS_NEED_TEXT 256

/* "4 cores, 1 GPU and 8G of memory": everything beyond one core. */
void bats_need_format(char *text, size_t size, const struct bats_need *need);

/* The checks of bats_needs_take, for a task of an open bag. */
int bats_needs_check(const struct bats_run_options *options,
                     const struct bats_survey *survey,
                     const struct bats_need *need, bool has_budget,
                     struct bats_error *err);

/* Fills in the resources of the machines, if tasks may have needs.
 * BATS_ENOMEM. */
int bats_needs_stocks(const struct bats_crew *crew,
                      const struct bats_run_options *options,
                      struct bats_survey *survey, struct bats_error *err);

/* Fills in the needs of tasks and their categories, if there are any and the
 * bag is not open. BATS_EINPUT, naming the task: it fits no machine, or no
 * machine of a cluster that may be the only one in use; BATS_ENOMEM. */
int bats_needs_take(const struct bats_run_options *options,
                    const struct bats_survey *survey,
                    struct bats_engine_options *e, struct bats_error *err);

/* Adds variables that name these GPUs of the machine (one bit each) and hide
 * the others: "NAME=value" with a NUL each. */
void bats_needs_show(const struct bats_survey *survey, uint32_t machine,
                     uint64_t gpus, struct bats_text *variables);

#endif
