/* The clairvoyant bound: by hand, and against every way to spend a small budget.
 * That no run beats it: test_sim_budget. */
#include <math.h>

#include "helpers/draw.h"
#include "sim/bound.h"

static double bound(const struct bats_bound_problem *p, bats_money budget)
{
    double makespan = 0;
    assert_ok(bats_bound(p, budget, &makespan, &err));
    return makespan;
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
    /* The longest task: 600 on the slow ones, 200 on the fast ones. */
    types[0].longest = types[1].longest = 600;
    p.work = 600;
    assert_near(bound(&p, BATS_UNLIMITED), 200, 0.5);
    /* 20: four windows of a fast machine. 19 pays no machine so long (slow:
     * ten windows at 2). */
    assert_near(bound(&p, 20), 200, 0.5);
    assert_true(isinf(bound(&p, 19)));
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

/* A few machines of one to three types. */
static struct machines make_machines(struct bats_bound_problem *p,
                                     struct bats_bound_type *types,
                                     bats_time startup)
{
    struct machines m = {.n = 0};
    *p = (struct bats_bound_problem){.window = 1000, .types = types};
    while (m.n < MACHINES && (p->n_types == 0 || pick(3) > 0)) {
        struct bats_bound_type *t = &types[p->n_types++];
        *t = (struct bats_bound_type){
            .machines = 1 + pick((uint32_t)(MACHINES - m.n)),
            .slots = 1 + pick(2),
            .speed = 0.25 * (1 + pick(12)),
            .charge = pick(6),
            .startup = startup > 0 ? (bats_time)pick((uint32_t)startup) : 0};
        for (uint32_t i = 0; i < t->machines; i++)
            m.type[m.n++] = *t;
    }
    return m;
}

/* With start-ups it is a bound still, if not the best one. */
TEST(no_way_to_spend_the_budget_is_better)
{
    int finite[2] = {0}, near = 0;
    for (unsigned long seed = 2; seed <= 6001; seed++) {
        draw_from(seed / 2);
        struct bats_bound_type types[MACHINES];
        struct bats_bound_problem p;
        bool starts_up = seed % 2;
        struct machines m = make_machines(&p, types, starts_up ? 900 : 0);
        int n[MACHINES];
        int64_t budget = 1 + pick(30);
        p.work = 1 + pick(6000);
        double best = spend(&m, n, 0, 1000, budget, p.work);
        double ours = bound(&p, budget);
        if (starts_up ? isinf(best) : best >= WINDOWS * 1000 - 1)
            continue; /* more windows might be better, and were not tried */
        finite[starts_up]++;
        if (ours > best + 1 || (!starts_up && ours < best - 1))
            fail_msg("seed %lu: %g, not %g", seed, ours, best);
        near += starts_up && ours > 0.8 * best;
    }
    assert_true(finite[0] > 1000 && finite[1] > 1000 && near > finite[1] / 2);
}

TEST_MAIN(NULL, NULL)
