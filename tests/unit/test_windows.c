/* The plan of machine-windows, against all selections of small instances. */
#include <math.h>

#include "bats/cluster.h"
#include "bats/windows.h"
#include "helpers/draw.h"

#define TYPES 2
#define HELD 3
#define PARKED 2
#define MOST 4 /* windows of a machine */

struct instance {
    struct bats_windows_type types[TYPES];
    struct bats_windows_machine machines[HELD];
    struct bats_windows_slot slots[2 * HELD];
    struct bats_windows_problem problem;
    double budget;
};

/* The worth of the windows chosen (of held machines, then of parked ones)
 * until `end`, by the formula of windows.h. */
static double worth(const struct instance *in, const int *windows, double end)
{
    double sum = 0;
    for (uint32_t i = 0; i < in->problem.n_machines; i++) {
        const struct bats_windows_machine *m = &in->machines[i];
        const struct bats_windows_type *t = &in->types[m->type];
        double paid = m->paid + windows[i];
        for (uint32_t k = 0; k < m->n_slots; k++) {
            const struct bats_windows_slot *sl = &in->slots[m->first_slot + k];
            double time = fmin(paid, end) - sl->rest - t->loss;
            sum += sl->rest <= paid ? sl->size : 0;
            sum += time > 0 && !m->leaves ? time * t->rate : 0;
        }
    }
    for (uint32_t i = 0; i < TYPES; i++)
        for (uint32_t k = 0; k < in->types[i].parked; k++) {
            const struct bats_windows_type *t = &in->types[i];
            int n = windows[HELD + i * PARKED + k];
            double time = fmin(n, end) - t->loss;
            sum += n > 0 && time > 0 ? time * t->rate * t->slots : 0;
        }
    return sum;
}

static double cost(const struct instance *in, const int *windows)
{
    double sum = 0;
    for (uint32_t i = 0; i < in->problem.n_machines; i++)
        sum += windows[i] * in->types[in->machines[i].type].charge;
    for (uint32_t i = 0; i < TYPES; i++)
        for (uint32_t k = 0; k < in->types[i].parked; k++)
            sum += windows[HELD + i * PARKED + k] * in->types[i].charge;
    return sum;
}

/* The least cost, within the budget, of a selection that does the demand until
 * `end`; INFINITY: there is none. The first one will do if `any`. */
static double least(const struct instance *in, double end, bool any)
{
    int windows[HELD + TYPES * PARKED] = {0};
    const int n = HELD + TYPES * PARKED;
    double best = INFINITY;
    for (;;) {
        int i = 0;
        double price = cost(in, windows);
        if (price <= in->budget && price < best &&
            worth(in, windows, end) >= in->problem.demand)
            best = price;
        if (any && best < INFINITY)
            return best;
        while (i < n) {
            bool is_there = i < HELD
                                ? (uint32_t)i < in->problem.n_machines &&
                                      !in->machines[i].leaves
                                : (uint32_t)(i - HELD) % PARKED <
                                      in->types[(i - HELD) / PARKED].parked;
            if (is_there && windows[i] < MOST) {
                windows[i]++;
                break;
            }
            windows[i++] = 0;
        }
        if (i == n)
            return best;
    }
}

static void draw(struct instance *in)
{
    memset(in, 0, sizeof *in);
    for (uint32_t i = 0; i < TYPES; i++)
        in->types[i] = (struct bats_windows_type){.rate = 0.5 + 3 * uniform(),
                                                  .slots = 1 + pick(2),
                                                  .charge = pick(6),
                                                  .loss = 0.3 * uniform(),
                                                  .parked = pick(PARKED + 1)};
    in->problem = (struct bats_windows_problem){.types = in->types,
                                                .n_types = TYPES,
                                                .machines = in->machines,
                                                .n_machines = pick(HELD + 1),
                                                .slots = in->slots};
    for (uint32_t i = 0; i < in->problem.n_machines; i++) {
        struct bats_windows_machine *m = &in->machines[i];
        double longest = 0;
        *m = (struct bats_windows_machine){.type = pick(TYPES),
                                           .first_slot = 2 * i,
                                           .n_slots = 1 + pick(2),
                                           .paid = uniform(),
                                           .leaves = pick(6) == 0};
        for (uint32_t k = 0; k < m->n_slots; k++) {
            struct bats_windows_slot *sl = &in->slots[2 * i + k];
            /* A step of windows ends where all that runs has ended. */
            if (k == 0 && pick(3) > 0)
                *sl = (struct bats_windows_slot){2 * uniform(), uniform()};
            in->problem.demand += sl->size;
            longest = fmax(longest, sl->rest);
        }
        m->overrun = fmax(ceil(longest - m->paid), 0);
    }
    in->problem.demand += pick(12);
    in->budget = pick(30);
}

