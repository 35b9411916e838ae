/* profile_graph: tasks that wait for others. See profile.h. */
#include <stdlib.h>

#include "input/profile.h"

/* Finished tasks have no weight and are not on the path. */
static int set_path(struct bats_critical_path *path,
                    const struct bats_graph *g, const uint8_t *left,
                    const double *weight, struct bats_error *err)
{
    uint32_t n_circle,
        *order = malloc(((size_t)g->n_nodes + 1) * sizeof *order),
        *next = malloc(((size_t)g->n_nodes + 1) * sizeof *next);
    double *length = calloc((size_t)g->n_nodes + 1, sizeof *length);
    uint32_t *task = malloc(((size_t)g->n_tasks + 1) * sizeof *task), n = 0;
    int64_t rc = order && next && length && task
                     ? bats_graph_sort(g, order, &n_circle, err)
                     : bats_no_memory(err);
    for (uint32_t i = 0; rc >= 0 && i < g->n_tasks; i++)
        length[i] = !left[i] ? 0 : weight ? weight[i] : 1;
    if (rc >= 0) {
        uint32_t node = bats_graph_chain(g, order, length, next);
        double means = length[node];
        for (; node != BATS_GRAPH_END; node = next[node])
            if (node < g->n_tasks && left[node])
                task[n++] = node;
        free(path->task);
        *path = (struct bats_critical_path){task, n, means};
        task = NULL;
    }
    free(order);
    free(next);
    free(length);
    free(task);
    return rc < 0 ? (int)rc : 0;
}

int bats_profile_set_graph(struct bats_profile *profile,
                           const struct bats_graph *graph, const uint8_t *left,
                           const double *weight, struct bats_error *err)
{
    int rc = bats_graph_levels(graph, left, &profile->levels, err);
    return rc < 0 ? rc : set_path(&profile->path, graph, left, weight, err);
}
