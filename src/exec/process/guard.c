#include "exec/process/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Runs the guard. It uses only system calls, because other threads may have
 * held locks when it was cloned. It keeps no descriptor but the pipe: a
 * launcher that waits for the end of our output would otherwise wait for the
 * guard, too. */
static void watch(int end, const volatile pid_t *group)
{
    char byte;

    dup2(end, 0);
    close_range(1, UINT_MAX, 0);
    setsid();
    prctl(PR_SET_NAME, "bats-guard");
    while (read(0, &byte, 1) < 0 && errno == EINTR)
        ;
    if (*group > 0)
        kill(-*group, SIGKILL);
    _exit(0);
}

int bats_guard_init(struct bats_guard *guard, struct bats_error *err)
{
    int ends[2] = {-1, -1};
    sigset_t all, before;

    *guard = (struct bats_guard){.alive = -1};
    guard->group = mmap(NULL, sizeof *guard->group, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (guard->group == MAP_FAILED)
        guard->group = NULL;
    if (!guard->group || pipe2(ends, O_CLOEXEC) < 0)
        goto error;
    guard->alive = ends[1];

    /* Not fork(): a plain wait ignores a child without an exit signal, so that
     * checking for "no children" stays cheap (family.c), and MPI's fork
     * handlers must not run here. The guard keeps all signals blocked. */
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    guard->pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, 0);
    if (guard->pid == 0)
        watch(ends[0], guard->group);
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (guard->pid < 0)
        goto error;
    close(ends[0]);
    return 0;
error:
    bats_error_set(err, BATS_ESYS, "cannot start the guard process: %s",
                   strerror(errno));
    if (ends[0] >= 0)
        close(ends[0]);
    bats_guard_release(guard);
    return BATS_ESYS;
}

void bats_guard_release(struct bats_guard *guard)
{
    if (guard->alive >= 0)
        close(guard->alive);
    if (guard->pid > 0)
        while (waitpid(guard->pid, NULL, __WALL) < 0 && errno == EINTR)
            ;
    if (guard->group)
        munmap(guard->group, sizeof *guard->group);
    *guard = (struct bats_guard){.alive = -1};
}

void bats_guard_set(struct bats_guard *guard, pid_t group)
{
    *(volatile pid_t *)guard->group = group;
}
