/* The sampling phase of its own, played by the simulator: what it costs
 * (thesis, table 3.1), what it finds, and what happens where it cannot. */
#include "bats/rules.h"
#include "bats/status.h"
#include "helpers/draw.h"
#include "helpers/sim_fixture.h"

#include "bats/bag.h"

#define TASKS MANY
#define MACHINES MACHINES_MOST

/* The thesis' emulation: 1000 tasks of N(15, sqrt 5) min on 32 + 32 machines;
 * cluster 0 has speed 1 and charge 3. */
static void set_up(bats_money charge, double speed)
{
    draw_from(4);
    set_up_world(&bats_policy_bkp, TASKS, 0, 32, 3, (double)charge,
                 BATS_UNLIMITED);
    w->speed[1] = speed;
    w->o.sched.seed = 11;
    w->o.sched.sampling.on = true;
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] = (bats_time)((15 + gsl_ran_gaussian(rng, 2.236)) *
                                 (double)BATS_MINUTE);
}

static void choose(enum bats_offer offer)
{
    w->choice.offer = offer;
    w->o.choice = &w->choice;
}

/* 7 machines of each cluster for one window, whatever they charge. */
TEST(a_sample_costs_what_table_3_1_says)
{
    static const struct {
        bats_money charge;
        double speed;
        int64_t cost;
    } rows[] = {
        {12, 1, 105}, {12, 3, 105}, {3, 1, 42}, {9, 4, 84}, {3, 4, 42}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        set_up(rows[i].charge, rows[i].speed);
        play_to(BATS_FINISH_SAMPLED);
        assert_int_equal(w->status.charged, rows[i].cost * BATS_UNIT);
        assert_in_range(w->makespan, BATS_HOUR / 2, BATS_HOUR);
        assert_int_equal(w->sampled.tasks, 30); /* n of section 2.2.1 */
        assert_int_equal(on_both(), 7);
        assert_int_equal(w->sampled.n_observations, 30 + 7);
        /* All machines work on to the end of their windows. */
        assert_true(w->status.done >= 40);
    }
}

TEST(every_runtime_is_that_of_its_task)
{
    set_up(9, 4);
    play();
    for (size_t i = 0; i < w->sampled.n_observations; i++) {
        const struct bats_observation *o = &w->sampled.observations[i];
        double exact = (double)w->work[o->task] / w->speed[o->cluster];
        assert_in_range(o->runtime, exact - 1, exact + 1);
    }
}

/* The charges stay within the cost of sampling and the schedule's budget, and
 * no finished task runs again. */
TEST(the_chosen_schedule_is_carried_out)
{
    for (int offer = 0; offer < BATS_OFFERS; offer++) {
        set_up(9, 4);
        choose((enum bats_offer)offer);
        play();
        const struct bats_schedule *chosen = w->sampled.chosen;
        assert_non_null(chosen);
        assert_int_equal(chosen->offer, offer);
        bats_money most = chosen->cost_high > chosen->budget
                              ? chosen->cost_high
                              : chosen->budget;
        assert_int_equal(w->status.budget, w->sampled.charged + most);
        assert_true(w->status.charged <= w->status.budget);
        assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
        assert_true(w->n_decisions >= 2 &&
                    w->decisions[1].reason == BATS_REASON_CHOSEN);
        assert_memory_equal(w->decisions[1].machines, chosen->plan.machines,
                            sizeof chosen->plan.machines);
    }
}

/* Its budget has no slack, and half of all samples expect too little. Runtimes
 * scatter: what a machine has done at first says nothing of the whole. */
TEST(the_cheapest_schedule_is_kept_to_the_end)
{
    int longer = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        set_up(3, 2);
        draw_from(seed);
        for (uint32_t i = 0; i < TASKS; i++)
            w->work[i] = (bats_time)(gsl_ran_exponential(rng, 15) *
                                     (double)BATS_MINUTE) +
                         1;
        choose(BATS_OFFER_CHEAPEST);
        play();
        const struct bats_schedule *chosen = w->sampled.chosen;
        assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
        assert_int_equal(w->decisions[w->n_decisions - 1].reason,
                         BATS_REASON_CHOSEN);
        longer += w->status.charged > w->sampled.charged + chosen->budget;
    }
    assert_in_range(longer, 1, 9);
}

