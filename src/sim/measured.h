/*
 * measured: measured runtimes, from a file or from a run's record.
 *
 * Layer: sim. Used by the scenarios. Text files are those of input/runtimes.h.
 * In a record every done task counts, in virtual time. If the run used several
 * clusters, the runtimes of each are scaled to the mean of the first one, so
 * that the results are runtimes on the first cluster.
 */
#ifndef BATS_MEASURED_H
#define BATS_MEASURED_H

#include <stddef.h>

#include "bats/error.h"
#include "bats/units.h"

/* Reads *n >= 1 runtimes above 0, to be freed by the caller. BATS_EINPUT with
 * a sentence that names the file, BATS_ENOMEM. */
int bats_measured_read(const char *path, bats_time **runtimes, size_t *n,
                       struct bats_error *err);

#endif
