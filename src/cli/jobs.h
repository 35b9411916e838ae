/*
 * jobs: --jobs, how many workers or threads there are on this machine.
 *
 * Layer: cli.
 */
#ifndef BATS_CLI_JOBS_H
#define BATS_CLI_JOBS_H

#include <stdint.h>

#include "bats/error.h"
#include "cli/options.h"

/* The same, but for 0 the number of cores that this process may use. */
uint32_t bats_jobs_count(uint32_t jobs);

/*
 * To be called before MPI is started. Where there is no launcher and more than
 * one worker is asked for, runs `verb` with them and the arguments argv[1] on,
 * and returns its exit code. Otherwise returns -1: this process is one of the
 * ranks. *usage is filled in (BATS_EINPUT) where a launcher has decided how
 * many there are.
 */
int bats_jobs_start(enum bats_verb verb, const struct bats_settings *set,
                    char **argv, struct bats_error *usage);

#endif
