/* The decisions of the policy bats, in histories that can be checked by hand.
 * One cluster of machines at 1 per hour; the test plays the machines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bats/policy.h"
#include "bats/sched.h"

#define MACHINES 16

struct play {
    struct bats_cluster cluster;
    struct bats_machine_spec machines[MACHINES];
    struct bats_sched *sched;
    uint32_t task[MACHINES]; /* that runs there, or BATS_NO_TASK */
    bats_time started[MACHINES];
    uint32_t n_machines;
    bats_time now;
};

static void tell(struct play *p, struct bats_event event)
{
    struct bats_error err;
    struct bats_command c;
    if (bats_sched_handle(p->sched, p->now, &event, &err) < 0)
        fail_msg("%s", err.text);
    bats_sched_check(p->sched);
    while (bats_sched_next(p->sched, &c)) {
        if (c.type != BATS_COMMAND_RUN)
            continue;
        p->task[c.machine] = c.task;
        p->started[c.machine] = p->now;
    }
}

/* A sample of four tasks, and no copies. */
static void begin(struct play *p, uint32_t n_tasks, uint32_t n_machines,
                  int budget, enum bats_reconfigure reconfigure)
{
    struct bats_error err;
    *p = (struct play){.n_machines = n_machines};
    p->cluster = (struct bats_cluster){"c", BATS_UNIT, n_machines};
    const struct bats_sched_options o = {.policy = &bats_policy_bkp,
                                         .n_tasks = n_tasks,
                                         .clusters = &p->cluster,
                                         .n_clusters = 1,
                                         .machines = p->machines,
                                         .n_machines = n_machines,
                                         .window = BATS_HOUR,
                                         .budget = budget * BATS_UNIT,
                                         .confidence_z = 0.7,
                                         .reconfigure = reconfigure,
                                         .seed = 1};
    for (uint32_t m = 0; m < n_machines; m++) {
        p->machines[m] = (struct bats_machine_spec){0, 1};
        p->task[m] = BATS_NO_TASK;
    }
    if (bats_sched_create(&o, &p->sched, &err) < 0)
        fail_msg("%s", err.text);
    for (uint32_t m = 0; m < n_machines; m++)
        tell(p, (struct bats_event){.type = BATS_EVENT_JOINED, .machine = m});
}

/* The task on `machine` ends at `minute`. */
static void done(struct play *p, uint32_t machine, int minute)
{
    uint32_t task = p->task[machine];
    assert_int_not_equal(task, BATS_NO_TASK);
    p->task[machine] = BATS_NO_TASK;
    p->now = minute * BATS_MINUTE;
    tell(p, (struct bats_event){.type = BATS_EVENT_DONE,
                                .machine = machine,
                                .task = task,
                                .runtime = p->now - p->started[machine]});
}

static const struct bats_decision *decision(const struct play *p, size_t i)
{
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(p->sched, &n);
    assert_true(i < n);
    return &d[i];
}

/*
 * 20 tasks, two machines, a budget of 5. The sample takes 10, 15, 14 and 20
 * min, 14.75 in the mean. At 30 min, when all are back, 15 tasks are in the
 * bag; the machine that is free will do two of them in its hour, at the speed
 * that it has shown, the other one more after its present task: 12 are left.
 * One machine does 4.07 an hour: three windows, for the 3 that are left. Two
 * would need two, for 4. So one is to go; it has a task to end first, and may
 * then take a last one if what is left of its hour is at least as long as the
 * quickest of the sample.
 */
static void a_machine_to_be_released_tries_a_last_task(void **state)
{
    (void)state;
    for (int minute = 50; minute <= 51; minute++) {
        struct play p;
        begin(&p, 20, 2, 5, BATS_RECONFIGURE_VIOLATION);
        done(&p, 0, 10);
        done(&p, 1, 15);
        done(&p, 1, 29);
        done(&p, 0, 30);
        assert_int_equal(decision(&p, 1)->reason, BATS_REASON_SAMPLED);
        assert_int_equal(decision(&p, 1)->tasks_left, 12);
        assert_int_equal(decision(&p, 1)->machines[0], 1);
        assert_int_equal(decision(&p, 1)->windows, 3);
        done(&p, 0, minute); /* the marked one: the lower of equals */
        if (minute == 50)
            assert_int_not_equal(p.task[0], BATS_NO_TASK);
        else
            assert_int_equal(p.task[0], BATS_NO_TASK);
        bats_sched_destroy(p.sched);
    }
}

/*
 * 1000 tasks, 16 machines, 105. The sample is four tasks of 15 min; 101 are
 * left then, and a machine does four tasks an hour. One machine would do 404
 * tasks in 101 hours. 98 % of that, 395, are done by 11 machines in 9 hours,
 * for 99; 12 can be paid for 8, 384 tasks, and 13 to 16 for 7 and 6, 392 at
 * most.
 */
static void a_budget_that_does_not_suffice_is_spent_soon(void **state)
{
    (void)state;
    struct play p;
    begin(&p, 1000, 16, 105, BATS_RECONFIGURE_VIOLATION);
    for (uint32_t m = 0; m < 4; m++)
        done(&p, m, 15);
    const struct bats_decision *d = decision(&p, 1);
    assert_int_equal(d->reason, BATS_REASON_SAMPLED);
    assert_int_equal(d->budget_left, 101 * BATS_UNIT);
    assert_false(d->feasible);
    assert_int_equal(d->machines[0], 11);
    assert_int_equal(d->windows, 9);
    bats_sched_destroy(p.sched);
}

/*
 * 198 tasks, 16 machines, 99. At 30 min the sample of four is back, 30 min
 * each: 190 tasks are left after the hour paid, 95 hours of a machine, and 95
 * is what is left to pay. Five machines for 19 hours do it; for every number
 * from 6 to 16 the whole hours come to 96 or more. From then on tasks take only
 * 20 min. That is no reason to change what is held, but for who wants the end
 * to be sooner.
 */
static void money_to_spare_is_spent_only_to_improve(void **state)
{
    (void)state;
    for (int rule = 0; rule < 2; rule++) {
        struct play p;
        struct bats_cluster_status c;
        size_t n;
        begin(&p, 198, 16, 99, (enum bats_reconfigure)rule);
        for (uint32_t m = 0; m < 4; m++)
            done(&p, m, 30);
        assert_int_equal(decision(&p, 1)->tasks_left, 190);
        assert_int_equal(decision(&p, 1)->budget_left, 95 * BATS_UNIT);
        assert_int_equal(decision(&p, 1)->machines[0], 5);
        for (uint32_t m = 0; m < 5; m++)
            done(&p, m, 50);
        tell(&p, (struct bats_event){.type = BATS_EVENT_TICK});
        bats_sched_decisions(p.sched, &n);
        bats_sched_cluster_status(p.sched, 0, &c);
        if (rule == BATS_RECONFIGURE_VIOLATION) {
            assert_int_equal(n, 2);
            assert_int_equal(c.machines_now, 5);
        } else {
            const struct bats_decision *d = decision(&p, 2);
            assert_int_equal(d->reason, BATS_REASON_IMPROVED);
            assert_true(d->feasible);
            assert_true(d->machines[0] > 5);
            assert_int_equal(c.machines_now, d->machines[0]);
            assert_true(d->machines[0] * d->windows * BATS_UNIT <=
                        d->budget_left);
        }
        bats_sched_destroy(p.sched);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_machine_to_be_released_tries_a_last_task),
        cmocka_unit_test(a_budget_that_does_not_suffice_is_spent_soon),
        cmocka_unit_test(money_to_spare_is_spent_only_to_improve)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
