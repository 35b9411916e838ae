/*
 * history: the run record of a bag, and the results of earlier sessions in it.
 * Layer: cli. Used by the verb run. A run keeps its record in BAG.bats by
 * default. --resume, --resume-failed and --retry-failed continue the record of
 * an earlier session; otherwise that record is renamed.
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
    uint8_t *failures, *losses, *yields; /* likewise */
    uint32_t *attempts;         /* per task: executions so far */
    uint32_t *was;              /* per task that keeps its result, its index in
                                 * the last session; else UINT32_MAX */
    enum bats_record_resume resume; /* NOT: nothing is known */
    char *killed_run; /* run id of the last session, if it was killed and had
                       * the same bag; else NULL */
    bats_money charged, reserved;
};

/* One of --resume, --resume-failed, --retry-failed was given. */
bool bats_history_resumes(const struct bats_settings *set);

/*
 * Opens the record as `set` says and compares the bag with it. Unless quiet,
 * names on standard error each command that was changed, added or removed.
 * Notes in the bag what its workflows were charged before.
 */
int bats_history_open(const struct bats_settings *set,
                      struct bats_bagfile *bag, struct bats_history *history,
                      struct bats_error *err);

/* Closes the record. An error is worth printing. */
int bats_history_close(struct bats_history *history, struct bats_error *err);

#endif
