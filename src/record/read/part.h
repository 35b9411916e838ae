/*
 * part: reads a record that may be written at the same time.
 *
 * Layer: record, private to the views. During a job SQLite reads the record in
 * place, attached as `rec`, without locks or writes. If it changed meanwhile
 * (copy.h), the job is rolled back and repeated; after some tries (more for
 * larger files), a private copy is attached for good. The view's own database
 * has only temporary tables, so other names mean tables of the record.
 */
#ifndef BATS_RECORD_PART_H
#define BATS_RECORD_PART_H

#include "record/db.h"
#include "record/read/view.h"

struct bats_view {
    struct bats_db db; /* of its own; `rec` is attached during a job */
    char *path;
    bool is_live;
    bool is_attached; /* a copy of the record is attached for good */
    struct bats_view_task *tasks; /* the listed tasks */
    size_t n_tasks, next_task;
    struct bats_texts texts;     /* of the listed tasks */
    struct bats_texts names;     /* of the machines */
    struct bats_texts workflows; /* their names */
    bool has_ends; /* db has the listed tasks' ends of standard error */
    sqlite3_stmt *end;
    struct bats_view_logged *log;
    struct bats_view_place *places; /* of the entries, in their order */
    size_t n_log, log_room, n_places, places_room, next_place;
    struct bats_texts log_texts;
};

/* Reads `rec`. May be called several times, always from the beginning. */
typedef int bats_part_job(struct bats_view *view, void *context,
                          struct bats_error *err);
int bats_part_take(struct bats_view *view, bats_part_job *job, void *context,
                   struct bats_error *err);

/* As bats_db_get and bats_db_list, in a job of their own. The texts are
 * released first. */
int bats_part_get(struct bats_view *view, const char *sql,
                  const struct bats_db_column *columns, void *to,
                  struct bats_error *err, const struct bats_db_value *values,
                  int n);
int bats_part_list(struct bats_view *view, const char *sql,
                   const struct bats_db_column *columns, size_t size,
                   void *list, size_t *n, struct bats_texts *texts,
                   struct bats_error *err, const struct bats_db_value *values,
                   int n_values);

void bats_part_release(struct bats_view *view);

void bats_view_log_release(struct bats_view *view);

/* Within a job: the current virtual time, or that of the record's end. */
int bats_view_now(struct bats_view *view, bats_time *now,
                  struct bats_error *err);

/* Text of a column, "" for NULL. */
static inline const char *bats_view_text(sqlite3_stmt *statement, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);
    return text != NULL ? text : "";
}

#endif
