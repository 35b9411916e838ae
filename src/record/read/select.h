/*
 * select: the rows of some tasks, of a machine, or of a stretch of the history.
 *
 * Layer: record, private to the views.
 */
#ifndef BATS_RECORD_SELECT_H
#define BATS_RECORD_SELECT_H

#include "record/read/view_state.h"

/* Takes all rows about these tasks, by task.id. */
int bats_view_take_tasks(struct bats_view *view, const int64_t *ids, size_t n,
                         struct bats_error *err);

/* The same, as a part of a job (part.h). */
int bats_view_take_rows(struct bats_view *view, const int64_t *ids, size_t n,
                        struct bats_error *err);

/* Takes all rows about the machines of this name, and their tasks. */
int bats_view_take_machine(struct bats_view *view, const char *name,
                           struct bats_error *err);

/* Takes the next `groups` of the history above view->log_from instead of the
 * rows that are there, and sets log_to and log_is_whole. */
int bats_view_take_part(struct bats_view *view, int64_t groups,
                        struct bats_error *err);

/* The tasks that a list of this state (NULL: all in the bag) begins with, at
 * most `limit` (0: all): the slowest, or in the order of their numbers. *ids is
 * for free(). The totals must be there. */
int bats_totals_pick(struct bats_view *view, const char *state, bool slowest,
                     int64_t limit, int64_t **ids, size_t *n,
                     struct bats_error *err);

#endif
