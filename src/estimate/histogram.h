/*
 * histogram: counts of runtimes.
 *
 * Layer: estimate. Used by the engine's tail. Its classes have a relative
 * width of 1/32 (3 %), from one microsecond to 2^62; each keeps the sum of its
 * runtimes, so a mean over many classes is exact. It has memory for the powers
 * of 2 from the shortest to the longest. Adding is O(1); the first query after
 * that is O(classes), later ones O(1).
 */
#ifndef BATS_HISTOGRAM_H
#define BATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>

#include "bats/units.h"

#define BATS_HISTOGRAM_STEPS 32 /* classes per power of 2 */
#define BATS_HISTOGRAM_CLASSES (58 * BATS_HISTOGRAM_STEPS)

struct bats_histogram {
    struct bats_histogram_class {
        double n, sum;                /* of the runtimes in the class */
        double n_above, sum_above;    /* in all higher classes */
    } * classes;                      /* NULL: nothing was added */
    size_t first, n_classes;          /* index of the first class, and their
                                         number */
    bool is_summed;                   /* n_above and sum_above are up to
                                         date */
    double n, sum, shortest, longest; /* of all runtimes */
};

/* All zero: empty. */
void bats_histogram_release(struct bats_histogram *h);

/* runtime >= 0. False: out of memory. */
bool bats_histogram_add(struct bats_histogram *h, bats_time runtime);

/* Number and sum of the runtimes longer than `limit`. The class of the limit
 * counts as a whole, or not at all if its mean is not above the limit. */
void bats_histogram_above(struct bats_histogram *h, double limit, double *n,
                          double *sum);

#endif
