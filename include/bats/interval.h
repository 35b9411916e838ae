/*
 * interval: bounds of the mean and deviation of a cluster's runtimes, and of
 * the resulting makespan.
 *
 * Layer: estimate. Used by the estimator. Pure. Source: Oprescu's thesis, 4.3.
 *
 * The thesis bounds mean and deviation as if runtimes were normal. For a
 * sample of n runtimes with mean m and (biased) deviation s, at confidence p,
 * with t and chi2 quantiles of n - 1 degrees of freedom:
 *
 *   m - t_((1+p)/2) s / sqrt(n)         <= mu    <= m + the same
 *   s sqrt(n / chi2_((1+p)/2))          <= sigma <= s sqrt(n / chi2_((1-p)/2))
 *
 * For bags with two modes and a thin tail, half of these intervals miss the
 * deviation (its tables 4.2 - 4.4). The intervals used here assume no
 * distribution:
 *
 *   mean       Hall's transformation of t, which corrects for the skewness
 *              ("On the removal of skewness by transformation", J. R. Stat.
 *              Soc. B 54, 1992): g(T) = T + c T^2 / 3 + c^2 T^3 / 27 + c / 6n
 *              with the sample's skewness c and T = (m - mu) / s
 *   deviation  Bonett's interval, whose width follows the sample's kurtosis
 *              ("Approximate confidence interval for standard deviation of
 *              nonnormal distributions", Comput. Stat. Data Anal. 50, 2006)
 *   both       a tail too thin to appear in the sample cannot be excluded: the
 *              upper bounds are at least those of the sample with one more
 *              task, which exceeds the longest by three times the longest's
 *              distance from the median
 *
 * With fewer than ten runtimes, the thesis's bounds are used.
 *
 * The machines of a configuration, a_k of type k, are modelled as one that
 * runs all tasks in sequence (4.4 - 4.6):
 *
 *   mu_agg    = 1 / gamma,  gamma = sum(a_k / mu_k)
 *   sigma_agg = sqrt(sum(a_k mu_k) / gamma + sum(a_k sigma_k^2 / mu_k) / gamma
 *                    - (sum(a_k) / gamma)^2) / sum(a_k)
 *   M <= N mu_agg + z_p sqrt(N) sigma_agg                             (4.8)
 *
 * and, for the worst case, with the bounds of mu_k and sigma_k (4.10 - 4.12).
 * Each of the three inequalities holds with probability p, all together with
 * at least 3p - 2 (4.13).
 *
 * That machine divides tasks, so N mu_agg, the Te of the papers, is the least
 * possible makespan, not the expected one. When the bag becomes empty, each
 * slot is in the middle of a task. The remaining time has the stationary
 * distribution of renewal theory (Cox, "Renewal Theory", 1962):
 *
 *   G(x) = integral of (1 - F) from 0 to x, / mu
 *   mean = (mu^2 + sigma^2) / 2 mu
 *
 * The bag becomes empty before Te by the work left in the slots, and the
 * makespan ends later by the longest of these remaining times:
 *
 *   E(M) = Te - sum(a_k mean_k / mu_k) / gamma
 *          + integral of (1 - product of G_k(x)^a_k) from 0 on            (*)
 *
 * with the sample as F, and Te if only a mean is given.
 *
 * For the same reason, more machines exceed the thesis's bound more often (its
 * figure 4.12). All machines have work until the last task on type k begins;
 * so that task ends at most L_k (1 - 1 / (mu_k gamma)) after the bound, L_k
 * being the longest task there, estimated by the longest of the sample.
 */
#ifndef BATS_INTERVAL_H
#define BATS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATS_RUNTIMES_KEPT 32

/* The runtimes of tasks on one cluster; microseconds. */
struct bats_runtimes {
    double mean;      /* 0: unknown */
    double deviation; /* biased: divided by n */
    double mean_low, mean_high;
    double deviation_low, deviation_high;
    double longest;  /* of the sample; 0: unknown */
    uint32_t n;      /* sample size; 0: the mean was given, and is exact */
    bool is_guess;   /* at most one task has succeeded there: the rest of the
                        sample is from other clusters, and there are no real
                        bounds */
    uint32_t n_kept; /* runtimes kept of the sample, equally spaced, including
                        the longest; 0: the distribution is unknown */
    double kept[BATS_RUNTIMES_KEPT];
};

/* Statistics of a sample of n runtimes > 0, in any order, with bounds at
 * confidence 0.5 <= p < 1. A single runtime has no deviation and is taken as
 * exact. */
struct bats_runtimes bats_runtimes_of(const double *sample, uint32_t n,
                                      double p);

/* The same with the thesis's bounds, for comparison. */
struct bats_runtimes bats_runtimes_normal(const double *sample, uint32_t n,
                                          double p);

/* A mean that is taken as exact. */
struct bats_runtimes bats_runtimes_given(double mean);

/* A makespan, microseconds. */
struct bats_prediction {
    double low, estimate, high; /* estimate: E(M) */
    double least;               /* Te */
    double busy; /* the thesis's upper bound: all machines have work until the
                    end */
    double rate; /* gamma: tasks per microsecond */
};

/*
 * The makespan of `n_tasks` tasks on `slots[k]` slots of each of `n` clusters
 * (machines x slots per machine). At least one has slots and known runtimes;
 * slots of unknown clusters do not count. `p` as above.
 */
struct bats_prediction
bats_interval_makespan(const struct bats_runtimes *runtimes,
                       const double *slots, size_t n, double n_tasks,
                       double p);

/* Latest time at which the machines of a cluster with these runtimes finish;
 * microseconds. The latest of all clusters in use is `high`. */
double bats_interval_end(const struct bats_prediction *makespan,
                         const struct bats_runtimes *runtimes);

#endif
