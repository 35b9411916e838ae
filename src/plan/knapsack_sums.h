/*
 * knapsack_sums: two lists of sums of prices, and what they make together.
 *
 * Layer: plan, private to knapsack_flat.c.
 *
 * Prices and pieces are counted from those of `start`. One type, the filler,
 * is in neither list: of a sum its rest modulo the filler's price matters, and
 * as many pieces of the filler are added as are then missing.
 */
#ifndef BATS_KNAPSACK_SUMS_H
#define BATS_KNAPSACK_SUMS_H

#include "plan/knapsack_search.h"

#define KNAPSACK_NO_FILLER ((int64_t)1 << 61) /* modulus above any price */

/* A price of rest + turns x modulus. */
struct sum {
    int64_t rest, turns;
    int64_t pinned; /* pieces that the pinned type has to give */
};

/* The sums without and with so many pieces of a type. */
struct sum_step {
    size_t type;
    int64_t pieces; /* negative: taken away */
    struct sum *sums;
    size_t n;
};

struct sum_list {
    struct sum_step *steps;
    size_t n;
};

struct sums {
    struct search *s;
    double target; /* of the search when this began */
    int64_t start[BATS_CLUSTERS_MAX];
    size_t filler;
    int64_t modulus;
    int64_t less, more;  /* pieces of the filler: taken away, added */
    int64_t pinned;      /* pieces of the pinned type that `start` leaves */
    int64_t low, high;   /* prices looked for */
    int64_t least, most; /* no sum beyond is of use */
    bool coarse;         /* one sum of a price is enough, */
    bool thorough;       /*   and all pairs are to be looked at */
    bool lossy;          /* sums have been left out */
    bool hasty;          /* pairs have been */
    int64_t tries;       /* pairs that may still be looked at */
    bool found;          /* any answer that reaches the target */
    struct sum_list list[2];
};

/* Both lists with nothing in them but the sum of nothing. False if memory is
 * short. */
bool bats_knapsack_sums_start(struct sums *l);

void bats_knapsack_sums_free(struct sums *l);

size_t bats_knapsack_sums_n(const struct sums *l, int list);

/* Doubles the list: every sum without and with `pieces` of `type`. False if
 * memory is short. */
bool bats_knapsack_sums_double(struct sums *l, int list, size_t type,
                               int64_t pieces);

/* Offers the best pairs of sums: of the greatest price up to `high`, or with
 * s->any of the least from `low` on. Leaves in low .. high what would be
 * better. */
void bats_knapsack_sums_pair(struct sums *l);

#endif