/* The soonest end of any selection, or INFINITY: of `step`s. */
static double soonest(const struct instance *in, double step)
{
    for (double end = step; end < MOST; end += step)
        if (least(in, end, true) < INFINITY)
            return end;
    return INFINITY;
}

/* Of random instances: no plan ends later than the best selection, and those
 * for an end are not much dearer, though steps of machines are divided and have
 * to be bought whole. */
TEST(no_selection_of_windows_is_much_better)
{
    uint32_t in_time = 0, cheap = 0;
    double ours = 0, all = 0;
    for (unsigned long seed = 1; seed <= 2000; seed++) {
        struct instance in;
        uint32_t buys[TYPES];
        int64_t keeps[HELD];
        struct bats_windows_plan plan = {.buys = buys, .keeps = keeps};
        draw_from(seed);
        draw(&in);
        double best = seed <= 500 ? soonest(&in, 0.05) : INFINITY;
        bats_windows_plan(&in.problem, &in.budget, 1, &plan);
        assert_true(plan.cost <= in.budget);
        if (best < INFINITY) {
            /* No plan is made that ends before a mean task could. */
            double shortest = fmin(1 / in.types[0].rate, 1 / in.types[1].rate);
            in_time++;
            assert_true(plan.feasible);
            assert_true(plan.end <= fmax(best, shortest) * 1.01 + 0.01);
        }
        double end = (MOST - 1) * gsl_rng_uniform_pos(rng);
        double charge = fmax(in.types[0].charge, in.types[1].charge);
        best = least(&in, end, false);
        bats_windows_cheapest(&in.problem, end, in.budget, &plan);
        assert_true(plan.cost <= in.budget);
        if (best == INFINITY)
            continue;
        cheap++;
        assert_true(plan.feasible);
        assert_true(plan.cost <= best + charge * (floor(end) + 1) + 1e-9);
        ours += plan.cost;
        all += best;
    }
    assert_true(in_time > 250 && cheap > 400);
    assert_true(ours < 1.2 * all);
}

/* A parked machine that waits in a queue loses the time until it begins, since
 * the end cuts its window. And one that does a thousand times what is left is
 * bought. */
TEST(parked_machines_may_begin_later)
{
    struct bats_windows_type type = {
        .rate = 4, .slots = 1, .charge = 1, .parked = 1};
    struct bats_windows_problem p = {
        .types = &type, .n_types = 1, .demand = 5};
    uint32_t buys = 0;
    struct bats_windows_plan plan = {.buys = &buys, .keeps = NULL};
    bats_windows_cheapest(&p, 1.25, 2, &plan);
    assert_true(plan.feasible);
    type.delay = 0.01;
    bats_windows_cheapest(&p, 1.25, 2, &plan);
    assert_false(plan.feasible);
    bats_windows_cheapest(&p, 1.26, 2, &plan);
    assert_true(plan.feasible);
    type = (struct bats_windows_type){
        .rate = 1000, .slots = 1, .charge = 1, .parked = 3};
    p.demand = 1;
    bats_windows_cheapest(&p, 1, 9, &plan);
    assert_true(plan.feasible);
    assert_int_equal(buys, 1);
}

/* Ten tasks take a third of a window of the better machines, which the budget
 * does not pay: neither parked ones nor the next one of that which is held. */
