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

/*
 * Call before MPI is started. If there is no launcher and more than one worker
 * is asked for, runs `verb` with them and the arguments from argv[1] on, and
 * returns its exit code. Otherwise returns -1: this process is one of the
 * ranks. *usage is set (BATS_EINPUT) if a launcher has already decided the
 * number of ranks.
 */
int bats_jobs_start(enum bats_verb verb, const struct bats_settings *set,
                    char **argv, struct bats_error *usage);

#endif
