/*
 * cluster: a class of identical machines with a charge per window.
 *
 * Layer: plan. Plain data, filled in from the clusters file or a scenario, and
 * copied by the scheduler. A cluster's true speed is not here: the scheduler
 * has to learn it.
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
    uint32_t max;      /* A_i: machines that may be held at the same time */
    bool unreliable;   /* executions may be lost there, without a word; or */
    bats_time noticed; /*   the run learns of each so long after it; 0: no */
    bool lost_is_free; /* charged for use: only executions that answer are */
    struct bats_tariff tariff; /* billed by the second; else nothing */
    bool reclaimable;  /* its machines may be taken away; then: */
    bats_time notice;  /*   so long before, that is said; */
    struct bats_lifetime lifetime; /* what is expected */
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
