/* A sampling phase where machine-windows are planned costs no more than it
 * takes to know where each cluster stands. Played by the simulator. */
#include "bats/rules.h"
#include "bats/status.h"
#include "helpers/draw.h"
#include "helpers/sim_fixture.h"

#include <math.h>

#define TASKS MANY

/* 1000 tasks of 15 min and the given deviation, on 32 + 32 machines; cluster 0
 * has speed 1 and charge 3. The thesis' sample (bkp) costs 42 to 105. */
static void set_up(double charge, double speed, double cv)
{
    double variance = log1p(cv * cv);
    draw_from(4);
    set_up_world(&bats_policy_bats, TASKS, 0, 32, 3, charge, BATS_UNLIMITED);
    w->speed[1] = speed;
    w->o.sched.seed = 11;
    w->o.sched.sampling.on = true;
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] =
            (bats_time)(15 * (double)BATS_MINUTE *
                        gsl_ran_lognormal(rng, -variance / 2, sqrt(variance)));
}

/* Four times as much for as much work: two tasks that ran on both prove it. */
TEST(a_dear_cluster_runs_on_few_machines_and_few_tasks_on_both)
{
    set_up(12, 1, 0.1);
    play();
    assert_end(.used0 = 7, .used1 = 2); /* for about the same money */
    assert_true(w->status.charged <= (7 * 3 + 2 * 12) * BATS_UNIT);
    assert_int_equal(w->n_sampled, 1);
    assert_in_range(on_both(), 2, 3);
}

/* Runtimes differ at random, and a task costs as much here as there. */
TEST(an_open_place_gets_all_seven)
{
    static const double noise[] = {0.5, 0.5};
    set_up(9, 3, 0.1);
    w->o.noise = noise;
    play();
    assert_int_equal(on_both(), 7);
    assert_int_equal(w->status.finish, BATS_FINISH_SAMPLED);
}

TEST(equal_tasks_need_no_sample_of_thirty)
{
    set_up(12, 1, 0.1);
    play();
    bats_time soon = w->sampled.time;
    assert_true(soon < 40 * BATS_MINUTE);

    set_up(12, 1, 0.8);
    play();
    assert_int_equal(w->sampled.tasks, 30);
    assert_true(w->sampled.time > soon);
}

/* The user expects a task to cost four times as much there. */
TEST(an_expected_place_needs_no_machine)
{
    static const bats_time expected[] = {20 * BATS_MINUTE, 20 * BATS_MINUTE};
    set_up(12, 1, 0.1);
    w->o.sched.expected = expected;
    play();
    assert_int_equal(w->of[1].windows, 0);
    assert_true(w->status.charged <= 7 * 3 * BATS_UNIT);
    assert_true(w->of[1].is_guess);
    assert_false(w->of[0].is_guess);
    assert_int_equal((bats_time)w->of[1].mean_runtime, 20 * BATS_MINUTE);

    /* It is offered all the same, but nothing is promised for sure. */
    w->choice.offer = BATS_OFFER_FASTEST;
    w->o.choice = &w->choice;
    play();
    assert_non_null(w->sampled.chosen);
    assert_int_equal(w->sampled.chosen->plan.machines[1], 32);
    assert_false(w->sampled.chosen->is_bounded);
    assert_int_equal(w->status.finish, BATS_FINISH_ALL_DONE);
    assert_false(w->of[1].is_guess);
}

/* A cluster that is expected to cost nearly the same is measured. */
TEST(an_expected_place_that_is_open_is_sampled)
{
    static const bats_time expected[] = {15 * BATS_MINUTE, 5 * BATS_MINUTE};
    set_up(12, 3, 0.1);
    w->o.sched.expected = expected;
    play();
    assert_true(w->of[1].windows > 0 && on_both() >= 1);
    assert_false(w->of[1].is_guess);
}

/* The home is where a task, not a machine, is expected to cost least. */
TEST(the_sample_is_taken_where_tasks_are_cheap)
{
    static const bats_time expected[] = {15 * BATS_MINUTE,
                                         3 * BATS_MINUTE + 45 * BATS_SECOND};
    set_up(4, 4, 0.1);
    w->o.sched.expected = expected;
    play();
    assert_end(.windows0 = 0, .used1 = 7);
}

TEST(what_earlier_sessions_saw_is_not_run_again)
{
    set_up(12, 1, 0.1);
    play();
    const struct bats_sched_sampled first = w->sampled;
    set_up(12, 1, 0.1);
    w->o.sched.earlier.seen = first.observations;
    w->o.sched.earlier.n_seen = first.n_observations;
    w->o.sched.earlier.tops_up = true;
    play();
    assert_int_equal(w->of[1].windows, 0); /* its place is settled */
    assert_int_equal(w->status.finish, BATS_FINISH_SAMPLED);
}

TEST_MAIN(NULL, NULL)
