/*
 * guard: a small process that survives this one, to kill the running task when
 * this one is killed outright.
 *
 * Layer: exec. Used by runner. Model: the guard sleeps on a pipe whose other
 * end only this process holds; when that is closed, however this process ends,
 * it sends KILL to the process group named in a shared page, and exits. It
 * costs nothing while tasks start and end.
 */
#ifndef BATS_GUARD_H
#define BATS_GUARD_H

#include <sys/types.h>

#include "bats/error.h"

struct bats_guard {
    pid_t pid;
    int alive;    /* this process's end of the pipe */
    pid_t *group; /* the page shared with the guard; 0: no task */
};

/* BATS_ESYS. Descriptors 0 to 2 must be open. */
int bats_guard_init(struct bats_guard *guard, struct bats_error *err);

/* Ends and reaps the guard. */
void bats_guard_release(struct bats_guard *guard);

/* Names the process group of the running task; 0: none. */
void bats_guard_set(struct bats_guard *guard, pid_t group);

#endif
