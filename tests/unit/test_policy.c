/* The decisions of the policy bats, in histories that can be checked by hand.
 * One cluster of machines at 1 per hour; the test plays the machines. */
#include "bats/sched.h"
#include "helpers/play_fixture.h"

/* A sample of four tasks, and no copies. */
static void begin(uint32_t n_tasks, uint32_t n_machines, int budget)
{
    *p = (struct play){.o = {.policy = &bats_policy_bkp,
                             .n_tasks = n_tasks,
                             .n_clusters = 1,
                             .n_machines = n_machines,
                             .window = BATS_HOUR,
                             .budget = budget * BATS_UNIT,
                             .confidence_z = 0.7,
                             .seed = 1}};
    p->clusters[0] = (struct bats_cluster){
        .name = "c", .charge = BATS_UNIT, .max = n_machines};
    for (uint32_t m = 0; m < n_machines; m++)
        p->machines[m] = (struct bats_machine_spec){0, 1};
    join();
}

static const struct bats_decision *decision(size_t i)
{
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(p->s, &n);
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
TEST(a_machine_to_be_released_tries_a_last_task)
{
    for (int minute = 50; minute <= 51; minute++) {
        begin(20, 2, 5);
        steps("10m done 0; 15m done 1; 29m done 1; 30m done 0");
        assert_int_equal(decision(1)->reason, BATS_REASON_SAMPLED);
        assert_int_equal(decision(1)->tasks_left, 12);
        assert_int_equal(decision(1)->machines[0], 1);
        assert_int_equal(decision(1)->windows, 3);
        assert_int_equal(decision(1)->tasks_open, 16);
        assert_int_equal(decision(1)->end, MINUTES(30) + 3 * BATS_HOUR);
        assert_int_equal(decision(1)->cost, 5 * BATS_UNIT);
        assert_true(decision(0)->acts && !decision(1)->acts);
        /* The marked one: the lower of equals. */
        steps("%dm done 0:%s", minute, minute == 50 ? "run 0" : "");
    }
}

/*
 * 1000 tasks, 16 machines, 105. The sample is four tasks of 15 min; 101 are
 * left then, and a machine does four tasks an hour. One machine would do 404
 * tasks in 101 hours. 98 % of that, 395, are done by 11 machines in 9 hours,
 * for 99; 12 can be paid for 8, 384 tasks, and 13 to 16 for 7 and 6, 392 at
 * most.
 */
TEST(a_budget_that_does_not_suffice_is_spent_soon)
{
    begin(1000, 16, 105);
    for (uint32_t m = 0; m < 4; m++)
        steps("15m done %u", m);
    const struct bats_decision *d = decision(1);
    assert_int_equal(d->reason, BATS_REASON_SAMPLED);
    assert_int_equal(d->budget_left, 101 * BATS_UNIT);
    assert_false(d->feasible);
    assert_int_equal(d->machines[0], 11);
    assert_int_equal(d->windows, 9);
}

/*
 * 198 tasks, 16 machines, 99. At 30 min the sample of four is back, 30 min
 * each: 190 tasks are left after the hour paid, 95 hours of a machine, and 95
 * is what is left to pay. Five machines for 19 hours do it; for every number
 * from 6 to 16 the whole hours come to 96 or more. From then on tasks take only
 * 20 min. That is no reason to change what is held.
 */
TEST(money_to_spare_is_kept)
{
    struct bats_cluster_status c;
    size_t n;
    begin(198, 16, 99);
    for (uint32_t m = 0; m < 4; m++)
        steps("30m done %u", m);
    assert_int_equal(decision(1)->tasks_left, 190);
    assert_int_equal(decision(1)->budget_left, 95 * BATS_UNIT);
    assert_int_equal(decision(1)->machines[0], 5);
    for (uint32_t m = 0; m < 5; m++)
        steps("50m done %u", m);
    tick(MINUTES(50));
    bats_sched_decisions(p->s, &n);
    bats_sched_cluster_status(p->s, 0, &c);
    assert_int_equal(n, 2);
    assert_int_equal(c.machines_now, 5);
}

TEST_MAIN(NULL, NULL)
