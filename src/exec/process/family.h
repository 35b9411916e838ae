/*
 * family: starts the processes of tasks, and ends what they leave behind.
 *
 * Layer: exec, private to the runner. Model: this process is a "child
 * subreaper" (prctl(2)): descendants that outlive their parents become its
 * children, even a daemon in its own session. So when the main process of a
 * task is gone, every child that did not exist before the first task belongs to
 * that task. This process starts no others between init and release. It can
 * have only one family.
 *
 * Children that existed before (MPI may have some) are never touched.
 * Processes under another user id cannot be killed and are left alone.
 *
 * A task is started by posix_spawn, which does not copy the memory of an MPI
 * process. It leads its own process group, has all signals unblocked with
 * default actions, /dev/null as standard input and no descriptor above 2. A
 * line that needs no shell is run directly; if that fails for any reason, the
 * shell runs the line, and gives the message and the exit status.
 *
 * If this process is killed outright, a guard kills the running task: a small
 * process that sleeps on a pipe whose other end only this process holds. When
 * that is closed, the guard sends KILL to the process group named in a shared
 * page, and exits. It costs nothing while tasks start and end.
 */
#ifndef BATS_FAMILY_H
#define BATS_FAMILY_H

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bats/error.h"

struct bats_family {
    pid_t *strangers; /* children that do not belong to tasks */
    size_t n, capacity;
    pid_t guard;
    int alive;     /* this process's end of the guard's pipe; -1: no family */
    pid_t *group;  /* the page shared with the guard; 0: no task */
    int null;      /* /dev/null; -1: no family */
    char *workdir; /* of tasks; NULL: that of this process */
    posix_spawnattr_t attributes;
};

/* `workdir` of tasks may be NULL. Descriptors 0 to 2 are open afterwards.
 * BATS_ENOMEM, BATS_ESYS. Release it also after a failure. */
int bats_family_init(struct bats_family *family, const char *workdir,
                     struct bats_error *err);
void bats_family_release(struct bats_family *family);

/* Runs `line` with standard output on fds[0] and standard error on fds[1]
 * (both above 2). Returns 0 and fills *pid, or an errno: not even the shell
 * could be started. */
int bats_family_run(const struct bats_family *family, const char *line,
                    char **environment, const int fds[2], pid_t *pid);

/*
 * Splits `line` into an argument vector in one block for free(). NULL if a
 * shell has to run the line, or if memory is short, in which case the shell
 * may still succeed. A line is run directly if it consists of plain words only
 * (letters, digits and _ . / : = , + @ % -) with blanks between them, and the
 * first word is neither an assignment nor one that a shell would interpret.
 * NULL is always safe.
 */
char **bats_command_split(const char *line);

/* Names the process group of the running task; 0: none. */
void bats_family_guard(struct bats_family *family, pid_t group);

/*
 * Reaps ended children; with `force`, sends KILL to all others. Returns a
 * child that has not ended yet (call again when it has), or 0 if none is left.
 */
pid_t bats_family_sweep(struct bats_family *family, bool force);

/*
 * The memory that the descendants hold, KiB: exact above the limit, otherwise
 * never too small; 0: /proc cannot be read. Memory that several of them share
 * counts once (Pss). Pss is slow to read, so it is read only if the resident
 * sets (Rss) exceed the limit.
 */
int64_t bats_family_memory(const struct bats_family *family,
                           int64_t limit_kib);

/* The number of processes that the kernel of this node has killed since boot
 * because memory ran out, from `path` (/proc/vmstat). 0: unknown. */
int64_t bats_family_oom_kills(const char *path);

#endif
