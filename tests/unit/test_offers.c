/* offers: the schedules of machine-windows, and whether policy bats keeps what
 * they promise, played by the simulator. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/bag.h"
#include "bats/policy.h"
#include "sim/sim.h"

#define TASKS 1000
#define MACHINES 64
#define SAMPLES 30

static const enum bats_offer names[] = {
    BATS_OFFER_CHEAPEST, BATS_OFFER_CHEAPER, BATS_OFFER_BALANCED,
    BATS_OFFER_FASTER, BATS_OFFER_FASTEST};

#define NAMES (sizeof names / sizeof *names)

/* ---- the list ---- */

struct market {
    struct bats_cluster clusters[4];
    struct bats_runtimes runtimes[4];
    struct bats_estimator e;
};

static double uniform(gsl_rng *rng, double low, double high)
{
    return low * pow(high / low, gsl_rng_uniform(rng));
}

static void draw(struct market *m, gsl_rng *rng)
{
    size_t n = 1 + gsl_rng_uniform_int(rng, 4);
    *m = (struct market){.e = {.clusters = m->clusters,
                               .runtimes = m->runtimes,
                               .n_clusters = n,
                               .n_tasks = 1 + gsl_rng_uniform_int(rng, 2000),
                               .window = BATS_HOUR}};
    for (size_t i = 0; i < n; i++) {
        double sample[SAMPLES], mean = uniform(rng, 60e6, 7200e6);
        for (int k = 0; k < SAMPLES; k++)
            sample[k] = gsl_ran_lognormal(rng, log(mean), 0.5);
        m->runtimes[i] = bats_runtimes_of(sample, SAMPLES, 0.9);
        m->clusters[i].charge = (bats_money)uniform(rng, 1e6, 20e6);
        m->clusters[i].max = 1 + (uint32_t)gsl_rng_uniform_int(rng, 64);
    }
}

/* The sum over machines of windows and charge. */
static bats_money cost_of(const struct market *m,
                          const struct bats_schedule *s)
{
    bats_money sum = 0;
    for (size_t i = 0; i < m->e.n_clusters; i++) {
        assert_true(s->plan.machines[i] <= m->clusters[i].max);
        assert_true(s->longer[i] < s->plan.machines[i] || s->longer[i] == 0);
        sum += (s->plan.machines[i] * s->held[i] + s->longer[i]) *
               m->clusters[i].charge;
    }
    return sum;
}

/* The tasks that the machine-windows could do, if these could be divided. */
static double tasks_of(const struct market *m, const struct bats_schedule *s)
{
    double sum = 0;
    for (size_t i = 0; i < m->e.n_clusters; i++)
        sum += (double)(s->plan.machines[i] * s->held[i] + s->longer[i]) *
               (double)BATS_HOUR / m->runtimes[i].mean;
    return sum;
}

static void each_costs_less_and_ends_later_than_the_next(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n, longest = 0;
    for (int k = 0; k < 100; k++) {
        struct market m;
        struct bats_schedule list[BATS_OFFERS];
        draw(&m, rng);
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        assert_in_range(n, 1, NAMES);
        longest = n > longest ? n : longest;
        for (size_t i = 0; i < n; i++) {
            assert_true(list[i].plan.feasible);
            assert_int_equal(list[i].plan.cost, cost_of(&m, &list[i]));
            assert_true(tasks_of(&m, &list[i]) >= (double)m.e.n_tasks);
            assert_true(list[i].cost_high >= list[i].plan.cost);
            assert_true(list[i].makespan.high >= list[i].makespan.estimate);
            assert_true(i == 0 || list[i - 1].plan.cost < list[i].plan.cost);
            assert_true(i == 0 || list[i - 1].makespan.estimate >
                                      list[i].makespan.estimate);
        }
        assert_int_equal(list[n - 1].offer, BATS_OFFER_FASTEST);
    }
    assert_int_equal(longest, NAMES);
    gsl_rng_free(rng);
}

/* Nobody has to know which of the names are the same here. */
/* Budgets from the cheapest on to beyond the fastest. */
static void a_budget_gets_no_less_than_the_list_has_for_it(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int k = 0; k < 50; k++) {
        struct market m;
        struct bats_schedule list[BATS_OFFERS], s;
        size_t n;
        draw(&m, rng);
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        bats_money least = list[0].plan.cost;
        bats_money step = (list[n - 1].plan.cost - least) / 8 + 1;
        for (bats_money budget = least, i = 0; i < 10; i++, budget += step) {
            assert_int_equal(bats_estimate_for_budget(&m.e, budget, &s, NULL),
                             0);
            assert_true(s.plan.feasible && s.plan.cost <= budget);
            assert_int_equal(s.plan.cost, cost_of(&m, &s));
            assert_true(tasks_of(&m, &s) >= (double)m.e.n_tasks);
            for (size_t j = 0; j < n && list[j].plan.cost <= budget; j++)
                assert_true(s.makespan.estimate <= list[j].makespan.estimate);
        }
    }
    gsl_rng_free(rng);
}

