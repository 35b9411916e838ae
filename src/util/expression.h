/*
 * expression: arithmetic on a few named numbers, as users write it.
 *
 * Layer: util. Pure. Numbers, names, + - * / ^ (to the right), unary -,
 * parentheses, min(a, b), max(a, b), sqrt(a), log(a); and comparisons < and >,
 * which are 1 or 0 and bind least. An expression cannot call or change
 * anything else, and its length bounds the time it takes.
 */
#ifndef BATS_EXPRESSION_H
#define BATS_EXPRESSION_H

#include <stddef.h>

#include "bats/error.h"

#define BATS_EXPRESSION_MAX 256 /* characters, with the NUL */

/* The value of `text`, where names[i] stands for values[i]. BATS_EINPUT with a
 * sentence that says where it is wrong. The value may be infinite or not a
 * number. */
int bats_expression_value(const char *text, const char *const *names,
                          const double *values, size_t n, double *value,
                          struct bats_error *err);

#endif
