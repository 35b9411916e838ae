/*
 * memory: what the processes of a task hold, and whether the kernel ran out.
 *
 * Layer: exec, private to the runner. A task's processes are all descendants of
 * this one that it has started since its family was made (family.h): also those
 * with groups of their own, as an MPI launcher makes. What several of them
 * share counts once (Pss), which is slow to find out; so it is only asked for
 * if their resident sets (Rss) exceed the limit.
 */
#ifndef BATS_MEMORY_H
#define BATS_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

#include "exec/process/family.h"

/* KiB; exact where it exceeds the limit, else never too small. `guard` is no
 * part of the task. 0: /proc cannot be read. */
int64_t bats_memory_of_task(const struct bats_family *family, pid_t guard,
                            int64_t limit_kib);

/* Processes that the kernel has killed on this node because memory ran out,
 * since its boot; by `path` (/proc/vmstat). 0: unknown. */
int64_t bats_memory_oom_kills(const char *path);

#endif
