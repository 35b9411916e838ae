/* Policies that say which task runs on which machine: their qualities by hand,
 * sub-deadlines, and a workflow in budget and deadline. */
#include "helpers/sim_fixture.h"

#include <math.h>

#include "engine/policy/papers/place.h"

/* By hand: TQ 1, 1/2, 0; CQ 0, 2/3, 1; RQ 1, 1, 0. */
static const struct place_offer offers[] = {
    {10, 9, 0}, {20, 5, 0}, {30, 3, 0.5}};

TEST(miser_takes_the_best_of_time_cost_and_risk)
{
    struct place_limits limits = {.cost = 100, .finish = 100};
    assert_int_equal(place_miser(offers, 3, &limits), 1); /* 2, 2 1/6, 1 */
    limits.finish = 15;
    assert_int_equal(place_miser(offers, 3, &limits), 0);
    limits = (struct place_limits){.cost = 4, .finish = 100};
    assert_int_equal(place_miser(offers, 3, &limits), 2);
    limits.finish = 25;
    assert_true(place_miser(offers, 3, &limits) == PLACE_NONE);
}

TEST(mw_dbs_saves_where_money_is_scarce)
{
    struct place_limits limits = {.cost = 100, .finish = 100, .share = 0.1};
    assert_int_equal(place_mw_dbs(offers, 3, &limits), 0);
    limits.share = 0.9;
    assert_int_equal(place_mw_dbs(offers, 3, &limits), 2);
    limits.finish = 15; /* the others are too late */
    assert_int_equal(place_mw_dbs(offers, 3, &limits), 0);
    limits.cost = 5; /* that one is too dear: the next one, too late */
    assert_int_equal(place_mw_dbs(offers, 3, &limits), 1);
}

/* 0 -> 1 -> 3, 0 -> 2 -> 3. */
static const struct bats_edge edges[] = {{0, 1}, {0, 2}, {1, 3}, {2, 3}};

TEST(sub_deadlines_leave_the_least_time_to_those_that_follow)
{
    static const uint32_t order[] = {0, 1, 2, 3};
    static const double least[] = {1, 5, 2, 10};
    double latest[] = {INFINITY, INFINITY, 80, 100};
    struct bats_graph g;
    assert_ok(bats_graph_init(&g, 4, 4, edges, 4, &err));
    place_deadlines(&g, order, least, latest);
    assert_true(latest[3] == 100 && latest[2] == 80 && latest[1] == 90 &&
                latest[0] == 78);
    bats_graph_release(&g);
}

static const struct bats_policy *const policies[] = {
    &bats_policy_miser, &bats_policy_mw_dbs, &bats_policy_flow};

static const bats_time told[] = {BATS_MINUTE, BATS_MINUTE, BATS_MINUTE,
                                 BATS_MINUTE};

/* A machine that takes a minute for 1, and before it one that takes half of it
 * for 3. All tasks last a minute, as the policy is told. */
static void prepare(const struct bats_policy *policy, uint32_t n_tasks,
                    const struct bats_edge *list, size_t n_edges)
{
    static struct bats_graph graph;
    bats_graph_release(&graph);
    set_up_world(policy, n_tasks, BATS_MINUTE, 1, 1, 6, BATS_UNLIMITED);
    assert_ok(bats_graph_init(&graph, n_tasks, n_tasks, list, n_edges, &err));
    w->machines[0].cluster = 1;
    w->machines[1].cluster = 0;
    w->speed[1] = 2;
    w->o.told = told;
    w->o.sched.graph = &graph;
    w->o.sched.window = BATS_MINUTE;
    w->o.sched.billing.model = BATS_BILLING_USE;
}

/* The four tasks, where all costs and the budget are so many times as much. */
static void run(const struct bats_policy *policy, bats_money budget,
                bats_money times, bats_time deadline)
{
    prepare(policy, 4, edges, 4);
    for (size_t i = 0; i < 2; i++)
        w->clusters[i].charge *= times;
    w->o.sched.budget = budget * times;
    w->o.sched.goal.deadline = deadline;
    play();
}

TEST(deadline_and_budget_say_where_tasks_run)
{
    for (size_t i = 0; i < 2; i++) { /* all on the slow machine */
        run(policies[i], 4 * BATS_UNIT, 1, 0);
        assert_end(.done = 4, .charged = 4 * BATS_UNIT,
                   .makespan = 4 * BATS_MINUTE);
    }
    /* 0 on the fast one, which joins first, until 30; 1 on the slow one, of
     * equal quality and before the other, until 90; 2 can not wait for that: on
     * the fast one until 60; 3 as 1, until 150. */
    bats_time deadline = 150 * BATS_SECOND;
    run(&bats_policy_miser, 100 * BATS_UNIT, 1, deadline);
    assert_end(.done = 4, .makespan = deadline, .charged = 8 * BATS_UNIT);
    /* All but 2 on the fast one: there is money. */
    run(&bats_policy_mw_dbs, 100 * BATS_UNIT, 1, deadline);
    assert_end(.done = 4, .makespan = 120 * BATS_SECOND,
               .charged = 10 * BATS_UNIT);
}

