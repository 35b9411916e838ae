/* offers: the schedules of machine-windows, and whether policy bats keeps what
 * they promise, played by the simulator. */
#include <math.h>

#include "bats/bag.h"
#include "bats/rules.h"
#include "bats/status.h"
#include "helpers/draw.h"
#include "helpers/sim_fixture.h"

#define TASKS MANY
#define SAMPLES 30

static const enum bats_offer names[] = {
    BATS_OFFER_CHEAPEST, BATS_OFFER_CHEAPER, BATS_OFFER_BALANCED,
    BATS_OFFER_FASTER, BATS_OFFER_FASTEST};

#define NAMES (sizeof names / sizeof *names)

/* ---- the list ---- */

static struct market {
    struct bats_cluster clusters[4];
    struct bats_runtimes runtimes[4];
    struct bats_head heads[4];
    struct bats_estimator e;
    struct bats_schedule list[BATS_OFFERS];
    size_t n; /* in the list */
} the_market, *const m = &the_market;

static double between(double low, double high)
{
    return low * pow(high / low, uniform());
}

static void draw(void)
{
    size_t n = 1 + pick(4);
    *m = (struct market){.e = {.clusters = m->clusters,
                               .runtimes = m->runtimes,
                               .n_clusters = n,
                               .n_tasks = 1 + pick(2000),
                               .window = BATS_HOUR}};
    for (size_t i = 0; i < n; i++) {
        double sample[SAMPLES], mean = between(60e6, 7200e6);
        for (int k = 0; k < SAMPLES; k++)
            sample[k] = gsl_ran_lognormal(rng, log(mean), 0.5);
        m->runtimes[i] = bats_runtimes_of(sample, SAMPLES, 0.9);
        m->clusters[i].charge = (bats_money)between(1e6, 20e6);
        m->clusters[i].max = 1 + pick(64);
    }
}

/* Each costs less and ends later than the next. */
static void list(void)
{
    assert_ok(bats_estimate_offers(&m->e, m->list, &m->n, &err));
    for (size_t i = 1; i < m->n; i++) {
        const struct bats_schedule *s = &m->list[i];
        assert_true(s[-1].plan.cost < s->plan.cost);
        assert_true(s[-1].makespan.estimate > s->makespan.estimate);
    }
}

/* The sum over machines of windows and charge. */
static bats_money cost_of(const struct bats_schedule *s)
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
static double tasks_of(const struct bats_schedule *s)
{
    double sum = 0;
    for (size_t i = 0; i < m->e.n_clusters; i++)
        sum += (double)(s->plan.machines[i] * s->held[i] + s->longer[i]) *
               (double)BATS_HOUR / m->runtimes[i].mean;
    return sum;
}

TEST(each_does_the_bag_for_what_its_windows_cost)
{
    draw_from(0);
    size_t longest = 0;
    for (int k = 0; k < 100; k++) {
        draw();
        list();
        assert_in_range(m->n, 1, NAMES);
        longest = m->n > longest ? m->n : longest;
        for (size_t i = 0; i < m->n; i++) {
            assert_true(m->list[i].plan.feasible);
            assert_int_equal(m->list[i].plan.cost, cost_of(&m->list[i]));
            assert_true(tasks_of(&m->list[i]) >= (double)m->e.n_tasks);
            assert_true(m->list[i].cost_high >= m->list[i].plan.cost);
            assert_true(m->list[i].makespan.high >=
                        m->list[i].makespan.estimate);
        }
        assert_int_equal(m->list[m->n - 1].offer, BATS_OFFER_FASTEST);
    }
    assert_int_equal(longest, NAMES);
}

/* The upper bound pays for a window that was left over, for all tasks at the
 * upper bounds of their means, wherever they are cheapest, and for all machines
 * until the upper bound of the end. */
TEST(upper_bounds_pay_for_what_takes_long)
{
    draw_from(0);
    int longer = 0, fewer = 0;
    for (int k = 0; k < 300; k++) {
        double least = INFINITY;
        draw();
        for (size_t i = 0; i < m->e.n_clusters; i++)
            least = fmin(least, (double)m->clusters[i].charge *
                                    m->runtimes[i].mean_high);
        least *= (double)m->e.n_tasks / (double)BATS_HOUR;
        list();
        for (size_t i = 0; i < m->n; i++) {
            const struct bats_schedule *s = &m->list[i];
            int64_t last = (int64_t)ceil(s->makespan.high / (double)BATS_HOUR);
            double dearest = 0, all = 0;
            assert_int_equal(s->windows_high,
                             last > s->plan.windows ? last : s->plan.windows);
            longer += last > s->plan.windows;
            for (size_t c = 0; c < m->e.n_clusters; c++) {
                double charge = (double)m->clusters[c].charge;
                if (s->plan.machines[c] > 0)
                    dearest = fmax(dearest, charge);
                all += charge * ((double)s->plan.machines[c] *
                                     (double)(s->held[c] + s->windows_high -
                                              s->plan.windows) +
                                 s->longer[c]);
            }
            assert_true((double)s->cost_high + 1 >= all);
            assert_true((double)s->cost_high + 1 >=
                        (double)s->plan.cost + dearest);
            fewer += all < least;
            assert_true((double)s->cost_high >= least * 0.98);
        }
    }
    assert_true(longer > 30 && fewer > 3);
}

