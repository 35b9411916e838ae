/*
 * pernode: commands of a bag to run once on each node (disBatch's PERENGINE
 * START and STOP): before the first task there, and after the last.
 *
 * Layer: run. Used by the executor of each rank, with its runner. The ranks of
 * a run on one node agree by a file in $TMPDIR or /tmp, named after the run
 * and the node. A rank with a write lock on it runs commands; one with a read
 * lock may run tasks. So the first rank runs START while the others wait, the
 * last one to leave runs STOP, and a rank that dies has left.
 *
 * The commands write to the standard error of this process. If a START command
 * fails, this rank has failed, and the next rank of the node tries. STOP runs
 * even after a failed START; its own failures are only reported on standard
 * error.
 */
#ifndef BATS_PERNODE_H
#define BATS_PERNODE_H

#include <stdint.h>

#include "bats/error.h"
#include "exec/process/runner.h"
#include "proto/proto.h"

struct bats_pernode; /* opaque */

/* `setup` has the commands. They get these `variables`, each with its NUL.
 * BATS_ENOMEM. */
int bats_pernode_create(const struct bats_setup *setup,
                        const struct bats_text *variables,
                        struct bats_pernode **node, struct bats_error *err);

/* Does not run STOP. */
void bats_pernode_destroy(struct bats_pernode *node);

/* Goes on with START, for up to `timeout_us`. 1: tasks may run; 0: not yet; or
 * BATS_ESYS: a command has failed, or the file cannot be used. */
int bats_pernode_enter(struct bats_pernode *node, struct bats_runner *runner,
                       int64_t timeout_us, struct bats_error *err);

/* The number of the rank that has run START, the same for all of the node.
 * Call after bats_pernode_enter has returned 1. */
uint32_t bats_pernode_number(const struct bats_pernode *node);

/* Call when this rank runs no more tasks and the runner is free. Goes on with
 * leaving, and with STOP, for up to `timeout_us`. False: call again. */
bool bats_pernode_leave(struct bats_pernode *node, struct bats_runner *runner,
                        int64_t timeout_us);

#endif
