#include "record/read/recover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/db.h"
#include "record/graph.h"
#include "record/read/copy.h"
#include "record/schema.h"

#define COLUMNS_MAX 32
/* limit of probes for rows between holes; about a second */
#define PROBES_MAX 100000

struct recover {
    struct bats_db from;
    struct bats_db to;
    struct bats_recovery *recovery;
    /* for the present table: */
    sqlite3_stmt *up;   /* rowids above ?1, ascending */
    sqlite3_stmt *down; /* the same, descending */
    sqlite3_stmt *insert;
    int columns;
    int64_t rows;
    int64_t holes;
    int64_t probes; /* probes left */
};

/* ---- one table ---- */

/* SQLite reads any value it can parse, and refuses to insert one that a record
 * cannot hold. Only a full disk and similar failures count as errors. */
static int save_row(struct recover *r, sqlite3_stmt *row,
                    struct bats_error *err)
{
    for (int i = 1; i <= r->columns; i++) /* 0 is the rowid */
        sqlite3_bind_value(r->insert, i, sqlite3_column_value(row, i));
    int rc = sqlite3_step(r->insert);
    r->rows += rc == SQLITE_DONE && sqlite3_changes(r->to.sqlite) > 0;
    sqlite3_reset(r->insert);
    sqlite3_clear_bindings(r->insert);
    if (rc == SQLITE_DONE || (rc & 0xff) == SQLITE_CONSTRAINT ||
        (rc & 0xff) == SQLITE_MISMATCH)
        return 0;
    return bats_db_fail(&r->to, rc, err);
}

/* Saves the rows with rowids between `low` and `high`, upwards, while they can
 * be read; *last is the last of them, or `low`. 1 if there are no more, 0 if
 * the next one cannot be read. */
static int save_upwards(struct recover *r, int64_t low, int64_t high,
                        int64_t *last, struct bats_error *err)
{
    int rc = 0, step;

    *last = low;
    sqlite3_bind_int64(r->up, 1, low);
    sqlite3_bind_int64(r->up, 2, high);
    while ((step = sqlite3_step(r->up)) == SQLITE_ROW) {
        int64_t rowid = sqlite3_column_int64(r->up, 0);
        if (rowid <= *last || rowid >= high) /* pages form a circle */
            break;
        *last = rowid;
        rc = save_row(r, r->up, err);
        if (rc < 0)
            break;
    }
    sqlite3_reset(r->up);
    return rc < 0 ? rc : step == SQLITE_DONE;
}

/* The same, downwards; *first is the last of them, or `high`. */
static int save_downwards(struct recover *r, int64_t low, int64_t high,
                          int64_t *first, struct bats_error *err)
{
    int rc = 0, step;

    *first = high;
    sqlite3_bind_int64(r->down, 1, low);
    sqlite3_bind_int64(r->down, 2, high);
    while ((step = sqlite3_step(r->down)) == SQLITE_ROW) {
        int64_t rowid = sqlite3_column_int64(r->down, 0);
        if (rowid <= low || rowid >= *first)
            break;
        *first = rowid;
        rc = save_row(r, r->down, err);
        if (rc < 0)
            break;
    }
    sqlite3_reset(r->down);
    return rc < 0 ? rc : step == SQLITE_DONE;
}

/* Looks from `low` for a readable row with a rowid above `low` and below
 * `high`. */
static bool probe(struct recover *r, int64_t low, int64_t high, int64_t *rowid)
{
    sqlite3_bind_int64(r->up, 1, low);
    sqlite3_bind_int64(r->up, 2, high);
    bool found = sqlite3_step(r->up) == SQLITE_ROW;
    *rowid = found ? sqlite3_column_int64(r->up, 0) : 0;
    sqlite3_reset(r->up);
    r->probes--;
    return found && *rowid > low && *rowid < high;
}

/* Looks for any row between two that are next to a hole: in the middle, then
 * at the quarters, and so on. */
static bool find_between(struct recover *r, int64_t low, int64_t high,
                         int64_t *rowid)
{
    for (int64_t step = (high - low) / 2; step > 0; step /= 2)
        for (int64_t at = low + step; at < high && r->probes > 0; at += step)
            if (probe(r, at - 1, high, rowid))
                return true;
    return false;
}

/* Looks for a row above a hole of unknown size, in steps that double. */
static bool find_above(struct recover *r, int64_t low, int64_t *rowid)
{
    for (int64_t step = 1; step < INT64_MAX / 2 && low < INT64_MAX - step;
         step *= 2)
        if (probe(r, low + step, INT64_MAX, rowid))
            return true;
    return false;
}

