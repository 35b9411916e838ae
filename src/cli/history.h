/*
 * history: the run record of a bag, and the results of earlier sessions in it.
 * Layer: cli. Used by the verb run. A run keeps its record in BAG.bats by
 * default. --resume, --resume-failed and --retry-failed continue the record of
 * an earlier session; otherwise that record is renamed when the session
 * begins.
 */
#ifndef BATS_HISTORY_H
#define BATS_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "cli/options.h"
#include "input/bagfile.h"
#include "record/write/record.h"

struct bats_history {
    const struct bats_settings *set;
    struct bats_bagfile *bag;
    struct bats_record *record; /* NULL: no record */
    char *path;                 /* of the record */
    uint32_t *attempts; /* per task: executions so far; the other lists are in
                         * the same block */
    uint8_t *state;     /* per task, for bats_sched_earlier, */
    uint8_t *failures, *losses, *yields; /* likewise */
    uint8_t *memory_more, *time_more;    /* likewise */
    enum bats_record_resume resume;      /* NOT: a new record */
    char *killed_run; /* run id of the last session, if it was killed and had
                       * the same bag; else NULL */
    uint8_t *edited;  /* per task: it is new, or has another command than in
                       * the last session; 0: the record is new */
    uint8_t *begun;   /* per task of a workflow: it was begun after its last
                       * result, and has none since; NULL: none was */
    bool is_whole;    /* the record was opened without an error: close it */
    bats_money charged;
};

/* True if --resume, --resume-failed or --retry-failed is given. */
bool bats_history_resumes(const struct bats_settings *set);

/* Reads the record that `set` names; set and bag must live as long. With
 * --resume, opens it and compares it with the bag; unless quiet, lists on
 * standard error each command that was changed, added or removed. Notes the
 * earlier charges of workflows in the bag. Without --resume the record is not
 * touched. An error ends the program, but leaves *history to be closed. */
void bats_history_open(struct bats_history *history,
                       const struct bats_settings *set,
                       struct bats_bagfile *bag);

/* The path of the record, for free(); NULL: no record. The program ends if
 * another run uses it, or if it is to be resumed and has no name. */
char *bats_history_path(const struct bats_settings *set);

/* Begins the session; call after all checks. Renames an earlier record that is
 * not resumed, creates the new one, and removes files that interrupted tasks
 * of a workflow have made. */
int bats_history_begin(struct bats_history *history, struct bats_error *err);

/* Closes the record. The caller prints the error. */
int bats_history_close(struct bats_history *history, struct bats_error *err);

#endif
