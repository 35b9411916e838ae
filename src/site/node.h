/*
 * node: looks up where this rank runs.
 *
 * Layer: site. Used by src/run: every rank looks when it joins and tells the
 * master.
 *
 * The host name comes from the system, the number of the node and the rank's
 * place on it from PMIx, through any launcher (Slurm, Open MPI's mpirun, PBS,
 * Flux); PMIx is only asked if the MPI library has opened it. The partition
 * comes from Slurm's environment. In a heterogeneous job Slurm tells every
 * rank the partition of the last group; then the host's group is looked up.
 */
#ifndef BATS_SITE_NODE_H
#define BATS_SITE_NODE_H

#include "util/node.h"

/* Call after MPI_Init. */
void bats_node_look(struct bats_node *node);

#endif
