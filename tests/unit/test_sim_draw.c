/* Random numbers against theory: means, deviations and quantiles from GSL's
 * distribution functions. The seeds are fixed; the tolerances are several
 * standard errors. */
#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "helpers/draw.h"
#include "sim/draw.h"
#include "util/hash.h"

#define N 100000

/* ---- runtimes ---- */

/* A distribution function of minutes, where it ends (or as good as), and its
 * moments. */
struct theory {
    const char *text;
    double (*below)(double minutes);
    double end, mean, deviation;
};

static double normal15(double x)
{
    return gsl_cdf_gaussian_P(x - 15, 2.236);
}

/* A sixth of the normal distribution is below 0, and drawn again. */
static double cut_normal(double x)
{
    double lost = gsl_cdf_gaussian_P(-1, 1);
    return (gsl_cdf_gaussian_P(x - 1, 1) - lost) / (1 - lost);
}

/* Mean 10 and deviation 5: sigma^2 = log(1 + 1/4). */
static double lognormal10(double x)
{
    double variance = log(1.25);
    return gsl_cdf_lognormal_P(x, log(10) - variance / 2, sqrt(variance));
}

/* Cut off at 45. */
static double levy12(double x)
{
    return erfc(sqrt(12 / (2 * fmin(x, 45)))) / erfc(sqrt(12 / 90.0));
}

static double uniform10_30(double x)
{
    return gsl_cdf_flat_P(x, 10, 30);
}

static double cut_cauchy(double x, double location)
{
    double low = gsl_cdf_cauchy_P(-location, 0.5);
    double high = gsl_cdf_cauchy_P(20 - location, 0.5);
    x = fmin(fmax(x, 0), 20);
    return (gsl_cdf_cauchy_P(x - location, 0.5) - low) / (high - low);
}

static double parts(double x)
{
    return 0.50 * cut_cauchy(x, 4) + 0.35 * cut_cauchy(x, 10.3) +
           0.12 * gsl_cdf_flat_P(x, 0, 20) +
           0.0178 * gsl_cdf_flat_P(x, 30, 35) +
           0.0122 * gsl_cdf_flat_P(x, 35, 45);
}

/* The moments of what is cut off are integrals; those of the mixture are the
 * thesis'. */
static const struct theory theories[] = {
    {"normal 15m 2.236m", normal15, 40, 15, 2.236},
    {"normal 1m 1m", cut_normal, 10, 1.287600, 0.793527},
    {"lognormal 10m 5m", lognormal10, 400, 10, 5},
    {"levy 12m 45m", levy12, 45, 14.795503, 11.128505},
    {"uniform 10m 30m", uniform10_30, 30, 20, 5.773503},
    {"mixture", parts, 45, 7.98, 6.27}};

static double *sample(const struct bats_draw *draw, size_t n)
{
    double *x = malloc(n * sizeof *x);
    draw_from(12);
    for (size_t i = 0; i < n; i++)
        x[i] = (double)bats_draw_next(draw, rng) / (double)BATS_MINUTE;
    gsl_sort(x, 1, n);
    return x;
}

/* As published, from the seed 0 on. */
TEST(numbers_are_those_of_splitmix64)
{
    assert_true(bats_mix(0) == UINT64_C(0xe220a8397b1dcdaf));
    assert_true(bats_mix(BATS_MIX_STEP) == UINT64_C(0x6e789e6aa1b965f4));
}

/* Tolerances: four standard errors of the mean (d / sqrt N), 2 % of the
 * deviation, and of the probability at each quantile five (0.5 / sqrt N). */
TEST(runtimes_are_distributed_as_in_theory)
{
    for (size_t k = 0; k < sizeof theories / sizeof *theories; k++) {
        const struct theory *t = &theories[k];
        struct bats_draw draw;
        assert_ok(bats_draw_parse(t->text, &draw, &err));
        double *x = sample(&draw, N);
        assert_near(gsl_stats_mean(x, 1, N), t->mean,
                    4 * t->deviation / sqrt(N));
        assert_near(gsl_stats_sd(x, 1, N), t->deviation, 0.02 * t->deviation);
        for (double p = 0.02; p < 1; p += 0.02)
            assert_near(
                t->below(gsl_stats_quantile_from_sorted_data(x, 1, N, p)), p,
                0.008);
        assert_true(x[0] > 0 && x[N - 1] <= t->end);
        free(x);
    }
}

TEST(the_mixture_has_two_modes_and_a_gap)
{
    struct bats_draw draw;
    int in[5] = {0};
    assert_ok(bats_draw_parse("mixture", &draw, &err));
    double *x = sample(&draw, N);
    for (int i = 0; i < N; i++) {
        in[0] += x[i] > 3.5 && x[i] < 4.5;
        in[1] += x[i] > 6.5 && x[i] < 7.5;
        in[2] += x[i] > 9.8 && x[i] < 10.8;
        in[3] += x[i] > 20 && x[i] < 30;
        in[4] += x[i] > 30;
    }
    assert_true(in[0] > 5 * in[1] && in[2] > 5 * in[1]);
    assert_int_equal(in[3], 0);
    assert_near(in[4], 0.03 * N, 5 * sqrt(0.03 * N));
    free(x);
}

