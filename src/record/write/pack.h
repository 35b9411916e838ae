/*
 * pack: rows of the log as arrays of JSON, a group of them in one row of the
 * table `history`.
 *
 * Layer: record, private to it. Used by log.c. A row of its own in SQLite
 * costs 7,000 instructions, a row in a group of 64 costs 1,400. The views of
 * schema.c unpack the arrays.
 */
#ifndef BATS_RECORD_PACK_H
#define BATS_RECORD_PACK_H

#include "record/state.h"

/* Maximum of rows in a group: a damaged page can cost this many, and a query
 * holds this many in memory at a time. */
#define BATS_PACK_ROWS 256

/* Adds a row, of a kind below BATS_ROWS_PACKED, to the group. False: memory is
 * short, and nothing has changed. */
bool bats_pack_add(struct bats_pack *pack, const struct bats_record *record,
                   const struct bats_row *row);

/* The group's array of this kind, of *size bytes; NULL if it has none. Call
 * bats_pack_clear before anything is added again. */
const char *bats_pack_text(struct bats_pack *pack, enum bats_row_kind kind,
                           size_t *size);

/* Writes the number and a comma, 21 bytes at most; returns what comes after.
 * Much faster than printf. */
char *bats_pack_number(char *at, int64_t number);

/* Begins the next group. Keeps the memory. */
void bats_pack_clear(struct bats_pack *pack);
void bats_pack_release(struct bats_pack *pack);

#endif
