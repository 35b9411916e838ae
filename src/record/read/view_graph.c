/* view_graph: which tasks of a run wait for which others. */
#include <jansson.h>
#include <string.h>

#include "record/graph.h"
#include "record/read/view_state.h"

static uint32_t nodes_of(const char *options)
{
    json_t *all = json_loads(options, 0, NULL);
    json_int_t n = json_integer_value(json_object_get(
        json_object_get(all, "engine"), "graph_nodes"));
    json_decref(all);
    return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

int bats_view_graph(struct bats_view *v, struct bats_graph *graph,
                    bool *has_edges, struct bats_error *err)
{
    int64_t session = 0, n_tasks = 0;
    uint32_t n_nodes = 0;
    sqlite3_stmt *s = NULL;
    *graph = (struct bats_graph){0};
    int rc = bats_view_unpack(v, err);
    if (rc == 0)
        rc = bats_db_prepare(&v->db,
                             "SELECT id, n_tasks, options FROM session "
                             "ORDER BY id DESC LIMIT 1",
                             &s, err);
    if (rc == 0 && (rc = bats_db_step(&v->db, s, err)) > 0) {
        session = sqlite3_column_int64(s, 0);
        n_tasks = sqlite3_column_int64(s, 1);
        n_nodes = nodes_of(bats_view_text(s, 2));
    }
    sqlite3_finalize(s);
    *has_edges = n_nodes > 0;
    if (rc >= 0 && (n_tasks < 1 || n_tasks >= UINT32_MAX ||
                    (n_nodes > 0 && n_nodes < n_tasks)))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: it lacks the number of tasks",
                            v->path);
    if (rc < 0)
        return rc;
    return *has_edges
               ? bats_record_graph_read(&v->db, session, (uint32_t)n_tasks,
                                        n_nodes, graph, err)
               : bats_graph_init(graph, (uint32_t)n_tasks, (uint32_t)n_tasks,
                                 NULL, 0, err);
}

int bats_view_elapsed(struct bats_view *v, int64_t *elapsed_us,
                      int64_t *started_us, struct bats_error *err)
{
    bats_time now = 0;
    sqlite3_stmt *s = NULL;
    int rc = bats_view_now(v, &now, err);
    if (rc == 0)
        rc = bats_db_prepare(
            &v->db,
            "SELECT CAST(total(coalesce(ended_us, CASE id WHEN (SELECT"
            "  max(id) FROM session) THEN ?1 ELSE coalesce((SELECT"
            "  max(time_us) FROM event WHERE session = session.id), 0) END)"
            " / time_scale) AS INTEGER), min(started_us) FROM session",
            &s, err);
    if (rc < 0)
        return rc;
    sqlite3_bind_int64(s, 1, now);
    rc = bats_db_step(&v->db, s, err);
    *elapsed_us = sqlite3_column_int64(s, 0);
    *started_us = sqlite3_column_int64(s, 1);
    sqlite3_finalize(s);
    return rc < 0 ? rc : 0;
}
