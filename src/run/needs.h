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
struct bats_hello;          /* proto/proto.h */
struct bats_run_options;    /* run.h */
struct bats_survey;         /* survey.h */
struct bats_text;           /* util/text.h */

/* The needs of the task: the bag's, or else those of the options. */
struct bats_need bats_needs_of(const struct bats_run_options *options,
                               uint32_t task);

/* True if some task may need more than a core. */
bool bats_needs_any(const struct bats_run_options *options);

/* The most that any task needs, for each resource. */
struct bats_need bats_needs_most(const struct bats_run_options *options);

/* True if some task needs more than a rank has: machines should be nodes. */
bool bats_needs_nodes(const struct bats_crew *crew,
                      const struct bats_run_options *options);

#define BATS_NEED_TEXT 256

/* "4 cores, 1 GPU and 8G of memory": everything beyond one core. */
void bats_need_format(char *text, size_t size, const struct bats_need *need);

/* Refuses the first task that fits no machine. */
int bats_needs_fit(const struct bats_run_options *options,
                   const struct bats_survey *survey, struct bats_error *err);

/* The checks of bats_needs_take, for a task of an open bag. */
int bats_needs_check(const struct bats_run_options *options,
                     const struct bats_survey *survey,
                     const struct bats_need *need, bool has_budget,
                     struct bats_error *err);

/* ---- worker jobs ---- */

/* Memory of jobs that request none, and so run no task that says what it
 * needs. */
#define BATS_NEEDS_NONE 1

/* Chooses what the jobs of a partition request for each node. `kinds`: the n
 * kinds of nodes there; n = 0: tasks need no memory and no GPUs. The tasks that
 * go there are those that fit one kind, the one that most tasks fit. *node has
 * the slots, and memory or GPUs if they are fixed. On return it has as much as
 * the largest of these tasks needs (with --retry-memory, for a second attempt),
 * or as all slots with tasks of average needs if that is more; but no more than
 * that kind has. *largest: the most that any kind has. False: no task fits. */
bool bats_needs_request(const struct bats_run_options *options,
                        const struct bats_stock *kinds, size_t n,
                        struct bats_stock *node, struct bats_stock *largest);

/* Any rank may get any task: BATS_EINPUT if a rank's share of the memory of its
 * node is less than a task needs. */
int bats_needs_hold(const struct bats_run_options *options,
                    const struct bats_hello *ranks, uint32_t n,
                    struct bats_error *err);

/* BATS_EINPUT, with the reason: a node of the job has less than `node`, or its
 * ranks are not node by node, and tasks may have needs. */
int bats_needs_admit(const struct bats_run_options *options,
                     const struct bats_stock *node,
                     const struct bats_hello *ranks, uint32_t n,
                     struct bats_error *err);

/* The job with these ranks forms the machine: takes the names of its GPUs, or
 * the numbers that --gpus-per-node says. BATS_ENOMEM. */
int bats_needs_join(const struct bats_run_options *options,
                    struct bats_survey *survey, uint32_t machine,
                    const struct bats_hello *ranks, uint32_t n,
                    struct bats_error *err);

/* Fills in the resources of the machines, if tasks may have needs. `crew` is
 * not used if worker jobs join. BATS_ENOMEM. */
int bats_needs_stocks(const struct bats_crew *crew,
                      const struct bats_run_options *options,
                      struct bats_survey *survey, struct bats_error *err);

/* Fills in the needs of tasks and their categories, if there are any and the
 * bag is not open. BATS_EINPUT, naming the task: it fits no machine, or no
 * machine of a cluster that may be the only one in use; BATS_ENOMEM. */
int bats_needs_take(const struct bats_run_options *options,
                    const struct bats_survey *survey,
                    struct bats_engine_options *e, struct bats_error *err);

/* Adds variables that name these GPUs of the slot's node (one bit each) and
 * hide the others: "NAME=value" with a NUL each. */
void bats_needs_show(const struct bats_survey *survey, uint32_t machine,
                     uint32_t slot, uint64_t gpus,
                     struct bats_text *variables);

/* ---- lists of the names of GPUs, such as "0,1" or "GPU-8f3,GPU-a02" ---- */

size_t bats_gpus_count(const char *list);

/* Makes `names` the numbers from 0 to n - 1. */
void bats_gpus_number(struct bats_text *names, uint32_t n);

/* Adds the names that `names` does not have yet. */
void bats_gpus_add(struct bats_text *names, const char *list);

#endif
