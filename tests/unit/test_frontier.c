/* frontier: against brute force, by hand, and on large instances. */
#include <gsl/gsl_rng.h>
#include <math.h>

#include "bats/frontier.h"
#include "helpers/test.h"

#define UNITS(x) ((bats_money)((x)*1000000LL))
#define INSTANCES 2000
#define EQUAL 1e-9

/* ---- brute force: the definition in frontier.h, word by word ---- */

struct configuration {
    uint32_t machines[4];
    bats_money cost;
    double rate;
};

static bool advance(uint32_t *machines, const struct bats_plan_item *items,
                    size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (machines[i] < items[i].max && items[i].rate > 0) {
            machines[i]++;
            return true;
        }
        machines[i] = 0;
    }
    return false;
}

static bool dominates(const struct configuration *a,
                      const struct configuration *b)
{
    bool equal = fabs(a->rate - b->rate) <= EQUAL * b->rate;

    if (a->cost > b->cost || (!equal && a->rate < b->rate))
        return false;
    return a->cost < b->cost || (!equal && a->rate > b->rate);
}

/* All configurations, into a block of the caller's. */
static size_t enumerate(const struct bats_plan_item *items,
                        const double *task_windows, size_t n, uint64_t n_tasks,
                        struct configuration **all)
{
    struct configuration c = {.cost = 0};
    size_t count = 0, capacity = 0;

    *all = NULL;
    while (advance(c.machines, items, n)) {
        bats_money price = 0;
        double longest = 1;
        c.rate = 0;
        for (size_t i = 0; i < n; i++) {
            c.rate += c.machines[i] * items[i].rate;
            price += c.machines[i] * items[i].charge;
            if (c.machines[i] > 0)
                longest = fmax(longest, ceil(task_windows[i]));
        }
        double windows = ceil((double)n_tasks / c.rate * (1 - EQUAL));
        c.cost = (bats_money)fmax(windows, longest) * price;
        if (count == capacity) {
            capacity = capacity ? 2 * capacity : 256;
            *all = realloc(*all, capacity * sizeof **all);
        }
        (*all)[count++] = c;
    }
    return count;
}

static void draw_items(gsl_rng *rng, size_t n, struct bats_plan_item *items,
                       double *task_windows)
{
    static const double charges[] = {3, 12, 9, 0.085, 0.17, 0.34, 1, 0.5};
    static const double minutes[] = {15, 3.75, 5, 7, 3.5, 30, 90, 145};
    unsigned long kind = gsl_rng_uniform_int(rng, 3);

    for (size_t i = 0; i < n; i++) {
        double charge = charges[gsl_rng_uniform_int(rng, 8)];
        task_windows[i] = minutes[gsl_rng_uniform_int(rng, 8)] / 60;
        if (kind == 1) {
            charge = ceil(gsl_rng_uniform(rng) * 5e6) / 1e6;
            task_windows[i] = 0.02 + 2.5 * gsl_rng_uniform(rng);
        } else if (kind == 2) {
            task_windows[i] = 0.5 / charge;
        }
        items[i] = (struct bats_plan_item){
            .rate = 1 / task_windows[i],
            .charge = (bats_money)llround(charge * 1e6),
            .max = (uint32_t)gsl_rng_uniform_int(rng, n > 3 ? 5 : 9)};
        if (gsl_rng_uniform_int(rng, 20) == 0)
            items[i].charge = 0;
        if (gsl_rng_uniform_int(rng, 20) == 0)
            items[i].rate = 0;
    }
}

static void draw_large(gsl_rng *rng, size_t n, uint32_t max, double digits,
                       struct bats_plan_item *items, double *task_windows)
{
    for (size_t i = 0; i < n; i++) {
        double charge =
            ceil((0.05 + 3 * gsl_rng_uniform(rng)) * digits) / digits;
        items[i] = (struct bats_plan_item){
            .rate = charge * 10 * (0.7 + 0.6 * gsl_rng_uniform(rng)),
            .charge = (bats_money)llround(charge * 1e6),
            .max = max};
        task_windows[i] = 1 / items[i].rate;
    }
}

