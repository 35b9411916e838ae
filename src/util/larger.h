/*
 * larger: the larger and the smaller of two numbers, and their order. fmax()
 * and fmin() take four times as long because they handle NaN.
 */
#ifndef BATS_UTIL_LARGER_H
#define BATS_UTIL_LARGER_H

#include <stdint.h>

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

#endif
