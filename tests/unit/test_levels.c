/* levels: schedules for bags in which tasks wait for others. */
#include "helpers/draw.h"
#include "helpers/sim_fixture.h"

#include "bats/graph.h"
#include "estimate/plans.h"

#define MINUTE 60e6
#define SLOTS 8
#define BAGS 4000

/* There are two kinds: so many levels of so many tasks each. */
static void expect_two(const struct bats_levels *l, const char *expected)
{
    assert_int_equal(l->n, 2);
    assert_reads(expected, "%g of %g, %g of %g", l->count[0], l->tasks[0],
                 l->count[1], l->tasks[1]);
}

TEST(sizes_are_counted)
{
    uint32_t few[] = {3, 0, 5, 3}, many[100];
    struct bats_levels levels;
    bats_levels_of(&levels, few, 4);
    expect_two(&levels, "2 of 3, 1 of 5");
    double tasks = 0, count = 0;
    for (uint32_t i = 0; i < 100; i++)
        many[i] = 100 - i;
    bats_levels_of(&levels, many, 100);
    assert_true(levels.n <= BATS_LEVELS_MAX);
    for (size_t k = 0; k < levels.n; k++) {
        tasks += levels.tasks[k] * levels.count[k];
        count += levels.count[k];
    }
    assert_near(tasks, 5050, 1e-6);
    assert_near(count, 100, 1e-6);
}

/* 0 and 1, 2 waits for 1, a joint, 3 to 5 behind it. */
TEST(a_barrier_divides_levels)
{
    const struct bats_edge edges[] = {{1, 2}, {0, 6}, {2, 6},
                                      {6, 3}, {6, 4}, {6, 5}};
    uint8_t left[] = {1, 1, 1, 1, 1, 0};
    struct bats_graph graph;
    struct bats_levels levels;
    assert_ok(bats_graph_init(&graph, 6, 7, edges, 6, &err));
    assert_ok(bats_graph_levels(&graph, left, &levels, &err));
    expect_two(&levels, "1 of 1, 2 of 2"); /* {1}, {0, 2}, {3, 4} */
    bats_graph_release(&graph);
}

/* 30 tasks of 10 to 39 minutes. */
static struct bats_runtimes spread(double sample[30])
{
    for (int i = 0; i < 30; i++)
        sample[i] = MINUTE * (10 + i);
    return bats_runtimes_of(sample, 30, 0.9);
}

static const struct bats_cluster eight = {.charge = 1000000, .max = SLOTS};

/* The estimator offers it last, at the highest price. */
static struct bats_schedule fastest(const struct bats_estimator *e)
{
    struct bats_schedule offers[BATS_OFFERS];
    size_t n;
    assert_ok(bats_estimate_offers(e, offers, &n, &err));
    return offers[n - 1];
}

/* Tasks of the levels on machines that are paid for by the hour. */
static struct bats_estimator by_hours(const struct bats_cluster *clusters,
                                      const struct bats_runtimes *runtimes,
                                      size_t n_clusters, uint32_t n_tasks,
                                      const struct bats_levels *levels)
{
    return (struct bats_estimator){.plans = BATS_PLANS_WINDOWS,
                                   .clusters = clusters,
                                   .runtimes = runtimes,
                                   .n_clusters = n_clusters,
                                   .n_tasks = n_tasks,
                                   .levels = levels,
                                   .window = BATS_HOUR};
}

/* Three levels of ten tasks, one after the other, take three times as long as a
 * bag of ten, whatever of it is asked. */
TEST(all_of_a_prediction_is_summed_over_the_levels)
{
    double sample[30], slots = 4;
    struct bats_runtimes runtimes = spread(sample);
    struct bats_levels levels = {.tasks = {10}, .count = {3}, .n = 1};
    struct bats_estimator e = by_hours(&eight, &runtimes, 1, 30, &levels);
    struct bats_prediction all = estimate_makespan(&e, &slots, 0);
    e.levels = NULL;
    e.n_tasks = 10;
    struct bats_prediction one = estimate_makespan(&e, &slots, 0);
    const double of_all[] = {all.low, all.estimate, all.least, all.busy,
                             all.high};
    const double of_one[] = {one.low, one.estimate, one.least, one.busy,
                             one.high};
    for (int i = 0; i < 5; i++)
        assert_near(of_all[i] / of_one[i], 3, 1e-9);
}

