#include "record/read/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/read/part.h"
#include "record/write/record.h"
#include "util/now.h"

/* ---- opening ---- */

static int open_own(struct bats_view *v, struct bats_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;

    v->db.path = v->path;
    v->db.fail = bats_record_fail;
    /* A temporary database: on disk only if it exceeds the cache, and removed
     * automatically. */
    if (sqlite3_open_v2("", &v->db.sqlite, flags, NULL) != SQLITE_OK)
        return bats_no_memory(err);
    sqlite3_extended_result_codes(v->db.sqlite, 1);
    /* The attached file is never written, not even on closing. */
    sqlite3_db_config(v->db.sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    return bats_db_run(&v->db,
                       "PRAGMA locking_mode = EXCLUSIVE;"
                       "PRAGMA journal_mode = MEMORY;"
                       "PRAGMA synchronous = OFF;"
                       "PRAGMA trusted_schema = ON;"
                       "PRAGMA cell_size_check = ON;",
                       err);
}

/* Attaching the file checks that it is a record. */
static int look(struct bats_view *v, void *unused, struct bats_error *err)
{
    (void)v, (void)unused, (void)err;
    return 0;
}

int bats_view_open(const char *path, struct bats_view **view,
                   struct bats_error *err)
{
    struct bats_view *v = calloc(1, sizeof *v);
    int rc = bats_db_look(path, err);

    *view = NULL;
    if (rc == 0)
        rc = bats_error_set(err, BATS_EINPUT, "%s: %s", path,
                            access(path, F_OK) == 0
                                ? "the record is empty: its run never began"
                                : "there is no such record");
    if (rc > 0 && (v == NULL || (v->path = strdup(path)) == NULL))
        rc = bats_no_memory(err);
    if (rc > 0)
        rc = open_own(v, err);
    if (rc == 0)
        rc = bats_part_take(v, look, NULL, err);
    if (rc < 0)
        bats_view_close(v);
    else
        *view = v;
    return rc;
}

void bats_view_drop_tasks(struct bats_view *v)
{
    free(v->tasks);
    v->tasks = NULL;
    v->n_tasks = v->next_task = 0;
    bats_texts_release(&v->texts);
}

void bats_view_drop_machines(struct bats_view *v)
{
    free(v->machines);
    v->machines = NULL;
    v->n_machines = v->next_machine = 0;
    bats_texts_release(&v->names);
}

void bats_view_close(struct bats_view *v)
{
    if (v == NULL)
        return;
    bats_view_drop_tasks(v);
    bats_view_drop_machines(v);
    free(v->log_machine);
    sqlite3_finalize(v->log);
    sqlite3_finalize(v->end);
    bats_part_release(v);
    bats_db_close(&v->db);
    free(v->path);
    free(v);
}

const char *bats_view_path(const struct bats_view *v)
{
    return v->path;
}

/* ---- the time ---- */

int bats_view_now(struct bats_view *v, bats_time *now, struct bats_error *err)
{
    char sql[256];
    snprintf(sql, sizeof sql,
             v->is_live ? "SELECT CAST((%" PRId64
                          " - started_us) * time_scale AS INTEGER) "
                          "FROM session ORDER BY id DESC LIMIT 1"
                        : "SELECT time_us FROM now",
             bats_now_us(CLOCK_REALTIME));
    return bats_db_integer(&v->db, sql, now, err);
}

struct times {
    int64_t elapsed_us, started_us;
};

static int measure(struct bats_view *v, void *times, struct bats_error *err)
{
    static const struct bats_db_column columns[] = {
        BATS_COLUMN(struct times, elapsed_us),
        BATS_COLUMN(struct times, started_us),
        {0}};
    char sql[256];
    bats_time now;
    int rc = bats_view_now(v, &now, err);
    snprintf(sql, sizeof sql,
             "SELECT CAST(total(coalesce(ended_us, iif(id = (SELECT max(id)"
             "  FROM session), %" PRId64 ", last_us), 0) / time_scale)"
             "  AS INTEGER), min(started_us) FROM session",
             now);
    return rc == 0 ? bats_db_get(&v->db, sql, columns, times, err, NULL, 0)
                   : rc;
}

int bats_view_elapsed(struct bats_view *v, int64_t *elapsed_us,
                      int64_t *started_us, struct bats_error *err)
{
    struct times t = {0};
    int rc = bats_part_take(v, measure, &t, err);
    *elapsed_us = t.elapsed_us;
    *started_us = t.started_us;
    return rc;
}