TEST(no_part_of_a_window_is_planned)
{
    const struct bats_windows_type types[TYPES] = {
        {.rate = 34, .slots = 1, .charge = 9, .parked = 2},
        {.rate = 9, .slots = 1, .charge = 3, .parked = 3}};
    const struct bats_windows_machine machine = {
        .type = 0, .n_slots = 1, .paid = 0.01};
    const struct bats_windows_slot slot = {0, 0};
    const struct bats_windows_problem p = {.types = types,
                                           .n_types = TYPES,
                                           .machines = &machine,
                                           .n_machines = 1,
                                           .slots = &slot,
                                           .demand = 10,
                                           .aim = 0.9};
    uint32_t buys[TYPES];
    int64_t keeps[1];
    struct bats_windows_plan plan = {.buys = buys, .keeps = keeps};
    bats_windows_plan(&p, &(double){7}, 1, &plan);
    assert_true(plan.feasible);
    assert_numbers("0 0 2", buys[0], keeps[0], buys[1]);
    bats_windows_plan(&p, &(double){9}, 1, &plan);
    assert_int_equal(keeps[0] + buys[0], 1);
}

/* Two tasks that need half a window more, beside machines for which to do them
 * again costs more; and then less. */
TEST(a_task_is_cut_off_only_where_that_is_cheaper)
{
    struct bats_windows_type types[] = {
        {.rate = 1, .slots = 1, .charge = 2},
        {.rate = 1, .slots = 1, .charge = 3, .parked = 2}};
    const struct bats_windows_machine machines[] = {
        {.type = 0, .first_slot = 0, .n_slots = 1, .paid = 0.1, .overrun = 1},
        {.type = 0, .first_slot = 1, .n_slots = 1, .paid = 0.1, .overrun = 1}};
    const struct bats_windows_slot slots[] = {{0.6, 1}, {0.6, 1}};
    const struct bats_windows_problem p = {.types = types,
                                           .n_types = 2,
                                           .machines = machines,
                                           .n_machines = 2,
                                           .slots = slots,
                                           .demand = 2};
    uint32_t buys[2];
    int64_t keeps[2];
    struct bats_windows_plan plan = {.buys = buys, .keeps = keeps};
    bats_windows_plan(&p, &(double){6}, 1, &plan);
    assert_true(plan.feasible && keeps[0] == 1 && keeps[1] == 1);
    assert_true(buys[0] == 0 && buys[1] == 0);
    types[1].charge = 1;
    bats_windows_plan(&p, &(double){2}, 1, &plan);
    assert_true(plan.feasible && keeps[0] == 0 && keeps[1] == 0);
    assert_int_equal(buys[1], 2);
}

/* 2 machines of a window each, 6 tasks of half a window: the last two begin at
 * 1 - 0.5 / 2 (half a task is under way then), and end half a task later. The
 * second type is no part of the problem. */
TEST(all_machines_cost_until_what_they_run_ends)
{
    const struct bats_windows_type types[] = {
        {.rate = 2, .slots = 1, .charge = 5, .parked = 2},
        {.rate = 9, .slots = 9, .charge = 9, .parked = 9}};
    const struct bats_windows_slot slots[] = {{1.2, 1}};
    const struct bats_windows_machine machines[] = {
        {.type = 0, .n_slots = 1, .paid = 0.5, .overrun = 1}};
    struct bats_windows_problem p = {.types = types, .n_types = 1};
    double end;
    double cost = bats_windows_cost_of_all(&p, 6, &end);
    assert_true(fabs(end - 1.25) < 0.01);
    assert_true(fabs(cost - 2 * 5 * (1.25 + 0.5)) < 0.1);
    p.machines = machines;
    p.n_machines = 1;
    p.slots = slots;
    cost = bats_windows_cost_of_all(&p, 0, &end);
    assert_true(fabs(end - 1.2) < 1e-9 && fabs(cost - 5) < 1e-9);
    bats_windows_cost_of_all(&p, 6, &end); /* it is busy until then */
    assert_true(fabs(end - 1.25) < 0.01);
}

TEST_MAIN(NULL, NULL)