/* Saves the rows between two that are next to a hole; there may be several. */
static int save_between(struct recover *r, int64_t low, int64_t high,
                        struct bats_error *err)
{
    int64_t rowid, first, last;

    if (!find_between(r, low, high, &rowid)) {
        r->holes++;
        return 0;
    }
    int up = save_upwards(r, rowid - 1, high, &last, err);
    int down = up < 0 ? up : save_downwards(r, low, rowid, &first, err);
    if (down == 0)
        down = save_between(r, low, first, err);
    if (down >= 0 && up == 0)
        down = save_between(r, last, high, err);
    return down < 0 ? down : 0;
}

static int save_rows(struct recover *r, struct bats_error *err)
{
    int64_t last, first, rowid, low = -1; /* rowids are positive */
    int rc;

    for (;; low = rowid) {
        rc = save_upwards(r, low, INT64_MAX, &last, err);
        if (rc != 0)
            return rc < 0 ? rc : 0;
        rc = save_downwards(r, last, INT64_MAX, &first, err);
        if (rc < 0)
            return rc;
        if (first < INT64_MAX)
            return save_between(r, last, first, err);
        if (!find_above(r, last, &rowid)) {
            r->holes++;
            return 0;
        }
        rc = save_downwards(r, last, rowid + 1, &first, err);
        if (rc >= 0)
            rc = save_between(r, last, first, err);
        if (rc < 0)
            return rc;
    }
}

static bool prepare(struct bats_db *db, const char *format, const char *table,
                    const char *more, sqlite3_stmt **statement)
{
    char sql[1024];

    *statement = NULL;
    snprintf(sql, sizeof sql, format, table, more);
    return bats_db_prepare(db, sql, statement, NULL) == 0;
}

static int save_table(struct recover *r, const char *table,
                      struct bats_error *err)
{
    char marks[3 * COLUMNS_MAX + 4] = "";
    char names[512] = "";
    sqlite3_stmt *columns;
    int rc = 0;

    r->rows = r->holes = r->columns = 0;
    r->probes = PROBES_MAX;
    if (!prepare(&r->to, "SELECT name FROM pragma_table_info('%s')%s", table,
                 "", &columns))
        return bats_db_fail(&r->to, SQLITE_ERROR, err);
    while (sqlite3_step(columns) == SQLITE_ROW && r->columns < COLUMNS_MAX) {
        const char *name = (const char *)sqlite3_column_text(columns, 0);
        size_t used = strlen(names);
        const char *comma = used > 0 ? ", " : "";
        if (name == NULL)
            continue;
        snprintf(names + used, sizeof names - used, "%s%s", comma, name);
        strcat(strcat(marks, comma), "?");
        r->columns++;
    }
    sqlite3_finalize(columns);
    if (r->columns == 0) {
        r->holes++; /* the table itself is gone */
        return 0;
    }

    char insert[sizeof names + 64];
    snprintf(insert, sizeof insert, "(%s) VALUES (%s)", names, marks);
    if (!prepare(&r->to, "INSERT OR IGNORE INTO %s %s", table, insert,
                 &r->insert))
        return bats_db_fail(&r->to, SQLITE_ERROR, err);
    char select[sizeof names + 64];
    snprintf(select, sizeof select, "SELECT rowid, %s FROM", names);
    if (prepare(&r->from,
                "%2$s %1$s WHERE rowid > ?1 AND rowid < ?2 ORDER BY rowid",
                table, select, &r->up) &&
        prepare(&r->from,
                "%2$s %1$s WHERE rowid > ?1 AND rowid < ?2 "
                "ORDER BY rowid DESC",
                table, select, &r->down))
        rc = save_rows(r, err);
    else
        r->holes++; /* the table itself is gone */
    sqlite3_finalize(r->up);
    sqlite3_finalize(r->down);
    sqlite3_finalize(r->insert);
    r->up = r->down = r->insert = NULL;
    return rc;
}

/* ---- the whole record ---- */

/* Removes damage within rows of the history that SQLite does not notice: with
 * it, the views would fail as a whole. */
static int drop_garbage(struct recover *r, struct bats_error *err)
{
    static const char *const columns[] = {"events", "commands", "attempts"};
    char sql[256];
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof columns / sizeof *columns; i++) {
        snprintf(sql, sizeof sql,
                 "UPDATE history SET %1$s = NULL WHERE CASE WHEN "
                 "json_valid(%1$s) THEN EXISTS (SELECT 1 FROM json_each(%1$s) "
                 "WHERE type != 'array') ELSE %1$s IS NOT NULL END",
                 columns[i]);
        rc = bats_db_run(&r->to, sql, err);
        r->holes += sqlite3_changes(r->to.sqlite);
    }
    return rc;
}

