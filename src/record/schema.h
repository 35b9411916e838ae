/*
 * schema: the tables of a run record, and the marks of its file.
 *
 * Layer: record, private to it. A change of the tables raises
 * BATS_SCHEMA_VERSION; files of other versions are refused.
 */
#ifndef BATS_RECORD_SCHEMA_H
#define BATS_RECORD_SCHEMA_H

#include <stddef.h>

#include "record/db.h"

#define BATS_SCHEMA_APPLICATION 0x42615453 /* "BaTS", PRAGMA application_id */
#define BATS_SCHEMA_VERSION 8              /* PRAGMA user_version */

/* Creates a record in an empty database. */
int bats_schema_make(struct bats_db *db, struct bats_error *err);

/* Recreates the view tasks with the record's parameters as columns. */
int bats_schema_view_tasks(struct bats_db *db, struct bats_error *err);

/* The tables, all with a rowid, each after those it refers to. */
extern const char *const bats_schema_tables[];
extern const size_t bats_schema_n_tables;

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

/* Makes the rows of cluster_now for the last session, unless they exist. */
#define BATS_SCHEMA_CLUSTERS_NOW                                              \
    "INSERT OR IGNORE INTO cluster_now"                                       \
    " SELECT k.session, k.id, (SELECT count(*) FROM machine m"                \
    "   WHERE m.session = k.session AND m.cluster = k.id), 0, 0,"             \
    "  coalesce(l.n, 0), coalesce(l.amount, 0), coalesce(t.done, 0),"         \
    "  coalesce(t.failed, 0), coalesce(t.wall, 0), coalesce(t.runtime, 0)"    \
    " FROM cluster k LEFT JOIN (SELECT c.name, count(*) AS n,"                \
    "   sum(h.amount) AS amount FROM charge h JOIN machine m"                 \
    "    ON m.session = h.session AND m.id = h.machine JOIN cluster c"        \
    "    ON c.session = m.session AND c.id = m.cluster WHERE h.account = 0"   \
    "   GROUP BY c.name) l ON l.name = k.name"                                \
    "  LEFT JOIN (SELECT n.cluster AS name, sum(n.state != 2) AS done,"       \
    "    sum(n.state = 2) AS failed, sum(n.wall_us) AS wall,"                 \
    "    CAST(sum(n.wall_us * s.time_scale) AS INTEGER) AS runtime"           \
    "   FROM task_now n JOIN session s ON s.id = n.session"                   \
    "   GROUP BY n.cluster) t ON t.name = k.name"                             \
    " WHERE k.session = (SELECT max(id) FROM session)"

#endif
