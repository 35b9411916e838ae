/* Executions that go wrong, in the simulator: one cluster of machines at 1 per
 * hour, tasks of ten minutes. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/sim_fixture.h"

#include "bats/bag.h"

static void set_up(uint32_t n_tasks, uint32_t n_machines)
{
    set_up_world(&bats_policy_rr, n_tasks, 10 * BATS_MINUTE, n_machines, 1, 0,
                 BATS_UNLIMITED);
}

#define RR &bats_policy_rr
#define TEN (10 * BATS_MINUTE)

TEST(rules_end_runs_as_the_rows_say)
{
    static const struct story rows[] = {
        {"a failed task is tried again as often as allowed", RR, 6, TEN, 1, 1,
         0, /* 5 + 3 executions */
         ENDS(.done = 5, .failed = 1, .retried = 2, .makespan = 8 * TEN,
              .finish = BATS_FINISH_ALL_DONE),
         .fails = 6, .rules = {.retries = 2}},
        {"retries wait for their delay", RR, 1, TEN, 1, 1, 0,
         ENDS(.failed = 1, .makespan = 2 * TEN + TEN / 2), .fails = 1,
         .rules = {.retries = 1, .retry_delay = TEN / 2}},
        {"a task that outlives its time out has failed", RR, 3, TEN, 1, 1, 0,
         ENDS(.failed = 1, .timed_out = 1, .makespan = 3 * TEN + TEN / 2,
              .finish = BATS_FINISH_ALL_DONE),
         .first = 5 * TEN, .rules = {.timeout = TEN + TEN / 2}},
        {"too many failures halt the run", RR, 60, TEN, 2, 1, 0,
         ENDS(.failed = 4, .finish = BATS_FINISH_HALTED), .fails = 1,
         .rules = {.halt_failed = 3}}, /* the fourth ran to its end */
        {"or at once", RR, 60, TEN, 2, 1, 0,
         ENDS(.failed = 3, .makespan = 2 * TEN, .finish = BATS_FINISH_HALTED),
         .fails = 1, .rules = {.halt_failed = 3, .halt_now = true}},
        {"three at least, of three", RR, 60, TEN, 2, 1, 0,
         ENDS(.failed = 3, .finish = BATS_FINISH_HALTED), .fails = 1,
         .rules = {.halt_share = 1, .halt_now = true}},
        {"a bag in which every task fails is not the machines' fault", RR, 60,
         TEN, 3, 1, 0,
         ENDS(.failed = 60, .makespan = 20 * TEN,
              .finish = BATS_FINISH_ALL_DONE),
         .fails = 1},
        {"no task starts that cannot end before the deadline", RR, 60, TEN, 2,
         1, 0,
         ENDS(.done = 6, .preempted = 0, .makespan = 3 * TEN,
              .finish = BATS_FINISH_TIME_LIMIT),
         .rules = {.time_limit = 3 * TEN + TEN / 2}}};
    PLAY_STORIES(rows);
}

TEST(retries_of_earlier_sessions_count)
{
    uint8_t failures[6] = {0, 0, 2, 1};
    set_up(6, 1);
    w->fails[2] = w->fails[3] = 1;
    w->o.sched.rules.retries = 2;
    w->o.sched.earlier.failures = failures;
    play();
    assert_end(.failed = 2, .retried = 1,
               .makespan = 70 * BATS_MINUTE); /* 4 + 1 + 2 executions */
}

TEST(retries_go_to_another_machine)
{
    set_up(8, 2);
    w->broken[0] = 1;
    w->o.sched.rules.retries = 1;
    play();
    /* One failure on the broken machine each at most: all get through. */
    assert_end(.done = 8, .failed = 0);
}

