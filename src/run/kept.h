/*
 * kept: what a worker keeps in case its master is killed.
 *
 * Layer: run. Used by worker.c, where SETUP says `keep`. A RESULT is kept
 * until the master has it on record (TAKEN). When the master is gone, the
 * running task goes on and tasks that have not begun are forgotten. HELLO
 * tells the next master about the task and the results (proto.h). The SETUP of
 * that one counts once the task has ended.
 *
 * Memory: at most the results of the tasks that were sent ahead to this slot,
 * each with up to 64 KiB of lines.
 */
#ifndef BATS_KEPT_H
#define BATS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/proto.h"
#include "run/executor.h"

struct bats_kept {
    bool on;    /* SETUP asked to keep results */
    char *run;  /* run id of SETUP, or NULL */
    bool waits; /* HELLO was said: only signs of life until SETUP */
    struct bats_text *results; /* RESULTs sent but not TAKEN, oldest first */
    size_t n, room;
};

/* Keeps a copy of the RESULT. BATS_ENOMEM. */
int bats_kept_add(struct bats_kept *kept, const struct bats_text *result,
                  struct bats_error *err);

/* Drops the oldest n RESULTs, or all. */
void bats_kept_drop(struct bats_kept *kept, size_t n);

void bats_kept_release(struct bats_kept *kept);

/* Adds to `hello` the kept results and what `executor` (may be NULL) is doing.
 * The texts belong to `kept`. BATS_ENOMEM. */
int bats_kept_tell(struct bats_kept *kept,
                   const struct bats_executor *executor,
                   struct bats_hello *hello, struct bats_error *err);

#endif
