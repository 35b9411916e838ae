#include "exec/process/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/process/command.h"

#define STACK ((size_t)64 * 1024)
#define N_STANDARD 31 /* signals that are not real-time signals */

/* A descriptor for /dev/null above 2. If this process lacks one of the three
 * standard ones, it stays filled: else a pipe might get its number. */
static int open_null(void)
{
    int fd;

    do
        fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    while (fd >= 0 && fd <= 2);
    return fd;
}

/* Of the real-time signals. Nobody uses them, so they need not be asked for
 * each time. */
static int note_caught(struct bats_spawner *spawner)
{
    struct sigaction action;

    spawner->caught = malloc(NSIG * sizeof *spawner->caught);
    if (!spawner->caught)
        return -1;
    for (int i = N_STANDARD + 1; i < NSIG; i++)
        if (sigaction(i, NULL, &action) == 0 && action.sa_handler != SIG_DFL)
            spawner->caught[spawner->n++] = i;
    return 0;
}

int bats_spawner_init(struct bats_spawner *spawner, struct bats_error *err)
{
    *spawner = (struct bats_spawner){.null = -1};
    void *stack = mmap(NULL, STACK, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (stack != MAP_FAILED)
        spawner->stack = stack;
    if (stack == MAP_FAILED || note_caught(spawner) < 0) {
        bats_spawner_release(spawner);
        return bats_error_set(err, BATS_ENOMEM,
                              "out of memory for starting tasks");
    }
    spawner->null = open_null();
    if (spawner->null < 0) {
        bats_error_set(err, BATS_ESYS, "cannot open /dev/null: %s",
                       strerror(errno));
        bats_spawner_release(spawner);
        return BATS_ESYS;
    }
    return 0;
}

void bats_spawner_release(struct bats_spawner *spawner)
{
    if (spawner->null >= 0)
        close(spawner->null);
    if (spawner->stack)
        munmap(spawner->stack, STACK);
    free(spawner->caught);
    *spawner = (struct bats_spawner){.null = -1};
}

/* ---- in the child: nothing but system calls, for its memory is ours ---- */

struct start {
    const struct bats_spawner *spawner;
    const int *fds;
    const char *path;  /* where to look for argv[0], */
    char *const *argv; /*   or NULL: `shell` it is */
    char *const *shell;
    char *const *environment;
    int code; /* why nothing could be executed */
};

/* A handler would run on our memory if a signal came now. */
static int prepare(const struct start *start)
{
    const struct bats_spawner *spawner = start->spawner;
    struct sigaction action = {.sa_handler = SIG_DFL};
    sigset_t none;

    for (int i = 1; i <= N_STANDARD; i++)
        sigaction(i, &action, NULL); /* fails for SIGKILL and SIGSTOP */
    for (size_t i = 0; i < spawner->n; i++)
        sigaction(spawner->caught[i], &action, NULL);
    if (setpgid(0, 0) < 0 || dup2(spawner->null, 0) < 0 ||
        dup2(start->fds[0], 1) < 0 || dup2(start->fds[1], 2) < 0)
        return -1;
    closefrom(3);
    sigemptyset(&none);
    return sigprocmask(SIG_SETMASK, &none, NULL);
}

/* Another directory may have it. */
static bool is_elsewhere(int code)
{
    return code == ENOENT || code == EACCES || code == ENOTDIR ||
           code == ENODEV || code == ESTALE || code == ETIMEDOUT;
}

/* Returns if there is no such program, as execvp, but leaves it to the shell to
 * be one for a script that does not name its own. */
static void execute(const struct start *start)
{
    const char *name = start->argv[0];
    char file[PATH_MAX];
    size_t n = strlen(name);

    errno = ENOENT;
    if (strchr(name, '/')) {
        execve(name, start->argv, start->environment);
        return;
    }
    for (const char *at = start->path; *at;) {
        size_t length = strcspn(at, ":");
        if (length > 0 && length + n + 2 <= sizeof file) {
            memcpy(file, at, length);
            file[length] = '/';
            memcpy(file + length + 1, name, n + 1);
            execve(file, start->argv, start->environment);
        } else if (length == 0) {
            execve(name, start->argv, start->environment);
        }
        if (!is_elsewhere(errno))
            return;
        at += length + (at[length] == ':');
    }
}

static int child(void *argument)
{
    struct start *start = argument;

    if (prepare(start) == 0) {
        if (start->argv)
            execute(start);
        execve("/bin/sh", start->shell, start->environment);
    }
    start->code = errno;
    return 127; /* its exit status */
}

/* ---- in the parent ---- */

/* Until the child executes something it has our memory, and we wait. */
static int start_child(struct start *start, pid_t *pid)
{
    sigset_t all, before;

    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t new = clone(child, (char *)start->spawner->stack + STACK,
                      CLONE_VM | CLONE_VFORK | SIGCHLD, start);
    int code = new < 0 ? errno : start->code;
    if (new > 0 && code != 0)
        waitpid(new, NULL, 0);
    else
        *pid = new;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return code;
}

int bats_spawner_run(const struct bats_spawner *spawner, const char *line,
                     char **environment, const int fds[2], pid_t *pid)
{
    char *shell[] = {"sh", "-c", "--", (char *)line, NULL};
    char **argv = bats_command_split(line);
    const char *path = getenv("PATH");
    struct start start = {
        .spawner = spawner,
        .fds = fds,
        .path = path ? path : "/bin:/usr/bin",
        .argv = argv,
        .shell = shell,
        .environment = environment,
    };
    int code = start_child(&start, pid);

    free(argv);
    return code;
}
