/*
 * histogram: how often which runtime was seen.
 *
 * Layer: estimate. Used by the engine's tail. Its classes are 1/32 of their
 * place wide (3 %), from a microsecond to 2^62 of them; each knows the sum
 * of its runtimes, so that a mean over many classes is exact. It has memory
 * for the powers of 2 that were seen, and those between. Adding is O(1);
 * the first question after that is O(classes), the others O(1).
 */
#ifndef BATS_HISTOGRAM_H
#define BATS_HISTOGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/units.h"

#define BATS_HISTOGRAM_STEPS 32 /* classes from a power of 2 to the next */
#define BATS_HISTOGRAM_CLASSES (58 * BATS_HISTOGRAM_STEPS)

struct bats_histogram {
    struct bats_histogram_class {
        double n, sum;                /* of the runtimes in the class */
        double n_above, sum_above;    /* in the classes above it */
    } * classes;                      /* NULL: nothing was ever added */
    size_t first, n_classes;          /* from the `first` of all */
    bool is_summed;                   /* n_above and sum_above are right */
    double n, sum, shortest, longest; /* of all runtimes */
};

/* All zero is an empty one. */
void bats_histogram_release(struct bats_histogram *h);

/* False if memory is short. `runtime` >= 0. */
bool bats_histogram_add(struct bats_histogram *h, bats_time runtime);

/* The number of runtimes longer than `limit`, and their sum. The class that
 * the limit is in counts as a whole, or not at all if its mean is not above
 * it. */
void bats_histogram_above(struct bats_histogram *h, double limit, double *n,
                          double *sum);

#endif
