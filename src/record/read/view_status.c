/* view_status: the record as a whole: last session, task counts, clusters,
 * last decision. */
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"

/* ---- status ---- */

#define C(member) BATS_COLUMN(struct bats_view_status, member)
static const struct bats_db_column session_columns[] = {
    C(sessions),   C(bag),       C(policy),
    C(currency),   C(budget),    C(window),
    C(time_scale), C(seed),      C(started_us),
    C(is_over),    C(last),      C(finish),
    C(signal),     C(exit_code), C(tasks),
    C(done),       C(failed),    C(running),
    C(pending),    C(skipped),   C(removed),
    C(preempted),  C(ending),    C(choosing),
    C(charged),    C(held),      {0}};
#undef C

static const char session_sql[] =
    "SELECT s.id, bag, policy, currency, coalesce(budget, " BATS_PART_UNLIMITED
    "), window_us, time_scale, seed, started_us, ended_us NOT NULL,"
    " coalesce(ended_us, n.time_us), finish, signal, exit_code,"
    " done + failed + running + pending + skipped, done, failed, running,"
    " pending, skipped, removed, preempted, ending, choosing,"
    " (SELECT sum(charged) FROM account WHERE id = 0),"
    " (SELECT held FROM account WHERE session = s.id AND id = 0)"
    " FROM session s JOIN now n ORDER BY s.id DESC LIMIT 1";

#define C(member) BATS_COLUMN(struct bats_view_cluster, member)
static const struct bats_db_column cluster_columns[] = {
    C(name),   C(charge),       C(machines),     C(held),
    C(lost),   C(windows),      C(charged),      C(done),
    C(failed), C(mean_wall_us), C(mean_runtime), {0}};
#undef C

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
    return st->n_clusters == BATS_CLUSTERS_MAX
               ? 0
               : bats_db_fill(s, cluster_columns,
                              &st->clusters[st->n_clusters++], NULL, err);
}

static int read_status(struct bats_view *v, void *context,
                       struct bats_error *err)
{
    struct bats_view_status *st = context;
    *st = (struct bats_view_status){.is_live = v->is_live};
    int rc =
        bats_db_get(&v->db, session_sql, session_columns, st, err, NULL, 0);
    if (rc == 0 && st->sessions == 0)
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: a row is missing", v->path);
    if (!st->is_live)
        st->held = 0;
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
    *text = bats_db_copy(s, 0);
    return *text != NULL ? 0 : bats_no_memory(err);
}

static int read_options(struct bats_view *v, void *json,
                        struct bats_error *err)
{
    free(*(char **)json); /* of an earlier try */
    *(char **)json = NULL;
    return bats_part_each(
        v, "SELECT options FROM session ORDER BY id DESC LIMIT 1",
        take_options, json, err);
}

int bats_view_options(struct bats_view *v, char **json, struct bats_error *err)
{
    *json = NULL;
    int rc = bats_part_take(v, read_options, json, err);
    if (rc < 0) {
        free(*json);
        *json = NULL;
    }
    return rc;
}

/* ---- the last decision ---- */

struct decision {
    struct bats_view_decision d;
    bool found;
    char machines[BATS_CLUSTERS_MAX * 12 + 4]; /* [1,2] */
};

int bats_view_decision(struct bats_view *v, bool *found,
                       struct bats_view_decision *decision,
                       struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct decision, member)
    static const struct bats_db_column columns[] = {
        C(found),      C(d.time),       C(d.reason),
        C(d.feasible), C(d.tasks_left), C(d.budget_left),
        C(d.windows),  C(machines),     {0}};
#undef C
    struct decision r = {.found = false};
    int rc = bats_part_get(
        v,
        "SELECT 1, time_us, reason, feasible, tasks_left,"
        " coalesce(budget_left, " BATS_PART_UNLIMITED "), windows, machines"
        " FROM decision WHERE session = (SELECT max(id) FROM session)"
        " ORDER BY seq DESC LIMIT 1",
        columns, &r, err);
    for (const char *at = r.machines;
         *at != '\0' && r.d.n_clusters < BATS_CLUSTERS_MAX;
         at += strcspn(at, ","))
        r.d.machines[r.d.n_clusters++] = strtoll(++at, NULL, 10);
    *found = r.found;
    *decision = r.d;
    return rc;
}
