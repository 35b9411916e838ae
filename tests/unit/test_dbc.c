/*
 * The deadline-and-budget policies, in runs that can be checked by hand:
 * section 5 of Buyya et al. (2005) with tasks of 10,500 MI, and one machine
 * each of
 *
 *   a  10 s a task, 1 per s: 10 a task
 *   b   5 s a task, 4 per s: 20 a task
 *   c   5 s a task, 2 per s: 10 a task
 *
 * The simulator plays the machines.
 */
#include "helpers/sim_fixture.h"

static bats_time expected[CLUSTERS_MOST];

static void prepare(const struct bats_policy *policy, uint32_t n_tasks,
                    bats_time work, bats_time deadline, bats_money budget)
{
    set_up_world(policy, n_tasks, work, 0, 0, 0,
                 budget > 0 ? budget * BATS_UNIT : BATS_UNLIMITED);
    w->o.sched.n_clusters = 0;
    w->o.sched.expected = expected;
    w->o.sched.window = BATS_SECOND;
    w->o.sched.monitor_interval = BATS_HOUR;
    w->o.sched.goal.deadline = deadline * BATS_SECOND;
    w->o.sched.billing.model = BATS_BILLING_USE;
    w->o.sched.seed = 7;
}

static void add_cluster(uint32_t machines, double speed, bats_money charge)
{
    uint32_t i = (uint32_t)w->o.sched.n_clusters++;
    w->clusters[i] =
        (struct bats_cluster){.charge = charge * BATS_UNIT, .max = machines};
    w->speed[i] = speed;
    expected[i] = (bats_time)((double)w->work[0] / speed + 0.5);
    for (uint32_t m = 0; m < machines; m++)
        w->machines[w->o.sched.n_machines++] =
            (struct bats_machine_spec){i, 1};
}

/* Table I: processors, MIPS / 100, price. */
static void world_wide_grid(const struct bats_policy *policy,
                            bats_time deadline, bats_money budget)
{
    static const struct {
        uint32_t machines;
        double speed;
        bats_money charge;
    } table[] = {{4, 5.15, 8}, {4, 3.77, 4}, {4, 3.77, 3}, {2, 3.77, 3},
                 {2, 3.8, 1},  {6, 4.1, 5},  {16, 4.1, 5}, {16, 4.1, 4},
                 {2, 3.8, 1},  {4, 4.1, 6},  {8, 3.77, 3}};
    prepare(policy, 200, 105 * BATS_SECOND, deadline, budget);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        add_cluster(table[i].machines, table[i].speed, table[i].charge);
}

static void two(const struct bats_policy *policy, const char *names,
                bats_time deadline, bats_money budget)
{
    prepare(policy, 6, 10 * BATS_SECOND, deadline, budget);
    for (const char *c = names; *c; c++)
        add_cluster(1, *c == 'a' ? 1 : 2, *c == 'a' ? 1 : *c == 'b' ? 4 : 2);
}

static void assert_run(uint32_t first, uint32_t second, bats_time seconds,
                       bats_money cost)
{
    play();
    assert_end(.done0 = first, .done1 = second,
               .makespan = seconds * BATS_SECOND, .charged = cost * BATS_UNIT);
}

/* R4 and R8 take 27.6 s for a task, for as much money.
 * dbc-cost: 200 x 10,500 / (2 x 380) = 2,763 units on the cheapest, R4, for
 * 5,526; by 2,600 R4 can end 2 x 94 tasks, and R8 gets the others; 5,000 /
 * 27.631579 = 180.95 tasks. dbc-cost-time: both, in half the time. */
TEST(the_grid_bag_is_done_as_by_hand)
{
    static const struct {
        const struct bats_policy *policy;
        bats_time deadline;
        bats_money budget;
        uint32_t on_r4, on_r8, rounds;
    } cases[] = {{&bats_policy_dbc_cost, 3100, 0, 200, 0, 100},
                 {&bats_policy_dbc_cost_time, 3100, 0, 100, 100, 50},
                 {&bats_policy_dbc_cost, 2600, 0, 188, 12, 94},
                 {&bats_policy_dbc_cost, 3100, 5000, 180, 0, 90}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint32_t done = cases[i].on_r4 + cases[i].on_r8;
        world_wide_grid(cases[i].policy, cases[i].deadline, cases[i].budget);
        play();
        assert_int_equal(w->of[4].done, cases[i].on_r4);
        assert_int_equal(w->of[8].done, cases[i].on_r8);
        assert_end(.done = done,
                   .makespan = cases[i].rounds * INT64_C(27631579),
                   .charged = done * INT64_C(27631579),
                   .finish = cases[i].budget > 0 ? BATS_FINISH_BUDGET
                                                 : BATS_FINISH_ALL_DONE);
    }
}

