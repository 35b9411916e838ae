#include "core/histogram.h"

#include <math.h>
#include <stdlib.h>

/* Below 32 every number has a class of its own; above, its five bits after
 * the first one and their place give the class. */
static size_t class_of(uint64_t runtime)
{
    if (runtime < BATS_HISTOGRAM_STEPS)
        return (size_t)runtime;
    int shift = 63 - __builtin_clzll(runtime) - 5;
    size_t class =
        (size_t)shift * BATS_HISTOGRAM_STEPS + (size_t)(runtime >> shift);
    return class < BATS_HISTOGRAM_CLASSES ? class : BATS_HISTOGRAM_CLASSES - 1;
}

void bats_histogram_release(struct bats_histogram *h)
{
    free(h->classes);
    *h = (struct bats_histogram){0};
}

bool bats_histogram_add(struct bats_histogram *h, bats_time runtime)
{
    if (!h->classes &&
        !(h->classes = calloc(BATS_HISTOGRAM_CLASSES, sizeof *h->classes)))
        return false;
    struct bats_histogram_class *c = &h->classes[class_of((uint64_t)runtime)];
    c->n++;
    c->sum += (double)runtime;
    h->shortest =
        h->n > 0 ? fmin(h->shortest, (double)runtime) : (double)runtime;
    h->longest = fmax(h->longest, (double)runtime);
    h->n++;
    h->sum += (double)runtime;
    h->is_summed = false;
    return true;
}

/* Above the longest runtime there are none, and nobody asks below the
 * shortest. */
static void sum_up(struct bats_histogram *h)
{
    double n = 0, sum = 0;
    size_t first = class_of((uint64_t)h->shortest);
    for (size_t i = class_of((uint64_t)h->longest) + 1; i-- > first;) {
        h->classes[i].n_above = n;
        h->classes[i].sum_above = sum;
        n += h->classes[i].n;
        sum += h->classes[i].sum;
    }
    h->is_summed = true;
}

void bats_histogram_above(struct bats_histogram *h, double limit, double *n,
                          double *sum)
{
    *n = h->n;
    *sum = h->sum;
    if (!h->classes || limit < h->shortest)
        return;
    if (!h->is_summed)
        sum_up(h);
    const struct bats_histogram_class *c =
        &h->classes[limit < 0x1p62 ? class_of((uint64_t)limit)
                                   : BATS_HISTOGRAM_CLASSES - 1];
    *n = c->n_above;
    *sum = c->sum_above;
    if (c->sum > limit * c->n) {
        *n += c->n;
        *sum += c->sum;
    }
}
