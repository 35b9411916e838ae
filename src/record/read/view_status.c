/* view_status: the record as a whole: its last session, the counts of its
 * tasks, its clusters, its last decision. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"

static void copy_text(char *to, size_t size, sqlite3_stmt *s, int column)
{
    snprintf(to, size, "%s", bats_view_text(s, column));
}

static bats_money money_of(sqlite3_stmt *s, int column)
{
    return sqlite3_column_type(s, column) == SQLITE_NULL
               ? BATS_UNLIMITED
               : sqlite3_column_int64(s, column);
}

/* ---- status ---- */

static const char session_sql[] =
    "SELECT s.id, bag, policy, currency, budget, window_us, time_scale, seed,"
    " started_us, ended_us, coalesce(ended_us, n.time_us), finish, signal,"
    " exit_code, done, failed, running, pending, skipped, removed, preempted,"
    " ending, choosing, (SELECT sum(charged) FROM account WHERE id = 0),"
    " (SELECT held FROM account WHERE session = s.id AND id = 0)"
    " FROM session s JOIN now n ORDER BY s.id DESC LIMIT 1";

static int take_session(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_view_status *st = context;
    (void)err;
    *st = (struct bats_view_status){
        .is_live = st->is_live,
        .sessions = sqlite3_column_int64(s, 0),
        .budget = money_of(s, 4),
        .window = sqlite3_column_int64(s, 5),
        .time_scale = sqlite3_column_double(s, 6),
        .seed = (uint64_t)sqlite3_column_int64(s, 7),
        .started_us = sqlite3_column_int64(s, 8),
        .is_over = sqlite3_column_type(s, 9) != SQLITE_NULL,
        .last = sqlite3_column_int64(s, 10),
        .signal = sqlite3_column_int(s, 12),
        .exit_code = sqlite3_column_int(s, 13),
        .done = sqlite3_column_int64(s, 14),
        .failed = sqlite3_column_int64(s, 15),
        .running = sqlite3_column_int64(s, 16),
        .pending = sqlite3_column_int64(s, 17),
        .skipped = sqlite3_column_int64(s, 18),
        .removed = sqlite3_column_int64(s, 19),
        .preempted = sqlite3_column_int64(s, 20),
        .ending = sqlite3_column_int(s, 21) != 0,
        .choosing = sqlite3_column_int(s, 22) != 0,
        .charged = sqlite3_column_int64(s, 23),
        .held = st->is_live ? sqlite3_column_int64(s, 24) : 0,
    };
    st->tasks =
        st->done + st->failed + st->running + st->pending + st->skipped;
    copy_text(st->bag, sizeof st->bag, s, 1);
    copy_text(st->policy, sizeof st->policy, s, 2);
    copy_text(st->currency, sizeof st->currency, s, 3);
    copy_text(st->finish, sizeof st->finish, s, 11);
    return 0;
}

static const char clusters_sql[] =
    "SELECT name, charge, machines, held, lost, windows, n.charged, done,"
    " failed, wall_us / max(done + failed, 1),"
    " runtime_us / max(done + failed, 1)"
    " FROM cluster c LEFT JOIN cluster_now n ON n.session = c.session AND"
    " n.cluster = c.id WHERE c.session = (SELECT max(id) FROM session)"
    " ORDER BY c.id";

static int take_cluster(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_view_status *st = context;
    (void)err;
    if (st->n_clusters == BATS_CLUSTERS_MAX)
        return 0;
    struct bats_view_cluster *c = &st->clusters[st->n_clusters++];
    copy_text(c->name, sizeof c->name, s, 0);
    c->charge = sqlite3_column_int64(s, 1);
    c->machines = sqlite3_column_int64(s, 2);
    c->held = sqlite3_column_int64(s, 3);
    c->lost = sqlite3_column_int64(s, 4);
    c->windows = sqlite3_column_int64(s, 5);
    c->charged = sqlite3_column_int64(s, 6);
    c->done = sqlite3_column_int64(s, 7);
    c->failed = sqlite3_column_int64(s, 8);
    c->mean_wall_us = sqlite3_column_int64(s, 9);
    c->mean_runtime = sqlite3_column_int64(s, 10);
    return 0;
}

static int read_status(struct bats_view *v, void *context,
                       struct bats_error *err)
{
    struct bats_view_status *st = context;
    *st = (struct bats_view_status){.is_live = v->is_live};
    int rc = bats_part_each(v, session_sql, take_session, st, err);
    if (rc == 0 && st->sessions == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: a row is missing", v->path);
    return rc == 0 ? bats_part_each(v, clusters_sql, take_cluster, st, err)
                   : rc;
}

int bats_view_status(struct bats_view *v, struct bats_view_status *st,
                     struct bats_error *err)
{
    return bats_part_take(v, read_status, st, err);
}

/* ---- options ---- */

static int take_options(void *json, sqlite3_stmt *s, struct bats_error *err)
{
    char **text = json;
    free(*text);
    *text = strdup(bats_view_text(s, 0));
    return *text != NULL ? 0 : bats_no_memory(err);
}

int bats_view_options(struct bats_view *v, char **json, struct bats_error *err)
{
    *json = NULL;
    int rc = bats_part_read(
        v, "SELECT options FROM session ORDER BY id DESC LIMIT 1",
        take_options, json, err);
    if (rc < 0) {
        free(*json);
        *json = NULL;
    }
    return rc;
}

/* ---- the last decision ---- */

struct decision {
    bool found;
    struct bats_view_decision *d;
};

static int take_decision(void *context, sqlite3_stmt *s,
                         struct bats_error *err)
{
    struct decision *to = context;
    struct bats_view_decision *d = to->d;
    (void)err;
    to->found = true;
    *d = (struct bats_view_decision){
        .time = sqlite3_column_int64(s, 0),
        .feasible = sqlite3_column_int(s, 2) != 0,
        .tasks_left = sqlite3_column_int64(s, 3),
        .budget_left = money_of(s, 4),
        .windows = sqlite3_column_int64(s, 5),
    };
    copy_text(d->reason, sizeof d->reason, s, 1);
    const char *text = bats_view_text(s, 6); /* [1,2] */
    for (; *text != '\0' && d->n_clusters < BATS_CLUSTERS_MAX;
         text += strcspn(text, ",")) {
        text++;
        d->machines[d->n_clusters++] = strtoll(text, NULL, 10);
    }
    return 0;
}

int bats_view_decision(struct bats_view *v, bool *found,
                       struct bats_view_decision *d, struct bats_error *err)
{
    struct decision to = {.d = d};
    int rc = bats_part_read(
        v,
        "SELECT time_us, reason, feasible, tasks_left, budget_left, windows, "
        "machines FROM decision WHERE session = (SELECT max(id) FROM session) "
        "ORDER BY seq DESC LIMIT 1",
        take_decision, &to, err);
    *found = to.found;
    return rc;
}
