/* frontier: against brute force, by hand, and on large instances. */
#include <math.h>

#include "bats/frontier.h"
#include "helpers/configurations.h"

#define UNITS(x) ((bats_money)((x)*1000000LL))
#define INSTANCES 2000
#define EQUAL 1e-9

/* ---- brute force: the definition in frontier.h, word by word ---- */

/* All configurations, into a block of the caller's. */
static size_t enumerate(const struct bats_plan_item *items,
                        const double *task_windows, size_t n, uint64_t n_tasks,
                        struct configuration **all)
{
    struct configuration c = {.windows = 0};
    size_t count = 0, capacity = 0;
    *all = NULL;
    while (advance(&c, items, n)) {
        int64_t span = span_of(&c, task_windows, n);
        c.windows = (int64_t)ceil((double)n_tasks / c.rate * (1 - EQUAL));
        c.windows = c.windows > span ? c.windows : span;
        if (count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            *all = realloc(*all, capacity * sizeof **all);
        }
        (*all)[count++] = c;
    }
    return count;
}

static void draw_large(size_t n, uint32_t max, double digits,
                       struct bats_plan_item *items, double *task_windows)
{
    for (size_t i = 0; i < n; i++) {
        double charge = ceil((0.05 + 3 * uniform()) * digits) / digits;
        items[i] = (struct bats_plan_item){
            .rate = charge * 10 * (0.7 + 0.6 * uniform()),
            .charge = (bats_money)llround(charge * 1e6),
            .max = max};
        task_windows[i] = 1 / items[i].rate;
    }
}

static int fastest_first(const void *a, const void *b)
{
    const struct configuration *c = a, *d = b;
    if (c->rate < d->rate || c->rate > d->rate)
        return c->rate > d->rate ? -1 : 1;
    return cost_of(c) < cost_of(d) ? -1 : cost_of(c) > cost_of(d);
}

/* Leaves what is cheaper than all that is faster: the frontier. */
static size_t sift(struct configuration *all, size_t n)
{
    size_t m = 0;
    if (n > 0)
        qsort(all, n, sizeof *all, fastest_first);
    for (size_t i = 0; i < n; i++) {
        if (m > 0 && cost_of(&all[i]) >= cost_of(&all[m - 1]))
            continue;
        while (m > 0 && all[i].rate >= all[m - 1].rate * (1 - EQUAL))
            m--;
        all[m++] = all[i];
    }
    return m;
}

struct totals {
    size_t points, complete, long_ones; /* cheapest plans of several windows */
};

/* Every point of the frontier is one of all, ascending, and none is missing,
 * if they are no selection. */
static void check_frontier(struct totals *t,
                           const struct bats_plan_item *items,
                           const double *task_windows, size_t n,
                           uint64_t n_tasks)
{
    struct bats_frontier f;
    struct configuration *all;
    size_t n_all = enumerate(items, task_windows, n, n_tasks, &all);
    n_all = sift(all, n_all);
    assert_ok(bats_frontier_init(&f, items, task_windows, n, n_tasks, &err));
    t->points += f.n;
    t->complete += f.complete;
    t->long_ones += f.n > 0 && f.plans[0].windows > 1;
    if (f.complete)
        assert_int_equal(f.n, n_all);
    else
        assert_true(n_all > 1000 && f.n >= 50);
    for (size_t p = 0, i = n_all; p < f.n; p++) {
        const struct bats_plan *plan = &f.plans[p];
        while (i > 0 && cost_of(&all[i - 1]) < plan->cost)
            i--;
        assert_true(i > 0);
        assert_int_equal(plan->cost, cost_of(&all[i - 1]));
        assert_int_equal(plan->cost, plan->price * plan->windows);
        assert_true(fabs(plan->rate - all[i - 1].rate) <=
                    2 * EQUAL * all[i - 1].rate);
        double rate = 0;
        for (size_t k = 0; k < n; k++)
            rate += plan->machines[k] * items[k].rate;
        assert_true(fabs(rate - plan->rate) <= 1e-12 * rate);
        assert_true(p == 0 || (plan->cost > plan[-1].cost &&
                               plan->rate > plan[-1].rate));
    }
    bats_frontier_release(&f);
    free(all);
}

