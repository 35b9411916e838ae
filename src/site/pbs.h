/*
 * pbs: reads the JSON of PBS Professional's commands into an allocation.
 *
 * Layer: site, private to pbs.c and its test.
 */
#ifndef BATS_SITE_PBS_H
#define BATS_SITE_PBS_H

#include "site/allocation.h"

/* `qstat -f -F json JOB`: the queue is the only part, each host of exec_vnode a
 * node with its ncpus; start, end (start and walltime), user and account.
 * BATS_ESYS: the job does not run, or this is something else; BATS_ENOMEM. */
int bats_pbs_read_job(const char *json, struct bats_allocation *allocation,
                      struct bats_error *err);

/* `pbsnodes -aF json`: a node is whole if the job has all of its CPUs. Its rate
 * is 1 per core: PBS knows no prices. BATS_ESYS. */
int bats_pbs_read_nodes(const char *json, double threads_per_core,
                        struct bats_allocation *allocation,
                        struct bats_error *err);

#endif
