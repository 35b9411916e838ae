/*
 * family: the processes that a task leaves behind.
 *
 * Layer: exec. Used by runner. Model: this process is a "child subreaper"
 * (prctl(2)): descendants that outlive their parents become its children, even
 * a daemon in its own session. So when the main process of a task is gone,
 * every child that did not exist before the first task belongs to that task.
 * Of other processes that this process starts between init and release, it has
 * to tell before the next sweep. It can have only one family.
 *
 * Children that existed before (MPI may have some) are never touched.
 * Processes under another user id cannot be killed and are left alone.
 */
#ifndef BATS_FAMILY_H
#define BATS_FAMILY_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "bats/error.h"

struct bats_family {
    pid_t *strangers; /* children that do not belong to tasks */
    size_t n;
    size_t capacity;
};

/* BATS_ENOMEM, BATS_ESYS (no /proc). */
int bats_family_init(struct bats_family *family, struct bats_error *err);
void bats_family_release(struct bats_family *family);

/* The child belongs to no task and is never touched. BATS_ENOMEM. */
int bats_family_spare(struct bats_family *family, pid_t pid,
                      struct bats_error *err);

/*
 * Reaps ended children; with `force`, sends KILL to all others. Returns a
 * child that has not ended yet (call again when it has), or 0 if none is left.
 */
pid_t bats_family_sweep(struct bats_family *family, bool force);

/* True if the child existed before the family, or is spared. */
bool bats_family_is_stranger(const struct bats_family *family, pid_t pid);

#endif
