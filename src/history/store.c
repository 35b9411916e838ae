#include "history/store.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "util/grow.h"

#define VERSION 2
#define PATIENCE_MS 5000 /* wait for another process's transaction */

struct bats_store {
    sqlite3 *sqlite;
    char *path;
};

/* The comments are stored in the file: `.schema` of sqlite3 shows them. */
static const char tables[] =
    "CREATE TABLE run ( -- that were added, so that each counts once\n"
    "  id INTEGER PRIMARY KEY, name TEXT UNIQUE,\n"
    "  ended_s INTEGER); -- since 1970\n"
    "CREATE TABLE kind ( -- of tasks, see bats-mpi history --help\n"
    "  id INTEGER PRIMARY KEY, name TEXT UNIQUE);\n"
    "CREATE TABLE cluster (\n"
    "  id INTEGER PRIMARY KEY, name TEXT,\n"
    "  site TEXT, hardware TEXT, -- '': not known\n"
    "  UNIQUE (name, site, hardware));\n"
    "CREATE TABLE runtime ( -- of tasks that were done\n"
    "  kind INTEGER, cluster INTEGER,\n"
    "  month INTEGER,   -- 202611\n"
    "  run INTEGER,     -- run.id; 0: several, merged\n"
    "  bags INTEGER, ended_s INTEGER, tasks INTEGER,\n"
    "  sum_s REAL, squares REAL, -- of runtimes in seconds, and\n"
    "  log_sum REAL, log_squares REAL, -- of their natural logarithms\n"
    "  p10_s REAL, p50_s REAL, p90_s REAL, -- merged: their mean\n"
    "  UNIQUE (kind, cluster, month, run));\n"
    "CREATE VIEW past AS SELECT k.name AS kind, c.name AS cluster, c.site,\n"
    "    c.hardware, month, bags, tasks, sum_s / tasks AS mean_s,\n"
    "    p10_s, p50_s, p90_s, datetime(ended_s, 'unixepoch') AS ended\n"
    "  FROM runtime r JOIN kind k ON k.id = r.kind\n"
    "    JOIN cluster c ON c.id = r.cluster ORDER BY ended_s;\n";

/* Since version 2. */
static const char sweep_table[] =
    "CREATE TABLE sweep ( -- runtimes by parameters, see bats/factors.h\n"
    "  kind INTEGER, cluster INTEGER, run INTEGER, -- as in runtime\n"
    "  sums TEXT, -- names of parameters, their number, and sums\n"
    "  UNIQUE (kind, cluster, run));\n";

/* ---- SQLite ---- */

static int fail(const struct bats_store *s, int rc, struct bats_error *err)
{
    int code = rc & 0xff;
    if (code == SQLITE_NOMEM)
        return bats_no_memory(err);
    if (code == SQLITE_NOTADB)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is not a history of bats-mpi", s->path);
    if (code == SQLITE_CORRUPT)
        return bats_error_set(err, BATS_EINPUT, "%s is damaged", s->path);
    return bats_error_set(err, BATS_ESYS, "%s: %s", s->path,
                          code == SQLITE_BUSY
                              ? "another process keeps it locked"
                          : code == SQLITE_FULL ? "the disk is full"
                                                : sqlite3_errstr(rc));
}

static int run_sql(struct bats_store *s, const char *sql,
                   struct bats_error *err)
{
    int rc = sqlite3_exec(s->sqlite, sql, NULL, NULL, NULL);
    return rc == SQLITE_OK ? 0 : fail(s, rc, err);
}

static int prepare(struct bats_store *s, const char *sql, sqlite3_stmt **q,
                   struct bats_error *err)
{
    int rc = sqlite3_prepare_v2(s->sqlite, sql, -1, q, NULL);
    return rc == SQLITE_OK ? 0 : fail(s, rc, err);
}

/* 1: a row; 0: the end; or an error. */
static int step(struct bats_store *s, sqlite3_stmt *q, struct bats_error *err)
{
    int rc = sqlite3_step(q);
    return rc == SQLITE_ROW ? 1 : rc == SQLITE_DONE ? 0 : fail(s, rc, err);
}

