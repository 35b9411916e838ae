#include <signal.h>

#include "run/launcher.h"
#include "run/signals.h"
#include "util/wake.h"

static volatile sig_atomic_t first, count, terminate, drain;
static struct sigaction old_interrupt, old_terminate, old_hang_up, old_drain,
    old_wake;
static sigset_t old_mask;

/* A terminal that is gone ends a run like SIGTERM. */
static void note(int signal)
{
    if (signal == SIGHUP)
        signal = SIGTERM;
    if (first == 0)
        first = signal;
    count++;
    if (signal == SIGTERM)
        terminate++;
}

static void note_drain(int signal)
{
    (void)signal;
    drain = 1;
}

static void wake(int signal)
{
    (void)signal; /* it has ended a sleep */
}

void bats_signals_catch(void)
{
    sigset_t woken;
    /* Without SA_RESTART, so that a sleep ends. A handler, unlike SIG_IGN, is
     * not inherited across exec. */
    struct sigaction action = {.sa_handler = note};
    sigemptyset(&action.sa_mask);
    first = count = terminate = drain = 0;
    sigaction(SIGINT, &action, &old_interrupt);
    sigaction(SIGTERM, &action, &old_terminate);
    sigaction(SIGHUP, NULL, &old_hang_up);
    if (old_hang_up.sa_handler != SIG_IGN) /* nohup */
        sigaction(SIGHUP, &action, NULL);
    action.sa_handler = note_drain;
    sigaction(SIGUSR1, &action, &old_drain);
    action.sa_handler = wake;
    sigaction(BATS_WAKE_SIGNAL, &action, &old_wake);
    sigemptyset(&woken);
    sigaddset(&woken, BATS_WAKE_SIGNAL);
    sigprocmask(SIG_BLOCK, &woken, &old_mask);
}

void bats_signals_restore(void)
{
    sigaction(SIGINT, &old_interrupt, NULL);
    sigaction(SIGTERM, &old_terminate, NULL);
    sigaction(SIGHUP, &old_hang_up, NULL);
    sigaction(SIGUSR1, &old_drain, NULL);
    sigaction(BATS_WAKE_SIGNAL, &old_wake, NULL);
    sigprocmask(SIG_SETMASK, &old_mask, NULL);
}

bool bats_signals_drain(void)
{
    return drain != 0;
}

int bats_signals_first(void)
{
    return first;
}

int bats_signals_count(void)
{
    return count;
}

int bats_signals_terminate(void)
{
    return terminate;
}

int64_t bats_signals_grace_us(void)
{
    /* Open MPI's mpirun: SIGTERM, then SIGKILL after
     * odls_base_sigkill_timeout, one second by default. */
    return bats_launcher_is_impatient() ? 400000 : INT64_MAX;
}
