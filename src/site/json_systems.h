/*
 * json_systems: reads the JSON of PBS Professional's commands and of `flux
 * jobs` into an allocation.
 *
 * Layer: site, private to json_systems.c and its test. Neither system knows
 * prices: a core is 1 per hour. BATS_ESYS: the job does not run, or this is
 * something else; BATS_ENOMEM.
 */
#ifndef BATS_SITE_JSON_SYSTEMS_H
#define BATS_SITE_JSON_SYSTEMS_H

#include "site/batch_system.h"

/* `qstat -f -F json JOB`: the queue is the only part, each host of exec_vnode a
 * node with its ncpus; start, end (start and walltime), user and account. */
int bats_pbs_read_job(const char *json, struct bats_allocation *allocation,
                      struct bats_error *err);

/* `pbsnodes -a -F json`: a node is whole if the job has all of its CPUs. */
int bats_pbs_read_nodes(const char *json, double threads_per_core,
                        struct bats_allocation *allocation,
                        struct bats_error *err);

/* `flux jobs --json JOB`, the job or an object with a list of jobs: the queue
 * is the only part, each host of nodelist a node with an equal share of ncores;
 * start, end, user and account. BATS_EINPUT: the list of hosts is garbled. */
int bats_flux_read_job(const char *json, struct bats_allocation *allocation,
                       struct bats_error *err);

#endif
