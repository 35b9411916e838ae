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

/* How the run ends, its tasks that cannot be paid, machines acquired, and what
 * is charged; then of each workflow what it was charged + holds, when it has
 * ended, and how many of its tasks were skipped. */
static void expect(const char *expected)
{
    static const char *const finish[] = {[BATS_FINISH_NOT_YET] = "goes on",
                                         [BATS_FINISH_ALL_DONE] = "done",
                                         [BATS_FINISH_BUDGET] = "budget"};
    char text[256], w[3][BATS_UNITS_TEXT];
    snprintf(text, sizeof text, "%s %u %u %s", finish[p->finish], p->unpaid,
             p->acquired, bats_money_format(w[0], p->charged));
    for (uint32_t i = 0; i < 2; i++) {
        struct bats_purse_status st = status(i);
        assert_int_equal(p->shared[i], st.charged);
        bats_append(text, sizeof text, ", %s+%s %s %u",
                    bats_money_format(w[0], st.charged),
                    bats_money_format(w[1], st.held),
                    bats_duration_format(w[2], st.ended), st.skipped);
    }
    assert_string_equal(text, expected);
}

#define UNIT BATS_UNIT
#define NO_LIMIT BATS_UNLIMITED

enum shape { CHAIN, APART, OF_ONE }; /* OF_ONE: apart, all of workflow 0 */

