/* view_lists: lists of a record, but for tasks and the log. */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/read/part.h"

#define LAST "(SELECT max(id) FROM session)"

/* ---- machines of the last session ---- */

static const char machines_sql[] =
    "WITH s AS (SELECT max(id) AS id FROM session),"
    " paid AS (SELECT machine, count(*) AS n, sum(amount) AS amount,"
    "  max(time_us) AS began FROM charge JOIN s ON session = s.id"
    "  WHERE account = 0 GROUP BY machine),"
    " busy AS (SELECT machine, min(number) AS number FROM running"
    "  JOIN task ON task.id = running.task GROUP BY machine),"
    /* With max(), SQLite takes the other columns from the same row. */
    " said AS (SELECT machine, max(seq), sentence FROM happened JOIN s"
    "  ON session = s.id WHERE what = 'notice' GROUP BY machine),"
    " shunned AS (SELECT machine, max(time_us) AS since FROM happened JOIN s"
    "  ON session = s.id WHERE what = 'quarantine' GROUP BY machine),"
    " idle AS (SELECT machine, sentence, value FROM happened"
    "  JOIN s ON session = s.id WHERE what = 'idle')"
    "SELECT m.name, m.host, c.name, c.charge, m.slots, CASE m.state"
    "  WHEN 'held' THEN 1 WHEN 'parked' THEN 2 WHEN 'released' THEN 3"
    "  WHEN 'lost' THEN 4 END, m.since_us,"
    " paid.n, coalesce(paid.began, -1), paid.amount,"
    " iif(%Q IS NULL, 0, (SELECT count(*) FROM execution WHERE session = s.id"
    "  AND machine = m.id AND attempt NOT NULL)), busy.number,"
    " iif(m.quarantine, shunned.since, -1), said.sentence,"
    " idle.sentence, coalesce(idle.value, -1)"
    " FROM machine m JOIN s ON m.session = s.id"
    " JOIN cluster c ON c.session = s.id AND c.id = m.cluster"
    " LEFT JOIN paid ON paid.machine = m.id"
    " LEFT JOIN busy ON busy.machine = m.id"
    " LEFT JOIN said ON said.machine = m.id"
    " LEFT JOIN shunned ON shunned.machine = m.id"
    " LEFT JOIN idle ON idle.machine = m.id"
    " WHERE m.name = coalesce(%Q, m.name) ORDER BY m.cluster, m.id";
_Static_assert(BATS_VIEW_NEVER == 0 && BATS_VIEW_HELD == 1 &&
                   BATS_VIEW_PARKED == 2 && BATS_VIEW_RELEASED == 3 &&
                   BATS_VIEW_LOST == 4,
               "machines_sql says so");

int bats_view_machines(struct bats_view *v, const char *name,
                       struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_machine, member)
    static const struct bats_db_column columns[] = {
        C(name),       C(host),    C(cluster), C(charge),       C(slots),
        C(state),      C(since),   C(windows), C(window_began), C(charged),
        C(ended),      C(running), C(shunned), C(why),          C(idle),
        C(idle_until), {0}};
#undef C
    char *sql = sqlite3_mprintf(machines_sql, name, name);
    free(v->machines);
    v->machines = NULL;
    v->n_machines = v->next_machine = 0;
    int rc = sql != NULL
                 ? bats_part_list(v, sql, columns, sizeof *v->machines,
                                  &v->machines, &v->n_machines, &v->names, err)
                 : bats_no_memory(err);
    sqlite3_free(sql);
    return rc;
}

int bats_view_next_machine(struct bats_view *v,
                           struct bats_view_machine *machine,
                           struct bats_error *err)
{
    if (v->next_machine == v->n_machines)
        return 0;
    *machine = v->machines[v->next_machine++];
    return 1;
}

int bats_view_loads(struct bats_view *v, struct bats_view_load **list,
                    size_t *n, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_load, member)
    static const struct bats_db_column columns[] = {
        C(machine), C(name), C(task), {0}};
#undef C
    return bats_part_list(
        v,
        "SELECT m.id, m.name, r.number FROM machine m LEFT JOIN"
        /* With min(), SQLite takes the other columns from the same row. */
        "  (SELECT machine, slot, min(seq), number FROM running"
        "   JOIN task ON task.id = running.task GROUP BY machine, slot) r"
        "  ON r.machine = m.id"
        " WHERE m.session = (SELECT max(id) FROM session)"
        "  AND m.state = 'held' ORDER BY m.id",
        columns, sizeof **list, list, n, NULL, err);
}

