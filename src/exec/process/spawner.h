/*
 * spawner: turns a line into a process.
 *
 * Layer: exec. Used by runner. It uses posix_spawn, which does not copy the
 * memory of an MPI process. The child leads its own process group, has all
 * signals unblocked with default actions, /dev/null as standard input and no
 * descriptor above 2. A line that needs no shell is run directly; if that
 * fails for any reason, the shell runs the line, and gives the message and the
 * exit status.
 */
#ifndef BATS_SPAWNER_H
#define BATS_SPAWNER_H

#include <spawn.h>
#include <sys/types.h>

#include "bats/error.h"

struct bats_spawner {
    int null;      /* /dev/null; -1: released */
    char *workdir; /* of tasks; NULL: that of this process */
    posix_spawnattr_t attributes;
};

/* `workdir` may be NULL. BATS_ESYS. Descriptors 0 to 2 are open afterwards. */
int bats_spawner_init(struct bats_spawner *spawner, const char *workdir,
                      struct bats_error *err);
void bats_spawner_release(struct bats_spawner *spawner);

/* Runs `line` with standard output on fds[0] and standard error on fds[1]
 * (both above 2). Returns 0 and fills *pid, or an errno: not even the shell
 * could be started. */
int bats_spawner_run(const struct bats_spawner *spawner, const char *line,
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

#endif
