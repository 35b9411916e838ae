/*
 * scan: reads the packed history of a record row by row, without SQLite's
 * JSON.
 *
 * Layer: record, private to it. Used by the views. The views of schema.c yield
 * the same rows to everybody else, ten times slower.
 */
#ifndef BATS_RECORD_SCAN_H
#define BATS_RECORD_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "record/db.h"

enum bats_scan_kind { BATS_SCAN_EVENT, BATS_SCAN_COMMAND, BATS_SCAN_ATTEMPT };

#define BATS_SCAN_COLUMNS 20
#define BATS_SCAN_NULL INT64_MIN

/* A text in the row, not ended by a NUL; NULL: the column has none. */
struct bats_scan_text {
    const char *at;
    size_t n;
};

/* A row. The columns are those of the view of that name without session. */
struct bats_scan_row {
    enum bats_scan_kind kind;
    int64_t session;
    size_t n;                          /* columns that are there */
    int64_t number[BATS_SCAN_COLUMNS]; /* BATS_SCAN_NULL: none, or a text */
    struct bats_scan_text text[BATS_SCAN_COLUMNS];
};

enum bats_scan_column {
    /* of all rows */
    BATS_SCAN_SEQ,
    BATS_SCAN_TIME,
    /* of events and commands */
    BATS_SCAN_TYPE,
    BATS_SCAN_MACHINE,
    BATS_SCAN_SLOT,
    BATS_SCAN_TASK,
    /* of commands */
    BATS_SCAN_WHY = 7,
    /* of attempts */
    BATS_SCAN_A_TASK = 2,
    BATS_SCAN_A_ATTEMPT,
    BATS_SCAN_A_MACHINE,
    BATS_SCAN_A_HOST,
    BATS_SCAN_A_START,
    BATS_SCAN_A_WALL,
    BATS_SCAN_A_USER,
    BATS_SCAN_A_SYSTEM,
    BATS_SCAN_A_RSS,
    BATS_SCAN_A_EXIT,
    BATS_SCAN_A_SIGNAL,
    BATS_SCAN_A_OUTCOME
};

/* Hears a row; the row is valid during the call. A negative result ends the
 * scan. */
typedef int bats_scan_hear(void *context, const struct bats_scan_row *row,
                           struct bats_error *err);

/*
 * Reads the groups of rec.history with a seq above `after`, at most `groups` of
 * them (0: all), in their order: of each, the commands, the events and the
 * attempts, each kind in order. *last: the seq of the last group read, or
 * `after`. BATS_EINPUT: the record is damaged; or what `hear` returned.
 */
int bats_scan(struct bats_db *db, int64_t after, int64_t groups, int64_t *last,
              bats_scan_hear *hear, void *context, struct bats_error *err);

/* The text is this word. */
bool bats_scan_is(const struct bats_scan_text *text, const char *word);

/* The text with the characters that pack.c writes as \u00xx, ended by a NUL,
 * cut off where it is too long. The result is its length. */
#define BATS_SCAN_PLAIN 1024
size_t bats_scan_plain(char plain[BATS_SCAN_PLAIN],
                       const struct bats_scan_text *text);

#endif
