/*
 * lifetime: how long machines last that may be reclaimed.
 *
 * Layer: plan. Emulation draws from it, and a policy asks it how likely a
 * machine is to be reclaimed by some age. A share of the machines is reclaimed,
 * at an age with this distribution, but none before the age that the site
 * guarantees. (Half of the reclaimed ones before 90 minutes, 14 % of them
 * within 20, and 34 % of all: lognormal, median 90 minutes, sigma 1.39, share
 * 0.34; Pham, Ristov, Fahringer 2018, in Sampaio, Barbosa 2020, IV.A.)
 */
#ifndef BATS_LIFETIME_H
#define BATS_LIFETIME_H

#include "bats/units.h"

enum bats_survival {
    BATS_SURVIVAL_ALL, /* unknown, or unlimited */
    BATS_SURVIVAL_EXPONENTIAL,
    BATS_SURVIVAL_WEIBULL,
    BATS_SURVIVAL_LOGNORMAL,
    BATS_SURVIVAL_TRACE /* of a lifetime: as its ages are */
};

/* The u-quantile, u in (0, 1), of a distribution with
 * parameter a, a time in microseconds (mean, scale, median), and b (shape,
 * sigma). BATS_NEVER if it is longer than BATS_LONGEST, and of _ALL and
 * _TRACE. */
bats_time bats_survival_quantile(enum bats_survival survival, double a,
                                 double b, double u);

#define BATS_LIFETIME_AGES 100

struct bats_lifetime {
    enum bats_survival survival;
    double a, b;
    double share; /* that is ever reclaimed, in (0, 1] */
    bats_time guaranteed;
    uint32_t n_ages; /* of a trace: ages at which machines were reclaimed, */
    bats_time age[BATS_LIFETIME_AGES]; /* all as likely; rising */
};

/* The probability that a machine is reclaimed before this age. */
double bats_lifetime_cdf(const struct bats_lifetime *lifetime, bats_time age);

/* The age at which a machine is reclaimed, by a uniform number u in (0, 1);
 * BATS_NEVER: it is not. */
bats_time bats_lifetime_draw(const struct bats_lifetime *lifetime, double u);

#endif