/* Another of the fast machines, which are not all in use, takes its place. */
TEST(a_lost_machine_of_the_chosen_ones_is_replaced)
{
    const struct bats_sim_loss loss = {3 * BATS_HOUR, 33};
    struct bats_cluster_status fast;
    set_up(12, 3);
    choose(BATS_OFFER_CHEAPEST_20);
    w->o.losses = &loss;
    w->o.n_losses = 1;
    play();
    const struct bats_schedule *chosen = w->sampled.chosen;
    assert_in_range(chosen->plan.machines[1], 7, 31);
    bats_sched_cluster_status(w->sched, 1, &fast);
    assert_int_equal(fast.machines_lost, 1);
    assert_int_equal(fast.machines_used, chosen->plan.machines[1] + 1);
    assert_int_equal(w->decisions[w->n_decisions - 1].reason,
                     BATS_REASON_CHOSEN);
    assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
}

TEST(a_budget_that_is_given_is_the_limit)
{
    set_up(9, 4);
    choose(BATS_OFFER_BUDGET);
    w->choice.budget = 600 * BATS_UNIT;
    play();
    assert_true(w->sampled.chosen->cost_high > 600 * BATS_UNIT);
    assert_int_equal(w->status.budget, w->sampled.charged + 600 * BATS_UNIT);
}

TEST(a_budget_that_is_too_small_starts_nothing_more)
{
    set_up(9, 4);
    choose(BATS_OFFER_BUDGET);
    w->choice.budget = 100 * BATS_UNIT;
    play_to(BATS_FINISH_SAMPLED);
    assert_int_equal(w->status.charged, 84 * BATS_UNIT);
    assert_null(w->sampled.chosen);
}

/* 7 tasks that all end first on the fast cluster are all that the slow one has
 * run when it begins the next: the offer is still for the whole rest. */
TEST(what_ends_too_late_counts_for_the_estimate)
{
    set_up(9, 4);
    for (uint32_t t = 0; t < TASKS; t++)
        w->work[t] = 15 * BATS_MINUTE;
    w->o.sched.sample_error = 0.3; /* 21 tasks are enough */
    choose(BATS_OFFER_FASTEST);
    play();
    assert_int_equal(w->sampled.time, 15 * BATS_MINUTE);
    /* By hand: 21 are done, 14 under way. A slow machine has done 1 in 15 min
     * and expects as much for its second: room for 2 more. A fast one has done
     * 3 in 11.25 min, and its fourth takes as long as any, so it expects 7.5:
     * v = 4 / 18.75, and 41.25 min are left after it, room for 8. */
    assert_int_equal(w->decisions[1].tasks_left, TASKS - 35 - 7 * 2 - 7 * 8);
}

/* The observations of one run, given to another, spare it the phase. */
TEST(a_profile_is_continued)
{
    uint8_t done[TASKS];
    set_up(9, 4);
    play();
    for (uint32_t t = 0; t < TASKS; t++)
        done[t] = bats_sched_has_result(w->sched, t) ? BATS_TASK_DONE
                                                     : BATS_TASK_PENDING;
    const struct bats_sched_sampled first = w->sampled;
    const bats_money charged = w->status.charged;
    set_up(9, 4);
    w->o.sched.earlier.state = done;
    w->o.sched.earlier.charged = charged;
    w->o.sched.sampling.observations = first.observations;
    w->o.sched.sampling.n_observations = first.n_observations;
    choose(BATS_OFFER_FASTEST);
    play();
    assert_end(.sampled = 0, .sample_cost = 84 * BATS_UNIT);
    for (uint32_t t = 0; t < TASKS; t++)
        assert_false(done[t] == BATS_TASK_DONE &&
                     (w->begun[t][0] > 0 || w->begun[t][1] > 0));
    assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
}

/* Two machines per cluster run all points all the same: 7 tasks of about 15
 * min on each of them, longer than a window. */
TEST(few_machines_take_longer)
{
    set_up(9, 4);
    w->clusters[0].max = w->clusters[1].max = 2;
    play_to(BATS_FINISH_SAMPLED);
    assert_int_equal(on_both(), 7);
    assert_int_equal(w->sampled.tasks, 30);
}

/* Every task fails on every machine of the fast cluster. */
TEST(a_cluster_that_fails_is_left_out)
{
    set_up(9, 4);
    w->o.sched.rules.retries = 1;
    for (uint32_t m = 32; m < MACHINES; m++)
        w->broken[m] = 1; /* after a second */
    choose(BATS_OFFER_FASTEST);
    play();
    assert_non_null(w->sampled.chosen);
    assert_int_equal(w->sampled.chosen->plan.machines[0], 32);
    assert_int_equal(w->sampled.chosen->plan.machines[1], 0);
}