/* The integer that `sql` yields for these texts; 0 if none. */
static int ask(struct bats_store *s, const char *sql, const char *const *texts,
               int n, int64_t *value, struct bats_error *err)
{
    sqlite3_stmt *q = NULL;
    int rc = prepare(s, sql, &q, err);
    *value = 0;
    for (int i = 0; rc == 0 && i < n; i++)
        sqlite3_bind_text(q, i + 1, texts[i], -1, SQLITE_STATIC);
    if (rc == 0 && (rc = step(s, q, err)) > 0) {
        *value = sqlite3_column_int64(q, 0);
        rc = 0;
    }
    sqlite3_finalize(q);
    return rc;
}

/* ---- opening ---- */

/* Creates the path's directories. Failures show when the file is opened. */
static void make_directories(const char *path)
{
    char *copy = strdup(path);
    for (char *at = copy; at != NULL && (at = strchr(at + 1, '/')) != NULL;) {
        *at = '\0';
        mkdir(copy, 0700);
        *at = '/';
    }
    free(copy);
}

static int check_version(struct bats_store *s, bool create,
                         struct bats_error *err)
{
    int64_t version, objects;
    /* The order matters: another process may create the tables in between. */
    int rc =
        ask(s, "SELECT count(*) FROM sqlite_master", NULL, 0, &objects, err);
    if (rc == 0)
        rc = ask(s, "PRAGMA user_version", NULL, 0, &version, err);
    if (rc < 0)
        return rc;
    if (version == 0 && objects > 0)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is not a history of bats-mpi", s->path);
    if (version > VERSION)
        return bats_error_set(err, BATS_EINPUT,
                              "%s was written by a newer bats-mpi", s->path);
    if (version == VERSION || (version == 0 && !create))
        return 0;
    rc = run_sql(s, "BEGIN IMMEDIATE", err);
    /* Another process may have been faster. */
    if (rc == 0)
        rc = ask(s, "PRAGMA user_version", NULL, 0, &version, err);
    if (rc == 0 && version == 0)
        rc = run_sql(s, tables, err);
    if (rc == 0 && version < VERSION)
        rc = run_sql(s, sweep_table, err);
    if (rc == 0)
        rc = run_sql(s, "PRAGMA user_version = 2; COMMIT", err);
    return rc;
}

int bats_store_open(const char *path, bool create, struct bats_store **store,
                    struct bats_error *err)
{
    struct stat st;
    *store = NULL;
    if (!create && (stat(path, &st) != 0 || st.st_size == 0))
        return errno == ENOENT || st.st_size == 0
                   ? 0
                   : bats_error_set(err, BATS_ESYS, "%s: %s", path,
                                    strerror(errno));
    struct bats_store *s = calloc(1, sizeof *s);
    if (s == NULL || (s->path = strdup(path)) == NULL) {
        free(s);
        return bats_no_memory(err);
    }
    if (create)
        make_directories(path);
    int rc = sqlite3_open_v2(
        path, &s->sqlite,
        SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), NULL);
    if (rc != SQLITE_OK) {
        int why = s->sqlite != NULL ? sqlite3_system_errno(s->sqlite) : 0;
        rc = why != 0 ? bats_error_set(err, BATS_ESYS, "%s: %s", path,
                                       strerror(why))
                      : fail(s, rc, err);
    } else {
        sqlite3_busy_timeout(s->sqlite, PATIENCE_MS);
        rc = check_version(s, create, err);
    }
    if (rc < 0)
        bats_store_close(s);
    else
        *store = s;
    return rc;
}

void bats_store_close(struct bats_store *store)
{
    if (store == NULL)
        return;
    sqlite3_close(store->sqlite);
    free(store->path);
    free(store);
}

/* ---- adding ---- */

