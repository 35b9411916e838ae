/* See regression.h. */
#include "bats/regression.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_fit.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>

#define SURE 0.999 /* confidence that b0 is not 0 */
#define FLAT 1e-12 /* relative tolerance for equal runtimes */

static bool all_equal(const double *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (fabs(x[i] - x[0]) > FLAT * x[0])
            return false;
    return true;
}

/* b0 does not differ significantly from 0. */
static bool starts_at_origin(double b0, double variance, size_t n)
{
    return n > 2 &&
           fabs(b0) <= gsl_cdf_tdist_Pinv((1 + SURE) / 2, (double)n - 2) *
                           sqrt(variance);
}

struct bats_regression bats_regression_fit(const double *base,
                                           const double *other, size_t n)
{
    struct bats_regression line = {.ratio = true};
    double covariance[3], residues;
    if (!all_equal(base, n)) {
        gsl_fit_linear(base, 1, other, 1, n, &line.b0, &line.b1,
                       &covariance[0], &covariance[1], &covariance[2],
                       &residues);
        line.ratio =
            !(line.b1 > 0) || starts_at_origin(line.b0, covariance[0], n);
    }
    if (line.ratio) {
        line.b0 = 0;
        line.b1 = gsl_stats_mean(other, 1, n) / gsl_stats_mean(base, 1, n);
    }
    return line;
}

double bats_regression_apply(const struct bats_regression *line, double base)
{
    return fmax(line->b0 + line->b1 * base, 1);
}

double bats_regression_invert(const struct bats_regression *line, double other)
{
    return fmax((other - line->b0) / line->b1, 1);
}

struct bats_regression
bats_regression_compose(const struct bats_regression *to_j,
                        const struct bats_regression *to_k)
{
    return (struct bats_regression){
        .b0 = to_k->b0 - to_k->b1 * to_j->b0 / to_j->b1,
        .b1 = to_k->b1 / to_j->b1,
        .ratio = to_j->ratio || to_k->ratio,
    };
}
