/* view_status: the record as a whole: its last session, the counts of its
 * tasks, its clusters, its last decision. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/places.h"
#include "record/read/part.h"

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

/* Flags of the last session, and the money. */
static int read_flags(struct bats_view *v, struct bats_view_status *st,
                      struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = one_row(v,
                     "SELECT (SELECT sum(amount) FROM ledger),"
                     " EXISTS (SELECT 1 FROM event WHERE session = s.id AND"
                     "  type IN ('drain', 'stop')),"
                     " EXISTS (SELECT 1 FROM command WHERE session = s.id AND"
                     "  type = 'sampled') AND NOT EXISTS (SELECT 1 FROM event"
                     "  WHERE session = s.id AND type = 'chosen')"
                     " FROM (SELECT max(id) AS id FROM session) s",
                     &s, err);

    if (rc == 0) {
        st->charged = sqlite3_column_int64(s, 0);
        st->ending = sqlite3_column_int(s, 1) != 0;
        st->choosing = sqlite3_column_int(s, 2) != 0;
    }
    sqlite3_finalize(s);
    return rc;
}

static int read_counts(struct bats_view *v, struct bats_view_status *st,
                       struct bats_error *err)
{
    const struct bats_totals *t = &v->totals;
    int64_t n[BATS_TOTALS_STATES] = {0};
    int rc = read_flags(v, st, err);

    for (int64_t id = 1; id <= t->n; id++)
        if (t->tasks[id].is_known)
            n[bats_totals_state(&t->tasks[id])]++;
    st->done = n[BATS_TOTALS_DONE];
    st->failed = n[BATS_TOTALS_FAILED];
    st->running = n[BATS_TOTALS_RUNNING];
    st->pending = n[BATS_TOTALS_PENDING];
    st->skipped = n[BATS_TOTALS_SKIPPED];
    st->removed = n[BATS_TOTALS_REMOVED];
    st->tasks =
        st->done + st->failed + st->running + st->pending + st->skipped;
    st->preempted = t->preempted;
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

/* ---- results by cluster ---- */

static void add_result(const struct bats_places *p,
                       const struct bats_totals_task *task, double *wall,
                       double *runtime, struct bats_view_status *st)
{
    const struct bats_machine_place *at =
        task->result == 0 ? NULL
                          : bats_places_find(p, task->session, task->machine);
    if (at == NULL || at->cluster >= (int64_t)st->n_clusters)
        return;
    struct bats_view_cluster *c = &st->clusters[at->cluster];
    c->done += !task->has_failed;
    c->failed += task->has_failed;
    wall[at->cluster] += (double)task->wall_us;
    runtime[at->cluster] += (double)task->wall_us * at->scale;
}

static int64_t whole(double x)
{
    return x > -9e18 && x < 9e18 ? (int64_t)x : 0;
}

static void set_means(struct bats_view_cluster *c, double wall, double runtime)
{
    double n = (double)(c->done + c->failed);
    c->mean_wall_us = n > 0 ? whole(wall / n) : 0;
    c->mean_runtime = n > 0 ? whole(runtime / n) : 0;
}

static int read_results(struct bats_view *v, struct bats_view_status *st,
                        struct bats_error *err)
{
    double wall[BATS_CLUSTERS_MAX] = {0}, runtime[BATS_CLUSTERS_MAX] = {0};
    struct bats_places p;
    int rc = bats_places_load(&p, &v->db, st->sessions, err);

    for (int64_t id = 1; rc == 0 && id <= v->totals.n; id++)
        add_result(&p, &v->totals.tasks[id], wall, runtime, st);
    for (size_t i = 0; i < st->n_clusters; i++)
        set_means(&st->clusters[i], wall[i], runtime[i]);
    bats_places_release(&p);
    return rc;
}

static int read_clusters(struct bats_view *v, struct bats_view_status *st,
                         struct bats_error *err)
{
    struct bats_view_machine m;
    int rc = each(v, st,
                  "SELECT c.name, count(*), sum(amount) FROM ledger l"
                  " JOIN machine m ON m.session = l.session AND m.id ="
                  " l.machine JOIN cluster c ON c.session = m.session AND"
                  " c.id = m.cluster GROUP BY c.name",
                  take_money, err);
    if (rc == 0)
        rc = read_results(v, st, err);
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

/* ---- by the tally ---- */

static void take_tally(struct bats_view_status *st, const struct bats_tally *t)
{
    int64_t n[BATS_TALLY_STATES];

    for (int i = 0; i < BATS_TALLY_STATES; i++) {
        int64_t running = st->is_over ? 0 : t->running[i];
        n[i] = t->state[i] - running;
        st->running += running;
        st->tasks += t->state[i];
    }
    st->pending = n[BATS_TALLY_PENDING];
    st->done = n[BATS_TALLY_DONE];
    st->failed = n[BATS_TALLY_FAILED];
    st->skipped = n[BATS_TALLY_SKIPPED];
    st->removed = t->removed;
    st->preempted = t->preempted;
    st->charged = t->charged;
    st->ending = t->ending;
    st->choosing = t->choosing;
    if (!st->is_over)
        st->last = t->time;
    for (size_t i = 0; i < st->n_clusters && i < t->n_clusters; i++) {
        const struct bats_tally_cluster *from = &t->clusters[i];
        struct bats_view_cluster *c = &st->clusters[i];
        c->machines = from->machines;
        c->held = from->held;
        c->lost = from->lost;
        c->windows = from->windows;
        c->charged = from->charged;
        c->done = from->done;
        c->failed = from->failed;
        set_means(c, (double)from->wall_us, from->runtime);
    }
}

static int look_at_all(struct bats_view *v, struct bats_view_status *st,
                       struct bats_error *err)
{
    int rc = bats_totals_look(v, err);
    if (rc == 0)
        rc = read_counts(v, st, err);
    return rc == 0 ? read_clusters(v, st, err) : rc;
}

int bats_view_status(struct bats_view *v, struct bats_view_status *st,
                     struct bats_error *err)
{
    struct bats_part_tally t = {.is_there = false};
    memset(st, 0, sizeof *st);
    int rc = bats_part_take(v, bats_part_heads, &t, err);
    st->is_live = v->is_live;
    if (rc == 0)
        rc = read_session(v, st, err);
    if (rc == 0)
        rc = each(v, st,
                  "SELECT name, charge FROM cluster WHERE session = "
                  "(SELECT max(id) FROM session) ORDER BY id",
                  take_cluster, err);
    if (rc == 0 && t.is_there)
        take_tally(st, &t.tally);
    return rc == 0 && !t.is_there ? look_at_all(v, st, err) : rc;
}

int bats_view_decision(struct bats_view *v, bool *found,
                       struct bats_view_decision *d, struct bats_error *err)
{
    sqlite3_stmt *s = NULL;
    int rc = bats_part_need_base(v, err);

    *found = false;
    if (rc == 0)
        rc = bats_db_prepare(
            &v->db,
            "SELECT time_us, reason, feasible, tasks_left, budget_left, windows, "
            "machines FROM decision WHERE session = (SELECT max(id) FROM session) "
            "ORDER BY seq DESC LIMIT 1",
            &s, err);
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
