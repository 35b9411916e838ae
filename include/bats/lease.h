/*
 * lease: the terms under which a machine is held, by billing model
 * (billing.h).
 *
 * Layer: engine. The engine, the policies, the tails and reports about money
 * test these terms, never the billing model itself, which is only read,
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
    bool waits;        /* it is requested, begins later and ends for good: a
                      successor follows, and the two may overlap */
    bool prolongs;     /* it can be extended by another period */
    bool lasts;        /* begins, ends and is billed with the run */
    bool in_windows;   /* a whole window is charged when it begins */
    bool idle_is_free; /* nothing is owed while nothing runs */
    bool returns;      /* the machine is given back as soon as it is idle */
    bool ahead; /* time until its end counts as paid for tasks not begun */
    bool later; /* the bill comes from outside after the end and may exceed the
                   held money */
};

struct bats_lease_terms bats_lease_terms(enum bats_billing_model model);

#endif
