/*
 * pernode: commands of a bag to run once on each node (disBatch's PERENGINE
 * START and STOP): before the first task there, and after the last.
 *
 * Layer: run. Used by the executor of each rank, with its runner. The ranks of
 * a run on one node agree by a file in $TMPDIR or /tmp, named after the run and
 * the node, and flock(1): pernode.sh. The first rank runs START while the
 * others wait, the last one that lives runs STOP when it leaves.
 *
 * The commands write to the standard error of this process. If one of START
 * fails, this rank has failed, and the next rank of the node tries. STOP runs
 * even after a START that was stopped; its failures are only reported on
 * standard error.
 */
#ifndef BATS_PERNODE_H
#define BATS_PERNODE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "exec/process/runner.h"
#include "proto/proto.h"

struct bats_pernode { /* zeros: no commands */
    bool is_due;      /* there are commands, and STOP has not been run */
    char file[PATH_MAX];
    struct bats_text variables[2]; /* for START and STOP, each with its NUL */
};

/* Takes the commands of the SETUP. BATS_EINPUT, BATS_ENOMEM. */
int bats_pernode_init(struct bats_pernode *node,
                      const struct bats_setup *setup, struct bats_error *err);
void bats_pernode_release(struct bats_pernode *node);

/* Goes on with START or STOP for up to `timeout_us`. The commands get these
 * variables, too. 1: it has ended, see *end; 0: not yet; or an error. */
int bats_pernode_run(struct bats_pernode *node, bool stops,
                     const struct bats_text *variables,
                     struct bats_runner *runner, int64_t timeout_us,
                     struct bats_runner_result *end, struct bats_error *err);

/* After START: the number of the rank that has run it, the same for all of the
 * node; 0: unknown. */
uint32_t bats_pernode_number(const struct bats_pernode *node);

#endif
