/*
 * results: the files DIR/<task + 1>/stdout and stderr of one task.
 *
 * Layer: exec. Used by outlet and outfile. A copy of a task that runs
 * elsewhere writes apart, to stdout.<attempt> and stderr.<attempt>, until it
 * is known whether it is the result.
 */
#ifndef BATS_RESULTS_H
#define BATS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

/* Creates what is missing, empties the files of an earlier attempt. `apart`:
 * the number of the attempt if it is a copy, else 0. fds[0] and fds[1] are for
 * the caller to close. BATS_ESYS. */
int bats_results_open(const char *dir, uint32_t task, uint32_t apart,
                      int fds[2], struct bats_error *err);

/* What a copy has written apart takes the place of what the others have, or
 * is removed. BATS_ESYS. */
int bats_results_settle(const char *dir, uint32_t task, uint32_t apart,
                        bool is_result, struct bats_error *err);

/* Creates the directory that the file `path` is to be in, and those above it,
 * if they are missing. BATS_ESYS. */
int bats_results_make_parent(const char *path, struct bats_error *err);

#endif
