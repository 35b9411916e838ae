/*
 * tariff: what a machine costs that is billed by the second, by its age.
 *
 * Layer: plan. Used by the ledger, by policies, and by whoever has to say
 * beforehand what something will cost. The age of a machine is counted from the
 * moment it is acquired; one that was given back and is acquired again is new.
 *
 *   by age   3 an hour for the first 2 hours, then 1: steps. Sites that
 *            guarantee a machine for so long charge like this.
 *   block    It is bought for a length from `shortest` to `longest`, and ends
 *            then. The charge depends on the length: linear between those of
 *            the two ends (Sampaio, Barbosa 2020, IV.C).
 *   free     If it is reclaimed before this age, nothing is charged for it; if
 *            later, or if the user ends it, the time to the nearest second
 *            (the same).
 *
 * With C(a) what a machine costs that the user ends at age a, it is
 *
 *   cost(a, b, user) = C(b) - C(a),
 *   cost(a, b, reclaimed) = 0 if b < free, else C(b) - C(a),
 *
 * where a reclaimed machine owes nothing of the time before a either, if that
 * is free. C never falls, so that C(b) is the most that a machine may cost
 * until age b, and what C(b) or 0 leaves is certain.
 */
#ifndef BATS_TARIFF_H
#define BATS_TARIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/units.h"

#define BATS_TARIFF_STEPS 4

struct bats_tariff_step {
    bats_time from;    /* of this age on, ascending; the first one: 0 */
    bats_money charge; /* for each `per` */
};

/* All zero: the charge of the cluster, for each window. */
struct bats_tariff {
    bats_time per;    /* > 0 where there are steps */
    uint32_t n_steps; /* 1 if it is for blocks */
    struct bats_tariff_step step[BATS_TARIFF_STEPS];
    bats_time free;              /* 0: nothing is */
    bats_time shortest, longest; /* 0: no block */
    bats_money charge_longest;   /* of the longest block; the step's: of the
                                    shortest one */
};

enum bats_end { BATS_END_USER, BATS_END_RECLAIMED };

/*
 * The cost of a machine from age `from` to age `to` >= from, at which it is
 * ended by `end`. `length` is that of its block, from shortest to longest; else
 * it is not looked at. Rounded up to a millionth; BATS_UNLIMITED if it does not
 * fit.
 */
bats_money bats_tariff_cost(const struct bats_tariff *tariff, bats_time length,
                            bats_time from, bats_time to, enum bats_end end);

/* The part of a machine's cost until now, at this age, that is owed whatever
 * happens later. */
bats_money bats_tariff_certain(const struct bats_tariff *tariff,
                               bats_time length, bats_time age);

/* The length of the block that is bought for a time: a multiple of the shortest
 * one, or the longest. 0: no block. */
bats_time bats_tariff_block(const struct bats_tariff *tariff, bats_time time);

#endif
