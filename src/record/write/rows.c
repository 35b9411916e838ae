#include "record/write/rows.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "record/state.h"
#include "util/hash.h"

#define NONE BATS_DB_NULL

enum {
    BEGIN = BATS_ROWS_BEGIN,
    COMMIT = BATS_ROWS_COMMIT,
    RUN,
    CANCEL,
    FORGET,
    EXECUTION,
    RESULT,
    TRY,
    SKIP,
    LOSE,
    HAPPENED,
    MACHINE,
    QUARANTINE,
    CHARGE,
    ACCOUNT,
    HELD,
    LEASE,
    STAKED,
    STAKE,
    UNSTAKE,
    DECISION,
    LAST,
    NOW,
    CLUSTER,
    TASK,
    PLACE,
    GIVEN,
    STATEMENTS
};
static_assert(STATEMENTS <= BATS_ROWS_STATEMENTS, "one for each");

static const char *const statements[STATEMENTS] = {
    [BEGIN] = "BEGIN",
    [COMMIT] = "COMMIT",
    [RUN] = "INSERT INTO running VALUES (?, ?, ?, ?, ?, ?, ?)",
    [CANCEL] = "UPDATE running SET cancelled = ?2 WHERE seq = ?1",
    [FORGET] = "DELETE FROM running WHERE seq = ?",
    [EXECUTION] = "INSERT OR REPLACE INTO execution VALUES (?, ?, ?, ?, ?, ?,"
                  " ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                  " ?)",
    [RESULT] = "UPDATE task_now SET state = ?2, executions = executions + 1,"
               " attempts = attempts + 1, failures = 0, losses = 0,"
               " yields = 0, reason = NULL, session = ?3, machine = ?4,"
               " cluster = ?5, host = ?6, exit_status = ?7, signal = ?8,"
               " start_us = ?9, wall_us = ?10, cpu_us = ?11,"
               " max_rss_kib = ?12, cost = ?13 WHERE place = ?1",
    [TRY] = "UPDATE task_now SET executions = executions + 1,"
            " attempts = attempts + ?2, failures = failures + ?3,"
            " yields = iif(?5, 0, yields + ?4) WHERE place = ?1",
    [SKIP] =
        "UPDATE task_now SET reason = ?2, state = iif(state = 0, 3, state)"
        " WHERE place = ?1",
    [LOSE] = "UPDATE task_now SET losses = losses + 1 WHERE place = ?1",
    [HAPPENED] =
        "INSERT OR REPLACE INTO happened VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [MACHINE] = "UPDATE machine SET state = ?4, since_us = ?3"
                " WHERE session = ?1 AND id = ?2",
    [QUARANTINE] = "UPDATE machine SET quarantine = ?3"
                   " WHERE session = ?1 AND id = ?2",
    [CHARGE] = "INSERT INTO charge VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    [ACCOUNT] = "UPDATE account SET charged = charged + ?3"
                " WHERE session = ?1 AND id = ?2",
    [HELD] = "UPDATE account SET held = held + ?2 - coalesce("
             "(SELECT held FROM lease WHERE id = ?3), 0)"
             " WHERE session = ?1 AND id = 0",
    [LEASE] = "INSERT INTO lease VALUES (?, ?, ?, ?4, ?5, iif(?4 = 'job',"
              " coalesce(?6, (SELECT json_extract(options,"
              " '$.run.jobs_taken.\"' || ?3 || '\"') FROM session"
              " WHERE id = ?2)), NULL), ?, ?, ?, ?, ?, ?, ?, ?)"
              " ON CONFLICT (id) DO UPDATE SET (state, length_us, asked_us,"
              " begun_us, until_us, ended_us, charged, held, if_killed) ="
              " (excluded.state, excluded.length_us, excluded.asked_us,"
              " excluded.begun_us, excluded.until_us, excluded.ended_us,"
              " excluded.charged, excluded.held, excluded.if_killed)",
    [STAKED] = "UPDATE account SET held = held + ?3 - coalesce("
               "(SELECT held FROM stake WHERE lease = ?4 AND account = ?2), 0)"
               " WHERE session = ?1 AND id = ?2",
    [STAKE] = "INSERT OR REPLACE INTO stake VALUES (?, ?, ?)",
    [UNSTAKE] = "DELETE FROM stake WHERE lease = ? AND account = ?",
    [DECISION] = "INSERT INTO decision VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
                 " ?, ?, ?, ?, ?)",
    [LAST] = "INSERT OR IGNORE INTO stderr VALUES (?, ?, ?, ?, ?, ?, ?)",
    [NOW] = "INSERT OR REPLACE INTO now VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?, ?,"
            " ?, ?, ?)",
    [CLUSTER] = "INSERT OR REPLACE INTO cluster_now VALUES (?, ?, ?, ?, ?, ?,"
                " ?, ?, ?, ?, ?)",
    [TASK] = "INSERT INTO task VALUES (?, ?, ?2, ?, ?, ?)",
    [PLACE] = "INSERT INTO task_now (place, task, number, removed, state,"
              " executions, attempts, failures, losses, yields)"
              " VALUES (?, ?, ?, 0, 0, 0, 0, 0, 0, 0)",
    [GIVEN] = "INSERT INTO submission VALUES (?, ?)",
};

