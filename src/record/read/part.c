#include "record/read/part.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "record/read/copy.h"
#include "record/schema.h"
#include "record/write/record.h"
#include "util/now.h"

#define TRIES_MAX 12
#define PAUSE_NS 40000000
#define PAUSE_BYTES (16 << 20) /* copied in about as long as a pause takes */
#define QUIET_US 20000         /* a clock of files is no finer than this */

/* ---- attaching ---- */

static int run(struct bats_view *v, const char *sql, struct bats_error *err)
{
    return bats_db_run(&v->db, sql, err);
}

/* The name as a URI. `direct`: read only and without locks. */
static char *uri_of(const char *path, bool direct)
{
    char *uri = malloc(3 * strlen(path) + 64);
    if (uri == NULL)
        return NULL;
    char *at = uri + sprintf(uri, "file:");
    for (; *path != '\0'; path++)
        at += strchr("%?#", *path) == NULL
                  ? sprintf(at, "%c", *path)
                  : sprintf(at, "%%%02x", (unsigned)*path);
    sprintf(at, "?%s", direct ? "mode=ro&vfs=unix-none" : "mode=rw");
    return uri;
}

static int attach(struct bats_view *v, const char *path, bool direct,
                  struct bats_error *err)
{
    char *uri = uri_of(path, direct);
    sqlite3_stmt *s = NULL;
    int rc = uri == NULL ? bats_error_set(err, BATS_ENOMEM, "out of memory")
                         : bats_db_prepare(&v->db, "ATTACH ? AS rec", &s, err);
    if (rc == 0) {
        sqlite3_bind_text(s, 1, uri, -1, SQLITE_TRANSIENT);
        rc = bats_db_step(&v->db, s, err);
    }
    sqlite3_finalize(s);
    free(uri);
    return rc;
}

static void release_statements(struct bats_view *v)
{
    sqlite3_finalize(v->insert_task);
    v->insert_task = NULL;
    sqlite3_finalize(v->insert_point);
    v->insert_point = NULL;
    sqlite3_finalize(v->insert_stderr);
    v->insert_stderr = NULL;
    for (int i = 0; i < 3; i++) {
        sqlite3_finalize(v->insert[i]);
        v->insert[i] = NULL;
    }
}

static void detach(struct bats_view *v)
{
    release_statements(v);
    bats_db_run(&v->db, "DETACH rec", NULL);
}

static int check(struct bats_view *v, int64_t *version, struct bats_error *err)
{
    bool is_empty;
    int64_t sessions = 0;
    int rc = bats_db_check(&v->db, "rec", &is_empty, version, err);

    if (rc == 0 && !is_empty)
        rc = bats_db_integer(&v->db, "SELECT count(*) FROM rec.session",
                             &sessions, err);
    if (rc == 0 && sessions == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s: the record is empty: its run never began",
                            v->path);
    return rc;
}

/* Without a log, so that its file may be removed. */
static int fold_log(const char *copy, const char *name, struct bats_error *err)
{
    struct bats_db db;
    bool is_empty;
    int64_t version;
    int rc = bats_db_open(&db, copy, name, BATS_DB_WRITE, err);
    if (rc == 0)
        rc = bats_db_check(&db, "main", &is_empty, &version, err);
    if (rc == 0)
        rc = bats_db_run(
            &db, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF",
            err);
    bats_db_close(&db);
    return rc;
}

/* From its first use on SQLite does not need the file's name any more. */
static int attach_copy(struct bats_view *v, struct bats_error *err)
{
    const char *copy;
    int64_t version;
    int rc = bats_copy_take(v->path, &copy, err);
    if (rc < 0)
        return rc;
    v->is_live = bats_record_is_live(v->path);
    rc = fold_log(copy, v->path, err);
    if (rc == 0)
        rc = attach(v, copy, false, err);
    if (rc == 0) {
        v->is_attached = true;
        rc = check(v, &version, err);
    }
    bats_copy_remove();
    return rc;
}

/* ---- reading it as it is ---- */

/* SQLite would make a log if there is none where one is expected, and has to
 * write to undo what a journal says. */
static bool is_readable(const char *path, const struct bats_copy_mark *mark)
{
    unsigned char head[20] = {0};
    FILE *file = fopen(path, "re");
    bool is_whole = file != NULL && fread(head, sizeof head, 1, file) == 1;
    if (file != NULL)
        fclose(file);
    return is_whole && (mark->has_wal || head[19] == 1);
}

static bool has_journal(const char *path)
{
    char name[PATH_MAX + 16];
    snprintf(name, sizeof name, "%s-journal", path);
    return access(name, F_OK) == 0;
}

static bool is_quiet(const struct bats_copy_mark *mark)
{
    int64_t written_us =
        (int64_t)mark->time.tv_sec * 1000000 + mark->time.tv_nsec / 1000;
    int64_t age_us = bats_now_us(CLOCK_REALTIME) - written_us;
    return age_us > QUIET_US || age_us < 0;
}

