/*
 * wake: the signal by which one rank ends the sleep of another.
 * Layer: util. Used by src/run and by exec/process/runner. MPI offers no way
 * to sleep until a message comes, so a rank checks for messages and sleeps in
 * between. A rank that sends a message to a rank on the same host also sends
 * its main thread this signal. It is blocked (bats_signals_catch) except
 * during those sleeps, so that it interrupts nothing else and none is missed
 * between the check and the sleep. A process that does not expect it ignores
 * it: that is the default action of SIGURG.
 */
#ifndef BATS_WAKE_H
#define BATS_WAKE_H

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

#define BATS_WAKE_SIGNAL SIGURG

/* The mask of this thread without the signal, for ppoll. */
static inline void bats_wake_mask(sigset_t *mask)
{
    sigprocmask(SIG_SETMASK, NULL, mask);
    sigdelset(mask, BATS_WAKE_SIGNAL);
}

/* From now on what arrives at this descriptor, or can go on, ends a sleep of
 * this thread, and no call waits for it. False: see errno. */
static inline bool bats_wake_by(int fd)
{
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    return fcntl(fd, F_SETSIG, BATS_WAKE_SIGNAL) == 0 &&
           fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
           fcntl(fd, F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) == 0;
}

/* Starts a thread and leaves all signals to the main thread, whose sleeps they
 * end. Returns 0 or an errno. */
static inline int bats_wake_thread(pthread_t *thread, void *(*run)(void *),
                                   void *context)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int code = pthread_create(thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return code;
}

#endif
