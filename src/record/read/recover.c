#include "record/read/recover.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "record/db.h"
#include "record/read/copy.h"
#include "record/schema.h"
#include "sql/texts.h"
#include "util/asset.h"
#include "util/text.h"

struct recover {
    struct bats_db from;
    struct bats_db to;
    struct bats_recovery *recovery;
    /* for the current table: */
    sqlite3_stmt *up;   /* rowids above ?1, ascending */
    sqlite3_stmt *down; /* the same, descending */
    sqlite3_stmt *insert;
    int columns;
    bool is_there; /* exists in the damaged record */
    int64_t rows;
    int64_t holes;
};

/* ---- one table ---- */

/* Saves a row. SQLite reads any value it can parse, but refuses to insert
 * invalid ones. Only a full disk and similar failures count as errors. */
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

/* Saves readable rows with rowids between `low` and `high`, upwards or
 * downwards; *end: the last one saved, or the start. 1: no more rows; 0: the
 * next one cannot be read. */
static int save_along(struct recover *r, bool upwards, int64_t low,
                      int64_t high, int64_t *end, struct bats_error *err)
{
    sqlite3_stmt *s = upwards ? r->up : r->down;
    int rc = 0, step;
    *end = upwards ? low : high;
    sqlite3_bind_int64(s, 1, low);
    sqlite3_bind_int64(s, 2, high);
    while (rc == 0 && (step = sqlite3_step(s)) == SQLITE_ROW) {
        int64_t rowid = sqlite3_column_int64(s, 0);
        /* pages may form a circle */
        if (rowid <= (upwards ? *end : low) ||
            rowid >= (upwards ? high : *end))
            break;
        *end = rowid;
        rc = save_row(r, s, err);
    }
    sqlite3_reset(s);
    return rc < 0 ? rc : step == SQLITE_DONE;
}

/* Saves what lies before the first hole and after the last one. */
static int save_rows(struct recover *r, struct bats_error *err)
{
    int64_t last, first;
    int rc = save_along(r, true, -1, INT64_MAX, &last, err);
    if (rc == 0) {
        r->holes++;
        rc = save_along(r, false, last, INT64_MAX, &first, err);
    }
    return rc < 0 ? rc : 0;
}

/* Prepares `sql` (from sqlite3_mprintf) and frees it. */
static bool prepare(struct bats_db *db, char *sql, sqlite3_stmt **statement)
{
    *statement = NULL;
    bool ok = sql != NULL && bats_db_prepare(db, sql, statement, NULL) == 0;
    sqlite3_free(sql);
    return ok;
}

#define FROM "SELECT rowid, %s FROM %s WHERE rowid > ?1 AND rowid < ?2"

static int take_table(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct recover *r = context;
    const char *table = (const char *)sqlite3_column_text(s, 0);
    const char *names = (const char *)sqlite3_column_text(s, 1);
    r->columns = sqlite3_column_int(s, 3);
    if (r->columns == 0)
        return 0;
    if (!prepare(&r->to,
                 sqlite3_mprintf("INSERT OR IGNORE INTO %s (%s) VALUES (%s)",
                                 table, names, sqlite3_column_text(s, 2)),
                 &r->insert))
        return bats_db_fail(&r->to, SQLITE_ERROR, err);
    r->is_there =
        prepare(&r->from,
                sqlite3_mprintf(FROM " ORDER BY rowid", names, table),
                &r->up) &&
        prepare(&r->from,
                sqlite3_mprintf(FROM " ORDER BY rowid DESC", names, table),
                &r->down);
    return 0;
}

