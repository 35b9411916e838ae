/* Giving nodes back, in the simulator: two clusters of the same speed, four
 * machines each, of which the budget pays the cheap ones only; tasks of ten
 * minutes, windows of an hour. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bats/policy.h"
#include "sim/sim.h"

#define TASKS 200
#define MACHINES 8

struct world {
    struct bats_cluster clusters[2];
    struct bats_machine_spec machines[MACHINES];
    uint32_t node[MACHINES];
    double speed[2];
    bats_time work[TASKS];
    struct bats_sim_options o;
    struct bats_sched *s;
    struct bats_sched_status status;
    bats_time makespan;
};

static void check(void *context, const struct bats_sched *s)
{
    (void)context;
    bats_sched_check(s);
}

/* Machines 0 to 3 are cheap, each on a node of its own. The first hour does
 * some 40 tasks; 160 more take the four cheap ones less than 7 hours. */
static void set_up(struct world *w)
{
    *w = (struct world){
        .clusters = {{"slow", 1 * BATS_UNIT, 4}, {"fast", 8 * BATS_UNIT, 4}},
        .speed = {1, 1}};
    for (uint32_t i = 0; i < MACHINES; i++) {
        w->machines[i] = (struct bats_machine_spec){i / 4, 1};
        w->node[i] = i;
    }
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] = 10 * BATS_MINUTE;
    w->o = (struct bats_sim_options){
        .sched = {.policy = &bats_policy_bats,
                  .n_tasks = TASKS,
                  .clusters = w->clusters,
                  .n_clusters = 2,
                  .machines = w->machines,
                  .n_machines = MACHINES,
                  .window = BATS_HOUR,
                  .budget = 70 * BATS_UNIT,
                  .seed = 5,
                  .shrink = {.node = w->node,
                             .keep = 0,
                             .restart = BATS_MINUTE}},
        .work = w->work,
        .speed = w->speed,
        .after = check};
}

static void simulate(struct world *w)
{
    struct bats_error err;
    if (bats_sim_run(&w->o, &w->s, &w->makespan, &err) < 0)
        fail_msg("%s", err.text);
    bats_sched_status(w->s, &w->status);
}

static uint32_t kept(const struct world *w)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; i < MACHINES; i++)
        bits |= (uint32_t)bats_sched_keeps(w->s, i) << i;
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

    size_t n;
    const struct bats_decision *d = bats_sched_decisions(w.s, &n);
    assert_int_equal(d[n - 1].reason, BATS_REASON_SHRINK);
    assert_int_equal(d[n - 1].machines[0], 4);
    assert_int_equal(d[n - 1].machines[1], 0);
    bats_sched_destroy(w.s);
}

static void node_with_a_machine_that_is_wanted_stays(void **state)
{
    (void)state;
    struct world w;
    set_up(&w);
    for (uint32_t i = 0; i < MACHINES; i++)
        w.node[i] = i % 4;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(kept(&w), 0xff);
    bats_sched_destroy(w.s);
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
    bats_sched_destroy(w.s);
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
        bats_sched_destroy(w.s);
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
    bats_sched_destroy(w.s);
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
    bats_sched_destroy(w.s);
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
    struct bats_cluster_status fast;
    bats_sched_cluster_status(w.s, 1, &fast);
    assert_int_equal(fast.machines_used, 0); /* it is known: no sample */
    bats_sched_destroy(w.s);
}

static void what_is_out_of_range_is_refused(void **state)
{
    (void)state;
    struct world w;
    struct bats_error err;
    bats_time paid[MACHINES] = {BATS_HOUR + 1};
    struct bats_observation seen = {0, 2, BATS_MINUTE};
    set_up(&w);
    w.node[3] = MACHINES;
    assert_int_equal(bats_sched_create(&w.o.sched, &w.s, &err), BATS_EINPUT);
    set_up(&w);
    w.o.sched.earlier.paid = paid;
    assert_int_equal(bats_sched_create(&w.o.sched, &w.s, &err), BATS_EINPUT);
    set_up(&w);
    w.o.sched.earlier.seen = &seen;
    w.o.sched.earlier.n_seen = 1;
    assert_int_equal(bats_sched_create(&w.o.sched, &w.s, &err), BATS_EINPUT);
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
    bats_sched_destroy(w.s);
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
        cmocka_unit_test(policy_that_wants_all_machines_keeps_them)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
