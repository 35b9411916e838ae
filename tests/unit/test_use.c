/* Machines that are charged for use, in runs that can be checked by hand: 3 per
 * hour, tasks of 20 minutes at 1 each. The simulator plays the machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "bats/billing.h"
#include "bats/policy.h"
#include "sim/sim.h"

#define TASK (20 * BATS_MINUTE)
#define CENT (BATS_UNIT / 100)

struct run {
    struct bats_cluster cluster;
    struct bats_machine_spec machines[2];
    double speed;
    bats_time expected, work[4];
    struct bats_sim_options o;
    struct bats_sched_status status;
    struct bats_cluster_status used;
    bats_money booked;
    bats_time makespan;
};

static void check_invariants(void *context, const struct bats_sched *s)
{
    (void)context;
    bats_sched_check(s);
}

static void book(void *context, bats_time now, const struct bats_command *c)
{
    struct run *r = context;
    (void)now;
    if (c->type == BATS_NOTICE_CHARGE)
        r->booked += c->amount;
}

static struct run prepare(uint32_t n_tasks, uint32_t n_machines,
                          bats_money budget)
{
    return (struct run){.cluster = {.charge = 3 * BATS_UNIT, .max = 2},
                        .machines = {{0, 1}, {0, 1}},
                        .speed = 1,
                        .expected = TASK,
                        .work = {TASK, TASK, TASK, TASK},
                        .o.sched = {.policy = &bats_policy_rr,
                                    .n_tasks = n_tasks,
                                    .n_clusters = 1,
                                    .n_machines = n_machines,
                                    .window = BATS_HOUR,
                                    .budget = budget,
                                    .billing.model = BATS_BILLING_USE,
                                    .seed = 7}};
}

static void play(struct run *r)
{
    struct bats_sched *s;
    struct bats_error err;
    r->o.sched.clusters = &r->cluster;
    r->o.sched.expected = &r->expected;
    r->o.sched.machines = r->machines;
    r->o.work = r->work;
    r->o.speed = &r->speed;
    r->o.after = check_invariants;
    r->o.on_command = book;
    r->o.context = r;
    if (bats_sim_run(&r->o, &s, &r->makespan, &err) < 0)
        fail_msg("%s", err.text);
    bats_sched_status(s, &r->status);
    bats_sched_cluster_status(s, 0, &r->used);
    bats_sched_destroy(s);
    assert_int_equal(r->booked, r->status.charged);
    assert_int_equal(r->used.charged, r->status.charged);
}

/* 40 minutes of one machine and 20 of the other; by windows it would be 6. */
static void use_is_charged_by_the_second_and_waiting_is_free(void **state)
{
    (void)state;
    struct run r = prepare(3, 2, BATS_UNLIMITED);
    play(&r);
    assert_int_equal(r.makespan, 2 * TASK);
    assert_int_equal(r.status.done, 3);
    assert_int_equal(r.status.charged, 3 * BATS_UNIT);
    assert_true(r.used.utilisation == 1);
}

/* A millionth of a unit is not divided: 1 us at 3 per hour is rounded up. */
static void use_is_rounded_up_to_a_millionth(void **state)
{
    (void)state;
    assert_int_equal(bats_billing_use(3 * BATS_UNIT, BATS_HOUR, 1), 1);
    assert_int_equal(bats_billing_use(3 * BATS_UNIT, BATS_HOUR, TASK),
                     BATS_UNIT);
    assert_int_equal(bats_billing_use(3 * BATS_UNIT, BATS_HOUR, TASK + 1),
                     BATS_UNIT + 1);
    assert_int_equal(bats_billing_lasts(3 * BATS_UNIT, BATS_HOUR, BATS_UNIT),
                     TASK);
}

/* 2.50 pays two tasks; the rest of it is not begun with. */
static void no_task_begins_that_the_money_left_cannot_pay(void **state)
{
    (void)state;
    struct run r = prepare(3, 2, 250 * CENT);
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    assert_int_equal(r.status.done, 2);
    assert_int_equal(r.status.preempted, 0);
    assert_int_equal(r.status.charged, 2 * BATS_UNIT);
    assert_int_equal(r.status.rest_cost, BATS_UNIT);
}

