/* The sampling phase of its own, played by the simulator: what it costs
 * (thesis, table 3.1), what it finds, and what happens where it cannot. */
#include "helpers/sim_fixture.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/bag.h"

#define TASKS MANY
#define MACHINES MACHINES_MOST

/* The thesis' emulation: 1000 tasks of N(15, sqrt 5) min on 32 + 32 machines;
 * cluster 0 has speed 1 and charge 3. */
static void set_up(struct world *w, bats_money charge, double speed)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 4);
    set_up_world(w, &bats_policy_bkp, TASKS, 0, 32, 3, (double)charge,
                 BATS_UNLIMITED);
    w->speed[1] = speed;
    w->o.sched.seed = 11;
    w->o.sched.sampling.on = true;
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] = (bats_time)((15 + gsl_ran_gaussian(rng, 2.236)) *
                                 (double)BATS_MINUTE);
    gsl_rng_free(rng);
}

static void choose(struct world *w, enum bats_offer offer)
{
    w->choice.offer = offer;
    w->o.choice = &w->choice;
}

/* Tasks that ran on both clusters. */
static uint32_t on_both(const struct world *w)
{
    uint32_t n = 0;
    for (uint32_t t = 0; t < TASKS; t++)
        n += w->begun[t][0] > 0 && w->begun[t][1] > 0;
    return n;
}

/* 7 machines of each cluster for one window, whatever they charge. */
static void a_sample_costs_what_table_3_1_says(void **state)
{
    (void)state;
    static const struct {
        bats_money charge;
        double speed;
        int64_t cost;
    } rows[] = {
        {12, 1, 105}, {12, 3, 105}, {3, 1, 42}, {9, 4, 84}, {3, 4, 42}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct world w;
        set_up(&w, rows[i].charge, rows[i].speed);
        play(&w);
        assert_int_equal(w.status.finish, BATS_FINISH_SAMPLED);
        assert_int_equal(w.status.charged, rows[i].cost * BATS_UNIT);
        assert_in_range(w.makespan, BATS_HOUR / 2, BATS_HOUR);
        assert_int_equal(w.sampled.tasks, 30); /* n of section 2.2.1 */
        assert_int_equal(on_both(&w), 7);
        assert_int_equal(w.sampled.n_observations, 30 + 7);
        /* All machines work on to the end of their windows. */
        assert_true(w.status.done >= 40);
        bats_sched_destroy(w.sched);
    }
}

static void every_runtime_is_that_of_its_task(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    play(&w);
    for (size_t i = 0; i < w.sampled.n_observations; i++) {
        const struct bats_observation *o = &w.sampled.observations[i];
        double exact = (double)w.work[o->task] / w.speed[o->cluster];
        assert_in_range(o->runtime, exact - 1, exact + 1);
    }
    bats_sched_destroy(w.sched);
}

/* The limit of its charges: its upper bound. */
static bats_money limit_of(const struct bats_schedule *s)
{
    return s->cost_high > s->budget ? s->cost_high : s->budget;
}

/* The charges stay within the cost of sampling and the schedule's budget, and
 * no finished task runs again. */
static void the_chosen_schedule_is_carried_out(void **state)
{
    (void)state;
    for (int offer = 0; offer < BATS_OFFERS; offer++) {
        struct world w;
        set_up(&w, 9, 4);
        choose(&w, (enum bats_offer)offer);
        play(&w);
        const struct bats_schedule *chosen = w.sampled.chosen;
        assert_non_null(chosen);
        assert_int_equal(chosen->offer, offer);
        assert_int_equal(w.status.budget,
                         w.sampled.charged + limit_of(chosen));
        assert_true(w.status.charged <= w.status.budget);
        assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
        size_t n;
        const struct bats_decision *d = bats_sched_decisions(w.sched, &n);
        assert_true(n >= 2 && d[1].reason == BATS_REASON_CHOSEN);
        assert_memory_equal(d[1].machines, chosen->plan.machines,
                            sizeof chosen->plan.machines);
        bats_sched_destroy(w.sched);
    }
}

/* Its budget has no slack, and half of all samples expect too little. Runtimes
 * scatter: what a machine has done at first says nothing of the whole. */
