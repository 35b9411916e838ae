/*
 * launcher: the program that started the ranks, and the signals by which it
 * ends them.
 *
 * Layer: run. A launcher tells all ranks to end. The master stops the run in
 * order. A worker leaves that to the master, and only ensures that its own
 * task has ended before the launcher kills it.
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
 * children are killed when the launcher is gone; and under mpirun
 * --enable-recovery, which does not notice the death of a rank that others
 * wait for in MPI_Init, when MPI has not started within a multiple of this
 * time, or within the time that so many ranks need. */
void bats_launcher_look(int64_t silence_us);
void bats_launcher_started(void);

/* True if the batch system itself is the launcher (srun). */
bool bats_launcher_is_batch_system(void);

/* True under Open MPI's mpirun --enable-recovery: when a rank dies, the others
 * stay. */
bool bats_launcher_recovers(void);

/* Call before the end of a run with an exit status other than 0: mpirun
 * --enable-recovery would return 0 regardless of the ranks. SIGTERM makes it
 * end all ranks, including this one, and return 1. Does nothing under other
 * launchers. */
void bats_launcher_fail(void);

/* For rank 0, before it ends a run that has lost a rank. Open MPI 4.1's mpirun
 * --enable-recovery never notices the end if the rank was lost on another
 * host: the daemon there reports only one death. After 10 s it gets SIGTERM and
 * exits with 1; after another 10 s, if a host cannot be reached, SIGKILL. */
void bats_launcher_see_off(void);

/* ---- signals ---- */

/* From now on SIGINT, SIGTERM and SIGHUP (as SIGTERM) are only counted, SIGUSR1
 * is noted, and the signal for messages (util/wake.h) is blocked but while a
 * rank sleeps. They interrupt a sleep. Programs started later have the default
 * actions. */
void bats_signals_catch(void);

/* Restores the previous actions. */
void bats_signals_restore(void);

bool bats_signals_drain(void);    /* SIGUSR1 has come */
int bats_signals_first(void);     /* the first of the others, or 0 */
int bats_signals_count(void);     /* number received */
int bats_signals_terminate(void); /* number of SIGTERMs among them */

/* How long a task may take to end after a SIGTERM: mpirun kills its ranks
 * after a second; other launchers wait as long as the site has configured. */
int64_t bats_signals_grace_us(void);

#endif
