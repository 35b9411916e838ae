#include "record/read/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/copy.h"
#include "record/read/view_state.h"
#include "record/schema.h"
#include "record/write/record.h"
#include "util/now.h"

const char *bats_view_text(sqlite3_stmt *s, int column)
{
    const char *text = (const char *)sqlite3_column_text(s, column);
    return text != NULL ? text : "";
}

/* ---- opening ---- */

static int check(struct bats_view *v, struct bats_error *err)
{
    bool is_empty;
    int64_t sessions = 0;
    int rc = bats_db_check(&v->db, &is_empty, err);

    if (rc == 0 && !is_empty)
        rc = bats_db_integer(&v->db, "SELECT count(*) FROM session", &sessions,
                             err);
    if (rc == 0 && sessions == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s: the record is empty: its run never began",
                            v->path);
    return rc;
}

int bats_view_open(const char *path, struct bats_view **view,
                   struct bats_error *err)
{
    const char *copy;
    struct bats_view *v = calloc(1, sizeof *v);
    int rc = 0;

    *view = NULL;
    if (v == NULL || (v->path = strdup(path)) == NULL)
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0)
        rc = bats_copy_take(path, &copy, err);
    if (rc == 0) {
        v->is_live = bats_record_is_live(path);
        rc = bats_db_open(&v->db, copy, v->path, BATS_DB_WRITE, err);
        if (rc == 0)
            rc = check(v, err);
        /* From here on SQLite does not need the file's name any more. */
        if (rc == 0)
            rc = bats_db_run(
                &v->db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF",
                err);
        bats_copy_remove();
    }
    if (rc == 0)
        rc = bats_schema_upgrade(&v->db, err);
    if (rc < 0)
        bats_view_close(v);
    else
        *view = v;
    return rc;
}

int bats_view_unpack(struct bats_view *v, struct bats_error *err)
{
    int rc = v->is_unpacked ? 0 : bats_schema_unpack(&v->db, err);

    v->is_unpacked = rc == 0;
    return rc;
}

void bats_view_close(struct bats_view *v)
{
    if (v == NULL)
        return;
    sqlite3_finalize(v->tasks);
    sqlite3_finalize(v->log);
    sqlite3_finalize(v->machines);
    sqlite3_finalize(v->last_words);
    bats_db_close(&v->db);
    free(v->path);
    free(v);
}

/* ---- the time ---- */

/* Time of the latest row of the last session. */
static const char last_time[] =
    "SELECT max(t) FROM ("
    "SELECT t FROM (SELECT max(seq), time_us AS t, session AS s "
    "FROM event) WHERE s = (SELECT max(id) FROM session) UNION ALL "
    "SELECT t FROM (SELECT max(seq), time_us AS t, session AS s "
    "FROM command) WHERE s = (SELECT max(id) FROM session))";

int bats_view_last(struct bats_view *v, bats_time *last,
                   struct bats_error *err)
{
    return bats_db_integer(&v->db, last_time, last, err);
}

int bats_view_now(struct bats_view *v, bats_time *now, struct bats_error *err)
{
    char sql[256];
    int rc = bats_view_unpack(v, err);

    if (rc < 0)
        return rc;
    if (!v->is_live)
        return bats_view_last(v, now, err);
    snprintf(sql, sizeof sql,
             "SELECT CAST((%" PRId64 " - started_us) * time_scale AS INTEGER) "
             "FROM session ORDER BY id DESC LIMIT 1",
             bats_now_us(CLOCK_REALTIME));
    return bats_db_integer(&v->db, sql, now, err);
}