static void the_cheapest_schedule_is_kept_to_the_end(void **state)
{
    (void)state;
    int longer = 0;
    for (uint64_t seed = 1; seed <= 10; seed++) {
        struct world w;
        size_t n;
        set_up(&w, 3, 2);
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(rng, seed);
        for (uint32_t i = 0; i < TASKS; i++)
            w.work[i] = (bats_time)(gsl_ran_exponential(rng, 15) *
                                    (double)BATS_MINUTE) +
                        1;
        gsl_rng_free(rng);
        choose(&w, BATS_OFFER_CHEAPEST);
        play(&w);
        const struct bats_schedule *chosen = w.sampled.chosen;
        const struct bats_decision *d = bats_sched_decisions(w.sched, &n);
        assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
        assert_int_equal(d[n - 1].reason, BATS_REASON_CHOSEN);
        longer += w.status.charged > w.sampled.charged + chosen->budget;
        bats_sched_destroy(w.sched);
    }
    assert_in_range(longer, 1, 9);
}

/* Another of the fast machines, which are not all in use, takes its place. */
static void a_lost_machine_of_the_chosen_ones_is_replaced(void **state)
{
    (void)state;
    struct world w;
    size_t n;
    const struct bats_sim_loss loss = {3 * BATS_HOUR, 33};
    struct bats_cluster_status fast;
    set_up(&w, 12, 3);
    choose(&w, BATS_OFFER_CHEAPEST_20);
    w.o.losses = &loss;
    w.o.n_losses = 1;
    play(&w);
    const struct bats_schedule *chosen = w.sampled.chosen;
    const struct bats_decision *d = bats_sched_decisions(w.sched, &n);
    assert_in_range(chosen->plan.machines[1], 7, 31);
    bats_sched_cluster_status(w.sched, 1, &fast);
    assert_int_equal(fast.machines_lost, 1);
    assert_int_equal(fast.machines_used, chosen->plan.machines[1] + 1);
    assert_int_equal(d[n - 1].reason, BATS_REASON_CHOSEN);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    bats_sched_destroy(w.sched);
}

static void the_run_s_own_budget_still_holds(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    choose(&w, BATS_OFFER_FASTEST);
    w.o.sched.budget = 300 * BATS_UNIT; /* fastest: 84 + 768 */
    play(&w);
    assert_true(w.status.charged <= 300 * BATS_UNIT);
    assert_int_equal(w.status.finish, BATS_FINISH_BUDGET);
    bats_sched_destroy(w.sched);
}

static void a_budget_that_is_given_is_the_limit(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    choose(&w, BATS_OFFER_BUDGET);
    w.choice.budget = 600 * BATS_UNIT;
    play(&w);
    assert_true(w.sampled.chosen->cost_high > 600 * BATS_UNIT);
    assert_int_equal(w.status.budget, w.sampled.charged + 600 * BATS_UNIT);
    bats_sched_destroy(w.sched);
}

static void a_budget_that_is_too_small_starts_nothing_more(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    choose(&w, BATS_OFFER_BUDGET);
    w.choice.budget = 100 * BATS_UNIT;
    play(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_SAMPLED);
    assert_int_equal(w.status.charged, 84 * BATS_UNIT);
    assert_null(w.sampled.chosen);
    bats_sched_destroy(w.sched);
}

/* 7 tasks that all end first on the fast cluster are all that the slow one has
 * run when it begins the next: the offer is still for the whole rest. */
static void what_ends_too_late_counts_for_the_estimate(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    for (uint32_t t = 0; t < TASKS; t++)
        w.work[t] = 15 * BATS_MINUTE;
    w.o.sched.sample_error = 0.3; /* 21 tasks are enough */
    choose(&w, BATS_OFFER_FASTEST);
    play(&w);
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(w.sched, &n);
    assert_int_equal(w.sampled.time, 15 * BATS_MINUTE);
    /* By hand: 21 are done, 14 under way. A slow machine has done 1 in 15 min
     * and expects as much for its second: room for 2 more. A fast one has done
     * 3 in 11.25 min, and its fourth takes as long as any, so it expects 7.5:
     * v = 4 / 18.75, and 41.25 min are left after it, room for 8. */
    assert_int_equal(d[1].tasks_left, TASKS - 35 - 7 * 2 - 7 * 8);
    bats_sched_destroy(w.sched);
}