/* By hand, the soonest end of all schedules that cost no more; and the least
 * cost of those that end by then. */
TEST(flow_ends_as_soon_as_the_money_allows)
{
    static const struct {
        bats_money budget;
        bats_time end;
    } by_hand[] = {{4, 240}, {8, 150}, {10, 120}, {100, 120}};
    for (size_t i = 0; i < 8; i++) { /* money is large, or small */
        bats_money budget = by_hand[i % 4].budget * BATS_UNIT;
        run(&bats_policy_flow, budget, i < 4 ? 1 : 1000000, 0);
        assert_int_equal(w->status.done, 4);
        assert_true(w->status.charged <= w->o.sched.budget);
        assert_int_equal(w->makespan, by_hand[i % 4].end * BATS_SECOND);
    }
    for (size_t i = 0; i < 3; i++) {
        prepare(&bats_policy_flow, 4, edges, 4);
        w->o.sched.goal.deadline = by_hand[i].end * BATS_SECOND;
        w->o.sched.goal.minimize = BATS_MINIMIZE_COST;
        play();
        assert_int_equal(w->status.charged, by_hand[i].budget * BATS_UNIT);
    }
}

/* Two tasks of a minute, one after the other, and between them six that take no
 * time and cost nothing: the money for the two does. */
TEST(tasks_that_take_no_time_cost_nothing)
{
    struct bats_edge list[12];
    bats_time what_is_told[8] = {BATS_MINUTE};
    what_is_told[7] = BATS_MINUTE;
    for (uint32_t i = 0; i < 6; i++) {
        list[i] = (struct bats_edge){0, i + 1};
        list[6 + i] = (struct bats_edge){i + 1, 7};
    }
    for (size_t i = 0; i < 3; i++) {
        prepare(policies[i], 8, list, 12);
        memcpy(w->work, what_is_told, sizeof what_is_told);
        w->o.told = what_is_told;
        w->o.sched.budget = 2 * BATS_UNIT;
        play();
        assert_end(.done = 8, .makespan = 2 * BATS_MINUTE);
    }
}

/* The first task has taken 40 % longer: the plan leaves money for that to happen
 * again, and it does. */
TEST(flow_puts_money_by_where_it_was_told_wrong)
{
    for (int budget = 6; budget < 16; budget++) { /* 5.6 is the least cost */
        prepare(&bats_policy_flow, 4, edges, 4);
        for (int i = 0; i < 4; i++)
            w->work[i] = 84 * BATS_SECOND;
        w->o.sched.budget = budget * BATS_UNIT;
        play();
        assert_int_equal(w->status.done, 4);
    }
}

/* Twelve tasks that wait for none, on half as many machines of each kind: all
 * are done, whatever the budget, in tenths. */
static void expect_twelve(uint32_t n_machines, int budget,
                          const bats_time *work, const bats_time *what_is_told)
{
    for (; budget < 400; budget += 3) {
        prepare(&bats_policy_flow, 12, NULL, 0);
        for (uint32_t i = 0; i < n_machines; i++)
            w->machines[i] = (struct bats_machine_spec){i % 2, 1};
        w->o.sched.n_machines = n_machines;
        w->clusters[0].max = w->clusters[1].max = n_machines / 2;
        memcpy(w->work, work, 12 * sizeof *work);
        w->o.told = what_is_told;
        w->o.sched.budget = budget * BATS_UNIT / 10;
        play();
        assert_int_equal(w->status.done, 12);
    }
}

/* All are told to last a minute. The second six take twice as long as the first
 * ones; or every other one, while all run. */
TEST(flow_puts_money_by_before_it_knows)
{
    bats_time equal[12], second[12], other[12];
    for (int i = 0; i < 12; i++) {
        equal[i] = BATS_MINUTE;
        second[i] = (i < 6 ? 40 : 80) * BATS_SECOND;
        other[i] = (i % 2 ? 40 : 80) * BATS_SECOND;
    }
    expect_twelve(4, 140, second, equal);
    expect_twelve(12, 140, other, equal);
}

/* A chain of twelve tasks has to end in ten minutes. Nothing is told of them,
 * and the money is for four on the fast machine; or what is told is wrong, and it
 * is for four and a half. */
TEST(flow_puts_nothing_by_where_it_would_be_late)
{
    static const int budget[] = {20, 21};
    bats_time minute[12];
    struct bats_edge chain[11];
    for (int i = 0; i < 12; i++)
        minute[i] = BATS_MINUTE;
    for (uint32_t i = 0; i < 11; i++)
        chain[i] = (struct bats_edge){i, i + 1};
    for (int is_told = 0; is_told < 2; is_told++) {
        prepare(&bats_policy_flow, 12, chain, 11);
        for (int i = 0; is_told && i < 12; i++)
            w->work[i] += (i % 2 ? -10 : 10) * BATS_SECOND;
        w->o.told = is_told ? minute : NULL;
        w->o.sched.budget = budget[is_told] * BATS_UNIT;
        w->o.sched.goal.deadline = 10 * BATS_MINUTE;
        play();
        assert_end(.done = 12, .makespan = 10 * BATS_MINUTE);
    }
}

