/*
 * cluster: a class of identical machines with a charge per window.
 *
 * Layer: plan. Plain data, filled in from the clusters file or a scenario, and
 * copied by the scheduler. It does not hold the true speed, which the
 * scheduler must learn.
 */
#ifndef BATS_CLUSTER_H
#define BATS_CLUSTER_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/lifetime.h"
#include "bats/tariff.h"
#include "bats/units.h"

#define BATS_CLUSTER_NAME 64 /* longest name of a cluster, with the NUL */
#define BATS_CLUSTERS_MAX 32 /* most clusters in one run */

struct bats_cluster {
    char name[BATS_CLUSTER_NAME];
    bats_money charge; /* c_i: per machine and window entered, >= 0 */
    uint32_t max;      /* A_i: most machines held at the same time */
    bool unreliable;   /* executions may be lost, silently unless */
    bats_time noticed; /* delay after which the run learns of a loss; 0:
                          never */
    bool lost_is_free; /* if charged for use: lost executions are free */
    struct bats_tariff tariff;     /* used if billed by the second */
    bool reclaimable;              /* its machines may be reclaimed; then: */
    bats_time notice;              /* notice given before a reclaim */
    struct bats_lifetime lifetime; /* expected lifetime */
};

/* One machine of the platform; its id is its index in the table. */
struct bats_machine_spec {
    uint32_t cluster; /* index into the table of clusters */
    uint32_t slots;   /* tasks it can run at the same time, >= 1 */
};

#define BATS_MACHINE_NAME (BATS_CLUSTER_NAME + 16)

/* The name of machines[machine] for people, "slow-3": machines are numbered
 * from 1 within their cluster. Returns `text`. */
const char *bats_machine_name(char text[BATS_MACHINE_NAME],
                              const struct bats_cluster *clusters,
                              const struct bats_machine_spec *machines,
                              uint32_t machine);

#endif