/* The observations of one run, given to another, spare it the phase. */
static void a_profile_is_continued(void **state)
{
    (void)state;
    struct world w, next;
    uint8_t done[TASKS];
    set_up(&w, 9, 4);
    play(&w);
    set_up(&next, 9, 4);
    for (uint32_t t = 0; t < TASKS; t++)
        done[t] = bats_sched_has_result(w.sched, t) ? BATS_TASK_DONE
                                                    : BATS_TASK_PENDING;
    next.o.sched.earlier.state = done;
    next.o.sched.earlier.charged = w.status.charged;
    next.o.sched.sampling.observations = w.sampled.observations;
    next.o.sched.sampling.n_observations = w.sampled.n_observations;
    choose(&next, BATS_OFFER_FASTEST);
    play(&next);
    assert_int_equal(next.sampled.time, 0);
    assert_int_equal(next.sampled.charged, 84 * BATS_UNIT);
    for (uint32_t t = 0; t < TASKS; t++)
        assert_false(done[t] == BATS_TASK_DONE &&
                     (next.begun[t][0] > 0 || next.begun[t][1] > 0));
    assert_int_equal(next.status.finish, BATS_FINISH_ALL_DONE);
    bats_sched_destroy(w.sched);
    bats_sched_destroy(next.sched);
}

/* Two machines per cluster run all points all the same: 7 tasks of about 15
 * min on each of them, longer than a window. */
static void few_machines_take_longer(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    w.clusters[0].max = w.clusters[1].max = 2;
    play(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_SAMPLED);
    assert_int_equal(on_both(&w), 7);
    assert_int_equal(w.sampled.tasks, 30);
    bats_sched_destroy(w.sched);
}

/* Every task fails on every machine of the fast cluster. */
static void a_cluster_that_fails_is_left_out(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    w.o.sched.rules.retries = 1;
    for (uint32_t m = 32; m < MACHINES; m++)
        w.broken[m] = 1; /* after a second */
    choose(&w, BATS_OFFER_FASTEST);
    play(&w);
    assert_non_null(w.sampled.chosen);
    assert_int_equal(w.sampled.chosen->plan.machines[0], 32);
    assert_int_equal(w.sampled.chosen->plan.machines[1], 0);
    bats_sched_destroy(w.sched);
}

/* One task of the sample takes a year. */
static void nobody_waits_for_ever(void **state)
{
    (void)state;
    struct world w;
    set_up(&w, 9, 4);
    w.o.sched.rules.timeout = 0;
    play(&w);
    uint32_t stuck = w.sampled.observations[20].task;
    bats_sched_destroy(w.sched);

    set_up(&w, 9, 4);
    w.work[stuck] = 365 * 24 * BATS_HOUR;
    play(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_SAMPLED);
    assert_int_equal(w.sampled.longest, stuck);
    assert_true(w.sampled.given_up >= 1 && w.makespan < 4 * BATS_HOUR);
    assert_false(bats_sched_has_result(w.sched, stuck));
    bats_sched_destroy(w.sched);
}

static void small_bags_and_single_clusters_do(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= 20; n++) {
        struct world w;
        set_up(&w, 9, 4);
        w.o.sched.n_tasks = n;
        choose(&w, BATS_OFFER_CHEAPEST);
        play(&w);
        assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
        assert_int_equal(w.status.done, n);
        bats_sched_destroy(w.sched);

        set_up(&w, 9, 4);
        w.o.sched.n_tasks = n;
        w.o.sched.n_clusters = 1;
        w.o.sched.n_machines = 32;
        choose(&w, BATS_OFFER_CHEAPEST);
        play(&w);
        assert_int_equal(w.status.done, n);
        assert_int_equal(on_both(&w), 0);
        bats_sched_destroy(w.sched);
    }
}

