/* Workflows with budgets of their own, in runs that can be checked by hand:
 * windows of an hour at 3, and use at 3 an hour. */
#include "bats/sched.h"
#include "helpers/play_fixture.h"

#define TASKS 4

static struct bats_graph graph;
static struct bats_purse purses[2];
static uint16_t purse[TASKS];

static void tasks_wait(const struct bats_edge *edges, size_t n)
{
    bats_graph_release(&graph);
    assert_ok(bats_graph_init(&graph, TASKS, TASKS, edges, n, &err));
}

/* Tasks 0, 1 are of workflow 0, the others of workflow 1; each is before the
 * next one. */
static void prepare(uint32_t n_machines, bats_money first, bats_money second)
{
    static const struct bats_edge chain[] = {{0, 1}, {1, 2}, {2, 3}};
    tasks_wait(chain, 3);
    for (uint32_t i = 0; i < TASKS; i++)
        purse[i] = i >= 2;
    purses[0] = (struct bats_purse){.budget = first};
    purses[1] = (struct bats_purse){.budget = second};
    *p = (struct play){
        .clusters[0] = {.charge = 3 * BATS_UNIT, .max = n_machines},
        .o = {.policy = &bats_policy_rr,
              .n_tasks = TASKS,
              .n_clusters = 1,
              .n_machines = n_machines,
              .window = BATS_HOUR,
              .budget = BATS_UNLIMITED,
              .graph = &graph,
              .purse = purse,
              .purses = purses,
              .n_purses = 2}};
    for (uint32_t i = 0; i < n_machines; i++)
        p->machines[i] = (struct bats_machine_spec){0, 1};
}

static struct bats_purse_status status(uint32_t i)
{
    struct bats_purse_status status;
    bats_sched_purse_status(p->s, i, &status);
    return status;
}

/* 10 and 10 minutes of the first, 20 and 0 of the second, 20 idle. */
TEST(window_is_shared_by_time_and_idle_time_with_it)
{
    prepare(1, BATS_UNLIMITED, 3 * BATS_UNIT);
    join();
    assert_int_equal(status(0).held, 3 * BATS_UNIT);
    assert_int_equal(status(1).held, 0);
    steps("10m done 0: run 0; 20m done 0: run 0");
    assert_int_equal(status(1).held, 3 * BATS_UNIT);
    steps("40m done 0: run 0; 40m done 0: share 0, share 0, finish");
    assert_int_equal(p->charged, 3 * BATS_UNIT);
    assert_int_equal(p->shared[0], 3 * BATS_UNIT / 2);
    assert_int_equal(p->shared[1], 3 * BATS_UNIT / 2);
    assert_int_equal(status(0).charged, 3 * BATS_UNIT / 2);
    assert_int_equal(status(0).ended, MINUTES(20));
    assert_int_equal(status(1).ended, MINUTES(40));
}

TEST(workflow_without_money_is_left_and_named)
{
    prepare(1, 3 * BATS_UNIT, 3 * BATS_UNIT - 1);
    join();
    steps("10m done 0: run 0; 20m done 0: share 0, finish");
    assert_int_equal(p->finish, BATS_FINISH_BUDGET);
    assert_int_equal(p->unpaid, 2);
    assert_int_equal(status(1).skipped, 2);
    assert_int_equal(status(1).charged, 0);
    assert_int_equal(p->shared[0], 3 * BATS_UNIT);
}

/* The run could pay a window, or a job. */
TEST(nothing_is_bought_for_workflows_without_money)
{
    prepare(2, 3 * BATS_UNIT - 1, 0);
    join();
    assert_int_equal(p->finish, BATS_FINISH_BUDGET);
    assert_int_equal(p->unpaid, 2); /* the others wait for these */
    assert_int_equal(p->charged, 0);

    prepare(2, 3 * BATS_UNIT - 1, 0);
    p->o.billing.model = BATS_BILLING_JOB;
    assert_ok(create(&err));
    tick(0);
    assert_int_equal(p->acquired, 0);
    assert_int_equal(p->unpaid, 2); /* the others wait for these */
}

/* Four tasks are ready, and there are machines for all of them. The first
 * workflow pays one job for its two, the second none. */
