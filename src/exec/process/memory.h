/*
 * memory: what the processes of a task hold, and whether the kernel ran out.
 *
 * Layer: exec, private to the runner. The processes of a task are all
 * descendants of this process that it has started since its family was made
 * (family.h), including those in other process groups, as an MPI launcher
 * makes them. Memory that several of them share counts once (Pss). Pss is slow
 * to read, so it is read only if the resident sets (Rss) exceed the limit.
 */
#ifndef BATS_MEMORY_H
#define BATS_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

#include "exec/process/family.h"

/* KiB: exact above the limit, otherwise never too small. 0: /proc cannot be
 * read. */
int64_t bats_memory_of_task(const struct bats_family *family,
                            int64_t limit_kib);

/* The number of processes that the kernel of this node has killed since boot
 * because memory ran out, from `path` (/proc/vmstat). 0: unknown. */
int64_t bats_memory_oom_kills(const char *path);

#endif
