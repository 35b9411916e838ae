/* Workflows with budgets of their own, in runs that can be checked by hand:
 * windows of an hour at 3, and use at 3 an hour. */
#include "helpers/play_fixture.h"

#include <stdlib.h>

#define TASKS 4

struct bed {
    struct play p;
    struct bats_graph graph;
    struct bats_purse purses[2];
    uint16_t purse[TASKS];
};

/* Tasks 0, 1 are of workflow 0, the others of workflow 1; each is before the
 * next one. */
static struct bed *prepare(uint32_t n_machines, bats_money first,
                           bats_money second)
{
    static const struct bats_edge chain[] = {{0, 1}, {1, 2}, {2, 3}};
    struct bed *b = calloc(1, sizeof *b);
    struct bats_error err;
    assert_int_equal(bats_graph_init(&b->graph, TASKS, TASKS, chain, 3, &err),
                     0);
    b->purse[2] = b->purse[3] = 1;
    b->purses[0].budget = first;
    b->purses[1].budget = second;
    b->p.clusters[0] =
        (struct bats_cluster){.charge = 3 * BATS_UNIT, .max = n_machines};
    for (uint32_t i = 0; i < n_machines; i++)
        b->p.machines[i] = (struct bats_machine_spec){0, 1};
    b->p.o = (struct bats_sched_options){.policy = &bats_policy_rr,
                                         .n_tasks = TASKS,
                                         .n_clusters = 1,
                                         .n_machines = n_machines,
                                         .window = BATS_HOUR,
                                         .budget = BATS_UNLIMITED,
                                         .graph = &b->graph,
                                         .purse = b->purse,
                                         .purses = b->purses,
                                         .n_purses = 2};
    return b;
}

/* Nothing happens but that time passes. */
static void tick(struct bed *b, bats_time now)
{
    tell(&b->p, now, (struct bats_event){.type = BATS_EVENT_TICK});
}

/* The task of the machine is done. */
static void done(struct bed *b, bats_time now, uint32_t machine,
                 bats_time runtime)
{
    end(&b->p, now, machine, BATS_EVENT_DONE, runtime);
}

/* The task of machine 0, which was told to, has stopped. */
static void stopped(struct bed *b, bats_time now)
{
    end(&b->p, now, 0, BATS_EVENT_PREEMPTED, 0);
}

static struct bats_purse_status status(const struct bed *b, uint32_t purse)
{
    struct bats_purse_status status;
    bats_sched_purse_status(b->p.s, purse, &status);
    return status;
}

static void end_bed(struct bed *b)
{
    bats_sched_destroy(b->p.s);
    bats_graph_release(&b->graph);
    free(b);
}

