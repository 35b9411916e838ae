/*
 * hosts: the file with the hosts of the ranks for the next start of this run
 * (--release): one host per line, that of rank 0 first, as srun understands it
 * in SLURM_HOSTFILE with --distribution=arbitrary, and mpirun with --hostfile.
 *
 * Layer: run, private to the master. At the start it lists all ranks, so that
 * after a crash a script can leave out the hosts that are gone. At the end it
 * lists the ranks on nodes that are kept; if the run is not to be continued,
 * it is removed.
 */
#ifndef BATS_HOSTS_H
#define BATS_HOSTS_H

#include <stdint.h>

#include "bats/error.h"

struct master;

/* The node of each machine, with nodes numbered from 0. For free(); NULL: out
 * of memory. *keep: the node of rank 0, UINT32_MAX if it has no machine. */
uint32_t *bats_hosts_nodes(const struct master *m, uint32_t *keep);

/* Writes the file atomically. BATS_ESYS. */
int bats_hosts_write(const struct master *m, struct bats_error *err);

#endif
