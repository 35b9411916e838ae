#include "record/read/part.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "record/read/copy.h"
#include "record/write/record.h"
#include "util/now.h"

#define TRIES_MAX 12
#define PAUSE_NS 40000000
#define PAUSE_BYTES (16 << 20) /* copied in about the time of a pause */
#define QUIET_US 20000         /* resolution of file times */

/* ---- attaching ---- */

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
    int rc = uri == NULL ? bats_no_memory(err)
                         : bats_db_each(&v->db, "ATTACH ? AS rec", NULL, NULL,
                                        err, BATS_VALUES(BATS_T(uri)));
    free(uri);
    return rc;
}

static void detach(struct bats_view *v)
{
    bats_db_run(&v->db, "DETACH rec", NULL);
}

static int check(struct bats_view *v, struct bats_error *err)
{
    bool is_empty;
    int64_t sessions = 0;
    int rc = bats_db_check(&v->db, "rec", &is_empty, err);
    if (rc == 0 && !is_empty)
        rc = bats_db_integer(&v->db, "SELECT count(*) FROM rec.session",
                             &sessions, err);
    if (rc == 0 && sessions == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s: the record is empty: its run never began",
                            v->path);
    return rc;
}

/* Merges the log into the copy, so that its file may be removed. */
static int fold_log(const char *copy, const char *name, struct bats_error *err)
{
    struct bats_db db;
    bool is_empty;
    int rc = bats_db_open(&db, copy, name, BATS_DB_WRITE, err);
    if (rc == 0)
        rc = bats_db_check(&db, "main", &is_empty, err);
    if (rc == 0)
        rc = bats_db_run(
            &db, "PRAGMA journal_mode = DELETE; PRAGMA synchronous = OFF",
            err);
    bats_db_close(&db);
    return rc;
}

/* After the first use SQLite no longer needs the file's name. */
static int attach_copy(struct bats_view *v, struct bats_error *err)
{
    const char *copy;
    int rc = bats_copy_take(v->path, &copy, err);
    if (rc < 0)
        return rc;
    v->is_live = bats_record_is_live(v->path);
    rc = fold_log(copy, v->path, err);
    if (rc == 0)
        rc = attach(v, copy, false, err);
    if (rc == 0) {
        v->is_attached = true;
        rc = check(v, err);
    }
    bats_copy_remove();
    return rc;
}

/* ---- reading it as it is ---- */

/* Whether SQLite can read in place: it would create an expected log that is
 * missing, and must write to undo a journal. */
static bool is_readable(const char *path, const struct bats_copy_mark *mark)
{
    unsigned char head[20] = {0};
    FILE *file = fopen(path, "re");
    bool is_whole = file != NULL && fread(head, sizeof head, 1, file) == 1;
    if (file != NULL)
        fclose(file);
    return is_whole && (mark->has_wal || head[19] == 1);
}

static bool is_quiet(const struct bats_copy_mark *mark)
{
    int64_t written_us =
        (int64_t)mark->time.tv_sec * 1000000 + mark->time.tv_nsec / 1000;
    int64_t age_us = bats_now_us(CLOCK_REALTIME) - written_us;
    return age_us > QUIET_US || age_us < 0;
}

static int work(struct bats_view *v, bats_part_job *job, void *context,
                struct bats_error *err)
{
    int rc = bats_db_run(&v->db, "BEGIN; PRAGMA rec.cache_size = -8192", err);
    return rc == 0 ? job(v, context, err) : rc;
}

static void end_work(struct bats_view *v, bool is_kept)
{
    bats_db_run(&v->db, is_kept ? "COMMIT" : "ROLLBACK", NULL);
}

/* 1: done, or failed for good; 0: copy the record; -1: try again. *rc: the
 * job's result. */
static int try_directly(struct bats_view *v, const char *path,
                        bats_part_job *job, void *context, int *rc,
                        struct bats_error *err)
{
    struct bats_copy_mark before, after;
    bool is_same = false;
    bats_copy_mark(path, &before);
    if (before.has_journal || !is_readable(path, &before))
        return 0;
    if (before.has_wal && !is_quiet(&before))
        return -1;
    if (attach(v, path, true, err) < 0)
        return 0;
    bool is_record = check(v, err) == 0;
    if (is_record) {
        *rc = work(v, job, context, err);
        bats_copy_mark(path, &after);
        is_same = memcmp(&before, &after, sizeof before) == 0;
        end_work(v, *rc == 0 && is_same);
    }
    detach(v);
    /* For a file that is no record, a copy shows what is wrong. */
    return !is_record ? 0 : is_same ? 1 : -1;
}

/* Waiting for a quiet moment may take no longer than copying the file. */
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
    sqlite3_reset(v->end); /* unfinished, it would keep rec attached */
    int tries = v->is_attached || done == 0 ? 0 : tries_for(path);
    for (int i = 0; i < tries && done < 0; i++) {
        struct timespec pause = {.tv_nsec = i > 0 ? PAUSE_NS : 0};
        nanosleep(&pause, NULL);
        v->is_live = bats_record_is_live(path);
        done = try_directly(v, path, job, context, &rc, err);
    }
    if (done > 0)
        return rc;
    rc = v->is_attached ? 0 : attach_copy(v, err);
    if (rc < 0)
        return rc;
    rc = work(v, job, context, err);
    end_work(v, rc == 0);
    return rc;
}

struct question {
    const char *sql;
    const struct bats_db_column *columns;
    void *to; /* a struct; or of a list: */
    size_t size, *n;
    struct bats_texts *texts;
    const struct bats_db_value *values;
    int n_values;
};

static int answer(struct bats_view *v, void *context, struct bats_error *err)
{
    const struct question *q = context;
    if (q->n == NULL)
        return bats_db_get(&v->db, q->sql, q->columns, q->to, err, q->values,
                           q->n_values);
    free(*(void **)q->to); /* of an earlier try */
    if (q->texts != NULL)
        bats_texts_release(q->texts);
    return bats_db_list(&v->db, q->sql, q->columns, q->size, q->to, q->n,
                        q->texts, err, q->values, q->n_values);
}

int bats_part_get(struct bats_view *v, const char *sql,
                  const struct bats_db_column *columns, void *to,
                  struct bats_error *err, const struct bats_db_value *values,
                  int n)
{
    struct question q = {sql, columns, to, 0, NULL, NULL, values, n};
    return bats_part_take(v, answer, &q, err);
}

int bats_part_list(struct bats_view *v, const char *sql,
                   const struct bats_db_column *columns, size_t size,
                   void *list, size_t *n, struct bats_texts *texts,
                   struct bats_error *err, const struct bats_db_value *values,
                   int n_values)
{
    struct question q = {sql, columns, list, size, n, texts, values, n_values};
    *(void **)list = NULL;
    *n = 0;
    return bats_part_take(v, answer, &q, err);
}

void bats_part_release(struct bats_view *v)
{
    if (v->is_attached)
        detach(v);
}