/* A job that takes the heads needs nothing else. */
static int work(struct bats_view *v, bats_part_job *job, void *context,
                struct bats_error *err)
{
    int rc = v->has_base || job == bats_part_heads || job == bats_part_base
                 ? 0
                 : bats_part_base(v, NULL, err);
    return rc == 0 ? job(v, context, err) : rc;
}

static void end_work(struct bats_view *v, bats_part_job *job, bool is_kept)
{
    bats_db_run(&v->db, is_kept ? "COMMIT" : "ROLLBACK", NULL);
    v->has_base |= is_kept && job != bats_part_heads;
}

/* 1: done, or it failed for good; 0: the record is to be copied; -1: to be
 * tried again. *rc: the result of the job. */
static int try_directly(struct bats_view *v, const char *path,
                        bats_part_job *job, void *context, int *rc,
                        struct bats_error *err)
{
    struct bats_copy_mark before, after;
    int64_t version = 0;
    if (has_journal(path))
        return 0;
    bats_copy_mark(path, &before);
    if (!is_readable(path, &before))
        return 0;
    if (before.has_wal && !is_quiet(&before))
        return -1;
    if (attach(v, path, true, err) < 0)
        return 0;
    *rc = check(v, &version, err);
    if (*rc == 0 && version == BATS_SCHEMA_VERSION)
        *rc = run(v, "BEGIN", err);
    if (*rc == 0 && version == BATS_SCHEMA_VERSION) {
        *rc = work(v, job, context, err);
        release_statements(v);
        bats_copy_mark(path, &after);
        bool same = memcmp(&before, &after, sizeof before) == 0;
        end_work(v, job, *rc == 0 && same);
        detach(v);
        return same ? 1 : -1;
    }
    detach(v);
    /* A copy tells what is wrong with it. */
    return 0;
}

/* Waiting for a moment without changes is worth no more than the copy of the
 * file that it saves. */
static int tries_for(const char *path)
{
    struct stat st;
    int64_t pauses = stat(path, &st) == 0 ? st.st_size / PAUSE_BYTES : 0;
    return pauses < TRIES_MAX ? 1 + (int)pauses : TRIES_MAX;
}

int bats_part_take(struct bats_view *v, bats_part_job *job, void *context,
                   struct bats_error *err)
{
    char path[PATH_MAX];
    int rc = 0, done = realpath(v->path, path) != NULL ? -1 : 0;

    /* Their rows, which are not asked for any more, would keep rec attached. */
    sqlite3_reset(v->last_words);
    sqlite3_reset(v->tasks.more);
    int tries = v->is_attached || done == 0 ? 0 : tries_for(path);
    for (int i = 0; i < tries && done < 0; i++) {
        struct timespec pause = {.tv_nsec = i > 0 ? PAUSE_NS : 0};
        nanosleep(&pause, NULL);
        v->is_live = bats_record_is_live(path);
        done = try_directly(v, path, job, context, &rc, err);
    }
    if (done > 0)
        return rc;
    if (!v->is_attached)
        rc = attach_copy(v, err);
    else
        rc = 0;
    if (rc == 0)
        rc = run(v, "BEGIN", err);
    if (rc < 0)
        return rc;
    rc = work(v, job, context, err);
    release_statements(v);
    end_work(v, job, rc == 0);
    return rc;
}

int bats_part_need_base(struct bats_view *v, struct bats_error *err)
{
    return v->has_base ? 0 : bats_part_take(v, bats_part_base, NULL, err);
}

/* ---- rows ---- */

static int copy_tables(struct bats_view *v, const char *const *names, size_t n,
                       struct bats_error *err)
{
    char sql[160];
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < n; i++) {
        snprintf(sql, sizeof sql,
                 "DELETE FROM main.%1$s;"
                 "INSERT INTO main.%1$s SELECT * FROM rec.%1$s",
                 names[i]);
        rc = run(v, sql, err);
    }
    return rc;
}

int bats_part_heads(struct bats_view *v, void *context, struct bats_error *err)
{
    static const char *const names[] = {"session", "cluster"};
    struct bats_part_tally *t = context;
    int rc = copy_tables(v, names, sizeof names / sizeof *names, err);
    int found =
        rc == 0 && t != NULL ? bats_tally_read(&t->tally, &v->db, err) : 0;
    if (t != NULL)
        t->is_there = found > 0;
    return found < 0 ? found : rc;
}

int bats_part_base(struct bats_view *v, void *context, struct bats_error *err)
{
    static const char *const names[] = {"machine", "place",    "parameter",
                                        "ledger",  "decision", "notice"};
    (void)context;
    int rc = bats_part_heads(v, NULL, err);
    if (rc == 0)
        rc = copy_tables(v, names, sizeof names / sizeof *names, err);
    return rc == 0 ? bats_schema_view_tasks(&v->db, err) : rc;
}