/* The makespan of a bag of n tasks on equal slots, each to the first free. */
static double play_level(const double *sample, size_t n_sample, int n)
{
    double until[SLOTS] = {0}, end = 0;
    for (int i = 0; i < n; i++) {
        int first = 0;
        for (int k = 1; k < SLOTS; k++)
            if (until[k] < until[first])
                first = k;
        until[first] += sample[pick(n_sample)];
        end = until[first] > end ? until[first] : end;
    }
    return end;
}

/* 10 levels of 24 tasks, and 3 of 4, on 8 machines of a job. */
TEST(estimate_is_the_mean_of_barriers)
{
    double sample[30], mean = 0;
    struct bats_runtimes runtimes = spread(sample);
    uint32_t tasks[13] = {24, 24, 24, 24, 24, 24, 24, 24, 24, 24, 4, 4, 4};
    struct bats_levels levels;
    bats_levels_of(&levels, tasks, 13);
    struct bats_estimator e = by_hours(&eight, &runtimes, 1, 252, &levels);
    e.plans = BATS_PLANS_ALLOCATION;
    e.rate = 8000000;
    struct bats_schedule with = fastest(&e);
    assert_int_equal(with.plan.machines[0], SLOTS);
    e.levels = NULL;
    draw_from(1);
    for (int i = 0; i < BAGS; i++)
        for (int k = 0; k < 13; k++)
            mean += play_level(sample, 30, k < 10 ? 24 : 4) / BAGS;
    assert_near(with.makespan.estimate / mean, 1, 0.04);
    assert_true(fastest(&e).makespan.estimate / mean < 0.85);
}

/* 10 times 8 tasks of 24 minutes on average: 8 machines would do them in five
 * windows, if each time nobody had to wait for the longest of 8. */
TEST(waiting_is_bought_too)
{
    double sample[30];
    struct bats_runtimes runtimes = spread(sample);
    struct bats_levels levels = {.n = 1, .tasks = {8}, .count = {10}};
    struct bats_estimator e = by_hours(&eight, &runtimes, 1, 80, &levels);
    assert_true(fastest(&e).plan.windows >= 6);
    e.levels = NULL;
    assert_int_equal(fastest(&e).plan.windows, 5);
}

/* 8 tasks of a quarter of an hour, one after the other: two hours, and two
 * windows of one machine, however many there are. */
TEST(a_chain_gets_one_machine)
{
    struct bats_runtimes runtimes = bats_runtimes_given(15 * MINUTE);
    struct bats_levels levels = {.n = 1, .tasks = {1}, .count = {8}};
    struct bats_estimator e = by_hours(&eight, &runtimes, 1, 8, &levels);
    struct bats_schedule offer = fastest(&e);
    assert_int_equal(offer.plan.machines[0], 1);
    assert_near(offer.makespan.estimate, 120 * MINUTE, MINUTE);
    e.levels = NULL;
    assert_int_equal(fastest(&e).plan.machines[0], 8);
}

/* 12 tasks side by side, of which a few take so long that with what waits for
 * them they are as long as ten of mean length: that is no sooner over on all
 * machines, and the windows last until then. Slow machines alone take
 * longer. */
TEST(no_end_is_sooner_than_the_longest_chain)
{
    struct bats_runtimes runtimes[] = {bats_runtimes_given(30 * MINUTE),
                                       bats_runtimes_given(15 * MINUTE)};
    struct bats_cluster clusters[] = {{.charge = 1000000, .max = 6},
                                      {.charge = 9000000, .max = 6}};
    struct bats_levels levels = {.n = 1, .tasks = {12}, .count = {1}};
    struct bats_estimator e = by_hours(clusters, runtimes, 2, 12, &levels);
    struct bats_schedule offers[BATS_OFFERS], last = fastest(&e);
    size_t n;
    assert_true(last.makespan.estimate < 60 * MINUTE);
    e.chain = 10;
    last = fastest(&e);
    assert_near(last.makespan.estimate, 150 * MINUTE, 1);
    assert_true(last.makespan.high >= last.makespan.estimate);
    assert_int_equal(last.plan.windows, 3);
    assert_ok(bats_estimate_offers(&e, offers, &n, &err));
    assert_int_equal(offers[0].plan.machines[1], 0);
    assert_true(offers[0].makespan.estimate >= 300 * MINUTE - 1);
    struct bats_paid paid[] = {{0, 0}, {6, 20 * MINUTE}};
    e.paid = paid; /* the chain goes on meanwhile */
    assert_near(fastest(&e).makespan.estimate, 150 * MINUTE, 1);
}