/* It is expected to cost 1, and would cost 3: after 30 minutes 1.50 is gone. */
static void a_task_that_cannot_be_paid_to_its_end_is_stopped(void **state)
{
    (void)state;
    struct run r = prepare(1, 1, 150 * CENT);
    r.work[0] = 3 * TASK;
    play(&r);
    assert_int_equal(r.status.finish, BATS_FINISH_BUDGET);
    assert_int_equal(r.status.done, 0);
    assert_int_equal(r.status.preempted, 1);
    assert_int_equal(r.makespan, TASK + TASK / 2);
    assert_int_equal(r.status.charged, 150 * CENT);
}

static void a_task_that_takes_longer_is_paid_while_there_is_money(void **state)
{
    (void)state;
    struct run r = prepare(1, 1, 3 * BATS_UNIT);
    r.work[0] = 3 * TASK;
    play(&r);
    assert_int_equal(r.status.done, 1);
    assert_int_equal(r.makespan, 3 * TASK);
    assert_int_equal(r.status.charged, 3 * BATS_UNIT);
}

/* With 5 minutes to stop it, 1.50 pays for 25 of the 60 minutes at most. */
static void the_time_to_stop_a_task_is_paid(void **state)
{
    (void)state;
    struct run r = prepare(1, 1, 150 * CENT);
    r.work[0] = 3 * TASK;
    r.o.sched.preempt_lead = 5 * BATS_MINUTE;
    play(&r);
    assert_int_equal(r.status.preempted, 1);
    assert_int_equal(r.makespan, 25 * BATS_MINUTE);
    assert_int_equal(r.status.charged, 125 * CENT);
}

/* Tasks of 20 and 40 minutes at the same time: 40 minutes. */
static void a_node_is_in_use_while_any_of_its_slots_is(void **state)
{
    (void)state;
    struct run r = prepare(2, 1, BATS_UNLIMITED);
    r.machines[0].slots = 2;
    r.work[1] = 2 * TASK;
    play(&r);
    assert_int_equal(r.makespan, 2 * TASK);
    assert_int_equal(r.status.charged, 2 * BATS_UNIT);
}

/* 10 minutes of the lost one, and 20 for each of two tasks on the other. */
static void a_lost_machine_is_charged_until_it_is_lost(void **state)
{
    (void)state;
    const struct bats_sim_loss loss = {10 * BATS_MINUTE, 0};
    struct run r = prepare(2, 2, BATS_UNLIMITED);
    r.o.sched.rules.losses = 1;
    r.o.losses = &loss;
    r.o.n_losses = 1;
    play(&r);
    assert_int_equal(r.status.done, 2);
    assert_int_equal(r.status.charged, 250 * CENT);
}

/* The first lease is a window; what it does not use comes back. */
static void nothing_need_be_known_of_the_tasks(void **state)
{
    (void)state;
    struct run r = prepare(4, 1, 4 * BATS_UNIT);
    r.expected = 0;
    play(&r);
    assert_int_equal(r.status.done, 4);
    assert_int_equal(r.status.charged, 4 * BATS_UNIT);
}

static void a_sampling_phase_is_refused(void **state)
{
    (void)state;
    struct run r = prepare(1, 1, BATS_UNLIMITED);
    struct bats_sched *s;
    struct bats_error err;
    r.o.sched.clusters = &r.cluster;
    r.o.sched.machines = r.machines;
    r.o.sched.sampling.on = true;
    assert_int_equal(bats_sched_create(&r.o.sched, &s, &err), BATS_EINPUT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(use_is_charged_by_the_second_and_waiting_is_free),
        cmocka_unit_test(use_is_rounded_up_to_a_millionth),
        cmocka_unit_test(no_task_begins_that_the_money_left_cannot_pay),
        cmocka_unit_test(a_task_that_cannot_be_paid_to_its_end_is_stopped),
        cmocka_unit_test(
            a_task_that_takes_longer_is_paid_while_there_is_money),
        cmocka_unit_test(the_time_to_stop_a_task_is_paid),
        cmocka_unit_test(a_node_is_in_use_while_any_of_its_slots_is),
        cmocka_unit_test(a_lost_machine_is_charged_until_it_is_lost),
        cmocka_unit_test(nothing_need_be_known_of_the_tasks),
        cmocka_unit_test(a_sampling_phase_is_refused)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
