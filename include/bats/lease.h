/*
 * lease: the terms of the contract under which a machine is held, by how it is
 * billed (billing.h).
 *
 * Layer: engine. The engine, the policies, the tails and all who tell people of
 * money ask for these, never for the name of a billing model: that one is read,
 * written and set up.
 *
 *                window  use  second  job  allocation
 *   waits                              x
 *   prolongs        x     x     x
 *   lasts                                       x
 *   in_windows      x
 *   idle_is_free          x
 *   returns                     x      x
 *   ahead           x           x      x
 *   later                              x
 */
#ifndef BATS_LEASE_H
#define BATS_LEASE_H

#include <stdbool.h>

#include "bats/billing.h"

struct bats_lease_terms {
    bool waits;    /* it is asked for, begins later and ends for good: another
                      one follows, and the two may overlap */
    bool prolongs; /* it can be held for another period */
    bool lasts;    /* it begins and ends with the run, and is billed with it */
    bool in_windows;   /* a whole window is charged when it begins */
    bool idle_is_free; /* nothing is owed while nothing runs */
    bool returns;      /* the machine is given back as soon as it is idle */
    bool ahead; /* the time until its end counts as paid for tasks that have
                   yet to begin */
    bool later; /* the bill comes from outside after the end, and may exceed
                   the money held */
};

struct bats_lease_terms bats_lease_terms(enum bats_billing_model model);

#endif
