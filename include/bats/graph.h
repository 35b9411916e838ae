/*
 * graph: which tasks wait for the end of others.
 *
 * Layer: engine, used by the engine and by those who read workflows. A node is
 * a task (0 .. n_tasks - 1, its index in the bag) or a *joint* (the numbers
 * after those): a joint runs nothing and is over as soon as it waits for
 * nobody. N tasks that M others wait for are N x M edges, or N + M with a joint
 * between them: a barrier is one.
 *
 * A node waits for its parents. By default all of them must be DONE, and a node
 * that has one which is not going to be DONE is skipped, and what waits for it,
 * too. A node that waits for `any` end starts when all of its parents have
 * ended, however they have, or were skipped.
 *
 * The edges are kept by parent (compressed sparse rows): 4 bytes an edge, 8 a
 * node.
 */
#ifndef BATS_GRAPH_H
#define BATS_GRAPH_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_levels; /* bats/estimate.h */

struct bats_graph {
    uint32_t n_tasks; /* the first nodes */
    uint32_t n_nodes; /* with the joints */
    uint64_t *first;  /* n_nodes + 1: the children of node i are */
    uint32_t *child;  /* child[first[i]] .. child[first[i + 1] - 1] */
    uint8_t *any;     /* by node: not 0 = it waits for any end; NULL: none does
                       */
};

struct bats_edge {
    uint32_t parent, child; /* nodes */
};

static inline uint64_t bats_graph_edges(const struct bats_graph *graph)
{
    return graph->first[graph->n_nodes];
}

/* A graph of these edges; the children of a node come in the order of the list,
 * and an edge that is there twice counts once. No node waits for any end.
 * BATS_EINPUT: a node that is not there; BATS_ENOMEM. To be released. */
int bats_graph_init(struct bats_graph *graph, uint32_t n_tasks,
                    uint32_t n_nodes, const struct bats_edge *edges,
                    uint64_t n_edges, struct bats_error *err);
void bats_graph_release(struct bats_graph *graph);

/*
 * Puts the nodes into an order in which each comes after its parents; of nodes
 * that could come next, the one that became free first. `order` has room for
 * n_nodes. Returns how many there are: less than n_nodes if some wait for each
 * other, and then the next entries are one such circle, each node before one
 * that waits for it, and *n_circle is its length. BATS_ENOMEM (negative).
 */
int64_t bats_graph_sort(const struct bats_graph *graph, uint32_t *order,
                        uint32_t *n_circle, struct bats_error *err);

/*
 * The same without joints, for those who know none: *children has an edge for
 * each task that another one waits for, directly or through joints, and
 * *parents has those edges the other way round. Where the tasks before a joint
 * wait for another joint, the tasks before that one are not repeated. Both are
 * to be released. BATS_ENOMEM.
 */
int bats_graph_flatten(const struct bats_graph *graph,
                       struct bats_graph *children, struct bats_graph *parents,
                       struct bats_error *err);

/* By node, the number of tasks in the longest chain that begins with it, each
 * waiting for the one before. `order`: of bats_graph_sort, complete. */
void bats_graph_heights(const struct bats_graph *graph, const uint32_t *order,
                        int64_t *height);

/* The same by weight: turns weight[i] >= 0 of node i itself into that of the
 * heaviest chain that begins with it. Returns the node with which the heaviest
 * of all begins; next[i] (next may be NULL) is the one behind node i, or
 * BATS_GRAPH_END. The graph has nodes. */
#define BATS_GRAPH_END UINT32_MAX
uint32_t bats_graph_chain(const struct bats_graph *graph,
                          const uint32_t *order, double *weight,
                          uint32_t *next);

/* The levels (bats/estimate.h) of the tasks that are left, by their heights;
 * left[i] is 0 for the others. None may wait for itself. BATS_ENOMEM. */
int bats_graph_levels(const struct bats_graph *graph, const uint8_t *left,
                      struct bats_levels *levels, struct bats_error *err);

#endif
