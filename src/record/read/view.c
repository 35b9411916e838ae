#include "record/read/view.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/owed.h"
#include "record/read/part.h"
#include "util/asset.h"
#include "util/now.h"

BATS_ASSET(status_sql, "record/read/status.sql");
BATS_ASSET(clusters_sql, "record/read/clusters.sql");
BATS_ASSET(needs_sql, "record/read/needs.sql");
BATS_ASSET(kinds_sql, "record/read/kinds.sql");
BATS_ASSET(wfformat_sql, "record/read/wfformat.sql");

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
    return 0;
}

int bats_view_open(const char *path, struct bats_view **view,
                   struct bats_error *err)
{
    struct bats_view *v = calloc(1, sizeof *v);
    int rc = bats_db_look(path, err);
    *view = NULL;
    if (rc == 0)
        rc = bats_db_none(path, err);
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

void bats_view_close(struct bats_view *v)
{
    if (v == NULL)
        return;
    free(v->tasks);
    bats_texts_release(&v->texts);
    bats_texts_release(&v->names);
    bats_texts_release(&v->workflows);
    bats_view_log_release(v);
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
    const char *sql =
        v->is_live ? "SELECT CAST((? - started_us) * time_scale AS INTEGER)"
                     " FROM session ORDER BY id DESC LIMIT 1"
                   : "SELECT time_us FROM now";
    *now = 0;
    return bats_db_get(&v->db, sql, bats_db_whole, now, err,
                       BATS_VALUES(BATS_I(bats_now_us(CLOCK_REALTIME))));
}

/* ---- the run as a whole ---- */

#define C(member) BATS_COLUMN(struct bats_view_status, member)
static const struct bats_db_column session_columns[] = {
    C(sessions),   C(bag),       C(policy),
    C(currency),   C(budget),    C(window),
    C(time_scale), C(seed),      C(started_us),
    C(is_over),    C(last),      C(finish),
    C(signal),     C(exit_code), C(tasks),
    C(done),       C(failed),    C(running),
    C(pending),    C(skipped),   C(removed),
    C(preempted),  C(ending),    C(choosing),
    C(charged),    C(held),      {0}};
#undef C

#define C(member) BATS_COLUMN(struct bats_view_cluster, member)
static const struct bats_db_column cluster_columns[] = {
    C(name),         C(charge),   C(machines), C(held),   C(lost),
    C(windows),      C(charged),  C(done),     C(failed), C(mean_wall_us),
    C(mean_runtime), C(energy_j), {0}};
#undef C

static int take_cluster(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_view_status *st = context;
    return st->n_clusters == BATS_CLUSTERS_MAX
               ? 0
               : bats_db_fill(s, cluster_columns,
                              &st->clusters[st->n_clusters++], NULL, err);
}

static int read_status(struct bats_view *v, void *context,
                       struct bats_error *err)
{
    struct bats_view_status *st = context;
    struct bats_owed owed = {.session = 0};
    bats_time now = 0;
    *st = (struct bats_view_status){.is_live = v->is_live};
    int rc = bats_db_get(&v->db, status_sql.begin, session_columns, st, err,
                         NULL, 0);
    if (rc == 0 && st->sessions == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: a row is missing", v->path);
    if (rc == 0)
        rc = bats_view_now(v, &now, err);
    if (rc == 0)
        rc = bats_owed_find(&v->db, now, &owed, err);
    if (st->is_live)
        owed.machines = 0;
    else
        st->held = 0;
    bats_units_add(st->charged, owed.own, &st->charged);
    bats_units_add(st->charged, owed.machines, &st->charged);
    return rc == 0 ? bats_db_each(&v->db, clusters_sql.begin, take_cluster, st,
                                  err, NULL, 0)
                   : rc;
}

int bats_view_status(struct bats_view *v, struct bats_view_status *st,
                     struct bats_error *err)
{
    return bats_part_take(v, read_status, st, err);
}

/* ---- options ---- */

/* The row of this statement as JSON; NULL: none. ?1: `session`. */
static int read_json(struct bats_view *v, const char *sql, int64_t session,
                     json_t **json, struct bats_error *err)
{
    struct bats_texts texts = {0};
    const char **text;
    size_t n;
    int rc = bats_part_list(v, sql, bats_db_text, sizeof *text, &text, &n,
                            &texts, err, BATS_VALUES(BATS_I(session)));
    *json = n > 0 ? json_loads(text[0], 0, NULL) : NULL;
    free(text);
    bats_texts_release(&texts);
    return rc;
}

int bats_view_options(struct bats_view *v, int64_t session, json_t **options,
                      struct bats_error *err)
{
    return read_json(v,
                     "SELECT options FROM session WHERE id = coalesce("
                     "nullif(?, 0), (SELECT max(id) FROM session))",
                     session, options, err);
}

int bats_view_needs(struct bats_view *v, json_t *options,
                    struct bats_error *err)
{
    json_t *given;
    int rc = read_json(v, needs_sql.begin, 0, &given, err);
    if (given != NULL && json_object_update_recursive(options, given) != 0)
        rc = bats_no_memory(err);
    json_decref(given);
    return rc;
}

/* ---- the last decision ---- */

struct decision {
    struct bats_view_decision d;
    bool found;
    char machines[BATS_CLUSTERS_MAX * 12 + 4]; /* [1,2] */
};

int bats_view_decision(struct bats_view *v, bool *found,
                       struct bats_view_decision *decision,
                       struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct decision, member)
    static const struct bats_db_column columns[] = {
        C(found), C(d.time), C(d.reason), C(machines), {0}};
#undef C
    struct decision r = {.found = false};
    int rc = bats_part_get(v,
                           "SELECT 1, time_us, reason, machines FROM decision"
                           " WHERE session = (SELECT max(id) FROM session)"
                           " ORDER BY seq DESC LIMIT 1",
                           columns, &r, err, NULL, 0);
    for (const char *at = r.machines;
         *at != '\0' && r.d.n_clusters < BATS_CLUSTERS_MAX;
         at += strcspn(at, ","))
        r.d.machines[r.d.n_clusters++] = strtoll(++at, NULL, 10);
    *found = r.found;
    *decision = r.d;
    return rc;
}

/* ---- for WfCommons ---- */

int bats_view_wfformat(struct bats_view *view, const char *name, FILE *out,
                       struct bats_error *err)
{
    struct bats_texts texts = {0};
    const char **text = NULL;
    size_t n;
    int rc = bats_part_get(view, kinds_sql.begin, NULL, NULL, err,
                           BATS_VALUES(BATS_I(BATS_DB_NULL)));
    if (rc == 0)
        rc = bats_part_list(view, wfformat_sql.begin, bats_db_text,
                            sizeof *text, &text, &n, &texts, err,
                            BATS_VALUES(BATS_T(name), BATS_T(BATS_VERSION)));
    if (rc == 0)
        fprintf(out, "%s\n", text[0]);
    free(text);
    bats_texts_release(&texts);
    return rc;
}
