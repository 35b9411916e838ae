/*
 * node: looks up where this rank runs, and what its job may use there.
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

/* Fills in gpus and usable_bytes; the latter needs the hardware to be known.
 * The memory is that of the node, or less if the batch system or a control
 * group (version 1 or 2) limits it. The GPUs are those of CUDA_VISIBLE_DEVICES
 * or ROCR_VISIBLE_DEVICES, as Slurm sets them for a step: the first of these
 * that is set counts. */
void bats_node_look_at_resources(struct bats_node *node);

/* For tests: the smallest memory limit of a control group and its ancestors,
 * as listed in `groups` (a file like /proc/self/cgroup), below the directory
 * `root` (like /sys/fs/cgroup); UINT64_MAX: none. */
uint64_t bats_node_limit(const char *groups, const char *root);

#endif