int bats_rows_prepare(struct bats_record *r, struct bats_error *err)
{
    int rc = 0;
    r->batch = 1;
    for (int i = 0; rc == 0 && i < STATEMENTS; i++)
        rc = bats_db_prepare(&r->db, statements[i], &r->statements[i], err);
    return rc;
}

void bats_rows_release(struct bats_record *r)
{
    bats_rows_drop(r);
    free(r->rows);
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(r->statements[i]);
}

/* ---- statements ---- */

#define I BATS_I
#define R BATS_R
#define T BATS_T
#define PUT(r, which, err, ...)                                               \
    bats_db_put(&(r)->db, (r)->statements[which], err,                        \
                BATS_VALUES(__VA_ARGS__))

static int64_t known(uint32_t id)
{
    return id == UINT32_MAX ? NONE : id;
}

/* Tasks that are not in the bag, such as BATS_NO_TASK, become NULL. */
static int64_t task_of(const struct bats_record *r, uint32_t task)
{
    return task < r->n_tasks ? r->id[task] : NONE;
}

static int64_t place_of(const struct bats_record *r, uint32_t task)
{
    return task < r->now.n_tasks ? r->now.tasks[task].place : NONE;
}

/* ---- executions ---- */

static int write_run(struct bats_record *r, const struct bats_row *row,
                     struct bats_error *err)
{
    const struct bats_row_run *run = &row->u.run;
    return PUT(r, RUN, err, I(row->seq), I(task_of(r, run->task)),
               I(run->copy), I(run->machine), I(run->slot), I(run->given),
               I(run->cancelled > 0 ? run->cancelled : NONE));
}

static int write_result(struct bats_record *r, const struct bats_row *row,
                        struct bats_error *err)
{
    const struct bats_record_attempt *a = &row->u.run.attempt;
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
    return PUT(r, RESULT, err, I(place_of(r, a->task)),
               I(has_failed ? BATS_NOW_FAILED : BATS_NOW_DONE), I(r->session),
               I(a->machine), T(is_known ? c->name : NULL),
               T(row->text != NULL ? row->text : m->host), I(u->exit_status),
               I(u->signal), I(u->start_us), I(u->wall_us),
               I(u->user_us + u->system_us), I(u->max_rss_kib),
               is_known ? R(cost) : I(NONE));
}

/* It goes back to the bag, or another one was first. As the engine counts:
 * struct bats_sched_rules. */
static int write_try(struct bats_record *r,
                     const struct bats_record_attempt *a,
                     struct bats_error *err)
{
    int outcome = (int)a->outcome;
    bool yielded = outcome == BATS_RECORD_YIELDED;
    bool came_back = yielded || outcome == BATS_RECORD_PREEMPTED;
    double ran = (double)a->usage.wall_us * r->now.scale;
    return PUT(r, TRY, err, I(place_of(r, a->task)),
               I(outcome != BATS_RECORD_PREEMPTED &&
                 outcome != BATS_RECORD_SUPERSEDED),
               I(outcome == BATS_RECORD_RETRIED), I(yielded),
               I(came_back && ran >= (double)BATS_YIELD_PROGRESS));
}

