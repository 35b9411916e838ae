/*
 * node: where a rank runs, as the rank itself sees it.
 *
 * Layer: site. Used by src/run: every rank looks when it joins and tells the
 * master.
 *
 * The host name comes from the system, the number of the node and the rank's
 * place on it from PMIx, through any launcher (Slurm, Open MPI's mpirun, PBS,
 * Flux); PMIx is only asked if the MPI library has opened it. The partition
 * comes from Slurm's environment. In a heterogeneous job Slurm tells every
 * rank the partition of the last group, so in that case the host's group is
 * looked up.
 */
#ifndef BATS_SITE_NODE_H
#define BATS_SITE_NODE_H

#include <stdint.h>

#include "site/hardware.h"

#define BATS_NODE_HOST 256
#define BATS_NODE_PARTITION 64
#define BATS_NODE_UNKNOWN UINT32_MAX

struct bats_node {
    char host[BATS_NODE_HOST];
    char partition[BATS_NODE_PARTITION]; /* "" if unknown */
    uint32_t id;         /* number of the node, or BATS_NODE_UNKNOWN */
    uint32_t local_rank; /* among those on the node, or BATS_NODE_UNKNOWN */
    struct bats_hardware hardware;
};

/* Call after MPI_Init. */
void bats_node_look(struct bats_node *node);

#endif
