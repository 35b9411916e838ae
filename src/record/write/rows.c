/* rows: pending rows and their commit. See rows.h. */
#include "record/write/rows.h"

#include <stdlib.h>
#include <string.h>

#include "record/state.h"
#include "util/grow.h"

#define NONE BATS_DB_NULL
#define AWAITED_MOST 4096

static const char *const statements[BATS_PUTS] = {
    [BATS_PUT_BEGIN] = "BEGIN",
    [BATS_PUT_COMMIT] = "COMMIT",
    [BATS_PUT_RUN] = "INSERT INTO running VALUES (?, ?, ?, ?, ?, ?, ?)",
    [BATS_PUT_CANCEL] = "UPDATE running SET cancelled = ?2 WHERE seq = ?1",
    [BATS_PUT_FORGET] = "DELETE FROM running WHERE seq = ?",
    [BATS_PUT_EXECUTION] =
        "INSERT OR REPLACE INTO execution VALUES (?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?)",
    [BATS_PUT_RESULT] =
        "UPDATE task_now SET state = ?2, executions = executions + 1,"
        " attempts = attempts + 1, failures = 0, losses = 0,"
        " yields = 0, reason = NULL, session = ?3, machine = ?4,"
        " cluster = ?5, host = ?6, exit_status = ?7, signal = ?8,"
        " start_us = ?9, wall_us = ?10, cpu_us = ?11,"
        " max_rss_kib = ?12, cost = ?13 WHERE place = ?1",
    [BATS_PUT_TRY] = "UPDATE task_now SET executions = executions + 1,"
                     " attempts = attempts + ?2, failures = failures + ?3,"
                     " yields = iif(?5, 0, yields + ?4) WHERE place = ?1",
    [BATS_PUT_SKIP] =
        "UPDATE task_now SET reason = ?2, state = iif(state = 0, 3, state)"
        " WHERE place = ?1",
    [BATS_PUT_LOSE] =
        "UPDATE task_now SET losses = losses + 1 WHERE place = ?1",
    [BATS_PUT_HAPPENED] =
        "INSERT OR REPLACE INTO happened VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [BATS_PUT_MACHINE] = "UPDATE machine SET state = ?4, since_us = ?3"
                         " WHERE session = ?1 AND id = ?2",
    [BATS_PUT_QUARANTINE] = "UPDATE machine SET quarantine = ?3"
                            " WHERE session = ?1 AND id = ?2",
    [BATS_PUT_CHARGE] = "INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [BATS_PUT_ACCOUNT] = "UPDATE account SET charged = charged + ?3"
                         " WHERE session = ?1 AND id = ?2",
    [BATS_PUT_HELD] = "UPDATE account SET held = held + ?2 - coalesce("
                      "(SELECT held FROM lease WHERE id = ?3), 0)"
                      " WHERE session = ?1 AND id = 0",
    [BATS_PUT_LEASE] =
        "INSERT INTO lease VALUES (?, ?, ?, ?4, ?5, iif(?4 = 'job',"
        " coalesce(?6, (SELECT json_extract(options,"
        " '$.run.jobs_taken.\"' || ?3 || '\"') FROM session"
        " WHERE id = ?2)), NULL), ?, ?, ?, ?, ?, ?, ?, ?)"
        " ON CONFLICT (id) DO UPDATE SET (state, length_us, asked_us,"
        " begun_us, until_us, ended_us, charged, held, if_killed) ="
        " (excluded.state, excluded.length_us, excluded.asked_us,"
        " excluded.begun_us, excluded.until_us, excluded.ended_us,"
        " excluded.charged, excluded.held, excluded.if_killed)",
    [BATS_PUT_STAKED] =
        "UPDATE account SET held = held + ?3 - coalesce("
        "(SELECT held FROM stake WHERE lease = ?4 AND account = ?2), 0)"
        " WHERE session = ?1 AND id = ?2",
    [BATS_PUT_STAKE] = "INSERT OR REPLACE INTO stake VALUES (?, ?, ?)",
    [BATS_PUT_UNSTAKE] = "DELETE FROM stake WHERE lease = ? AND account = ?",
    [BATS_PUT_DECISION] =
        "INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?)",
    [BATS_PUT_LAST] =
        "INSERT OR IGNORE INTO stderr VALUES (?, ?, ?, ?, ?, ?, ?)",
    [BATS_PUT_NOW] =
        "INSERT OR REPLACE INTO now VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
        " ?, ?, ?)",
    [BATS_PUT_CLUSTER] =
        "INSERT OR REPLACE INTO cluster_now VALUES (?, ?, ?, ?, ?, ?,"
        " ?, ?, ?, ?, ?)",
    [BATS_PUT_TASK] = "INSERT INTO task VALUES (?, ?, ?2, ?, ?, ?)",
    [BATS_PUT_PLACE] =
        "INSERT INTO task_now (place, task, number, removed, state,"
        " executions, attempts, failures, losses, yields)"
        " VALUES (?, ?, ?, 0, 0, 0, 0, 0, 0, 0)",
    [BATS_PUT_GIVEN] = "INSERT INTO submission VALUES (?, ?)",
};