TEST(frontiers_equal_brute_force)
{
    static const uint32_t max[] = {0, 0, 150, 30, 12};
    struct totals small = {0}, large = {0};
    struct bats_plan_item items[4];
    double task_windows[4];
    draw_from(20100914);
    for (int run = 0; run < INSTANCES; run++) {
        size_t n = 1 + pick(4);
        unsigned long kind = pick(3);
        for (size_t i = 0; i < n; i++) {
            draw_item(kind, &items[i], n > 3 ? 4 : 8);
            task_windows[i] = items[i].rate > 0 ? 1 / items[i].rate : 1;
        }
        check_frontier(&small, items, task_windows, n, 1 + pick(200));
    }
    draw_from(3);
    for (int run = 0; run < 200; run++) { /* large enough to be pruned */
        size_t n = 2 + pick(3);
        uint64_t n_tasks = 1 + pick(20000);
        double digits = pick(2) ? 1e2 : 1e6;
        draw_large(n, max[n], digits, items, task_windows);
        check_frontier(&large, items, task_windows, n, n_tasks);
    }
    assert_int_equal(small.complete, INSTANCES);
    assert_true(small.points > 5 * INSTANCES);
    assert_true(small.long_ones > INSTANCES / 2);
    assert_true(large.points > 20 * 200);
    assert_true(large.complete > 100 && large.complete < 200);
}

/* 12 tasks; a: 4 tasks a window for 3, one machine; b: 12 for 10, one. a needs
 * 3 windows (9), b one (10), both together 12 / 16 of one (13). */
TEST(a_small_frontier_is_as_by_hand)
{
    const struct bats_plan_item items[] = {{4, UNITS(3), 1},
                                           {12, UNITS(10), 1}};
    const double task_windows[] = {0.25, 1.0 / 12};
    struct bats_frontier f;
    assert_ok(bats_frontier_init(&f, items, task_windows, 2, 12, &err));
    assert_int_equal(f.n, 3);
    assert_numbers("9000000 10000000 13000000", f.plans[0].cost,
                   f.plans[1].cost, f.plans[2].cost);
    assert_numbers("3 1 1 1", f.plans[0].windows, f.plans[2].windows,
                   f.plans[2].machines[0], f.plans[2].machines[1]);
    bats_frontier_release(&f);
    const struct bats_plan_item unknown = {0, UNITS(3), 5};
    assert_ok(bats_frontier_init(&f, &unknown, task_windows, 1, 12, &err));
    assert_int_equal(f.n, 0);
    bats_frontier_release(&f);
}

TEST(a_frontier_beyond_reading_is_thinned_out)
{
    struct bats_plan_item items[32];
    double task_windows[32];
    struct bats_frontier f;
    draw_from(1);
    draw_large(32, 16384, 1e6, items, task_windows);
    assert_ok(
        bats_frontier_init(&f, items, task_windows, 32, 100000000, &err));
    assert_false(f.complete);
    assert_true(f.n >= 50 && f.n <= 1000);
    for (size_t p = 1; p < f.n; p++) {
        assert_true(f.plans[p].cost > f.plans[p - 1].cost);
        assert_true(f.plans[p].rate > f.plans[p - 1].rate);
    }
    bats_frontier_release(&f);
}

TEST(bad_input_is_refused)
{
    struct bats_plan_item items[] = {{4, -1, 3}};
    const double task_windows[] = {0.25};
    struct bats_frontier f = {.n = 77};
    assert_int_equal(bats_frontier_init(&f, items, task_windows, 1, 12, NULL),
                     BATS_EINPUT);
    assert_int_equal(f.n, 77);
}

TEST_MAIN(NULL, NULL)
