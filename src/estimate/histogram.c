#include "estimate/histogram.h"

#include <stdlib.h>
#include <string.h>

/* Below 32 every number has its own class; above, the first bit's position and
 * the five bits after it give the class. */
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

/* Makes room for the class and all others between the same powers of 2. */
static bool reach(struct bats_histogram *h, size_t class)
{
    size_t first = class - class % BATS_HISTOGRAM_STEPS;
    size_t end = first + BATS_HISTOGRAM_STEPS;
    if (h->classes && h->first < first)
        first = h->first;
    if (h->classes && h->first + h->n_classes > end)
        end = h->first + h->n_classes;
    struct bats_histogram_class *classes =
        calloc(end - first, sizeof *classes);
    if (!classes)
        return false;
    if (h->classes)
        memcpy(classes + (h->first - first), h->classes,
               h->n_classes * sizeof *classes);
    free(h->classes);
    h->classes = classes;
    h->first = first;
    h->n_classes = end - first;
    return true;
}

bool bats_histogram_add(struct bats_histogram *h, bats_time runtime)
{
    size_t class = class_of((uint64_t)runtime);
    double time = (double)runtime;
    if (class - h->first >= h->n_classes && !reach(h, class))
        return false;
    struct bats_histogram_class *c = &h->classes[class - h->first];
    c->n++;
    c->sum += time;
    if (h->n == 0 || time < h->shortest)
        h->shortest = time;
    if (time > h->longest)
        h->longest = time;
    h->n++;
    h->sum += time;
    h->is_summed = false;
    return true;
}

/* Sums up from the class of the longest runtimes to that of the shortest. */
static void sum_up(struct bats_histogram *h)
{
    double n = 0, sum = 0;
    for (size_t i = h->n_classes; i-- > 0;) {
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
    size_t class = limit < 0x1p62 ? class_of((uint64_t)limit)
                                  : BATS_HISTOGRAM_CLASSES - 1;
    *n = *sum = 0;
    if (class - h->first >= h->n_classes)
        return;
    const struct bats_histogram_class *c = &h->classes[class - h->first];
    *n = c->n_above;
    *sum = c->sum_above;
    if (c->sum > limit * c->n) {
        *n += c->n;
        *sum += c->sum;
    }
}
