/*
 * history: the run record of a bag, and what earlier sessions did of it.
 *
 * Layer: cli. Used by the verb run. A run keeps its record in BAG.bats unless
 * it is told otherwise. With --resume and its like an earlier session's record
 * is continued; without, it is moved out of the way.
 */
#ifndef BATS_HISTORY_H
#define BATS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/sched.h"
#include "cli/options.h"
#include "input/bagfile.h"
#include "record/write/record.h"

struct bats_history {
    struct bats_record *record; /* NULL: none is kept */
    char *path;                 /* of the record */
    uint8_t *state;             /* per task, for bats_sched_earlier, */
    uint8_t *failures, *losses; /* as these */
    uint32_t *attempts;         /* per task: executions so far */
    uint32_t *was;              /* per task that keeps its result: its index
                                   in the last session; else UINT32_MAX */
    enum bats_record_resume resume; /* NOT: nothing is known */
    bats_money charged, reserved;
};

/* What --resume and its like ask for. */
bool bats_history_resumes(const struct bats_settings *set);

/*
 * Opens the record as `set` says and compares the bag with it: a command that
 * has changed, was added or is gone is named on standard error, unless quiet.
 */
int bats_history_open(const struct bats_settings *set,
                      const struct bats_bagfile *bag,
                      struct bats_history *history, struct bats_error *err);

/* Closes the record; what it says if that fails is worth printing. */
int bats_history_close(struct bats_history *history, struct bats_error *err);

#endif
