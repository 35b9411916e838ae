/* Tasks wait for others: the graph, and the bag with one. */
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/bag.h"
#include "bats/graph.h"
#include "helpers/test.h"

#define MANY 30

static struct bats_graph make(uint32_t n_tasks, uint32_t n_nodes,
                              const struct bats_edge *edges, uint64_t n)
{
    struct bats_graph g;
    assert_ok(bats_graph_init(&g, n_tasks, n_nodes, edges, n, &err));
    return g;
}

TEST(children_keep_their_order_and_count_once)
{
    const struct bats_edge edges[] = {{2, 1}, {0, 2}, {0, 1}, {0, 2}, {2, 1}};
    struct bats_graph g = make(3, 3, edges, 5);
    assert_int_equal(bats_graph_edges(&g), 3);
    assert_int_equal(g.first[1], 2);
    assert_int_equal(g.child[0], 2);
    assert_int_equal(g.child[1], 1);
    assert_int_equal(g.first[2], 2);
    assert_int_equal(g.child[2], 1);
    bats_graph_release(&g);
}

TEST(node_that_is_not_there_is_refused)
{
    struct bats_graph g;
    const struct bats_edge edge = {0, 3};
    assert_int_equal(bats_graph_init(&g, 3, 3, &edge, 1, &err), BATS_EINPUT);
}

TEST(circle_is_named_in_its_order)
{
    /* 4 -> 1 -> 3 -> 4 wait for each other, 2 for them; 0 is before them. */
    const struct bats_edge edges[] = {{0, 1}, {1, 3}, {3, 4}, {4, 1}, {3, 2}};
    struct bats_graph g = make(5, 5, edges, 5);
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
    bats_graph_release(&g);
    const struct bats_edge self = {1, 1};
    g = make(2, 2, &self, 1);
    assert_int_equal(bats_graph_sort(&g, order, &n, &err), 1);
    assert_int_equal(n, 1);
    assert_int_equal(order[1], 1);
    bats_graph_release(&g);
}

TEST(heights_are_the_longest_chains)
{
    /* A joint (4) is no task of a chain. */
    const struct bats_edge edges[] = {{0, 1}, {1, 4}, {4, 3}, {2, 3}};
    struct bats_graph g = make(4, 5, edges, 4);
    uint32_t order[5], n;
    int64_t height[5];
    const int64_t expected[5] = {3, 2, 2, 1, 1};
    assert_int_equal(bats_graph_sort(&g, order, &n, &err), 5);
    bats_graph_heights(&g, order, height);
    assert_memory_equal(height, expected, sizeof expected);
    bats_graph_release(&g);
}

/* 1 is heavier than all that waits for 0 but 3, behind the joint. */
TEST(chain_goes_where_the_weight_is)
{
    const struct bats_edge edges[] = {{0, 1}, {0, 4}, {4, 3}, {2, 3}};
    struct bats_graph g = make(4, 5, edges, 4);
    uint32_t order[5], next[5], n;
    double weight[5] = {1, 3, 0.5, 4, 0};
    assert_int_equal(bats_graph_sort(&g, order, &n, &err), 5);
    assert_int_equal(bats_graph_chain(&g, order, weight, next), 0);
    assert_true(weight[0] == 5 && weight[2] == 4.5 && weight[4] == 4);
    assert_int_equal(next[0], 4);
    assert_int_equal(next[4], 3);
    assert_int_equal(next[3], BATS_GRAPH_END);
    bats_graph_release(&g);
}

/* By brute force: task `from` comes before task `to`, and `direct`: with
 * nothing but joints between them. */
static bool comes_before(const struct bats_graph *g, uint32_t from,
                         uint32_t to, bool direct)
{
    for (uint64_t k = g->first[from]; k < g->first[from + 1]; k++) {
        uint32_t child = g->child[k];
        if (child == to)
            return true;
        if ((!direct || child >= g->n_tasks) &&
            comes_before(g, child, to, direct))
            return true;
    }
    return false;
}

static bool has_edge(const struct bats_graph *g, uint32_t from, uint32_t to)
{
    for (uint64_t k = g->first[from]; k < g->first[from + 1]; k++)
        if (g->child[k] == to)
            return true;
    return false;
}

/* Nodes wait for those before them in a random order, so that there is no
 * circle. */
