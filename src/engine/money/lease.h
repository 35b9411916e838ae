/*
 * lease: the contract under which a machine is held, by how it is billed
 * (bats/billing.h).
 *
 * Layer: engine. A lease is made of a few terms. The engine, the policies and
 * the tails ask for these, never for the name of a billing model.
 *
 *                window  use  second  job  allocation
 *   waits                              x
 *   prolongs        x     x     x
 *   lasts                                       x
 *   idle_is_free          x
 *   returns                     x      x
 *   ahead           x           x      x
 *   later                              x
 */
#ifndef BATS_ENGINE_MONEY_LEASE_H
#define BATS_ENGINE_MONEY_LEASE_H

#include "bats/billing.h"

struct lease_terms {
    bool waits;    /* it is asked for, begins later and ends for good: another
                      one follows, and the two may overlap */
    bool prolongs; /* it can be held for another period */
    bool lasts;    /* it begins and ends with the run */
    bool idle_is_free; /* nothing is owed while nothing runs */
    bool returns;      /* the machine is given back as soon as it is idle */
    bool ahead; /* the time until its end counts as paid for tasks that have
                   yet to begin */
    bool later; /* the bill comes from outside, after its end, and may be more
                   than what was held */
};

struct lease_terms lease_terms_of(enum bats_billing_model model);

#endif
