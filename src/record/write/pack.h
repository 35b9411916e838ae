/*
 * pack: rows of the log as arrays of JSON, a group of them in one row of the
 * table `history`.
 *
 * Layer: record, private to it. Used by log.c. With a row of its own in SQLite
 * each of them takes 7,000 instructions, in a group of 64 it takes 1,400; the
 * views of schema.c take the arrays apart again.
 */
#ifndef BATS_RECORD_PACK_H
#define BATS_RECORD_PACK_H

#include "record/state.h"

/* Rows in a group, at most: what one page that is damaged may cost, and what
 * a query has in memory at a time. */
#define BATS_PACK_ROWS 256

/* Adds a row, of a kind below BATS_ROWS_PACKED, to the group. False: memory is
 * short; nothing is changed. */
bool bats_pack_add(struct bats_pack *pack, const struct bats_record *record,
                   const struct bats_row *row);

/* The group's array of this kind, for which *size bytes count; NULL if it has
 * none. Nothing may be added after that before bats_pack_clear. */
const char *bats_pack_text(struct bats_pack *pack, enum bats_row_kind kind,
                           size_t *size);

/* The next group begins. Keeps the memory. */
void bats_pack_clear(struct bats_pack *pack);
void bats_pack_release(struct bats_pack *pack);

#endif
