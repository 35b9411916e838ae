/* view_graph: which tasks of a run wait for which others. */
#include <jansson.h>

#include "record/graph.h"
#include "record/read/part.h"

static uint32_t nodes_of(const char *options)
{
    json_t *all = json_loads(options, 0, NULL);
    json_int_t n = json_integer_value(json_object_get(
        json_object_get(all, "engine"), "graph_nodes"));
    json_decref(all);
    return n > 0 && n < UINT32_MAX ? (uint32_t)n : 0;
}

struct reading {
    struct bats_graph *graph;
    int64_t session, n_tasks;
    uint32_t n_nodes;
};

static int take_session(void *context, sqlite3_stmt *s, struct bats_error *err)
{
    struct reading *r = context;
    (void)err;
    r->session = sqlite3_column_int64(s, 0);
    r->n_tasks = sqlite3_column_int64(s, 1);
    r->n_nodes = nodes_of(bats_view_text(s, 2));
    return 0;
}

static int read_graph(struct bats_view *v, void *context,
                      struct bats_error *err)
{
    struct reading *r = context;
    int rc = bats_part_each(v,
                            "SELECT id, n_tasks, options FROM session "
                            "ORDER BY id DESC LIMIT 1",
                            take_session, r, err);
    bats_graph_release(r->graph); /* of an earlier try */
    *r->graph = (struct bats_graph){0};
    if (rc == 0 && (r->n_tasks < 1 || r->n_tasks >= UINT32_MAX ||
                    (r->n_nodes > 0 && r->n_nodes < r->n_tasks)))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: it lacks the number of tasks",
                            v->path);
    if (rc < 0)
        return rc;
    uint32_t n = (uint32_t)r->n_tasks;
    return r->n_nodes > 0
               ? bats_record_graph_read(&v->db, r->session, n, r->n_nodes,
                                        r->graph, err)
               : bats_graph_init(r->graph, n, n, NULL, 0, err);
}

int bats_view_graph(struct bats_view *v, struct bats_graph *graph,
                    bool *has_edges, struct bats_error *err)
{
    struct reading r = {.graph = graph};
    *graph = (struct bats_graph){0};
    int rc = bats_part_take(v, read_graph, &r, err);
    *has_edges = r.n_nodes > 0;
    return rc;
}
