/*
 * introduce: what a rank says of itself when it joins.
 *
 * Layer: mpi. Used by the worker, and by the master when it works itself.
 *
 * The partition comes from Slurm's environment. In a heterogeneous job Slurm
 * tells every rank the partition of the last group, so there the group is
 * looked up in which the host is.
 */
#ifndef BATS_INTRODUCE_H
#define BATS_INTRODUCE_H

#include "proto/proto.h"

struct bats_introduction {
    struct bats_hello hello; /* its texts are the two below */
    char host[BATS_PROTO_HOST];
    char partition[BATS_PROTO_PARTITION];
};

void bats_introduce(struct bats_introduction *introduction, int rank);

#endif