/* Merges older bags of each kind and cluster into one row per month. */
static const char merge_sql[] =
    "CREATE TEMP TABLE old AS SELECT rowid AS id FROM (SELECT rowid,"
    "    row_number() OVER (PARTITION BY kind, cluster"
    "      ORDER BY ended_s DESC, run DESC) AS place"
    "  FROM runtime WHERE run > 0) WHERE place > 8;"
    "INSERT INTO runtime SELECT kind, cluster, month, 0, sum(bags),"
    "    max(ended_s), sum(tasks), sum(sum_s), sum(squares), sum(log_sum),"
    "    sum(log_squares), sum(tasks * p10_s) / sum(tasks),"
    "    sum(tasks * p50_s) / sum(tasks), sum(tasks * p90_s) / sum(tasks)"
    "  FROM runtime WHERE rowid IN (SELECT id FROM old)"
    "  GROUP BY kind, cluster, month"
    "  ON CONFLICT (kind, cluster, month, run) DO UPDATE SET"
    "    p10_s = (tasks * p10_s + excluded.tasks * excluded.p10_s)"
    "      / (tasks + excluded.tasks),"
    "    p50_s = (tasks * p50_s + excluded.tasks * excluded.p50_s)"
    "      / (tasks + excluded.tasks),"
    "    p90_s = (tasks * p90_s + excluded.tasks * excluded.p90_s)"
    "      / (tasks + excluded.tasks),"
    "    bags = bags + excluded.bags,"
    "    ended_s = max(ended_s, excluded.ended_s),"
    "    tasks = tasks + excluded.tasks, sum_s = sum_s + excluded.sum_s,"
    "    squares = squares + excluded.squares,"
    "    log_sum = log_sum + excluded.log_sum,"
    "    log_squares = log_squares + excluded.log_squares;"
    "DELETE FROM runtime WHERE rowid IN (SELECT id FROM old);"
    "DROP TABLE old;"
    "DELETE FROM sweep WHERE (kind, cluster, run) NOT IN"
    "  (SELECT kind, cluster, run FROM runtime)";
_Static_assert(BATS_PAST_BAGS == 8, "merge_sql says so");

static int32_t month_of(int64_t ended_s)
{
    time_t at = (time_t)ended_s;
    struct tm tm;
    return gmtime_r(&at, &tm) != NULL
               ? (tm.tm_year + 1900) * 100 + tm.tm_mon + 1
               : 0;
}

/* Finds the ids of a kind and a place; adds new ones. */
static int find_ids(struct bats_store *s, const char *kind,
                    const struct bats_past_place *place, int64_t *kind_id,
                    int64_t *place_id, struct bats_error *err)
{
    const char *const texts[] = {place->name, place->site, place->hardware};
    /* RETURNING yields nothing without a change. */
    int rc = ask(s,
                 "INSERT INTO kind (name) VALUES (?) ON CONFLICT DO UPDATE"
                 " SET name = excluded.name RETURNING id",
                 &kind, 1, kind_id, err);
    return rc < 0 ? rc
                  : ask(s,
                        "INSERT INTO cluster (name, site, hardware) VALUES"
                        " (?, ?, ?) ON CONFLICT DO UPDATE SET"
                        " name = excluded.name RETURNING id",
                        texts, 3, place_id, err);
}

static int add_row(struct bats_store *s, int64_t run, int64_t kind,
                   int64_t place, int64_t bags, int64_t ended_s,
                   const struct bats_moments *m, struct bats_error *err)
{
    const double values[] = {m->sum, m->squares, m->log_sum, m->log_squares,
                             m->p10, m->p50,     m->p90};
    const int64_t keys[] = {kind, place,   month_of(ended_s), run,
                            bags, ended_s, m->tasks};
    sqlite3_stmt *q = NULL;
    int rc = prepare(s,
                     "INSERT INTO runtime VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?,"
                     " ?, ?, ?, ?, ?)",
                     &q, err);
    for (int i = 0; rc == 0 && i < 7; i++) {
        sqlite3_bind_int64(q, i + 1, keys[i]);
        sqlite3_bind_double(q, i + 8, values[i]);
    }
    if (rc == 0)
        rc = step(s, q, err);
    sqlite3_finalize(q);
    return rc;
}

static int add_sweep(struct bats_store *s, int64_t run, int64_t kind,
                     int64_t place, const struct bats_past_sweep *sweep,
                     struct bats_error *err)
{
    char sql[128], *text = bats_past_sweep_text(sweep);
    int64_t none;
    if (text == NULL)
        return bats_no_memory(err);
    snprintf(sql, sizeof sql,
             "INSERT INTO sweep VALUES (%" PRId64 ", %" PRId64 ", %" PRId64
             ", ?)",
             kind, place, run);
    int rc = ask(s, sql, (const char *const *)&text, 1, &none, err);
    free(text);
    return rc;
}

