/* prior: what is believed of runtimes, and what becomes of it. */
#include <math.h>

#include "bats/prior.h"
#include "helpers/test.h"

#define S 1e6 /* a second */

/* Slow takes 400 s, fast 100 s, level and speeds off by 0.5 and 0.1. */
static const struct bats_prior two = {
    .mean = {400 * S, 100 * S}, .own = {0.1, 0.1}, .level = 0.5, .cv = 0.3};

static struct bats_belief update(const struct bats_prior *prior, double slow,
                                 double n_slow, double fast, double n_fast)
{
    const double mean[] = {slow * S, fast * S}, n[] = {n_slow, n_fast};
    struct bats_belief b;
    bats_prior_update(prior, 2, mean, n, 0.3, &b);
    return b;
}

TEST(without_results_it_is_as_it_was)
{
    struct bats_belief b = update(&two, 0, 0, 0, 0);
    assert_near(b.mean[0], 400 * S, 1);
    assert_near(b.mean[1], 100 * S, 1);
    assert_near(b.error[0], sqrt(0.26), 1e-9);
    assert_false(b.is_dropped);
    assert_true(bats_prior_is_there(&two, 2));
    assert_false(bats_prior_is_there(&two, 3));
}

/* By hand: e^2 = 0.09 / 9 = 0.01, v = 0.02, u = 50 x / (4 + 50), x = ln 1.5;
 * fast: u; slow: u + (x - u) / 2. */
TEST(results_of_one_cluster_tell_of_the_other)
{
    struct bats_belief b = update(&two, 600, 8, 0, 0);
    double x = log(1.5), u = 50 * x / 54;
    assert_near(b.mean[1], 100 * S * exp(u), 1);
    assert_near(b.mean[0], 400 * S * exp(u + (x - u) / 2), 1);
    assert_near(b.error[1], sqrt(0.01 + 1.0 / 54), 1e-9);
    assert_true(b.error[0] < b.error[1]);
}

/* A thousand results of a cluster that is not as fast as it was believed; an
 * error of 0.03 stays, which leaves 8 % of the weight to the belief. */
TEST(results_outweigh_it)
{
    struct bats_belief b = update(&two, 400, 1000, 130, 1000);
    assert_near(b.mean[0] / S, 400, 6);
    assert_near(b.mean[1] / S, 130, 6);
    assert_true(b.error[0] < 0.04 && b.error[1] < 0.04);
}

/* ln 5 = 1.6 is 3.0 deviations of sqrt(0.25 + 0.01 + 0.045) = 0.55; ln 10 is
 * 4.2 of them. */
TEST(a_first_result_far_outside_drops_the_level)
{
    struct bats_belief near = update(&two, 1500, 1, 0, 0);
    struct bats_belief far = update(&two, 4000, 1, 0, 0);
    assert_false(near.is_dropped);
    assert_true(near.mean[1] < 350 * S);
    assert_true(far.is_dropped);
    assert_near(far.mean[1] / S, 1000, 1e-3);
    assert_near(far.mean[0] / S, 4000, 1e-3);
}

TEST(without_a_level_only_relative_speeds_count)
{
    struct bats_prior speeds = two;
    speeds.level = INFINITY;
    struct bats_belief b = update(&speeds, 0, 0, 0, 0);
    assert_true(b.mean[0] == 0 && b.mean[1] == 0);
    assert_true(isinf(b.error[0]));
    b = update(&speeds, 8, 4, 0, 0);
    assert_near(b.mean[0] / S, 8, 1e-6);
    assert_near(b.mean[1] / S, 2, 1e-6);
}

/* ---- from the past ---- */

static struct bats_prior_row row(uint32_t bag, uint32_t kind, uint32_t place,
                                 double seconds)
{
    return (struct bats_prior_row){
        bag, kind, place, .tasks = 100, .mean = seconds * S, .cv = 0.2};
}

static struct bats_prior prior; /* what believe() has found, */
static uint32_t bags;           /* and from how many */

/* The belief about `kind`, on place 0 for 1 and place 1 for 4. */
static bool believe(const struct bats_prior_row *rows, size_t n, uint32_t kind)
{
    static const uint32_t place[] = {0, 1};
    static const double charge[] = {1e6, 4e6};
    struct bats_prior_past past;
    assert_ok(bats_prior_learn(rows, n, 3, &past, &err));
    bool known =
        bats_prior_of(&past, rows, n, kind, place, charge, 2, &prior, &bags);
    bats_prior_past_release(&past);
    return known;
}

static void expect_means(double first, double second, double tolerance)
{
    assert_near(prior.mean[0] / S, first, tolerance);
    assert_near(prior.mean[1] / S, second, tolerance);
}

