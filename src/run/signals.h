/*
 * signals: counts SIGINT, SIGTERM and SIGHUP (as SIGTERM), notes SIGUSR1, and
 * unblocks the signal for messages (util/wake.h) only while a rank sleeps.
 *
 * Layer: run. A launcher tells all ranks to end. The master stops the run in
 * order. A worker leaves that to the master, and only ensures that its own
 * task has ended before the launcher kills it.
 */
#ifndef BATS_SIGNALS_H
#define BATS_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on these signals are only counted. They interrupt a sleep. Programs
 * started later have the default actions. */
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