/* Without an attempt, nothing is known of how it ended. */
static int write_execution(struct bats_record *r, const struct bats_row *row,
                           struct bats_error *err)
{
    const struct bats_row_run *run = &row->u.run;
    const struct bats_record_attempt *a = &run->attempt;
    const struct bats_usage *u = &a->usage;
    bool is_known = run->has_attempt, is_in = is_known && a->stream >= 0;
#define KNOWN(x) I(is_known ? (x) : NONE)
#define STREAM(x) I(is_in ? (x) : NONE)
    return PUT(r, EXECUTION, err, I(row->seq), I(r->session),
               I(task_of(r, run->task)), KNOWN(a->attempt), I(run->copy),
               I(run->machine), I(run->slot), T(row->text),
               I(run->seq > 0 ? run->seq : NONE),
               I(run->seq > 0 ? run->given : NONE), I(row->now),
               I(run->runtime >= 0 ? run->runtime : NONE), KNOWN(u->start_us),
               KNOWN(u->wall_us), KNOWN(u->user_us), KNOWN(u->system_us),
               KNOWN(u->max_rss_kib), KNOWN(u->exit_status), KNOWN(u->signal),
               is_known ? I(a->outcome)
                        : I(run->has_lost ? BATS_RECORD_LOST : NONE),
               I(run->cancelled > 0 ? run->cancelled : NONE),
               KNOWN(u->written[0]), KNOWN(u->written[1]), STREAM(a->stream),
               STREAM(u->begin), STREAM(u->end));
}

static int write_end(struct bats_record *r, const struct bats_row *row,
                     struct bats_error *err)
{
    const struct bats_row_run *run = &row->u.run;
    int rc = run->is_written ? PUT(r, FORGET, err, I(run->seq)) : 0;
    if (rc == 0)
        rc = write_execution(r, row, err);
    if (rc < 0 || !run->has_attempt)
        return rc;
    return run->attempt.outcome == BATS_RECORD_RESULT
               ? write_result(r, row, err)
               : write_try(r, &run->attempt, err);
}

/* ---- what happened ---- */

static int write_happened(struct bats_record *r, const struct bats_row *row,
                          struct bats_error *err)
{
    uint32_t machine = row->u.happened.machine, task = row->u.happened.task;
    const char *state = row->u.happened.state;
    int rc = PUT(r, HAPPENED, err, I(row->seq), I(r->session), I(row->now),
                 T(row->u.happened.what), I(known(machine)),
                 I(task_of(r, task)), I(row->u.happened.value), T(row->text));
    if (rc == 0 && state != NULL)
        rc = PUT(r, MACHINE, err, I(r->session), I(machine), I(row->now),
                 T(state));
    if (rc == 0 && (row->u.happened.quarantines || row->u.happened.readmits))
        rc = PUT(r, QUARANTINE, err, I(r->session), I(machine),
                 I(row->u.happened.quarantines ? 1 : NONE));
    if (rc == 0 && row->u.happened.skips)
        rc = PUT(r, SKIP, err, I(place_of(r, task)),
                 T(row->text != NULL ? row->text : "parent"));
    if (rc == 0 && row->u.happened.loses)
        rc = PUT(r, LOSE, err, I(place_of(r, task)));
    return rc;
}

static int64_t time_of(bats_time t)
{
    return t == BATS_NEVER ? NONE : t;
}

static int write_lease(struct bats_record *r, const struct bats_row *row,
                       struct bats_error *err)
{
    const struct bats_lease *l = &row->u.lease;
    int64_t id = r->now.leases_before + l->id;
    int rc = PUT(r, HELD, err, I(r->session), I(l->held), I(id));
    return rc < 0
               ? rc
               : PUT(r, LEASE, err, I(id), I(r->session), I(known(l->machine)),
                     T(l->kind), T(bats_lease_state_name(l->state)),
                     T(row->text), I(l->length > 0 ? l->length : NONE),
                     I(time_of(l->asked)), I(time_of(l->begun)),
                     I(time_of(l->until)), I(time_of(l->ended)), I(l->charged),
                     I(l->held), I(l->if_killed));
}

static int write_stake(struct bats_record *r, const struct bats_row *row,
                       struct bats_error *err)
{
    const struct bats_stake *stake = &row->u.stake;
    int64_t lease = r->now.leases_before + stake->lease;
    int64_t account = (int64_t)stake->purse + 1;
    int rc = PUT(r, STAKED, err, I(r->session), I(account), I(stake->held),
                 I(lease));
    return rc < 0 ? rc
           : stake->held > 0
               ? PUT(r, STAKE, err, I(lease), I(account), I(stake->held))
               : PUT(r, UNSTAKE, err, I(lease), I(account));
}

