/*
 * knapsack: the bounded knapsack with few types and many pieces of each.
 *
 * Layer: plan, private to plan.c. A type is a cluster, a piece a machine:
 *
 *   maximise sum(x_i rate_i)  subject to  sum(x_i price_i) <= capacity,
 *                                         min_i <= x_i <= max_i
 *
 * Method: depth-first branch and bound in the order of efficiency rate / price
 * with the bound of the linear relaxation (Kellerer, Pferschy and Pisinger,
 * "Knapsack Problems", 2004, chapter 7). It takes microseconds on nearly every
 * instance. The problem is NP-hard: many types of almost the same efficiency
 * would take too long, so each search has a limit of steps. Its answer then is
 * as good as the best for a planner whose rates are measured
 * (benchmarks/RESULTS.md), and is marked as not proven.
 *
 * Rates are doubles: a rate within 1e-12 (relative) of the maximum counts as
 * the maximum.
 */
#ifndef BATS_KNAPSACK_H
#define BATS_KNAPSACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"

/* The greatest common divisor; of a and 0 it is a. */
static inline int64_t bats_knapsack_gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

struct bats_knapsack_type {
    int64_t price;     /* >= 0 */
    double rate;       /* > 0 */
    uint32_t min, max; /* min <= max */
    uint32_t item;     /* its index in `counts` and in the sum of rates */
    int64_t divisor;   /* set by bats_knapsack_sort: common divisor of its
                        * price and of all later ones */
};

struct bats_knapsack {
    struct bats_knapsack_type type[BATS_CLUSTERS_MAX];
    size_t n;
    int64_t patience; /* steps, of about 10 ns, for all searches to come */
    bool proven; /* set to false by a search that was not completed: a better
                  * answer may exist, or one at all */
};

struct bats_knapsack_answer {
    uint32_t counts[BATS_CLUSTERS_MAX]; /* by item */
    int64_t price;
    double rate; /* summed up in the order of items */
};

/* Sorts the types as the other functions need them: the most efficient first,
 * of equally efficient ones the most expensive. */
void bats_knapsack_sort(struct bats_knapsack *knapsack);

/* The greatest rate that fits `capacity` if pieces could be divided: no answer
 * is better. -1 if not even the minima fit. */
double bats_knapsack_bound(const struct bats_knapsack *knapsack,
                           double capacity);

/*
 * Looks for the answer of the greatest rate within `capacity` (or with `any`,
 * for the first answer) whose rate is at least `target`. True and *answer if
 * there is one; else *answer is undefined.
 */
bool bats_knapsack_search(struct bats_knapsack *knapsack, int64_t capacity,
                          double target, bool any,
                          struct bats_knapsack_answer *answer);

#endif
