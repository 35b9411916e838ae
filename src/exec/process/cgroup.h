/*
 * cgroup: the kernel's limit for the memory of a task.
 *
 * Layer: exec, private to the runner. If the cgroup (version 2) of this process
 * belongs to its user, who is not root, as in `systemd-run --user --scope -p
 * Delegate=yes`, the processes in it move to a group "bats" below it, since a
 * group with processes may not limit others. Each runner has a group beside
 * that, with `memory.max`, which its tasks enter. Otherwise nothing happens.
 */
#ifndef BATS_CGROUP_H
#define BATS_CGROUP_H

#include <stdbool.h>
#include <stdint.h>

struct bats_cgroup {
    bool looked; /* whether there may be a group */
    char *tasks; /* directory of the group; NULL: there is none */
};

/* A line for the shell that enters the group and does `command`, which is
 * killed, with all of its processes, if it holds more. For free(). NULL: there
 * is no group. */
char *bats_cgroup_enter(struct bats_cgroup *group, int64_t kib,
                        const char *command);

/* When no task is left. */
void bats_cgroup_release(struct bats_cgroup *group);

#endif
