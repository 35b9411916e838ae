/* See interval.h. */
#include "bats/interval.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NORMAL_BELOW 10 /* with fewer runtimes, normal bounds */

struct bats_runtimes bats_runtimes_given(double mean)
{
    return (struct bats_runtimes){
        .mean = mean, .mean_low = mean, .mean_high = mean};
}

/* Sums of powers of the distances from a centre. */
struct moments {
    double second, third, fourth;
};

static struct moments around(const double *sample, uint32_t n, double centre)
{
    struct moments m = {0};
    for (uint32_t i = 0; i < n; i++) {
        double d = sample[i] - centre;
        m.second += d * d;
        m.third += d * d * d;
        m.fourth += d * d * d * d;
    }
    return m;
}

/* Runtimes are positive, so the lower bound is at least a tenth of the mean,
 * however widely the sample scatters. */
static double low_enough(double low, double mean)
{
    return fmax(low, mean / 10);
}

struct bats_runtimes bats_runtimes_normal(const double *sample, uint32_t n,
                                          double p)
{
    struct bats_runtimes r = bats_runtimes_given(gsl_stats_mean(sample, 1, n));
    r.n = n;
    r.longest = gsl_stats_max(sample, 1, n);
    if (n < 2)
        return r;
    r.deviation = sqrt(around(sample, n, r.mean).second / n);
    double half =
        gsl_cdf_tdist_Pinv((1 + p) / 2, n - 1) * r.deviation / sqrt(n);
    r.mean_low = low_enough(r.mean - half, r.mean);
    r.mean_high = r.mean + half;
    r.deviation_low =
        r.deviation * sqrt(n / gsl_cdf_chisq_Pinv((1 + p) / 2, n - 1));
    r.deviation_high =
        r.deviation * sqrt(n / gsl_cdf_chisq_Pinv((1 - p) / 2, n - 1));
    return r;
}

/* T with g(T) = x. */
static double hall_inverse(double x, double skewness, double n)
{
    if (fabs(skewness) < 1e-6)
        return x;
    return 3 / skewness * (cbrt(1 + skewness * (x - skewness / (6 * n))) - 1);
}

static void bound_mean(struct bats_runtimes *r, const struct moments *m,
                       double p)
{
    double n = r->n, biased = m->second / n;
    double skewness = m->third / n / (biased * sqrt(biased));
    double s = sqrt(m->second / (n - 1));
    double x = gsl_cdf_tdist_Pinv((1 + p) / 2, n - 1) / sqrt(n);
    r->mean_low =
        low_enough(r->mean - s * hall_inverse(x, skewness, n), r->mean);
    r->mean_high = r->mean - s * hall_inverse(-x, skewness, n);
}

/* Bounds the deviation; `sorted` is ascending. */
static void bound_deviation(struct bats_runtimes *r, const double *sorted,
                            const struct moments *m, double p)
{
    double n = r->n, z = gsl_cdf_ugaussian_Pinv((1 + p) / 2);
    uint32_t cut = (uint32_t)(n / (2 * sqrt(n - 4)));
    double trimmed = gsl_stats_mean(sorted + cut, 1, r->n - 2 * cut);
    double fourth = around(sorted, r->n, trimmed).fourth;
    double kurtosis = n * fourth / (m->second * m->second);
    double c = n / (n - z);
    double se = c * sqrt((kurtosis - (n - 3) / n) / (n - 1));
    double centre = log(c * m->second / (n - 1));
    r->deviation_low = exp((centre - z * se) / 2);
    r->deviation_high = exp((centre + z * se) / 2);
}

/* Allows for one more task far longer than the longest. */
static void allow_for_tail(struct bats_runtimes *r, const double *sorted,
                           const struct moments *m)
{
    uint32_t n = r->n;
    double median = gsl_stats_median_from_sorted_data(sorted, 1, n);
    double d = r->longest + 3 * (r->longest - median) - r->mean;
    r->mean_high = fmax(r->mean_high, r->mean + d / (n + 1));
    r->deviation_high =
        fmax(r->deviation_high, sqrt((m->second + d * d * n / (n + 1)) / n));
}

static void keep(struct bats_runtimes *r, const double *sorted)
{
    r->n_kept = r->n < BATS_RUNTIMES_KEPT ? r->n : BATS_RUNTIMES_KEPT;
    for (uint32_t i = 0; i < r->n_kept; i++)
        r->kept[i] = sorted[(2 * i + 1) * (uint64_t)r->n / (2 * r->n_kept)];
    r->kept[r->n_kept - 1] = sorted[r->n - 1];
}

