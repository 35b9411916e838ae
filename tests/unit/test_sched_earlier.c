/* Measurements of earlier sessions count: the engine, driven by the simulator,
 * samples only what is missing. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/sim_fixture.h"

#define TASKS 300
#define SAMPLE 28 /* ceil(300 z^2 / (z^2 + 2 x 299 delta^2)) = ceil(27.96) */
#define SEEN 64

static struct bats_observation seen[2 * SEEN];

/* 32 machines of 3 an hour, and 32 of twice the speed for 9. Earlier sessions
 * have run this many tasks on each, none on both. */
static void set_up(uint32_t on_slow, uint32_t on_fast)
{
    set_up_world(&bats_policy_bkp, TASKS, 0, 32, 3, 9, 1000 * BATS_UNIT);
    w->speed[1] = 2;
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] = (10 + i % 11) * BATS_MINUTE;
    for (uint32_t i = 0; i < on_slow + on_fast; i++)
        seen[i] = (struct bats_observation){TASKS + i, i >= on_slow,
                                            w->work[i] / (1 + (i >= on_slow))};
    w->o.sched.earlier.seen = seen;
    w->o.sched.earlier.n_seen = on_slow + on_fast;
    w->o.sched.earlier.tops_up = true;
}

TEST(a_cluster_that_lacks_a_few_runs_only_these)
{
    set_up(SAMPLE - 3, 39);
    play_to(BATS_FINISH_ALL_DONE);
    assert_true(w->n_decisions > 1);
    assert_int_equal(w->decisions[0].reason, BATS_REASON_START);
    assert_end(.first0 = 3, .first1 = 0, .reason = BATS_REASON_SAMPLED);
    /* Three tasks of at most 20 minutes, at the same time. */
    assert_in_range(w->decisions[1].time, 10 * BATS_MINUTE, 20 * BATS_MINUTE);
}

TEST(where_all_is_known_the_plan_comes_first)
{
    set_up(SAMPLE, SAMPLE);
    play_to(BATS_FINISH_ALL_DONE);
    assert_end(.first0 = 0, .first1 = 0, .reason = BATS_REASON_SAMPLED,
               .planned = 0);
}

TEST(without_a_budget_nobody_waits)
{
    set_up(3, 39);
    w->o.sched.budget = BATS_UNLIMITED;
    play_to(BATS_FINISH_ALL_DONE);
    assert_end(.first0 = 32, .first1 = 32);
}

/* A budget for the three slow machines that are missing: those of a cluster
 * that needs none do not count in the price of the start. */
TEST(the_price_of_the_start_is_of_what_is_missing)
{
    set_up(SAMPLE - 3, SAMPLE);
    w->o.sched.budget = 9 * BATS_UNIT;
    play();
    assert_int_equal(w->decisions[0].machines[0], 3);
}

/* As sessions did that are on record: all of the sample, or nothing. */
TEST(a_session_without_topping_up_is_replayed_as_it_was)
{
    set_up(SAMPLE - 3, 39);
    w->o.sched.earlier.tops_up = false;
    play();
    assert_end(.first0 = SAMPLE, .first1 = 0);
}

/* ---- the sampling phase of its own ---- */

TEST(a_sample_that_is_complete_costs_nothing)
{
    set_up(SAMPLE, SAMPLE);
    w->o.sched.sampling.on = true;
    play();
    assert_end(.sampled = 0, .sample_cost = 0, .observations = 2 * SAMPLE);
    assert_int_equal(w->begun_early[0] + w->begun_early[1], 0);
}

/* 42 tasks are more than the sample. The regression asks for 7 on each
 * cluster: the slow one has 3 of them. Each of the four machines goes on with
 * the bag until its window ends. */
TEST(a_cluster_that_is_hardly_known_gets_its_points)
{
    set_up(3, 39);
    w->o.sched.sampling.on = true;
    w->choice.offer = BATS_OFFER_FASTEST;
    w->o.choice = &w->choice;
    play_to(BATS_FINISH_ALL_DONE);
    assert_end(.observations = 42 + 4, .sample_cost = 4 * 3 * BATS_UNIT);
    assert_int_equal(w->begun_early[1], 0);
}

/* Ten of the 28 tasks are missing, and 7 - 6 of the points. */
TEST(a_sample_is_filled_up)
{
    set_up(6, 12);
    w->o.sched.sampling.on = true;
    play();
    assert_end(.sample_tasks = SAMPLE - 18, .observations = SAMPLE + 1,
               .sample_cost = 7 * (3 + 9) * BATS_UNIT);
}

/* ---- where no task has ended well ---- */

/* Whatever is begun on a slow machine fails after a second. */
static void simulate_failures(bool tops_up)
{
    memset(w->broken, 1, 32);
    w->o.sched.budget = BATS_UNLIMITED;
    w->o.sched.rules.retries = 3;
    w->o.sched.earlier.tops_up = tops_up;
    play();
}

TEST(what_failures_say_of_a_cluster_is_a_guess)
{
    size_t n_guesses = 0;
    set_up(0, 0);
    simulate_failures(false);
    assert_int_equal(w->of[0].done, 0);
    assert_true(w->of[0].mean_runtime > 0);
    assert_true(w->of[0].is_guess);
    assert_false(w->of[1].is_guess);
    for (size_t i = 0; i < w->n_decisions; i++)
        n_guesses += w->decisions[i].is_guess;
    assert_false(w->decisions[0].is_guess); /* nothing was known */
    assert_true(n_guesses > 0);
}

TEST(what_an_earlier_session_has_seen_is_no_guess)
{
    set_up(SAMPLE, SAMPLE);
    simulate_failures(true);
    assert_int_equal(w->of[0].done, 0);
    assert_false(w->of[0].is_guess);
}

/* ---- the choice ---- */

/* Half an hour spent on choosing does not count against the schedule. */
TEST(the_promise_counts_from_the_choice)
{
    struct bats_sched *sched;
    struct bats_sched_sampled sampled;
    struct bats_event event = {.type = BATS_EVENT_JOINED};
    set_up(SAMPLE, SAMPLE);
    w->o.sched.sampling.on = true;
    assert_ok(bats_sched_create(&w->o.sched, &sched, &err));
    for (; event.machine < 64; event.machine++)
        assert_ok(bats_sched_handle(sched, 0, &event, &err));
    event = (struct bats_event){.type = BATS_EVENT_CHOSEN,
                                .choice = {.offer = BATS_OFFER_CHEAPEST}};
    assert_ok(bats_sched_handle(sched, 30 * BATS_MINUTE, &event, &err));
    bats_sched_sampled(sched, &sampled);
    assert_non_null(sampled.chosen);
    assert_int_equal(sampled.time, 30 * BATS_MINUTE);
    bats_sched_destroy(sched);
}

TEST_MAIN(NULL, NULL)
