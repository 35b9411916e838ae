/*
 * hosts: the file that says where the ranks of the next start of this run
 * belong (--release): a host per line, first that of rank 0, as srun
 * understands it in SLURM_HOSTFILE with --distribution=arbitrary, and mpirun
 * with --hostfile.
 *
 * Layer: run, private to the master. At the start it has all ranks, so that
 * whoever finds the run cut down can leave out the hosts that are gone. At the
 * end it has those on nodes that are kept; where nothing is to be gone on with
 * it is removed.
 */
#ifndef BATS_HOSTS_H
#define BATS_HOSTS_H

#include <stdint.h>

#include "bats/error.h"

struct master;

/* Which node each machine is on, the nodes numbered from 0. For free(); NULL:
 * out of memory. *keep: that of rank 0, UINT32_MAX if no machine is there. */
uint32_t *bats_hosts_nodes(const struct master *m, uint32_t *keep);

/* Writes the file, in one step: nobody ever sees half of it. BATS_ESYS. */
int bats_hosts_write(const struct master *m, struct bats_error *err);

#endif