TEST(a_budget_gets_no_less_than_the_list_has_for_it)
{
    draw_from(0);
    for (int k = 0; k < 50; k++) {
        struct bats_schedule s;
        draw();
        list();
        bats_money least = m->list[0].plan.cost;
        bats_money step = (m->list[m->n - 1].plan.cost - least) / 8 + 1;
        assert_int_equal(bats_estimate_for_budget(&m->e, least / 2, &s, &err),
                         BATS_EBUDGET);
        for (bats_money budget = least, i = 0; i < 10; i++, budget += step) {
            assert_ok(bats_estimate_for_budget(&m->e, budget, &s, &err));
            assert_true(s.plan.feasible && s.plan.cost <= budget);
            assert_int_equal(s.budget, budget);
            assert_int_equal(s.plan.cost, cost_of(&s));
            assert_true(tasks_of(&s) >= (double)m->e.n_tasks);
            for (size_t j = 0; j < m->n && m->list[j].plan.cost <= budget; j++)
                assert_true(s.makespan.estimate <=
                            m->list[j].makespan.estimate);
        }
    }
}

TEST(every_name_is_a_schedule_of_the_list)
{
    draw_from(0);
    size_t fewer = 0;
    for (int k = 0; k < 100; k++) {
        draw();
        list();
        fewer += m->n < NAMES;
        for (size_t i = 0; i < NAMES; i++) {
            const struct bats_choice choice = {.offer = names[i]};
            struct bats_schedule s;
            size_t same = 0;
            assert_ok(bats_estimate_choose(&m->e, &choice, &s, &err));
            while (same < m->n && m->list[same].aim != s.aim)
                same++;
            assert_true(same < m->n);
            assert_int_equal(s.plan.cost, m->list[same].plan.cost);
        }
    }
    assert_true(fewer > 0);
}

/* 1000 tasks of 15 min on 32 machines at 3, or of a quarter of that on 32 at
 * 12: both cost 750 at least. In two windows the fast ones do 32 x 2 x 16 =
 * 1024, less half a task each: all of them for 768 is the soonest of the
 * cheapest. And nothing is faster than all machines. */
TEST(the_cheapest_does_not_wait_for_a_few_percent)
{
    *m = (struct market){
        .clusters = {{"slow", 3 * BATS_UNIT, 32},
                     {"fast", 12 * BATS_UNIT, 32}},
        .e = {.n_clusters = 2, .n_tasks = 1000, .window = BATS_HOUR}};
    m->e.clusters = m->clusters;
    m->e.runtimes = m->runtimes;
    m->runtimes[0] = bats_runtimes_given(15 * (double)BATS_MINUTE);
    m->runtimes[1] = bats_runtimes_given(3.75 * (double)BATS_MINUTE);
    list();
    assert_numbers("0 32 2", m->list[0].plan.machines[0],
                   m->list[0].plan.machines[1], m->list[0].held[1]);
    assert_int_equal(m->list[0].plan.cost, 768 * BATS_UNIT);
    assert_numbers("32 32", m->list[m->n - 1].plan.machines[0],
                   m->list[m->n - 1].plan.machines[1]);
}

/* ---- a job of a batch system ---- */

static void allocate(void)
{
    draw();
    m->e.plans = BATS_PLANS_ALLOCATION;
    m->e.heads = m->heads;
    for (size_t i = 0; i < m->e.n_clusters; i++)
        m->heads[i] = (struct bats_head){(uint32_t)(m->e.n_clusters - i),
                                         m->clusters[i].charge / 2};
}

static bool is_to_a_cent(bats_money amount, double exact)
{
    return fabs((double)amount - exact) <= 1e4 + 1;
}

/* For all machines and rank 0, which is with those of the last cluster in use,
 * for the time; to a cent. */
TEST(a_job_costs_what_it_holds_until_its_end)
{
    draw_from(0);
    size_t longest = 0;
    for (int k = 0; k < 100; k++) {
        allocate();
        list();
        longest = m->n > longest ? m->n : longest;
        for (size_t i = 0; i < m->n; i++) {
            double price = 0, head = 0, hours;
            for (size_t c = 0; c < m->e.n_clusters; c++) {
                price += m->list[i].plan.machines[c] *
                         (double)m->clusters[c].charge;
                if (m->list[i].plan.machines[c] > 0)
                    head = (double)m->clusters[c].charge / 2;
            }
            hours = m->list[i].makespan.estimate / (double)BATS_HOUR;
            assert_true(
                is_to_a_cent(m->list[i].plan.cost, (price + head) * hours));
            hours = m->list[i].makespan.high / (double)BATS_HOUR;
            assert_true(
                is_to_a_cent(m->list[i].cost_high, (price + head) * hours));
        }
    }
    assert_true(longest >= 4);
}

