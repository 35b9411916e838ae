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
 * the workers of --jobs (run/forked.c). Rank 0 continues as `master`, unless
 * the options are wrong: then it reports *usage, which is also set if --jobs
 * is given beside a launcher. The other ranks work until they are dismissed.
 * Returns the exit code of this rank. */
int bats_jobs_run(enum bats_verb verb, struct bats_settings *set, int argc,
                  char **argv, struct bats_error *usage,
                  int (*master)(enum bats_verb verb,
                                struct bats_settings *set));

#endif
