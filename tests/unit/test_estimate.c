/* estimate: the schedules that the thesis prints (table 3.2, chapter 6), and
 * budgets, deadlines and names. */
#include <math.h>

#include "bats/estimate.h"
#include "helpers/test.h"
#include "util/text.h"

#define CENTS(x) ((bats_money)(x)*10000)
#define MINUTES(x) ((x)*60e6)

/* The estimator and what it points to. */
struct scenario {
    struct bats_cluster clusters[3];
    struct bats_runtimes runtimes[3];
    struct bats_estimator e;
};

static void add(struct scenario *s, const char *name, double charge,
                uint32_t max, double minutes)
{
    struct bats_cluster *c = &s->clusters[s->e.n_clusters];
    snprintf(c->name, sizeof c->name, "%s", name);
    c->charge = (bats_money)llround(charge * 1e6);
    c->max = max;
    s->runtimes[s->e.n_clusters++] = bats_runtimes_given(MINUTES(minutes));
    s->e.window = BATS_HOUR;
}

/* Once the scenario has its place. */
static const struct bats_estimator *estimator(struct scenario *s)
{
    s->e.plans = BATS_PLANS_CONFIGURATIONS;
    s->e.clusters = s->clusters;
    s->e.runtimes = s->runtimes;
    return &s->e;
}

/* The schedule begins so, in words: its name, its budget, the machines of each
 * cluster and their windows; the tasks that do not fit; and what its cushion
 * pays, if it is planned again, for what. */
static void expect(const struct bats_schedule *s, const char *begins)
{
    char text[256], amount[BATS_UNITS_TEXT];
    const struct bats_plan *p = &s->plan;
    snprintf(text, sizeof text, "%s %s: %u %u %u for %lld, delta %lld",
             bats_offer_name(s->offer), bats_money_format(amount, s->budget),
             p->machines[0], p->machines[1], p->machines[2],
             (long long)p->windows, (long long)s->delta_n);
    bats_append(text, sizeof text, ", cushion %s",
                bats_money_format(amount, s->cushion));
    p = &s->raised;
    if (s->refits)
        bats_append(text, sizeof text, ": %u %u %u for %lld at %s",
                    p->machines[0], p->machines[1], p->machines[2],
                    (long long)p->windows, bats_money_format(amount, p->cost));
    if (!s->plan.feasible || strncmp(text, begins, strlen(begins)) != 0)
        fail_msg("'%s' is not '%s'", text, begins);
}

static void make_offers(struct scenario *s,
                        struct bats_schedule offers[BATS_OFFERS])
{
    assert_ok(bats_estimate_offers(estimator(s), offers, NULL, &err));
}

/* All that the thesis prints, by offer; NULL: not this one. */
static void expect_all(struct scenario s, const char *const *printed)
{
    struct bats_schedule offers[BATS_OFFERS];
    make_offers(&s, offers);
    for (int i = 0; i < BATS_OFFERS; i++)
        if (printed[i] != NULL)
            expect(&offers[i], printed[i]);
}

/* ---- thesis, table 3.2 ---- */

/* At 3, and at this charge. */
static struct scenario two(uint64_t n_tasks, double charge, double t_0,
                           double t_1)
{
    struct scenario s = {.e = {.n_tasks = n_tasks}};
    add(&s, "cluster0", 3, 32, t_0);
    add(&s, "cluster1", charge, 32, t_1);
    return s;
}

/*
 * The thesis prints neither the tasks that are left nor the T_i, but they can
 * be told from what it does print. S3-4: cluster1 at 9 is 4 times as fast as
 * cluster0 at 3.
 *   - Bmin 513 is 57 windows of cluster1: 56 x 60 < N T_1 <= 57 x 60.
 *   - (1, 28) for 2 windows has delta-N = 14: N = 14 + 28 floor(120 / T_1) +
 *     floor(120 / T_0), which is 918 if T_1 is at most 3.75, when N T_1 would
 *     be above 57 x 60; and 889 up to T_1 = 3.87.
 *   - (1, 28) has to suffice: 889 <= 120 (28 / T_1 + 1 / T_0).
 * So N = 889 and 3.7796 < T_1 <= 3.8132.
 */
