/*
 * kept: what a worker keeps in case its master is killed.
 *
 * Layer: run. Used by worker.c, where SETUP says `keep`. A RESULT is kept
 * until the master has it on record (TAKEN). When the master is gone, the
 * running task goes on and tasks that have not begun are forgotten. HELLO
 * tells the next master about the task and the results (proto.h). The executor
 * stays until that task has ended; messages of the next master that need a new
 * executor wait here.
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

/* Messages, oldest first. */
struct bats_shelf {
    struct bats_text *list;
    size_t n, room;
};

/* Adds a copy of the message. BATS_ENOMEM. */
int bats_shelf_add(struct bats_shelf *shelf, const void *bytes, size_t n,
                   struct bats_error *err);
/* Drops the oldest n messages, or all. */
void bats_shelf_drop(struct bats_shelf *shelf, size_t n);

struct bats_kept {
    bool on;       /* SETUP asked to keep results */
    char *run;     /* run id of SETUP, or NULL */
    bool waits;    /* HELLO was said: only signs of life until SETUP */
    bool is_older; /* the executor is that of an earlier SETUP */
    struct bats_shelf results; /* RESULTs sent but not TAKEN */
    struct bats_shelf later;   /* messages for the next executor */
};

void bats_kept_release(struct bats_kept *kept);

/* Adds to `hello` the kept results and what `executor` (may be NULL) is doing.
 * The texts belong to `kept`. BATS_ENOMEM. */
int bats_kept_tell(struct bats_kept *kept,
                   const struct bats_executor *executor,
                   struct bats_hello *hello, struct bats_error *err);

#endif
