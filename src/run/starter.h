/*
 * starter: a run that nobody has launched launches itself, with as many ranks
 * as it is to have, on this machine.
 *
 * Layer: run. Used by cli.
 *
 * The process that the user has started stays: the terminal and the shell know
 * no other. It becomes the parent of mpirun, keeps signals away from it, which
 * would end all ranks within a second, and passes them on to rank 0, which ends
 * the run in good order. Rank 0 tells it the exit code of the run, which mpirun
 * may change. Both are told by a signal with a value (sigqueue), so that there
 * is nothing to clean up.
 */
#ifndef BATS_STARTER_H
#define BATS_STARTER_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

/* How many ranks a launcher (mpirun, srun, flux, ...) says it has started; 0:
 * there is no launcher. To be called before MPI is started, which may say that
 * it is a launcher itself. */
uint32_t bats_starter_ranks(void);

/* This process is a rank of a run that has started itself. */
bool bats_starter_is_used(void);

/* Runs this program with the arguments argv (NULL-terminated, without its own
 * name) on `n_ranks` ranks, by the mpirun of the MPI library it is built with.
 * Returns the exit code when all have ended. BATS_ESYS: it cannot be started. */
int bats_starter_run(uint32_t n_ranks, char *const *argv,
                     struct bats_error *err);

/* For the ranks; without effect in a run that has not started itself. Each of
 * them, when MPI has been started: */
void bats_starter_meet(void);
/* Rank 0, from when on a signal ends the run in good order: */
void bats_starter_ready(void);
/* Rank 0, at the end: */
void bats_starter_tell(int exit_code);

#endif