TEST(measured_values_all_have_the_same_chance)
{
    static const bats_time values[] = {BATS_MINUTE, 2 * BATS_MINUTE,
                                       2 * BATS_MINUTE, 7 * BATS_MINUTE};
    const struct bats_draw draw = {
        .kind = BATS_DRAW_EMPIRICAL, .values = values, .n = 4};
    int ones = 0, twos = 0, sevens = 0;
    double *x = sample(&draw, N);
    for (int i = 0; i < N; i++) {
        ones += x[i] < 1.5;
        twos += x[i] > 1.5 && x[i] < 2.5;
        sevens += x[i] > 6.5;
    }
    assert_near(ones, 0.25 * N, 700);
    assert_near(twos, 0.5 * N, 800);
    assert_near(sevens, 0.25 * N, 700);
    free(x);
}

TEST(what_is_no_distribution_is_refused)
{
    static const char *const wrong[][2] = {
        {"", "invalid value ''; expected one of constant, normal,"},
        {"gauss 1m 1m",
         "invalid value 'gauss'; expected one of constant, normal,"},
        {"normal 15m", "'normal 15m' is not 'normal MEAN DEVIATION'"},
        {"normal 15m 1m 1m", "is not 'normal MEAN DEVIATION'"},
        {"mixture 1m", "'mixture 1m' is not 'mixture'"},
        {"constant 15q", "15q"},
        {"constant 0", "the first length of 'constant LENGTH' has to be"},
        {"normal 0 1m", "the first length of 'normal MEAN DEVIATION' has"},
        {"lognormal 0 1m", "the first length of 'lognormal MEAN DEVIATION'"},
        {"uniform 0 0", "the first length of 'uniform LOW HIGH' has to be"},
        {"uniform 3m 2m", "LOW is above HIGH"},
        {"levy 12m 0", "CUT has to be above 0"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bats_draw draw = {.n = 77};
        assert_says(bats_draw_parse(wrong[i][0], &draw, &err), BATS_EINPUT,
                    wrong[i][1]);
        assert_int_equal(draw.n, 77);
    }
}

/* ---- noise and losses ---- */

/* Standard error of the mean is d / sqrt(N) = 0.0032 d. */
TEST(noise_is_lognormal_with_mean_one)
{
    static const double deviations[] = {0.05, 0.3, 1};
    double *x = malloc(N * sizeof *x);
    assert_true(bats_draw_noise(1, 2, 3, 0) == 1);
    for (int k = 0; k < 3; k++) {
        double d = deviations[k], sigma = sqrt(log(1 + d * d));
        for (uint32_t i = 0; i < N; i++)
            x[i] = bats_draw_noise(5, i % 1000, i / 1000, d);
        assert_near(gsl_stats_mean(x, 1, N), 1, 0.015 * d);
        assert_near(gsl_stats_sd(x, 1, N), d, 0.05 * d);
        gsl_sort(x, 1, N);
        for (double p = 0.05; p < 1; p += 0.05)
            assert_near(gsl_cdf_lognormal_P(
                            gsl_stats_quantile_from_sorted_data(x, 1, N, p),
                            -sigma * sigma / 2, sigma),
                        p, 0.008);
    }
    free(x);
}

TEST(noise_of_neighbours_is_unrelated)
{
    double *x = malloc(N * sizeof *x), *y = malloc(N * sizeof *y);
    for (uint32_t i = 0; i < N; i++)
        x[i] = bats_draw_noise(5, i, 0, 0.1);
    for (uint32_t k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < N; i++)
            y[i] = bats_draw_noise(k == 0 ? 6 : 5, k == 1 ? i + 1 : i, k == 2,
                                   0.1);
        /* Standard error 0.0032. */
        assert_near(gsl_stats_correlation(x, 1, y, 1, N), 0, 0.013);
    }
    free(x);
    free(y);
}

/* Quantiles of the exponential distribution; the first machine of many seeds
 * and many machines of one seed. */
TEST(losses_are_exponential)
{
    double *x = malloc(N * sizeof *x);
    for (int by_seed = 0; by_seed < 2; by_seed++) {
        for (uint32_t i = 0; i < N; i++)
            x[i] = (double)bats_draw_loss(by_seed ? i : 9, by_seed ? 0 : i,
                                          100 * BATS_HOUR) /
                   (double)BATS_HOUR;
        assert_near(gsl_stats_mean(x, 1, N), 100, 1.3);
        assert_near(gsl_stats_sd(x, 1, N), 100, 2);
        gsl_sort(x, 1, N);
        for (double p = 0.05; p < 1; p += 0.05)
            assert_near(
                gsl_cdf_exponential_P(
                    gsl_stats_quantile_from_sorted_data(x, 1, N, p), 100),
                p, 0.008);
    }
    free(x);
}

/* The bag of benchmarks/das/bag.c: one Gaussian after the other. */
TEST(the_normal_bag_is_that_of_the_emulation)
{
    struct bats_draw draw;
    gsl_rng *ours = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng *theirs = gsl_rng_alloc(gsl_rng_mt19937);
    assert_ok(bats_draw_parse("normal 15m 2.236068m", &draw, &err));
    gsl_rng_set(ours, 7);
    gsl_rng_set(theirs, 7);
    for (int i = 0; i < 1000; i++) {
        double minutes = 15 + gsl_ran_gaussian(theirs, sqrt(5.0));
        assert_near((double)bats_draw_next(&draw, ours),
                    minutes * (double)BATS_MINUTE, 1000);
    }
    assert_ok(bats_draw_parse("constant 15m", &draw, &err));
    for (int i = 0; i < 10; i++)
        assert_int_equal(bats_draw_next(&draw, ours), 15 * BATS_MINUTE);
    gsl_rng_free(ours);
    gsl_rng_free(theirs);
}

TEST_MAIN(NULL, NULL)
