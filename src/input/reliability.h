/*
 * reliability: emulation of machines that may not answer.
 *
 * Layer: input. The clusters file and scenarios describe it; the MPI master
 * and the simulator ask it which executions are lost. A lost execution never
 * answers: its slot is taken until somebody stops it, or the loss is noticed.
 * A cluster may have several of these:
 *
 *   reliability = 0.83             each execution is lost from its start on
 *   reliability = 0.9, 0.5 from 2h   with probability 1 - 0.83; the second form
 *                                  depends on the time of its start
 *   survival = exponential MEAN    an execution is lost this long after its
 *            | weibull SCALE SHAPE   start, unless it has ended by then
 *            | lognormal MEDIAN SIGMA
 *   noticed = 10s                  the run learns of a loss after this delay
 *                                  (struct bats_cluster); `no`: it never does,
 *                                  the default for emulated losses
 *
 * Everything is a function of the arguments: the same seed loses the same
 * executions.
 */
#ifndef BATS_RELIABILITY_H
#define BATS_RELIABILITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/lifetime.h"
#include "bats/units.h"

#define BATS_RELIABILITY_STEPS 8

/* All zero: nothing is lost. */
struct bats_reliability {
    size_t n_steps;
    double share[BATS_RELIABILITY_STEPS];   /* share of executions that answer,
                                             * in (0, 1], */
    bats_time from[BATS_RELIABILITY_STEPS]; /* from this time on; ascending */
    enum bats_survival survival;
    double a, b; /* parameters of the survival; times in microseconds */
};

/* Each parses the value of a key. BATS_EINPUT with a sentence, BATS_ENOMEM. */
int bats_reliability_parse(struct bats_reliability *r, const char *value,
                           struct bats_error *err);
int bats_survival_parse(struct bats_reliability *r, const char *value,
                        struct bats_error *err);
/* bats_survival_find: the distribution of this name; returns the number of its
 * parameters, 0: unknown. bats_survival_set: parses them, a time above 0 and,
 * unless NULL, a shape. */
int bats_survival_find(const char *name, enum bats_survival *survival);
int bats_survival_set(const char *time, const char *shape, double *a,
                      double *b, struct bats_error *err);
bool bats_reliability_loses(const struct bats_reliability *r);

/* The time after its start `at` when the execution is lost, unless it has
 * ended; BATS_NEVER: it is not lost. `execution` is the number of earlier
 * executions of the task. */
bats_time bats_reliability_lost(const struct bats_reliability *r,
                                uint64_t seed, uint32_t task,
                                uint32_t execution, bats_time at);

#endif
