/* The clairvoyant bound: by hand, against every way to spend a small budget,
 * and against the best of all schedules of a few tasks. */
#include <math.h>

#include <gsl/gsl_rng.h>

#include "helpers/test.h"
#include "sim/bound.h"

static double bound(const struct bats_bound_problem *p, bats_money budget)
{
    double makespan = 0;
    assert_ok(bats_bound(p, budget, &makespan, &err));
    return makespan;
}

static double cost_bound(const struct bats_bound_problem *p, bats_time end)
{
    double cost = 0;
    assert_ok(bats_bound_cost(p, end, &cost, &err));
    return cost;
}

/* ---- by hand ---- */

/* Windows of 60; four machines of speed 1 at 2, two of speed 3 at 5. */
TEST(the_bound_of_small_bags_is_as_by_hand)
{
    struct bats_bound_type types[] = {
        {.machines = 4, .slots = 1, .speed = 1, .charge = 2, .longest = 20},
        {.machines = 2, .slots = 1, .speed = 3, .charge = 5, .longest = 20}};
    struct bats_bound_problem p = {types, 2, 300, 60, 0};
    /* All machines: 10 per unit of time. */
    assert_near(bound(&p, BATS_UNLIMITED), 30, 0.5);
    assert_near(bats_bound_fluid(&p), 30, 0.5);
    assert_near(bound(&p, 18), 30, 0.5);
    /* Two fast ones for a window, 10: 360 in 60, 300 in 50. */
    assert_near(bound(&p, 10), 50, 0.5);
    /* 12: a slow one with them: 7 per unit. */
    assert_near(bound(&p, 12), 300.0 / 7, 0.5);
    /* 9: a fast one for 60 (180) and two slow ones (120): all of the window. */
    assert_near(bound(&p, 9), 60, 0.5);
    /* 8: four slow ones: 240. One fast one twice would be 10. */
    assert_true(isinf(bound(&p, 8)));
    /* The least cost for a deadline. */
    assert_true(isinf(cost_bound(&p, 29)));
    assert_near(cost_bound(&p, 30), 18, 0); /* all of them */
    assert_near(cost_bound(&p, 50), 10, 0); /* two fast ones, one window */
    assert_near(cost_bound(&p, 49), 12, 0); /* 294, and a slow one: 49 */
    assert_near(cost_bound(&p, 60), 9, 0);  /* a fast and two slow ones */
    /* 5 for each 180, 2 for each 60: the rest costs 4 with either. */
    assert_near(cost_bound(&p, 600), 9, 0);
    /* The longest task: 600 on the slow ones, 200 on the fast ones. */
    types[0].longest = types[1].longest = 600;
    p.work = 600;
    assert_near(bound(&p, BATS_UNLIMITED), 200, 0.5);
    /* 20: four windows of a fast machine. 19 pays no machine so long (slow:
     * ten windows at 2). */
    assert_near(bound(&p, 20), 200, 0.5);
    assert_true(isinf(bound(&p, 19)));
    assert_true(isinf(cost_bound(&p, 199)));
    assert_near(cost_bound(&p, 200), 20, 0);
    assert_near(cost_bound(&p, 600), 20, 0);
    /* One machine that needs 15 of each acquisition; 100 of work. */
    types[0] = (struct bats_bound_type){.machines = 1,
                                        .slots = 2,
                                        .speed = 1,
                                        .charge = 1,
                                        .startup = 15,
                                        .longest = 1};
    p = (struct bats_bound_problem){types, 1, 100, 60, 0};
    assert_near(bound(&p, BATS_UNLIMITED), 65, 0.5); /* 2 x (65 - 15) */
    assert_near(bound(&p, 2), 65, 0.5);
    p.work = 121; /* more than a window without a start-up does */
    assert_true(isinf(bound(&p, 1)));
}

/* ---- every way to spend the budget ---- */

#define MACHINES 3
#define WINDOWS 5

struct machines {
    struct bats_bound_type type[MACHINES]; /* of each machine */
    int n;
};

/* The work that the machines do within `makespan` if machine m has n[m]
 * windows. */
