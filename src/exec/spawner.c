#include "exec/spawner.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec/command.h"

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

static posix_spawnattr_t *new_attributes(void)
{
    posix_spawnattr_t *attributes = malloc(sizeof *attributes);
    sigset_t set;

    if (!attributes || posix_spawnattr_init(attributes)) {
        free(attributes);
        return NULL;
    }
    posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP |
                                             POSIX_SPAWN_SETSIGMASK |
                                             POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setpgroup(attributes, 0);
    sigemptyset(&set);
    posix_spawnattr_setsigmask(attributes, &set);
    sigfillset(&set);
    posix_spawnattr_setsigdefault(attributes, &set);
    return attributes;
}

int bats_spawner_init(struct bats_spawner *spawner, struct bats_error *err)
{
    *spawner = (struct bats_spawner){.null = -1};
    spawner->attributes = new_attributes();
    if (!spawner->attributes)
        return bats_error_set(err, BATS_ENOMEM,
                              "out of memory for starting tasks");
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
    if (spawner->attributes)
        posix_spawnattr_destroy(spawner->attributes);
    free(spawner->attributes);
    *spawner = (struct bats_spawner){.null = -1};
}

static int add_descriptors(posix_spawn_file_actions_t *actions, int null,
                           const int fds[2])
{
    int rc = posix_spawn_file_actions_adddup2(actions, null, 0);

    if (!rc)
        rc = posix_spawn_file_actions_adddup2(actions, fds[0], 1);
    if (!rc)
        rc = posix_spawn_file_actions_adddup2(actions, fds[1], 2);
    if (!rc)
        rc = posix_spawn_file_actions_addclosefrom_np(actions, 3);
    return rc;
}

int bats_spawner_run(const struct bats_spawner *spawner, const char *line,
                     char **environment, const int fds[2], pid_t *pid)
{
    char *shell[] = {"sh", "-c", "--", (char *)line, NULL};
    posix_spawn_file_actions_t actions;
    int rc = posix_spawn_file_actions_init(&actions);

    if (rc)
        return rc;
    rc = add_descriptors(&actions, spawner->null, fds);
    if (!rc) {
        char **argv = bats_command_split(line);
        if (!argv || posix_spawnp(pid, argv[0], &actions, spawner->attributes,
                                  argv, environment))
            rc = posix_spawn(pid, "/bin/sh", &actions, spawner->attributes,
                             shell, environment);
        free(argv);
    }
    posix_spawn_file_actions_destroy(&actions);
    return rc;
}
