/* Jobs of an earlier session, and open bags, told by hand: one job an hour at 3,
 * tasks of one core. */
#include "bats/bag.h"
#include "helpers/play_fixture.h"

#define MACHINES 8
#define TASKS 60

/* ---- jobs of an earlier session ---- */

/* What was asked for before, by machine; 0: nothing. */
static int take_over(uint32_t n_tasks, uint32_t n_machines, bats_money budget,
                     const bats_time asked[MACHINES])
{
    *p = (struct play){.clusters = {{"c", 3 * BATS_UNIT, n_machines}},
                       .o = {.policy = &bats_policy_bats,
                             .n_tasks = n_tasks,
                             .n_clusters = 1,
                             .n_machines = n_machines,
                             .window = BATS_HOUR,
                             .budget = budget,
                             .billing.model = BATS_BILLING_JOB,
                             .earlier.asked = asked,
                             .seed = 7}};
    for (uint32_t i = 0; i < n_machines; i++)
        p->machines[i] = (struct bats_machine_spec){0, 1};
    return create(&err);
}

/* 7 pay two jobs. One is there: another one is asked for, and a third when the
 * first was billed 1. */
TEST(the_price_of_a_job_taken_over_is_held_from_the_start)
{
    static const bats_time third[MACHINES] = {[2] = BATS_HOUR};
    assert_ok(take_over(20, MACHINES, 7 * BATS_UNIT, third));
    steps("0 tick: acquire 0; 0 bill 2 1: charge 2, acquire 1");
}

TEST(a_job_taken_over_works_like_any_other)
{
    static const bats_time first[MACHINES] = {BATS_HOUR};
    assert_ok(take_over(20, 1, 7 * BATS_UNIT, first));
    steps("0 joins 0: run 0; 0 bill 0 3: lose 0, charge 0, acquire 0");
}

/* Two jobs wait for one task. The first that begins takes it, and the other one
 * is withdrawn, but begins before it hears of that. */
TEST(a_job_that_begins_as_it_is_withdrawn_does_nothing)
{
    static const bats_time both[MACHINES] = {BATS_HOUR, BATS_HOUR};
    struct bats_event again = {.type = BATS_EVENT_JOINED};
    assert_ok(take_over(1, 2, BATS_UNLIMITED, both));
    steps("0 joins 0: run 0, park 1; 0 joins 1:; 0 lost 1:;"
          "0 bill 1 0.01: charge 1");
    assert_int_equal(bats_sched_handle(p->s, 0, &again, &err), BATS_ESTATE);
}

/* Half an hour is 1.5: of 7.5, 6 are left, which pay two of an hour. */
TEST(a_job_taken_over_holds_what_it_was_asked_for)
{
    static const bats_time half[MACHINES] = {BATS_HOUR / 2};
    assert_ok(take_over(20, MACHINES, 15 * BATS_UNIT / 2, half));
    steps("0 tick: acquire 1, acquire 2");
}

TEST(jobs_are_not_taken_over_beyond_the_budget)
{
    static const bats_time two[MACHINES] = {BATS_HOUR, BATS_HOUR};
    assert_int_equal(take_over(20, MACHINES, 5 * BATS_UNIT, two),
                     BATS_EBUDGET);
    p->clusters[0].max = 1;
    p->o.budget = BATS_UNLIMITED;
    assert_int_equal(create(&err), BATS_EINPUT);
}

/* ---- open bags ---- */

static void open_bag(void)
{
    static uint16_t kinds[TASKS];
    static struct bats_stock stock[MACHINES];
    static uint8_t none[TASKS];
    static const struct bats_need one = {.cores = 1};
    memset(none, BATS_TASK_LEFT_OUT, sizeof none);
    for (int i = 0; i < MACHINES; i++)
        stock[i] = (struct bats_stock){.cores = 1};
    p->o.open = p->o.in_order = true;
    p->o.stocks = stock;
    p->o.needs = &one;
    p->o.category = kinds;
    p->o.n_categories = 1;
    p->o.earlier.state = none;
}

/* Joins after 20 s, and is idle at 30 s: until 50 s, when a task is added, so
 * again from 60 s to 80 s. */
TEST(an_idle_job_of_an_open_bag_stays_for_as_long_as_it_took_to_join)
{
    assert_ok(take_over(2, 1, BATS_UNLIMITED, NULL));
    open_bag();
    assert_ok(create(&err));
    steps("0 tick; 0 adds 0: acquire 0; 20s joins 0: run 0; 30s done 0:;"
          "49s tick:");
    assert_int_equal(bats_sched_wakeup(p->s), 50 * BATS_SECOND);
    steps("50s adds 1: run 0; 60s done 0:; 79s tick:");
    assert_int_equal(bats_sched_wakeup(p->s), 80 * BATS_SECOND);
    steps("80s tick: park 0");
}

/* Machines 4 to 7 are three times as fast for eight times the charge. At 30
 * minutes each cluster has a result, and 8 tasks have come; the money is for 40
 * cheap ones. */
static void begin_dear(uint32_t in_all)
{
    static const bats_time expected[] = {MINUTES(30), MINUTES(10)};
    *p = (struct play){
        .clusters = {{"c0", BATS_UNIT, 4}, {"c1", 8 * BATS_UNIT, 4}},
        .o = {.policy = &bats_policy_bats,
              .n_tasks = TASKS,
              .n_clusters = 2,
              .n_machines = MACHINES,
              .window = BATS_HOUR,
              .budget = 40 * BATS_UNIT,
              .expected = expected,
              .in_all = in_all,
              .seed = 5}};
    for (uint32_t i = 0; i < MACHINES; i++)
        p->machines[i] = (struct bats_machine_spec){i / 4, 1};
    open_bag();
    join();
    steps("0 adds 0: charge 0, acquire 0, run 0;"
          "0 adds 1: charge 4, acquire 4, run 4; 10m done 4:; 30m done 0:");
    for (uint32_t task = 2; task < 10; task++)
        steps("30m adds %u", task);
    for (uint32_t i = 5; i < MACHINES; i++) /* 4 is there */
        assert_int_equal(p->runs[i], BATS_NO_TASK);
}

TEST(tasks_that_an_open_bag_expects_are_planned_for)
{
    begin_dear(0);
    steps("40m tick: charge 1, acquire 1, run 1, charge 2, acquire 2, run 2, "
          "charge 3, acquire 3, run 3, charge 5, acquire 5, run 5, "
          "charge 6, acquire 6, run 6, charge 7, acquire 7, run 7");
    begin_dear(40);
    steps("40m tick: charge 1, acquire 1, run 1, charge 2, acquire 2, run 2, "
          "charge 3, acquire 3, run 3");
}

TEST_MAIN(NULL, NULL)
