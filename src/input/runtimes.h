/*
 * runtimes: measured runtimes of tasks, from a text file.
 *
 * Layer: input. Used by the scenarios of the simulator. Three forms, told
 * apart by the first line that is neither blank nor a comment (# or ;):
 *
 *   one duration per line ("90", "15m")
 *   a joblog of GNU parallel or bats-mpi: JobRuntime of the jobs with exit
 *     value 0 and no signal
 *   the standard workload format (Feitelson), at least 18 columns: the run
 *     time, column 4, of the jobs with a run time above 0
 */
#ifndef BATS_INPUT_RUNTIMES_H
#define BATS_INPUT_RUNTIMES_H

#include <stddef.h>

#include "bats/error.h"
#include "bats/units.h"

/* Reads the file at `path`: *n >= 1 runtimes above 0, in the order of the
 * file; the caller frees them. BATS_EINPUT with "path:line: sentence" (without
 * a line if the file cannot be read or has no runtime), BATS_ENOMEM. */
int bats_runtimes_read(const char *path, bats_time **runtimes, size_t *n,
                       struct bats_error *err);

#endif