int bats_view_outputs(struct bats_view *v, struct bats_view_output **list,
                      size_t *n, struct bats_texts *texts,
                      struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_output, member)
    static const struct bats_db_column columns[] = {
        C(task),   C(attempt),   C(session),   C(run),
        C(stream), C(begin),     C(end),       C(exit_status),
        C(signal), C(out_bytes), C(err_bytes), {0}};
#undef C
    return bats_part_list(
        v,
        "SELECT n.number, e.attempt, s.id, s.run_id, e.stream, e.out_begin,"
        " e.out_end, e.exit_status, e.signal, e.out_bytes, e.err_bytes"
        " FROM (SELECT *, max(seq) FROM execution WHERE outcome = 0"
        "   GROUP BY task) e JOIN session s ON s.id = e.session"
        " JOIN task_now n ON n.task = e.task AND n.removed IS NOT 1"
        " WHERE e.stream NOT NULL ORDER BY n.number",
        columns, sizeof **list, list, n, texts, err);
}

int bats_view_reservation(struct bats_view *v, struct bats_view_reservation *r,
                          struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_reservation, member)
    static const struct bats_db_column columns[] = {
        C(machine), C(task), C(from), {0}};
#undef C
    *r = (struct bats_view_reservation){.task = 0};
    return bats_part_get(
        v,
        "SELECT m.name, t.number, h.value FROM happened h"
        " JOIN machine m ON m.session = h.session AND m.id = h.machine"
        " JOIN task t ON t.id = h.task WHERE h.what = 'reserved'"
        "  AND h.session = (SELECT max(id) FROM session)",
        columns, r, err);
}

/* ---- sessions and their results ---- */

int bats_view_sessions(struct bats_view *view,
                       struct bats_view_session **sessions, size_t *n,
                       struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_session, member)
    static const struct bats_db_column columns[] = {
        C(id), C(run), C(ended_s), C(time_scale), {0}};
#undef C
    int rc = bats_part_list(
        view,
        "SELECT id, run_id, (started_us + coalesce(ended_us, last_us,"
        "    (SELECT time_us FROM now)) / time_scale) / 1000000, time_scale"
        "  FROM session ORDER BY id",
        columns, sizeof **sessions, sessions, n, NULL, err);
    if (*n > 0 && view->is_live)
        --*n;
    return rc;
}

/* Category of task `number` of the bag. runs: [category, tasks, ...]. */
static const char *category_of(const json_t *names, const json_t *runs,
                               int64_t number)
{
    size_t i = 0;
    while (i < json_array_size(runs) &&
           number > json_integer_value(json_array_get(runs, i + 1))) {
        number -= json_integer_value(json_array_get(runs, i + 1));
        i += 2;
    }
    return json_string_value(json_array_get(
        names, (size_t)json_integer_value(json_array_get(runs, i))));
}

int bats_view_results(struct bats_view *view, int64_t session,
                      struct bats_view_result **list, size_t *n,
                      struct bats_texts *texts, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_result, member)
    static const struct bats_db_column columns[] = {
        C(command), C(cluster), C(seconds), C(number), C(category), {0}};
#undef C
    char sql[512];
    json_t *options = NULL;
    snprintf(sql, sizeof sql,
             "SELECT t.command, n.cluster, n.wall_us * s.time_scale / 1e6,"
             "    n.number, json_extract(u.given, '$.class')"
             "  FROM task_now n JOIN task t ON t.id = n.task"
             "    JOIN session s ON s.id = n.session"
             "    LEFT JOIN submission u ON u.task = n.task"
             "  WHERE n.state = 1 AND n.wall_us > 0 AND n.cluster IS NOT NULL"
             "    AND n.session = %" PRId64 " ORDER BY n.place",
             session);
    int rc =
        bats_part_list(view, sql, columns, sizeof **list, list, n, texts, err);
    if (rc == 0)
        rc = bats_view_options(view, session, &options, err);
    const json_t *names = json_object_get(options, "categories");
    const json_t *runs =
        json_object_get(json_object_get(options, "engine"), "categories");
    for (size_t i = 0; i < *n; i++) {
        const char *name = category_of(names, runs, (*list)[i].number);
        if (*(*list)[i].category == '\0')
            (*list)[i].category =
                name != NULL ? bats_texts_name(texts, name, strlen(name)) : NULL;
    }
    json_decref(options);
    return rc;
}

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

int bats_view_runtimes(struct bats_view *view, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    return bats_part_list(view, runtimes_sql, bats_db_whole, sizeof **runtimes,
                          runtimes, n, NULL, err);
}

/* ---- workflows ---- */

struct work {
    struct bats_purse_status *list;
    size_t n;
    uint16_t *of; /* each task's workflow, by number - 1 */
    int64_t n_tasks;
};

