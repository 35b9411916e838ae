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

/* The number of workers that `text` asks for on `cores` cores, as GNU parallel
 * understands it: 8, +1, -1, 50%, and 0 for as many as possible, which is 250.
 * NULL: 1. At least 1. BATS_EINPUT. */
int bats_jobs_workers(const char *text, uint32_t cores, uint32_t *workers,
                      struct bats_error *err);

/*
 * Starts the ranks of a run: MPI, where a launcher has started several, else
 * the workers that --jobs asks for (forked.h). Returns in each of them with
 * *rank. *usage is what is wrong with the options so far, which rank 0 will
 * say; it is set (BATS_EINPUT) if --jobs does not go with the launcher.
 */
int bats_jobs_start(const struct bats_settings *set, int *argc, char ***argv,
                    int *rank, struct bats_error *usage,
                    struct bats_error *err);

#endif
