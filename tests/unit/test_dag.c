/* dag: a graph of tasks, reduced to what a page can show. */
#include "helpers/test.h"
#include "report/dag.h"

static struct bats_dag_task ran(uint32_t kind, bats_time begin, bats_time end)
{
    return (struct bats_dag_task){kind, BATS_DAG_DONE, begin, end};
}

/* 0 before 1 and 2, both before 3; 4 alone. 2 takes longer than 1. */
static void diamond(struct bats_dag *d, struct bats_graph *g)
{
    const struct bats_edge edges[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};
    struct bats_dag_task tasks[] = {ran(0, 0, 10),
                                    ran(1, 10, 20),
                                    ran(1, 15, 35),
                                    ran(2, 35, 40),
                                    {0, BATS_DAG_LEFT, -1, -1}};
    struct bats_error err;
    assert_int_equal(bats_graph_init(g, 5, 5, edges, 4, &err), 0);
    assert_int_equal(bats_dag_init(d, g, tasks, 3, &err), 0);
}

TEST(levels_are_summed_and_the_longest_chain_is_found)
{
    struct bats_dag d;
    struct bats_graph g;
    diamond(&d, &g);
    assert_int_equal(d.n_levels, 3);
    assert_int_equal(d.columns[0].sum.tasks, 2);
    assert_int_equal(d.columns[1].sum.tasks, 2);
    assert_int_equal(d.columns[1].sum.took, 30);
    assert_int_equal(d.columns[1].sum.begin, 10);
    assert_int_equal(d.columns[1].sum.end, 35);
    assert_int_equal(d.columns[0].sum.in_state[BATS_DAG_LEFT], 1);
    assert_int_equal(d.n_chain, 3);
    assert_int_equal(d.chain[0], 0);
    assert_int_equal(d.chain[1], 2);
    assert_int_equal(d.chain[2], 3);
    assert_int_equal(d.chain_took, 35);
    bats_dag_release(&d);
    bats_graph_release(&g);
}

TEST(few_tasks_are_shown_one_by_one)
{
    struct bats_dag d;
    struct bats_graph g;
    uint32_t critical = 0;
    diamond(&d, &g);
    assert_int_equal(d.n_groups, 5);
    assert_int_equal(d.n_edges, 4);
    assert_int_equal(d.n_rows, 2);
    for (uint32_t i = 0; i < d.n_edges; i++) {
        const struct bats_dag_edge *e = &d.edges[i];
        bool on_path =
            d.groups[e->from].task != 1 && d.groups[e->to].task != 1;
        assert_int_equal(e->critical, on_path);
        assert_true(i < 2 || e->critical); /* drawn above the others */
        critical += e->critical;
    }
    assert_int_equal(critical, 2);
    bats_dag_release(&d);
    bats_graph_release(&g);
}

TEST(a_task_that_has_not_run_counts_with_the_mean_of_its_kind)
{
    const struct bats_edge edges[] = {{0, 1}, {2, 3}};
    struct bats_dag_task tasks[] = {ran(0, 0, 10),
                                    ran(1, 10, 12),
                                    ran(1, 0, 4),
                                    {0, BATS_DAG_LEFT, -1, -1}};
    struct bats_error err;
    struct bats_dag d;
    struct bats_graph g;
    assert_int_equal(bats_graph_init(&g, 4, 4, edges, 2, &err), 0);
    assert_int_equal(bats_dag_init(&d, &g, tasks, 2, &err), 0);
    assert_int_equal(d.chain_took, 14);
    assert_int_equal(d.chain[0], 2);
    bats_dag_release(&d);
    bats_graph_release(&g);
}

/* 100 tasks, a joint, 100 tasks: two groups, and a dot between them. */
TEST(a_barrier_is_one_dot)
{
    struct bats_edge edges[200];
    struct bats_dag_task tasks[200];
    struct bats_error err;
    struct bats_dag d;
    struct bats_graph g;
    for (uint32_t i = 0; i < 100; i++) {
        edges[2 * i] = (struct bats_edge){i, 200};
        edges[2 * i + 1] = (struct bats_edge){200, 100 + i};
        tasks[i] = ran(0, 0, 1 + i);
        tasks[100 + i] = ran(0, 100, 101 + i);
    }
    assert_int_equal(bats_graph_init(&g, 200, 201, edges, 200, &err), 0);
    assert_int_equal(bats_dag_init(&d, &g, tasks, 1, &err), 0);
    assert_int_equal(d.n_levels, 2);
    assert_int_equal(d.n_groups, 3);
    assert_int_equal(d.n_edges, 2);
    assert_int_equal(d.edges[0].n, 100);
    assert_true(d.edges[0].critical && d.edges[1].critical);
    assert_int_equal(d.n_chain, 2);
    assert_int_equal(d.chain_took, 200);
    bats_dag_release(&d);
    bats_graph_release(&g);
}

/* A million tasks of 500 kinds, each waiting for two before it. */
TEST(a_picture_of_a_million_tasks_is_no_larger)
{
    enum { N = 1000000 };
    struct bats_edge *edges = malloc(2 * N * sizeof *edges);
    struct bats_dag_task *tasks = malloc(N * sizeof *tasks);
    struct bats_error err;
    struct bats_dag d;
    struct bats_graph g;
    uint32_t n = 0, sum = 0, seed = 1;
    for (uint32_t i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        tasks[i] = ran((seed >> 8) % 500, i, i + 1 + (seed >> 20));
        for (uint32_t k = 1; k <= 2 && i >= 1000; k++) {
            seed = seed * 1664525 + 1013904223;
            edges[n++] = (struct bats_edge){i - 1000 + (seed >> 16) % 900, i};
        }
    }
    assert_int_equal(bats_graph_init(&g, N, N, edges, n, &err), 0);
    assert_int_equal(bats_dag_init(&d, &g, tasks, 500, &err), 0);
    assert_true(d.n_levels >= 1000);
    assert_int_equal(d.n_columns, BATS_DAG_COLUMNS);
    assert_int_equal(d.n_rows, BATS_DAG_ROWS);
    assert_true(d.n_groups <= BATS_DAG_COLUMNS * (BATS_DAG_ROWS + 1));
    assert_true(d.n_edges <= BATS_DAG_EDGES);
    for (uint32_t i = 1; i < d.n_edges; i++)
        assert_true(d.edges[i - 1].critical < d.edges[i].critical ||
                    (d.edges[i - 1].critical == d.edges[i].critical &&
                     d.edges[i - 1].n <= d.edges[i].n));
    for (uint32_t i = 0; i < d.n_groups; i++)
        sum += d.groups[i].sum.tasks;
    assert_int_equal(sum, N);
    for (uint32_t i = 1; i < d.n_chain; i++) {
        bool is_child = false;
        for (uint64_t k = g.first[d.chain[i - 1]];
             k < g.first[d.chain[i - 1] + 1]; k++)
            is_child |= g.child[k] == d.chain[i];
        assert_true(is_child);
    }
    bats_dag_release(&d);
    bats_graph_release(&g);
    free(edges);
    free(tasks);
}

TEST_MAIN(NULL, NULL)
