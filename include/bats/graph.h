/*
 * graph: the dependencies between tasks.
 *
 * Layer: engine, used by the engine and by those who read workflows. A node is
 * a task (0 .. n_tasks - 1, its index in the bag) or a *joint* (the numbers
 * after those). A joint runs nothing and is over as soon as its parents are.
 * If M tasks wait for N others, that takes N x M edges, or N + M with a joint
 * between them: a barrier is a joint.
 *
 * A node waits for its parents. By default all of them must be DONE; if one
 * never will be, the node is skipped, and so in turn are the nodes that wait
 * for it. A node that waits for `any` end starts when all of its parents have
 * ended in any way or were skipped.
 *
 * The edges are kept by parent (compressed sparse rows): 4 bytes an edge, 8 a
 * node.
 */
#ifndef BATS_GRAPH_H
#define BATS_GRAPH_H

#include <stdint.h>

#include "bats/error.h"

struct bats_levels; /* bats/estimate.h */

struct bats_graph {
    uint32_t n_tasks; /* the first nodes */
    uint32_t n_nodes; /* with the joints */
    uint64_t *first;  /* n_nodes + 1: the children of node i are */
    uint32_t *child;  /* child[first[i]] .. child[first[i + 1] - 1] */
    uint8_t *any;     /* by node: not 0 = waits for any end; NULL: none does */
};

struct bats_edge {
    uint32_t parent, child; /* nodes */
};

static inline uint64_t bats_graph_edges(const struct bats_graph *graph)
{
    return graph->first[graph->n_nodes];
}

/* Builds a graph. The children of a node keep the order of the list; duplicate
 * edges count once. No node waits for any end. BATS_EINPUT: a node out of
 * range; BATS_ENOMEM. The caller releases it. */
int bats_graph_init(struct bats_graph *graph, uint32_t n_tasks,
                    uint32_t n_nodes, const struct bats_edge *edges,
                    uint64_t n_edges, struct bats_error *err);
void bats_graph_release(struct bats_graph *graph);

/*
 * Sorts the nodes topologically; among candidates, the one that became free
 * first comes first. `order` has room for n_nodes. Returns the number sorted:
 * less than n_nodes if there is a cycle; then the next *n_circle entries are
 * one, each node before one that waits for it. BATS_ENOMEM (negative).
 */
int64_t bats_graph_sort(const struct bats_graph *graph, uint32_t *order,
                        uint32_t *n_circle, struct bats_error *err);

/* By node, the number of tasks in the longest chain that begins with it.
 * `order`: from bats_graph_sort, complete. */
void bats_graph_heights(const struct bats_graph *graph, const uint32_t *order,
                        int64_t *height);

/* The same by weight: turns weight[i] >= 0 of node i into that of the heaviest
 * chain that begins with it. Returns the first node of the heaviest chain of
 * all; next[i] (next may be NULL) is the node after i in its chain, or
 * BATS_GRAPH_END. The graph must have nodes. */
#define BATS_GRAPH_END UINT32_MAX
uint32_t bats_graph_chain(const struct bats_graph *graph,
                          const uint32_t *order, double *weight,
                          uint32_t *next);

/* Levels (bats/estimate.h) of the tasks left, by their heights; left[i] is 0
 * for the others. The graph must have no cycle. BATS_ENOMEM. */
int bats_graph_levels(const struct bats_graph *graph, const uint8_t *left,
                      struct bats_levels *levels, struct bats_error *err);

#endif
