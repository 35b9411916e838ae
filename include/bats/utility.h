/*
 * utility: what a strategy is worth to a user, as an expression. The less the
 * better.
 *
 * Layer: engine. Pure. Arithmetic (util/expression.h) with makespan and tail in
 * seconds, cost and task_cost; or one of the words cheapest, fastest and
 * product.
 */
#ifndef BATS_UTILITY_H
#define BATS_UTILITY_H

#include <stdint.h>

#include "bats/error.h"

/* Its value for a makespan and tail in microseconds and a cost in millionths,
 * of n_tasks. BATS_EINPUT with a sentence that names the place of a mistake. */
int bats_utility_value(const char *text, double makespan, double tail,
                       double cost, uint32_t n_tasks, double *value,
                       struct bats_error *err);

/* The same of any numbers: is it an expression? */
int bats_utility_check(const char *text, struct bats_error *err);

#endif