/* Nothing can be chosen but to stop: it is billed for what it has. */
TEST(a_job_that_runs_has_one_schedule)
{
    draw_from(0);
    for (int k = 0; k < 100; k++) {
        allocate();
        m->e.rate = 7 * BATS_UNIT;
        list();
        assert_int_equal(m->n, 1);
        assert_int_equal(m->list[0].offer, BATS_OFFER_FASTEST);
        for (size_t c = 0; c < m->e.n_clusters; c++)
            assert_int_equal(m->list[0].plan.machines[c], m->clusters[c].max);
        assert_true(is_to_a_cent(m->list[0].plan.cost,
                                 7e6 * m->list[0].makespan.estimate /
                                     (double)BATS_HOUR));
    }
}

/* A plan for 29 windows is worth nothing where five are left. */
TEST(nothing_is_offered_that_ends_after_the_job)
{
    draw_from(0);
    size_t fewer = 0;
    for (int k = 0; k < 100; k++) {
        draw();
        list();
        size_t all = m->n;
        m->e.until = (bats_time)m->list[m->n / 2].makespan.estimate + 1;
        list();
        fewer += m->n < all;
        for (size_t i = 0; i < m->n; i++)
            assert_true(m->list[i].makespan.estimate <= (double)m->e.until);
        /* The soonest end is offered if nothing is in time. */
        m->e.until = 1;
        list();
        assert_int_equal(m->n, 1);
        assert_int_equal(m->list[0].offer, BATS_OFFER_FASTEST);
    }
    assert_true(fewer > 0);
}

/* ---- promises ---- */

/* A deviation of a seventh of the mean; or a heavy tail: as much as that. */
static void set_up(uint64_t seed, bool heavy)
{
    draw_from(seed);
    set_up_world(&bats_policy_bats, TASKS, 0, 32, 3, 9, BATS_UNLIMITED);
    for (uint32_t i = 0; i < TASKS; i++)
        w->work[i] = (bats_time)((heavy ? gsl_ran_lognormal(rng, 2.36, 0.83)
                                        : 15 + gsl_ran_gaussian(rng, 2.236)) *
                                 (double)BATS_MINUTE);
    w->speed[1] = 4;
    w->o.watch.after = NULL; /* it would take most of the time */
    w->o.sched.tail = BATS_TAIL_STOCHASTIC_RANDOM;
    w->o.sched.seed = seed;
}

struct kept {
    int runs, whole;
    double cost, end; /* sums of kept / promised, of the whole ones */
};

static void play_schedule(struct kept *kept, enum bats_offer name)
{
    w->choice.offer = name;
    w->o.choice = &w->choice;
    play();
    const struct bats_schedule *s = w->sampled.chosen;
    assert_non_null(s);
    kept->runs++;
    if (w->status.finish == BATS_FINISH_ALL_DONE) {
        kept->whole++;
        kept->cost += (double)(w->status.charged - w->sampled.charged) /
                      (double)s->plan.cost;
        kept->end +=
            (double)(w->makespan - w->sampled.time) / s->makespan.estimate;
    }
}

/* Samples, then carries out what each name is, as `run --profile` does. */
static void keep(struct kept kept[NAMES], uint64_t seed, bool heavy)
{
    static uint8_t done[TASKS];
    static struct bats_observation seen[2 * TASKS];
    set_up(seed, heavy);
    w->o.sched.sampling.on = true;
    play();
    for (uint32_t t = 0; t < TASKS; t++)
        done[t] = bats_sched_has_result(w->sched, t) ? BATS_TASK_DONE
                                                     : BATS_TASK_PENDING;
    w->o.sched.earlier.state = done;
    w->o.sched.sampling.observations = seen;
    w->o.sched.sampling.n_observations = w->sampled.n_observations;
    assert_in_range(w->sampled.n_observations, 1, 2 * TASKS);
    memcpy(seen, w->sampled.observations,
           w->sampled.n_observations * sizeof *seen);
    for (size_t i = 0; i < NAMES; i++) {
        play_schedule(&kept[i], names[i]);
        bats_money most = w->sampled.chosen->cost_high;
        assert_end(.sample_cost = 0, .budget = most);
        assert_true(w->status.charged <= most);
    }
}

/* What is kept of a promise: this much of its cost and of its time, in this share
 * of the runs. */
static void expect_kept(const struct kept *kept, const double cost[2],
                        const double end[2], double whole)
{
    double paid = kept->cost / kept->whole, took = kept->end / kept->whole;
    assert_true(paid > cost[0] && paid < cost[1]);
    assert_true(took > end[0] && took < end[1]);
    assert_true(kept->whole >= whole * kept->runs);
}

/* Replicas of the last tasks end a bag sooner than is promised, if anything. */
TEST(promises_are_kept_on_average)
{
    for (int heavy = 0; heavy < 2; heavy++) {
        double most = heavy ? 1.15 : 1.03;
        struct kept kept[NAMES] = {{0}};
        for (uint64_t seed = 1; seed <= 100; seed++)
            keep(kept, seed, heavy);
        for (size_t i = 0; i < NAMES; i++)
            expect_kept(&kept[i], (double[]){0.95, most},
                        (double[]){0.88, most}, heavy ? 0.97 : 1);
    }
}

TEST_MAIN(NULL, NULL)
