/* Policy bats begins, in the simulator: what is known decides whether there
 * is anything to learn first. Two clusters of four machines at 1 and at 8 per
 * hour, equally fast; tasks of ten minutes, windows of an hour. */
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
    bats_time work[TASKS], expected[2];
    double speed[2];
    struct bats_sim_options o;
    struct bats_sched *s;
    struct bats_sched_status status;
    bats_time makespan;
};

static void set_up(struct world *w, const struct bats_policy *policy,
                   int budget)
{
    *w = (struct world){
        .clusters = {{"cheap", 1 * BATS_UNIT, 4}, {"dear", 8 * BATS_UNIT, 4}},
        .speed = {1, 1}};
    for (uint32_t i = 0; i < MACHINES; i++)
        w->machines[i] = (struct bats_machine_spec){i / 4, 1};
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] = 10 * BATS_MINUTE;
    w->o = (struct bats_sim_options){.sched = {.policy = policy,
                                               .n_tasks = TASKS,
                                               .clusters = w->clusters,
                                               .n_clusters = 2,
                                               .expected = w->expected,
                                               .machines = w->machines,
                                               .n_machines = MACHINES,
                                               .window = BATS_HOUR,
                                               .budget = budget * BATS_UNIT,
                                               .seed = 5},
                                     .work = w->work,
                                     .speed = w->speed};
}

static void simulate(struct world *w)
{
    struct bats_error err;
    if (bats_sim_run(&w->o, &w->s, &w->makespan, &err) < 0)
        fail_msg("%s", err.text);
    bats_sched_status(w->s, &w->status);
}

/* The first decision. */
static uint32_t begins_with(const struct world *w, size_t cluster)
{
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(w->s, &n);
    assert_true(n > 0);
    return d[0].machines[cluster];
}

/* The cheap machines do 24 tasks an hour: 9 hours, for 36. The first hour of
 * all machines costs as much. */
static void a_run_that_knows_nothing_tries_all_clusters(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, &bats_policy_bats, 45);
    simulate(&w);
    assert_int_equal(begins_with(&w, 0), 4);
    assert_int_equal(begins_with(&w, 1), 4);
    assert_int_not_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    bats_sched_destroy(w.s);
}

/* The start of a bag of so many tasks, at so much per hour. */
static void expect_start(uint32_t n_tasks, int first, int second, int budget,
                         uint32_t n_first, uint32_t n_second)
{
    struct world w;
    set_up(&w, &bats_policy_bats, budget);
    w.clusters[0].charge = first * BATS_UNIT;
    w.clusters[1].charge = second * BATS_UNIT;
    w.o.sched.n_tasks = n_tasks;
    simulate(&w);
    assert_int_equal(begins_with(&w, 0), n_first);
    assert_int_equal(begins_with(&w, 1), n_second);
    bats_sched_destroy(w.s);
}

static void charges_decide_where_they_differ_much(void **state)
{
    (void)state;
    /* Twice as much says nothing: all machines, those with the least numbers
     * first. */
    expect_start(4, 2, 1, 16, 4, 4);
    /* Three times: the cheapest slots, as many as there are tasks. */
    expect_start(4, 3, 1, 16, 0, 4);
    expect_start(6, 3, 1, 16, 2, 4);
    /* All machines cannot be paid for an hour. */
    expect_start(6, 3, 1, 15, 4, 4);
}

static void dear_machines_wait_if_tasks_may_be_long(void **state)
{
    (void)state;
    /* For each task there are three hours of a cheap machine, or more. */
    expect_start(6, 1, 3, 18, 4, 2);
    expect_start(6, 1, 2, 25, 4, 4);
    expect_start(6, 1, 3, 19, 4, 0);
    /* All machines charge 16 an hour. */
    expect_start(6, 1, 3, 16 * 100 - 1, 4, 0);
    expect_start(6, 1, 3, 16 * 100, 4, 2);
}

/* With the first result one dear machine is begun, with its first one all. */
static void one_machine_tries_a_cluster(void **state)
{
    (void)state;
    struct world w;
    size_t n, k = 1;
    set_up(&w, &bats_policy_bats, 301);
    w.clusters[1].charge = 3 * BATS_UNIT;
    w.o.sched.n_tasks = 100;
    simulate(&w);
    const struct bats_decision *d = bats_sched_decisions(w.s, &n);
    assert_int_equal(d[0].machines[1], 0);
    while (k < n && d[k].time < 20 * BATS_MINUTE)
        assert_true(d[k++].machines[1] <= 1);
    assert_true(k > 1 && k < n);
    assert_int_equal(d[k - 1].machines[1], 1);
    assert_int_equal(d[k].machines[1], 4);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    bats_sched_destroy(w.s);
}

static void expected_runtimes_leave_nothing_to_try(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, &bats_policy_bats, 45);
    w.expected[0] = w.expected[1] = 10 * BATS_MINUTE;
    simulate(&w);
    assert_int_equal(begins_with(&w, 0), 4);
    assert_true(begins_with(&w, 1) <= 1);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    bats_sched_destroy(w.s);
}

static void a_guess_need_not_be_exact(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, &bats_policy_bats, 45);
    w.expected[0] = w.expected[1] = 7 * BATS_MINUTE;
    simulate(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    bats_sched_destroy(w.s);
}

/* A budget that pays for all machines to the end, and one that does not. */
static void one_cluster_is_used_as_by_rr(void **state)
{
    (void)state;
    const int budgets[] = {40, 36, 30, 9};
    for (size_t i = 0; i < sizeof budgets / sizeof *budgets; i++) {
        struct world w[2];
        for (int k = 0; k < 2; k++) {
            set_up(&w[k], k ? &bats_policy_rr : &bats_policy_bats, budgets[i]);
            w[k].o.sched.n_clusters = 1;
            w[k].o.sched.n_machines = 4;
            simulate(&w[k]);
            assert_int_equal(begins_with(&w[k], 0), 4);
        }
        assert_int_equal(w[0].makespan, w[1].makespan);
        assert_int_equal(w[0].status.charged, w[1].status.charged);
        assert_int_equal(w[0].status.done, w[1].status.done);
        bats_sched_destroy(w[0].s);
        bats_sched_destroy(w[1].s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_knows_nothing_tries_all_clusters),
        cmocka_unit_test(charges_decide_where_they_differ_much),
        cmocka_unit_test(dear_machines_wait_if_tasks_may_be_long),
        cmocka_unit_test(one_machine_tries_a_cluster),
        cmocka_unit_test(expected_runtimes_leave_nothing_to_try),
        cmocka_unit_test(a_guess_need_not_be_exact),
        cmocka_unit_test(one_cluster_is_used_as_by_rr)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
