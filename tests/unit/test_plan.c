/* plan: against brute force, against the papers' configurations by hand, and
 * on instances that are hard. */
#include <math.h>

#include "helpers/configurations.h"
#include "plan/knapsack.h"

#define TOLERANCE 1e-9
#define INSTANCES 10000

/* ---- brute force: the definition in plan.h, word by word ---- */

/* Lower cost, lower price, fewer machines of the last cluster ... */
static bool wins_tie(const struct configuration *a,
                     const struct configuration *b, size_t n)
{
    if (cost_of(a) != cost_of(b))
        return cost_of(a) < cost_of(b);
    if (a->price != b->price)
        return a->price < b->price;
    for (size_t i = n; i-- > 0;)
        if (a->machines[i] != b->machines[i])
            return a->machines[i] < b->machines[i];
    return false;
}

/* The fastest configuration that does the bag in whole tasks (NULL: tasks take
 * less than a window); if there is none, how many tasks at most are done. */
static bool brute_feasible(const struct bats_plan_item *items,
                           const double *task_windows, size_t n,
                           uint64_t n_tasks, bats_money budget,
                           struct configuration *best, double *tasks)
{
    double most = *tasks = 0;
    for (int pass = 1; pass <= 2; pass++) {
        struct configuration c = {.windows = 0};
        bool first = true;
        while (advance(&c, items, n)) {
            int64_t span = span_of(&c, task_windows, n);
            c.windows =
                (int64_t)ceil((double)n_tasks / c.rate * (1 - TOLERANCE));
            if (c.windows < span)
                c.windows = span;
            if (budget != BATS_UNLIMITED && c.price > 0 &&
                c.windows > budget / c.price) {
                if (budget / c.price >= span)
                    *tasks = fmax(*tasks, c.rate * (double)(budget / c.price));
            } else if (pass == 1) {
                most = fmax(most, c.rate);
            } else if (c.rate >= most * (1 - TOLERANCE) &&
                       (first || wins_tie(&c, best, n))) {
                *best = c;
                first = false;
            }
        }
    }
    return most > 0;
}

/* The most tasks, then the smallest k, then as above. */
static void brute_best_effort(const struct bats_plan_item *items, size_t n,
                              bats_money budget, struct configuration *best)
{
    double most = 0;
    memset(best, 0, sizeof *best);
    for (int pass = 1; pass <= 2; pass++) {
        struct configuration c = {.windows = 0};
        while (advance(&c, items, n)) {
            int64_t last = budget / c.price;
            if (pass == 1) {
                most = fmax(most, (double)last * c.rate);
                continue;
            }
            for (c.windows = last; c.windows > 0; c.windows--) {
                if ((double)c.windows * c.rate < most * (1 - TOLERANCE))
                    break;
                if (best->windows == 0 || c.windows < best->windows ||
                    (c.windows == best->windows && wins_tie(&c, best, n)))
                    *best = c;
            }
        }
    }
}

/* ---- random small instances ---- */

TEST(plan_equals_brute_force)
{
    unsigned n_feasible = 0, n_effort = 0, n_nothing = 0;
    draw_from(20100914);
    for (int run = 0; run < INSTANCES; run++) {
        static const unsigned long max[] = {0, 0, 9, 6, 4};
        struct bats_plan_item items[4];
        size_t n = 2 + pick(3);
        unsigned long kind = pick(3);
        for (size_t i = 0; i < n; i++)
            draw_item(kind, &items[i], max[n]);
        uint64_t n_tasks = 1 + pick(400);
        bats_money budget = BATS_UNLIMITED;
        if (pick(10) > 0)
            budget = (bats_money)(exp(uniform() * 8 - 1) * 1e6);

        struct bats_plan plan;
        struct configuration expected = {.windows = 0};
        assert_ok(bats_plan_solve(items, n, n_tasks, budget, &plan, &err));
        double tasks;
        bool feasible =
            brute_feasible(items, NULL, n, n_tasks, budget, &expected, &tasks);
        if (feasible)
            n_feasible++;
        else if (budget != BATS_UNLIMITED)
            brute_best_effort(items, n, budget, &expected);
        if (!feasible && expected.windows == 0)
            n_nothing++;
        else if (!feasible)
            n_effort++;
        bool same =
            plan.feasible == feasible && plan.windows == expected.windows &&
            plan.price == expected.price && plan.cost == cost_of(&expected);
        for (size_t i = 0; i < n; i++)
            same = same && plan.machines[i] == expected.machines[i];
        if (!same)
            fail_msg("run %d", run);
        assert_true(plan.proven);
        assert_true(fabs(plan.rate - expected.rate) <= 1e-12 * plan.rate);
    }
    /* Each kind of answer has been put to the test. */
    assert_true(n_feasible > 1000);
    assert_true(n_effort > 1000);
    assert_true(n_nothing > 100);
}

