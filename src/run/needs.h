/*
 * needs: what the tasks of a run need, and what its machines have.
 *
 * Layer: run. The survey asks what machines have, engine_options what tasks
 * need, the master which GPUs a task gets. A node's memory and GPUs are divided
 * among its ranks that work, evenly; a machine has what its ranks have. Needs
 * that every machine meets with all of its ranks at work (one core and little
 * memory) are none.
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

/* What the bag says of the task, or else the options. */
struct bats_need bats_needs_of(const struct bats_run_options *options,
                               uint32_t task);

/* Some task needs more than a rank has: machines should be nodes. */
bool bats_needs_nodes(const struct bats_crew *crew,
                      const struct bats_run_options *options);

#define BATS_NEED_TEXT 256

/* "4 cores, 1 GPU and 8G of memory": what is more than a core. */
void bats_need_format(char *text, size_t size, const struct bats_need *need);

/* For a task of an open bag, as bats_needs_take for those of a file. */
int bats_needs_check(const struct bats_run_options *options,
                     const struct bats_survey *survey,
                     const struct bats_need *need, bool has_budget,
                     struct bats_error *err);

/* Fills in the resources of the machines, if the tasks may have needs.
 * BATS_ENOMEM. */
int bats_needs_stocks(const struct bats_crew *crew,
                      const struct bats_run_options *options,
                      struct bats_survey *survey, struct bats_error *err);

/* Fills in the needs of tasks and their categories, if there are any and the
 * bag is not open.
 * BATS_EINPUT, naming the task: it fits on no machine, or on none of a cluster
 * that may be the only one in use; BATS_ENOMEM. */
int bats_needs_take(const struct bats_run_options *options,
                    const struct bats_survey *survey,
                    struct bats_engine_options *e, struct bats_error *err);

/* Adds variables that name these GPUs of the machine, a bit each, and hide the
 * others, "NAME=value" with a NUL each. */
void bats_needs_show(const struct bats_survey *survey, uint32_t machine,
                     uint64_t gpus, struct bats_text *variables);

#endif
