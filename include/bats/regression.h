/*
 * regression: predicts a task's runtime on one cluster from that on another.
 *
 * Layer: estimate, used by sample.h. Pure.
 *
 *   t_k = b0 + b1 t_base
 *
 * fitted by least squares to tasks run on both (Oprescu's thesis, 3.1.3). If
 * the fit is useless (fewer than two points, all of them equal on the base, b1
 * <= 0), the line through the origin and the two means replaces it: b0 = 0, b1
 * = mean_k / mean_base. The same happens if b0 does not differ from 0 with
 * 99.9 % confidence: if executions of a task vary, seven points sometimes give
 * slopes that are far off, and samples made with them have deviations many
 * times too large (benchmarks/estimate/regression.c). Times are microseconds
 * here; any unit will do.
 */
#ifndef BATS_REGRESSION_H
#define BATS_REGRESSION_H

#include <stdbool.h>
#include <stddef.h>

struct bats_regression {
    double b0, b1; /* b1 > 0 */
    bool ratio;    /* only the ratio of the means is known */
};

/* The line from `base` to `other`: n >= 1 runtimes > 0 each, for the same
 * tasks in the same order. */
struct bats_regression bats_regression_fit(const double *base,
                                           const double *other, size_t n);

/* Runtime on the other cluster of a task that takes `base` on the base; at
 * least 1, whatever b0 is. */
double bats_regression_apply(const struct bats_regression *line, double base);

/* The same in the other direction. */
double bats_regression_invert(const struct bats_regression *line,
                              double other);

/* The line from cluster j to cluster k, from the lines base -> j and
 * base -> k. */
struct bats_regression
bats_regression_compose(const struct bats_regression *to_j,
                        const struct bats_regression *to_k);

#endif
