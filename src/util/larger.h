/*
 * larger, smaller: of two numbers. fmax() and fmin() also know what to do with
 * NaN, which takes four times as long.
 */
#ifndef BATS_UTIL_LARGER_H
#define BATS_UTIL_LARGER_H

static inline double larger(double a, double b)
{
    return a > b ? a : b;
}

static inline double smaller(double a, double b)
{
    return a < b ? a : b;
}

#endif