/* Saves one table, and counts it. */
static int save_and_count(struct recover *r, const char *table,
                          struct bats_error *err)
{
    struct bats_recovery *all = r->recovery;
    int rc = save_table(r, table, err);

    if (rc == 0 && strcmp(table, "history") == 0)
        rc = drop_garbage(r, err);
    all->rows += r->rows;
    all->holes += r->holes;
    if (strcmp(table, "task") == 0)
        all->tasks = r->rows;
    size_t used = strlen(all->lost);
    if (r->holes > 0)
        snprintf(all->lost + used, sizeof all->lost - used, "%s%s",
                 used > 0 ? ", " : "", table);
    return rc;
}

static int save_all(struct recover *r, struct bats_error *err)
{
    bool has_graph = false;
    int rc = bats_db_run(&r->to, "BEGIN; DELETE FROM meta", err);

    for (size_t i = 0; rc == 0 && i < bats_schema_n_tables; i++)
        rc = save_and_count(r, bats_schema_tables[i], err);
    if (rc == 0)
        rc = bats_record_graph_prepare(&r->from, &r->to, &has_graph, err);
    if (rc == 0 && has_graph)
        rc = save_and_count(r, "graph", err);
    if (rc == 0)
        rc = bats_schema_view_tasks(&r->to, err);
    if (rc == 0)
        rc = bats_db_run(&r->to, "COMMIT", err);
    if (rc == 0)
        rc = bats_db_integer(&r->to, "SELECT count(*) FROM attempt",
                             &r->recovery->attempts, err);
    return rc;
}

/* Checks that the file is a record of this version. If the answer cannot be
 * read, recovery is tried. */
static int check(struct recover *r, struct bats_error *err)
{
    int64_t application, version;

    if (bats_db_integer(&r->from, "PRAGMA application_id", &application,
                        err) == 0 &&
        application != BATS_SCHEMA_APPLICATION)
        return bats_error_set(err, BATS_EINPUT,
                              "%s is not a run record of bats-mpi",
                              r->from.path);
    return bats_db_integer(&r->from, "PRAGMA user_version", &version, err) == 0
               ? bats_db_check_version(&r->from, version, err)
               : 0;
}

static bool is_whole(struct bats_db *db)
{
    sqlite3_stmt *s;
    bool whole = false;

    if (bats_db_is_cut_off(db, "main") ||
        bats_db_prepare(db, "PRAGMA integrity_check(1)", &s, NULL) < 0)
        return false;
    if (sqlite3_step(s) == SQLITE_ROW) {
        const char *text = (const char *)sqlite3_column_text(s, 0);
        whole = text != NULL && strcmp(text, "ok") == 0;
    }
    sqlite3_finalize(s);
    return whole;
}

static int recover(struct recover *r, const char *copy, const char *to,
                   struct bats_error *err)
{
    int rc = bats_db_open(&r->from, copy, r->from.path, BATS_DB_DAMAGED, err);

    if (rc == 0)
        rc = check(r, err);
    if (rc == 0)
        rc = bats_db_open(&r->to, to, r->to.path, BATS_DB_CREATE, err);
    if (rc == 0)
        rc = bats_schema_make(&r->to, err);
    if (rc == 0)
        rc = save_all(r, err);
    if (rc == 0 && r->recovery->rows == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s: nothing in it can be read any more",
                            r->from.path);
    if (rc == 0)
        r->recovery->is_whole = r->recovery->holes == 0 && is_whole(&r->from);
    return rc;
}

int bats_record_recover(const char *path, const char *to,
                        struct bats_recovery *recovery, struct bats_error *err)
{
    struct recover r = {.recovery = recovery};
    const char *copy;
    int rc;

    memset(recovery, 0, sizeof *recovery);
    if (access(to, F_OK) == 0 || errno != ENOENT)
        return bats_error_set(err, BATS_EINPUT, "%s: %s", to,
                              access(to, F_OK) == 0 ? "the file exists"
                                                    : strerror(errno));
    rc = bats_copy_take(path, &copy, err);
    if (rc < 0)
        return rc;
    char *name = strdup(path), *to_name = strdup(to);
    if (name == NULL || to_name == NULL) {
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    } else {
        r.from.path = name;
        r.to.path = to_name;
        rc = recover(&r, copy, to, err);
    }
    bats_copy_remove();
    bats_db_close(&r.from);
    bats_db_close(&r.to);
    if (rc < 0)
        unlink(to);
    free(name);
    free(to_name);
    return rc;
}