/* `INSERT OR IGNORE` with n parameters. */
static int prepare_insert(struct bats_view *v, const char *table, int n,
                          sqlite3_stmt **s, struct bats_error *err)
{
    char sql[160];
    size_t used = (size_t)snprintf(
        sql, sizeof sql, "INSERT OR IGNORE INTO main.%s VALUES (?", table);
    for (int i = 1; i < n; i++)
        used += (size_t)snprintf(sql + used, sizeof sql - used, ",?");
    snprintf(sql + used, sizeof sql - used, ")");
    return *s != NULL ? 0 : bats_db_prepare(&v->db, sql, s, err);
}

static void bind_text(sqlite3_stmt *s, int column,
                      const struct bats_scan_text *text)
{
    char plain[BATS_SCAN_PLAIN];
    if (text->n >= sizeof plain || memchr(text->at, '\\', text->n) == NULL)
        sqlite3_bind_text(s, column, text->at, (int)text->n, SQLITE_TRANSIENT);
    else
        sqlite3_bind_text(s, column, plain, (int)bats_scan_plain(plain, text),
                          SQLITE_TRANSIENT);
}

int bats_part_row(struct bats_view *v, const struct bats_scan_row *row,
                  struct bats_error *err)
{
    static const char *const tables[] = {"event", "command", "attempt"};
    static const int columns[] = {10, 9, 20};
    int n = columns[row->kind];
    sqlite3_stmt **s = &v->insert[row->kind];
    int rc = prepare_insert(v, tables[row->kind], n, s, err);
    if (rc < 0)
        return rc;
    for (int i = 0; i < n - 1; i++) {
        int column = i == 0 ? 1 : i + 2;
        if (row->text[i].at != NULL)
            bind_text(*s, column, &row->text[i]);
        else if (row->number[i] != BATS_SCAN_NULL)
            sqlite3_bind_int64(*s, column, row->number[i]);
        else
            sqlite3_bind_null(*s, column);
    }
    sqlite3_bind_int64(*s, 2, row->session);
    return bats_db_step(&v->db, *s, err);
}

static int copy_of_task(struct bats_view *v, sqlite3_stmt **s, const char *sql,
                        int64_t task, struct bats_error *err)
{
    int rc = *s != NULL ? 0 : bats_db_prepare(&v->db, sql, s, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(*s, 1, task);
    return bats_db_step(&v->db, *s, err);
}

int bats_part_task(struct bats_view *v, int64_t task, struct bats_error *err)
{
    int rc = copy_of_task(v, &v->insert_task,
                          "INSERT OR IGNORE INTO main.task "
                          "SELECT * FROM rec.task WHERE id = ?",
                          task, err);
    if (rc == 0)
        rc = copy_of_task(v, &v->insert_point,
                          "INSERT OR IGNORE INTO main.point "
                          "SELECT * FROM rec.point WHERE task = ?",
                          task, err);
    return rc == 0 ? bats_part_end(v, task, err) : rc;
}

int bats_part_end(struct bats_view *v, int64_t task, struct bats_error *err)
{
    return copy_of_task(v, &v->insert_stderr,
                        "INSERT OR IGNORE INTO main.stderr SELECT * FROM "
                        "rec.stderr WHERE task = ?1 OR seq IN (SELECT same "
                        "FROM rec.stderr WHERE task = ?1)",
                        task, err);
}

int bats_part_ends(struct bats_view *v, struct bats_error *err)
{
    static const char *const names[] = {"stderr"};
    return copy_tables(v, names, 1, err);
}

/* ---- everything ---- */

static int add_row(void *context, const struct bats_scan_row *row,
                   struct bats_error *err)
{
    return bats_part_row(context, row, err);
}

int bats_part_everything(struct bats_view *v, void *context,
                         struct bats_error *err)
{
    static const char *const names[] = {"meta", "task", "stderr", "point"};
    int64_t last, has_graph;
    int rc = bats_part_base(v, context, err);
    if (rc == 0)
        rc = copy_tables(v, names, sizeof names / sizeof *names, err);
    if (rc == 0)
        rc = bats_db_integer(&v->db,
                             "SELECT count(*) FROM rec.sqlite_schema WHERE "
                             "type = 'table' AND name = 'graph'",
                             &has_graph, err);
    if (rc == 0 && has_graph > 0)
        rc = run(v,
                 "DROP TABLE IF EXISTS main.graph; "
                 "CREATE TABLE main.graph AS SELECT * FROM rec.graph",
                 err);
    return rc == 0 ? bats_scan(&v->db, 0, 0, &last, add_row, v, err) : rc;
}

void bats_part_release(struct bats_view *v)
{
    release_statements(v);
    if (v->is_attached)
        detach(v);
}
