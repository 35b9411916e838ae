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

#include "record/read/view_state.h"

/* BATS_UNLIMITED, in place of a budget that is NULL. */
#define BATS_PART_UNLIMITED "9223372036854775807"

/* Reads `rec`. May be called several times, always from the beginning. */
typedef int bats_part_job(struct bats_view *view, void *context,
                          struct bats_error *err);
int bats_part_take(struct bats_view *view, bats_part_job *job, void *context,
                   struct bats_error *err);

/* Within a job: passes each row of `sql` to `take`, until that fails. */
typedef bats_db_row bats_part_row;
int bats_part_each(struct bats_view *view, const char *sql,
                   bats_part_row *take, void *context, struct bats_error *err);

/* As bats_db_get, in a job of its own. */
int bats_part_get(struct bats_view *view, const char *sql,
                  const struct bats_db_column *columns, void *to,
                  struct bats_error *err);

void bats_part_release(struct bats_view *view);

#endif
