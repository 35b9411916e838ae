/*
 * results: the files DIR/<task + 1>/stdout and stderr of one task.
 *
 * Layer: exec. Used by outlet and outfile.
 */
#ifndef BATS_RESULTS_H
#define BATS_RESULTS_H

#include <stdint.h>

#include "bats/error.h"

/* Creates what is missing, empties the files of an earlier attempt. fds[0]
 * and fds[1] are for the caller to close. BATS_ESYS. */
int bats_results_open(const char *dir, uint32_t task, int fds[2],
                      struct bats_error *err);

/* Creates the directory that the file `path` is to be in, and those above it,
 * if they are missing. BATS_ESYS. */
int bats_results_make_parent(const char *path, struct bats_error *err);

#endif
