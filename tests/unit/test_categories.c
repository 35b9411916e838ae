/* The runtimes of a kind of task are learned, and decide which chain comes
 * first. */
#include "bats/sched.h"
#include "helpers/play_fixture.h"

#define TASKS 7
#define MANY 300

/* 0 and 1 come first. Then two chains: 2 -> 4 -> 5 and 3 -> 6. */
static const struct bats_edge edges[] = {{0, 7}, {1, 7}, {7, 2}, {7, 3},
                                         {2, 4}, {4, 5}, {3, 6}};
static const uint16_t category[TASKS] = {0, 1, 0, 1, 0, 0, 1};
static struct bats_graph graph;
static bats_time now;

/* Machine 1 is of the second cluster, if there are two. */
static void prepare(bool kinds, uint32_t n_clusters)
{
    bats_graph_release(&graph);
    assert_ok(bats_graph_init(&graph, TASKS, TASKS + 1, edges, 7, &err));
    *p = (struct play){
        .clusters = {{"c", BATS_UNIT, 4}, {"d", BATS_UNIT, 4}},
        .machines = {{0, 1}, {n_clusters - 1, 1}, {0, 1}, {0, 1}},
        .o = {.policy = &bats_policy_rr,
              .n_tasks = TASKS,
              .graph = &graph,
              .category = kinds ? category : NULL,
              .n_categories = kinds ? 2 : 0,
              .n_clusters = n_clusters,
              .n_machines = 4,
              .window = 1000 * BATS_HOUR,
              .budget = BATS_UNLIMITED}};
}

/* The task of machine 0 ends; returns the next one there. */
static uint32_t end_first(void)
{
    bats_time runtime = category[p->runs[0]] == 0 ? BATS_MINUTE : BATS_HOUR;
    now += runtime;
    done(now, 0, runtime);
    return p->runs[0];
}

/* The two first tasks in either order; returns what is run after them. */
static uint32_t begin(bool kinds, uint32_t n_machines)
{
    prepare(kinds, 1);
    p->o.n_machines = n_machines;
    assert_ok(create(&err));
    now = 1; /* later than 0: whoever is there begins */
    happen(now, BATS_EVENT_JOINED, 0);
    assert_true(p->runs[0] < 2);
    assert_true(end_first() < 2);
    return end_first();
}

TEST(chain_of_long_tasks_comes_first_once_that_is_known)
{
    assert_int_equal(begin(false, 1), 2); /* three tasks, against two */
    assert_int_equal(begin(true, 1), 3);  /* two hours, against 3 minutes */
}

TEST(forecast_is_no_sooner_than_the_longest_chain)
{
    begin(true, 4);
    for (uint32_t i = 1; i < 4; i++)
        happen(now, BATS_EVENT_JOINED, i);
    /* By their number it would be 49 minutes. */
    assert_int_equal(run_status().estimated_end, now + 2 * BATS_HOUR);
}

/* One result is too few to rank the tasks of a large graph by. */
TEST(forecast_of_a_large_graph_counts_the_tasks_of_its_chain)
{
    struct bats_edge chain[MANY - 1];
    for (uint32_t i = 0; i + 1 < MANY; i++)
        chain[i] = (struct bats_edge){i, i + 1};
    prepare(false, 1);
    bats_graph_release(&graph);
    assert_ok(bats_graph_init(&graph, MANY, MANY, chain, MANY - 1, &err));
    p->o.n_tasks = MANY;
    assert_ok(create(&err));
    for (uint32_t i = 0; i < 4; i++)
        happen(1, BATS_EVENT_JOINED, i);
    assert_int_equal(p->runs[0], 0);
    done(1 + BATS_MINUTE, 0, BATS_MINUTE);
    /* By their number, on 4 machines: 75. */
    assert_int_equal(run_status().estimated_end, 1 + MANY * BATS_MINUTE);
    assert_int_equal(run_status().longest_chain, (MANY - 1) * BATS_MINUTE);
}

TEST(categories_know_their_mean_and_deviation)
{
    struct bats_category_status k;
    begin(true, 1);
    uint32_t task = end_first();
    bats_sched_category_status(p->s, 1, &k);
    assert_int_equal(k.done, 2);
    assert_int_equal(k.left, 1);
    assert_true(k.mean == (double)BATS_HOUR && k.deviation == 0);
    assert_int_equal(category[task], 1);
    done(now + 3 * BATS_HOUR, 0, 3 * BATS_HOUR);
    bats_sched_category_status(p->s, 1, &k);
    assert_int_equal(k.left, 0);
    assert_true(fabs(k.mean - 100 * (double)BATS_MINUTE) < 1);
    assert_true(fabs(k.deviation / (double)BATS_HOUR - 2 / sqrt(3)) < 1e-6);
}

/* The two first tasks end at once on a machine that takes so long, and one that
 * takes two hours. What the first one is given then; the other one has 2. */
static uint32_t slow_machine_gets(bats_time slow)
{
    prepare(false, 2);
    p->o.n_machines = 2;
    join();
    done(slow, 1, 2 * BATS_HOUR);
    done(slow, 0, slow);
    assert_int_equal(p->runs[1], 2);
    /* Task 2 goes on there for an hour, and 4 and 5 follow. */
    tick(slow + BATS_HOUR);
    assert_int_equal(run_status().longest_chain, 5 * BATS_HOUR);
    return p->runs[0];
}

TEST(longest_chain_goes_to_the_faster_machine)
{
    /* 3 hours, or 2 after 2. */
    assert_int_equal(slow_machine_gets(3 * BATS_HOUR), 3);
}

TEST(task_waits_for_a_machine_where_it_ends_sooner)
{
    /* 5 hours, or 2 after 2. */
    assert_int_equal(slow_machine_gets(5 * BATS_HOUR), BATS_NO_TASK);
}

TEST_MAIN(NULL, NULL)