static void a_lost_machine_does_not_stop_the_sample(void **state)
{
    (void)state;
    struct world w;
    static const struct bats_sim_loss losses[] = {
        {3 * BATS_MINUTE, 0}, {3 * BATS_MINUTE, 32}, {5 * BATS_MINUTE, 1}};
    set_up(&w, 9, 4);
    w.o.losses = losses;
    w.o.n_losses = 3;
    play(&w);
    assert_int_equal(w.status.finish, BATS_FINISH_SAMPLED);
    assert_int_equal(w.sampled.tasks, 30);
    assert_true(w.sampled.n_observations >= 37);
    bats_sched_destroy(w.sched);
}

/* 50 min a task: 13 windows have room for 15 on each machine, not 15.6. With
 * the cushion they are done. */
static void a_cushion_pays_for_the_last_tasks(void **state)
{
    (void)state;
    uint32_t done[2];
    bats_money charged[2], budget[2];
    for (int with = 0; with < 2; with++) {
        struct world w;
        set_up(&w, 12, 1);
        for (uint32_t t = 0; t < TASKS; t++)
            w.work[t] = 50 * BATS_MINUTE;
        choose(&w, BATS_OFFER_FASTEST);
        w.o.sched.sampling.cushion = with;
        play(&w);
        assert_true(w.sampled.chosen->delta_n > 0);
        assert_true(w.sampled.chosen->cushion > 0);
        assert_false(w.sampled.chosen->refits); /* all machines are in use */
        done[with] = w.status.done;
        charged[with] = w.status.charged;
        budget[with] = w.sampled.charged + limit_of(w.sampled.chosen);
        assert_int_equal(w.status.cushion,
                         with ? w.sampled.chosen->cushion : 0);
        assert_true(charged[with] <= budget[with] + w.status.cushion);
        bats_sched_destroy(w.sched);
    }
    assert_true(done[1] >= done[0]);
    assert_int_equal(done[1], TASKS);
}

/* Not before the schedule's own budget is used up. */
static void what_the_cushion_pays_is_told_of_each_charge(void **state)
{
    (void)state;
    int spent = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct world w;
        set_up(&w, 9, 4);
        for (uint32_t t = 0; t < TASKS; t++)
            w.work[t] = 50 * BATS_MINUTE;
        w.o.sched.seed = seed;
        w.o.sched.n_tasks = 200 + 7 * (uint32_t)seed;
        choose(&w, (enum bats_offer)(seed % BATS_OFFERS));
        w.o.sched.sampling.cushion = true;
        play(&w);
        const struct bats_schedule *chosen = w.sampled.chosen;
        if (!chosen) { /* cheaper than the cheapest */
            bats_sched_destroy(w.sched);
            continue;
        }
        assert_int_equal(w.from_cushion, w.status.cushion_spent);
        assert_true(w.from_cushion <= w.status.cushion);
        if (w.from_cushion > 0)
            assert_true(w.other_charges >= w.sampled.charged + chosen->budget);
        spent += w.from_cushion > 0;
        bats_sched_destroy(w.sched);
    }
    assert_true(spent > 0);
}

/* The promise is then the schedule that was bought. */
static void a_cushion_may_buy_machines(void **state)
{
    (void)state;
    int bought = 0;
    for (int offer = 0; offer < BATS_OFFERS; offer++) {
        struct world w;
        set_up(&w, 9, 4);
        choose(&w, (enum bats_offer)offer);
        play(&w);
        const struct bats_schedule plain = *w.sampled.chosen;
        bats_sched_destroy(w.sched);
        if (!plain.refits)
            continue;
        set_up(&w, 9, 4);
        choose(&w, (enum bats_offer)offer);
        w.o.sched.sampling.cushion = true;
        play(&w);
        const struct bats_schedule *chosen = w.sampled.chosen;
        assert_int_equal(chosen->offer, offer);
        assert_int_equal(chosen->budget, plain.budget + plain.cushion);
        assert_memory_equal(chosen->plan.machines, plain.raised.machines,
                            sizeof plain.raised.machines);
        assert_true(chosen->delta_n <= 0);
        assert_int_equal(w.status.budget,
                         w.sampled.charged + limit_of(chosen));
        assert_int_equal(w.status.cushion, 0);
        bats_sched_destroy(w.sched);
        bought++;
    }
    assert_true(bought > 0);
}