static int save_table(struct recover *r, const char *table,
                      struct bats_error *err)
{
    r->rows = r->holes = r->columns = 0;
    r->is_there = false;
    int rc = bats_db_each(&r->to,
                          "SELECT ?1, group_concat(name, ', '),"
                          " group_concat('?', ', '), count(*)"
                          " FROM pragma_table_info(?1)",
                          take_table, r, err, BATS_VALUES(BATS_T(table)));
    if (rc == 0 && r->is_there)
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

BATS_ASSET(mend_sql, "record/read/mend.sql");

static int save_and_count(struct recover *r, const char *table,
                          struct bats_error *err)
{
    struct bats_recovery *all = r->recovery;
    int rc = save_table(r, table, err);
    all->rows += r->rows;
    all->holes += r->holes;
    if (strcmp(table, "task") == 0)
        all->tasks = r->rows;
    size_t used = strlen(all->lost);
    if (r->holes > 0)
        bats_append(all->lost, sizeof all->lost, "%s%s", used > 0 ? ", " : "",
                    table);
    return rc;
}

static int save_all(struct recover *r, struct bats_error *err)
{
    struct bats_texts texts = {0};
    const char **tables = NULL;
    size_t n = 0;
    int rc = bats_db_run(&r->to, "BEGIN; DELETE FROM meta", err);
    if (rc == 0)
        rc = bats_db_list(&r->to,
                          "SELECT name FROM sqlite_schema WHERE type = 'table'"
                          " ORDER BY rowid",
                          bats_db_text, sizeof *tables, &tables, &n, &texts,
                          err, NULL, 0);
    for (size_t i = 0; rc == 0 && i < n; i++)
        rc = save_and_count(r, tables[i], err);
    free(tables);
    bats_texts_release(&texts);
    if (rc == 0)
        rc = bats_schema_view_tasks(&r->to, err);
    if (rc == 0)
        rc = bats_db_run(&r->to, mend_sql.begin, err);
    if (rc == 0)
        rc = bats_schema_cluster_now(&r->to, err);
    if (rc == 0)
        rc = bats_db_run(
            &r->to, "UPDATE now SET seq = (" BATS_SCHEMA_LAST_SEQ ")", err);
    if (rc == 0)
        rc = bats_db_run(&r->to, "COMMIT", err);
    if (rc == 0)
        rc = bats_db_integer(&r->to, "SELECT count(*) FROM execution",
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
    static const struct bats_db_column column[] = {{BATS_DB_CHARS, 0, 8}, {0}};
    char word[8] = "";
    return bats_db_get(db, "PRAGMA integrity_check(1)", column, word, NULL,
                       NULL, 0) == 0 &&
           strcmp(word, "ok") == 0;
}

static int recover(struct recover *r, const char *copy, const char *to,
                   struct bats_error *err)
{
    int rc = bats_db_open(&r->from, copy, r->from.path, BATS_DB_DAMAGED, err);
    bool is_cut = rc == 0 && bats_db_is_cut_off(&r->from, "main");
    bats_copy_remove();
    if (rc == 0)
        rc = check(r, err);
    if (rc == 0)
        rc = bats_db_open(&r->to, to, r->to.path, BATS_DB_CREATE, err);
    if (rc == 0)
        rc = bats_schema_make(&r->to, err);
    if (rc == 0)
        rc = save_all(r, err);
    if (rc == 0 && r->recovery->rows == 0)
        rc = bats_error_set(err, BATS_EINPUT, "%s: nothing in it is readable",
                            r->from.path);
    if (rc == 0)
        r->recovery->is_whole =
            !is_cut && r->recovery->holes == 0 && is_whole(&r->from);
    return rc;
}

int bats_record_recover(const char *path, const char *to,
                        struct bats_recovery *recovery, struct bats_error *err)
{
    struct recover r = {
        .recovery = recovery, .from.path = path, .to.path = to};
    const char *copy;
    memset(recovery, 0, sizeof *recovery);
    if (access(to, F_OK) == 0 || errno != ENOENT)
        return bats_error_set(err, BATS_EINPUT, "%s: %s", to,
                              access(to, F_OK) == 0 ? "the file exists"
                                                    : strerror(errno));
    int rc = bats_copy_take(path, &copy, err);
    if (rc < 0)
        return rc;
    rc = recover(&r, copy, to, err);
    bats_db_close(&r.from);
    bats_db_close(&r.to);
    if (rc < 0)
        unlink(to);
    return rc;
}