#define S3_4(t_1) two(889, 9, 4 * (t_1), t_1)

/* "discovers a delta-N = 14 and indicates that a 2 % increase would render it
 * negative": (0, 29); 10.26 is printed as 11. 1.2 x 513 = 615.6 is printed as
 * 615, and 0.8 x 768 = 614.4 rounded up. */
TEST(table_3_2_s3_4_is_met)
{
    static const char *const printed[BATS_OFFERS] = {
        [BATS_OFFER_CHEAPEST] = "cheapest 513: 1 28 0 for 2, delta 14, "
                                "cushion 10.26: 0 29 0 for 2 at 522",
        [BATS_OFFER_CHEAPEST_20] = "cheapest+20% 615.6: 6 32 0 for 2, delta -",
        [BATS_OFFER_FASTEST_20] = "fastest-20% 614.4: 6 32 0 for 2, delta -",
        [BATS_OFFER_FASTEST] = "fastest 768: 32 32 0 for 2, delta -",
    };
    for (double t = 3.7797; t <= 3.8132; t += 0.0016) {
        struct scenario s = S3_4(t);
        struct bats_schedule offers[BATS_OFFERS];
        expect_all(s, printed);
        make_offers(&s, offers);
        for (int i = BATS_OFFER_CHEAPEST_20; i < BATS_OFFERS; i++)
            assert_int_equal(offers[i].cushion, 0);
    }
}

/*
 * S4-1: cluster1 at 12 is as fast as cluster0 at 3.
 *   - (32, 17) for 5 windows has delta-N = 32: N = 32 + 49 floor(300 / T),
 *     which is 963 for 15 < T <= 15.78 (and above 1000 for 15).
 *   - Bmin 732 is 244 windows of cluster0: 243 x 60 < 963 T <= 244 x 60.
 * So N = 963 and 15.1402 < T <= 15.2025.
 */
#define S4_1(t) two(963, 12, t, t)

/* 1.2 x 732 is printed as 872, which gives the same. "In 1 % increments from 80 %
 * of Bfastest, a new schedule at 0.85": 1632; printed as 1633, and so is the
 * cushion as 97. "A cushion of $9 (3 machines from cluster1 running for at most
 * one more hour)": the thesis counts clusters from 1 here. */
TEST(table_3_2_s4_1_is_met)
{
    static const char *const printed[BATS_OFFERS] = {
        [BATS_OFFER_CHEAPEST] = "cheapest 732: 4 0 0 for 61, ",
        [BATS_OFFER_CHEAPEST_20] = "cheapest+20% 878.4: 32 1 0 for 8, ",
        [BATS_OFFER_FASTEST_20] = "fastest-20% 1536: 32 17 0 for 5, delta 32, "
                                  "cushion 96: 32 19 0 for 5 at ",
        [BATS_OFFER_FASTEST] = "fastest 1920: 32 32 0 for 4, delta 3, "
                               "cushion 9",
    };
    for (double t = 15.1403; t <= 15.2025; t += 0.0031) {
        struct scenario s = S4_1(t);
        struct bats_schedule offers[BATS_OFFERS], other;
        expect_all(s, printed);
        assert_ok(bats_estimate_for_budget(estimator(&s), CENTS(87200), &other,
                                           &err));
        expect(&other, " 872: 32 1 0 for 8, ");
        make_offers(&s, offers);
        assert_false(offers[BATS_OFFER_FASTEST].refits);
    }
}

/* ---- thesis, chapter 6 ---- */

static struct scenario ec2(uint64_t n_tasks, double small, double medium,
                           double large)
{
    struct scenario s = {.e = {.n_tasks = n_tasks}};
    add(&s, "m1.small", 0.08, 10, small);
    add(&s, "m1.medium", 0.16, 10, medium);
    add(&s, "m1.large", 0.32, 10, large);
    return s;
}