/* ---- the papers' configurations, by hand ---- */

#define UNITS(x) ((bats_money)((x)*1000000LL))

/* Two clusters of 32 machines. S4-1: 784 tasks at 4 an hour need 196 machine
 * windows; 1584 / 4 = 396 a window pays 32 x 3 + 25 x 12, which makes 228 tasks
 * a window. S4-3: 612 / 2 = 306 = 30 x 3 + 18 x 12 makes 336 tasks a window,
 * and 565 / 2 pays 282 = 30 x 3 + 16 x 12. S1-1: 651 / 4 pays 54 machines, of
 * which as few as possible are of the second of two equal clusters. S3-4: 293
 * pays 32 x 9 + 3 for a window, and S1-4: 129 pays 32 x 3 + 11 x 3. */
TEST(plans_of_the_papers_are_found)
{
    static const struct {
        double rate1;
        int charge0, charge1, n_tasks, budget;
        uint32_t machines[2];
        int windows, price;
    } cases[] = {
        {4, 3, 12, 784, 1584, {32, 25}, 4, 396},
        {12, 3, 12, 545, 612, {30, 18}, 2, 306},
        {12, 3, 12, 545, 565, {30, 16}, 2, 282},
        {4, 3, 3, 784, 651, {32, 22}, 4, 162},
        {16, 3, 9, 430, 293, {1, 32}, 1, 291},
        {16, 3, 3, 500, 129, {11, 32}, 1, 129},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bats_plan_item items[] = {
            {4, UNITS(cases[i].charge0), 32},
            {cases[i].rate1, UNITS(cases[i].charge1), 32}};
        struct bats_plan plan;
        assert_ok(bats_plan_solve(items, 2, (uint64_t)cases[i].n_tasks,
                                  UNITS(cases[i].budget), &plan, &err));
        assert_true(plan.feasible);
        assert_memory_equal(plan.machines, cases[i].machines,
                            sizeof cases[i].machines);
        assert_int_equal(plan.windows, cases[i].windows);
        assert_int_equal(plan.price, UNITS(cases[i].price));
        assert_int_equal(plan.cost, plan.windows * plan.price);
    }
}

/* ---- borders ---- */

TEST(empty_bag_needs_no_machine)
{
    struct bats_plan_item item = {4, UNITS(3), 5};
    struct bats_plan plan;
    assert_ok(bats_plan_solve(&item, 1, 0, 0, &plan, &err));
    assert_true(plan.feasible);
    assert_numbers("0 0 0", plan.machines[0], plan.windows, plan.cost);
}

/* Five machines of the second cluster add less than 1e-9 of the rate. */
TEST(next_to_nothing_is_not_paid_for)
{
    struct bats_plan_item items[] = {{4, UNITS(3), 5}, {2e-9, UNITS(3), 5}};
    struct bats_plan plan;
    assert_ok(bats_plan_solve(items, 2, 100, BATS_UNLIMITED, &plan, &err));
    assert_numbers("5 0 75000000", plan.machines[0], plan.machines[1],
                   plan.cost);
}

/* 3 tasks of 20 minutes an hour is 3.0000000000000004 or so in binary. */
TEST(rounding_does_not_buy_a_window)
{
    assert_int_equal(bats_plan_windows(300, 3600e6 / 1200e6), 100);
    assert_int_equal(bats_plan_windows(3, 3 * (1 - 1e-12)), 1);
    assert_int_equal(bats_plan_windows(3, 3 * (1 - 1e-6)), 2);
    assert_int_equal(bats_plan_windows(1, 1e9), 1);
    assert_int_equal(bats_plan_windows(0, 1), 0);
    assert_int_equal(bats_plan_windows(UINT64_MAX, 1e-90), INT64_MAX);
}

/* Charges and bounds at the ends of their types. */
TEST(huge_numbers_do_not_overflow)
{
    struct bats_plan_item items[] = {{1, INT64_MAX, UINT32_MAX},
                                     {1, INT64_MAX / 2, UINT32_MAX},
                                     {1e-3, 1, UINT32_MAX},
                                     {1e50, INT64_MAX - 1, 3}};
    bats_money budgets[] = {-1, 0, 1, INT64_MAX / 2, BATS_UNLIMITED};
    uint64_t bags[] = {1, 1000000, UINT64_MAX};
    struct bats_plan plan;
    for (size_t b = 0; b < 5; b++)
        for (size_t n = 0; n < 3; n++) {
            bats_money budget = budgets[b] > 0 ? budgets[b] : 0;
            assert_ok(
                bats_plan_solve(items, 4, bags[n], budgets[b], &plan, &err));
            assert_true(plan.price >= 0 && plan.windows >= 0);
            assert_true(plan.price == 0 ||
                        plan.windows <= budget / plan.price);
        }
    struct bats_plan_item snail = {1e-90, 0, 1};
    assert_int_equal(bats_plan_solve(&snail, 1, UINT64_MAX, 0, &plan, NULL),
                     BATS_EOVERFLOW);
}

