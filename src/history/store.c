#include "history/store.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "sql/db.h"
#include "sql/texts.h"
#include "util/asset.h"
#include "util/hash.h"

#define VERSION 4
#define PATIENCE_MS 5000 /* wait for another process's transaction */

struct bats_store {
    struct bats_db db;
    char *path;
};

BATS_ASSET(tables_sql, "history/tables.sql");
BATS_ASSET(merge_sql, "history/merge.sql");
BATS_ASSET(forget_sql, "history/forget.sql");
BATS_ASSET(lines_sql, "history/lines.sql");
BATS_ASSET(check_sql, "history/check.sql");
BATS_ASSET(import_sql, "history/import.sql");
BATS_ASSET(rows_sql, "history/rows.sql");
BATS_ASSET(sizes_sql, "history/sizes.sql");
BATS_ASSET(sums_sql, "history/sums.sql");

/* ---- SQLite ---- */

static int fail(struct bats_db *db, int rc, struct bats_error *err)
{
    int code = rc & 0xff;
    if (code == SQLITE_NOTADB)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is not a history of bats-mpi", db->path);
    if (code == SQLITE_CORRUPT)
        return bats_error_set(err, BATS_EINPUT, "%s is damaged", db->path);
    return bats_error_set(err, BATS_ESYS, "%s: %s", db->path,
                          code == SQLITE_BUSY
                              ? "another process keeps it locked"
                          : code == SQLITE_FULL ? "the disk is full"
                                                : sqlite3_errstr(rc));
}

/* The integer that a statement yields for these values. */
#define ASK(s, sql, value, err, ...)                                          \
    bats_db_get(&(s)->db, sql, bats_db_whole, value, err,                     \
                BATS_VALUES(__VA_ARGS__))

static int run_sql(struct bats_store *s, const char *sql,
                   struct bats_error *err)
{
    return bats_db_run(&s->db, sql, err);
}

/* Ends a transaction: commits it, unless there was an error before. */
static int finish(struct bats_store *s, int rc, struct bats_error *err)
{
    if (rc == 0)
        rc = run_sql(s, "COMMIT", err);
    if (rc != 0)
        sqlite3_exec(s->db.sqlite, "ROLLBACK", NULL, NULL, NULL);
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
    int rc = bats_db_integer(&s->db, "SELECT count(*) FROM sqlite_master",
                             &objects, err);
    if (rc == 0)
        rc = bats_db_integer(&s->db, "PRAGMA user_version", &version, err);
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
    if (rc == 0) /* another process may have been faster */
        rc = bats_db_integer(&s->db, "PRAGMA user_version", &version, err);
    if (rc == 0 && version < VERSION)
        rc = run_sql(s, tables_sql.begin, err);
    if (rc == 0)
        rc = run_sql(s, "PRAGMA user_version = 4; COMMIT", err);
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
    s->db.path = s->path;
    s->db.fail = fail;
    if (create)
        make_directories(path);
    int rc = sqlite3_open_v2(
        path, &s->db.sqlite,
        SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0), NULL);
    if (rc != SQLITE_OK) {
        int why =
            s->db.sqlite != NULL ? sqlite3_system_errno(s->db.sqlite) : 0;
        rc = why != 0 ? bats_error_set(err, BATS_ESYS, "%s: %s", path,
                                       strerror(why))
                      : bats_db_fail(&s->db, rc, err);
    } else {
        sqlite3_busy_timeout(s->db.sqlite, PATIENCE_MS);
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
    bats_db_close(&store->db);
    free(store->path);
    free(store);
}

/* ---- adding ---- */

_Static_assert(BATS_PAST_BAGS == 8, "merge.sql says so");

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
    /* RETURNING yields nothing without a change. */
    int rc = ASK(s,
                 "INSERT INTO kind (name) VALUES (?) ON CONFLICT DO UPDATE"
                 " SET name = excluded.name RETURNING id",
                 kind_id, err, BATS_T(kind));
    return rc < 0 ? rc
                  : ASK(s,
                        "INSERT INTO cluster (name, site, hardware) VALUES"
                        " (?, ?, ?) ON CONFLICT DO UPDATE SET"
                        " name = excluded.name RETURNING id",
                        place_id, err, BATS_T(place->name),
                        BATS_T(place->site), BATS_T(place->hardware));
}

static int add_row(struct bats_store *s, int64_t run, int64_t kind,
                   int64_t place, int64_t ended_s,
                   const struct bats_moments *m, struct bats_error *err)
{
    return bats_db_each(
        &s->db,
        "INSERT INTO runtime VALUES (?, ?, ?, ?, 1, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?)",
        NULL, NULL, err,
        BATS_VALUES(BATS_I(kind), BATS_I(place), BATS_I(month_of(ended_s)),
                    BATS_I(run), BATS_I(ended_s), BATS_I(m->tasks),
                    BATS_R(m->sum), BATS_R(m->squares), BATS_R(m->log_sum),
                    BATS_R(m->log_squares), BATS_R(m->p10), BATS_R(m->p50),
                    BATS_R(m->p90)));
}