/* 10 and 10 minutes of the first, 20 and 0 of the second, 20 idle. */
static void window_is_shared_by_time_and_idle_time_with_it(void **state)
{
    (void)state;
    struct bed *b = prepare(1, BATS_UNLIMITED, 3 * BATS_UNIT);
    join(&b->p);
    assert_int_equal(status(b, 0).held, 3 * BATS_UNIT);
    assert_int_equal(status(b, 1).held, 0);
    done(b, MINUTES(10), 0, MINUTES(10));
    done(b, MINUTES(20), 0, MINUTES(10));
    assert_int_equal(status(b, 1).held, 3 * BATS_UNIT);
    done(b, MINUTES(40), 0, MINUTES(20));
    assert_int_equal(b->p.shared[0] + b->p.shared[1], 0); /* not yet */
    done(b, MINUTES(40), 0, 0);
    assert_int_equal(b->p.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(b->p.charged, 3 * BATS_UNIT);
    assert_int_equal(b->p.shared[0], 3 * BATS_UNIT / 2);
    assert_int_equal(b->p.shared[1], 3 * BATS_UNIT / 2);
    assert_int_equal(status(b, 0).charged, 3 * BATS_UNIT / 2);
    assert_int_equal(status(b, 0).ended, MINUTES(20));
    assert_int_equal(status(b, 1).ended, MINUTES(40));
    end_bed(b);
}

static void workflow_without_money_is_left_and_named(void **state)
{
    (void)state;
    struct bed *b = prepare(1, 3 * BATS_UNIT, 3 * BATS_UNIT - 1);
    join(&b->p);
    done(b, MINUTES(10), 0, MINUTES(10));
    done(b, MINUTES(20), 0, MINUTES(10));
    assert_int_equal(b->p.finish, BATS_FINISH_BUDGET);
    assert_int_equal(b->p.unpaid, 2);
    assert_int_equal(status(b, 1).skipped, 2);
    assert_int_equal(status(b, 1).charged, 0);
    assert_int_equal(b->p.shared[0], 3 * BATS_UNIT);
    end_bed(b);
}

/* The run could pay a window, or a job. */
static void nothing_is_bought_for_workflows_without_money(void **state)
{
    (void)state;
    struct bed *b = prepare(2, 3 * BATS_UNIT - 1, 0);
    join(&b->p);
    assert_int_equal(b->p.finish, BATS_FINISH_BUDGET);
    assert_int_equal(b->p.unpaid, 2); /* the others wait for these */
    assert_int_equal(b->p.charged, 0);
    end_bed(b);

    struct bats_error err;
    struct bats_command c;
    const struct bats_event first = {.type = BATS_EVENT_TICK};
    b = prepare(2, 3 * BATS_UNIT - 1, 0);
    b->p.o.billing.model = BATS_BILLING_JOB;
    b->p.o.clusters = b->p.clusters;
    b->p.o.machines = b->p.machines;
    assert_int_equal(bats_sched_create(&b->p.o, &b->p.s, &err), 0);
    assert_int_equal(bats_sched_handle(b->p.s, 0, &first, &err), 0);
    while (bats_sched_next(b->p.s, &c)) {
        assert_int_not_equal(c.type, BATS_COMMAND_ACQUIRE);
        b->p.unpaid += c.type == BATS_NOTICE_SKIP && c.unpaid;
    }
    assert_int_equal(b->p.unpaid, 2); /* the others wait for these */
    end_bed(b);
}

/* Four tasks are ready, and there are machines for all of them. The first
 * workflow pays one job for its two, the second none. */
static void no_more_jobs_are_asked_for_than_workflows_can_pay(void **state)
{
    (void)state;
    struct bed *b = prepare(4, 3 * BATS_UNIT, 3 * BATS_UNIT - 1);
    struct bats_error err;
    struct bats_command c;
    const struct bats_event first = {.type = BATS_EVENT_TICK};
    uint32_t asked = 0;
    bats_graph_release(&b->graph);
    assert_int_equal(bats_graph_init(&b->graph, TASKS, TASKS, NULL, 0, &err),
                     0);
    b->p.o.billing.model = BATS_BILLING_JOB;
    b->p.o.clusters = b->p.clusters;
    b->p.o.machines = b->p.machines;
    assert_int_equal(bats_sched_create(&b->p.o, &b->p.s, &err), 0);
    assert_int_equal(bats_sched_handle(b->p.s, 0, &first, &err), 0);
    while (bats_sched_next(b->p.s, &c))
        asked += c.type == BATS_COMMAND_ACQUIRE;
    assert_int_equal(asked, 1);
    end_bed(b);
}

/* Its task is stopped a minute before the window ends; the run could pay. */
static void next_window_is_held_by_the_workflow_as_well(void **state)
{
    (void)state;
    struct bed *b = prepare(1, 5 * BATS_UNIT, BATS_UNLIMITED);
    b->p.o.preempt_lead = BATS_MINUTE;
    join(&b->p);
    tick(b, MINUTES(59));
    assert_int_equal(b->p.cancels[0], 1);
    stopped(b, MINUTES(59));
    tick(b, MINUTES(60));
    assert_int_equal(b->p.finish, BATS_FINISH_BUDGET);
    assert_int_equal(b->p.n_run, 1);
    assert_int_equal(status(b, 0).charged, 3 * BATS_UNIT);
    assert_int_equal(b->p.charged, 3 * BATS_UNIT);
    end_bed(b);

    b = prepare(1, 6 * BATS_UNIT, BATS_UNLIMITED);
    b->p.o.preempt_lead = BATS_MINUTE;
    join(&b->p);
    tick(b, MINUTES(60));
    assert_int_equal(b->p.cancels[0], 0);
    assert_int_equal(status(b, 0).charged, 3 * BATS_UNIT);
    assert_int_equal(status(b, 0).held, 3 * BATS_UNIT);
    end_bed(b);
}

/* Its instances are sent whoever pays. */
static void the_policy_expert_is_refused(void **state)
{
    (void)state;
    struct bed *b = prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    struct bats_error err;
    b->p.o.policy = &bats_policy_expert;
    assert_int_equal(bats_strategy_parse("AUR", &b->p.o.strategy, &err), 0);
    b->p.o.clusters = b->p.clusters;
    b->p.o.machines = b->p.machines;
    b->p.clusters[0].unreliable = true;
    assert_int_equal(bats_sched_create(&b->p.o, &b->p.s, &err), BATS_EINPUT);
    assert_non_null(strstr(err.text, "budgets of their own"));
    end_bed(b);
}

static void an_allocation_is_refused(void **state)
{
    (void)state;
    struct bats_error err;
    struct bed *b = prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    b->p.o.billing.model = BATS_BILLING_ALLOCATION;
    b->p.o.clusters = b->p.clusters;
    b->p.o.machines = b->p.machines;
    assert_int_equal(bats_sched_create(&b->p.o, &b->p.s, &err), BATS_EINPUT);
    assert_non_null(strstr(err.text, "billing = window, use or second"));
    end_bed(b);
}

static void use_is_paid_by_the_workflow_that_used_it(void **state)
{
    (void)state;
    struct bed *b = prepare(1, 1 * BATS_UNIT, BATS_UNLIMITED);
    b->p.o.billing.model = BATS_BILLING_USE;
    join(&b->p);
    done(b, MINUTES(5), 0, MINUTES(5));
    done(b, MINUTES(15), 0, MINUTES(10));
    done(b, MINUTES(35), 0, MINUTES(20));
    done(b, MINUTES(45), 0, MINUTES(10));
    assert_int_equal(b->p.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(b->p.shared[0], 3 * BATS_UNIT / 4);
    assert_int_equal(b->p.shared[1], 3 * BATS_UNIT / 2);
    end_bed(b);

    /* A task that takes longer than the 20 minutes its workflow can pay. */
    b = prepare(1, 1 * BATS_UNIT, BATS_UNLIMITED);
    b->p.o.billing.model = BATS_BILLING_USE;
    join(&b->p);
    tick(b, MINUTES(20));
    assert_int_equal(b->p.cancels[0], 1);
    stopped(b, MINUTES(20));
    assert_int_equal(b->p.finish, BATS_FINISH_BUDGET);
    assert_int_equal(status(b, 0).charged, 1 * BATS_UNIT);
    end_bed(b);
}

/* A budget of 4 pays one machine at a time: the other one waits. */
static void as_many_machines_as_the_budget_holds(void **state)
{
    (void)state;
    struct bed *b = prepare(2, 4 * BATS_UNIT, BATS_UNLIMITED);
    bats_graph_release(&b->graph);
    struct bats_error err;
    assert_int_equal(bats_graph_init(&b->graph, TASKS, TASKS, NULL, 0, &err),
                     0);
    for (uint32_t i = 0; i < TASKS; i++)
        b->purse[i] = 0;
    join(&b->p);
    assert_int_equal(b->p.n_run, 1);
    uint32_t at = b->p.runs[0] == BATS_NO_TASK;
    for (int i = 1; i <= TASKS; i++)
        done(b, MINUTES(10 * i), at, MINUTES(10));
    assert_int_equal(b->p.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(status(b, 0).charged, 3 * BATS_UNIT);
    end_bed(b);
}

/* Four tasks that wait for none. */
static struct bed *prepare_apart(void)
{
    struct bed *b = prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    struct bats_error err;
    bats_graph_release(&b->graph);
    assert_int_equal(bats_graph_init(&b->graph, TASKS, TASKS, NULL, 0, &err),
                     0);
    return b;
}

static void tasks_come_first_that_can_wait_least(void **state)
{
    (void)state;
    for (uint32_t due = 0; due < 2; due++) {
        struct bed *b = prepare_apart();
        b->purses[due].deadline = MINUTES(40);
        b->purses[1 - due].deadline = due == 0 ? 0 : MINUTES(50);
        join(&b->p);
        for (int i = 1; i <= 2; i++) {
            assert_int_equal(b->purse[b->p.runs[0]], due);
            done(b, MINUTES(10 * i), 0, MINUTES(10));
        }
        assert_int_equal(status(b, due).ended, MINUTES(20));
        end_bed(b);
    }
}

static void nothing_of_a_workflow_begins_too_soon(void **state)
{
    (void)state;
    struct bed *b = prepare_apart();
    b->purses[1].begin = MINUTES(30);
    join(&b->p);
    done(b, MINUTES(10), 0, MINUTES(10));
    done(b, MINUTES(20), 0, MINUTES(10));
    assert_int_equal(b->p.n_run, 2);
    assert_int_equal(status(b, 0).ended, MINUTES(20));
    assert_int_equal(b->p.finish, BATS_FINISH_NOT_YET);
    tick(b, MINUTES(29));
    assert_int_equal(b->p.n_run, 2);
    tick(b, MINUTES(30));
    assert_int_equal(b->p.n_run, 3);
    assert_int_equal(b->purse[b->p.runs[0]], 1);
    end_bed(b);
}

/* Tasks 2 and 3 wait for tasks of another workflow, which end sooner. */
static void what_becomes_ready_too_soon_waits_for_its_beginning(void **state)
{
    (void)state;
    struct bed *b = prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    b->purses[1].begin = MINUTES(30);
    join(&b->p);
    done(b, MINUTES(10), 0, MINUTES(10));
    done(b, MINUTES(20), 0, MINUTES(10));
    assert_int_equal(b->p.n_run, 2);
    tick(b, MINUTES(30));
    assert_int_equal(b->p.n_run, 3);
    end_bed(b);
}

/* The run has paid its only window, and task 2 waits for what is left. */
static void run_out_of_money_waits_for_no_beginning(void **state)
{
    (void)state;
    struct bed *b = prepare(1, BATS_UNLIMITED, BATS_UNLIMITED);
    b->p.o.budget = 3 * BATS_UNIT;
    b->purses[1].begin = MINUTES(120);
    join(&b->p);
    tick(b, MINUTES(60));
    stopped(b, MINUTES(60));
    assert_int_equal(b->p.finish, BATS_FINISH_BUDGET);
    end_bed(b);
}

/* The first of two that begin then cannot pay. */
static void each_of_those_that_begin_together_is_asked(void **state)
{
    (void)state;
    struct bed *b = prepare_apart();
    b->purses[0].budget = 1;
    b->purses[0].begin = b->purses[1].begin = MINUTES(30);
    join(&b->p);
    tick(b, MINUTES(30));
    assert_int_equal(b->p.finish, BATS_FINISH_NOT_YET);
    assert_int_equal(b->p.unpaid, 2);
    assert_int_equal(b->p.n_run, 1);
    end_bed(b);
}

/* A machine is given back, and with that the last money is free: too little for
 * another window. */
static void tasks_that_wait_for_money_are_left_with_the_last_machine(
    void **state)
{
    (void)state;
    struct bed *b = prepare_apart();
    b->p.o.billing.model = BATS_BILLING_SECOND;
    b->p.clusters[0].tariff = (struct bats_tariff){
        .per = BATS_HOUR, .n_steps = 1, .step = {{0, 3 * BATS_UNIT}}};
    b->purses[0].budget = b->purses[1].budget = 5 * BATS_UNIT;
    for (uint32_t i = 0; i < TASKS; i++)
        b->purse[i] = 0;
    join(&b->p);
    tick(b, MINUTES(60));
    assert_int_equal(b->p.cancels[0], 1);
    stopped(b, MINUTES(60));
    assert_int_equal(b->p.finish, BATS_FINISH_BUDGET);
    assert_int_equal(b->p.unpaid, TASKS);
    assert_int_equal(status(b, 0).charged, 3 * BATS_UNIT);
    end_bed(b);
}

static void what_is_free_needs_no_money(void **state)
{
    (void)state;
    struct bed *b = prepare(1, 0, 0);
    b->p.o.billing.model = BATS_BILLING_USE;
    b->p.clusters[0].charge = 0;
    join(&b->p);
    for (int i = 1; i <= 10; i++)
        tick(b, MINUTES(60 * i));
    assert_int_equal(b->p.cancels[0], 0);
    assert_int_equal(b->p.n_run, 1);
    end_bed(b);
}

/* Four times as fast, at three times the price, which workflow 1 cannot pay. */
static void no_task_is_left_to_a_machine_that_its_workflow_cannot_pay(
    void **state)
{
    (void)state;
    static const struct bats_edge edges[] = {{0, 2}, {1, 2}, {0, 3}, {1, 3}};
    struct bats_error err;
    struct bed *b = prepare(2, BATS_UNLIMITED, 3 * BATS_UNIT);
    bats_graph_release(&b->graph);
    assert_int_equal(bats_graph_init(&b->graph, TASKS, TASKS, edges, 4, &err),
                     0);
    b->p.clusters[1] =
        (struct bats_cluster){.charge = 9 * BATS_UNIT, .max = 1};
    b->p.machines[1].cluster = 1;
    b->p.o.n_clusters = 2;
    join(&b->p);
    done(b, MINUTES(10), 1, MINUTES(10));
    done(b, MINUTES(40), 0, MINUTES(40));
    assert_int_equal(b->p.finish, BATS_FINISH_NOT_YET);
    assert_int_equal(b->p.n_run, 3);
    assert_int_equal(b->purse[b->p.runs[0]], 1);
    end_bed(b);
}

/* Two chains of two tasks, of which the second begins later. */
static void workflow_ends_no_sooner_than_its_longest_chain(void **state)
{
    (void)state;
    static const struct bats_edge chains[] = {{0, 1}, {2, 3}};
    bats_time soonest[2];
    struct bats_error err;
    struct bed *b = prepare_apart();
    bats_graph_release(&b->graph);
    assert_int_equal(bats_graph_init(&b->graph, TASKS, TASKS, chains, 2, &err),
                     0);
    b->purses[1].begin = MINUTES(30);
    join(&b->p);
    bats_sched_purses_soonest(b->p.s, soonest);
    assert_int_equal(soonest[0], 0); /* nothing is known */
    done(b, MINUTES(10), 0, MINUTES(10));
    tick(b, MINUTES(14));
    bats_sched_purses_soonest(b->p.s, soonest);
    assert_int_equal(soonest[0], MINUTES(20));
    assert_int_equal(soonest[1], MINUTES(50));
    end_bed(b);
    b = prepare(1, BATS_UNLIMITED, BATS_UNLIMITED); /* the one waits for the other */
    join(&b->p);
    done(b, MINUTES(10), 0, MINUTES(10));
    bats_sched_purses_soonest(b->p.s, soonest);
    assert_int_equal(soonest[0], 0);
    end_bed(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(window_is_shared_by_time_and_idle_time_with_it),
        cmocka_unit_test(workflow_without_money_is_left_and_named),
        cmocka_unit_test(nothing_is_bought_for_workflows_without_money),
        cmocka_unit_test(no_more_jobs_are_asked_for_than_workflows_can_pay),
        cmocka_unit_test(next_window_is_held_by_the_workflow_as_well),
        cmocka_unit_test(the_policy_expert_is_refused),
        cmocka_unit_test(an_allocation_is_refused),
        cmocka_unit_test(use_is_paid_by_the_workflow_that_used_it),
        cmocka_unit_test(as_many_machines_as_the_budget_holds),
        cmocka_unit_test(tasks_come_first_that_can_wait_least),
        cmocka_unit_test(nothing_of_a_workflow_begins_too_soon),
        cmocka_unit_test(what_becomes_ready_too_soon_waits_for_its_beginning),
        cmocka_unit_test(run_out_of_money_waits_for_no_beginning),
        cmocka_unit_test(each_of_those_that_begin_together_is_asked),
        cmocka_unit_test(
            tasks_that_wait_for_money_are_left_with_the_last_machine),
        cmocka_unit_test(what_is_free_needs_no_money),
        cmocka_unit_test(
            no_task_is_left_to_a_machine_that_its_workflow_cannot_pay),
        cmocka_unit_test(workflow_ends_no_sooner_than_its_longest_chain)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