static int write_charge(struct bats_record *r, const struct bats_row *row,
                        struct bats_error *err)
{
    int64_t account = row->u.charge.account, amount = row->u.charge.amount;
    uint32_t lease = row->u.charge.lease;
    int rc = PUT(r, CHARGE, err, I(row->seq), I(r->session), I(row->now),
                 I(lease > 0 ? r->now.leases_before + lease : NONE),
                 I(known(row->u.charge.machine)), I(account), I(amount),
                 I(row->u.charge.cushion));
    return rc == 0 ? PUT(r, ACCOUNT, err, I(r->session), I(account), I(amount))
                   : rc;
}

/* The machines that go on, by cluster. */
static const char *machines_of(const struct bats_decision *d,
                               size_t n_clusters,
                               char text[BATS_CLUSTERS_MAX * 12 + 4])
{
    char *at = text;
    *at++ = '[';
    for (size_t i = 0; i < n_clusters; i++)
        at += sprintf(at, "%s%lu", i > 0 ? "," : "",
                      (unsigned long)(d->machines[i] - d->ending[i]));
    strcpy(at, "]");
    return text;
}

static int write_decision(struct bats_record *r, const struct bats_row *row,
                          struct bats_error *err)
{
    const struct bats_decision *d = row->u.decision;
    char machines[BATS_CLUSTERS_MAX * 12 + 4];
    return PUT(r, DECISION, err, I(row->seq), I(r->session), I(row->now),
               T(bats_reason_name(d->reason)), I(d->feasible),
               I(d->tasks_left), I(d->tasks_paid >= 0 ? d->tasks_paid : NONE),
               I(d->budget_left != BATS_UNLIMITED ? d->budget_left : NONE),
               I(d->windows), T(machines_of(d, r->now.n_clusters, machines)),
               T(bats_trigger_name(d->trigger)), I(d->tasks_open),
               I(d->end > 0 ? d->end : NONE), I(d->end > 0 ? d->cost : NONE),
               I(d->replaces));
}

static int write_last(struct bats_record *r, const struct bats_row *row,
                      struct bats_error *err)
{
    int64_t same = row->u.last.same;
    return PUT(r, LAST, err, I(row->seq), I(r->session), I(row->now),
               I(task_of(r, row->u.last.task)), I(row->u.last.attempt),
               I(same != 0 ? same : NONE), T(row->text));
}

/* Its line is its number, as if the bag were a file. */
static int write_task(struct bats_record *r, const struct bats_row *row,
                      struct bats_error *err)
{
    uint32_t index = row->u.task.index;
    const char *given = row->u.task.given;
    int64_t hash =
        (int64_t)bats_hash(BATS_HASH, row->text, strlen(row->text));
    int64_t id = r->id[index], number = (int64_t)index + 1;
    int rc = PUT(r, TASK, err, I(id), I(number), I(hash), T(row->text),
                 I(r->session));
    if (rc == 0)
        rc = PUT(r, PLACE, err, I(place_of(r, index)), I(id), I(number));
    return rc == 0 && given != NULL ? PUT(r, GIVEN, err, I(id), T(given)) : rc;
}

int bats_rows_write(struct bats_record *r, const struct bats_row *row,
                    struct bats_error *err)
{
    switch (row->kind) {
    case BATS_ROW_RUN:
        return write_run(r, row, err);
    case BATS_ROW_CANCEL:
        return PUT(r, CANCEL, err, I(row->u.run.seq), I(row->u.run.cancelled));
    case BATS_ROW_END:
        return write_end(r, row, err);
    case BATS_ROW_HAPPENED:
        return write_happened(r, row, err);
    case BATS_ROW_CHARGE:
        return write_charge(r, row, err);
    case BATS_ROW_DECISION:
        return write_decision(r, row, err);
    case BATS_ROW_LAST:
        return write_last(r, row, err);
    case BATS_ROW_LEASE:
        return write_lease(r, row, err);
    case BATS_ROW_STAKE:
        return write_stake(r, row, err);
    case BATS_ROW_TASK:
        return write_task(r, row, err);
    default:
        return 0;
    }
}

/* ---- counts ---- */

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