/* The point is one of the configurations, is not dominated, and its figures
 * are right. */
static void check_point(const struct bats_frontier *f, size_t p,
                        const struct configuration *all, size_t n_all)
{
    const struct bats_frontier_point *point = &f->points[p];
    struct configuration self = {.cost = point->cost, .rate = point->rate};
    bool found = false;

    memcpy(self.machines, f->machines + p * f->n_clusters,
           f->n_clusters * sizeof *self.machines);
    for (size_t i = 0; i < n_all; i++) {
        assert_false(dominates(&all[i], &self));
        if (memcmp(all[i].machines, self.machines, sizeof self.machines))
            continue;
        found = true;
        assert_int_equal(all[i].cost, point->cost);
        assert_true(fabs(all[i].rate - point->rate) <= 1e-12 * point->rate);
    }
    assert_true(found);
    assert_int_equal(point->cost, point->price * point->windows);
}

/* Every configuration is either dominated or has its like on the frontier. */
static bool is_there(const struct bats_frontier *f,
                     const struct configuration *c,
                     const struct configuration *all, size_t n_all)
{
    for (size_t i = 0; i < n_all; i++)
        if (dominates(&all[i], c))
            return true;
    for (size_t p = 0; p < f->n; p++)
        if (f->points[p].cost == c->cost &&
            fabs(f->points[p].rate - c->rate) <= EQUAL * c->rate)
            return true;
    return false;
}

TEST(frontier_equals_brute_force)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n_points = 0, n_long = 0;

    gsl_rng_set(rng, 20100914);
    for (int run = 0; run < INSTANCES; run++) {
        struct bats_plan_item items[4];
        double task_windows[4];
        struct bats_frontier f;
        struct configuration *all;
        size_t n = 1 + gsl_rng_uniform_int(rng, 4);
        uint64_t n_tasks = 1 + gsl_rng_uniform_int(rng, 200);
        draw_items(rng, n, items, task_windows);
        size_t n_all = enumerate(items, task_windows, n, n_tasks, &all);
        assert_int_equal(
            bats_frontier_init(&f, items, task_windows, n, n_tasks, NULL), 0);
        assert_true(f.complete);
        for (size_t p = 0; p < f.n; p++) {
            check_point(&f, p, all, n_all);
            if (p > 0) {
                assert_true(f.points[p].cost > f.points[p - 1].cost);
                assert_true(f.points[p].rate > f.points[p - 1].rate);
            }
        }
        for (size_t i = 0; i < n_all; i++)
            assert_true(is_there(&f, &all[i], all, n_all));
        assert_int_equal(f.n > 0, n_all > 0);
        n_points += f.n;
        n_long += n_all > 0 && f.points[0].windows > 1;
        bats_frontier_release(&f);
        free(all);
    }
    assert_true(n_points > 5 * INSTANCES);
    assert_true(n_long > INSTANCES / 2);
    gsl_rng_free(rng);
}

/* ---- the same for clusters large enough to be pruned ---- */

static int fastest_first(const void *a, const void *b)
{
    const struct configuration *c = a, *d = b;

    if (c->rate < d->rate || c->rate > d->rate)
        return c->rate > d->rate ? -1 : 1;
    return c->cost < d->cost ? -1 : c->cost > d->cost;
}

/* Leaves what is cheaper than all that is faster. */
static size_t sift(struct configuration *all, size_t n)
{
    size_t m = 0;

    qsort(all, n, sizeof *all, fastest_first);
    for (size_t i = 0; i < n; i++) {
        if (m > 0 && all[i].cost >= all[m - 1].cost)
            continue;
        while (m > 0 && all[i].rate >= all[m - 1].rate * (1 - EQUAL))
            m--;
        all[m++] = all[i];
    }
    return m;
}

