/*
 * tasks: the list of tasks, from the totals and the tables of the view.
 *
 * Layer: record, private to the views. A list is the ids of tasks in an order;
 * a task is put together when it is asked for, and texts are read many at a
 * time, so that a list of millions needs little more memory than the totals.
 */
#ifndef BATS_RECORD_TASKS_H
#define BATS_RECORD_TASKS_H

#include "record/read/view_state.h"

/* Makes the list of all tasks that have a row, by id; `now` in virtual time.
 * The totals must be there. To be released, also after an error. */
int bats_tasks_make(struct bats_tasks *list, struct bats_view *view,
                    bats_time now, struct bats_error *err);
void bats_tasks_release(struct bats_tasks *list);

/* Puts together the task with this id. Without `is_text` it has no command,
 * line and parameters; these are read from the record, so that only a job
 * (part.h) can ask for them, unless the view has everything. price: NULL, or
 * its place (see bats_seat): then the times and the machine of a task that runs
 * are those of its result, as in the view tasks of schema.c. */
int bats_tasks_get(struct bats_tasks *list, int64_t id, bool is_text,
                   struct bats_view_task *task, double *price,
                   struct bats_error *err);

/* The next task of the list, with its texts: 1, 0 at the end, or an error. */
int bats_tasks_next(struct bats_tasks *list, struct bats_view_task *task,
                    struct bats_error *err);

/* Reads the texts of the next tasks of the list, and takes the ends of standard
 * error of those that failed. */
int bats_tasks_read(struct bats_tasks *list, struct bats_error *err);

/* Leaves those in the list for which the SQL expression is true.
 * BATS_EINPUT: it is no expression. */
int bats_tasks_filter(struct bats_tasks *list, const char *where,
                      struct bats_error *err);

#endif
