/*
 * schema: the tables of a run record, and what a file of them is known by.
 *
 * Layer: record, private to it. A change of the tables raises
 * BATS_SCHEMA_VERSION; files of older versions stay readable.
 */
#ifndef BATS_RECORD_SCHEMA_H
#define BATS_RECORD_SCHEMA_H

#include <stddef.h>

#include "record/db.h"

#define BATS_SCHEMA_APPLICATION 0x42615453 /* "BaTS", PRAGMA application_id */
#define BATS_SCHEMA_VERSION 3              /* PRAGMA user_version */

/* Makes an empty database a record. */
int bats_schema_make(struct bats_db *db, struct bats_error *err);

/* Brings a record of an older version to this one, all of it or nothing. Keeps
 * every row; what the older version did not note is NULL. */
int bats_schema_upgrade(struct bats_db *db, struct bats_error *err);

/* Makes tables of the views that take the history apart, where it has them: for
 * a copy that is to be asked many things, and will not be kept. */
int bats_schema_unpack(struct bats_db *db, struct bats_error *err);

/* The tables, all of them with a rowid, each after those it refers to. */
extern const char *const bats_schema_tables[];
extern const size_t bats_schema_n_tables;

/* Instead of `history`, records of version 1 have the tables event, command
 * and attempt. The first makes them as temporary ones, the second puts their
 * rows into the history and drops them. */
extern const char bats_schema_old[];
extern const char bats_schema_pack[];

/* Version 2 had the offer of a CHOSEN, and what it allows, in the places of
 * slot and runtime_us. This moves them, if they are there. */
extern const char bats_schema_move_choices[];

/* The names that stand in the columns `type`, `finish` and `resume`, by enum.
 */
extern const char *const bats_schema_events[];
extern const char *const bats_schema_commands[];
extern const char *const bats_schema_finishes[];
extern const char *const bats_schema_resumes[];

#define BATS_SCHEMA_COPY "copy"         /* the type of a RUN that is a copy */
#define BATS_SCHEMA_TIME_OUT "time-out" /* why, of a CANCEL */

#endif