/* 5000 tasks, of which sampling has done 159. */
TEST(kohonen_list_is_met)
{
    static const char *const printed[BATS_OFFERS] = {
        [BATS_OFFER_CHEAPEST] = "cheapest 10.72: 2 0 0 for 67, ",
        /* 11.79 and 12.86 in print */
        [BATS_OFFER_CHEAPEST_10] = "cheapest+10% 11.792: 9 10 0 for 5, ",
        [BATS_OFFER_CHEAPEST_20] = "cheapest+20% 12.864: 10 10 0 for 5, ",
        [BATS_OFFER_FASTEST_20] = "fastest-20% 13.44: 10 10 3 for 4, ",
        [BATS_OFFER_FASTEST_10] = "fastest-10% 15.12: 10 10 4 for 4, ",
        [BATS_OFFER_FASTEST] = "fastest 16.8: 10 10 10 for 3, ",
    };
    expect_all(ec2(5000 - 159, 1.66, 0.86, 0.97), printed);
}

/*
 * 9000 tasks, of which sampling has done 1115. The T_i are printed as 0.29,
 * 0.15 and 0.08 minutes: too coarse for the cheapest schedule, of which the
 * exact answer would be (9, 2, 0) for 3 windows at the same 3.12. All six
 * agree for T_i that are rounded so and have the printed profitability, 0.96
 * and 0.90 of the small type's: 0.2945, 0.1534, 0.0818.
 */
TEST(sarsa_list_is_met)
{
    const char *printed[BATS_OFFERS] = {
        [BATS_OFFER_CHEAPEST] = "cheapest 3.12: 9 2 0 for 3, ",
        /* 3.43 and 3.74 in print */
        [BATS_OFFER_CHEAPEST_10] = "cheapest+10% 3.432: 10 10 3 for 1, ",
        [BATS_OFFER_CHEAPEST_20] = "cheapest+20% 3.744: 10 10 4 for 1, ",
        [BATS_OFFER_FASTEST_20] = "fastest-20% 4.48: 10 9 7 for 1, ",
        [BATS_OFFER_FASTEST_10] = "fastest-10% 5.04: 9 9 9 for 1, ",
        [BATS_OFFER_FASTEST] = "fastest 5.6: 10 10 10 for 1, ",
    };
    expect_all(ec2(9000 - 1115, 0.29, 0.15, 0.08), printed);
    printed[BATS_OFFER_CHEAPEST] = "cheapest 3.12: 3 0 0 for 13, ";
    for (double t = 0.2932; t < 0.295; t += 0.0004)
        expect_all(ec2(9000 - 1115, t, t / 2 / 0.96, t / 4 / 0.90), printed);
}

/* ---- budgets and deadlines ---- */

TEST(too_small_a_budget_names_the_least)
{
    struct scenario s = S4_1(15.15);
    struct bats_schedule schedule;
    bats_money least;
    s.e.currency = "SU";
    assert_refused(
        bats_estimate_for_budget(estimator(&s), CENTS(73199), &schedule, &err),
        BATS_EBUDGET,
        "963 tasks cannot be done for 731.99 SU; "
        "for 732 SU they can");
    assert_false(schedule.plan.feasible);
    assert_true(schedule.plan.cost <= CENTS(73199));
    assert_ok(bats_estimate_least_budget(estimator(&s), &least, &err));
    assert_int_equal(least, CENTS(73200));
    assert_ok(bats_estimate_for_budget(estimator(&s), CENTS(73200), &schedule,
                                       &err));
}

/* Alone a needs 6 windows of 4, b 6 windows of 3 and c, which does 5 tasks in
 * a window of 14, two of them: 24, 18, 28. Together b and c need only one. */
TEST(least_budget_may_take_two_clusters)
{
    struct scenario s = {.e = {.n_tasks = 6}};
    bats_money least;
    add(&s, "a", 4, 1, 60);
    add(&s, "b", 3, 1, 60);
    add(&s, "c", 14, 1, 12);
    assert_ok(bats_estimate_least_budget(estimator(&s), &least, &err));
    assert_int_equal(least, CENTS(1700));
}

