#include "record/read/results.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "record/read/part.h"

struct list {
    struct bats_view_session *sessions;
    size_t n;
};

static int list_sessions(struct bats_view *view, void *context,
                         struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_session, member)
    static const struct bats_db_column columns[] = {
        C(id), C(run), C(ended_s), C(time_scale), {0}};
#undef C
    struct list *list = context;
    free(list->sessions); /* of an earlier try */
    return bats_db_list(
        &view->db,
        "SELECT id, run_id, (started_us + coalesce(ended_us, last_us,"
        "    (SELECT time_us FROM now)) / time_scale) / 1000000, time_scale"
        "  FROM session ORDER BY id",
        columns, sizeof *list->sessions, &list->sessions, &list->n, NULL, err);
}

int bats_view_sessions(struct bats_view *view,
                       struct bats_view_session **sessions, size_t *n,
                       struct bats_error *err)
{
    struct list list = {0};
    int rc = bats_part_take(view, list_sessions, &list, err);
    if (list.n > 0 && view->is_live)
        list.n--;
    *sessions = list.sessions;
    *n = list.n;
    return rc;
}

struct job {
    int64_t session;
    void (*begin)(void *context);
    int (*take)(void *context, const struct bats_view_result *result,
                struct bats_error *err);
    void *context;
    json_t *options;    /* of the session */
    const json_t *runs; /* their [category, tasks, ...], or NULL */
};

/* Category of task `number` of the bag. */
static const char *category_of(const struct job *job, int64_t number)
{
    size_t i = 0;
    while (i < json_array_size(job->runs) &&
           number > json_integer_value(json_array_get(job->runs, i + 1))) {
        number -= json_integer_value(json_array_get(job->runs, i + 1));
        i += 2;
    }
    return json_string_value(json_array_get(
        json_object_get(job->options, "categories"),
        (size_t)json_integer_value(json_array_get(job->runs, i))));
}

static int take_options(void *context, sqlite3_stmt *row,
                        struct bats_error *err)
{
    struct job *job = context;
    (void)err;
    job->options = json_loads(bats_view_text(row, 0), 0, NULL);
    job->runs =
        json_object_get(json_object_get(job->options, "engine"), "categories");
    return 0;
}

static int take_result(void *context, sqlite3_stmt *row,
                       struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_result, member)
    static const struct bats_db_column columns[] = {
        C(command), C(cluster), C(seconds), {0}};
#undef C
    const struct job *job = context;
    struct bats_view_result result;
    bats_db_fill(row, columns, &result, NULL, err);
    result.category = category_of(job, sqlite3_column_int64(row, 3));
    return job->take(job->context, &result, err);
}

static int list_results(struct bats_view *view, void *context,
                        struct bats_error *err)
{
    char sql[384];
    struct job *job = context;
    snprintf(sql, sizeof sql,
             "SELECT options FROM session WHERE id = %" PRId64, job->session);
    json_decref(job->options);
    job->options = NULL;
    job->runs = NULL;
    int rc = bats_part_each(view, sql, take_options, job, err);
    if (rc < 0)
        return rc;
    snprintf(sql, sizeof sql,
             "SELECT t.command, n.cluster, n.wall_us * s.time_scale / 1e6,"
             "    n.number"
             "  FROM task_now n JOIN task t ON t.id = n.task"
             "    JOIN session s ON s.id = n.session"
             "  WHERE n.state = 1 AND n.wall_us > 0 AND n.cluster IS NOT NULL"
             "    AND n.session = %" PRId64 " ORDER BY n.place",
             job->session);
    job->begin(job->context);
    return bats_part_each(view, sql, take_result, job, err);
}

int bats_view_results(struct bats_view *view, int64_t session,
                      void (*begin)(void *context),
                      int (*take)(void *context,
                                  const struct bats_view_result *result,
                                  struct bats_error *err),
                      void *context, struct bats_error *err)
{
    struct job job = {session, begin, take, context, NULL, NULL};
    int rc = bats_part_take(view, list_results, &job, err);
    json_decref(job.options);
    return rc;
}

/* ---- runtimes ---- */

static const char runtimes_sql[] =
    "WITH d AS (SELECT number, cluster, wall_us FROM task_now"
    "    WHERE state = 1 AND NOT removed AND wall_us > 0),"
    "  m AS (SELECT cluster, avg(wall_us) AS mean FROM d GROUP BY cluster),"
    "  s AS (SELECT id, time_scale FROM session ORDER BY id DESC LIMIT 1),"
    "  first AS (SELECT mean FROM m JOIN s JOIN cluster c"
    "    ON c.session = s.id AND c.name = m.cluster ORDER BY c.id LIMIT 1)"
    "SELECT max(1, CAST(wall_us * time_scale"
    "    * coalesce((SELECT mean FROM first) / mean, 1) + 0.5 AS INTEGER))"
    "  FROM s JOIN d JOIN m ON m.cluster IS d.cluster ORDER BY number";

struct runtimes {
    bats_time *list;
    size_t n;
};

static int read_runtimes(struct bats_view *v, void *context,
                         struct bats_error *err)
{
    struct runtimes *r = context;
    free(r->list); /* of an earlier try */
    return bats_db_list(&v->db, runtimes_sql, bats_db_whole, sizeof *r->list,
                        &r->list, &r->n, NULL, err);
}

int bats_view_runtimes(struct bats_view *view, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    struct runtimes r = {0};
    int rc = bats_part_take(view, read_runtimes, &r, err);
    *runtimes = r.list;
    *n = r.n;
    return rc;
}