/* Six tasks between two barriers: a machine that takes four times as long would
 * make all others wait for it, and is not bought. */
TEST(slow_machines_do_not_hold_up_a_level)
{
    double sample[2][10];
    for (int i = 0; i < 10; i++) {
        sample[0][i] = MINUTE * (12 + 0.6 * i);
        sample[1][i] = sample[0][i] / 4;
    }
    struct bats_runtimes runtimes[] = {bats_runtimes_of(sample[0], 10, 0.9),
                                       bats_runtimes_of(sample[1], 10, 0.9)};
    struct bats_cluster clusters[] = {{.charge = 3000000, .max = 3},
                                      {.charge = 9000000, .max = 3}};
    struct bats_levels levels = {.n = 1, .tasks = {6}, .count = {16}};
    struct bats_estimator e = by_hours(clusters, runtimes, 2, 96, &levels);
    struct bats_schedule offer = fastest(&e);
    assert_int_equal(offer.plan.machines[0], 0);
    assert_int_equal(offer.plan.machines[1], 3);
}

/* Levels of so many tasks, in the simulator: three slow machines and three that
 * are four times as fast. After a sample this schedule is chosen, and all of it
 * gets done. */
static void choose_among_barriers(uint32_t levels, uint32_t each,
                                  bats_time work, enum bats_offer offer)
{
    static struct bats_graph graph;
    struct bats_edge edges[MANY * 2];
    uint32_t n = levels * each, n_edges = 0;
    bats_graph_release(&graph);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t joint = n + i / each;
        if (joint < n + levels - 1)
            edges[n_edges++] = (struct bats_edge){i, joint};
        if (joint > n)
            edges[n_edges++] = (struct bats_edge){joint - 1, i};
    }
    assert_ok(
        bats_graph_init(&graph, n, n + levels - 1, edges, n_edges, &err));
    set_up_world(&bats_policy_bats, n, work, 3, 3, 9, BATS_UNLIMITED);
    w->speed[1] = 4;
    w->o.sched.graph = &graph;
    w->o.sched.sampling.on = true;
    w->choice.offer = offer;
    w->o.choice = &w->choice;
    play();
    assert_non_null(w->sampled.chosen);
    assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
}

TEST(budgets_suffice_in_spite_of_barriers)
{
    static const struct {
        uint32_t levels, each, minutes;
    } bags[] = {{10, 6, 15}, {1, 100, 15}, {1, 250, 7}, {2, 50, 15},
                {3, 20, 25}, {5, 10, 25},  {5, 20, 7},  {5, 20, 15},
                {5, 50, 15}, {10, 5, 15},  {10, 5, 25}, {10, 10, 7}};
    static const enum bats_offer offers[] = {
        BATS_OFFER_CHEAPEST, BATS_OFFER_BALANCED, BATS_OFFER_FASTEST};
    for (size_t i = 0; i < sizeof bags / sizeof *bags; i++)
        for (size_t k = 0; k < 3; k++)
            choose_among_barriers(bags[i].levels, bags[i].each,
                                  bags[i].minutes * BATS_MINUTE, offers[k]);
}

/* A policy that plans as if nobody waited sees too late that its machines do
 * not suffice, and buys further ones: it ends 14 % later, for 22 % more. */
TEST(what_is_carried_out_is_what_was_offered)
{
    choose_among_barriers(5, 20, 15 * BATS_MINUTE, BATS_OFFER_FASTEST);
    const struct bats_schedule *chosen = w->sampled.chosen;
    assert_true(w->status.charged - w->sampled.charged <= chosen->plan.cost);
    assert_near((double)(w->makespan - w->sampled.time) /
                    chosen->makespan.estimate,
                1, 0.05);
}

TEST_MAIN(NULL, NULL)