TEST(medium_frontiers_equal_brute_force)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n_points = 0, n_complete = 0;

    gsl_rng_set(rng, 3);
    for (int run = 0; run < 200; run++) {
        static const uint32_t max[] = {0, 0, 150, 30, 12};
        struct bats_plan_item items[4];
        double task_windows[4];
        struct bats_frontier f;
        struct configuration *all;
        size_t n = 2 + gsl_rng_uniform_int(rng, 3);
        uint64_t n_tasks = 1 + gsl_rng_uniform_int(rng, 20000);
        double digits = gsl_rng_uniform_int(rng, 2) ? 1e2 : 1e6;
        draw_large(rng, n, max[n], digits, items, task_windows);
        size_t n_all = enumerate(items, task_windows, n, n_tasks, &all);
        n_all = sift(all, n_all);
        assert_int_equal(
            bats_frontier_init(&f, items, task_windows, n, n_tasks, NULL), 0);
        if (f.complete)
            assert_int_equal(f.n, n_all);
        else
            assert_true(n_all > 1000 && f.n >= 50);
        for (size_t p = 0, i = n_all; p < f.n; p++) {
            while (i > 0 && all[i - 1].cost < f.points[p].cost)
                i--;
            assert_true(i > 0);
            assert_int_equal(f.points[p].cost, all[i - 1].cost);
            assert_true(fabs(f.points[p].rate - all[i - 1].rate) <=
                        2 * EQUAL * all[i - 1].rate);
        }
        n_complete += f.complete;
        n_points += f.n;
        bats_frontier_release(&f);
        free(all);
    }
    assert_true(n_points > 20 * 200);
    assert_true(n_complete > 100 && n_complete < 200);
    gsl_rng_free(rng);
}

/* 12 tasks; a: 4 tasks a window for 3, one machine; b: 12 for 10, one. a needs
 * 3 windows (9), b one (10), both together 12 / 16 of one (13). */
TEST(a_small_frontier_is_as_by_hand)
{
    const struct bats_plan_item items[] = {{4, UNITS(3), 1},
                                           {12, UNITS(10), 1}};
    const double task_windows[] = {0.25, 1.0 / 12};
    struct bats_frontier f;

    assert_int_equal(bats_frontier_init(&f, items, task_windows, 2, 12, NULL),
                     0);
    assert_int_equal(f.n, 3);
    assert_int_equal(f.points[0].cost, UNITS(9));
    assert_int_equal(f.points[0].windows, 3);
    assert_int_equal(f.points[1].cost, UNITS(10));
    assert_int_equal(f.points[2].cost, UNITS(13));
    assert_int_equal(f.points[2].windows, 1);
    assert_int_equal(f.machines[4], 1);
    assert_int_equal(f.machines[5], 1);
    bats_frontier_release(&f);
}

TEST(nothing_known_gives_an_empty_frontier)
{
    const struct bats_plan_item items[] = {{0, UNITS(3), 5}};
    const double task_windows[] = {0};
    struct bats_frontier f;

    assert_int_equal(bats_frontier_init(&f, items, task_windows, 1, 12, NULL),
                     0);
    assert_int_equal(f.n, 0);
    bats_frontier_release(&f);
}

TEST(a_frontier_beyond_reading_is_thinned_out)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    struct bats_plan_item items[32];
    double task_windows[32];
    struct bats_frontier f;

    gsl_rng_set(rng, 1);
    draw_large(rng, 32, 16384, 1e6, items, task_windows);
    assert_int_equal(
        bats_frontier_init(&f, items, task_windows, 32, 100000000, NULL), 0);
    assert_false(f.complete);
    assert_true(f.n >= 50 && f.n <= 1000);
    for (size_t p = 1; p < f.n; p++) {
        assert_true(f.points[p].cost > f.points[p - 1].cost);
        assert_true(f.points[p].rate > f.points[p - 1].rate);
    }
    bats_frontier_release(&f);
    gsl_rng_free(rng);
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
