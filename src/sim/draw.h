/*
 * draw: random numbers of a simulated world.
 *
 * Layer: sim. Used by the driver, the scenarios and the worlds. Everything is
 * a function of its arguments: the same seed gives the same world on every
 * machine, independent of the actions of a policy and of their order.
 */
#ifndef BATS_DRAW_H
#define BATS_DRAW_H

#include <gsl/gsl_rng.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/units.h"

/*
 * Distributions of runtimes (thesis, 2.3 and 4.4; lengths are durations):
 *
 *   constant LENGTH
 *   normal MEAN DEVIATION      values not above 0 are drawn again
 *   lognormal MEAN DEVIATION   both of the runtime, not of its logarithm
 *   levy SCALE CUT             scale tau, cut off at b; the papers' 12m 45m
 *   uniform LOW HIGH
 *   mixture                    the thesis' third workload, see draw.c
 *
 * and measured runtimes: one of `values`, equally likely. These have no name
 * here, because they come from a file.
 */
enum bats_draw_kind {
    BATS_DRAW_CONSTANT,
    BATS_DRAW_NORMAL,
    BATS_DRAW_LOGNORMAL,
    BATS_DRAW_LEVY,
    BATS_DRAW_UNIFORM,
    BATS_DRAW_MIXTURE,
    BATS_DRAW_EMPIRICAL
};

struct bats_draw {
    enum bats_draw_kind kind;
    double a, b;             /* parameters, microseconds */
    const bats_time *values; /* EMPIRICAL: n >= 1 values, not owned */
    size_t n;
};

/* Parses one of the lines above. BATS_EINPUT with a sentence. */
int bats_draw_parse(const char *text, struct bats_draw *draw,
                    struct bats_error *err);

/* The next runtime, at least a microsecond. */
bats_time bats_draw_next(const struct bats_draw *draw, gsl_rng *rng);

/*
 * The factor by which execution number `execution` (from 0) of `task` takes
 * longer than the task's own runtime: lognormal with mean 1 and standard
 * deviation `deviation` >= 0; 1 if that is 0.
 */
double bats_draw_noise(uint64_t seed, uint32_t task, uint32_t execution,
                       double deviation);

/* Error factor of a told runtime: uniform in 1 - most .. 1 + most; 0 <= most
 * <= 1. */
double bats_draw_error(uint64_t seed, uint32_t task, double most);

/* The time when `machine` is lost: exponential with mean `mtbf` > 0. */
bats_time bats_draw_loss(uint64_t seed, uint32_t machine, bats_time mtbf);

#endif