/* A run without a phase of its own, that offers what it has learned. */
static void set_up_plain(struct world *w, bool offers)
{
    set_up(w, 9, 4);
    w->o.sched.policy = &bats_policy_bats;
    w->o.sched.sampling.on = false;
    w->o.sched.sampling.offers = offers;
}

static void a_plain_run_offers_and_goes_on_as_it_would(void **state)
{
    (void)state;
    struct world w, other;
    set_up_plain(&w, true);
    play(&w);
    set_up_plain(&other, false);
    play(&other);
    assert_int_equal(w.n_sampled, 1);
    assert_int_equal(other.n_sampled, 0);
    assert_true(w.sampled.time < BATS_HOUR); /* no second window is paid */
    assert_int_equal(w.sampled.charged, 32 * (3 + 9) * BATS_UNIT);
    assert_null(w.sampled.chosen);
    assert_int_equal(w.makespan, other.makespan);
    assert_int_equal(w.status.charged, other.status.charged);
    assert_memory_equal(w.begun, other.begun, sizeof w.begun);
    bats_sched_destroy(w.sched);
    bats_sched_destroy(other.sched);
}

/* Three slow machines run 12 tasks an hour, of a sample of 30: the plan has to
 * wait for more of it, the offer does not. */
static void an_offer_comes_before_a_second_window(void **state)
{
    (void)state;
    struct world w;
    size_t n;
    set_up_plain(&w, true);
    w.o.sched.policy = &bats_policy_bkp;
    w.clusters[0].max = w.clusters[1].max = 3;
    play(&w);
    const struct bats_decision *d = bats_sched_decisions(w.sched, &n);
    assert_true(n >= 2 && d[1].time > BATS_HOUR);
    assert_int_equal(w.n_sampled, 1);
    assert_true(w.sampled.time < BATS_HOUR);
    bats_sched_destroy(w.sched);
}

static void what_a_plain_run_offers_may_be_chosen(void **state)
{
    (void)state;
    bats_money fastest;
    struct world w;
    set_up_plain(&w, true);
    play(&w);
    fastest = w.status.charged;
    bats_sched_destroy(w.sched);

    set_up_plain(&w, true);
    choose(&w, BATS_OFFER_CHEAPEST);
    play(&w);
    const struct bats_schedule *chosen = w.sampled.chosen;
    assert_non_null(chosen);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(w.status.budget, w.sampled.charged + limit_of(chosen));
    assert_true(w.status.charged <= w.status.budget);
    assert_true(w.status.charged < fastest);
    bats_sched_destroy(w.sched);
}

/* One cluster, clusters that cost nothing, and 100 tasks, which are done in the
 * windows that the start has paid. */
static void nothing_is_offered_where_there_is_no_choice(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct world w;
        set_up_plain(&w, true);
        if (i == 0) {
            w.o.sched.n_clusters = 1;
            w.o.sched.n_machines = 32;
        } else if (i == 1) {
            w.clusters[0].charge = w.clusters[1].charge = 0;
        } else {
            w.o.sched.n_tasks = 100;
        }
        play(&w);
        assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
        assert_int_equal(w.n_sampled, 0);
        bats_sched_destroy(w.sched);
    }
}

/* A choice of schedules was asked for. */
static void set_up_wanted(struct world *w)
{
    set_up(w, 9, 4);
    w->o.sched.policy = &bats_policy_bats;
    w->o.sched.sampling.offers = true;
    choose(w, BATS_OFFER_CHEAPEST);
}

static void one_cluster_works_whole_before_there_is_a_choice(void **state)
{
    (void)state;
    struct world w;
    set_up_wanted(&w);
    w.o.sched.n_clusters = 1;
    w.o.sched.n_machines = 32;
    play(&w);
    assert_int_equal(w.decisions[0].machines[0], 32);
    assert_true(w.begun_early[0] >= 32);
    assert_int_equal(w.n_sampled, 1);
    assert_true(w.sampled.time < BATS_HOUR);
    const struct bats_schedule *chosen = w.sampled.chosen;
    assert_non_null(chosen);
    assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
    assert_true(w.status.charged <= w.status.budget);
    bats_sched_destroy(w.sched);
}

