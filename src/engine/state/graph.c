/* graph: see bats/graph.h. */
#include "bats/graph.h"
#include "bats/estimate.h"

#include <stdlib.h>
#include <string.h>

/* Counting sort by parent; keeps the order of the list. */
static void sort_edges(struct bats_graph *g, const struct bats_edge *edges,
                       uint64_t n_edges)
{
    for (uint64_t i = 0; i < n_edges; i++)
        g->first[edges[i].parent + 1]++;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        g->first[i + 1] += g->first[i];
    for (uint64_t i = 0; i < n_edges; i++)
        g->child[g->first[edges[i].parent]++] = edges[i].child;
    memmove(g->first + 1, g->first, g->n_nodes * sizeof *g->first);
    g->first[0] = 0;
}

/* Drops duplicate edges. seen, by node: the last parent that had it as a
 * child, + 1. */
static void drop_doubles(struct bats_graph *g, uint32_t *seen)
{
    uint64_t kept = 0, begin = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint64_t end = g->first[i + 1];
        for (uint64_t k = begin; k < end; k++) {
            uint32_t child = g->child[k];
            if (seen[child] == i + 1)
                continue;
            seen[child] = i + 1;
            g->child[kept++] = child;
        }
        begin = end;
        g->first[i + 1] = kept;
    }
}

int bats_graph_init(struct bats_graph *g, uint32_t n_tasks, uint32_t n_nodes,
                    const struct bats_edge *edges, uint64_t n_edges,
                    struct bats_error *err)
{
    *g = (struct bats_graph){.n_tasks = n_tasks, .n_nodes = n_nodes};
    if (n_nodes < n_tasks || n_nodes == UINT32_MAX)
        return bats_error_set(err, BATS_EINPUT, "too many nodes");
    for (uint64_t i = 0; i < n_edges; i++)
        if (edges[i].parent >= n_nodes || edges[i].child >= n_nodes)
            return bats_error_set(err, BATS_EINPUT,
                                  "node %u depends on node %u, but there are "
                                  "%u nodes",
                                  edges[i].child, edges[i].parent, n_nodes);
    uint32_t *seen = calloc((size_t)n_nodes + 1, sizeof *seen);
    g->first = calloc((size_t)n_nodes + 1, sizeof *g->first);
    g->child = malloc((n_edges + 1) * sizeof *g->child);
    if (!seen || !g->first || !g->child) {
        free(seen);
        bats_graph_release(g);
        return bats_no_memory(err);
    }
    sort_edges(g, edges, n_edges);
    drop_doubles(g, seen);
    free(seen);
    return 0;
}

void bats_graph_release(struct bats_graph *graph)
{
    free(graph->first);
    free(graph->child);
    free(graph->any);
    graph->first = NULL;
    graph->child = NULL;
    graph->any = NULL;
}

/* ---- an order ---- */

/* Every remaining node waits for a remaining one, so following parents leads
 * to a cycle. Writes that cycle to `order`. */
static uint32_t find_circle(const struct bats_graph *g, uint32_t *missing,
                            uint32_t *parent, uint32_t *order)
{
    uint32_t at = UINT32_MAX, n = 0;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        for (uint64_t k = g->first[i]; missing[i] > 0 && k < g->first[i + 1];
             k++) {
            if (missing[g->child[k]] > 0)
                parent[g->child[k]] = i;
        }
    for (uint32_t i = 0; i < g->n_nodes && at == UINT32_MAX; i++)
        if (missing[i] > 0)
            at = i;
    for (; missing[at] > 0; at = parent[at])
        missing[at] = 0; /* seen */
    uint32_t begin = at;
    do {
        order[n++] = at;
        at = parent[at];
    } while (at != begin);
    for (uint32_t i = 0; i < n / 2; i++) { /* parents first */
        uint32_t other = order[i];
        order[i] = order[n - 1 - i];
        order[n - 1 - i] = other;
    }
    return n;
}

int64_t bats_graph_sort(const struct bats_graph *g, uint32_t *order,
                        uint32_t *n_circle, struct bats_error *err)
{
    uint32_t *missing = calloc((size_t)g->n_nodes + 1, sizeof *missing);
    uint32_t n = 0;
    *n_circle = 0;
    if (!missing)
        return bats_no_memory(err);
    for (uint64_t k = 0; k < bats_graph_edges(g); k++)
        missing[g->child[k]]++;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        if (missing[i] == 0)
            order[n++] = i;
    for (uint32_t i = 0; i < n; i++)
        for (uint64_t k = g->first[order[i]]; k < g->first[order[i] + 1]; k++)
            if (--missing[g->child[k]] == 0)
                order[n++] = g->child[k];
    if (n < g->n_nodes) {
        uint32_t *parent = malloc(g->n_nodes * sizeof *parent);
        if (parent)
            *n_circle = find_circle(g, missing, parent, order + n);
        free(parent);
        if (!parent) {
            free(missing);
            return bats_no_memory(err);
        }
    }
    free(missing);
    return n;
}

void bats_graph_heights(const struct bats_graph *g, const uint32_t *order,
                        int64_t *height)
{
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        uint32_t node = order[i];
        int64_t most = 0;
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
            if (height[g->child[k]] > most)
                most = height[g->child[k]];
        height[node] = most + (node < g->n_tasks);
    }
}

uint32_t bats_graph_chain(const struct bats_graph *g, const uint32_t *order,
                          double *weight, uint32_t *next)
{
    uint32_t first = order[0];
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        uint32_t node = order[i], behind = BATS_GRAPH_END;
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
            if (behind == BATS_GRAPH_END ||
                weight[g->child[k]] > weight[behind])
                behind = g->child[k];
        if (behind != BATS_GRAPH_END)
            weight[node] += weight[behind];
        if (next)
            next[node] = behind;
        if (i == g->n_nodes - 1 || weight[node] >= weight[first])
            first = node;
    }
    return first;
}

int bats_graph_levels(const struct bats_graph *g, const uint8_t *left,
                      struct bats_levels *levels, struct bats_error *err)
{
    uint32_t *order = malloc(((size_t)g->n_nodes + 1) * sizeof *order);
    int64_t *height = malloc(((size_t)g->n_nodes + 1) * sizeof *height);
    uint32_t *tasks = calloc((size_t)g->n_nodes + 1, sizeof *tasks), n_circle;
    int64_t rc = order && height && tasks
                     ? bats_graph_sort(g, order, &n_circle, err)
                     : bats_no_memory(err);
    if (rc >= 0) {
        bats_graph_heights(g, order, height);
        for (uint32_t i = 0; i < g->n_tasks; i++)
            tasks[height[i]] += left[i] != 0;
        bats_levels_of(levels, tasks, (size_t)g->n_nodes + 1);
    }
    free(order);
    free(height);
    free(tasks);
    return rc < 0 ? (int)rc : 0;
}
