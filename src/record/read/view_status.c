/* view_status: the record as a whole: its last session, the counts of its
 * tasks, its clusters, its last decision. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/view_state.h"

/* Runs `sql`, which yields one row, and leaves it in *statement. */
static int one_row(struct bats_view *v, const char *sql,
                   sqlite3_stmt **statement, struct bats_error *err)
{
    int rc = bats_db_prepare(&v->db, sql, statement, err);
    if (rc == 0)
        rc = bats_db_step(&v->db, *statement, err);
    if (rc == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: a row is missing", v->path);
    return rc < 0 ? rc : 0;
}

static void copy_text(char *to, size_t size, sqlite3_stmt *s, int column)
{
    snprintf(to, size, "%s", bats_view_text(s, column));
}

static int read_session(struct bats_view *v, struct bats_view_status *st,
                        struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = one_row(
        v,
        "SELECT id, bag, policy, currency, budget, window_us, time_scale, "
        "seed, started_us, ended_us, finish, signal, exit_code "
        "FROM session ORDER BY id DESC LIMIT 1",
        &s, err);

    if (rc == 0) {
        st->sessions = sqlite3_column_int64(s, 0);
        copy_text(st->bag, sizeof st->bag, s, 1);
        copy_text(st->policy, sizeof st->policy, s, 2);
        copy_text(st->currency, sizeof st->currency, s, 3);
        st->budget = sqlite3_column_type(s, 4) == SQLITE_NULL
                         ? BATS_UNLIMITED
                         : sqlite3_column_int64(s, 4);
        st->window = sqlite3_column_int64(s, 5);
        st->time_scale = sqlite3_column_double(s, 6);
        st->seed = (uint64_t)sqlite3_column_int64(s, 7);
        st->started_us = sqlite3_column_int64(s, 8);
        st->is_over = sqlite3_column_type(s, 9) != SQLITE_NULL;
        st->last = sqlite3_column_int64(s, 9);
        copy_text(st->finish, sizeof st->finish, s, 10);
        st->signal = sqlite3_column_int(s, 11);
        st->exit_code = sqlite3_column_int(s, 12);
    }
    sqlite3_finalize(s);
    return rc;
}

int bats_view_options(struct bats_view *v, char **json, struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = one_row(v, "SELECT options FROM session ORDER BY id DESC LIMIT 1",
                     &s, err);

    *json = rc == 0 ? strdup(bats_view_text(s, 0)) : NULL;
    sqlite3_finalize(s);
    if (rc == 0 && *json == NULL)
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    return rc;
}

static int read_counts(struct bats_view *v, struct bats_view_status *st,
                       struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc =
        one_row(v,
                "SELECT sum(n) FILTER (WHERE state != 'removed'),"
                " sum(n) FILTER (WHERE state = 'done'),"
                " sum(n) FILTER (WHERE state = 'failed'),"
                " sum(n) FILTER (WHERE state = 'running'),"
                " sum(n) FILTER (WHERE state = 'pending'),"
                " sum(n) FILTER (WHERE state = 'skipped'),"
                " sum(n) FILTER (WHERE state = 'removed'),"
                " (SELECT count(*) FROM attempt WHERE outcome = 1),"
                " (SELECT sum(amount) FROM ledger),"
                " EXISTS (SELECT 1 FROM event WHERE session = s.id AND"
                "  type IN ('drain', 'stop')),"
                " EXISTS (SELECT 1 FROM command WHERE session = s.id AND"
                "  type = 'sampled') AND NOT EXISTS (SELECT 1 FROM event"
                "  WHERE session = s.id AND type = 'chosen')"
                " FROM (SELECT state, count(*) AS n FROM tasks"
                "  GROUP BY state), (SELECT max(id) AS id FROM session) s",
                &s, err);

    if (rc == 0) {
        st->tasks = sqlite3_column_int64(s, 0);
        st->done = sqlite3_column_int64(s, 1);
        st->failed = sqlite3_column_int64(s, 2);
        st->running = sqlite3_column_int64(s, 3);
        st->pending = sqlite3_column_int64(s, 4);
        st->skipped = sqlite3_column_int64(s, 5);
        st->removed = sqlite3_column_int64(s, 6);
        st->preempted = sqlite3_column_int64(s, 7);
        st->charged = sqlite3_column_int64(s, 8);
        st->ending = sqlite3_column_int(s, 9) != 0;
        st->choosing = sqlite3_column_int(s, 10) != 0;
    }
    sqlite3_finalize(s);
    if (rc == 0 && !st->is_over)
        rc = bats_view_last(v, &st->last, err);
    return rc;
}

static struct bats_view_cluster *find_cluster(struct bats_view_status *st,
                                              const char *name)
{
    for (size_t i = 0; i < st->n_clusters; i++)
        if (strcmp(st->clusters[i].name, name) == 0)
            return &st->clusters[i];
    return NULL;
}

static void take_cluster(struct bats_view_status *st, sqlite3_stmt *s)
{
    if (st->n_clusters == BATS_CLUSTERS_MAX)
        return;
    struct bats_view_cluster *c = &st->clusters[st->n_clusters++];
    copy_text(c->name, sizeof c->name, s, 0);
    c->charge = sqlite3_column_int64(s, 1);
}

static void take_money(struct bats_view_status *st, sqlite3_stmt *s)
{
    struct bats_view_cluster *c = find_cluster(st, bats_view_text(s, 0));
    if (c == NULL)
        return;
    c->windows = sqlite3_column_int64(s, 1);
    c->charged = sqlite3_column_int64(s, 2);
}

static void take_results(struct bats_view_status *st, sqlite3_stmt *s)
{
    struct bats_view_cluster *c = find_cluster(st, bats_view_text(s, 0));
    if (c == NULL)
        return;
    c->done = sqlite3_column_int64(s, 1);
    c->failed = sqlite3_column_int64(s, 2);
    c->mean_wall_us = sqlite3_column_int64(s, 3);
    c->mean_runtime = sqlite3_column_int64(s, 4);
}

/* Passes each row of `sql` to `take`. */
static int each(struct bats_view *v, struct bats_view_status *st,
                const char *sql,
                void (*take)(struct bats_view_status *st, sqlite3_stmt *s),
                struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(&v->db, sql, &s, err);

    if (rc < 0)
        return rc;
    while ((rc = bats_db_step(&v->db, s, err)) > 0)
        take(st, s);
    sqlite3_finalize(s);
    return rc;
}

#define JOIN_CLUSTER(table)                                                   \
    " JOIN machine m ON m.session = " table ".session AND m.id = " table      \
    ".machine JOIN cluster c ON c.session = m.session AND c.id = m.cluster "  \
    "GROUP BY c.name"

static int read_clusters(struct bats_view *v, struct bats_view_status *st,
                         struct bats_error *err)
{
    struct bats_view_machine m;
    int rc = each(v, st,
                  "SELECT name, charge FROM cluster WHERE session = "
                  "(SELECT max(id) FROM session) ORDER BY id",
                  take_cluster, err);

    if (rc == 0)
        rc = each(
            v, st,
            "SELECT c.name, count(*), sum(amount) FROM ledger l" JOIN_CLUSTER(
                "l"),
            take_money, err);
    if (rc == 0)
        rc = each(v, st,
                  "SELECT c.name, sum(NOT failed), sum(failed), avg(wall_us),"
                  " avg(wall_us * s.time_scale) FROM result r"
                  " JOIN session s ON s.id = r.session" JOIN_CLUSTER("r"),
                  take_results, err);
    if (rc == 0)
        rc = bats_view_machines(v, err);
    while (rc == 0 && (rc = bats_view_next_machine(v, &m, err)) > 0) {
        struct bats_view_cluster *c = find_cluster(st, m.cluster);
        if (c != NULL) {
            c->machines++;
            c->held += m.state == BATS_VIEW_HELD;
            c->lost += m.state == BATS_VIEW_LOST;
        }
        rc = 0;
    }
    return rc;
}

int bats_view_status(struct bats_view *v, struct bats_view_status *st,
                     struct bats_error *err)
{
    memset(st, 0, sizeof *st);
    st->is_live = v->is_live;
    int rc = bats_view_unpack(v, err);
    if (rc == 0)
        rc = read_session(v, st, err);
    if (rc == 0)
        rc = read_counts(v, st, err);
    if (rc == 0)
        rc = read_clusters(v, st, err);
    return rc;
}

int bats_view_decision(struct bats_view *v, bool *found,
                       struct bats_view_decision *d, struct bats_error *err)
{
    sqlite3_stmt *s;
    int rc = bats_db_prepare(
        &v->db,
        "SELECT time_us, reason, feasible, tasks_left, budget_left, windows, "
        "machines FROM decision WHERE session = (SELECT max(id) FROM session) "
        "ORDER BY seq DESC LIMIT 1",
        &s, err);

    *found = false;
    if (rc < 0)
        return rc;
    rc = bats_db_step(&v->db, s, err);
    if (rc > 0) {
        *found = true;
        *d = (struct bats_view_decision){
            .time = sqlite3_column_int64(s, 0),
            .feasible = sqlite3_column_int(s, 2) != 0,
            .tasks_left = sqlite3_column_int64(s, 3),
            .budget_left = sqlite3_column_type(s, 4) == SQLITE_NULL
                               ? BATS_UNLIMITED
                               : sqlite3_column_int64(s, 4),
            .windows = sqlite3_column_int64(s, 5),
        };
        copy_text(d->reason, sizeof d->reason, s, 1);
        const char *text = bats_view_text(s, 6); /* [1,2] */
        for (; *text != '\0' && d->n_clusters < BATS_CLUSTERS_MAX;
             text += strcspn(text, ",")) {
            text++;
            d->machines[d->n_clusters++] = strtoll(text, NULL, 10);
        }
    }
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}