TEST(long_tasks_equal_brute_force)
{
    int n_feasible = 0, n_other = 0, n_effort = 0;
    draw_from(7);
    for (int run = 0; run < 3000; run++) {
        struct bats_plan_item items[3];
        double task_windows[3];
        size_t n = 1 + pick(3);
        for (size_t i = 0; i < n; i++) {
            task_windows[i] = 0.2 + 4 * uniform();
            items[i] = (struct bats_plan_item){
                1 / task_windows[i], (bats_money)pick(20) * 85000, pick(7)};
        }
        uint64_t n_tasks = 1 + pick(30);
        bats_money budget = (bats_money)(exp(uniform() * 6 - 1) * 1e6);
        struct configuration expected = {.windows = 0};
        struct bats_plan plan, fluid;
        assert_ok(bats_plan_solve_whole(items, task_windows, n, n_tasks,
                                        budget, &plan, &err));
        double tasks;
        bool feasible = brute_feasible(items, task_windows, n, n_tasks, budget,
                                       &expected, &tasks);
        assert_int_equal(plan.feasible, feasible);
        if (!feasible && tasks > 0) {
            double done = plan.rate * (double)plan.windows;
            assert_true(fabs(done - tasks) <= 1e-9 * tasks);
            assert_true(plan.cost <= budget);
            n_effort++;
        }
        if (!feasible)
            continue;
        n_feasible++;
        assert_true(fabs(plan.rate - expected.rate) <= 1e-9 * plan.rate);
        assert_int_equal(plan.cost, cost_of(&expected));
        assert_int_equal(plan.cost, plan.windows * plan.price);
        bats_plan_solve(items, n, n_tasks, budget, &fluid, NULL);
        n_other += fluid.cost != plan.cost || fluid.rate > plan.rate;
    }
    assert_true(n_feasible > 1000);
    assert_true(n_other > 300);
    assert_true(n_effort > 300);
}

/* A task takes two windows, and 10 pay five machines for two or ten for one: as
 * many tasks, if they could be divided. The bag is too large for both. */
TEST(long_tasks_get_their_windows_in_large_bags)
{
    const struct bats_plan_item items[] = {{0.5, UNITS(1), 10},
                                           {0.5, UNITS(1), 10}};
    const double task_windows[] = {2, 2};
    struct bats_plan plan;
    assert_ok(bats_plan_solve_whole(items, task_windows, 2, 1000, UNITS(10),
                                    &plan, &err));
    assert_false(plan.feasible);
    assert_numbers("2 5 0", plan.windows, plan.machines[0], plan.machines[1]);
}

TEST(bad_input_is_refused)
{
    static const struct {
        struct bats_plan_item item;
        size_t n;
    } bad[] = {{{4, UNITS(3), 5}, 0},
               {{4, UNITS(3), 5}, BATS_CLUSTERS_MAX + 1},
               {{4, -1, 5}, 1},
               {{NAN, 1, 5}, 1},
               {{-1, 1, 5}, 1}};
    struct bats_plan plan = {.windows = 77};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(
            bats_plan_solve(&bad[i].item, bad[i].n, 1, 1, &plan, &err),
            BATS_EINPUT);
    assert_int_equal(plan.windows, 77); /* untouched */
}

/* 16 types of almost the same efficiency: a caller that asks many questions in
 * turn waits for a bounded time, and gets nearly the best. */
TEST(a_search_ends_after_a_bounded_number_of_steps)
{
    struct bats_knapsack k = {.n = 16};
    struct bats_knapsack_answer answer;
    unsigned n_unproven = 0;
    draw_from(1994);
    for (int run = 0; run < 25; run++) {
        for (uint32_t i = 0; i < k.n; i++) {
            int64_t price = 1000 + (int64_t)pick(100);
            k.type[i] = (struct bats_knapsack_type){.price = price,
                                                    .rate = (double)price / 3 +
                                                            0.1 * uniform(),
                                                    .max = 30,
                                                    .item = i};
        }
        int64_t capacity = 60000 + (int64_t)pick(100000);
        bats_knapsack_sort(&k);
        k.proven = true;
        for (k.patience = 20000; k.patience >= 0; k.patience -= 20000) {
            int64_t before = k.patience;
            assert_true(bats_knapsack_search(&k, capacity, 0, false, &answer));
            assert_true(answer.price <= capacity);
            assert_true(before == 0 ||
                        answer.rate >=
                            0.99 * bats_knapsack_bound(&k, (double)capacity));
            assert_true(before - k.patience <= (before > 0 ? 20000 : 2000));
            k.patience = before;
        }
        n_unproven += !k.proven;
    }
    assert_true(n_unproven >= 5);
}

TEST_MAIN(NULL, NULL)
