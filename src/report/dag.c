/* dag: reduces a graph of tasks for a page. See dag.h. */
#include "report/dag.h"

#include <stdlib.h>
#include <string.h>

#define SINGLE_TASKS 150 /* up to this many, each task is shown */
#define SINGLE_ROWS  24  /* unless a column has more */

struct maker {
    struct bats_dag *d;
    const struct bats_graph *g;
    const struct bats_dag_task *tasks;
    uint32_t *order;  /* of nodes, parents first */
    uint32_t *level;  /* by node */
    uint32_t *group;  /* by node */
    uint32_t *next;   /* by node: its successor in the longest chain */
    uint32_t *counts; /* by pair of groups: edges; by column and kind: tasks,
                         then the group */
};

static void add(struct bats_dag_sum *sum, const struct bats_dag_task *t)
{
    sum->tasks++;
    sum->in_state[t->state]++;
    if (t->begin < 0)
        return;
    sum->begin =
        sum->timed == 0 || t->begin < sum->begin ? t->begin : sum->begin;
    sum->end = sum->timed == 0 || t->end > sum->end ? t->end : sum->end;
    sum->took += t->end - t->begin;
    sum->timed++;
}

/* ---- levels and groups ---- */

static void find_levels(struct maker *m)
{
    const struct bats_graph *g = m->g;
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        uint32_t node = m->order[i], is_task = node < g->n_tasks;
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++) {
            uint32_t *level = &m->level[g->child[k]];
            if (*level < m->level[node] + is_task)
                *level = m->level[node] + is_task;
        }
        if (is_task && m->level[node] >= m->d->n_levels)
            m->d->n_levels = m->level[node] + 1;
    }
}

/* A joint behind the last level belongs to it. */
static uint32_t column_of(const struct maker *m, uint32_t node)
{
    const struct bats_dag *d = m->d;
    uint64_t level = m->level[node];
    if (level >= d->n_levels)
        level = d->n_levels - 1;
    return (uint32_t)(level * d->n_columns / d->n_levels);
}

static void sum_up(struct maker *m)
{
    struct bats_dag *d = m->d;
    for (uint32_t level = 0; level < d->n_levels; level++) {
        uint64_t c = (uint64_t)level * d->n_columns / d->n_levels;
        if (level == 0 ||
            c != (uint64_t)(level - 1) * d->n_columns / d->n_levels)
            d->columns[c].first = level;
        d->columns[c].last = level;
    }
    for (uint32_t i = 0; i < m->g->n_tasks; i++) {
        add(&d->columns[column_of(m, i)].sum, &m->tasks[i]);
        add(&d->kinds[m->tasks[i].kind], &m->tasks[i]);
        m->counts[(size_t)column_of(m, i) * d->n_kinds + m->tasks[i].kind]++;
    }
}

static uint32_t new_group(struct maker *m, uint32_t column, uint32_t kind)
{
    m->d->groups[m->d->n_groups] = (struct bats_dag_group){
        .column = column,
        .kind = kind,
        .task = BATS_DAG_OTHERS,
        .sum = {.begin = -1, .end = -1}};
    return m->d->n_groups++;
}

static bool is_single(const struct maker *m)
{
    bool small = m->g->n_tasks <= SINGLE_TASKS &&
                 m->d->n_levels == m->d->n_columns;
    for (uint32_t c = 0; c < m->d->n_columns; c++)
        small &= m->d->columns[c].sum.tasks <= SINGLE_ROWS;
    return small;
}

/* Turns a column's counts into groups: its most frequent kinds, and one group
 * for the others. */
static void divide(struct maker *m, uint32_t column)
{
    uint32_t *count = m->counts + (size_t)column * m->d->n_kinds, others = 0;
    uint32_t n = 0, first = m->d->n_groups;
    for (uint32_t k = 0; k < m->d->n_kinds; k++)
        n += count[k] > 0;
    uint32_t room = n > BATS_DAG_ROWS ? BATS_DAG_ROWS - 1 : n;
    if (n > room)
        others = new_group(m, column, BATS_DAG_OTHERS);
    for (uint32_t i = 0; i < room; i++) {
        uint32_t most = 0;
        for (uint32_t k = 1; k < m->d->n_kinds; k++)
            if (count[k] > count[most])
                most = k;
        new_group(m, column, most);
        count[most] = 0;
    }
    for (uint32_t k = 0; k < m->d->n_kinds; k++)
        count[k] = others;
    for (uint32_t i = first; i < m->d->n_groups; i++)
        if (m->d->groups[i].kind != BATS_DAG_OTHERS)
            count[m->d->groups[i].kind] = i;
}

