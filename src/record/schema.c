#include "record/schema.h"

#include <stdio.h>
#include <stdlib.h>

#include "bats/sched.h"
#include "record/write/record.h"
#include "sql/texts.h"
#include "util/asset.h"
#include "util/now.h"

BATS_ASSET(tables_sql, "record/schema.sql");
BATS_ASSET(cluster_now_sql, "record/cluster_now.sql");

#define PARAMETERS "(SELECT parameters FROM point WHERE task = n.task)"

/* The view tasks, in two parts: columns for sweep parameters come between.
 * Columns that a query does not use are not looked up; with joins that would
 * hold only without GROUP BY. A task runs while it has no result of the
 * current session. */
#define OF_TASK(column)                                                       \
    "(SELECT " column " FROM task WHERE id = n.task) AS " column
static const char tasks_head[] =
    "CREATE VIEW tasks AS -- cost: of its machine for the time it ran, by the\n"
    "    -- charge of a window; further columns: the parameters of a sweep\n"
    "  SELECT n.number, CASE\n"
    "      WHEN n.removed THEN 'removed'\n"
    "      WHEN n.session IS NOT (SELECT session FROM now) AND\n"
    "        n.task IN (SELECT task FROM running) THEN 'running'\n"
    "      WHEN n.state = 0 THEN 'pending' WHEN n.state = 1 THEN 'done'\n"
    "      WHEN n.state = 2 THEN 'failed' ELSE 'skipped' END AS state,\n"
    "    n.attempts, n.exit_status, n.signal, n.wall_us / 1e6 AS wall_s,\n"
    "    n.cpu_us / 1e6 AS cpu_s, n.max_rss_kib, n.host, n.cluster,\n"
    "    n.start_us, n.reason, n.task AS id, n.cost / 1e6 AS cost,\n"
    "    " OF_TASK("line") ",\n"
                           "    " OF_TASK("command") ",\n"
                                                     "    " PARAMETERS
                                                     " AS parameters";
static const char tasks_tail[] = "\n  FROM task_now n;\n";

const char *const bats_schema_events[] = {
    [BATS_EVENT_JOINED] = "joined",
    [BATS_EVENT_LOST] = "lost",
    [BATS_EVENT_DRAIN] = "drain",
    [BATS_EVENT_STOP] = "stop",
    [BATS_EVENT_CHOSEN] = "chosen",
    [BATS_EVENT_HOLD] = "hold",
    [BATS_EVENT_GO] = "go",
    [BATS_EVENT_ENDS] = "ends",
    [BATS_EVENT_BILLED] = "billed",
    [BATS_EVENT_CLOSED] = "closed",
    [BATS_EVENT_NOTICE] = "preempt-notice",
    [BATS_EVENT_KILLED] = "killed",
    [BATS_EVENT_FOUND] = "found",
    [BATS_EVENT_RETIRED] = "retired",
    [BATS_EVENT_SHUT] = "shut",
};

const char *const bats_schema_commands[] = {
    [BATS_COMMAND_ACQUIRE] = "acquire",
    [BATS_COMMAND_PARK] = "park",
    [BATS_COMMAND_RELEASE] = "release",
    [BATS_NOTICE_FINISHED] = "finished",
    [BATS_NOTICE_QUARANTINE] = "quarantine",
    [BATS_NOTICE_READMIT] = "readmit",
    [BATS_NOTICE_LOSE] = "lose",
    [BATS_NOTICE_SKIP] = "skip",
    [BATS_NOTICE_SAMPLED] = "sampled",
};

const char *const bats_schema_resumes[] = {
    [BATS_RECORD_NOT] = "new",
    [BATS_RECORD_RESUME] = "resume",
    [BATS_RECORD_RESUME_FAILED] = "resume-failed",
    [BATS_RECORD_RETRY_FAILED] = "retry-failed",
};

const char *const bats_schema_finishes[] = {
    [BATS_FINISH_NOT_YET] = "not yet",
    [BATS_FINISH_ALL_DONE] = "all done",
    [BATS_FINISH_BUDGET] = "budget",
    [BATS_FINISH_STOPPED] = "stopped",
    [BATS_FINISH_NO_MACHINES] = "no machines",
    [BATS_FINISH_HALTED] = "halted",
    [BATS_FINISH_TIME_LIMIT] = "deadline",
    [BATS_FINISH_SAMPLED] = "sampled",
    [BATS_FINISH_TOO_LATE] = "too late",
};

/* The columns of the parameters, in one text. */
static const char columns_sql[] =
    "SELECT group_concat(printf(',\n    json_extract(" PARAMETERS
    ", ''$.\"%q\"'') AS \"%w\"', name, place), '') FROM (SELECT name, place"
    " FROM parameter WHERE name NOT NULL AND place NOT NULL ORDER BY id)";

int bats_schema_view_tasks(struct bats_db *db, struct bats_error *err)
{
    struct bats_texts texts = {0};
    const char **columns;
    size_t n;
    int rc = bats_db_list(db, columns_sql, bats_db_text, sizeof *columns,
                          &columns, &n, &texts, err);
    char *sql = rc == 0 ? sqlite3_mprintf("DROP VIEW IF EXISTS main.tasks;"
                                          " %s%s%s",
                                          tasks_head, columns[0], tasks_tail)
                        : NULL;
    if (rc == 0)
        rc = sql == NULL ? bats_no_memory(err) : bats_db_run(db, sql, err);
    free(columns);
    bats_texts_release(&texts);
    sqlite3_free(sql);
    return rc;
}

int bats_schema_cluster_now(struct bats_db *db, struct bats_error *err)
{
    return bats_db_run(db, cluster_now_sql.begin, err);
}

int bats_schema_make(struct bats_db *db, struct bats_error *err)
{
    char head[256];
    snprintf(head, sizeof head,
             "BEGIN; PRAGMA application_id = %d; PRAGMA user_version = %d;",
             BATS_SCHEMA_APPLICATION, BATS_SCHEMA_VERSION);
    int rc = bats_db_run(db, head, err);
    if (rc == 0)
        rc = bats_db_run(db, tables_sql.begin, err);
    if (rc == 0)
        rc = bats_schema_view_tasks(db, err);
    snprintf(head, sizeof head,
             "INSERT INTO meta VALUES ('created_us', %lld), "
             "('version', '" BATS_VERSION "'); COMMIT;"
             "PRAGMA wal_checkpoint(TRUNCATE);",
             (long long)bats_now_us(CLOCK_REALTIME));
    if (rc == 0)
        rc = bats_db_run(db, head, err);
    return rc;
}