TEST(flat_graph_waits_for_the_same_tasks)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    uint32_t nodes[13], skipped = 0;
    for (int round = 0; round < 2000; round++) {
        uint32_t n = 2 + (uint32_t)gsl_rng_uniform_int(rng, 11);
        uint32_t n_tasks = 1 + (uint32_t)gsl_rng_uniform_int(rng, n);
        struct bats_edge edges[78];
        uint64_t n_edges = 0;
        for (uint32_t i = 0; i < n; i++)
            nodes[i] = i;
        gsl_ran_shuffle(rng, nodes, n, sizeof *nodes);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t k = i + 1; k < n; k++)
                if (gsl_rng_uniform(rng) < .2)
                    edges[n_edges++] = (struct bats_edge){nodes[i], nodes[k]};
        struct bats_graph g = make(n_tasks, n, edges, n_edges), down, up;
        assert_ok(bats_graph_flatten(&g, &down, &up, &err));
        for (uint32_t a = 0; a < n_tasks; a++)
            for (uint32_t b = 0; b < n_tasks; b++) {
                assert_int_equal(comes_before(&g, a, b, false),
                                 comes_before(&down, a, b, false));
                assert_int_equal(has_edge(&down, a, b), has_edge(&up, b, a));
                bool direct = comes_before(&g, a, b, true);
                assert_true(direct || !has_edge(&down, a, b));
                skipped += direct && !has_edge(&down, a, b);
            }
        bats_graph_release(&g);
        bats_graph_release(&down);
        bats_graph_release(&up);
    }
    assert_true(skipped > 0); /* barriers behind barriers */
    gsl_rng_free(rng);
}

/* ---- the bag ---- */

static struct bats_bag connected(uint32_t n, const struct bats_graph *g,
                                 const int64_t *priority)
{
    struct bats_bag bag;
    assert_int_equal(bats_bag_init(&bag, n, 7, NULL), 0);
    assert_int_equal(bats_bag_connect(&bag, g, priority, NULL), 0);
    check_bag(&bag);
    return bag;
}

static void end(struct bats_bag *bag, enum bats_task_state how)
{
    struct bats_position task = bats_bag_draw(bag, 0);
    bats_bag_finish(bag, task, how);
    check_bag(bag);
}

TEST(task_is_ready_when_all_its_parents_are_done)
{
    const struct bats_edge edges[] = {{0, 2}, {1, 2}};
    struct bats_graph g = make(3, 3, edges, 2);
    struct bats_bag bag = connected(3, &g, NULL);
    assert_int_equal(bats_bag_ready(&bag), 2);
    assert_int_equal(bats_bag_left(&bag), 3);
    end(&bag, BATS_TASK_DONE);
    assert_int_equal(bats_bag_ready(&bag), 1);
    assert_int_equal(bag.count[BATS_TASK_BLOCKED], 1);
    end(&bag, BATS_TASK_DONE);
    assert_int_equal(bag.index[bats_bag_peek(&bag, 0).i], 2);
    end(&bag, BATS_TASK_DONE);
    assert_int_equal(bats_bag_left(&bag), 0);
    bats_bag_release(&bag);
    bats_graph_release(&g);
}

TEST(failure_skips_what_waits_for_it_and_no_more)
{
    /* 0, 4 -> joint 6 -> 1 -> 2; 3 waits for any end of 1; 4 -> 5 goes on. */
    const struct bats_edge edges[] = {{0, 6}, {6, 1}, {1, 2},
                                      {1, 3}, {4, 5}, {4, 6}};
    const int64_t priority[] = {9, 1, 1, 1, 1, 1, 1};
    struct bats_graph g = make(6, 7, edges, 6);
    g.any = calloc(7, 1);
    g.any[3] = 1;
    struct bats_bag bag = connected(6, &g, priority);
    end(&bag, BATS_TASK_FAILED);
    assert_int_equal(bag.count[BATS_TASK_SKIPPED], 2);
    assert_int_equal(bag.skipped[0], 1);
    assert_int_equal(bag.skipped[1], 2);
    assert_int_equal(bats_bag_ready(&bag), 2); /* 3 and 4 */
    assert_int_equal(bats_bag_left(&bag), 3);
    end(&bag, BATS_TASK_DONE);
    end(&bag, BATS_TASK_DONE);
    end(&bag, BATS_TASK_DONE);
    assert_int_equal(bag.count[BATS_TASK_DONE], 3);
    bats_bag_release(&bag);
    bats_graph_release(&g);
}