TEST(workflows_pay_as_the_rows_say)
{
    static const struct {
        const char *what;
        uint32_t n_machines;
        bats_money money[2]; /* of the workflows */
        const char *steps, *ends;
        enum shape shape;
        enum bats_billing_model model;
        bats_money budget; /* of the run; 0: no limit */
        bats_time begin[2], lead;
    } rows[] = {
        /* clang-format off */
        {"the window is held by the first workflow", 1, {NO_LIMIT, 3 * UNIT},
         .ends = "goes on 0 1 3, 0+3 never 0, 0+0 never 0"},
        {"then by the second one", 1, {NO_LIMIT, 3 * UNIT},
         .steps = "10m done 0: run 0; 20m done 0: run 0",
         .ends = "goes on 0 1 3, 0+3 20m 0, 0+3 never 0"},
        /* 10 and 10 minutes of the first, 20 and 0 of the second, 20 idle. */
        {"it is shared by time, and idle time with it", 1, {NO_LIMIT, 3 * UNIT},
         .steps = "10m done 0: run 0; 20m done 0: run 0; 40m done 0: run 0; "
                  "40m done 0: share 0, share 0, finish",
         .ends = "done 0 1 3, 1.5+0 20m 0, 1.5+0 40m 0"},
        {"a workflow without money is left and named",
         1, {3 * UNIT, 3 * UNIT - 1},
         .steps = "10m done 0: run 0; 20m done 0: share 0, finish",
         .ends = "budget 2 1 3, 3+0 20m 0, 0+0 0s 2"},
        /* The run could pay a window, or a job; others wait for these tasks. */
        {"nothing is bought for workflows without money", 2, {3 * UNIT - 1, 0},
         .ends = "budget 2 0 0, 0+0 0s 2, 0+0 0s 2"},
        {"nor jobs", 2, {3 * UNIT - 1, 0},
         .ends = "budget 2 0 0, 0+0 0s 2, 0+0 0s 2",
         .model = BATS_BILLING_JOB},
        /* The first one pays one job for its two tasks, the second none. */
        {"no more jobs are asked for than workflows can pay",
         4, {3 * UNIT, 3 * UNIT - 1},
         .ends = "goes on 2 1 0, 0+0 never 0, 0+0 0s 2",
         .shape = APART, .model = BATS_BILLING_JOB},
        /* A task is stopped a minute before it begins; the run could pay. */
        {"the next window is held by the workflow as well",
         1, {5 * UNIT, NO_LIMIT},
         .steps = "59m tick: cancel 0; 59m stopped 0:; 60m tick: share 0, "
                  "park 0, skip 0, skip 1, skip 2, skip 3, finish",
         .ends = "budget 2 1 3, 3+0 1h 2, 0+0 1h 2",
         .lead = MINUTES(1)},
        {"if it can pay it", 1, {6 * UNIT, NO_LIMIT},
         .steps = "60m tick: share 0, charge 0",
         .ends = "goes on 0 1 6, 3+3 never 0, 0+0 never 0",
         .lead = MINUTES(1)},
        {"use is paid by the workflow that used it", 1, {UNIT, NO_LIMIT},
         .steps = "5m done 0; 15m done 0; 35m done 0; 45m done 0",
         .ends = "done 0 1 2.25, 0.75+0 15m 0, 1.5+0 45m 0",
         .model = BATS_BILLING_USE},
        /* A task that takes longer than the 20 minutes its workflow can pay. */
        {"and none beyond its budget", 1, {UNIT, NO_LIMIT},
         .steps = "20m tick: cancel 0, charge 0, share 0, park 0, skip 1, "
                  "skip 2, skip 3; 20m stopped 0: acquire 0, skip 0, finish",
         .ends = "budget 2 2 1, 1+0 20m 2, 0+0 20m 2",
         .model = BATS_BILLING_USE},
        /* 4 pays one machine at a time: the other one waits. */
        {"as many machines work as the budget holds", 2, {4 * UNIT, NO_LIMIT},
         .steps = "10m done 1: run 1; 20m done 1: run 1; 30m done 1: run 1; "
                  "40m done 1: share 1, finish",
         .ends = "done 0 2 6, 3+0 40m 0, 0+0 never 0",
         .shape = OF_ONE},
        {"nothing of a workflow begins too soon", 1, {NO_LIMIT, NO_LIMIT},
         .steps = "10m done 0: run 0; 20m done 0:; 29m tick:; 30m tick: run 0",
         .ends = "goes on 0 1 3, 0+3 20m 0, 0+3 never 0",
         .shape = APART, .begin = {0, MINUTES(30)}},
        /* Tasks 2 and 3 wait for another workflow's, which end sooner. */
        {"what becomes ready too soon waits for its beginning",
         1, {NO_LIMIT, NO_LIMIT},
         .steps = "10m done 0: run 0; 20m done 0:; 30m tick: run 0",
         .ends = "goes on 0 1 3, 0+3 20m 0, 0+3 never 0",
         .begin = {0, MINUTES(30)}},
        /* It has paid its only window, and task 2 waits for what is left. */
        {"a run out of money waits for no beginning", 1, {NO_LIMIT, NO_LIMIT},
         .steps = "60m tick; 60m stopped 0",
         .ends = "budget 0 1 3, 3+0 never 0, 0+0 never 0",
         .budget = 3 * UNIT, .begin = {0, MINUTES(120)}},
        /* The first of two cannot pay. */
        {"each of those that begin together is asked", 1, {1, NO_LIMIT},
         .steps = "30m tick: charge 0, acquire 0, skip 0, skip 1, run 0",
         .ends = "goes on 2 1 3, 0+0 30m 2, 0+3 never 0",
         .shape = APART, .begin = {MINUTES(30), MINUTES(30)}},
        /* A machine is given back, and with that the last money is free: too
         * little for another window. */
        {"tasks that wait for money are left with the last machine",
         1, {5 * UNIT, 5 * UNIT},
         .steps = "60m tick: cancel 0, charge 0, share 0; 60m stopped 0",
         .ends = "budget 4 1 3, 3+0 1h 4, 0+0 never 0",
         .shape = OF_ONE, .model = BATS_BILLING_SECOND}};
    /* clang-format on */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("# %s\n", rows[i].what);
        prepare(rows[i].n_machines, rows[i].money[0], rows[i].money[1]);
        if (rows[i].shape != CHAIN)
            tasks_wait(NULL, 0);
        if (rows[i].shape == OF_ONE)
            memset(purse, 0, sizeof purse);
        p->o.billing.model = rows[i].model;
        if (rows[i].budget > 0)
            p->o.budget = rows[i].budget;
        p->o.preempt_lead = rows[i].lead;
        for (int k = 0; k < 2; k++)
            purses[k].begin = rows[i].begin[k];
        if (rows[i].model == BATS_BILLING_SECOND)
            p->clusters[0].tariff = (struct bats_tariff){
                .per = BATS_HOUR, .n_steps = 1, .step = {{0, 3 * BATS_UNIT}}};
        if (rows[i].model == BATS_BILLING_JOB) {
            assert_ok(create(&err));
            tick(0);
        } else {
            join();
        }
        if (rows[i].steps != NULL)
            steps("%s", rows[i].steps);
        expect(rows[i].ends);
    }
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
