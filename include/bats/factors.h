/*
 * factors: runtimes predicted from numbers, such as the parameters of a sweep.
 *
 * Layer: estimate. Used by history and cli. Pure.
 *
 * Model. Either t = b0 + sum(b_k x_k), or the same of the logarithms (a power
 * law), by least squares. Runtimes are kept as sums of products, so that bags
 * can be added up without storing runtimes; each in one of FOLDS parts, so
 * that the error can be cross-validated: that of each part with the
 * coefficients from the others. A model is used only if its error (root mean
 * square) is at most 3/4 of the mean's; the better of the two is taken.
 */
#ifndef BATS_FACTORS_H
#define BATS_FACTORS_H

#include <stdbool.h>
#include <stdint.h>

#define BATS_FACTORS 4 /* at most this many numbers */
#define BATS_FACTOR_FOLDS 4
#define BATS_FACTOR_SIDE (BATS_FACTORS + 2)

/* Sums of the products of 1, x_1, ..., x_n and the runtime: of the values, and
 * of their logarithms. All zero: no data, with n = 0. */
struct bats_factors {
    uint32_t n; /* numbers */
    double sums[2][BATS_FACTOR_FOLDS][BATS_FACTOR_SIDE][BATS_FACTOR_SIDE];
};

/* Adds a task with this index and these n numbers, which took `time` > 0. */
void bats_factors_note(struct bats_factors *f, uint32_t task, const double *x,
                       double time);

/* Adds measurements from elsewhere with a weight, where tasks take `scale`
 * times as long. Both have the same n. */
void bats_factors_add(struct bats_factors *f, const struct bats_factors *more,
                      double weight, double scale);

struct bats_factor_model {
    bool is_there, has_logs;
    uint32_t n;
    double b[1 + BATS_FACTORS];
    double least; /* lower bound on predictions */
    double error; /* deviation, relative to the mean */
};

/* Fits the model, if it is better than the mean. */
struct bats_factor_model bats_factors_fit(const struct bats_factors *f);

/* Predicted time of a task with these numbers. */
double bats_factors_at(const struct bats_factor_model *m, const double *x);

/* Ratio of these tasks' runtimes to the model's; 0: there are none. */
double bats_factors_level(const struct bats_factor_model *m,
                          const struct bats_factors *f);

#endif
