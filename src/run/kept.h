/*
 * kept: what a worker keeps for another master, in case its own is killed.
 *
 * Layer: run. Used by worker.c, where SETUP says `keep`. A RESULT is kept until
 * its master has it on record (TAKEN). When the master is gone, the task that
 * runs goes on, those that have not begun are forgotten, and HELLO tells the
 * next master of all that (proto.h). The executor stays as it is until that
 * task has ended; what the next master wants done after it waits here.
 *
 * Memory: no more than the results of the tasks that were sent ahead to this
 * slot, each with up to 64 KiB of lines.
 */
#ifndef BATS_KEPT_H
#define BATS_KEPT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/proto.h"
#include "run/executor.h"

/* Messages, the oldest first. */
struct bats_shelf {
    struct bats_text *list;
    size_t n, room;
};

/* A copy of the message. BATS_ENOMEM. */
int bats_shelf_add(struct bats_shelf *shelf, const void *bytes, size_t n,
                   struct bats_error *err);
/* The oldest n, or all. */
void bats_shelf_drop(struct bats_shelf *shelf, size_t n);

struct bats_kept {
    bool on;        /* SETUP said so */
    char *run;      /* run id of that SETUP, or NULL */
    bool waits;     /* HELLO was said: only signs of life before SETUP */
    bool is_older;  /* the executor is that of an earlier SETUP */
    struct bats_shelf results; /* RESULTs that were sent and not TAKEN */
    struct bats_shelf later;   /* messages for the executor that follows */
};

void bats_kept_release(struct bats_kept *kept);

/* Adds the kept results to `hello`, and what `executor` (may be NULL) is
 * doing. The texts belong to `kept`. BATS_ENOMEM. */
int bats_kept_tell(struct bats_kept *kept,
                   const struct bats_executor *executor,
                   struct bats_hello *hello, struct bats_error *err);

#endif
