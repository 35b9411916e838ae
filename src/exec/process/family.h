/*
 * family: the processes that a task leaves behind.
 *
 * Layer: exec. Used by runner. Model: this process is made a "child
 * subreaper" (prctl(2)): whatever outlives its parent below it becomes its
 * child, even a daemon in a session of its own. So when the main process of a
 * task is gone, every child that was not there before the first task is of
 * that task. Nobody else may start processes from here between init and
 * release, and there can be only one family in a process.
 *
 * Children that were there (MPI may have some) are never touched. What runs
 * under another user id cannot be killed and is left alone.
 */
#ifndef BATS_FAMILY_H
#define BATS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bats/error.h"

struct bats_family {
    pid_t *strangers; /* children that are none of ours */
    size_t n;
    size_t capacity;
};

/* BATS_ENOMEM, BATS_ESYS (no /proc). */
int bats_family_init(struct bats_family *family, struct bats_error *err);
void bats_family_release(struct bats_family *family);

/*
 * Reaps what has ended; `force`: sends KILL to all others. Returns a child
 * that has not ended yet (come back when it has) or 0 if none is left.
 */
pid_t bats_family_sweep(struct bats_family *family, bool force);

#endif