TEST(time_out_in_medians_needs_a_sample)
{
    set_up(40, 2);
    w->o.sched.policy = &bats_policy_bats;
    for (uint32_t i = 0; i < 40; i++)
        w->work[i] = i == 11 ? 10 * BATS_HOUR : 10 * BATS_MINUTE;
    w->o.sched.rules.timeout_median = 3;
    play_to(BATS_FINISH_ALL_DONE);
    assert_end(.timed_out = 1, .done = 39);
    assert_true(w->makespan < 5 * BATS_HOUR);

    /* Neither the policy nor the monitoring has to help. */
    w->o.sched.policy = &bats_policy_rr;
    w->o.sched.monitor_interval = 100 * BATS_HOUR;
    play();
    assert_int_equal(w->status.timed_out, 1);
    assert_true(w->makespan < 5 * BATS_HOUR);
}

TEST(what_runs_at_the_deadline_is_cancelled)
{
    set_up(60, 2);
    for (uint32_t i = 0; i < 60; i++)
        w->work[i] = i % 2 ? 10 * BATS_MINUTE : 50 * BATS_MINUTE;
    w->o.sched.rules.time_limit = BATS_HOUR + 1;
    play_to(BATS_FINISH_TIME_LIMIT);
    assert_true(w->makespan <= BATS_HOUR + 1);
    assert_true(w->status.pending > 0);
}

TEST(task_fails_when_it_loses_machine_after_machine)
{
    const struct bats_sim_loss losses[] = {
        {BATS_MINUTE, 0}, {2 * BATS_MINUTE, 1}, {3 * BATS_MINUTE, 2}};
    set_up(1, 4);
    w->o.losses = losses;
    w->o.n_losses = 3;
    play();
    assert_int_equal(w->status.done, 1);
    w->o.sched.rules.losses = 2;
    play();
    assert_end(.failed = 1, .makespan = 3 * BATS_MINUTE);
}

TEST(losses_of_earlier_sessions_count)
{
    const struct bats_sim_loss losses[] = {{BATS_MINUTE, 0},
                                           {2 * BATS_MINUTE, 1}};
    uint8_t earlier[1] = {4};
    set_up(1, 4);
    w->o.losses = losses;
    w->o.n_losses = 1;
    w->o.sched.earlier.losses = earlier;
    play(); /* the fifth */
    assert_int_equal(w->status.done, 1);
    w->o.n_losses = 2;
    play();
    assert_end(.failed = 1, .makespan = 2 * BATS_MINUTE);
    earlier[0] = UINT8_MAX;
    play();
    assert_int_equal(w->makespan, BATS_MINUTE);
}

TEST(resumed_run_does_the_rest_with_the_money_left)
{
    uint8_t earlier[60] = {BATS_TASK_PENDING};
    set_up(60, 1);
    for (uint32_t i = 0; i < 50; i++)
        earlier[i] = i < 45 ? BATS_TASK_DONE : BATS_TASK_FAILED;
    w->o.sched.earlier.state = earlier;
    w->o.sched.earlier.charged = 9 * BATS_UNIT;
    w->o.sched.budget = 10 * BATS_UNIT;
    play_to(BATS_FINISH_BUDGET); /* one window: six of the ten tasks left */
    assert_end(.done = 45 + 6, .failed = 5, .pending = 4,
               .charged = 10 * BATS_UNIT, .charged0 = BATS_UNIT);
}

TEST(resumed_run_with_nothing_left_charges_nothing)
{
    uint8_t earlier[10];
    set_up(10, 2);
    memset(earlier, BATS_TASK_DONE, 10);
    w->o.sched.earlier.state = earlier;
    play_to(BATS_FINISH_ALL_DONE);
    assert_int_equal(w->status.charged, 0);
}

TEST(spent_budget_cannot_be_resumed_with_less)
{
    struct bats_sched *s;
    set_up(1, 1);
    w->o.sched.budget = 5;
    w->o.sched.earlier.charged = 6;
    assert_int_equal(bats_sched_create(&w->o.sched, &s, &err), BATS_EINPUT);
}

TEST_MAIN(NULL, NULL)
