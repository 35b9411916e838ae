/* draw: random numbers, the same in each run of a test. */
#ifndef BATS_TEST_DRAW_H
#define BATS_TEST_DRAW_H

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "test.h"

static gsl_rng *rng;

/* Begins anew. */
static inline void draw_from(unsigned long seed)
{
    if (rng == NULL)
        rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, seed);
}

static inline uint32_t pick(unsigned long n)
{
    return (uint32_t)gsl_rng_uniform_int(rng, n);
}

/* From 0 up to 1, which it is never. */
static inline double uniform(void)
{
    return gsl_rng_uniform(rng);
}

static inline bool chance(double p)
{
    return uniform() < p;
}

#endif