/* 963 tasks of 15.15 minutes in 4 h: 60.8 machines; 61 of them are 32 of 3
 * and 29 of 12: 444 a window. In 3 h 48 min all 64 machines. */
TEST(deadline_gets_the_cheapest)
{
    struct scenario s = S4_1(15.15);
    struct bats_schedule schedule;
    assert_ok(bats_estimate_for_deadline(estimator(&s), 4 * BATS_HOUR,
                                         &schedule, &err));
    expect(&schedule, " 1776: 32 29 0 for 4, ");
    assert_int_equal(schedule.budget, schedule.plan.cost);
    /* 963 x 15.15 / 64 = 227.96 minutes */
    assert_ok(bats_estimate_for_deadline(estimator(&s), 228 * BATS_MINUTE,
                                         &schedule, &err));
    assert_int_equal(schedule.plan.machines[1], 32);
    assert_refused(bats_estimate_for_deadline(estimator(&s), 227 * BATS_MINUTE,
                                              &schedule, &err),
                   BATS_EDEADLINE,
                   "963 tasks cannot be done in 3h47m; with "
                   "all machines they take 3h48m");
    assert_int_equal(schedule.plan.machines[1], 32);
}

/* ---- corners ---- */

TEST(more_machines_than_tasks_are_not_offered)
{
    struct scenario s = {.e = {.n_tasks = 3}};
    struct bats_schedule offers[BATS_OFFERS];
    add(&s, "a", 1, 100, 30);
    make_offers(&s, offers);
    assert_int_equal(offers[BATS_OFFER_FASTEST].plan.machines[0], 3);
    /* Two machines with two slots each are enough. */
    const double slots[] = {2};
    s.e.slots = slots;
    make_offers(&s, offers);
    assert_int_equal(offers[BATS_OFFER_FASTEST].plan.machines[0], 2);
}

/* A task of 150 minutes takes 3 windows of 60; 10 tasks on 5 machines take
 * two rounds. */
TEST(long_tasks_get_whole_windows)
{
    struct scenario s = {.e = {.n_tasks = 10}};
    struct bats_schedule schedule;
    add(&s, "a", 1, 20, 150);
    assert_ok(
        bats_estimate_for_budget(estimator(&s), CENTS(3000), &schedule, &err));
    expect(&schedule, " 30: 10 0 0 for 3, delta 0, ");
    assert_int_equal(schedule.plan.cost, CENTS(3000));
}

TEST(unknown_clusters_are_not_used)
{
    struct scenario s = S4_1(15.15);
    struct bats_schedule offers[BATS_OFFERS];
    s.runtimes[1].mean = 0;
    make_offers(&s, offers);
    assert_int_equal(offers[BATS_OFFER_FASTEST].plan.machines[0], 32);
    assert_int_equal(offers[BATS_OFFER_FASTEST].plan.machines[1], 0);
    s.runtimes[0].mean = 0;
    offers[0].delta_n = 77;
    assert_int_equal(bats_estimate_offers(estimator(&s), offers, NULL, &err),
                     BATS_EINPUT);
    assert_int_equal(offers[0].delta_n, 77);
}

/* 890 tasks of 15 +- 2 minutes on 64 machines: Te is 208.6 minutes. The mean
 * may be 15.63 (t_0.95(29) = 1.699), which makes 217.4. The deviation may be
 * 2.46 (one task more of 17 + 3 x 2 minutes), so sigma_agg^2 = (15.63^2 +
 * 15.63 / 14.37 x 2.46^2 - 14.37^2) / 64^2 = 0.104^2: 1.28 sqrt(890) 0.104 = 4
 * minutes more. And the last task, of 17, ends 16.7 minutes later: 238, in
 * window 4. With 1004 tasks Te is 235.3, in window 4 too, but not its bound. */