static double done_within(const struct machines *m, const int *n,
                          double window, double makespan)
{
    double work = 0;
    for (int i = 0; i < m->n; i++) {
        double time =
            fmin(n[i] * window, makespan) - (double)m->type[i].startup;
        work += fmax(time, 0) * m->type[i].speed * m->type[i].slots;
    }
    return work;
}

static double spend(const struct machines *m, int *n, int i, double window,
                    int64_t left, double work)
{
    if (i == m->n) {
        double low = 0, high = WINDOWS * window;
        if (done_within(m, n, window, high) < work)
            return INFINITY;
        while (high - low > 1e-6) {
            double middle = (low + high) / 2;
            if (done_within(m, n, window, middle) < work)
                low = middle;
            else
                high = middle;
        }
        return high;
    }
    double best = INFINITY;
    for (n[i] = 0; n[i] <= WINDOWS && n[i] * m->type[i].charge <= left; n[i]++)
        best = fmin(best, spend(m, n, i + 1, window,
                                left - n[i] * m->type[i].charge, work));
    return best;
}

static uint32_t pick(gsl_rng *rng, uint32_t n)
{
    return (uint32_t)gsl_rng_uniform_int(rng, n);
}

/* A few machines of one to three types. */
static struct machines make_machines(gsl_rng *rng,
                                     struct bats_bound_problem *p,
                                     struct bats_bound_type *types,
                                     bats_time startup)
{
    struct machines m = {.n = 0};
    *p = (struct bats_bound_problem){.window = 1000, .types = types};
    while (m.n < MACHINES && (p->n_types == 0 || pick(rng, 3) > 0)) {
        struct bats_bound_type *t = &types[p->n_types++];
        *t = (struct bats_bound_type){
            .machines = 1 + pick(rng, (uint32_t)(MACHINES - m.n)),
            .slots = 1 + pick(rng, 2),
            .speed = 0.25 * (1 + pick(rng, 12)),
            .charge = pick(rng, 6),
            .startup =
                startup > 0 ? (bats_time)pick(rng, (uint32_t)startup) : 0};
        for (uint32_t i = 0; i < t->machines; i++)
            m.type[m.n++] = *t;
    }
    return m;
}

/* With start-ups it is a bound still, if not the best one. */
TEST(no_way_to_spend_the_budget_is_better)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int finite[2] = {0}, near = 0;
    for (unsigned long seed = 2; seed <= 6001; seed++) {
        gsl_rng_set(rng, seed / 2);
        struct bats_bound_type types[MACHINES];
        struct bats_bound_problem p;
        bool starts_up = seed % 2;
        struct machines m = make_machines(rng, &p, types, starts_up ? 900 : 0);
        int n[MACHINES];
        int64_t budget = 1 + pick(rng, 30);
        p.work = 1 + pick(rng, 6000);
        double best = spend(&m, n, 0, 1000, budget, p.work);
        double ours = bound(&p, budget);
        if (starts_up ? isinf(best) : best >= WINDOWS * 1000 - 1)
            continue; /* more windows might be better, and were not tried */
        finite[starts_up]++;
        if (ours > best + 1 || (!starts_up && ours < best - 1))
            fail_msg("seed %lu: %g, not %g", seed, ours, best);
        near += starts_up && ours > 0.8 * best;
    }
    gsl_rng_free(rng);
    assert_true(finite[0] > 1000 && finite[1] > 1000 && near > finite[1] / 2);
}

/* ---- the least cost for a deadline ---- */

/* The least that windows of the machines cost which do the work in time. */
static double least_cost(const struct machines *m, int *n, int i,
                         double window, double end, double work)
{
    double best = INFINITY;
    if (i == m->n)
        return done_within(m, n, window, end) >= work ? 0 : INFINITY;
    for (n[i] = 0; n[i] <= WINDOWS; n[i]++)
        best = fmin(best, n[i] * (double)m->type[i].charge +
                              least_cost(m, n, i + 1, window, end, work));
    return best;
}

