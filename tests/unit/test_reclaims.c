/*
 * Machines that are billed by the second, and reclaimed: by hand. The simulator
 * plays them. Random ones, with all that holds of each event and command, are in
 * test_sched_property.c.
 */
#include "helpers/sim_fixture.h"

static uint32_t notices, losses, acquired;

static void on_event(void *context, bats_time now, const struct bats_event *ev)
{
    notices += ev->type == BATS_EVENT_NOTICE;
    losses += ev->type == BATS_EVENT_LOST;
}

static void on_command(void *context, bats_time now,
                       const struct bats_command *c)
{
    acquired += c->type == BATS_COMMAND_ACQUIRE;
}

/* One machine at 1 an hour, tasks of 20 minutes, windows of an hour. */
static void prepare(uint32_t n_tasks, uint32_t n_machines)
{
    set_up_world(&bats_policy_rr, n_tasks, 20 * BATS_MINUTE, n_machines, 1, 0,
                 BATS_UNLIMITED);
    notices = losses = acquired = 0;
    w->o.watch.on_event = on_event;
    w->o.watch.on_command = on_command;
    w->o.sched.billing.model = BATS_BILLING_SECOND;
    w->clusters[0].charge = 0;
    w->clusters[0].tariff = (struct bats_tariff){
        .per = BATS_HOUR, .n_steps = 1, .step = {{0, BATS_UNIT}}};
}

static void take_at(size_t cluster, bats_time age)
{
    w->clusters[cluster].reclaimable = true;
    w->clusters[cluster].notice = 2 * BATS_MINUTE;
    w->clusters[cluster].lifetime =
        (struct bats_lifetime){.survival = BATS_SURVIVAL_EXPONENTIAL,
                               .a = 1,
                               .share = 1,
                               .guaranteed = age};
}

/* 80 minutes, of which the last 40 of a window are not paid. */
TEST(a_machine_with_nothing_to_do_is_given_back_at_once)
{
    prepare(4, 1);
    play();
    assert_end(.makespan = 80 * BATS_MINUTE,
               .charged = (80 * BATS_UNIT + 59) / 60);
}

/* Two machines; both are taken at 70 minutes, after three tasks each. */
TEST(what_is_reclaimed_is_charged_until_then)
{
    prepare(8, 2);
    take_at(0, 70 * BATS_MINUTE);
    play();
    assert_end(.finish = BATS_FINISH_NO_MACHINES, .done = 6);
    assert_int_equal(notices, 2);
    /* The task that will not make it is told to stop at the notice; with
     * nothing more to do there, the machine is given back. */
    assert_in_range(w->status.charged, 2 * 68 * BATS_UNIT / 60,
                    2 * 70 * BATS_UNIT / 60 + 2);
}

/* The same at 50 minutes, in an hour that is free then: it stays to the end. */
TEST(an_hour_in_which_it_is_reclaimed_is_free)
{
    prepare(8, 2);
    w->clusters[0].tariff.free = BATS_HOUR;
    take_at(0, 50 * BATS_MINUTE);
    play();
    assert_end(.done = 4, .charged = 0);
}

/* Half a budget's worth of machines could be had if the first hour counted as
 * free; but it may turn out not to be. */
TEST(what_may_be_free_is_held_all_the_same)
{
    prepare(12, 4);
    w->clusters[0].tariff.free = BATS_HOUR;
    w->clusters[0].reclaimable = true;
    w->o.sched.budget = 2 * BATS_UNIT;
    play();
    assert_int_equal(acquired, 2);
    assert_end(.charged = 2 * BATS_UNIT, .done = 6);
}

/* A task of 20 minutes, told after 8, saves its state and goes on on the
 * machine on demand, 10 s later; nobody acquires a third one of the first
 * kind. */
TEST(a_task_migrates_with_its_state)
{
    prepare(1, 3);
    w->o.sched.n_clusters = 2;
    w->clusters[1] = w->clusters[0];
    w->clusters[1].max = 1;
    w->clusters[0].max = 2;
    w->machines[2].cluster = 1;
    take_at(0, 10 * BATS_MINUTE);
    w->o.sched.n_tasks = 2;
    w->work[1] = 30 * BATS_MINUTE;
    w->work[0] = 30 * BATS_MINUTE;
    w->clusters[0].max = 2;
    w->o.saves = true;
    w->o.migration = 10 * BATS_SECOND;
    bats_time expected[2] = {30 * BATS_MINUTE, 30 * BATS_MINUTE};
    w->o.sched.expected = expected;
    play();
    assert_int_equal(w->status.done, 2);
    assert_int_equal(losses, 0); /* given back before: nothing ran there */
    /* Both migrate to the one machine, one after the other. */
    assert_int_equal(w->makespan,
                     (8 + 22 + 22) * BATS_MINUTE + 20 * BATS_SECOND);
}

/* A block of 1 to 2 hours ends with its length, and is bought anew. */
TEST(a_block_does_not_last_longer_than_it_was_bought_for)
{
    prepare(9, 1);
    w->clusters[0].tariff.shortest = w->clusters[0].tariff.longest = BATS_HOUR;
    w->clusters[0].tariff.charge_longest = BATS_UNIT;
    play();
    assert_int_equal(w->status.done, 9);
    assert_int_equal(acquired, 3);
    assert_int_equal(w->status.charged, 3 * BATS_UNIT);
}

TEST_MAIN(NULL, NULL)
