#include "run/launcher.h"

#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <time.h>
#include <unistd.h>

#include "site/batch_system.h"
#include "util/wake.h"

#define PATIENCE_MS 10000 /* other ranks take 3 s to leave */
#define STARTS 10         /* MPI starts within so many times --silence, */
#define START_MS 60000    /* or within this time, if that is longer, */
#define RANK_MS 1000      /* and this for each rank */

static bool impatient, by_batch_system;
static atomic_int start_ms = -1; /* time that MPI has to start; -1: any, or
                                    it has started */

uint32_t bats_launcher_ranks(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
                                        "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (getenv(sizes[i]) != NULL)
            return (uint32_t)strtoul(getenv(sizes[i]), NULL, 10);
    return 0;
}

/* ---- the end of the launcher ---- */

/* The first line of a file in /proc that begins like this, cut to `size`. */
static bool find_line(pid_t pid, const char *name, int end, const char *begin,
                      char *line, size_t size)
{
    char path[40], *each = NULL;
    size_t room = 0;
    bool found = false;
    snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, name);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return false;
    while (!found && getdelim(&each, &room, end, file) > 0)
        found = strncmp(each, begin, strlen(begin)) == 0;
    if (found)
        snprintf(line, size, "%s", each);
    free(each);
    fclose(file);
    return found;
}

/* The nearest ancestor that is not part of this launch (as a shell around this
 * rank is); 0: unknown. */
static pid_t find(void)
{
    static const char *const names[] = {"PMIX_NAMESPACE=", "PMI_RANK="};
    char own[256], line[256];
    pid_t pid = getpid();
    bool marked = false;
    for (size_t i = 0; !marked && i < sizeof names / sizeof *names; i++)
        marked = find_line(pid, "environ", '\0', names[i], own, sizeof own);
    if (!marked)
        return 0;
    do {
        if (!find_line(pid, "status", '\n', "PPid:", line, sizeof line))
            return 0;
        pid = (pid_t)strtol(line + strlen("PPid:"), NULL, 10);
    } while (pid > 0 &&
             find_line(pid, "environ", '\0', own, line, sizeof line) &&
             strcmp(line, own) == 0);
    return pid;
}

/* The guard of a running task (exec) then ends the task, too. */
static void leave(void)
{
    kill(getpid(), SIGKILL);
}

static void *await_end(void *launcher)
{
    struct pollfd ended = {.fd = (int)(intptr_t)launcher, .events = POLLIN};
    if (poll(&ended, 1, start_ms) == 0 && start_ms >= 0) {
        fprintf(stderr,
                "bats-mpi: MPI has not started in %d s: a rank has died, or "
                "cannot be reached; a longer --silence waits longer\n",
                start_ms / 1000);
        bats_launcher_fail(); /* if it is on this host, it ends all ranks */
        leave();
    }
    while (poll(&ended, 1, -1) < 0)
        ;
    leave();
    return NULL;
}

/* An orphan's parent is process 1, which in a container may be the
 * launcher. */
static bool is_orphan(pid_t launcher)
{
    return launcher == 1 && getsid(1) != getsid(0);
}

/* The MPI library does not notice if a process that mpirun has forked still
 * holds its sockets. */
static void watch(void)
{
    pid_t pid = find();
    int fd = pid > 0 ? pidfd_open(pid, 0) : -1;
    if (is_orphan(pid) || is_orphan(find()))
        leave();
    if (fd < 0)
        return;
    pthread_t thread;
    if (bats_wake_thread(&thread, await_end, (void *)(intptr_t)fd) == 0)
        pthread_detach(thread);
    else
        close(fd);
}

void bats_launcher_look(int64_t silence_us)
{
    bool mpirun = getenv("OMPI_COMMAND") != NULL;
    impatient = mpirun;
    int least_ms = START_MS + RANK_MS * (int)bats_launcher_ranks();
    int64_t silence_ms = silence_us / 1000;
    if (bats_launcher_recovers() && silence_ms < INT_MAX / STARTS)
        start_ms = silence_ms * STARTS > least_ms ? (int)silence_ms * STARTS
                                                  : least_ms;
    /* mpirun starts its daemons through the batch system. */
    by_batch_system = !mpirun && bats_batch_launched();
    watch();
}

void bats_launcher_started(void)
{
    start_ms = -1;
}

bool bats_launcher_is_batch_system(void)
{
    return by_batch_system;
}

bool bats_launcher_recovers(void)
{
    const char *recovery = getenv("OMPI_MCA_orte_enable_recovery");
    return recovery != NULL && strcmp(recovery, "1") == 0;
}

void bats_launcher_fail(void)
{
    if (!bats_launcher_recovers() || !bats_mpirun_is_parent() ||
        kill(getppid(), SIGTERM) != 0)
        return;
    struct timespec patience = {PATIENCE_MS / 1000, 0};
    nanosleep(&patience, NULL);
}

void bats_launcher_see_off(void)
{
    int fd = bats_mpirun_is_parent() ? pidfd_open(getppid(), 0) : -1;
    if (fd < 0 || fork() != 0)
        return;
    setsid();
    /* mpirun waits until no process can write to its pipes any more. */
    dup2(fd, 0);
    close_range(1, ~0u, 0);
    struct pollfd ended = {.fd = 0, .events = POLLIN};
    if (poll(&ended, 1, PATIENCE_MS) == 0 &&
        pidfd_send_signal(0, SIGTERM, NULL, 0) == 0 &&
        poll(&ended, 1, PATIENCE_MS) == 0)
        pidfd_send_signal(0, SIGKILL, NULL, 0);
    _exit(0);
}

/* ---- signals ---- */

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
    drain = 1;
}

/* Ends a sleep. */
static void wake(int signal)
{
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
    return impatient ? 400000 : INT64_MAX;
}
