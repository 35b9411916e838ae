/* open_driver: the program that fills an open bag. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/process/environment.h"
#include "run/clock.h"
#include "run/open_state.h"

static const char *name_lock(char path[4096], const char *socket)
{
    snprintf(path, 4096, "%s.driver", socket);
    return path;
}

/* Everything the driver starts inherits the lock, so that no other session
 * begins beside it. */
int bats_open_driver_lock(struct bats_open_driver *d, const char *socket,
                          struct bats_error *err)
{
    char path[4096];
    int fd = open(name_lock(path, socket), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0) {
        d->lock = fd;
        return 0;
    }
    int why = errno;
    if (fd >= 0)
        close(fd);
    return bats_refuse(err, "%s: %s", path,
                       why == EWOULDBLOCK
                           ? "the driver of an earlier session still runs"
                           : strerror(why));
}

int bats_open_driver_start(struct bats_open_driver *d, char *const *words,
                           struct bats_error *err)
{
    struct bats_environment clean;
    posix_spawnattr_t how;
    posix_spawn_file_actions_t actions;
    sigset_t all, none;
    if (words == NULL)
        return 0;
    unsetenv("MAKELEVEL"); /* set by a make that has started this run */
    int rc = bats_environment_init(&clean, environ, err);
    if (rc < 0)
        return rc;
    sigfillset(&all);
    sigemptyset(&none);
    posix_spawnattr_init(&how);
    posix_spawnattr_setsigdefault(&how, &all);
    posix_spawnattr_setsigmask(&how, &none);
    posix_spawnattr_setflags(&how,
                             POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
    posix_spawn_file_actions_init(&actions);
    /* The same number: so the driver keeps it open. */
    posix_spawn_file_actions_adddup2(&actions, d->lock, d->lock);
    int code = posix_spawnp(&d->pid, words[0], &actions, &how, words,
                            bats_environment_merge(&clean, NULL));
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&how);
    bats_environment_release(&clean);
    return code == 0 ? 0
                     : bats_refuse(err, "%s: %s", words[0], strerror(code));
}

bool bats_open_driver_has_ended(struct bats_open_driver *d)
{
    int status;
    if (d->pid == 0)
        return true;
    if (waitpid(d->pid, &status, WNOHANG) != d->pid)
        return false;
    d->pid = 0;
    d->status =
        WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    return true;
}

void bats_open_driver_end(struct bats_open_driver *d, const char *socket,
                          int64_t grace_ms)
{
    char path[4096];
    int64_t until_us = bats_clock_now_us() + grace_ms * 1000;
    int signal = SIGTERM;
    while (!bats_open_driver_has_ended(d)) {
        if (signal != 0)
            kill(d->pid, signal);
        bats_clock_sleep(BATS_CLOCK_MASTER_US);
        signal = bats_clock_now_us() < until_us ? 0 : SIGKILL;
    }
    if (d->lock < 0)
        return;
    unlink(name_lock(path, socket));
    close(d->lock);
}
