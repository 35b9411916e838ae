/*
 * signals: SIGINT and SIGTERM, counted; SIGUSR1, noted; the one that says that
 * a message is there (util/wake.h), let in only while a rank sleeps.
 *
 * Layer: run. A launcher tells all ranks to end. The master stops the run in
 * order; a worker lets it, and only sees to it that its own task is gone
 * before the launcher loses its patience.
 */
#ifndef BATS_SIGNALS_H
#define BATS_SIGNALS_H

#include <stdbool.h>
#include <stdint.h>

/* From now on they are counted and do nothing else. They interrupt a sleep.
 * Programs that are started afterwards see the default. */
void bats_signals_catch(void);

/* As it was before. */
void bats_signals_restore(void);

bool bats_signals_drain(void);    /* SIGUSR1 came */
int bats_signals_first(void);     /* the first of the others, or 0 */
int bats_signals_count(void);     /* how many came */
int bats_signals_terminate(void); /* how many of them were SIGTERM */

/* How long a task may take to end after a SIGTERM: mpirun kills its ranks a
 * second after it; other launchers wait as long as a site wants. */
int64_t bats_signals_grace_us(void);

#endif
