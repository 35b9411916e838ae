/* view_lists: lists of a record, but for tasks and the log. */
#include "record/read/part.h"
#include "util/asset.h"

BATS_ASSET(machines_sql, "record/read/machines.sql");
BATS_ASSET(loads_sql, "record/read/loads.sql");
BATS_ASSET(outputs_sql, "record/read/outputs.sql");
BATS_ASSET(kinds_sql, "record/read/kinds.sql");
BATS_ASSET(results_sql, "record/read/results.sql");
BATS_ASSET(runtimes_sql, "record/read/runtimes.sql");
BATS_ASSET(workflows_sql, "record/read/workflows.sql");

/* ---- machines of the last session ---- */

_Static_assert(BATS_VIEW_NEVER == 0 && BATS_VIEW_HELD == 1 &&
                   BATS_VIEW_PARKED == 2 && BATS_VIEW_RELEASED == 3 &&
                   BATS_VIEW_LOST == 4,
               "machines.sql says so");

int bats_view_machines(struct bats_view *v, const char *name,
                       struct bats_view_machine **list, size_t *n,
                       struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_machine, member)
    static const struct bats_db_column columns[] = {
        C(name),       C(host),    C(cluster), C(charge),       C(slots),
        C(state),      C(since),   C(windows), C(window_began), C(charged),
        C(ended),      C(running), C(shunned), C(why),          C(idle),
        C(idle_until), {0}};
#undef C
    return bats_part_list(v, machines_sql.begin, columns, sizeof **list, list,
                          n, &v->names, err, BATS_VALUES(BATS_T(name)));
}

int bats_view_loads(struct bats_view *v, struct bats_view_load **list,
                    size_t *n, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_load, member)
    static const struct bats_db_column columns[] = {
        C(machine), C(name), C(task), {0}};
#undef C
    return bats_part_list(v, loads_sql.begin, columns, sizeof **list, list, n,
                          NULL, err, NULL, 0);
}

int bats_view_outputs(struct bats_view *v, struct bats_view_output **list,
                      size_t *n, struct bats_texts *texts,
                      struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_output, member)
    static const struct bats_db_column columns[] = {
        C(task),   C(attempt),   C(dir),       C(run),
        C(stream), C(begin),     C(end),       C(exit_status),
        C(signal), C(out_bytes), C(err_bytes), {0}};
#undef C
    return bats_part_list(v, outputs_sql.begin, columns, sizeof **list, list,
                          n, texts, err, NULL, 0);
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
        columns, r, err, NULL, 0);
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
        columns, sizeof **sessions, sessions, n, NULL, err, NULL, 0);
    if (*n > 0 && view->is_live)
        --*n;
    return rc;
}

int bats_view_results(struct bats_view *view, int64_t session,
                      struct bats_view_result **list, size_t *n,
                      struct bats_texts *texts, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_view_result, member)
    static const struct bats_db_column columns[] = {
        C(command), C(cluster), C(seconds), C(number), C(category), {0}};
#undef C
    int rc = bats_part_get(view, kinds_sql.begin, NULL, NULL, err,
                           BATS_VALUES(BATS_I(session)));
    return rc < 0 ? rc
                  : bats_part_list(view, results_sql.begin, columns,
                                   sizeof **list, list, n, texts, err,
                                   BATS_VALUES(BATS_I(session)));
}

int bats_view_runtimes(struct bats_view *view, bats_time **runtimes, size_t *n,
                       struct bats_error *err)
{
    return bats_part_list(view, runtimes_sql.begin, bats_db_whole,
                          sizeof **runtimes, runtimes, n, NULL, err, NULL, 0);
}

int bats_view_workflows(struct bats_view *v, struct bats_purse_status **list,
                        size_t *n, struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct bats_purse_status, member)
    static const struct bats_db_column columns[] = {
        C(name), C(budget), C(charged), C(held),   C(deadline), C(ended),
        C(done), C(failed), C(skipped), C(unpaid), C(left),     {0}};
#undef C
    int rc = bats_part_list(v, workflows_sql.begin, columns, sizeof **list,
                            list, n, &v->workflows, err, NULL, 0);
    for (size_t i = 0; i < *n && !v->is_live; i++)
        (*list)[i].held = 0;
    return rc;
}
