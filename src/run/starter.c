#include "run/starter.h"

#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MARK "BATS_STARTER" /* the process that waits for mpirun */
#define NEWS SIGRTMIN       /* its value is the exit code, or */
#define HERE (-1)           /* this, from rank 0 */

#if defined(OPEN_MPI)
/* `isolated`: on this machine, even in a job that has others. */
static const char *const options[] = {"--quiet",
                                      "--oversubscribe",
                                      "--bind-to",
                                      "none",
                                      "--allow-run-as-root",
                                      "--mca",
                                      "plm",
                                      "isolated",
                                      "--mca",
                                      "mpi_yield_when_idle",
                                      "1"};
#elif defined(MPICH_VERSION)
static const char *const options[] = {"-launcher", "fork", "-hosts",
                                      "localhost"};
#else
static const char *const options[] = {""};
#endif
#define N_OPTIONS (sizeof options / sizeof *options)

static pid_t starter; /* as a rank sees it */

uint32_t bats_starter_ranks(void)
{
    static const char *const sizes[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE",
                                        "MV2_COMM_WORLD_SIZE", "FLUX_JOB_SIZE",
                                        "SLURM_STEP_NUM_TASKS"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        if (getenv(sizes[i]) != NULL)
            return (uint32_t)strtoul(getenv(sizes[i]), NULL, 10);
    return 0;
}

bool bats_starter_is_used(void)
{
    return starter != 0 || getenv(MARK) != NULL;
}

/* ---- in the process that the user started ---- */

/* ":" divides programs for mpirun, even as an argument of one. So it goes there
 * as ":" and this, and what already looks like that with one more. */
#define HIDDEN '\001'

static bool is_colon(const char *word)
{
    return word[0] == ':' && word[1 + strspn(word + 1, "\001")] == '\0';
}

static char *hide(char *word)
{
    char *hidden;
    if (!is_colon(word))
        return word;
    return asprintf(&hidden, "%s%c", word, HIDDEN) < 0 ? word : hidden;
}

void bats_starter_arguments(char **argv)
{
    if (getenv(MARK) == NULL)
        return;
    for (; *argv != NULL; argv++)
        if (is_colon(*argv) && (*argv)[1] != '\0')
            (*argv)[strlen(*argv) - 1] = '\0';
}

/* {mpirun, OPTION..., -n, N, PROGRAM, ARGUMENT..., NULL}; n and program are
 * used. */
static char **command_of(const char *mpirun, char *n, char *program,
                         char *const *argv)
{
    size_t n_args = 0, at = 0;
    while (argv[n_args] != NULL)
        n_args++;
    char **all = calloc(N_OPTIONS + n_args + 5, sizeof *all);
    if (all == NULL)
        return NULL;
    all[at++] = (char *)mpirun;
    for (size_t i = 0; i < N_OPTIONS; i++)
        all[at++] = (char *)options[i];
    all[at++] = "-n";
    all[at++] = n;
    all[at++] = program;
    for (size_t i = 0; i < n_args; i++)
        all[at++] = hide(argv[i]);
    return all;
}

/* Executes mpirun. Does not return. */
static void become(char **command, const sigset_t *mask)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    sigprocmask(SIG_SETMASK, mask, NULL);
    execvp(command[0], command);
    if (errno == ENOENT) { /* it is not where it was at build time */
        command[0] = "mpirun";
        execvp(command[0], command);
    }
    fprintf(stderr, "bats-mpi: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

/* Waits for the end of mpirun; returns the exit code. */
static int attend(pid_t mpirun, const sigset_t *set)
{
    pid_t rank0 = 0;
    int code = -1, status;
    for (;;) {
        siginfo_t info;
        int signal = sigwaitinfo(set, &info);
        if (signal == NEWS) {
            int news = info.si_value.sival_int;
            rank0 = news == HERE ? info.si_pid : 0;
            code = news == HERE ? code : news;
        } else if (signal == SIGCHLD) {
            if (waitpid(mpirun, &status, WNOHANG) != mpirun)
                continue;
            if (code >= 0)
                return code;
            return WIFEXITED(status) ? WEXITSTATUS(status)
                                     : 128 + WTERMSIG(status);
        } else if (rank0 != 0) {
            kill(rank0, signal == SIGHUP ? SIGTERM : signal);
        } else if (signal > 0) { /* the run has not begun, or is over */
            code = code < 0 ? 128 + signal : code;
            kill(mpirun, SIGKILL);
        }
    }
}

int bats_starter_run(uint32_t n_ranks, char *const *argv,
                     struct bats_error *err)
{
    static const int passed[] = {SIGINT, SIGTERM, SIGHUP, SIGUSR1};
    char n[16], pid[16];
    char *program = realpath("/proc/self/exe", NULL);
    char **command =
        program != NULL ? command_of(BATS_MPIRUN, n, program, argv) : NULL;
    sigset_t set, mask;
    pid_t mpirun = -1;

    snprintf(n, sizeof n, "%u", n_ranks);
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    sigemptyset(&set);
    sigaddset(&set, NEWS);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, NULL, &mask);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        struct sigaction action;
        sigaddset(&mask, passed[i]);
        if (sigaction(passed[i], NULL, &action) == 0 &&
            action.sa_handler != SIG_IGN)
            sigaddset(&set, passed[i]);
    }
    sigprocmask(SIG_BLOCK, &set, NULL);
    if (command != NULL && setenv(MARK, pid, 1) == 0)
        mpirun = fork();
    if (mpirun == 0)
        become(command, &mask);
    int rc = mpirun > 0 ? attend(mpirun, &set)
                        : bats_error_set(err, BATS_ESYS, "%s: %s", BATS_MPIRUN,
                                         strerror(errno));
    free(command);
    free(program);
    return rc;
}

/* ---- in the ranks ---- */

static void tell(int what)
{
    union sigval value = {.sival_int = what};
    if (starter != 0)
        sigqueue(starter, NEWS, value);
}

/* The environment may be anybody's: a signal goes to this program only. */
static bool is_this_program(pid_t pid)
{
    char path[32], here[PATH_MAX], there[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
    return realpath("/proc/self/exe", here) != NULL &&
           realpath(path, there) != NULL && strcmp(here, there) == 0;
}

void bats_starter_meet(void)
{
    const char *mark = getenv(MARK);
    sigset_t all;
    if (mark == NULL)
        return;
    pid_t pid = (pid_t)atoi(mark);
    if (is_this_program(pid))
        starter = pid;
    unsetenv(MARK); /* hide it from tasks */
    /* mpirun's mask may be inherited. Signals from the terminal are for the
     * starter alone. */
    setpgid(0, 0);
    sigfillset(&all);
    sigprocmask(SIG_UNBLOCK, &all, NULL);
}

void bats_starter_ready(void)
{
    tell(HERE);
}

void bats_starter_tell(int exit_code)
{
    tell(exit_code);
}
