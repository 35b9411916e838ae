#include <signal.h>

#include "run/launcher.h"
#include "run/signals.h"
#include "util/wake.h"

static volatile sig_atomic_t first, count, terminate, drain;
static sigset_t old_mask;

/* SIGHUP of a closed terminal ends a run like SIGTERM, and so does the last
 * notice of Grid Engine (qsub -notify). */
static void note(int signal)
{
    if (signal == SIGHUP || signal == SIGUSR2)
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
    (void)signal; /* ends a sleep */
}

static struct {
    int signal;
    void (*handler)(int signal);
    struct sigaction old;
} caught[] = {{.signal = SIGINT, .handler = note},
              {.signal = SIGTERM, .handler = note},
              {.signal = SIGHUP, .handler = note},
              {.signal = SIGUSR2, .handler = note},
              {.signal = SIGUSR1, .handler = note_drain},
              {.signal = BATS_WAKE_SIGNAL, .handler = wake}};

void bats_signals_catch(void)
{
    sigset_t woken;
    first = count = terminate = drain = 0;
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) {
        /* Without SA_RESTART, so that a sleep ends. A handler, unlike SIG_IGN,
         * is not inherited across exec. */
        struct sigaction action = {.sa_handler = caught[i].handler};
        sigemptyset(&action.sa_mask);
        sigaction(caught[i].signal, NULL, &caught[i].old);
        if (caught[i].signal != SIGHUP ||
            caught[i].old.sa_handler != SIG_IGN) /* nohup */
            sigaction(caught[i].signal, &action, NULL);
    }
    sigemptyset(&woken);
    sigaddset(&woken, BATS_WAKE_SIGNAL);
    sigprocmask(SIG_BLOCK, &woken, &old_mask);
}

void bats_signals_restore(void)
{
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaction(caught[i].signal, &caught[i].old, NULL);
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
