/*
 * schema: the tables of a run record, and the marks of its file.
 *
 * Layer: record, private to it. A change of the tables raises
 * BATS_SCHEMA_VERSION; files of other versions are refused.
 */
#ifndef BATS_RECORD_SCHEMA_H
#define BATS_RECORD_SCHEMA_H

#include "record/db.h"

#define BATS_SCHEMA_APPLICATION 0x42615453 /* "BaTS", PRAGMA application_id */
#define BATS_SCHEMA_VERSION 11             /* PRAGMA user_version */

/* Creates a record in an empty database. */
int bats_schema_make(struct bats_db *db, struct bats_error *err);

/* Recreates the view tasks with the record's parameters as columns. */
int bats_schema_view_tasks(struct bats_db *db, struct bats_error *err);

/* Makes the rows of cluster_now for the last session, unless they exist. */
int bats_schema_cluster_now(struct bats_db *db, struct bats_error *err);

/* The words in the columns `what`, `finish` and `resume`, by enum. Events and
 * commands that have tables of their own have none. */
extern const char *const bats_schema_events[];
extern const char *const bats_schema_commands[];
extern const char *const bats_schema_finishes[];
extern const char *const bats_schema_resumes[];

#define BATS_SCHEMA_UNPAID "unpaid" /* reasons for skipping a task */
#define BATS_SCHEMA_WITHDRAWN "withdrawn"

/* The last seq, from the table now unless the record was recovered. */
#define BATS_SCHEMA_LAST_SEQ                                                  \
    "SELECT max(coalesce((SELECT seq FROM now), 0), coalesce(max(m), 0))"     \
    " FROM (SELECT max(seq) AS m FROM running UNION ALL"                      \
    " SELECT max(seq) FROM execution UNION ALL"                               \
    " SELECT max(seq) FROM happened UNION ALL"                                \
    " SELECT max(seq) FROM charge UNION ALL"                                  \
    " SELECT max(seq) FROM decision UNION ALL SELECT max(seq) FROM stderr)"

#endif