static void make_groups(struct maker *m)
{
    struct bats_dag *d = m->d;
    uint32_t joint[BATS_DAG_COLUMNS];
    bool single = is_single(m);
    memset(joint, 0xff, sizeof joint);
    for (uint32_t c = 0; !single && c < d->n_columns; c++)
        divide(m, c);
    for (uint32_t i = 0; i < m->g->n_tasks; i++) {
        uint32_t c = column_of(m, i), kind = m->tasks[i].kind;
        m->group[i] = single ? new_group(m, c, kind)
                             : m->counts[(size_t)c * d->n_kinds + kind];
        struct bats_dag_group *group = &d->groups[m->group[i]];
        add(&group->sum, &m->tasks[i]);
        group->task = group->sum.tasks == 1 ? i : BATS_DAG_OTHERS;
    }
    for (uint32_t i = m->g->n_tasks; i < m->g->n_nodes; i++) {
        uint32_t c = column_of(m, i);
        if (joint[c] == UINT32_MAX) {
            joint[c] = new_group(m, c, BATS_DAG_OTHERS);
            d->groups[joint[c]].is_joint = true;
        }
        m->group[i] = joint[c];
    }
}

/* ---- the critical path ---- */

static double weight(const struct maker *m, uint32_t node)
{
    if (node >= m->g->n_tasks)
        return 0;
    const struct bats_dag_task *t = &m->tasks[node];
    const struct bats_dag_sum *kind = &m->d->kinds[t->kind];
    if (t->begin >= 0)
        return (double)(t->end - t->begin);
    return kind->timed > 0 ? (double)kind->took / kind->timed : 0;
}

/* Returns its first node. */
static uint32_t find_chain(struct maker *m, double *length)
{
    for (uint32_t i = 0; i < m->g->n_nodes; i++)
        length[i] = weight(m, i);
    uint32_t first = bats_graph_chain(m->g, m->order, length, m->next);
    m->d->chain_took = (bats_time)length[first];
    return first;
}

static void list_chain(struct maker *m, uint32_t node)
{
    struct bats_dag *d = m->d;
    for (; node != BATS_GRAPH_END; node = m->next[node]) {
        if (node >= m->g->n_tasks)
            continue;
        d->chain[d->n_chain++] = node;
        d->columns[column_of(m, node)].sum.critical++;
        d->kinds[m->tasks[node].kind].critical++;
        d->groups[m->group[node]].sum.critical++;
    }
}

/* ---- edges ---- */

static int by_number(const void *left, const void *right)
{
    const struct bats_dag_edge *a = left, *b = right;
    if (a->critical != b->critical)
        return a->critical - b->critical;
    if (a->n != b->n)
        return a->n < b->n ? -1 : 1;
    return a->from != b->from ? (a->from < b->from ? -1 : 1)
                              : (a->to > b->to) - (a->to < b->to);
}

/* Counts edges between groups, except within a column. */
static void count_edges(struct maker *m)
{
    const struct bats_graph *g = m->g;
    const struct bats_dag_group *groups = m->d->groups;
    memset(m->counts, 0,
           (size_t)m->d->n_groups * m->d->n_groups * sizeof *m->counts);
    for (uint32_t i = 0; i < g->n_nodes; i++)
        for (uint64_t k = g->first[i]; k < g->first[i + 1]; k++) {
            uint32_t a = m->group[i], b = m->group[g->child[k]];
            if (groups[a].column < groups[b].column ||
                (groups[a].is_joint && !groups[b].is_joint))
                m->counts[(size_t)a * m->d->n_groups + b]++;
        }
}

static int list_edges(struct maker *m, uint32_t first)
{
    struct bats_dag *d = m->d;
    size_t n = 0, pairs = (size_t)d->n_groups * d->n_groups;
    count_edges(m);
    for (size_t i = 0; i < pairs; i++)
        n += m->counts[i] > 0;
    d->edges = calloc(n + 1, sizeof *d->edges);
    if (!d->edges)
        return BATS_ENOMEM;
    for (size_t i = 0; i < pairs; i++)
        if (m->counts[i] > 0) {
            d->edges[d->n_edges] = (struct bats_dag_edge){
                (uint32_t)(i / d->n_groups), (uint32_t)(i % d->n_groups),
                m->counts[i], false};
            m->counts[i] = ++d->n_edges;
        }
    for (uint32_t a = first, b; (b = m->next[a]) != BATS_GRAPH_END; a = b) {
        uint32_t edge =
            m->counts[(size_t)m->group[a] * d->n_groups + m->group[b]];
        if (edge > 0)
            d->edges[edge - 1].critical = true;
    }
    qsort(d->edges, d->n_edges, sizeof *d->edges, by_number);
    if (d->n_edges > BATS_DAG_EDGES) {
        d->edges_hidden = d->n_edges - BATS_DAG_EDGES;
        d->n_edges = BATS_DAG_EDGES;
        memmove(d->edges, d->edges + d->edges_hidden,
                d->n_edges * sizeof *d->edges);
    }
    return 0;
}

