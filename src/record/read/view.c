#include "record/read/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/read/part.h"
#include "record/read/tasks.h"
#include "record/read/view_state.h"
#include "record/schema.h"
#include "record/write/record.h"
#include "util/now.h"

/* ---- opening ---- */

static int open_own(struct bats_view *v, struct bats_error *err)
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE |
                SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_URI;

    v->db.path = v->path;
    /* On disk only as far as it does not fit the cache; it goes by itself. */
    int rc = sqlite3_open_v2("", &v->db.sqlite, flags, NULL);
    if (rc != SQLITE_OK)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    sqlite3_extended_result_codes(v->db.sqlite, 1);
    /* The attached file is not written, not even when it is closed. */
    sqlite3_db_config(v->db.sqlite, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    rc = bats_db_run(&v->db,
                     "PRAGMA locking_mode = EXCLUSIVE;"
                     "PRAGMA journal_mode = MEMORY;"
                     "PRAGMA synchronous = OFF;"
                     "PRAGMA trusted_schema = ON;"
                     "PRAGMA cell_size_check = ON;",
                     err);
    return rc == 0 ? bats_schema_unpacked(&v->db, err) : rc;
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
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc > 0)
        rc = open_own(v, err);
    if (rc == 0)
        rc = bats_part_take(v, bats_part_heads, NULL, err);
    if (rc < 0)
        bats_view_close(v);
    else
        *view = v;
    return rc;
}

int bats_view_unpack(struct bats_view *v, struct bats_error *err)
{
    int rc = v->has_all ? 0
                        : bats_part_take(v, bats_part_everything, NULL, err);

    v->has_all = rc == 0;
    return rc;
}

void bats_view_close(struct bats_view *v)
{
    if (v == NULL)
        return;
    bats_tasks_release(&v->tasks);
    free(v->log_machine);
    sqlite3_finalize(v->log);
    sqlite3_finalize(v->machines);
    sqlite3_finalize(v->last_words);
    bats_part_release(v);
    bats_totals_release(&v->totals);
    bats_db_close(&v->db);
    free(v->path);
    free(v);
}

const char *bats_view_path(const struct bats_view *v)
{
    return v->path;
}

/* ---- the time ---- */

int bats_view_last(struct bats_view *v, bats_time *last,
                   struct bats_error *err)
{
    const struct bats_totals *t = &v->totals;
    int rc = bats_totals_look(v, err);

    *last = t->last[0] > t->last[1] ? t->last[0] : t->last[1];
    *last = *last > 0 ? *last : 0;
    return rc;
}

int bats_view_now(struct bats_view *v, bats_time *now, struct bats_error *err)
{
    char sql[256];

    if (!v->is_live)
        return bats_view_last(v, now, err);
    snprintf(sql, sizeof sql,
             "SELECT CAST((%" PRId64 " - started_us) * time_scale AS INTEGER) "
             "FROM session ORDER BY id DESC LIMIT 1",
             bats_now_us(CLOCK_REALTIME));
    return bats_db_integer(&v->db, sql, now, err);
}