TEST(earlier_sessions_let_start_and_skip)
{
    const struct bats_edge edges[] = {{0, 1}, {2, 3}, {4, 5}};
    const uint8_t earlier[] = {BATS_TASK_DONE,     BATS_TASK_PENDING,
                               BATS_TASK_FAILED,   BATS_TASK_PENDING,
                               BATS_TASK_LEFT_OUT, BATS_TASK_PENDING};
    struct bats_graph g = make(6, 6, edges, 3);
    struct bats_bag bag;
    assert_int_equal(bats_bag_init(&bag, 6, 1, NULL), 0);
    bats_bag_resume(&bag, earlier);
    assert_int_equal(bats_bag_connect(&bag, &g, NULL, NULL), 0);
    check_bag(&bag);
    assert_int_equal(bats_bag_ready(&bag), 1);
    assert_int_equal(bag.index[bats_bag_peek(&bag, 0).i], 1);
    assert_int_equal(bag.count[BATS_TASK_SKIPPED], 2);
    bats_bag_release(&bag);
    bats_graph_release(&g);
}

/* N x M dependencies cost N + M edges; joints may follow joints, and wait for
 * nobody. */
TEST(barrier_holds_all_and_lets_all_go)
{
    enum { N = 20, JOINT = 2 * N, EMPTY };
    struct bats_edge edges[3 * N];
    uint32_t n = 0;
    for (uint32_t i = 0; i < N; i++) {
        edges[n++] = (struct bats_edge){i, JOINT};
        edges[n++] = (struct bats_edge){JOINT, N + i};
    }
    edges[n++] = (struct bats_edge){EMPTY, JOINT};
    struct bats_graph g = make(2 * N, 2 * N + 2, edges, n);
    struct bats_bag bag = connected(2 * N, &g, NULL);
    for (uint32_t i = 0; i < N; i++) {
        assert_int_equal(bats_bag_ready(&bag), N - i);
        assert_true(bag.index[bats_bag_peek(&bag, 0).i] < N);
        end(&bag, BATS_TASK_DONE);
    }
    assert_int_equal(bats_bag_ready(&bag), N);
    bats_bag_release(&bag);
    bats_graph_release(&g);
}

TEST(draws_follow_priority_then_position)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct bats_graph g = make(MANY, MANY, NULL, 0);
    for (unsigned long seed = 1; seed <= 200; seed++) {
        int64_t priority[MANY];
        gsl_rng_set(rng, seed);
        for (uint32_t i = 0; i < MANY; i++)
            priority[i] = (int64_t)gsl_rng_uniform_int(rng, 5);
        struct bats_bag bag = connected(MANY, &g, priority);
        while (bats_bag_ready(&bag) > 0) {
            uint32_t ahead = bats_bag_ready(&bag) < BATS_BAG_AHEAD
                                 ? bats_bag_ready(&bag)
                                 : BATS_BAG_AHEAD;
            /* The k-th best, by counting those that are better. */
            for (uint32_t k = 0; k < ahead; k++) {
                struct bats_position at = bats_bag_peek(&bag, k);
                uint32_t better = 0;
                for (uint32_t i = 0; i < MANY; i++) {
                    int64_t p = priority[bag.index[i]];
                    int64_t q = priority[bag.index[at.i]];
                    better += bag.state[i] == BATS_TASK_PENDING &&
                              (p > q || (p == q && i > at.i));
                }
                assert_int_equal(better, k);
            }
            uint32_t behind = (uint32_t)gsl_rng_uniform_int(rng, ahead);
            struct bats_position wanted = bats_bag_peek(&bag, behind);
            struct bats_position drawn = bats_bag_draw(&bag, behind);
            assert_int_equal(drawn.i, wanted.i);
            if (gsl_rng_uniform(rng) < 0.3)
                bats_bag_put_back(&bag, drawn);
            else
                bats_bag_finish(&bag, drawn, BATS_TASK_DONE);
            check_bag(&bag);
        }
        bats_bag_release(&bag);
    }
    gsl_rng_free(rng);
    bats_graph_release(&g);
}

TEST_MAIN(NULL, NULL)