static void every_name_is_a_schedule_of_the_list(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n, fewer = 0;
    for (int k = 0; k < 100; k++) {
        struct market m;
        struct bats_schedule list[BATS_OFFERS];
        draw(&m, rng);
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        fewer += n < NAMES;
        for (size_t i = 0; i < NAMES; i++) {
            const struct bats_choice choice = {.offer = names[i]};
            struct bats_schedule s;
            size_t same = 0;
            assert_int_equal(bats_estimate_choose(&m.e, &choice, &s, NULL), 0);
            while (same < n && list[same].aim != s.aim)
                same++;
            assert_true(same < n);
            assert_int_equal(s.plan.cost, list[same].plan.cost);
        }
    }
    assert_true(fewer > 0);
    gsl_rng_free(rng);
}

/* 1000 tasks of 15 min on 32 machines at 3, or of a quarter of that on 32 at
 * 12: both cost 750 at least. In two windows the fast ones do 32 x 2 x 16 =
 * 1024, less half a task each: all of them for 768 is the soonest of the
 * cheapest. And nothing is faster than all machines. */
static void the_cheapest_does_not_wait_for_a_few_percent(void **state)
{
    (void)state;
    struct market m = {
        .clusters = {{"slow", 3 * BATS_UNIT, 32},
                     {"fast", 12 * BATS_UNIT, 32}},
        .e = {.n_clusters = 2, .n_tasks = 1000, .window = BATS_HOUR}};
    struct bats_schedule list[BATS_OFFERS];
    size_t n;
    m.e.clusters = m.clusters;
    m.e.runtimes = m.runtimes;
    m.runtimes[0] = bats_runtimes_given(15 * (double)BATS_MINUTE);
    m.runtimes[1] = bats_runtimes_given(3.75 * (double)BATS_MINUTE);
    assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
    assert_int_equal(list[0].plan.machines[0], 0);
    assert_int_equal(list[0].plan.machines[1], 32);
    assert_int_equal(list[0].held[1], 2);
    assert_int_equal(list[0].plan.cost, 768 * BATS_UNIT);
    assert_int_equal(list[n - 1].plan.machines[0], 32);
    assert_int_equal(list[n - 1].plan.machines[1], 32);
}

/* ---- a job of a batch system ---- */

static void allocate(struct market *m, struct bats_head *heads, gsl_rng *rng)
{
    draw(m, rng);
    m->e.plans = BATS_PLANS_ALLOCATION;
    m->e.heads = heads;
    for (size_t i = 0; i < m->e.n_clusters; i++)
        heads[i] = (struct bats_head){(uint32_t)(m->e.n_clusters - i),
                                      m->clusters[i].charge / 2};
}

static bool is_to_a_cent(bats_money amount, double exact)
{
    return fabs((double)amount - exact) <= 1e4 + 1;
}

/* For all machines and rank 0, which is with those of the last cluster in use,
 * for the time; to a cent. */
static void a_job_costs_what_it_holds_until_its_end(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n, longest = 0;
    for (int k = 0; k < 100; k++) {
        struct market m;
        struct bats_head heads[4];
        struct bats_schedule list[BATS_OFFERS];
        allocate(&m, heads, rng);
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        longest = n > longest ? n : longest;
        for (size_t i = 0; i < n; i++) {
            double price = 0, head = 0, hours;
            for (size_t c = 0; c < m.e.n_clusters; c++) {
                price +=
                    list[i].plan.machines[c] * (double)m.clusters[c].charge;
                if (list[i].plan.machines[c] > 0)
                    head = (double)m.clusters[c].charge / 2;
            }
            hours = list[i].makespan.estimate / (double)BATS_HOUR;
            assert_true(
                is_to_a_cent(list[i].plan.cost, (price + head) * hours));
            hours = list[i].makespan.high / (double)BATS_HOUR;
            assert_true(
                is_to_a_cent(list[i].cost_high, (price + head) * hours));
            assert_true(i == 0 || list[i - 1].plan.cost < list[i].plan.cost);
            assert_true(i == 0 || list[i - 1].makespan.estimate >
                                      list[i].makespan.estimate);
        }
    }
    assert_true(longest >= 4);
    gsl_rng_free(rng);
}

