#include "record/schema.h"

#include <stdio.h>

#include "bats/sched.h"
#include "record/write/record.h"
#include "util/asset.h"
#include "util/now.h"

BATS_ASSET(tables_sql, "record/schema.sql");
BATS_ASSET(tasks_sql, "record/tasks.sql");
BATS_ASSET(cluster_now_sql, "record/cluster_now.sql");

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

static int make_view(void *context, sqlite3_stmt *row, struct bats_error *err)
{
    return bats_db_run(context, (const char *)sqlite3_column_text(row, 0),
                       err);
}

int bats_schema_view_tasks(struct bats_db *db, struct bats_error *err)
{
    return bats_db_each(db, tasks_sql.begin, make_view, db, err, NULL, 0);
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
