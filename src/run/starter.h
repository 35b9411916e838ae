/*
 * starter: launches a run without a launcher, with the requested number of
 * ranks, on this machine.
 *
 * Layer: run. Used by cli.
 *
 * The process that the user started stays, because the terminal and the shell
 * know only this one. It becomes the parent of mpirun. It keeps signals from
 * mpirun, which would end all ranks within a second, and passes them to rank
 * 0, which ends the run in order. Rank 0 reports the exit code of the run,
 * which mpirun may change. Both use a signal with a value (sigqueue), so that
 * there is nothing to clean up.
 */
#ifndef BATS_STARTER_H
#define BATS_STARTER_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

/* Undoes in the arguments what bats_starter_run did to them: mpirun would take
 * an argument ":" for its own. At the start of every process. */
void bats_starter_arguments(char **argv);

/* The number of ranks that a launcher (mpirun, srun, flux, ...) has started;
 * 0: there is no launcher. Call before MPI is started, which may set a
 * launcher's variables itself. */
uint32_t bats_starter_ranks(void);

/* This process is a rank of a run that has launched itself. */
bool bats_starter_is_used(void);

/* Runs this program with the arguments argv (NULL-terminated, without its own
 * name) on `n_ranks` ranks, with the mpirun of the MPI library it was built
 * with. Returns the exit code when all have ended. BATS_ESYS: it cannot be
 * started. */
int bats_starter_run(uint32_t n_ranks, char *const *argv,
                     struct bats_error *err);

/* For the ranks; these have no effect in a run that has not launched itself.
 * Every rank calls this after the start of MPI: */
void bats_starter_meet(void);
/* Rank 0 calls this when a signal can end the run in order: */
void bats_starter_ready(void);
/* Rank 0 calls this at the end: */
void bats_starter_tell(int exit_code);

#endif
