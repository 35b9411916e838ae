/*
 * forked: the workers of a run without a launcher. This process forks them and
 * speaks with each over a socket pair.
 *
 * Layer: run. Used by cli. This process is rank 0, the workers are ranks 1 to N
 * on this host. The streams are those of worker jobs (hub.h, gateway.h), but all
 * have been let in from the start. When one side ends, the other reads the end
 * of the stream. So nobody needs a heart
 * (heart.h): a worker that dies is noticed at once, and one whose master has
 * died stops its task and leaves.
 */
#ifndef BATS_FORKED_H
#define BATS_FORKED_H

#include <stdint.h>

#include "bats/error.h"

/* Forks n_workers processes, each in a process group of its own, so that the
 * terminal's signals reach only rank 0, which ends the run in order. Call it
 * while this process has one thread and no open files. Returns in all of them,
 * with *rank. BATS_EINPUT: the system does not allow that many, and none is
 * left; BATS_ENOMEM, BATS_ESYS. */
int bats_forked_start(uint32_t n_workers, int *rank, struct bats_error *err);

#endif
