/* view_state: shared by view.c, view_lists.c, view_status.c and view_stderr.c.
 * Layer: record, private. */
#ifndef BATS_RECORD_VIEW_STATE_H
#define BATS_RECORD_VIEW_STATE_H

#include "record/db.h"
#include "record/read/totals.h"
#include "record/read/view.h"

/* A machine of a session. */
struct bats_seat {
    int64_t session, machine;
    char *host, *cluster;
    double scale; /* virtual time per real time */
    double price; /* of a slot for a microsecond, in the currency */
};

/* A list of tasks (tasks.h). */
struct bats_tasks {
    struct bats_view *view;
    int64_t *ids;
    size_t n, at;
    bool has_more; /* failed, yielded, yields are asked for */
    bats_time now;
    struct bats_seat *seats; /* by session and machine */
    size_t n_seats;
    sqlite3_stmt *text, *more;
    /* Line, command and parameters of the tasks from ids[at] up to
     * ids[texts_end], one after the other. */
    char *texts;
    size_t texts_end, texts_at, n_texts, texts_capacity;
};

struct bats_view {
    struct bats_db db; /* of its own: parts of the record, as in schema.c */
    char *path;
    bool is_live;
    bool is_attached; /* a copy of the record is attached for good (part.h) */
    bool has_base;    /* the small tables are in db */
    bool has_all;     /* the whole record is in db */
    bool has_totals;
    struct bats_totals totals;
    sqlite3_stmt *insert_task, *insert_point, *insert_stderr, *insert[3];
    struct bats_tasks tasks;
    sqlite3_stmt *log;
    sqlite3_stmt *machines;
    sqlite3_stmt *last_words;
    int64_t log_from, log_to; /* the rows of the log in db have a seq above and
                                 up to these */
    bool log_is_whole, log_is_cut;
    char *log_machine; /* NULL: of all */
};

/* Virtual time of the last row of the record. */
int bats_view_last(struct bats_view *view, bats_time *last,
                   struct bats_error *err);

/* The present virtual time, or that of the end of the record. */
int bats_view_now(struct bats_view *view, bats_time *now,
                  struct bats_error *err);

/* Takes the whole record; for those who read the tables themselves. */
int bats_view_unpack(struct bats_view *view, struct bats_error *err);

/* Text of a column, "" for NULL. */
static inline const char *bats_view_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text != NULL ? text : "";
}

#endif