/* By 100: 4 x 4 + 16 x 3 + 28 x 3 + ... of R0 (20.4 s) four in each slot, of
 * all others three (25.6 to 27.9 s): 16 + 64 x 3 = 208 fit. */
TEST(a_short_deadline_takes_all_resources)
{
    static const struct bats_policy *const policies[] = {
        &bats_policy_dbc_cost, &bats_policy_dbc_cost_time};
    for (int i = 0; i < 2; i++) {
        world_wide_grid(policies[i], 100, 0);
        play();
        assert_int_equal(w->status.done, 200);
        /* The dearest one does what is left: 200 - 64 x 3. */
        assert_int_equal(w->of[0].done, 8);
        assert_int_equal(w->of[6].done, 48);
        assert_true(w->makespan <= 100 * BATS_SECOND);
    }
}

/* Within 19 s: one of 10 s, and three of 5 s. */
TEST(no_task_begins_that_cannot_end_by_the_deadline)
{
    static const struct bats_policy *const policies[] = {
        &bats_policy_dbc_cost, &bats_policy_dbc_time,
        &bats_policy_dbc_conservative_time, &bats_policy_dbc_cost_time};
    for (int i = 0; i < 4; i++) {
        two(policies[i], "ab", 19, 0);
        play();
        assert_end(.done0 = 1, .done1 = 3, .pending = 2,
                   .finish = BATS_FINISH_TOO_LATE,
                   .makespan = 15 * BATS_SECOND);
    }
}

TEST(two_machines_share_six_tasks_as_by_hand)
{
    static const struct {
        const struct bats_policy *policy;
        const char *machines;
        bats_time deadline;
        bats_money budget;
        uint32_t done[2];
        bats_time end;
        bats_money cost;
    } cases[] = {
        /* No more of the dear one than the deadline asks for. */
        {&bats_policy_dbc_cost, "ab", 60, 0, {6, 0}, 60, 60},
        {&bats_policy_dbc_cost, "ab", 30, 0, {3, 3}, 30, 90},
        {&bats_policy_dbc_cost, "ab", 20, 0, {2, 4}, 20, 100},
        {&bats_policy_dbc_cost, "ab", 0, 0, {6, 0}, 60, 60},
        /* A task has 15 of the 90, which b costs more than; when three are
         * assigned to a, the others have 20. Of 1,000 each goes where it ends
         * first. */
        {&bats_policy_dbc_time, "ab", 0, 90, {3, 3}, 30, 90},
        {&bats_policy_dbc_time, "ab", 0, 1000, {2, 4}, 20, 100},
        /* 35 pays three tasks on a, and none has the money for b. */
        {&bats_policy_dbc_time, "ab", 0, 35, {3, 0}, 30, 30},
        {&bats_policy_dbc_conservative_time, "ab", 0, 35, {3, 0}, 30, 30},
        /* A task has 17.5 of the 105: a gets a third of them, 2, and what that
         * saves leaves the others 21.25 each, for b. */
        {&bats_policy_dbc_conservative_time, "ab", 0, 105, {2, 4}, 20, 100},
        {&bats_policy_dbc_conservative_time, "ab", 0, 90, {3, 3}, 30, 90},
        /* c costs the same as a and is faster. */
        {&bats_policy_dbc_cost, "ac", 0, 0, {0, 6}, 30, 60},
        {&bats_policy_dbc_cost_time, "ac", 0, 0, {2, 4}, 20, 60}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        two(cases[i].policy, cases[i].machines, cases[i].deadline,
            cases[i].budget);
        assert_run(cases[i].done[0], cases[i].done[1], cases[i].end,
                   cases[i].cost);
    }
}

/* Each does one task; when b has ended it, a is not known yet, and b goes on.
 * From 9 s on, when a costs 9, it does the other three: 4 x 9 and 2 x 20. */
TEST(what_is_not_known_is_measured)
{
    two(&bats_policy_dbc_cost, "ab", 60, 0);
    expected[0] = expected[1] = 0;
    w->speed[0] = 10.0 / 9;
    assert_run(4, 2, 36, 76);
}

/* Windows of 20 s at 2 and 8. Until 60: three of a. Until 30: three tasks on
 * a, in two windows, and three on b, in one. */
TEST(windows_are_bought_for_the_tasks_assigned)
{
    for (int i = 0; i < 2; i++) {
        two(&bats_policy_dbc_cost, "ab", i ? 30 : 60, 0);
        w->o.sched.billing.model = BATS_BILLING_WINDOW;
        w->o.sched.window = 20 * BATS_SECOND;
        w->clusters[0].charge = 2 * BATS_UNIT;
        w->clusters[1].charge = 8 * BATS_UNIT;
        if (i)
            assert_run(3, 3, 30, 12);
        else
            assert_run(6, 0, 60, 6);
    }
}

TEST_MAIN(NULL, NULL)
