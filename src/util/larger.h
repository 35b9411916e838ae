/*
 * larger: the larger and the smaller of two numbers, their order, and a sample
 * of many. fmax() and fmin() take four times as long because they handle NaN.
 */
#ifndef BATS_UTIL_LARGER_H
#define BATS_UTIL_LARGER_H

#include <stdint.h>
#include <stdlib.h>

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* Ascending order of int64_t, for qsort. */
static inline int bats_ascending(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Sorts the list and keeps at most `most`: the middles of equal parts. Returns
 * how many are kept. */
static inline size_t bats_thin_out(int64_t *list, size_t n, size_t most)
{
    size_t kept = n < most ? n : most;
    if (n > 0)
        qsort(list, n, sizeof *list, bats_ascending);
    for (size_t i = 0; i < kept; i++)
        list[i] = list[(2 * i + 1) * n / (2 * kept)];
    return kept;
}

#endif