TEST(upper_bound_may_take_a_window_more)
{
    struct scenario s = S4_1(15);
    struct bats_schedule offers[BATS_OFFERS];
    double sample[30];
    for (int i = 0; i < 30; i++)
        sample[i] = MINUTES(i % 2 ? 17 : 13);
    s.runtimes[0] = s.runtimes[1] = bats_runtimes_of(sample, 30, 0.9);
    s.e.n_tasks = 890;
    make_offers(&s, offers);
    const struct bats_schedule *f = &offers[BATS_OFFER_FASTEST];
    assert_int_equal(f->plan.windows, 4);
    assert_int_equal(f->windows_high, 4);
    assert_int_equal(f->cost_high, CENTS(192000));
    assert_true(fabs(f->makespan.high - MINUTES(238.1)) < MINUTES(0.2));
    s.e.n_tasks = 1004;
    make_offers(&s, offers);
    assert_int_equal(f->plan.windows, 4);
    assert_int_equal(f->windows_high, 5);
    assert_int_equal(f->cost_high, CENTS(240000));
    assert_true(f->is_bounded);
    s.runtimes[1].is_guess = true; /* one of its clusters is enough */
    make_offers(&s, offers);
    assert_true(f->plan.machines[1] > 0);
    assert_false(f->is_bounded);
}

/* ---- names ---- */

TEST(each_policy_has_its_names)
{
    static const char *const names[2][BATS_OFFERS + 1] = {
        [BATS_PLANS_CONFIGURATIONS] = {"cheapest", "cheapest+10%",
                                       "cheapest+20%", "fastest-20%",
                                       "fastest-10%", "fastest"},
        [BATS_PLANS_WINDOWS] = {"cheapest", "cheaper", "balanced", "faster",
                                "fastest"}};
    const char *const bad[] = {"",         "1",  "cheap",       "cheapest ",
                               "fastest-", "11", "cheapest+30%"};
    struct bats_choice choice = {.offer = BATS_OFFER_NONE};

    for (int plans = 0; plans < 2; plans++) {
        enum bats_plans mine = (enum bats_plans)plans;
        enum bats_plans other = (enum bats_plans) !plans;
        for (size_t i = 0; names[plans][i]; i++) {
            const char *name = names[plans][i];
            bool both =
                strcmp(name, "cheapest") == 0 || strcmp(name, "fastest") == 0;
            assert_ok(bats_choice_parse(mine, name, &choice, &err));
            assert_string_equal(bats_offer_name(choice.offer), name);
            assert_int_equal(bats_choice_parse(other, name, &choice, &err),
                             both ? 0 : BATS_EINPUT);
        }
        choice.offer = BATS_OFFER_NONE;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
            assert_int_equal(bats_choice_parse(mine, bad[i], &choice, &err),
                             BATS_EINPUT);
        assert_int_equal(choice.offer, BATS_OFFER_NONE); /* untouched */
        assert_non_null(strstr(err.text, names[plans][1]));
    }
}

TEST(choice_gets_its_schedule)
{
    struct scenario s = S4_1(15.15);
    struct bats_schedule schedule;
    struct bats_choice choice = {.offer = BATS_OFFER_FASTEST_20};
    assert_ok(bats_estimate_choose(estimator(&s), &choice, &schedule, &err));
    expect(&schedule, "fastest-20% 1536: 32 17 0 for 5, ");
    choice = (struct bats_choice){.offer = BATS_OFFER_DEADLINE,
                                  .deadline = 4 * BATS_HOUR};
    assert_ok(bats_estimate_choose(estimator(&s), &choice, &schedule, &err));
    assert_int_equal(schedule.plan.machines[1], 29);
    /* With one cluster of equal windows 80 % of the fastest is too little. */
    s.e.n_clusters = 1;
    choice = (struct bats_choice){.offer = BATS_OFFER_FASTEST_20};
    assert_int_equal(
        bats_estimate_choose(estimator(&s), &choice, &schedule, NULL),
        BATS_EBUDGET);
}

TEST_MAIN(NULL, NULL)