static int add_all(struct bats_store *s, int64_t run, int64_t ended_s,
                   const struct bats_task_kinds *kinds,
                   const struct bats_past_place *places,
                   struct bats_gather *gather, struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < gather->n; i++) {
        const struct bats_gather_cell *c = &gather->cells[i];
        struct bats_moments m = bats_gather_moments(gather, i);
        int64_t kind = 0, place = 0;
        rc = find_ids(s, kinds->kind[c->kind].name, &places[c->cluster], &kind,
                      &place, err);
        if (rc == 0)
            rc = add_row(s, run, kind, place, c->bags, ended_s, &m, err);
        if (rc == 0 && c->sweep != NULL)
            rc = add_sweep(s, run, kind, place, c->sweep, err);
    }
    return rc == 0 ? run_sql(s, merge_sql, err) : rc;
}

int bats_store_has(struct bats_store *s, const char *run,
                   struct bats_error *err)
{
    int64_t n;
    int rc =
        ask(s, "SELECT count(*) FROM run WHERE name = ?", &run, 1, &n, err);
    return rc < 0 ? rc : n > 0;
}

int bats_store_add(struct bats_store *s, const char *run, int64_t ended_s,
                   const struct bats_task_kinds *kinds,
                   const struct bats_past_place *places,
                   struct bats_gather *gather, struct bats_error *err)
{
    char sql[96];
    int rc = run_sql(s, "BEGIN IMMEDIATE", err);
    if (rc < 0)
        return rc;
    snprintf(sql, sizeof sql,
             "INSERT INTO run (name, ended_s) VALUES (?, %" PRId64 ")",
             ended_s);
    bool is_known = (rc = bats_store_has(s, run, err)) > 0;
    int64_t none;
    if (rc == 0)
        rc = ask(s, sql, &run, 1, &none, err);
    if (rc == 0)
        rc = add_all(s, sqlite3_last_insert_rowid(s->sqlite), ended_s, kinds,
                     places, gather, err);
    if (rc == 0 && !is_known)
        rc = run_sql(s, "COMMIT", err);
    if (rc != 0 || is_known)
        sqlite3_exec(s->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return rc < 0 ? rc : !is_known;
}

int bats_store_forget(struct bats_store *s, const char *kind,
                      struct bats_error *err)
{
    int64_t gone = 0;
    int rc = run_sql(s, "BEGIN IMMEDIATE", err);
    if (rc < 0)
        return rc;
    rc = ask(s,
             "DELETE FROM runtime WHERE ?1 IS NULL OR kind ="
             " (SELECT id FROM kind WHERE name = ?1)",
             &kind, 1, &gone, err);
    gone = sqlite3_changes64(s->sqlite);
    if (rc == 0 && kind == NULL)
        rc = run_sql(s, "DELETE FROM run", err);
    if (rc == 0)
        rc = run_sql(s,
                     "DELETE FROM sweep WHERE (kind, cluster, run) NOT IN"
                     " (SELECT kind, cluster, run FROM runtime);"
                     "DELETE FROM kind WHERE id NOT IN"
                     " (SELECT kind FROM runtime);"
                     "DELETE FROM cluster WHERE id NOT IN"
                     " (SELECT cluster FROM runtime); COMMIT",
                     err);
    if (rc < 0)
        sqlite3_exec(s->sqlite, "ROLLBACK", NULL, NULL, NULL);
    return rc < 0 ? rc : (int)gone;
}

/* ---- reading ---- */

static void copy(char *to, size_t size, sqlite3_stmt *q, int column)
{
    const char *text = (const char *)sqlite3_column_text(q, column);
    snprintf(to, size, "%s", text != NULL ? text : "");
}

struct reader {
    struct bats_past *past;
    size_t kinds, places, rows; /* room for these */
};

static bool take_kind(struct reader *r, sqlite3_stmt *q)
{
    struct bats_past *past = r->past;
    if (!bats_grow(&past->kinds, &r->kinds, past->n_kinds + 1,
                   sizeof *past->kinds))
        return false;
    copy(past->kinds[past->n_kinds++], BATS_KIND, q, 0);
    return true;
}

static bool take_place(struct reader *r, sqlite3_stmt *q)
{
    struct bats_past *past = r->past;
    if (!bats_grow(&past->places, &r->places, past->n_places + 1,
                   sizeof *past->places))
        return false;
    struct bats_past_place *p = &past->places[past->n_places++];
    *p = (struct bats_past_place){.name = ""};
    copy(p->name, sizeof p->name, q, 0);
    copy(p->site, sizeof p->site, q, 1);
    copy(p->hardware, sizeof p->hardware, q, 2);
    return true;
}

static bool take_row(struct reader *r, sqlite3_stmt *q)
{
    struct bats_past *past = r->past;
    if (!bats_grow(&past->rows, &r->rows, past->n_rows + 1,
                   sizeof *past->rows))
        return false;
    struct bats_past_row *row = &past->rows[past->n_rows++];
    const char *sums = (const char *)sqlite3_column_text(q, 15);
    *row = (struct bats_past_row){
        .kind = (uint32_t)sqlite3_column_int64(q, 0),
        .place = (uint32_t)sqlite3_column_int64(q, 1),
        .month = sqlite3_column_int(q, 2),
        .run = sqlite3_column_int64(q, 3),
        .bags = sqlite3_column_int64(q, 4),
        .ended_s = sqlite3_column_int64(q, 5),
        .moments = {.tasks = sqlite3_column_int64(q, 6),
                    .sum = sqlite3_column_double(q, 7),
                    .squares = sqlite3_column_double(q, 8),
                    .log_sum = sqlite3_column_double(q, 9),
                    .log_squares = sqlite3_column_double(q, 10),
                    .p10 = sqlite3_column_double(q, 11),
                    .p50 = sqlite3_column_double(q, 12),
                    .p90 = sqlite3_column_double(q, 13)},
        .sweep = sums != NULL ? bats_past_sweep_parse(sums) : NULL};
    copy(row->name, sizeof row->name, q, 14);
    return true;
}

/* Rows refer to kinds and places by order. Rows with invalid references, in an
 * edited file, are left out. */
static const struct {
    const char *sql;
    bool (*take)(struct reader *reader,
                 sqlite3_stmt *q); /* false: out of memory */
} parts[] = {
    {"SELECT name FROM kind ORDER BY id", take_kind},
    {"SELECT name, site, hardware FROM cluster ORDER BY id", take_place},
    {"SELECT k.at, c.at, month, r.run, bags, r.ended_s, tasks, sum_s, squares,"
     "    log_sum, log_squares, p10_s, p50_s, p90_s, n.name, w.sums"
     "  FROM runtime r JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1"
     "    AS at FROM kind) k ON k.id = r.kind"
     "  JOIN (SELECT id, row_number() OVER (ORDER BY id) - 1"
     "    AS at FROM cluster) c ON c.id = r.cluster"
     "  LEFT JOIN run n ON n.id = r.run"
     "  LEFT JOIN sweep w ON w.kind = r.kind AND w.cluster = r.cluster"
     "    AND w.run = r.run"
     "  WHERE tasks > 0 AND sum_s > 0 ORDER BY r.ended_s, r.run",
     take_row},
};

int bats_store_read(struct bats_store *s, struct bats_past *past,
                    struct bats_error *err)
{
    struct reader r = {.past = past};
    *past = (struct bats_past){0};
    int rc = run_sql(s, "BEGIN", err); /* a consistent snapshot */
    for (size_t i = 0; rc == 0 && i < sizeof parts / sizeof *parts; i++) {
        sqlite3_stmt *q = NULL;
        rc = prepare(s, parts[i].sql, &q, err);
        while (rc == 0 && (rc = step(s, q, err)) > 0)
            rc = parts[i].take(&r, q) ? 0 : bats_no_memory(err);
        sqlite3_finalize(q);
    }
    sqlite3_exec(s->sqlite, "ROLLBACK", NULL, NULL, NULL);
    if (rc < 0)
        bats_store_release(past);
    return rc;
}

void bats_store_release(struct bats_past *past)
{
    for (size_t i = 0; i < past->n_rows; i++)
        free(past->rows[i].sweep);
    free(past->kinds);
    free(past->places);
    free(past->rows);
    *past = (struct bats_past){0};
}