int bats_rows_prepare(struct bats_record *r, struct bats_error *err)
{
    int rc = 0;
    r->batch = 1;
    for (int i = 0; rc == 0 && i < BATS_PUTS; i++)
        rc = bats_db_prepare(&r->db, statements[i], &r->statements[i], err);
    return rc;
}

void bats_rows_release(struct bats_record *r)
{
    bats_rows_drop(r);
    free(r->rows);
    for (int i = 0; i < BATS_PUTS; i++)
        sqlite3_finalize(r->statements[i]);
}

/* ---- rows that wait ---- */

const char bats_row_text[] = "";

int bats_rows_add(struct bats_record *r, struct bats_row row,
                  struct bats_error *err)
{
    if (!bats_grow(&r->rows, &r->rows_capacity, r->n_rows + 1,
                   sizeof *r->rows)) {
        free(row.text);
        return bats_no_memory(err);
    }
    r->rows[r->n_rows++] = row;
    return 0;
}

int bats_rows_put(struct bats_record *r, enum bats_put which, const char *text,
                  struct bats_error *err, const struct bats_db_value *values,
                  int n)
{
    struct bats_row row = {.kind = BATS_ROW_PUT,
                           .text = text != NULL ? strdup(text) : NULL,
                           .u.put = {.which = which, .n = n}};
    if (text != NULL && row.text == NULL)
        return bats_no_memory(err);
    memcpy(row.u.put.values, values, (size_t)n * sizeof *values);
    for (int i = 0; i < n; i++)
        if (values[i].type == BATS_DB_TEXT &&
            values[i].is.text == bats_row_text)
            row.u.put.values[i].is.text = row.text;
    return bats_rows_add(r, row, err);
}

void bats_rows_drop(struct bats_record *r)
{
    for (size_t i = 0; i < r->n_rows; i++)
        free(r->rows[i].text);
    r->n_rows = 0;
    r->batch++;
    r->is_dirty = false;
}

size_t bats_record_waiting(const struct bats_record *r)
{
    return r->n_rows + r->is_dirty;
}

void bats_record_forget(struct bats_record *r)
{
    bats_rows_drop(r);
}

int bats_rows_await(struct bats_record *r, struct bats_error *err)
{
    struct bats_now *n = &r->now;
    for (size_t i = 0; i < r->n_rows; i++) {
        struct bats_row *row = &r->rows[i];
        if (row->kind != BATS_ROW_END || row->u.end.has_attempt)
            continue;
        if (n->n_awaited == AWAITED_MOST) {
            n->n_awaited /= 2;
            memmove(n->awaited, n->awaited + n->n_awaited,
                    n->n_awaited * sizeof *n->awaited);
        }
        if (!bats_grow(&n->awaited, &n->awaited_room, n->n_awaited + 1,
                       sizeof *n->awaited))
            return bats_no_memory(err);
        n->awaited[n->n_awaited] = row->u.end;
        n->awaited[n->n_awaited++].is_written = false;
    }
    return 0;
}

