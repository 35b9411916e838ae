/*
 * worker: what the master shares with the worker when it works itself.
 *
 * Layer: mpi.
 */
#ifndef BATS_WORKER_H
#define BATS_WORKER_H

#include "proto/proto.h"

/* What this rank says of itself. `host` is room for its name. */
void bats_worker_introduce(struct bats_hello *hello, int rank,
                           char host[BATS_PROTO_HOST]);

#endif
