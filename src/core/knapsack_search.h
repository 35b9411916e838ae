/*
 * knapsack_search: the state of one search, shared by its two methods.
 *
 * Layer: core, private to knapsack.c and knapsack_lists.c.
 */
#ifndef BATS_KNAPSACK_SEARCH_H
#define BATS_KNAPSACK_SEARCH_H

#include "core/knapsack.h"

#define KNAPSACK_ROUNDING 1e-13 /* what sums in another order may differ by */

/* What is left to choose once the minima and all pieces that are free of
 * charge are taken. Types of the same price and rate are one here: x[i] of
 * 0..width[i], indices in the order of efficiency. */
struct search {
    struct bats_knapsack *knapsack;
    size_t n;
    int64_t price[BATS_CLUSTERS_MAX];
    double rate[BATS_CLUSTERS_MAX];
    double efficiency[BATS_CLUSTERS_MAX];
    int64_t width[BATS_CLUSTERS_MAX];
    int64_t
        divisor[BATS_CLUSTERS_MAX]; /* of the prices i .. n - 1, at least */
    size_t one[BATS_CLUSTERS_MAX]; /* the i that a knapsack's type went into */
    size_t flat; /* types flat .. n - 1 are equally efficient */
    int64_t half[BATS_CLUSTERS_MAX]; /* of what types i + 1 .. n - 1 can cost,
                                        if that is not above the capacity */
    int64_t capacity;
    double base_rate; /* of what is taken already */
    int64_t x[BATS_CLUSTERS_MAX];

    double target; /* what the next answer must reach */
    bool any, found, ended;
    int64_t steps; /* that may still be taken */
    struct bats_knapsack_answer *answer;
};

/* The most rate that types `from` .. n - 1 can bring if their pieces could be
 * divided. */
double bats_knapsack_relax(const struct search *s, size_t from,
                           int64_t capacity);

/* A choice with this bound cannot reach the target. */
bool bats_knapsack_hopeless(const struct search *s, double bound);

/* Takes the present x as the answer if it reaches the target, and raises the
 * target, or ends a search for any answer. */
void bats_knapsack_offer(struct search *s);

/* Searches by lists of states. 1 if that came to an end, 0 if the lists grew
 * too long or the knapsack's patience ran out, BATS_ENOMEM. */
int bats_knapsack_by_lists(struct search *s, struct bats_error *err);

#endif
