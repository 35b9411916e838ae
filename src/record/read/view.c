#include "record/read/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"
#include "util/asset.h"
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
    free(v->machines);
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
    char sql[256];
    snprintf(sql, sizeof sql,
             v->is_live ? "SELECT CAST((%" PRId64
                          " - started_us) * time_scale AS INTEGER) "
                          "FROM session ORDER BY id DESC LIMIT 1"
                        : "SELECT time_us FROM now",
             bats_now_us(CLOCK_REALTIME));
    return bats_db_integer(&v->db, sql, now, err);
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

static const char session_sql[] =
    "SELECT s.id, bag, policy, currency, coalesce(budget, " BATS_PART_UNLIMITED
    "), window_us, time_scale, seed, started_us, ended_us NOT NULL,"
    " coalesce(ended_us, n.time_us), finish, signal, exit_code,"
    " done + failed + running + pending + skipped, done, failed, running,"
    " pending, skipped, removed, preempted, ending, choosing,"
    " (SELECT sum(charged) FROM account WHERE id = 0),"
    " (SELECT held FROM account WHERE session = s.id AND id = 0)"
    " FROM session s JOIN now n ORDER BY s.id DESC LIMIT 1";

#define C(member) BATS_COLUMN(struct bats_view_cluster, member)
static const struct bats_db_column cluster_columns[] = {
    C(name),   C(charge),       C(machines),     C(held),
    C(lost),   C(windows),      C(charged),      C(done),
    C(failed), C(mean_wall_us), C(mean_runtime), C(energy_j), {0}};
#undef C

static const char clusters_sql[] =
    "SELECT name, charge, machines, held, lost, windows, n.charged, done,"
    " failed, wall_us / max(done + failed, 1),"
    " runtime_us / max(done + failed, 1), (SELECT sum(energy_j) FROM lease l"
    "  JOIN machine m ON m.session = l.session AND m.id = l.machine"
    "  JOIN cluster k ON k.session = m.session AND k.id = m.cluster"
    "  WHERE energy_j NOT NULL AND k.name = c.name)"
    " FROM cluster c LEFT JOIN cluster_now n ON n.session = c.session AND"
    " n.cluster = c.id WHERE c.session = (SELECT max(id) FROM session)"
    " ORDER BY c.id";

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
    *st = (struct bats_view_status){.is_live = v->is_live};
    int rc =
        bats_db_get(&v->db, session_sql, session_columns, st, err, NULL, 0);
    if (rc == 0 && st->sessions == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: a row is missing", v->path);
    if (!st->is_live)
        st->held = 0;
    return rc == 0 ? bats_db_each(&v->db, clusters_sql, take_cluster, st, err,
                                  NULL, 0)
                   : rc;
}

int bats_view_status(struct bats_view *v, struct bats_view_status *st,
                     struct bats_error *err)
{
    return bats_part_take(v, read_status, st, err);
}

/* ---- options ---- */

/* The options of an open bag know the tasks that were there when the session
 * began. This has the categories of all tasks, and their needs: those that they
 * were given, or else the default, which is the need of category 0. (A limit
 * makes SQLite keep the order.) */
static const char given_sql[] =
    "WITH u AS (SELECT json_extract(options, '$.engine.needs[0]') AS usual"
    "    FROM session ORDER BY id DESC LIMIT 1),"
    "  g AS (SELECT n.number, iif(json_valid(s.given), s.given, '{}') AS g,"
    "    json_extract(s.given, '$.memory') AS m"
    "    FROM task_now n LEFT JOIN submission s ON s.task = n.task"
    "    WHERE NOT n.removed),"
    "  k AS (SELECT number, coalesce(json_extract(g, '$.class'), '-') AS class,"
    "    json_array("
    "      coalesce(json_extract(g, '$.cores'), json_extract(usual, '$[0]')),"
    "      coalesce(json_extract(g, '$.gpus'), json_extract(usual, '$[1]')),"
    "      coalesce((m * CASE substr(m, -1) WHEN 'K' THEN 1024"
    "          WHEN 'M' THEN 1 << 20 WHEN 'G' THEN 1 << 30 ELSE 1 END + 1023)"
    "        / 1024, json_extract(usual, '$[2]')),"
    "      json_extract(g, '$.limit')) AS need FROM g JOIN u),"
    "  r AS (SELECT number, dense_rank() OVER (ORDER BY class, need) - 1"
    "    AS kind, class, need FROM k ORDER BY number LIMIT -1),"
    "  d AS (SELECT DISTINCT kind, class, need FROM r ORDER BY kind LIMIT -1)"
    "SELECT json_object('categories', (SELECT json_group_array(class) FROM d),"
    "    'engine', json_object("
    "      'needs', (SELECT json_group_array(json(need)) FROM d),"
    "      'categories', (SELECT json('[' || group_concat(kind || ',1') || ']')"
    "        FROM r)))"
    "  FROM u WHERE usual IS NOT NULL AND EXISTS (SELECT 1 FROM submission)";

