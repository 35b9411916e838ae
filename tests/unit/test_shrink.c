/* Giving nodes back, in the simulator: two clusters of the same speed, four
 * machines each, of which the budget pays the cheap ones only; tasks of ten
 * minutes, windows of an hour. */
#include "helpers/sim_fixture.h"

#define TASKS 200
#define MACHINES 8

static uint32_t node[MACHINES];

/* Machines 0 to 3 are cheap, each on a node of its own. The first hour does
 * some 40 tasks; 160 more take the four cheap ones less than 7 hours. */
static void set_up(struct world *w)
{
    set_up_world(w, &bats_policy_bats, TASKS, 10 * BATS_MINUTE, 4, 1, 8,
                 70 * BATS_UNIT);
    for (uint32_t i = 0; i < MACHINES; i++)
        node[i] = i;
    w->o.sched.shrink =
        (struct bats_sched_shrink){.node = node, .restart = BATS_MINUTE};
}

static uint32_t kept(const struct world *w)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < MACHINES; i++)
        bits |= (uint32_t)w->keeps[i] << i;
    return bits;
}

static void nodes_that_the_plan_does_not_want_are_given_back(void **state)
{
    (void)state;
    struct world w;
    set_up(&w);
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_SHRINK);
    assert_int_equal(kept(&w), 0x0f);
    /* As soon as their first window is over, and no task is cut off. */
    assert_true(w.makespan >= BATS_HOUR);
    assert_true(w.makespan <= 70 * BATS_MINUTE);
    assert_int_equal(w.status.preempted, 0);
    assert_int_equal(w.status.running, 0);
    assert_int_equal(w.status.done + w.status.pending, TASKS);

    const struct bats_decision *d = &w.decisions[w.n_decisions - 1];
    assert_int_equal(d->reason, BATS_REASON_SHRINK);
    assert_int_equal(d->machines[0], 4);
    assert_int_equal(d->machines[1], 0);
}

static void node_with_a_machine_that_is_wanted_stays(void **state)
{
    (void)state;
    struct world w;
    set_up(&w);
    for (uint32_t i = 0; i < MACHINES; i++)
        node[i] = i % 4;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(kept(&w), 0xff);
}

static void node_of_the_master_stays(void **state)
{
    (void)state;
    struct world w;
    set_up(&w);
    w.o.sched.shrink.keep = 6;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_SHRINK);
    assert_int_equal(kept(&w), 0x4f);
}

/* Without a budget all are wanted but two, which the cluster does not allow.
 * The six do the bag in 200 / 36 = 5.6 hours, 4.1 of which are left after the
 * sample at least. The two that can go cost 16 per hour: 65 to 90. Those that
 * stay cost 20 per hour of restart. So it pays up to 3.2 hours (and at most
 * ten minutes' waiting less), and not from 4.5 on. */
static void restart_that_costs_more_than_it_saves_is_not_made(void **state)
{
    (void)state;
    struct world w;
    for (int i = 0; i < 2; i++) {
        set_up(&w);
        w.clusters[1].max = 2;
        w.o.sched.budget = BATS_UNLIMITED;
        w.o.sched.shrink.restart =
            i == 0 ? 150 * BATS_MINUTE : 271 * BATS_MINUTE;
        simulate(&w);
        assert_int_equal(w.status.finish,
                         i == 0 ? BATS_FINISH_SHRINK : BATS_FINISH_ALL_DONE);
        assert_int_equal(kept(&w), i == 0 ? 0x3f : 0xff);
    }
}

static void nothing_is_given_back_unasked(void **state)
{
    (void)state;
    struct world w;
    set_up(&w);
    w.o.sched.shrink.node = NULL;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
}

static void policy_that_wants_all_machines_keeps_them(void **state)
{
    (void)state;
    struct world w;
    set_up(&w);
    w.o.sched.policy = &bats_policy_rr;
    w.o.sched.budget = BATS_UNLIMITED;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
}

/* Four cheap machines are paid for half an hour more: they work until then
 * for nothing, and the 100 tasks take them (100 - 12) / 24 hours longer. */
static void time_that_is_paid_already_is_used_first(void **state)
{
    (void)state;
    struct world w;
    bats_time paid[MACHINES];
    struct bats_observation seen[2 * 40];
    set_up(&w);
    for (uint32_t i = 0; i < MACHINES; i++)
        paid[i] = i < 4 ? 30 * BATS_MINUTE : 0;
    for (uint32_t i = 0; i < 80; i++)
        seen[i] = (struct bats_observation){i, i % 2, 10 * BATS_MINUTE};
    w.o.sched.policy = &bats_policy_bkp;
    w.o.sched.n_tasks = 100;
    w.o.sched.budget = 16 * BATS_UNIT;
    w.o.sched.shrink.node = NULL;
    w.o.sched.earlier.paid = paid;
    w.o.sched.earlier.seen = seen;
    w.o.sched.earlier.n_seen = 80;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(w.status.charged, 16 * BATS_UNIT);
    assert_int_equal(w.makespan, (30 + 220) * BATS_MINUTE);
    assert_int_equal(w.of[1].machines_used, 0); /* it is known: no sample */
}

