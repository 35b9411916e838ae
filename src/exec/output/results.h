/*
 * results: the files DIR/<task + 1>/stdout and stderr of one task.
 *
 * Layer: exec. Used by outlet and outfile. A task with its own directory has
 * its files there. A replica writes to separate files, stdout.<attempt> and
 * stderr.<attempt>, until it is known whether it gives the result.
 */
#ifndef BATS_RESULTS_H
#define BATS_RESULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

/* Creates missing directories and empties the files of an earlier attempt.
 * own: the task's own directory, or NULL. apart: the number of the attempt if
 * it is a replica, else 0. The caller closes fds[0] and fds[1], which can also
 * be read. BATS_ESYS. */
int bats_results_open(const char *dir, const char *own, uint32_t task,
                      uint32_t apart, int fds[2], struct bats_error *err);

/* Replaces the result files by the separate files of a replica, or removes the
 * separate files. BATS_ESYS. */
int bats_results_settle(const char *dir, uint32_t task, uint32_t apart,
                        bool is_result, struct bats_error *err);

/* Creates the missing directories of the path `path`. BATS_ESYS. */
int bats_results_make_parent(const char *path, struct bats_error *err);

#endif
