/*
 * launcher: what there is to know of the program that started the ranks.
 *
 * Layer: run.
 */
#ifndef BATS_LAUNCHER_H
#define BATS_LAUNCHER_H

#include <stdbool.h>

/* To be called before MPI is started. Open MPI's MPI_Init sets in its own
 * environment much of what mpirun sets there: it would be found under any
 * launcher. */
void bats_launcher_look(void);

/* It is Open MPI's mpirun, perhaps on another host. It kills its ranks one
 * second after it has told them to end. (Not so where the run has started
 * itself: then mpirun hears of no signal.) */
bool bats_launcher_is_impatient(void);

/* It is the batch system itself (srun). */
bool bats_launcher_is_batch_system(void);

/* It is Open MPI's mpirun, and on this host. */
bool bats_launcher_is_mpirun(void);

/* Before the end of a run whose exit status is not 0: mpirun --enable-recovery
 * would return 0 whatever the ranks return. It gets SIGTERM, upon which it
 * ends all ranks, this one too, and returns 1. Does nothing elsewhere. */
void bats_launcher_fail(void);

/*
 * Rank 0, about to end a run that has lost a rank. Open MPI 4.1's mpirun
 * --enable-recovery never sees the end where the rank was lost on another host
 * than its own: the daemon there tells it of no second death. Where mpirun is
 * still there 10 s later, it gets SIGTERM, upon which it exits with 1. With a
 * host that cannot be reached it waits for the daemon there; then it gets
 * SIGKILL after another 10 s, and the daemons see to what is left.
 */
void bats_launcher_see_off(void);

#endif
