/*
 * select: the rows of a stretch of the history, for the log.
 *
 * Layer: record, private to the views.
 */
#ifndef BATS_RECORD_SELECT_H
#define BATS_RECORD_SELECT_H

#include "record/read/view_state.h"

/* Takes the next `groups` of the history above view->log_from instead of the
 * rows that are there, and sets log_to and log_is_whole. `machine`: only rows
 * about the machines of this name; NULL: all. */
int bats_view_take_part(struct bats_view *view, int64_t groups,
                        const char *machine, struct bats_error *err);

/* The same with the last `groups`; sets log_from, too: 0 if these are all. */
int bats_view_take_end(struct bats_view *view, int64_t groups,
                       const char *machine, struct bats_error *err);

#endif
