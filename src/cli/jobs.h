/*
 * jobs: --jobs, the number of workers or threads on this machine.
 * Layer: cli.
 */
#ifndef BATS_CLI_JOBS_H
#define BATS_CLI_JOBS_H

#include <stdint.h>

#include "bats/error.h"
#include "cli/options.h"

/* Returns `jobs`, or for 0 the number of cores that this process may use. */
uint32_t bats_jobs_count(uint32_t jobs);

/* Starts the ranks of a run: by MPI if a launcher has started several, else
 * the workers of --jobs (run/forked.c). Rank 0 goes on as `master`, or reports the
 * error *usage of the options, which may be one (BATS_EINPUT) because --jobs
 * does not go with the launcher; the others work until they are sent home.
 * Returns the exit code of this rank. */
int bats_jobs_run(enum bats_verb verb, struct bats_settings *set, int argc,
                  char **argv, struct bats_error *usage,
                  int (*master)(enum bats_verb verb,
                                struct bats_settings *set));

#endif
