/* view_state: shared by the files of the view. Layer: record, private. */
#ifndef BATS_RECORD_VIEW_STATE_H
#define BATS_RECORD_VIEW_STATE_H

#include "record/db.h"
#include "sql/texts.h"
#include "record/read/view.h"

struct bats_view {
    struct bats_db
        db; /* a database of its own, with the record attached during a job
               (part.h) */
    char *path;
    bool is_live;
    bool is_attached; /* a copy of the record is attached for good */
    struct bats_view_task *tasks; /* the listed tasks */
    size_t n_tasks, next_task;
    struct bats_texts texts; /* of the listed tasks */
    struct bats_view_machine *machines;
    size_t n_machines, next_machine;
    struct bats_texts names; /* of the machines */
    bool has_ends; /* db has the listed tasks' ends of standard error */
    sqlite3_stmt *end, *log;
    int64_t log_from; /* log rows in db have a seq above this */
    bool log_is_cut;
    char *log_machine; /* NULL: all */
};

/* Within a job: the current virtual time, or that of the record's end. */
int bats_view_now(struct bats_view *view, bats_time *now,
                  struct bats_error *err);

/* Forgets the list. */
void bats_view_drop_tasks(struct bats_view *view);
void bats_view_drop_machines(struct bats_view *view);

/* Text of a column, "" for NULL. */
static inline const char *bats_view_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text != NULL ? text : "";
}

#endif
