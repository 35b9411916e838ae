/*
 * wake: the signal by which one rank ends the sleep of another.
 *
 * Layer: util. Used by src/run and by exec/process/runner. MPI has nothing to sleep
 * on: a rank looks for messages, and sleeps in between. Who sends one to a
 * rank on the same host sends its main thread this signal, too. It is blocked
 * (bats_signals_catch) but for those sleeps, so that it interrupts nothing else
 * and none is missed between the look and the sleep. Who does not expect it
 * ignores it: that is what SIGURG does by default.
 */
#ifndef BATS_WAKE_H
#define BATS_WAKE_H

#include <signal.h>

#define BATS_WAKE_SIGNAL SIGURG

/* The present mask of this thread, with the signal let in: for ppoll. */
static inline void bats_wake_mask(sigset_t *mask)
{
    sigprocmask(SIG_SETMASK, NULL, mask);
    sigdelset(mask, BATS_WAKE_SIGNAL);
}

#endif