/* Nothing can be chosen but to stop: it is billed for what it has. */
static void a_job_that_runs_has_one_schedule(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n;
    for (int k = 0; k < 100; k++) {
        struct market m;
        struct bats_head heads[4];
        struct bats_schedule list[BATS_OFFERS];
        allocate(&m, heads, rng);
        m.e.rate = 7 * BATS_UNIT;
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        assert_int_equal(n, 1);
        assert_int_equal(list[0].offer, BATS_OFFER_FASTEST);
        for (size_t c = 0; c < m.e.n_clusters; c++)
            assert_int_equal(list[0].plan.machines[c], m.clusters[c].max);
        assert_true(
            is_to_a_cent(list[0].plan.cost,
                         7e6 * list[0].makespan.estimate / (double)BATS_HOUR));
    }
    gsl_rng_free(rng);
}

/* A plan for 29 windows is worth nothing where five are left. */
static void nothing_is_offered_that_ends_after_the_job(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    size_t n, fewer = 0;
    for (int k = 0; k < 100; k++) {
        struct market m;
        struct bats_schedule list[BATS_OFFERS];
        draw(&m, rng);
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        size_t all = n;
        m.e.until = (bats_time)list[n / 2].makespan.estimate + 1;
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        fewer += n < all;
        for (size_t i = 0; i < n; i++)
            assert_true(list[i].makespan.estimate <= (double)m.e.until);
        /* The soonest end is offered if nothing is in time. */
        m.e.until = 1;
        assert_int_equal(bats_estimate_offers(&m.e, list, &n, NULL), 0);
        assert_int_equal(n, 1);
        assert_int_equal(list[0].offer, BATS_OFFER_FASTEST);
    }
    assert_true(fewer > 0);
    gsl_rng_free(rng);
}

/* ---- promises ---- */

struct world {
    struct bats_machine_spec machines[MACHINES];
    bats_time work[TASKS];
    struct bats_choice choice;
    struct bats_sim_options o;
    uint8_t done[TASKS];
};

static const double speed[2] = {1, 4};
static const struct bats_cluster clusters[2] = {{.name = "slow", .charge = 3 * BATS_UNIT, .max = 32},
                                                {.name = "fast", .charge = 9 * BATS_UNIT, .max = 32}};

/* A deviation of a seventh of the mean; or a heavy tail: as much as that. */
static void set_up(struct world *w, uint64_t seed, bool heavy)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
    for (uint32_t i = 0; i < MACHINES; i++)
        w->machines[i] = (struct bats_machine_spec){i / 32, 1};
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] = (bats_time)((heavy ? gsl_ran_lognormal(rng, 2.36, 0.83)
                                        : 15 + gsl_ran_gaussian(rng, 2.236)) *
                                 (double)BATS_MINUTE);
    gsl_rng_free(rng);
    w->o = (struct bats_sim_options){
        .sched = {.policy = &bats_policy_bats,
                  .n_tasks = TASKS,
                  .clusters = clusters,
                  .n_clusters = 2,
                  .machines = w->machines,
                  .n_machines = MACHINES,
                  .window = BATS_HOUR,
                  .budget = BATS_UNLIMITED,
                  .tail = BATS_TAIL_STOCHASTIC_RANDOM,
                  .seed = seed,
                  .sampling = {.on = true}},
        .work = w->work,
        .speed = speed};
}

static struct bats_sched *simulate(const struct world *w, bats_time *makespan)
{
    struct bats_sched *sched;
    struct bats_error err;
    if (bats_sim_run(&w->o, &sched, makespan, &err) < 0)
        fail_msg("%s", err.text);
    return sched;
}

struct kept {
    int runs, whole;
    double cost, end; /* sums of kept / promised, of the whole ones */
};

