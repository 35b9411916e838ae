/*
 * refused: options of GNU parallel and xargs that bats-mpi does not have, and
 * what to do instead.
 *
 * Layer: cli. Used by options.c.
 */
#ifndef BATS_REFUSED_H
#define BATS_REFUSED_H

#include <stddef.h>

#include "bats/error.h"

/* `letter` (or 0), or the option `name` of n bytes: BATS_EINPUT with what to
 * do instead; 0 if it is not in the table. */
int bats_refused_option(int letter, const char *name, size_t n,
                        struct bats_error *err);

/* BATS_EINPUT if a word of a sweep has {= PERL =}. */
int bats_refused_words(const char *const *words, size_t n,
                       struct bats_error *err);

#endif
