/*
 * flux: reads the JSON of `flux jobs` into an allocation.
 *
 * Layer: site, private to flux.c and its test.
 */
#ifndef BATS_SITE_FLUX_H
#define BATS_SITE_FLUX_H

#include "site/allocation.h"

/* `flux jobs --json JOB`, the job or an object with a list of jobs: the queue
 * is the only part, each host of nodelist a node with an equal share of ncores;
 * start, end, user. Flux knows no prices: a core is 1 per hour. BATS_ESYS: the
 * job does not run, or this is something else; BATS_EINPUT, BATS_ENOMEM. */
int bats_flux_read_job(const char *json, struct bats_allocation *allocation,
                       struct bats_error *err);

#endif