static void what_is_out_of_range_is_refused(void **state)
{
    (void)state;
    struct world w;
    struct bats_sched *sched;
    struct bats_error err;
    bats_time paid[MACHINES] = {BATS_HOUR + 1};
    struct bats_observation seen = {0, 2, BATS_MINUTE};
    set_up(&w);
    node[3] = MACHINES;
    assert_int_equal(bats_sched_create(&w.o.sched, &sched, &err), BATS_EINPUT);
    set_up(&w);
    w.o.sched.earlier.paid = paid;
    assert_int_equal(bats_sched_create(&w.o.sched, &sched, &err), BATS_EINPUT);
    set_up(&w);
    w.o.sched.earlier.seen = &seen;
    w.o.sched.earlier.n_seen = 1;
    assert_int_equal(bats_sched_create(&w.o.sched, &sched, &err), BATS_EINPUT);
}

/* The rest of the bag takes 28 after the sample for 36; ten hours in which the
 * cheap ones are paid for nothing would cost 40 more. */
static void budget_that_a_restart_would_break_forbids_it(void **state)
{
    (void)state;
    struct world w;
    set_up(&w);
    w.o.sched.budget = 65 * BATS_UNIT;
    w.o.sched.shrink.restart = 10 * BATS_HOUR;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(w.status.done, TASKS);
}

/* All eight cost 36 per hour and do 48 tasks in it. The 200 would cost 150; the
 * four cheap ones do one for 4 / 24, and cost 33. */
static void set_up_allocation(struct world *w)
{
    set_up(w);
    w->o.sched.billing =
        (struct bats_billing){.model = BATS_BILLING_ALLOCATION,
                              .rate = 36 * BATS_UNIT};
    w->o.sched.monitor_interval = 5 * BATS_MINUTE;
}

static void an_allocation_gives_back_what_the_budget_cannot_keep(void **state)
{
    (void)state;
    struct world w;
    set_up_allocation(&w);
    w.o.sched.budget = 60 * BATS_UNIT;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_SHRINK);
    assert_int_equal(kept(&w) & 0x0f, 0x0f);
    assert_true(kept(&w) < 0xff);
    /* It is known after ten minutes, and what runs then takes ten more. The
     * nodes kept do the rest for what is left, and one more would not. */
    assert_int_equal(w.makespan, 20 * BATS_MINUTE);
    double left = 60 - 36 / 3. - 36 / 60., dear = 0;
    for (uint32_t i = 4; i < MACHINES; i++)
        dear += kept(&w) >> i & 1;
    assert_true((4 + 8 * dear) * (200 - 16) / (24 + 6 * dear) <= left);
    dear++;
    assert_true((4 + 8 * dear) * (200 - 16) / (24 + 6 * dear) > left);
}

static void an_allocation_that_is_paid_to_the_end_is_kept(void **state)
{
    (void)state;
    struct world w;
    for (int i = 0; i < 2; i++) {
        set_up_allocation(&w);
        w.o.sched.budget = i == 0 ? 160 * BATS_UNIT : BATS_UNLIMITED;
        simulate(&w);
        assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    }
}

/* 24 pay 40 minutes of all: 32 tasks. Half of that is gone when the restart is
 * possible; the four cheap ones do 72 for the rest, but none where it takes
 * half an hour. */
static void an_allocation_shrinks_for_clearly_more_tasks(void **state)
{
    (void)state;
    struct world w;
    for (int i = 0; i < 2; i++) {
        set_up_allocation(&w);
        w.o.sched.budget = 24 * BATS_UNIT;
        w.o.sched.shrink.restart = i == 0 ? BATS_MINUTE : 30 * BATS_MINUTE;
        simulate(&w);
        assert_int_equal(w.status.finish,
                         i == 0 ? BATS_FINISH_SHRINK : BATS_FINISH_BUDGET);
        assert_int_equal(kept(&w), i == 0 ? 0x0f : 0xff);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_that_the_plan_does_not_want_are_given_back),
        cmocka_unit_test(node_with_a_machine_that_is_wanted_stays),
        cmocka_unit_test(node_of_the_master_stays),
        cmocka_unit_test(restart_that_costs_more_than_it_saves_is_not_made),
        cmocka_unit_test(nothing_is_given_back_unasked),
        cmocka_unit_test(time_that_is_paid_already_is_used_first),
        cmocka_unit_test(what_is_out_of_range_is_refused),
        cmocka_unit_test(budget_that_a_restart_would_break_forbids_it),
        cmocka_unit_test(policy_that_wants_all_machines_keeps_them),
        cmocka_unit_test(an_allocation_gives_back_what_the_budget_cannot_keep),
        cmocka_unit_test(an_allocation_that_is_paid_to_the_end_is_kept),
        cmocka_unit_test(an_allocation_shrinks_for_clearly_more_tasks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