static void its_fastest_schedule_is_as_fast_as_rr(void **state)
{
    (void)state;
    bats_time makespan = 0;
    for (int i = 0; i < 2; i++) {
        struct world w;
        set_up_wanted(&w);
        choose(&w, BATS_OFFER_FASTEST);
        w.o.sched.n_clusters = 1;
        w.o.sched.n_machines = 32;
        if (i == 0) {
            w.o.sched.policy = &bats_policy_rr;
            w.o.sched.sampling.on = w.o.sched.sampling.offers = false;
        }
        play(&w);
        if (i == 0)
            makespan = w.makespan;
        assert_int_equal(w.makespan, makespan);
        bats_sched_destroy(w.sched);
    }
}

static void what_costs_nothing_is_used_as_by_rr(void **state)
{
    (void)state;
    bats_time makespan = 0;
    for (int i = 0; i < 2; i++) {
        struct world w;
        set_up_wanted(&w);
        w.clusters[0].charge = w.clusters[1].charge = 0;
        if (i == 0) {
            w.o.sched.policy = &bats_policy_rr;
            w.o.sched.sampling.on = w.o.sched.sampling.offers = false;
        }
        play(&w);
        assert_int_equal(w.n_sampled, 0);
        assert_int_equal(w.status.finish, BATS_FINISH_ALL_DONE);
        if (i == 0)
            makespan = w.makespan;
        assert_int_equal(w.makespan, makespan);
        bats_sched_destroy(w.sched);
    }
}

/* Unless so many were asked for. */
static void a_sample_takes_all_that_costs_nothing(void **state)
{
    (void)state;
    static const uint32_t asked[] = {0, 5}, works[] = {32, 5};
    for (size_t i = 0; i < 2; i++) {
        struct world w;
        set_up(&w, 9, 4);
        w.o.sched.policy = &bats_policy_bats;
        w.o.sched.sampling.workers = asked[i];
        w.clusters[0].charge = w.clusters[1].charge = 0;
        play(&w);
        assert_int_equal(w.status.finish, BATS_FINISH_SAMPLED);
        assert_int_equal(w.decisions[0].machines[0], works[i]);
        bats_sched_destroy(w.sched);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_costs_what_table_3_1_says),
        cmocka_unit_test(every_runtime_is_that_of_its_task),
        cmocka_unit_test(the_chosen_schedule_is_carried_out),
        cmocka_unit_test(the_cheapest_schedule_is_kept_to_the_end),
        cmocka_unit_test(a_lost_machine_of_the_chosen_ones_is_replaced),
        cmocka_unit_test(the_run_s_own_budget_still_holds),
        cmocka_unit_test(a_budget_that_is_given_is_the_limit),
        cmocka_unit_test(a_budget_that_is_too_small_starts_nothing_more),
        cmocka_unit_test(what_ends_too_late_counts_for_the_estimate),
        cmocka_unit_test(a_profile_is_continued),
        cmocka_unit_test(few_machines_take_longer),
        cmocka_unit_test(a_cluster_that_fails_is_left_out),
        cmocka_unit_test(nobody_waits_for_ever),
        cmocka_unit_test(small_bags_and_single_clusters_do),
        cmocka_unit_test(a_lost_machine_does_not_stop_the_sample),
        cmocka_unit_test(a_cushion_pays_for_the_last_tasks),
        cmocka_unit_test(what_the_cushion_pays_is_told_of_each_charge),
        cmocka_unit_test(a_cushion_may_buy_machines),
        cmocka_unit_test(a_plain_run_offers_and_goes_on_as_it_would),
        cmocka_unit_test(an_offer_comes_before_a_second_window),
        cmocka_unit_test(what_a_plain_run_offers_may_be_chosen),
        cmocka_unit_test(nothing_is_offered_where_there_is_no_choice),
        cmocka_unit_test(one_cluster_works_whole_before_there_is_a_choice),
        cmocka_unit_test(its_fastest_schedule_is_as_fast_as_rr),
        cmocka_unit_test(what_costs_nothing_is_used_as_by_rr),
        cmocka_unit_test(a_sample_takes_all_that_costs_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