/* On the slow machine the task would be in time if it took a minute, as is told;
 * but it takes 66 s. */
TEST(flow_leaves_time_for_what_was_told_wrong)
{
    prepare(&bats_policy_flow, 1, NULL, 0);
    w->work[0] = 66 * BATS_SECOND;
    w->o.sched.goal.deadline = 64 * BATS_SECOND;
    w->o.sched.goal.minimize = BATS_MINIMIZE_COST;
    play();
    assert_int_equal(w->makespan, 33 * BATS_SECOND);
    w->o.sched.goal.deadline = 2 * BATS_MINUTE;
    play();
    assert_int_equal(w->makespan, 66 * BATS_SECOND);
}

TEST(what_can_not_be_in_time_is_not_begun)
{
    run(&bats_policy_miser, 100 * BATS_UNIT, 1, BATS_MINUTE);
    assert_end(.finish = BATS_FINISH_TOO_LATE, .charged = 0);
}

/* A chain of three tasks of 6 seconds, each of another kind, at 60 or 360 an
 * hour. Nothing is known of the second one, nor of the fast machines, but that
 * it costs next to nothing anywhere. */
TEST(a_task_of_a_new_kind_begins_on_a_new_machine)
{
    static const struct bats_edge chain[] = {{0, 1}, {1, 2}};
    static const uint16_t category[] = {0, 1, 2};
    struct bats_graph g;
    set_up_world(&bats_policy_flow, 3, 6 * BATS_SECOND, 12, 60, 360,
                 2 * BATS_UNIT);
    assert_ok(bats_graph_init(&g, 3, 3, chain, 2, &err));
    w->speed[1] = 2;
    w->o.sched.graph = &g;
    w->o.sched.category = category;
    w->o.sched.n_categories = 3;
    w->o.sched.billing.model = BATS_BILLING_USE;
    play();
    bats_graph_release(&g);
    assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
}

/* The same machines; tasks 0, 1 and 2, 3 are two workflows, and wait for
 * none. */
static void run_two(const struct bats_policy *policy,
                    const struct bats_purse purses[2],
                    struct bats_purse_status status[2])
{
    static const uint16_t purse[] = {0, 0, 1, 1};
    prepare(policy, 4, NULL, 0);
    w->o.sched.purse = purse;
    w->o.sched.purses = purses;
    w->o.sched.n_purses = 2;
    play();
    for (uint32_t i = 0; i < 2; i++)
        bats_sched_purse_status(w->sched, i, &status[i]);
}

/* The second one has a minute, and money for both tasks on the fast machine. */
TEST(each_workflow_has_its_own_money_and_deadline)
{
    static const struct bats_purse purses[] = {
        {.budget = 2 * BATS_UNIT},
        {.budget = 6 * BATS_UNIT, .deadline = BATS_MINUTE}};
    struct bats_purse_status status[2];
    for (size_t i = 0; i < 3; i++) {
        run_two(policies[i], purses, status);
        assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
        assert_int_equal(status[0].charged, 2 * BATS_UNIT);
        assert_true(status[1].charged <= 6 * BATS_UNIT);
        assert_int_equal(status[1].ended, BATS_MINUTE);
    }
}

TEST(a_late_workflow_ends_no_run_before_another_begins)
{
    static const struct bats_purse purses[] = {
        {.budget = BATS_UNLIMITED, .deadline = 10 * BATS_SECOND},
        {.budget = BATS_UNLIMITED, .begin = 5 * BATS_MINUTE}};
    struct bats_purse_status status[2];
    run_two(&bats_policy_miser, purses, status);
    assert_int_equal(w->status.finish, BATS_FINISH_TOO_LATE);
    assert_int_equal(status[0].done, 0);
    assert_int_equal(status[1].done, 2);
    /* Time and money weigh the same: both on the slow one, offered first. */
    assert_int_equal(status[1].ended, 7 * BATS_MINUTE);
}

/* Two fast machines that are cheap, taken after 20 s of use with a notice of
 * 10, and a slow one: what has run for 10 s goes on there, not on the other
 * one. */
TEST(what_is_reclaimed_goes_on_where_that_is_not_likely)
{
    prepare(&bats_policy_miser, 1, NULL, 0);
    w->clusters[0].charge = 6 * BATS_UNIT;
    w->clusters[1] = (struct bats_cluster){
        .name = "fast",
        .charge = BATS_UNIT,
        .max = 2,
        .reclaimable = true,
        .notice = 10 * BATS_SECOND,
        .lifetime = {.survival = BATS_SURVIVAL_EXPONENTIAL,
                     .a = 1,
                     .share = 1,
                     .guaranteed = 20 * BATS_SECOND}};
    w->machines[2] = (struct bats_machine_spec){1, 1};
    w->o.sched.n_machines = 3;
    w->o.saves = true;
    play();
    /* 20 of 60 are done in 10. */
    assert_int_equal(w->makespan, 50 * BATS_SECOND);
}

TEST_MAIN(NULL, NULL)
