/* Random numbers against theory: means, deviations and quantiles from GSL's
 * distribution functions. The seeds are fixed; the tolerances are several
 * standard errors. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>

#include "sim/draw.h"

#define N 100000

static void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.9g is not within %.3g of %.9g", value, tolerance,
                 expected);
}

/* Standard error of the mean is d / sqrt(N) = 0.0032 d. */
static void noise_is_lognormal_with_mean_one(void **state)
{
    (void)state;
    static const double deviations[] = {0.05, 0.3, 1};
    double *x = malloc(N * sizeof *x);
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

static void noise_of_neighbours_is_unrelated(void **state)
{
    (void)state;
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

static void no_deviation_is_no_noise(void **state)
{
    (void)state;
    assert_true(bats_draw_noise(1, 2, 3, 0) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(noise_is_lognormal_with_mean_one),
        cmocka_unit_test(noise_of_neighbours_is_unrelated),
        cmocka_unit_test(no_deviation_is_no_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
