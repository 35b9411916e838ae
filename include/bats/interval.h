/*
 * interval: bounds of the mean and the deviation of a cluster's runtimes, and
 * the makespan that follows from them.
 *
 * Layer: estimate. Used by the estimator. Pure. Source: Oprescu's thesis, 4.3.
 *
 * The thesis bounds mean and deviation as if runtimes were normal. Of a sample
 * of n runtimes with mean m and (biased) deviation s, to a confidence p, with
 * t and chi2 quantiles of n - 1 degrees of freedom:
 *
 *   m - t_((1+p)/2) s / sqrt(n)         <= mu    <= m + the same
 *   s sqrt(n / chi2_((1+p)/2))          <= sigma <= s sqrt(n / chi2_((1-p)/2))
 *
 * For bags with two modes and a thin tail, half of these intervals of the
 * deviation miss it (its tables 4.2 - 4.4). The ones used here assume nothing
 * of the distribution:
 *
 *   mean       Hall's transformation of t, which corrects for the skewness
 *              ("On the removal of skewness by transformation", J. R. Stat.
 *              Soc. B 54, 1992): g(T) = T + c T^2 / 3 + c^2 T^3 / 27 + c / 6n
 *              with the sample's skewness c and T = (m - mu) / s
 *   deviation  Bonett's interval, whose width follows the sample's kurtosis
 *              ("Approximate confidence interval for standard deviation of
 *              nonnormal distributions", Comput. Stat. Data Anal. 50, 2006)
 *   both       a tail that is so thin that the sample has nothing of it cannot
 *              be excluded: the upper bounds are at least what one task more
 *              would make of the sample, whose distance from the longest
 *              is three times that of the longest from the median
 *
 * With fewer than ten runtimes, the thesis's bounds are used.
 *
 * The machines of a configuration, a_k of type k, are seen as one that does
 * all tasks one after the other (4.4 - 4.6):
 *
 *   mu_agg    = 1 / gamma,  gamma = sum(a_k / mu_k)
 *   sigma_agg = sqrt(sum(a_k mu_k) / gamma + sum(a_k sigma_k^2 / mu_k) / gamma
 *                    - (sum(a_k) / gamma)^2) / sum(a_k)
 *   M <= N mu_agg + z_p sqrt(N) sigma_agg                             (4.8)
 *
 * and with the bounds of mu_k and sigma_k put in for the worst case (4.10 -
 * 4.12). Each of the three inequalities holds with probability p, all together
 * with 3p - 2 at least (4.13).
 *
 * That machine divides tasks, so that N mu_agg, the Te of the papers, is the
 * least makespan that could be, not the one to expect. When the bag becomes
 * empty, each slot is in the middle of a task. The remaining time has the
 * distribution that renewal theory gives for any moment (Cox, "Renewal
 * Theory", 1962):
 *
 *   G(x) = integral of (1 - F) from 0 to x, / mu
 *   mean = (mu^2 + sigma^2) / 2 mu
 *
 * The bag is empty so much before Te as the work in the slots is worth, and
 * the last of them is done so much later as the longest of these rests takes:
 *
 *   E(M) = Te - sum(a_k mean_k / mu_k) / gamma
 *          + integral of (1 - product of G_k(x)^a_k) from 0 on            (*)
 *
 * with the sample as F, and Te where only a mean is given.
 *
 * For the same reason, the more machines there are, the more often the
 * thesis's bound is exceeded (its figure 4.12). Until the last task of a
 * machine of type k begins, all machines have work; so it ends at that bound
 * plus L_k (1 - 1 / (mu_k gamma)) at most, L_k being the longest task there,
 * of which the longest of the sample is taken.
 */
#ifndef BATS_INTERVAL_H
#define BATS_INTERVAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATS_RUNTIMES_KEPT 32

/* The runtimes of tasks on one cluster; microseconds. */
struct bats_runtimes {
    double mean;      /* 0: nothing is known */
    double deviation; /* biased: divided by n */
    double mean_low, mean_high;
    double deviation_low, deviation_high;
    double longest;  /* of the sample; 0: unknown */
    uint32_t n;      /* its size; 0: the mean was given, and is exact */
    bool is_guess;   /* at most one task has ended well there: the rest of the
                        sample is of others, and its bounds are none */
    uint32_t n_kept; /* of the sample, equally spaced, the longest included; 0:
                        nothing is known of the distribution */
    double kept[BATS_RUNTIMES_KEPT];
};

/* Statistics of a sample of n runtimes > 0, in any order, with bounds to the
 * confidence 0.5 <= p < 1. One runtime has no deviation: it is taken as
 * exact. */
struct bats_runtimes bats_runtimes_of(const double *sample, uint32_t n,
                                      double p);

/* The same with the thesis's bounds, to compare with. */
struct bats_runtimes bats_runtimes_normal(const double *sample, uint32_t n,
                                          double p);

/* A mean that is taken as exact. */
struct bats_runtimes bats_runtimes_given(double mean);

/* A makespan, microseconds. */
struct bats_prediction {
    double low, estimate, high; /* estimate: E(M) */
    double least;               /* Te */
    double busy; /* the thesis's upper bound: as if all machines have work
                  * until the end */
    double rate; /* gamma: tasks per microsecond */
};

/*
 * The makespan of `n_tasks` tasks on `slots[k]` slots of each of `n` clusters
 * (machines x slots per machine), of which one at least has slots and known
 * runtimes; slots of unknown clusters do not count. `p` as above.
 */
struct bats_prediction
bats_interval_makespan(const struct bats_runtimes *runtimes,
                       const double *slots, size_t n, double n_tasks,
                       double p);

/* The latest time at which the machines of a cluster with these runtimes are
 * done; microseconds. The latest of all clusters in use is `high`. */
double bats_interval_end(const struct bats_prediction *makespan,
                         const struct bats_runtimes *runtimes);

#endif
