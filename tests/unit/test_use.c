/* Machines that are charged for use, in runs that can be checked by hand: 3 per
 * hour, tasks of 20 minutes at 1 each. The simulator plays the machines. */
#include "bats/billing.h"
#include "helpers/sim_fixture.h"

#define TASK (20 * BATS_MINUTE)
#define CENT (BATS_UNIT / 100)

static bats_time expected;

static void prepare(uint32_t n_tasks, uint32_t n_machines, bats_money budget)
{
    expected = TASK;
    set_up_world(&bats_policy_rr, n_tasks, TASK, 2, 3, 0, budget);
    w->o.sched.n_machines = n_machines;
    w->o.sched.expected = &expected;
    w->o.sched.billing.model = BATS_BILLING_USE;
}

static void play_use(enum bats_finish finish)
{
    play_to(finish);
    assert_int_equal(w->of[0].charged, w->status.charged);
}

/* 40 minutes of one machine and 20 of the other; by windows it would be 6. */
TEST(use_is_charged_by_the_second_and_waiting_is_free)
{
    prepare(3, 2, BATS_UNLIMITED);
    play_use(BATS_FINISH_ALL_DONE);
    assert_end(.makespan = 2 * TASK, .done = 3, .charged = 3 * BATS_UNIT);
    assert_true(w->of[0].utilisation == 1);
}

/* A millionth of a unit is not divided: 1 us at 3 per hour is rounded up. */
TEST(use_is_rounded_up_to_a_millionth)
{
    assert_int_equal(bats_billing_use(3 * BATS_UNIT, BATS_HOUR, 1), 1);
    assert_int_equal(bats_billing_use(3 * BATS_UNIT, BATS_HOUR, TASK),
                     BATS_UNIT);
    assert_int_equal(bats_billing_use(3 * BATS_UNIT, BATS_HOUR, TASK + 1),
                     BATS_UNIT + 1);
    assert_int_equal(bats_billing_lasts(3 * BATS_UNIT, BATS_HOUR, BATS_UNIT),
                     TASK);
}

/* 2.50 pays two tasks; the rest of it is not begun with. */
TEST(no_task_begins_that_the_money_left_cannot_pay)
{
    prepare(3, 2, 250 * CENT);
    play_use(BATS_FINISH_BUDGET);
    assert_end(.done = 2, .preempted = 0, .charged = 2 * BATS_UNIT,
               .rest_cost = BATS_UNIT);
}

/* It is expected to cost 1, and would cost 3: after 30 minutes 1.50 is gone, or
 * after 25 where 5 are held to stop it. */
TEST(a_task_that_takes_longer_is_paid_while_there_is_money)
{
    static const struct {
        bats_money budget, charged;
        bats_time lead, makespan;
    } rows[] = {{300 * CENT, 300 * CENT, 0, 3 * TASK},
                {150 * CENT, 150 * CENT, 0, TASK + TASK / 2},
                {150 * CENT, 125 * CENT, 5 * BATS_MINUTE, 25 * BATS_MINUTE}};
    for (int i = 0; i < 3; i++) {
        prepare(1, 1, rows[i].budget);
        w->work[0] = 3 * TASK;
        w->o.sched.preempt_lead = rows[i].lead;
        play_use(i > 0 ? BATS_FINISH_BUDGET : BATS_FINISH_ALL_DONE);
        assert_end(.done = i == 0, .preempted = i > 0,
                   .makespan = rows[i].makespan, .charged = rows[i].charged);
    }
}

/* Tasks of 20 and 40 minutes at the same time: 40 minutes. */
TEST(a_node_is_in_use_while_any_of_its_slots_is)
{
    prepare(2, 1, BATS_UNLIMITED);
    w->machines[0].slots = 2;
    w->work[1] = 2 * TASK;
    play_use(BATS_FINISH_ALL_DONE);
    assert_end(.makespan = 2 * TASK, .charged = 2 * BATS_UNIT);
}

/* 10 minutes of the lost one, and 20 for each of two tasks on the other. */
TEST(a_lost_machine_is_charged_until_it_is_lost)
{
    const struct bats_sim_loss loss = {10 * BATS_MINUTE, 0};
    prepare(2, 2, BATS_UNLIMITED);
    w->o.sched.rules.losses = 1;
    w->o.losses = &loss;
    w->o.n_losses = 1;
    play_use(BATS_FINISH_ALL_DONE);
    assert_end(.done = 2, .charged = 250 * CENT);
}

/* The first lease is a window; what it does not use comes back. */
TEST(nothing_need_be_known_of_the_tasks)
{
    prepare(4, 1, 4 * BATS_UNIT);
    expected = 0;
    play_use(BATS_FINISH_ALL_DONE);
    assert_end(.done = 4, .charged = 4 * BATS_UNIT);
}

TEST(a_sampling_phase_is_refused)
{
    prepare(1, 1, BATS_UNLIMITED);
    struct bats_sched *s;
    w->o.sched.sampling.on = true;
    assert_int_equal(bats_sched_create(&w->o.sched, &s, &err), BATS_EINPUT);
}

TEST_MAIN(NULL, NULL)
