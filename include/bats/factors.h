/*
 * factors: runtimes explained by numbers, the parameters of a sweep.
 *
 * Layer: estimate. Used by history and cli. Pure.
 *
 * Model. Either t = b0 + sum(b_k x_k), or the same of the logarithms (a power
 * law), by least squares. What tasks took is kept as sums of products, so that
 * bags can be added up and no runtimes need be stored; each in one of FOLDS
 * parts, so that the error can be cross-validated: of each part, with the
 * coefficients of the others. The model counts only if its error (root mean
 * square) is at most 3/4 of that of the mean alone; of the two, the one that
 * lowers it most.
 */
#ifndef BATS_FACTORS_H
#define BATS_FACTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATS_FACTORS 4 /* numbers at most */
#define BATS_FACTOR_FOLDS 4
#define BATS_FACTOR_SIDE (BATS_FACTORS + 2)

/* Sums of the products of 1, x_1, ..., x_n and the runtime: of these, and of
 * their logarithms. All zero: none, with n = 0. */
struct bats_factors {
    uint32_t n; /* numbers */
    double sums[2][BATS_FACTOR_FOLDS][BATS_FACTOR_SIDE][BATS_FACTOR_SIDE];
};

/* The task with this index and these n numbers took `time`, above 0. */
void bats_factors_note(struct bats_factors *f, uint32_t task, const double *x,
                       double time);

/* Adds what was measured elsewhere, with a weight, where all takes `scale`
 * times as long. Both have the same n. */
void bats_factors_add(struct bats_factors *f, const struct bats_factors *more,
                      double weight, double scale);

struct bats_factor_model {
    bool is_there, has_logs;
    uint32_t n;
    double b[1 + BATS_FACTORS];
    double least; /* nothing takes less */
    double error; /* deviation, relative to the mean */
};

/* The model, if it is better than the mean. */
struct bats_factor_model bats_factors_fit(const struct bats_factors *f);

/* The time that a task takes with these numbers. */
double bats_factors_at(const struct bats_factor_model *m, const double *x);

/* How many times as long as the model says have these tasks taken? 0: there
 * are none. */
double bats_factors_level(const struct bats_factor_model *m,
                          const struct bats_factors *f);

#endif