TEST(no_windows_that_are_in_time_cost_less)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int finite = 0, near = 0;
    for (unsigned long seed = 1; seed <= 6000; seed++) {
        gsl_rng_set(rng, seed);
        struct bats_bound_type types[MACHINES];
        struct bats_bound_problem p;
        bool starts_up = seed % 2;
        struct machines m = make_machines(rng, &p, types, starts_up ? 900 : 0);
        int n[MACHINES];
        double end = 1 + pick(rng, WINDOWS * 1000);
        p.work = 1 + pick(rng, 6000);
        double best = least_cost(&m, n, 0, 1000, end, p.work);
        double ours = cost_bound(&p, (bats_time)end);
        if (starts_up ? ours > best : ours != best)
            fail_msg("seed %lu: %g, not %g", seed, ours, best);
        finite += isfinite(best);
        near += isfinite(best) && ours > 0.8 * best;
    }
    gsl_rng_free(rng);
    assert_true(finite > 2000 && near > finite / 2);
}

/* ---- every schedule of a few tasks ---- */

#define TASKS 5

/* The shortest makespan of all ways to put the tasks on the machines, where a
 * machine is held from its start to its last task; *cheapest: the least cost of
 * those that end by `deadline`. Slots as machines of their own would not share
 * a charge, so there is one slot. */
static double best_schedule(const struct machines *m, double window,
                            int64_t budget, double deadline,
                            const double *work, int n_tasks, double *cheapest)
{
    double best = *cheapest = INFINITY;
    int ways = (int)(pow(m->n, n_tasks) + 0.5);
    for (int way = 0; way < ways; way++) {
        double busy[MACHINES] = {0}, makespan = 0, cost = 0;
        for (int t = 0, rest = way; t < n_tasks; t++, rest /= m->n)
            busy[rest % m->n] += work[t] / m->type[rest % m->n].speed;
        for (int i = 0; i < m->n; i++) {
            if (busy[i] <= 0)
                continue;
            double time = busy[i] + (double)m->type[i].startup;
            makespan = fmax(makespan, time);
            cost += ceil(time / window) * (double)m->type[i].charge;
        }
        if (cost <= (double)budget)
            best = fmin(best, makespan);
        if (makespan <= deadline)
            *cheapest = fmin(*cheapest, cost);
    }
    return best;
}

TEST(no_schedule_beats_the_bound)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    int possible = 0, exact = 0, impossible = 0, in_time = 0, exact_cost = 0;
    for (unsigned long seed = 1; seed <= 5000; seed++) {
        gsl_rng_set(rng, seed);
        struct bats_bound_type types[MACHINES];
        struct bats_bound_problem p;
        make_machines(rng, &p, types, 400);
        struct machines m = {.n = 0};
        double work[TASKS], longest = 0;
        int n_tasks = 1 + (int)pick(rng, TASKS);
        p.work = 0;
        for (int t = 0; t < n_tasks; t++) {
            work[t] = 1 + pick(rng, 2000);
            p.work += work[t];
            longest = fmax(longest, work[t]);
        }
        for (size_t i = 0; i < p.n_types; i++) {
            types[i].slots = 1;
            types[i].longest = longest;
            for (uint32_t k = 0; k < types[i].machines; k++)
                m.type[m.n++] = types[i];
        }
        int64_t budget = 1 + pick(rng, 30);
        double deadline = 1 + pick(rng, 4000), cheapest;
        double best = best_schedule(&m, 1000, budget, deadline, work, n_tasks,
                                    &cheapest);
        double ours = bound(&p, budget);
        double cost = cost_bound(&p, (bats_time)deadline);
        if (cost > cheapest)
            fail_msg("seed %lu: %g is above %g", seed, cost, cheapest);
        in_time += isfinite(cheapest);
        exact_cost += isfinite(cheapest) && cost == cheapest;
        if (isinf(ours)) {
            assert_true(isinf(best));
            impossible++;
        }
        if (isinf(best))
            continue;
        possible++;
        exact += ours > best - 1;
        if (ours > best + 1e-6)
            fail_msg("seed %lu: %g is above %g", seed, ours, best);
    }
    gsl_rng_free(rng);
    assert_true(possible > 2000 && exact > 500 && impossible > 100);
    assert_true(in_time > 1000 && exact_cost > in_time / 2);
}

TEST_MAIN(NULL, NULL)