/* From [workflow, tasks, workflow, tasks, ...]. */
static int take_tasks(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct work *w = context;
    int64_t at = 0;
    json_t *runs = json_loads(bats_view_text(s, 0), 0, NULL);
    for (size_t i = 0; i < json_array_size(runs); i += 2) {
        json_int_t of = json_integer_value(json_array_get(runs, i));
        json_int_t n = json_integer_value(json_array_get(runs, i + 1));
        for (; n > 0 && at < w->n_tasks; n--)
            w->of[at++] = of >= 0 && of < (json_int_t)w->n ? (uint16_t)of : 0;
    }
    json_decref(runs);
    return 0;
}

/* Workflow of the task whose number is in column 0, or NULL. */
static struct bats_purse_status *workflow_of(struct work *w, sqlite3_stmt *s)
{
    int64_t number = sqlite3_column_int64(s, 0);
    return number >= 1 && number <= w->n_tasks ? &w->list[w->of[number - 1]]
                                               : NULL;
}

static int take_state(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_purse_status *p = workflow_of(context, s);
    const char *state = bats_view_text(s, 1);
    bool is_skipped = strcmp(state, "skipped") == 0;
    if (p == NULL)
        return 0;
    p->done += strcmp(state, "done") == 0;
    p->failed += strcmp(state, "failed") == 0;
    p->skipped += is_skipped;
    p->unpaid += is_skipped && strcmp(bats_view_text(s, 2), "unpaid") == 0;
    p->left += strcmp(state, "pending") == 0 || strcmp(state, "running") == 0;
    return 0;
}

static int take_end(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct bats_purse_status *p = workflow_of(context, s);
    bats_time ended = sqlite3_column_int64(s, 1);
    if (p != NULL && p->left == 0 &&
        (p->ended == BATS_NEVER || p->ended < ended))
        p->ended = ended;
    return 0;
}

static int read_workflows(struct bats_view *v, void *context,
                          struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_purse_status, member)
    static const struct bats_db_column columns[] = {
        C(name), C(budget), C(charged), C(held), C(deadline), C(ended), {0}};
#undef C
    static const struct {
        const char *sql;
        bats_db_row *take;
    } steps[] = {
        {"SELECT json_extract(options, '$.engine.workflow') FROM session"
         " WHERE id = " LAST,
         take_tasks},
        {"SELECT number, state, reason FROM tasks WHERE state <> 'removed'",
         take_state},
        {"SELECT t.number, e.ended_us FROM execution e"
         " JOIN task t ON t.id = e.task"
         " WHERE e.session = " LAST " AND e.outcome = 0",
         take_end},
    };
    struct work *w = context;
    free(w->list); /* of an earlier try */
    free(w->of);
    bats_texts_release(&v->workflows);
    *w = (struct work){.n_tasks = 0};
    int rc = bats_db_list(
        &v->db,
        "SELECT name, coalesce(budget, " BATS_PART_UNLIMITED "),"
        " before + charged, held, deadline_us, " BATS_PART_UNLIMITED
        " FROM account WHERE session = " LAST " AND id > 0 ORDER BY id",
        columns, sizeof *w->list, &w->list, &w->n, &v->workflows, err);
    if (rc == 0)
        rc = bats_db_integer(&v->db,
                             "SELECT n_tasks FROM session WHERE id = " LAST,
                             &w->n_tasks, err);
    if (rc == 0 &&
        (w->n > BATS_PURSES_MAX || w->n_tasks < 0 || w->n_tasks > UINT32_MAX))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: it has too many workflows",
                            v->path);
    if (rc < 0 || w->n == 0)
        return rc;
    w->of = calloc((size_t)w->n_tasks + 1, sizeof *w->of);
    if (w->of == NULL)
        return bats_no_memory(err);
    for (size_t i = 0; i < w->n && !v->is_live; i++)
        w->list[i].held = 0;
    for (size_t i = 0; rc == 0 && i < sizeof steps / sizeof *steps; i++)
        rc =
            bats_db_each(&v->db, steps[i].sql, steps[i].take, w, err, NULL, 0);
    return rc;
}

int bats_view_workflows(struct bats_view *v, struct bats_purse_status **list,
                        uint32_t *n, uint16_t **of, struct bats_error *err)
{
    struct work w = {0};
    int rc = bats_part_take(v, read_workflows, &w, err);
    if (rc < 0)
        free(w.list);
    if (rc < 0 || of == NULL)
        free(w.of);
    *list = rc < 0 ? NULL : w.list;
    *n = rc < 0 ? 0 : (uint32_t)w.n;
    if (of != NULL)
        *of = rc < 0 ? NULL : w.of;
    return rc;
}
