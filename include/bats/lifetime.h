/*
 * lifetime: lifetimes of machines that may be reclaimed.
 *
 * Layer: plan. Emulation draws from it; policies ask it for the probability of
 * a reclaim by some age. A share of the machines is reclaimed, at an age with
 * this distribution but not before the guaranteed age. (34 % of all machines,
 * half of these before 90 minutes and 14 % within 20: lognormal, median 90
 * minutes, sigma 1.39, share 0.34; Pham, Ristov, Fahringer 2018, in Sampaio,
 * Barbosa 2020, IV.A.)
 */
#ifndef BATS_LIFETIME_H
#define BATS_LIFETIME_H

#include "bats/units.h"

enum bats_survival {
    BATS_SURVIVAL_ALL, /* unknown, or unlimited */
    BATS_SURVIVAL_EXPONENTIAL,
    BATS_SURVIVAL_WEIBULL,
    BATS_SURVIVAL_LOGNORMAL,
    BATS_SURVIVAL_TRACE /* recorded ages of a lifetime */
};

/* The u-quantile, u in (0, 1), of a distribution with parameters a, a time in
 * microseconds (mean, scale, median), and b (shape, sigma). BATS_NEVER if it
 * exceeds BATS_LONGEST, and for _ALL and _TRACE. */
bats_time bats_survival_quantile(enum bats_survival survival, double a,
                                 double b, double u);

#define BATS_LIFETIME_AGES 100

struct bats_lifetime {
    enum bats_survival survival;
    double a, b;
    double share; /* share of machines ever reclaimed, in (0, 1] */
    bats_time guaranteed;
    uint32_t n_ages;                   /* for a trace: number of ages */
    bats_time age[BATS_LIFETIME_AGES]; /* ages of reclaims, equally likely,
                                          ascending */
};

/* The probability that a machine is reclaimed before this age. */
double bats_lifetime_cdf(const struct bats_lifetime *lifetime, bats_time age);

/* Age at which a machine is reclaimed, for a uniform u in (0, 1); BATS_NEVER:
 * it is not. */
bats_time bats_lifetime_draw(const struct bats_lifetime *lifetime, double u);

#endif
