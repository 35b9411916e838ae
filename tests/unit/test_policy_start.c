/* Policy bats begins, in the simulator: what is known decides whether there
 * is anything to learn first. Two clusters of four machines at 1 and at 8 per
 * hour, equally fast; tasks of ten minutes, windows of an hour. */
#include "bats/rules.h"
#include "bats/status.h"
#include "helpers/sim_fixture.h"

#define TASKS 200

static bats_time expected[2];

static void set_up(const struct bats_policy *policy, int budget)
{
    set_up_world(policy, TASKS, 10 * BATS_MINUTE, 4, 1, 8, budget * BATS_UNIT);
    expected[0] = expected[1] = 0;
    w->o.sched.expected = expected;
}

/* The cheap machines do 24 tasks an hour: 9 hours, for 36. The first hour of
 * all machines costs as much. */
TEST(a_run_that_knows_nothing_tries_all_clusters)
{
    set_up(&bats_policy_bats, 45);
    play();
    assert_end(.first0 = 4, .first1 = 4);
    assert_int_not_equal(w->status.finish, BATS_FINISH_ALL_DONE);
}

/* The start of a bag of so many tasks, at so much per hour. */
static void expect_start(uint32_t n_tasks, int first, int second, int budget,
                         uint32_t n_first, uint32_t n_second)
{
    set_up(&bats_policy_bats, budget);
    w->clusters[0].charge = first * BATS_UNIT;
    w->clusters[1].charge = second * BATS_UNIT;
    w->o.sched.n_tasks = n_tasks;
    play();
    assert_end(.first0 = n_first, .first1 = n_second);
}

TEST(charges_decide_where_they_differ_much)
{
    /* Twice as much says nothing: all machines, those with the least numbers
     * first. */
    expect_start(4, 2, 1, 16, 4, 4);
    /* Three times: the cheapest slots, as many as there are tasks. */
    expect_start(4, 3, 1, 16, 0, 4);
    expect_start(6, 3, 1, 16, 2, 4);
    /* All machines cannot be paid for an hour. */
    expect_start(6, 3, 1, 15, 4, 4);
}

TEST(no_cluster_waits_for_results_of_another)
{
    /* An hour of all machines, whatever else the money pays. */
    expect_start(6, 1, 3, 16, 4, 2);
    expect_start(6, 1, 3, 19, 4, 2);
    expect_start(6, 1, 3, 16 * 100, 4, 2);
    expect_start(100, 1, 3, 301, 4, 4);
    assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
}

/* They need not be exact. */
TEST(expected_runtimes_leave_nothing_to_try)
{
    for (int minutes = 7; minutes <= 10; minutes += 3) {
        set_up(&bats_policy_bats, 45);
        expected[0] = expected[1] = minutes * BATS_MINUTE;
        play_to(BATS_FINISH_ALL_DONE);
        assert_end(.first0 = 4);
        assert_true(w->decisions[0].machines[1] <= 1);
    }
}

/* A budget that pays for all machines to the end, and one that does not. */
TEST(one_cluster_is_used_as_by_rr)
{
    const int budgets[] = {40, 36, 30, 9};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        bats_time makespan = ANY;
        struct bats_sched_status status;
        for (int k = 0; k < 2; k++) {
            set_up(k ? &bats_policy_rr : &bats_policy_bats, budgets[i]);
            w->o.sched.n_clusters = 1;
            w->o.sched.n_machines = 4;
            play();
            assert_end(.first0 = 4, .makespan = makespan);
            if (k == 1)
                assert_end(.charged = status.charged, .done = status.done);
            makespan = w->makespan;
            status = w->status;
        }
    }
}

TEST_MAIN(NULL, NULL)
