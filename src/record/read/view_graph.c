/* view_graph: the dependencies of a run. */
#include "record/graph.h"
#include "record/read/part.h"

struct reading {
    struct bats_graph *graph;
    int64_t session, n_tasks, n_nodes;
};

static int read_graph(struct bats_view *v, void *context,
                      struct bats_error *err)
{
#define C(member) BATS_COLUMN(struct reading, member)
    static const struct bats_db_column columns[] = {
        C(session), C(n_tasks), C(n_nodes), {0}};
#undef C
    struct reading *r = context;
    int rc = bats_db_get(&v->db,
                         "SELECT id, n_tasks, CASE WHEN json_valid(options)"
                         "  THEN json_extract(options, '$.engine.graph_nodes')"
                         "  END FROM session ORDER BY id DESC LIMIT 1",
                         columns, r, err, NULL, 0);
    bats_graph_release(r->graph); /* of an earlier try */
    *r->graph = (struct bats_graph){0};
    if (r->n_nodes < 0 || r->n_nodes >= UINT32_MAX)
        r->n_nodes = 0;
    if (rc == 0 && (r->n_tasks < 1 || r->n_tasks >= UINT32_MAX ||
                    (r->n_nodes > 0 && r->n_nodes < r->n_tasks)))
        rc = bats_error_set(err, BATS_EINPUT,
                            "%s is damaged: it lacks the number of tasks",
                            v->path);
    if (rc < 0)
        return rc;
    uint32_t n = (uint32_t)r->n_tasks;
    return r->n_nodes > 0
               ? bats_record_graph_read(&v->db, r->session, n,
                                        (uint32_t)r->n_nodes, r->graph, err)
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
