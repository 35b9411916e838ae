/*
 * dag: a graph of tasks, reduced to a size that a page can show.
 *
 * Layer: report. Pure. A task's level is the length of the longest chain of
 * tasks that it waits for. Levels are merged into at most BATS_DAG_COLUMNS
 * columns, and the tasks of one kind in a column form a group; if there are
 * few tasks, each is its own group. So the picture has at most some 500
 * groups, whatever the size of the graph. Time O(tasks + edges).
 *
 * The critical path is the chain with the longest total time of its tasks, or
 * the mean of their kind if they have not run; waiting for a machine does not
 * count.
 */
#ifndef BATS_DAG_H
#define BATS_DAG_H

#include "bats/graph.h"
#include "bats/units.h"

#define BATS_DAG_COLUMNS 40
#define BATS_DAG_ROWS    12   /* kinds per column; the rarer ones are merged */
#define BATS_DAG_EDGES   1500 /* edges drawn at most, the heaviest ones */
#define BATS_DAG_OTHERS  UINT32_MAX /* as a kind: several; as a task: none */

enum bats_dag_state {
    BATS_DAG_DONE,
    BATS_DAG_FAILED,
    BATS_DAG_SKIPPED,
    BATS_DAG_RUNNING,
    BATS_DAG_LEFT,
    BATS_DAG_STATES
};

struct bats_dag_task {
    uint32_t kind;
    enum bats_dag_state state;
    bats_time begin, end; /* of the execution with its result; -1: none */
};

struct bats_dag_sum {
    uint32_t tasks, in_state[BATS_DAG_STATES];
    uint32_t timed;       /* tasks with an execution */
    bats_time took;       /* their total time */
    bats_time begin, end; /* the first begin, the last end; -1: none */
    uint32_t critical;    /* tasks on the critical path */
};

struct bats_dag_column {
    uint32_t first, last; /* levels, from 0 */
    struct bats_dag_sum sum;
};

struct bats_dag_group {
    uint32_t column, row;
    uint32_t kind, task; /* BATS_DAG_OTHERS */
    bool is_joint;       /* barriers before the column: no row, no tasks */
    struct bats_dag_sum sum;
};

struct bats_dag_edge {
    uint32_t from, to; /* groups; `to` is further right */
    uint32_t n;        /* number of edges it represents */
    bool critical;
};

struct bats_dag {
    uint32_t n_levels, n_columns, n_rows, n_groups, n_edges, n_kinds;
    struct bats_dag_column *columns;
    struct bats_dag_sum *kinds;
    struct bats_dag_group *groups;
    struct bats_dag_edge *edges; /* the critical ones are last */
    uint32_t edges_hidden;
    uint32_t *chain; /* the tasks of the critical path, in order */
    uint32_t n_chain;
    bats_time chain_took;
};

/* tasks: the graph's n_tasks, with kinds below n_kinds. Release in any case.
 * BATS_ENOMEM; BATS_EINPUT: the graph has a cycle. */
int bats_dag_init(struct bats_dag *dag, const struct bats_graph *graph,
                  const struct bats_dag_task *tasks, uint32_t n_kinds,
                  struct bats_error *err);
void bats_dag_release(struct bats_dag *dag);

#endif