static int add_sweep(struct bats_store *s, int64_t run, int64_t kind,
                     int64_t place, const struct bats_past_sweep *sweep,
                     struct bats_error *err)
{
    char *text = bats_past_sweep_text(sweep);
    int rc =
        text == NULL
            ? bats_no_memory(err)
            : bats_db_each(&s->db, "INSERT INTO sweep VALUES (?, ?, ?, ?)",
                           NULL, NULL, err,
                           BATS_VALUES(BATS_I(kind), BATS_I(place),
                                       BATS_I(run), BATS_T(text)));
    free(text);
    return rc;
}

static int add_size(struct bats_store *s, const char *kind,
                    const struct bats_past_size *z, struct bats_error *err)
{
    int rc = bats_db_each(
        &s->db,
        "UPDATE kind SET limit_s = ?, most_s = max(most_s, ?) WHERE name = ?",
        NULL, NULL, err,
        BATS_VALUES(BATS_R(z->limit_s), BATS_R(z->most_s), BATS_T(kind)));
    if (rc < 0)
        return rc;
    return bats_db_each(
        &s->db,
        "INSERT INTO memory VALUES ((SELECT id FROM kind WHERE name = ?),"
        " ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
        " tasks = tasks + excluded.tasks, sum_s = sum_s + excluded.sum_s",
        NULL, NULL, err,
        BATS_VALUES(BATS_T(kind), BATS_I(z->asked_kib), BATS_I(z->used_kib),
                    BATS_I(z->cores), BATS_I(z->slots), BATS_I(z->node_kib),
                    BATS_I(z->tasks), BATS_R(z->seconds)));
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
            rc = add_row(s, run, kind, place, ended_s, &m, err);
        if (rc == 0 && c->sweep != NULL)
            rc = add_sweep(s, run, kind, place, c->sweep, err);
    }
    for (size_t i = 0; rc == 0 && i < gather->n_sizes; i++)
        rc = add_size(s, kinds->kind[gather->sizes[i].kind].name,
                      &gather->sizes[i], err);
    return rc == 0 ? run_sql(s, merge_sql.begin, err) : rc;
}

int bats_store_has(struct bats_store *s, const char *run,
                   struct bats_error *err)
{
    int64_t n = 0;
    int rc = ASK(s, "SELECT count(*) FROM run WHERE name = ?", &n, err,
                 BATS_T(run));
    return rc < 0 ? rc : n > 0;
}

int bats_store_add(struct bats_store *s, const char *run, int64_t ended_s,
                   const struct bats_task_kinds *kinds,
                   const struct bats_past_place *places,
                   struct bats_gather *gather, struct bats_error *err)
{
    int rc = run_sql(s, "BEGIN IMMEDIATE", err);
    if (rc == 0)
        rc = bats_store_has(s, run, err); /* 1: nothing is added */
    if (rc == 0)
        rc = bats_db_each(
            &s->db, "INSERT INTO run (name, ended_s) VALUES (?, ?)", NULL,
            NULL, err, BATS_VALUES(BATS_T(run), BATS_I(ended_s)));
    if (rc == 0)
        rc = add_all(s, sqlite3_last_insert_rowid(s->db.sqlite), ended_s,
                     kinds, places, gather, err);
    rc = finish(s, rc, err);
    return rc < 0 ? rc : rc == 0;
}

static int not_exported(const char *path, int64_t line, struct bats_error *err)
{
    return bats_error_set(
        err, BATS_EINPUT,
        "%s:%" PRId64 ": this is not a line of 'history export'", path, line);
}

/* Fills temp.line. Returns BATS_EINPUT for a line that is not JSON. */
static int put_lines(struct bats_store *s, const char *path, const char *text,
                     const char *end, struct bats_error *err)
{
    sqlite3_stmt *put = NULL;
    char run[BATS_PAST_RUN]; /* of a merged row */
    int64_t n = 1;
    int rc = run_sql(s, lines_sql.begin, err);
    if (rc == 0)
        rc = bats_db_prepare(&s->db, "INSERT INTO temp.line VALUES (?, ?, ?)",
                             &put, err);
    for (; rc == 0 && text < end; text += strlen(text) + 1, n++) {
        if (*text == '\0')
            continue;
        json_t *object = json_loads(text, 0, NULL);
        snprintf(run, sizeof run, "line %016" PRIx64,
                 bats_hash_text(BATS_HASH, text));
        rc = object == NULL ? not_exported(path, n, err)
                            : bats_db_put(&s->db, put, err,
                                          BATS_VALUES(BATS_I(n), BATS_T(run),
                                                      BATS_T(text)));
        json_decref(object);
    }
    sqlite3_finalize(put);
    return rc;
}