TEST(no_more_jobs_are_asked_for_than_workflows_can_pay)
{
    prepare(4, 3 * BATS_UNIT, 3 * BATS_UNIT - 1);
    tasks_wait(NULL, 0);
    p->o.billing.model = BATS_BILLING_JOB;
    assert_ok(create(&err));
    tick(0);
    assert_int_equal(p->acquired, 1);
}

/* Its task is stopped a minute before the window ends; the run could pay. */
TEST(next_window_is_held_by_the_workflow_as_well)
{
    prepare(1, 5 * BATS_UNIT, BATS_UNLIMITED);
    p->o.preempt_lead = BATS_MINUTE;
    join();
    steps("59m tick: cancel 0; 59m stopped 0:; 60m tick: share 0, park 0, "
          "skip 0, skip 1, skip 2, skip 3, finish");
    assert_int_equal(p->finish, BATS_FINISH_BUDGET);
    assert_int_equal(status(0).charged, 3 * BATS_UNIT);
    assert_int_equal(p->charged, 3 * BATS_UNIT);

    prepare(1, 6 * BATS_UNIT, BATS_UNLIMITED);
    p->o.preempt_lead = BATS_MINUTE;
    join();
    steps("60m tick: share 0, charge 0");
    assert_int_equal(status(0).charged, 3 * BATS_UNIT);
    assert_int_equal(status(0).held, 3 * BATS_UNIT);
}

/* Instances of the policy expert are sent whoever pays. */
TEST(the_policy_expert_and_an_allocation_are_refused)
{
    prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    p->o.billing.model = BATS_BILLING_ALLOCATION;
    assert_says(create(&err), BATS_EINPUT, "billing = window, use or second");
    prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    p->o.policy = &bats_policy_expert;
    assert_ok(bats_strategy_parse("AUR", &p->o.strategy, &err));
    p->clusters[0].unreliable = true;
    assert_says(create(&err), BATS_EINPUT, "budgets of their own");
}