/* The row of this statement as JSON; NULL: none. */
static int read_json(struct bats_view *v, const char *sql, json_t **json,
                     struct bats_error *err)
{
    struct bats_texts texts = {0};
    const char **text;
    size_t n;
    int rc = bats_part_list(v, sql, bats_db_text, sizeof *text, &text, &n,
                            &texts, err);
    *json = n > 0 ? json_loads(text[0], 0, NULL) : NULL;
    free(text);
    bats_texts_release(&texts);
    return rc;
}

int bats_view_options(struct bats_view *v, int64_t session, json_t **options,
                      struct bats_error *err)
{
    char sql[96];
    snprintf(sql, sizeof sql,
             "SELECT options FROM session WHERE id = coalesce(nullif("
             "%" PRId64 ", 0), (SELECT max(id) FROM session))",
             session);
    return read_json(v, sql, options, err);
}

int bats_view_needs(struct bats_view *v, json_t *options,
                    struct bats_error *err)
{
    json_t *given;
    int rc = read_json(v, given_sql, &given, err);
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
    int rc = bats_part_get(
        v,
        "SELECT 1, time_us, reason, machines FROM decision"
        " WHERE session = (SELECT max(id) FROM session)"
        " ORDER BY seq DESC LIMIT 1",
        columns, &r, err);
    for (const char *at = r.machines;
         *at != '\0' && r.d.n_clusters < BATS_CLUSTERS_MAX;
         at += strcspn(at, ","))
        r.d.machines[r.d.n_clusters++] = strtoll(++at, NULL, 10);
    *found = r.found;
    *decision = r.d;
    return rc;
}

/* ---- for WfCommons ---- */

BATS_ASSET(wfformat_sql, "record/read/wfformat.sql");

struct document {
    const char *name;
    char *text;
};

static int take_document(void *context, sqlite3_stmt *row,
                         struct bats_error *err)
{
    struct document *d = context;
    free(d->text); /* of an earlier try */
    d->text = strdup(bats_view_text(row, 0));
    return d->text != NULL ? 0 : bats_no_memory(err);
}

/* The table of the dependencies is only there if there are any. */
static int make_document(struct bats_view *v, void *context,
                         struct bats_error *err)
{
    const struct document *d = context;
    int64_t has_graph = 0;
    int rc = bats_db_integer(&v->db,
                             "SELECT count(*) FROM rec.sqlite_schema"
                             " WHERE name = 'graph'",
                             &has_graph, err);
    if (rc == 0 && has_graph == 0)
        rc = bats_db_run(&v->db,
                         "CREATE TEMP TABLE IF NOT EXISTS graph"
                         " (session, node, children)",
                         err);
    return rc < 0
               ? rc
               : bats_db_each(
                     &v->db, wfformat_sql.begin, take_document, context, err,
                     BATS_VALUES(BATS_T(d->name), BATS_T(BATS_VERSION)));
}

int bats_view_wfformat(struct bats_view *view, const char *name, FILE *out,
                       struct bats_error *err)
{
    struct document d = {.name = name};
    int rc = bats_part_take(view, make_document, &d, err);
    if (rc == 0)
        fprintf(out, "%s\n", d.text);
    free(d.text);
    return rc;
}
