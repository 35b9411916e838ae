/*
 * launcher: identifies the program that started the ranks.
 * Layer: run.
 */
#ifndef BATS_LAUNCHER_H
#define BATS_LAUNCHER_H

#include <stdbool.h>
#include <stdint.h>

/* The number of ranks that a launcher (mpirun, srun, flux, ...) has started;
 * 0: there is no launcher. Call before MPI is started, which may set a
 * launcher's variables itself. */
uint32_t bats_launcher_ranks(void);

/* Call before MPI is started: Open MPI's MPI_Init sets many of mpirun's
 * variables itself, under any launcher. From here on this process and its
 * children are killed when the launcher is gone. */
void bats_launcher_look(void);

/* True under Open MPI's mpirun, perhaps on another host: it kills its ranks
 * one second after telling them to end. */
bool bats_launcher_is_impatient(void);

/* True if the batch system itself is the launcher (srun). */
bool bats_launcher_is_batch_system(void);

/* True under Open MPI's mpirun on this host. */
bool bats_launcher_is_mpirun(void);

/* True under Open MPI's mpirun --enable-recovery: when a rank dies, the others
 * stay. */
bool bats_launcher_recovers(void);

/* Call before the end of a run with an exit status other than 0: mpirun
 * --enable-recovery would return 0 regardless of the ranks. SIGTERM makes it
 * end all ranks, including this one, and return 1. Does nothing under other
 * launchers. */
void bats_launcher_fail(void);

/*
 * For rank 0, before it ends a run that has lost a rank. Open MPI 4.1's mpirun
 * --enable-recovery never notices the end if the rank was lost on another host,
 * because the daemon there reports only one death. If mpirun still exists 10 s
 * later, it gets SIGTERM and exits with 1. If a host cannot be reached, mpirun
 * waits for the daemon there; after another 10 s it gets SIGKILL, and the
 * daemons clean up.
 */
void bats_launcher_see_off(void);

#endif