TEST(use_is_paid_by_the_workflow_that_used_it)
{
    prepare(1, 1 * BATS_UNIT, BATS_UNLIMITED);
    p->o.billing.model = BATS_BILLING_USE;
    join();
    steps("5m done 0; 15m done 0; 35m done 0; 45m done 0");
    assert_int_equal(p->finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(p->shared[0], 3 * BATS_UNIT / 4);
    assert_int_equal(p->shared[1], 3 * BATS_UNIT / 2);

    /* A task that takes longer than the 20 minutes its workflow can pay. */
    prepare(1, 1 * BATS_UNIT, BATS_UNLIMITED);
    p->o.billing.model = BATS_BILLING_USE;
    join();
    steps("20m tick: cancel 0, charge 0, share 0, park 0, skip 1, skip 2, "
          "skip 3; 20m stopped 0: acquire 0, skip 0, finish");
    assert_int_equal(p->finish, BATS_FINISH_BUDGET);
    assert_int_equal(status(0).charged, 1 * BATS_UNIT);
}

/* A budget of 4 pays one machine at a time: the other one waits. */
TEST(as_many_machines_as_the_budget_holds)
{
    prepare(2, 4 * BATS_UNIT, BATS_UNLIMITED);
    tasks_wait(NULL, 0);
    for (uint32_t i = 0; i < TASKS; i++)
        purse[i] = 0;
    join();
    assert_int_equal(p->n_run, 1);
    uint32_t at = p->runs[0] == BATS_NO_TASK;
    for (int i = 1; i <= TASKS; i++)
        done(MINUTES(10 * i), at, MINUTES(10));
    assert_int_equal(p->finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(status(0).charged, 3 * BATS_UNIT);
}

/* Four tasks that wait for none. */
static void prepare_apart(void)
{
    prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    tasks_wait(NULL, 0);
}

TEST(tasks_come_first_that_can_wait_least)
{
    for (uint32_t due = 0; due < 2; due++) {
        prepare_apart();
        purses[due].deadline = MINUTES(40);
        purses[1 - due].deadline = due == 0 ? 0 : MINUTES(50);
        join();
        for (int i = 1; i <= 2; i++) {
            assert_int_equal(purse[p->runs[0]], due);
            done(MINUTES(10 * i), 0, MINUTES(10));
        }
        assert_int_equal(status(due).ended, MINUTES(20));
    }
}

TEST(nothing_of_a_workflow_begins_too_soon)
{
    prepare_apart();
    purses[1].begin = MINUTES(30);
    join();
    steps("10m done 0: run 0; 20m done 0:; 29m tick:; 30m tick: run 0");
    assert_int_equal(status(0).ended, MINUTES(20));
    assert_int_equal(purse[p->runs[0]], 1);
}

/* Tasks 2 and 3 wait for tasks of another workflow, which end sooner. */
TEST(what_becomes_ready_too_soon_waits_for_its_beginning)
{
    prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    purses[1].begin = MINUTES(30);
    join();
    steps("10m done 0: run 0; 20m done 0:; 30m tick: run 0");
}

/* The run has paid its only window, and task 2 waits for what is left. */
TEST(run_out_of_money_waits_for_no_beginning)
{
    prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    p->o.budget = 3 * BATS_UNIT;
    purses[1].begin = MINUTES(120);
    join();
    steps("60m tick; 60m stopped 0");
    assert_int_equal(p->finish, BATS_FINISH_BUDGET);
}

/* The first of two that begin then cannot pay. */
TEST(each_of_those_that_begin_together_is_asked)
{
    prepare_apart();
    purses[0].budget = 1;
    purses[0].begin = purses[1].begin = MINUTES(30);
    join();
    steps("30m tick: charge 0, acquire 0, skip 0, skip 1, run 0");
    assert_int_equal(p->unpaid, 2);
}

/* A machine is given back, and with that the last money is free: too little for
 * another window. */
TEST(tasks_that_wait_for_money_are_left_with_the_last_machine)
{
    prepare_apart();
    p->o.billing.model = BATS_BILLING_SECOND;
    p->clusters[0].tariff = (struct bats_tariff){
        .per = BATS_HOUR, .n_steps = 1, .step = {{0, 3 * BATS_UNIT}}};
    purses[0].budget = purses[1].budget = 5 * BATS_UNIT;
    for (uint32_t i = 0; i < TASKS; i++)
        purse[i] = 0;
    join();
    steps("60m tick: cancel 0, charge 0, share 0; 60m stopped 0");
    assert_int_equal(p->finish, BATS_FINISH_BUDGET);
    assert_int_equal(p->unpaid, TASKS);
    assert_int_equal(status(0).charged, 3 * BATS_UNIT);
}

TEST(what_is_free_needs_no_money)
{
    prepare(1, 0, 0);
    p->o.billing.model = BATS_BILLING_USE;
    p->clusters[0].charge = 0;
    join();
    for (int i = 1; i <= 10; i++)
        tick(MINUTES(60 * i));
    assert_int_equal(p->cancels[0], 0);
    assert_int_equal(p->n_run, 1);
}

/* Four times as fast, at three times the price, which workflow 1 cannot pay. */
TEST(no_task_is_left_to_a_machine_that_its_workflow_cannot_pay)
{
    static const struct bats_edge edges[] = {{0, 2}, {1, 2}, {0, 3}, {1, 3}};
    prepare(2, BATS_UNLIMITED, 3 * BATS_UNIT);
    tasks_wait(edges, 4);
    p->clusters[1] = (struct bats_cluster){.charge = 9 * BATS_UNIT, .max = 1};
    p->machines[1].cluster = 1;
    p->o.n_clusters = 2;
    join();
    steps("10m done 1:; 40m done 0: run 0");
    assert_int_equal(purse[p->runs[0]], 1);
}

/* Two chains of two tasks, of which the second begins later. */
TEST(workflow_ends_no_sooner_than_its_longest_chain)
{
    static const struct bats_edge chains[] = {{0, 1}, {2, 3}};
    bats_time soonest[2];
    prepare_apart();
    tasks_wait(chains, 2);
    purses[1].begin = MINUTES(30);
    join();
    bats_sched_purses_soonest(p->s, soonest);
    assert_int_equal(soonest[0], 0); /* nothing is known */
    steps("10m done 0; 14m tick");
    bats_sched_purses_soonest(p->s, soonest);
    assert_int_equal(soonest[0], MINUTES(20));
    assert_int_equal(soonest[1], MINUTES(50));
    prepare(1, BATS_UNLIMITED,
            BATS_UNLIMITED); /* the one waits for the other */
    join();
    steps("10m done 0");
    bats_sched_purses_soonest(p->s, soonest);
    assert_int_equal(soonest[0], 0);
}

TEST_MAIN(NULL, NULL)
