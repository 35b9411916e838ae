/*
 * count: keeps the tally (tally.h) while rows are written.
 *
 * Layer: record, private to the writer. Two bytes a task, and what is open on
 * each slot. The rules are those of the views `result`, `running` and `tasks`
 * of schema.c; what they do not foresee ends the count, and readers look at the
 * history again.
 */
#ifndef BATS_RECORD_COUNT_H
#define BATS_RECORD_COUNT_H

#include "record/state.h"

/* Begins with what earlier sessions have left, which is still known. */
int bats_count_begin(struct bats_record *record,
                     const struct bats_record_session *session,
                     struct bats_error *err);

/* Counts the rows that wait and have not been counted yet. */
void bats_count_rows(struct bats_record *record);

/* The rows that waited are gone, written or not. */
void bats_count_dropped(struct bats_record *record, bool are_written);

/* Writes the tally into the transaction that is open. */
int bats_count_write(struct bats_record *record, struct bats_error *err);

void bats_count_release(struct bats_record *record);

#endif