TEST(speeds_are_those_of_all_kinds_and_levels_of_one)
{
    const struct bats_prior_row rows[] = {row(0, 7, 0, 30), row(0, 7, 1, 10),
                                          row(1, 5, 0, 600)};
    assert_true(believe(rows, 3, 5));
    assert_int_equal(bags, 1);
    expect_means(600, 200, 1e-3);
    assert_near(prior.level, 0.5, 1e-9);
    assert_near(prior.cv, 0.2, 1e-9);
    assert_true(believe(rows, 3, UINT32_MAX));
    assert_int_equal(bags, 0);
    assert_true(isinf(prior.level));
    assert_near(prior.mean[0] / prior.mean[1], 3, 1e-6);
}

TEST(what_nothing_is_known_of_is_not_believed)
{
    const struct bats_prior_row rows[] = {row(0, 7, 0, 30)};
    assert_false(believe(rows, 0, 7));
    assert_false(believe(rows, 1, 8));
}

/* Four times the charge: 4^0.6 times as fast, with another deviation. */
TEST(a_cluster_that_was_never_seen_is_as_fast_as_it_is_dear)
{
    const struct bats_prior_row rows[] = {row(0, 7, 0, 30)};
    assert_true(believe(rows, 1, 7));
    expect_means(30, 30 / pow(4, 0.6), 1e-3);
    assert_true(prior.own[1] > 2 * prior.own[0]);
}

TEST(of_clusters_that_were_never_seen_none_is_faster)
{
    const struct bats_prior_row rows[] = {row(0, 7, 2, 30)};
    assert_true(believe(rows, 1, 7));
    expect_means(30, 30, 1e-3);
}

/* One bag: 100 s. Then 110: off by ln 1.1. The level is (110 + 100 / 2) / 1.5
 * in logarithms; sqrt((0.25 + ln(1.1)^2) / 2). Bags that differ by 4 leave more
 * doubt than those that do not. */
TEST(how_far_a_level_is_trusted_is_learned)
{
    struct bats_prior_row rows[8];
    rows[0] = row(0, 7, 0, 100);
    rows[1] = row(1, 7, 0, 110);
    assert_true(believe(rows, 2, 7));
    assert_near(log(prior.mean[0] / S), (log(110) + log(100) / 2) / 1.5, 1e-6);
    assert_near(prior.level, sqrt((0.25 + log(1.1) * log(1.1)) / 2), 1e-6);
    for (uint32_t i = 0; i < 8; i++)
        rows[i] = row(i, 7, 0, 100);
    assert_true(believe(rows, 8, 7));
    assert_near(prior.level, 0.5 / sqrt(8), 1e-6);
    for (uint32_t i = 0; i < 8; i += 2)
        rows[i].mean *= 4;
    assert_true(believe(rows, 8, 7));
    assert_int_equal(bags, 8);
    assert_true(prior.level > 0.8);
}

/* Speeds from pairs that share a place: 0 to 2 by way of 1. */
TEST(clusters_are_compared_by_way_of_others)
{
    const struct bats_prior_row rows[] = {row(0, 7, 0, 40), row(0, 7, 2, 20),
                                          row(1, 8, 1, 30), row(1, 8, 2, 90)};
    assert_true(believe(rows, 4, 7));
    expect_means(40, 20.0 / 3, 0.1);
}

/* 3 tasks of 10 s and 1 of 50 s, with levels 0.5 and 0.1; a fifth task of which
 * nothing is known counts as their mean, but may be anything. */
TEST(several_kinds_are_mixed_by_their_numbers)
{
    struct bats_prior kinds[3] = {
        {.mean = {10 * S, 5 * S}, .own = {0.1, 0.3}, .level = 0.5, .cv = 1},
        {.mean = {50 * S, 25 * S}, .own = {0.1, 0.3}, .level = 0.1, .cv = 1}};
    const double weight[] = {3, 1, 1};
    struct bats_prior mix;
    bats_prior_mix(kinds, weight, 2, 2, &mix);
    assert_near(mix.mean[0] / S, 20, 1e-6);
    assert_near(mix.mean[1] / S, 10, 1e-6);
    assert_near(mix.own[1], 0.3, 1e-9);
    assert_near(mix.level, sqrt(0.19), 1e-9);
    bats_prior_mix(kinds, weight, 3, 2, &mix);
    assert_near(mix.mean[0] / S, 20, 1e-6);
    assert_near(mix.level, sqrt(0.19) + 0.2, 1e-9);
}

TEST_MAIN(NULL, NULL)