int bats_store_import(struct bats_store *s, const char *path, const char *text,
                      const char *end, struct bats_error *err)
{
    int64_t added = 0, bad = 0;
    int rc = run_sql(s, "BEGIN IMMEDIATE", err);
    if (rc == 0)
        rc = put_lines(s, path, text, end, err);
    if (rc == 0)
        rc = bats_db_integer(&s->db, check_sql.begin, &bad, err);
    if (rc == 0 && bad > 0)
        rc = not_exported(path, bad, err);
    if (rc == 0)
        rc = bats_db_integer(&s->db, import_sql.begin, &added, err);
    if (rc == 0)
        rc = run_sql(s, merge_sql.begin, err);
    rc = finish(s, rc, err);
    return rc < 0 ? rc : (int)added;
}

int bats_store_forget(struct bats_store *s, const char *kind,
                      struct bats_error *err)
{
    int64_t gone = 0;
    int rc = run_sql(s, "BEGIN IMMEDIATE", err);
    if (rc == 0)
        rc = bats_db_get(&s->db, forget_sql.begin, bats_db_whole, &gone, err,
                         BATS_VALUES(BATS_T(kind)));
    rc = finish(s, rc, err);
    return rc < 0 ? rc : (int)gone;
}

/* ---- reading ---- */

#define Z(member) BATS_COLUMN(struct bats_past_size, member)
#define P(member) BATS_COLUMN(struct bats_past_place, member)
#define R(member) BATS_COLUMN(struct bats_past_row, member)
static const struct bats_db_column
    kind_columns[] = {{BATS_DB_CHARS, 0, BATS_KIND}, {0}},
    place_columns[] = {P(name), P(site), P(hardware), {0}},
    size_columns[] = {Z(kind),    Z(asked_kib), Z(used_kib), Z(cores),
                      Z(slots),   Z(node_kib),  Z(tasks),    Z(seconds),
                      Z(limit_s), Z(most_s),    {0}};
static const struct bats_db_column row_columns[] = {R(kind),
                                                    R(place),
                                                    R(month),
                                                    R(run),
                                                    R(name),
                                                    R(bags),
                                                    R(ended_s),
                                                    R(moments.tasks),
                                                    R(moments.sum),
                                                    R(moments.squares),
                                                    R(moments.log_sum),
                                                    R(moments.log_squares),
                                                    R(moments.p10),
                                                    R(moments.p50),
                                                    R(moments.p90),
                                                    R(sums),
                                                    {0}};

int bats_store_read(struct bats_store *s, struct bats_past *past,
                    struct bats_error *err)
{
    *past = (struct bats_past){0};
    struct bats_texts texts = {0};
    int rc = run_sql(s, "BEGIN", err); /* a consistent snapshot */
    if (rc == 0)
        rc = bats_db_list(&s->db, "SELECT name FROM kind ORDER BY id",
                          kind_columns, BATS_KIND, &past->kinds,
                          &past->n_kinds, NULL, err, NULL, 0);
    if (rc == 0)
        rc = bats_db_list(&s->db,
                          "SELECT name, site, hardware FROM cluster"
                          " ORDER BY id",
                          place_columns, sizeof *past->places, &past->places,
                          &past->n_places, NULL, err, NULL, 0);
    if (rc == 0)
        rc = bats_db_list(&s->db, rows_sql.begin, row_columns,
                          sizeof *past->rows, &past->rows, &past->n_rows,
                          &texts, err, NULL, 0);
    if (rc == 0)
        rc = bats_db_list(&s->db, sizes_sql.begin, size_columns,
                          sizeof *past->sizes, &past->sizes, &past->n_sizes,
                          NULL, err, NULL, 0);
    for (size_t i = 0; i < past->n_rows; i++) {
        past->rows[i].sweep = bats_past_sweep_parse(past->rows[i].sums);
        past->rows[i].sums = NULL;
    }
    bats_texts_release(&texts);
    sqlite3_exec(s->db.sqlite, "ROLLBACK", NULL, NULL, NULL);
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
    free(past->sizes);
    *past = (struct bats_past){0};
}

int bats_store_sums(struct bats_store *s, struct bats_past_sum **list,
                    size_t *n, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_past_sum, member)
    static const struct bats_db_column columns[] = {
        C(kind),   C(cluster), C(bags),  C(tasks), C(ended_s),
        C(mean_s), C(p10_s),   C(p90_s), {0}};
#undef C
    return bats_db_list(&s->db, sums_sql.begin, columns, sizeof **list, list,
                        n, NULL, err, NULL, 0);
}
