/* The graph of tasks that wait for others. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/graph.h"
#include "helpers/test.h"

static struct bats_graph g; /* the last one that was made */

static void make(uint32_t n_tasks, uint32_t n_nodes,
                 const struct bats_edge *edges, uint64_t n)
{
    bats_graph_release(&g);
    assert_ok(bats_graph_init(&g, n_tasks, n_nodes, edges, n, &err));
}

TEST(children_keep_their_order_and_count_once)
{
    const struct bats_edge edges[] = {{2, 1}, {0, 2}, {0, 1}, {0, 2}, {2, 1}};
    make(3, 3, edges, 5);
    assert_int_equal(bats_graph_edges(&g), 3);
    assert_numbers("2 1 1", g.child[0], g.child[1], g.child[2]);
    assert_numbers("2 2", (int64_t)g.first[1], (int64_t)g.first[2]);
}

TEST(node_that_is_not_there_is_refused)
{
    struct bats_graph none;
    const struct bats_edge edge = {0, 3};
    assert_int_equal(bats_graph_init(&none, 3, 3, &edge, 1, &err),
                     BATS_EINPUT);
}

TEST(circle_is_named_in_its_order)
{
    /* 4 -> 1 -> 3 -> 4 wait for each other, 2 for them; 0 is before them. */
    const struct bats_edge edges[] = {{0, 1}, {1, 3}, {3, 4}, {4, 1}, {3, 2}};
    make(5, 5, edges, 5);
    uint32_t order[5], n;
    assert_int_equal(bats_graph_sort(&g, order, &n, &err), 1);
    assert_int_equal(n, 3);
    for (uint32_t i = 0; i < n; i++) {
        bool follows = false;
        uint32_t from = order[1 + i], to = order[1 + (i + 1) % n];
        for (uint64_t k = g.first[from]; k < g.first[from + 1]; k++)
            follows |= g.child[k] == to;
        assert_true(follows);
    }
    const struct bats_edge self = {1, 1};
    make(2, 2, &self, 1);
    assert_int_equal(bats_graph_sort(&g, order, &n, &err), 1);
    assert_int_equal(n, 1);
    assert_int_equal(order[1], 1);
}

TEST(heights_are_the_longest_chains)
{
    /* A joint (4) is no task of a chain. */
    const struct bats_edge edges[] = {{0, 1}, {1, 4}, {4, 3}, {2, 3}};
    make(4, 5, edges, 4);
    uint32_t order[5], n;
    int64_t height[5];
    const int64_t expected[5] = {3, 2, 2, 1, 1};
    assert_int_equal(bats_graph_sort(&g, order, &n, &err), 5);
    bats_graph_heights(&g, order, height);
    assert_memory_equal(height, expected, sizeof expected);
}

/* 1 is heavier than all that waits for 0 but 3, behind the joint. */
TEST(chain_goes_where_the_weight_is)
{
    const struct bats_edge edges[] = {{0, 1}, {0, 4}, {4, 3}, {2, 3}};
    make(4, 5, edges, 4);
    uint32_t order[5], next[5], n;
    double weight[5] = {1, 3, 0.5, 4, 0};
    assert_int_equal(bats_graph_sort(&g, order, &n, &err), 5);
    assert_int_equal(bats_graph_chain(&g, order, weight, next), 0);
    assert_true(weight[0] == 5 && weight[2] == 4.5 && weight[4] == 4);
    assert_int_equal(next[0], 4);
    assert_int_equal(next[4], 3);
    assert_int_equal(next[3], BATS_GRAPH_END);
}

TEST_MAIN(NULL, NULL)
