/*
 * tariff: the cost of a machine that is billed by the second, by its age.
 *
 * Layer: plan. Used by the ledger, by policies and by cost forecasts. A
 * machine's age counts from its acquisition; one that was given back and is
 * acquired again is new.
 *
 *   by age   steps, such as 3 an hour for the first 2 hours, then 1. Sites
 *            that guarantee machines for some time charge like this.
 *   block    A machine is bought for a length from `shortest` to `longest`,
 *            and ends then. The charge is linear in the length between those
 *            of the two ends (Sampaio, Barbosa 2020, IV.C).
 *   free     A machine reclaimed before this age is not charged; if reclaimed
 *            later, or ended by the user, it is charged to the nearest second
 *            (same source).
 *
 * With C(a) the cost of a machine that the user ends at age a,
 *
 *   cost(a, b, user) = C(b) - C(a),
 *   cost(a, b, reclaimed) = 0 if b < free, else C(b) - C(a),
 *
 * where a reclaimed machine owes nothing for the time before a either, if b <
 * free. C never falls, so C(b) is the most that a machine may cost until age
 * b; the certain part is 0 until `free`, and C(b) from then on.
 */
#ifndef BATS_TARIFF_H
#define BATS_TARIFF_H

#include <stdint.h>

#include "bats/units.h"

#define BATS_TARIFF_STEPS 4

struct bats_tariff_step {
    bats_time from;    /* from this age on, ascending; the first one: 0 */
    bats_money charge; /* for each `per` */
};

/* All zero: the cluster's charge per window. */
struct bats_tariff {
    bats_time per;    /* > 0 if there are steps */
    uint32_t n_steps; /* 1 for blocks */
    struct bats_tariff_step step[BATS_TARIFF_STEPS];
    bats_time free;              /* 0: never free */
    bats_time shortest, longest; /* 0: no block */
    bats_money charge_longest;   /* of the longest block; the step has that of
                                    the shortest */
};

enum bats_end { BATS_END_USER, BATS_END_RECLAIMED };

/*
 * Cost of a machine from age `from` to age `to` >= from, when it ends by
 * `end`. `length`: of its block, from shortest to longest; ignored without
 * blocks. Rounded up to a millionth; BATS_UNLIMITED if it does not fit.
 */
bats_money bats_tariff_cost(const struct bats_tariff *tariff, bats_time length,
                            bats_time from, bats_time to, enum bats_end end);

/* Part of a machine's cost until this age that is owed whatever happens
 * later. */
bats_money bats_tariff_certain(const struct bats_tariff *tariff,
                               bats_time length, bats_time age);

/* Length of the block to buy for a time: a multiple of the shortest one, or
 * the longest. 0: no block. */
bats_time bats_tariff_block(const struct bats_tariff *tariff, bats_time time);

#endif
