#include "exec/process/family.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/grow.h"

/* The parent of process `name`, or -1 if it is gone. */
static pid_t parent_of(DIR *proc, const char *name)
{
    char path[280], stat[512];
    char state;
    int parent;

    snprintf(path, sizeof path, "%s/stat", name);
    int fd = openat(dirfd(proc), path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return -1;
    ssize_t n = read(fd, stat, sizeof stat - 1);
    close(fd);
    if (n <= 0)
        return -1;
    stat[n] = '\0';
    /* "pid (name) state parent ...": the name may contain anything. */
    const char *end = strrchr(stat, ')');
    if (!end || sscanf(end + 1, " %c %d", &state, &parent) != 2)
        return -1;
    return parent;
}

/* The next child of this process in `proc`, or 0. The kernel's own list of
 * children (/proc/PID/task/TID/children) is not built into every kernel. */
static pid_t next_child(DIR *proc)
{
    pid_t self = getpid();
    struct dirent *entry;

    while ((entry = readdir(proc))) {
        pid_t pid = (pid_t)strtol(entry->d_name, NULL, 10);
        if (pid > 0 && parent_of(proc, entry->d_name) == self)
            return pid;
    }
    return 0;
}

int bats_family_spare(struct bats_family *family, pid_t pid,
                      struct bats_error *err)
{
    if (!bats_grow(&family->strangers, &family->capacity, family->n + 1,
                   sizeof *family->strangers))
        return bats_no_memory(err);
    family->strangers[family->n++] = pid;
    return 0;
}

bool bats_family_is_stranger(const struct bats_family *family, pid_t pid)
{
    for (size_t i = 0; i < family->n; i++)
        if (family->strangers[i] == pid)
            return true;
    return false;
}

/* True if this process has no children. Cheap, unlike reading /proc. */
static bool childless(void)
{
    siginfo_t info;

    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) < 0 &&
           errno == ECHILD;
}

int bats_family_init(struct bats_family *family, struct bats_error *err)
{
    DIR *proc;
    pid_t pid;

    *family = (struct bats_family){0};
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (childless())
        return 0;
    proc = opendir("/proc");
    if (!proc)
        return bats_error_set(err, BATS_ESYS, "cannot read /proc: %s",
                              strerror(errno));
    int rc = 0;
    while (rc == 0 && (pid = next_child(proc)))
        rc = bats_family_spare(family, pid, err);
    closedir(proc);
    if (rc < 0)
        bats_family_release(family);
    return rc;
}

void bats_family_release(struct bats_family *family)
{
    prctl(PR_SET_CHILD_SUBREAPER, 0);
    free(family->strangers);
    *family = (struct bats_family){0};
}

pid_t bats_family_sweep(struct bats_family *family, bool force)
{
    DIR *proc;
    pid_t pid, alive = 0;
    bool reaped = true;

    /* The children of a process that ends become ours: look again after a
     * death. */
    while (reaped && !alive && !childless() && (proc = opendir("/proc"))) {
        reaped = false;
        while ((pid = next_child(proc))) {
            if (bats_family_is_stranger(family, pid))
                continue;
            if (force && kill(pid, SIGKILL) < 0 && errno == EPERM)
                bats_family_spare(family, pid, NULL);
            else if (waitpid(pid, NULL, WNOHANG) == 0)
                alive = pid;
            else
                reaped = true;
        }
        closedir(proc);
    }
    return alive;
}
