/*
 * dag: a graph of tasks, reduced to what a page can show.
 *
 * Layer: report. Pure. A task is on the level of the longest chain of tasks
 * that it waits for. Levels are joined to at most BATS_DAG_COLUMNS columns, and
 * in a column the tasks of one kind are a group; if there are few tasks, each
 * is a group of its own. So the size of the picture does not depend on that of
 * the graph: some 500 groups at most. Time O(tasks + edges).
 *
 * The critical path is the chain that takes longest, by the times that its
 * tasks have taken, and the mean of their kind where they have not run yet;
 * waiting for a machine does not count.
 */
#ifndef BATS_DAG_H
#define BATS_DAG_H

#include "bats/graph.h"
#include "bats/units.h"

#define BATS_DAG_COLUMNS 40
#define BATS_DAG_ROWS    12   /* kinds in a column; the rarer ones together */
#define BATS_DAG_EDGES   1500 /* drawn at most, those that stand for most */
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
    bats_time begin, end; /* of the execution that gave its result; -1: none */
};

struct bats_dag_sum {
    uint32_t tasks, in_state[BATS_DAG_STATES];
    uint32_t timed;       /* tasks with an execution: */
    bats_time took;       /* together */
    bats_time begin, end; /* the first, the last; -1: none */
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
    uint32_t from, to; /* groups; the second one is further right */
    uint32_t n;        /* edges that it stands for */
    bool critical;
};

struct bats_dag {
    uint32_t n_levels, n_columns, n_rows, n_groups, n_edges, n_kinds;
    struct bats_dag_column *columns;
    struct bats_dag_sum *kinds;
    struct bats_dag_group *groups;
    struct bats_dag_edge *edges; /* the critical ones come last */
    uint32_t edges_hidden;
    uint32_t *chain; /* the tasks of the critical path, in order */
    uint32_t n_chain;
    bats_time chain_took;
};

/* `tasks`: n_tasks of the graph, with kinds below n_kinds. To be released in
 * any case. BATS_ENOMEM; BATS_EINPUT: tasks wait for each other. */
int bats_dag_init(struct bats_dag *dag, const struct bats_graph *graph,
                  const struct bats_dag_task *tasks, uint32_t n_kinds,
                  struct bats_error *err);
void bats_dag_release(struct bats_dag *dag);

#endif