/* One task of the sample takes a year. */
TEST(nobody_waits_for_ever)
{
    set_up(9, 4);
    w->o.sched.rules.timeout = 0;
    play();
    uint32_t stuck = w->sampled.observations[20].task;

    set_up(9, 4);
    w->work[stuck] = 365 * 24 * BATS_HOUR;
    play_to(BATS_FINISH_SAMPLED);
    assert_int_equal(w->sampled.longest, stuck);
    assert_true(w->sampled.given_up >= 1 && w->makespan < 4 * BATS_HOUR);
    assert_false(bats_sched_has_result(w->sched, stuck));
}

TEST(small_bags_and_single_clusters_do)
{
    for (uint32_t n = 1; n <= 20; n++)
        for (uint32_t n_clusters = 1; n_clusters <= 2; n_clusters++) {
            set_up(9, 4);
            w->o.sched.n_tasks = n;
            w->o.sched.n_clusters = n_clusters;
            w->o.sched.n_machines = 32 * n_clusters;
            choose(BATS_OFFER_CHEAPEST);
            play_to(BATS_FINISH_ALL_DONE);
            assert_int_equal(w->status.done, n);
            assert_true(n_clusters == 2 || on_both() == 0);
        }
}

TEST(a_lost_machine_does_not_stop_the_sample)
{
    static const struct bats_sim_loss losses[] = {
        {3 * BATS_MINUTE, 0}, {3 * BATS_MINUTE, 32}, {5 * BATS_MINUTE, 1}};
    set_up(9, 4);
    w->o.losses = losses;
    w->o.n_losses = 3;
    play_to(BATS_FINISH_SAMPLED);
    assert_int_equal(w->sampled.tasks, 30);
    assert_true(w->sampled.n_observations >= 37);
}

/* A choice of schedules was asked for. */
static void set_up_wanted(void)
{
    set_up(9, 4);
    w->o.sched.policy = &bats_policy_bats;
    w->o.sched.sampling.offers = true;
    choose(BATS_OFFER_CHEAPEST);
}

TEST(one_cluster_works_whole_before_there_is_a_choice)
{
    set_up_wanted();
    w->o.sched.n_clusters = 1;
    w->o.sched.n_machines = 32;
    play();
    assert_int_equal(w->decisions[0].machines[0], 32);
    assert_true(w->begun_early[0] >= 32);
    assert_int_equal(w->n_sampled, 1);
    assert_true(w->sampled.time < BATS_HOUR);
    const struct bats_schedule *chosen = w->sampled.chosen;
    assert_non_null(chosen);
    assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
    assert_true(w->status.charged <= w->status.budget);
}

/* Of machines that cost nothing, or else of one cluster that is to be as fast
 * as it can. */
static bats_time makespan_of(bool is_free, bool is_rr)
{
    set_up_wanted();
    if (is_free) {
        w->clusters[0].charge = w->clusters[1].charge = 0;
    } else {
        choose(BATS_OFFER_FASTEST);
        w->o.sched.n_clusters = 1;
        w->o.sched.n_machines = 32;
    }
    if (is_rr) {
        w->o.sched.policy = &bats_policy_rr;
        w->o.sched.sampling.on = w->o.sched.sampling.offers = false;
    }
    play_to(BATS_FINISH_ALL_DONE);
    if (is_free)
        assert_int_equal(w->n_sampled, 0);
    return w->makespan;
}

TEST(what_costs_nothing_and_the_fastest_are_as_fast_as_rr)
{
    for (int is_free = 0; is_free < 2; is_free++)
        assert_int_equal(makespan_of(is_free, false),
                         makespan_of(is_free, true));
}

/* Unless so many were asked for. */
TEST(a_sample_takes_all_that_costs_nothing)
{
    static const uint32_t asked[] = {0, 5}, works[] = {32, 5};
    for (size_t i = 0; i < 2; i++) {
        set_up(9, 4);
        w->o.sched.policy = &bats_policy_bats;
        w->o.sched.sampling.workers = asked[i];
        w->clusters[0].charge = w->clusters[1].charge = 0;
        play_to(BATS_FINISH_SAMPLED);
        assert_int_equal(w->decisions[0].machines[0], works[i]);
    }
}

TEST_MAIN(NULL, NULL)
