/* view_state: shared by view.c, view_lists.c, view_status.c and view_stderr.c.
 * Layer: record, private. */
#ifndef BATS_RECORD_VIEW_STATE_H
#define BATS_RECORD_VIEW_STATE_H

#include "record/db.h"
#include "record/read/view.h"

struct bats_view {
    struct bats_db db;
    char *path;
    bool is_live;
    bool is_unpacked;
    sqlite3_stmt *tasks;
    sqlite3_stmt *log;
    sqlite3_stmt *machines;
    sqlite3_stmt *last_words;
};

/* Virtual time of the last row of the record. The view must be unpacked. */
int bats_view_last(struct bats_view *view, bats_time *last,
                   struct bats_error *err);

/* The present virtual time, or that of the end of the record. */
int bats_view_now(struct bats_view *view, bats_time *now,
                  struct bats_error *err);

/* Unpacks the history once; readers of it call this first. */
int bats_view_unpack(struct bats_view *view, struct bats_error *err);

/* Text of a column, "" for NULL. */
const char *bats_view_text(sqlite3_stmt *statement, int column);

#endif