/* ---- the end of an execution ---- */

#define I BATS_I
#define R BATS_R
#define T BATS_T
#define PUT(r, which, err, ...)                                               \
    bats_db_put(&(r)->db, (r)->statements[BATS_PUT_##which], err,             \
                BATS_VALUES(__VA_ARGS__))

static int write_result(struct bats_record *r,
                        const struct bats_record_attempt *a, const char *host,
                        struct bats_error *err)
{
    const struct bats_usage *u = &a->usage;
    static const struct bats_now_machine unknown = {.n_slots = 1};
    static const struct bats_now_cluster none;
    bool is_known = a->machine < r->now.n_machines;
    const struct bats_now_machine *m =
        is_known ? &r->now.machines[a->machine] : &unknown;
    const struct bats_now_cluster *c =
        is_known ? &r->now.clusters[m->cluster] : &none;
    bool has_failed = u->exit_status != 0 || u->signal != 0;
    double cost = c->price * r->now.scale * (double)u->wall_us / m->n_slots;
    return PUT(r, RESULT, err, I(bats_record_place(r, a->task)),
               I(has_failed ? BATS_NOW_FAILED : BATS_NOW_DONE), I(r->session),
               I(a->machine), T(is_known ? c->name : NULL),
               T(host != NULL ? host : m->host), I(u->exit_status),
               I(u->signal), I(u->start_us), I(u->wall_us),
               I(u->user_us + u->system_us), I(u->max_rss_kib),
               is_known ? R(cost) : I(NONE));
}

/* Counts an execution that returns to the bag, or that another one preceded,
 * as the engine does: struct bats_sched_rules. */
static int write_try(struct bats_record *r,
                     const struct bats_record_attempt *a,
                     struct bats_error *err)
{
    int outcome = (int)a->outcome;
    bool yielded = outcome == BATS_RECORD_YIELDED;
    bool came_back = yielded || outcome == BATS_RECORD_PREEMPTED;
    double ran = (double)a->usage.wall_us * r->now.scale;
    return PUT(r, TRY, err, I(bats_record_place(r, a->task)),
               I(outcome != BATS_RECORD_PREEMPTED &&
                 outcome != BATS_RECORD_SUPERSEDED),
               I(outcome == BATS_RECORD_RETRIED), I(yielded),
               I(came_back && ran >= (double)BATS_YIELD_PROGRESS));
}

/* Without an attempt, the manner of its end is unknown. */
static int write_execution(struct bats_record *r, const struct bats_row_end *x,
                           const char *host, struct bats_error *err)
{
    const struct bats_record_attempt *a = &x->attempt;
    const struct bats_usage *u = &a->usage;
    bool is_known = x->has_attempt, is_in = is_known && a->stream >= 0;
#define KNOWN(value) I(is_known ? (value) : NONE)
#define STREAM(value) I(is_in ? (value) : NONE)
    return PUT(
        r, EXECUTION, err, I(x->seq), I(r->session),
        I(bats_record_id(r, x->task)), KNOWN(a->attempt), I(x->copy),
        I(x->machine), I(x->slot), T(host), I(x->run > 0 ? x->run : NONE),
        I(x->run > 0 ? x->given : NONE), I(x->ended),
        I(x->runtime >= 0 ? x->runtime : NONE), KNOWN(u->start_us),
        KNOWN(u->wall_us), KNOWN(u->user_us), KNOWN(u->system_us),
        KNOWN(u->max_rss_kib), KNOWN(u->exit_status), KNOWN(u->signal),
        is_known ? I(a->outcome) : I(x->has_lost ? BATS_RECORD_LOST : NONE),
        I(x->cancelled > 0 ? x->cancelled : NONE), KNOWN(u->written[0]),
        KNOWN(u->written[1]), STREAM(a->stream), STREAM(u->begin),
        STREAM(u->end));
}

static int write_end(struct bats_record *r, const struct bats_row_end *x,
                     const char *host, struct bats_error *err)
{
    int rc = x->is_written ? PUT(r, FORGET, err, I(x->run)) : 0;
    if (rc == 0)
        rc = write_execution(r, x, host, err);
    if (rc < 0 || !x->has_attempt)
        return rc;
    return x->attempt.outcome == BATS_RECORD_RESULT
               ? write_result(r, &x->attempt, host, err)
               : write_try(r, &x->attempt, err);
}

/* ---- the commit ---- */

static int write_cluster(struct bats_record *r, size_t i,
                         struct bats_error *err)
{
    const struct bats_now_cluster *c = &r->now.clusters[i];
    return PUT(r, CLUSTER, err, I(r->session), I((int64_t)i), I(c->machines),
               I(c->held), I(c->lost), I(c->windows), I(c->charged),
               I(c->done), I(c->failed), I(c->wall_us),
               I((int64_t)c->runtime));
}

int bats_rows_write_now(struct bats_record *r, struct bats_error *err)
{
    const struct bats_now *n = &r->now;
    int rc = PUT(r, NOW, err, I(r->session), I(r->seq), I(n->time),
                 I(n->count[BATS_NOW_PENDING]), I(n->count[BATS_NOW_RUNNING]),
                 I(n->count[BATS_NOW_DONE]), I(n->count[BATS_NOW_FAILED]),
                 I(n->count[BATS_NOW_SKIPPED]), I(n->removed), I(n->preempted),
                 I(n->ending), I(n->sampled && !n->chosen));
    for (size_t i = 0; rc == 0 && i < n->n_clusters; i++)
        if (n->clusters[i].is_dirty)
            rc = write_cluster(r, i, err);
    return rc;
}

static int write_all(struct bats_record *r, struct bats_error *err)
{
    int rc = bats_db_step(&r->db, r->statements[BATS_PUT_BEGIN], err);
    for (size_t i = 0; rc == 0 && i < r->n_rows; i++) {
        const struct bats_row *row = &r->rows[i];
        if (row->kind == BATS_ROW_PUT)
            rc = bats_db_put(&r->db, r->statements[row->u.put.which], err,
                             row->u.put.values, row->u.put.n);
        else if (row->kind == BATS_ROW_END)
            rc = write_end(r, &row->u.end, row->text, err);
    }
    if (rc == 0)
        rc = bats_rows_write_now(r, err);
    if (rc == 0)
        rc = bats_db_step(&r->db, r->statements[BATS_PUT_COMMIT], err);
    if (rc < 0 && !sqlite3_get_autocommit(r->db.sqlite))
        bats_db_run(&r->db, "ROLLBACK", NULL);
    return rc;
}

int bats_record_commit(struct bats_record *r, struct bats_error *err)
{
    if (bats_record_waiting(r) == 0)
        return 0;
    bats_record_measure(r);
    int rc = write_all(r, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < r->now.n_clusters; i++)
        r->now.clusters[i].is_dirty = false;
    rc = bats_rows_await(r, err);
    bats_rows_drop(r);
    return rc;
}

/* Every checkpoint begins with this, so that rows become durable in order. */
int bats_record_sync(struct bats_record *r, struct bats_error *err)
{
    sqlite3_file *log = NULL;
    int rc = sqlite3_file_control(r->db.sqlite, "main",
                                  SQLITE_FCNTL_JOURNAL_POINTER, &log);

    if (rc == SQLITE_OK && log->pMethods != NULL)
        rc = log->pMethods->xSync(log, SQLITE_SYNC_NORMAL);
    return rc == SQLITE_OK ? 0 : bats_db_fail(&r->db, rc, err);
}