/* Samples, then carries out what `name` is, as `run --profile` does. */
static void keep(struct kept *kept, enum bats_offer name, uint64_t seed,
                 bool heavy)
{
    struct world w;
    struct bats_sched_sampled sampled;
    struct bats_sched_status status;
    bats_time makespan;
    set_up(&w, seed, heavy);
    struct bats_sched *first = simulate(&w, &makespan);
    for (uint32_t t = 0; t < TASKS; t++)
        w.done[t] = bats_sched_has_result(first, t) ? BATS_TASK_DONE
                                                    : BATS_TASK_PENDING;
    bats_sched_sampled(first, &sampled);
    w.choice.offer = name;
    w.o.choice = &w.choice;
    w.o.sched.earlier.state = w.done;
    w.o.sched.sampling.observations = sampled.observations;
    w.o.sched.sampling.n_observations = sampled.n_observations;
    struct bats_sched *second = simulate(&w, &makespan);
    bats_sched_status(second, &status);
    bats_sched_sampled(second, &sampled);
    const struct bats_schedule *s = sampled.chosen;
    assert_non_null(s);
    assert_int_equal(status.budget, s->cost_high);
    assert_true(status.charged <= s->cost_high);
    kept->runs++;
    if (status.finish == BATS_FINISH_ALL_DONE) {
        kept->whole++;
        kept->cost += (double)status.charged / (double)s->plan.cost;
        kept->end += (double)makespan / s->makespan.estimate;
    }
    bats_sched_destroy(first);
    bats_sched_destroy(second);
}

/* In a plain run, which has begun with all machines and has paid them for a
 * window. */
static void keep_at_once(struct kept *kept, enum bats_offer name,
                         uint64_t seed)
{
    struct world w;
    struct bats_sched_sampled sampled;
    struct bats_sched_status status;
    bats_time makespan;
    set_up(&w, seed, false);
    w.o.sched.sampling.on = false;
    w.o.sched.sampling.offers = true;
    w.choice.offer = name;
    w.o.choice = &w.choice;
    struct bats_sched *sched = simulate(&w, &makespan);
    bats_sched_status(sched, &status);
    bats_sched_sampled(sched, &sampled);
    const struct bats_schedule *s = sampled.chosen;
    assert_non_null(s);
    kept->runs++;
    if (status.finish == BATS_FINISH_ALL_DONE) {
        kept->whole++;
        kept->cost +=
            (double)(status.charged - sampled.charged) / (double)s->plan.cost;
        kept->end += (double)(makespan - sampled.time) / s->makespan.estimate;
    }
    bats_sched_destroy(sched);
}

static void promises_hold_while_machines_are_still_paid(void **state)
{
    (void)state;
    for (size_t i = 0; i < NAMES; i++) {
        struct kept kept = {0};
        for (uint64_t seed = 1; seed <= 50; seed++)
            keep_at_once(&kept, names[i], seed);
        double cost = kept.cost / kept.whole, end = kept.end / kept.whole;
        print_message("# at once, %s: kept/promised: cost %.3f, end %.3f; "
                      "whole %d of %d\n",
                      bats_offer_name(names[i]), cost, end, kept.whole,
                      kept.runs);
        assert_true(cost > 0.8 && cost < 1.1);
        assert_true(end > 0.85 && end < 1.1);
        assert_true(kept.whole >= 49);
    }
}

/* Replicas of the last tasks end a bag sooner than is promised, if anything. */
static void expect_kept(bool heavy, double dearer, double least_whole)
{
    for (size_t i = 0; i < NAMES; i++) {
        struct kept kept = {0};
        for (uint64_t seed = 1; seed <= 100; seed++)
            keep(&kept, names[i], seed, heavy);
        double cost = kept.cost / kept.whole, end = kept.end / kept.whole;
        print_message("# %s, %s: kept/promised: cost %.3f, end %.3f; whole "
                      "%d of %d\n",
                      heavy ? "heavy tail" : "normal",
                      bats_offer_name(names[i]), cost, end, kept.whole,
                      kept.runs);
        assert_true(cost > 0.95 && cost < 1 + dearer);
        assert_true(end > 0.88 && end < 1 + dearer);
        assert_true(kept.whole >= least_whole * kept.runs);
    }
}

static void promises_are_kept_on_average(void **state)
{
    (void)state;
    expect_kept(false, 0.03, 1);
}

static void promises_of_heavy_tails_are_kept_on_average(void **state)
{
    (void)state;
    expect_kept(true, 0.15, 0.97);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_costs_less_and_ends_later_than_the_next),
        cmocka_unit_test(a_budget_gets_no_less_than_the_list_has_for_it),
        cmocka_unit_test(every_name_is_a_schedule_of_the_list),
        cmocka_unit_test(the_cheapest_does_not_wait_for_a_few_percent),
        cmocka_unit_test(a_job_costs_what_it_holds_until_its_end),
        cmocka_unit_test(a_job_that_runs_has_one_schedule),
        cmocka_unit_test(nothing_is_offered_that_ends_after_the_job),
        cmocka_unit_test(promises_hold_while_machines_are_still_paid),
        cmocka_unit_test(promises_are_kept_on_average),
        cmocka_unit_test(promises_of_heavy_tails_are_kept_on_average),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
