/*
 * part: takes what a view needs out of a record, into a database of its own.
 *
 * Layer: record, private to the views. A record is read as it is, by SQLite, but without locks and without writing: during a job the
 * record is attached as `rec`. If it changed meanwhile (copy.h), what the job
 * has taken is forgotten and it runs again; after some tries (the more, the
 * larger the file), a private copy of the file is attached for good.
 */
#ifndef BATS_RECORD_PART_H
#define BATS_RECORD_PART_H

#include "record/read/scan.h"
#include "record/read/view_state.h"
#include "record/tally.h"

/* Reads `rec`, or copies rows into the view's own tables; may run several
 * times. */
typedef int bats_part_job(struct bats_view *view, void *context,
                          struct bats_error *err);

/* The small tables are taken first, unless the job is bats_part_heads. */
int bats_part_take(struct bats_view *view, bats_part_job *job, void *context,
                   struct bats_error *err);

/* Takes the small tables, if they have not been taken. */
int bats_part_need_base(struct bats_view *view, struct bats_error *err);

/* Jobs, or parts of jobs. */

/* The sessions and their clusters, and the tally into the context, if that is
 * not NULL. */
struct bats_part_tally {
    bool is_there;
    struct bats_tally tally;
};
int bats_part_heads(struct bats_view *view, void *context,
                    struct bats_error *err);

/* The small tables: all but the history, and those with a row for each task. */
int bats_part_base(struct bats_view *view, void *context,
                   struct bats_error *err);
int bats_part_everything(struct bats_view *view, void *context,
                         struct bats_error *err);

/* The ends of standard error, all of them, or those of a task. */
int bats_part_ends(struct bats_view *view, struct bats_error *err);
int bats_part_end(struct bats_view *view, int64_t task,
                  struct bats_error *err);

/* A task's row, its values and the end of its standard error. */
int bats_part_task(struct bats_view *view, int64_t task,
                   struct bats_error *err);

/* The row of the history; again is no mistake. */
int bats_part_row(struct bats_view *view, const struct bats_scan_row *row,
                  struct bats_error *err);

void bats_part_release(struct bats_view *view);

#endif