/* ---- rows ---- */

/* Places each group near the middle of those it waits for (barycentre method,
 * Sugiyama et al., 1981, one sweep). */
static void place_rows(struct bats_dag *d, double *middle)
{
    for (uint32_t c = 0; c < d->n_columns; c++) {
        uint32_t n = 0;
        for (uint32_t i = 0; i < d->n_groups; i++) {
            double sum = 0;
            uint32_t parents = 0;
            if (d->groups[i].column != c || d->groups[i].is_joint)
                continue;
            for (uint32_t k = 0; k < d->n_edges; k++)
                if (d->edges[k].to == i &&
                    !d->groups[d->edges[k].from].is_joint) {
                    sum += d->groups[d->edges[k].from].row;
                    parents++;
                }
            middle[i] = parents > 0 ? sum / parents : (double)n;
            n++;
        }
        for (uint32_t i = 0; i < d->n_groups; i++) {
            d->groups[i].row = d->groups[i].column == c ? 0 : d->groups[i].row;
            for (uint32_t k = 0; k < d->n_groups; k++)
                if (d->groups[i].column == c && d->groups[k].column == c &&
                    !d->groups[k].is_joint &&
                    (middle[k] < middle[i] ||
                     (middle[k] <= middle[i] && k < i)))
                    d->groups[i].row++;
        }
        d->n_rows = n > d->n_rows ? n : d->n_rows;
    }
}

/* ---- all together ---- */

static int make(struct maker *m, struct bats_error *err)
{
    struct bats_dag *d = m->d;
    uint32_t n_circle;
    int64_t n = bats_graph_sort(m->g, m->order, &n_circle, err);
    if (n >= 0 && n < m->g->n_nodes)
        return bats_refuse(err, "some of its tasks wait for each other");
    if (n < 0)
        return (int)n;
    find_levels(m);
    d->n_columns =
        d->n_levels < BATS_DAG_COLUMNS ? d->n_levels : BATS_DAG_COLUMNS;
    size_t most = (size_t)d->n_columns * (BATS_DAG_ROWS + 1);
    most = most < SINGLE_TASKS + BATS_DAG_COLUMNS
               ? SINGLE_TASKS + BATS_DAG_COLUMNS
               : most;
    size_t pairs = most * most, cells = (size_t)d->n_columns * d->n_kinds;
    m->counts = calloc(pairs > cells ? pairs : cells, sizeof *m->counts);
    d->columns = calloc(d->n_columns, sizeof *d->columns);
    d->kinds = calloc(d->n_kinds, sizeof *d->kinds);
    d->groups = calloc(most, sizeof *d->groups);
    d->chain = calloc(d->n_levels, sizeof *d->chain);
    double *length = calloc(m->g->n_nodes + most, sizeof *length);
    int rc = m->counts && d->columns && d->kinds && d->groups && d->chain &&
                     length
                 ? 0
                 : BATS_ENOMEM;
    if (rc == 0) {
        for (uint32_t i = 0; i < d->n_columns; i++)
            d->columns[i].sum.begin = d->columns[i].sum.end = -1;
        for (uint32_t i = 0; i < d->n_kinds; i++)
            d->kinds[i].begin = d->kinds[i].end = -1;
        sum_up(m);
        make_groups(m);
        uint32_t first = find_chain(m, length);
        list_chain(m, first);
        rc = list_edges(m, first);
    }
    if (rc == 0)
        place_rows(d, length);
    free(length);
    return rc < 0 ? bats_error_set(err, rc, "out of memory") : 0;
}

int bats_dag_init(struct bats_dag *d, const struct bats_graph *g,
                  const struct bats_dag_task *tasks, uint32_t n_kinds,
                  struct bats_error *err)
{
    struct maker m = {.d = d, .g = g, .tasks = tasks};
    *d = (struct bats_dag){.n_kinds = n_kinds};
    uint32_t *lists = calloc((size_t)g->n_nodes * 4 + 1, sizeof *lists);
    if (!lists)
        return bats_no_memory(err);
    m.order = lists;
    m.level = m.order + g->n_nodes;
    m.group = m.level + g->n_nodes;
    m.next = m.group + g->n_nodes;
    int rc = make(&m, err);
    free(m.counts);
    free(lists);
    return rc;
}

void bats_dag_release(struct bats_dag *d)
{
    free(d->columns);
    free(d->kinds);
    free(d->groups);
    free(d->edges);
    free(d->chain);
    *d = (struct bats_dag){0};
}
