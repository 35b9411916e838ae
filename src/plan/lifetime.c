/* lifetime: machines that may be reclaimed. See bats/lifetime.h. */
#include "bats/lifetime.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

bats_time bats_survival_quantile(enum bats_survival survival, double a,
                                 double b, double u)
{
    double time = INFINITY;
    switch (survival) {
    case BATS_SURVIVAL_ALL:
    case BATS_SURVIVAL_TRACE:
        break;
    case BATS_SURVIVAL_EXPONENTIAL:
        time = -log1p(-u) * a;
        break;
    case BATS_SURVIVAL_WEIBULL:
        time = a * pow(-log1p(-u), 1 / b);
        break;
    case BATS_SURVIVAL_LOGNORMAL:
        time = a * exp(b * gsl_cdf_ugaussian_Pinv(u));
        break;
    }
    return time < (double)BATS_LONGEST ? (bats_time)time : BATS_NEVER;
}

/* Fraction of a trace's ages up to this one. */
static double counted(const struct bats_lifetime *l, bats_time age)
{
    uint32_t n = 0;
    while (n < l->n_ages && l->age[n] <= age)
        n++;
    return l->n_ages > 0 ? (double)n / l->n_ages : 0;
}

double bats_lifetime_cdf(const struct bats_lifetime *l, bats_time age)
{
    double x = (double)age / l->a, p = 0;
    if (age < l->guaranteed || age <= 0)
        return 0;
    switch (l->survival) {
    case BATS_SURVIVAL_ALL:
        break;
    case BATS_SURVIVAL_EXPONENTIAL:
        p = -expm1(-x);
        break;
    case BATS_SURVIVAL_WEIBULL:
        p = -expm1(-pow(x, l->b));
        break;
    case BATS_SURVIVAL_LOGNORMAL:
        p = 0.5 * erfc(-log(x) / l->b / M_SQRT2);
        break;
    case BATS_SURVIVAL_TRACE:
        p = counted(l, age);
        break;
    }
    return p * l->share;
}

bats_time bats_lifetime_draw(const struct bats_lifetime *l, double u)
{
    if (l->survival == BATS_SURVIVAL_ALL || u >= l->share)
        return BATS_NEVER;
    bats_time age =
        l->survival == BATS_SURVIVAL_TRACE
            ? l->age[(size_t)(u / l->share * l->n_ages)]
            : bats_survival_quantile(l->survival, l->a, l->b, u / l->share);
    return age > l->guaranteed ? age : l->guaranteed;
}