struct bats_runtimes bats_runtimes_of(const double *sample, uint32_t n,
                                      double p)
{
    struct bats_runtimes r = bats_runtimes_normal(sample, n, p);
    double *sorted = malloc(n * sizeof *sorted);
    if (!sorted)
        return r;
    memcpy(sorted, sample, n * sizeof *sorted);
    gsl_sort(sorted, 1, n);
    keep(&r, sorted);
    if (n >= NORMAL_BELOW && r.deviation > r.mean * 1e-12) {
        struct moments m = around(sorted, n, r.mean);
        bound_mean(&r, &m, p);
        bound_deviation(&r, sorted, &m, p);
        allow_for_tail(&r, sorted, &m);
    }
    free(sorted);
    return r;
}

/* ---- the makespan to expect ---- */

#define STEPS 100 /* of the integral */

/* G of interval.h. */
static double rest_is_less(const struct bats_runtimes *r, double x)
{
    double part = 0, whole = 0;
    for (uint32_t i = 0; i < r->n_kept; i++) {
        part += fmin(r->kept[i], x);
        whole += r->kept[i];
    }
    return part / whole;
}

/* (*) of interval.h without Te; r, slots: the clusters in use. */
static double expected_delay(const struct bats_runtimes *r,
                             const double *slots, size_t n, double gamma)
{
    double longest = 0, done = 0, last = 0;
    for (size_t k = 0; k < n; k++) {
        double sum = 0, squares = 0;
        for (uint32_t i = 0; slots[k] > 0 && i < r[k].n_kept; i++) {
            sum += r[k].kept[i];
            squares += r[k].kept[i] * r[k].kept[i];
            longest = fmax(longest, r[k].kept[i]);
        }
        if (sum > 0)
            done += slots[k] * squares / (2 * sum) / r[k].mean / gamma;
    }
    for (int step = 0; step < STEPS; step++) {
        double x = longest * (step + 0.5) / STEPS, all = 1;
        for (size_t k = 0; k < n; k++)
            if (slots[k] > 0 && r[k].n_kept > 0)
                all *= pow(rest_is_less(&r[k], x), slots[k]);
        last += (1 - all) * longest / STEPS;
    }
    return fmax(last - done, 0);
}

/* ---- its bounds ---- */

/* Sums of 4.10 and 4.11 for one choice of bounds. */
struct sums {
    double slots;     /* sum(a) */
    double gamma;     /* sum(a / mu) */
    double times;     /* sum(a mu) */
    double variances; /* sum(a sigma^2 / mu) */
};

struct bats_prediction
bats_interval_makespan(const struct bats_runtimes *runtimes,
                       const double *slots, size_t n, double n_tasks, double p)
{
    double estimate = 0;
    struct sums low = {0}, high = {0}; /* at the bounds of mu_k; sigma_k at its
                                          upper bound in both */
    for (size_t k = 0; k < n; k++) {
        const struct bats_runtimes *r = &runtimes[k];
        if (r->mean <= 0 || slots[k] <= 0)
            continue;
        double variance = r->deviation_high * r->deviation_high;
        estimate += slots[k] / r->mean;
        low.gamma += slots[k] / r->mean_low;
        high.gamma += slots[k] / r->mean_high;
        high.slots += slots[k];
        high.times += slots[k] * r->mean_high;
        low.variances += slots[k] * variance / r->mean_low;
    }
    double s1 = high.times / high.gamma;
    double s2 = low.variances / high.gamma;
    double s3 = high.slots * high.slots / (low.gamma * low.gamma);
    double sigma = sqrt(fmax(s1 + s2 - s3, 0)) / high.slots;
    double swing = gsl_cdf_ugaussian_Pinv(p) * sqrt(n_tasks) * sigma;
    struct bats_prediction m = {
        .low = fmax(n_tasks / low.gamma - swing, 0),
        .least = n_tasks / estimate,
        .busy = n_tasks / high.gamma + swing,
        .rate = estimate,
    };
    m.estimate = m.least + expected_delay(runtimes, slots, n, m.rate);
    m.high = fmax(m.busy, m.estimate);
    for (size_t k = 0; k < n; k++)
        if (runtimes[k].mean > 0 && slots[k] > 0)
            m.high = fmax(m.high, bats_interval_end(&m, &runtimes[k]));
    return m;
}

double bats_interval_end(const struct bats_prediction *makespan,
                         const struct bats_runtimes *runtimes)
{
    double share = 1 / (runtimes->mean * makespan->rate);
    return makespan->busy + runtimes->longest * fmax(1 - share, 0);
}
