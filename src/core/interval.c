/* See interval.h. */
#include "bats/interval.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

struct bats_runtimes bats_runtimes_given(double mean)
{
    return (struct bats_runtimes){
        .mean = mean, .mean_low = mean, .mean_high = mean};
}

struct bats_runtimes bats_runtimes_of(const double *sample, uint32_t n,
                                      double p)
{
    double sum = 0, squares = 0;

    for (uint32_t i = 0; i < n; i++)
        sum += sample[i];
    struct bats_runtimes r = bats_runtimes_given(sum / n);
    r.n = n;
    if (n < 2)
        return r;
    for (uint32_t i = 0; i < n; i++)
        squares += (sample[i] - r.mean) * (sample[i] - r.mean);
    r.deviation = sqrt(squares / n);
    double half =
        gsl_cdf_tdist_Pinv((1 + p) / 2, n - 1) * r.deviation / sqrt(n);
    /* No task takes less than nothing. A sample that scatters so much that
     * the mean could be 0 says next to nothing: a tenth is low enough. */
    r.mean_low = fmax(r.mean - half, r.mean / 10);
    r.mean_high = r.mean + half;
    r.deviation_low =
        r.deviation * sqrt(n / gsl_cdf_chisq_Pinv((1 + p) / 2, n - 1));
    r.deviation_high =
        r.deviation * sqrt(n / gsl_cdf_chisq_Pinv((1 - p) / 2, n - 1));
    return r;
}

/* The sums that 4.10 and 4.11 are made of, for one choice of bounds. */
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
    struct sums low = {0}, high = {0}; /* with the bounds of mu_k; sigma_k is
                                          at its upper bound in both */
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
    return (struct bats_prediction){
        .low = fmax(n_tasks / low.gamma - swing, 0),
        .estimate = n_tasks / estimate,
        .high = n_tasks / high.gamma + swing,
    };
}
