/* view_state: what view.c opens for view_lists.c, and both of them for
 * view_status.c. Layer: record, private. */
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
};

/* The bag time of what was recorded last. view must be unpacked. */
int bats_view_last(struct bats_view *view, bats_time *last,
                   struct bats_error *err);

/* The bag time that it is now, or was when the record ended. */
int bats_view_now(struct bats_view *view, bats_time *now,
                  struct bats_error *err);

/* Unpacks the history, once: what reads it asks for that first. */
int bats_view_unpack(struct bats_view *view, struct bats_error *err);

/* The text of a column, "" for NULL. */
const char *bats_view_text(sqlite3_stmt *statement, int column);

#endif
