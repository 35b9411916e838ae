/*
 * model: how the machines of a cluster are priced, and how long they last.
 *
 * Layer: input. Clusters files and scenarios have the same keys for this:
 *
 *   charge = 3                      per machine and window
 *          | 3/h                    per machine and hour
 *          | 1/h for 2h, 0.25/h after      by the age of the machine
 *          | 0.013/h..0.016/h       of the shortest and the longest block
 *   block = 1h..6h                  machines are bought in blocks: multiples of
 *                                   the shortest length
 *   reclaimable = yes               machines may be taken away; then also:
 *   notice = 2m                     time between the notice and the end
 *   guaranteed = 2h                 not taken away before this age
 *   free = 1h                       no charge if taken away before this age
 *   lifetime = lognormal(90m, 1.39), 34%   expected by plans, and drawn by
 *          | exponential(2h)        emulation and simulation: the share of
 *          | weibull(2h, 1.5)       machines (default 100%) that are ever taken
 *                                   away, and their age then (bats/lifetime.h)
 *          | trace FILE             a line for each observed machine: the age
 *                                   at which it was reclaimed, or never; of
 *                                   more than 100, their percentiles count
 *
 *   slots = 16                      tasks of one core at a time on a machine
 *   memory = 64G                    of a machine; default: not counted
 *   gpus = 2                        of a machine; default: none
 *
 * A machine without any of the six keys from `block` to `lifetime` is on
 * demand. Prices by age, blocks and `free` need billing = second
 * (bats/billing.h), which is then the default. Also `speed` (emulation), `expected`, and the keys of
 * reliability.h: reliable, charge_lost, and those that emulate losses, which
 * make a cluster unreliable.
 */
#ifndef BATS_INPUT_MODEL_H
#define BATS_INPUT_MODEL_H

#include "bats/billing.h"
#include "bats/cluster.h"
#include "bats/error.h"
#include "bats/need.h"
#include "input/reliability.h"

/* A cluster as a file describes it. */
struct bats_model {
    struct bats_cluster cluster; /* `max` is UINT32_MAX if the file does not
                                  * imply it */
    bool by_hour;                /* the charge in the file is per hour */
    double speed;                /* emulated speed; 1: real speed */
    bats_time expected;          /* runtime of a task; 0: unspecified */
    bool is_reliable;            /* the file has reliable = yes */
    struct bats_reliability reliability; /* emulated losses */
    struct bats_stock stock;             /* of a machine; cores 0: unknown */
};

/* Copies the name of a cluster if `text` is a valid one; else BATS_EINPUT with
 * a sentence. */
int bats_cluster_name_parse(const char *text, char name[BATS_CLUSTER_NAME],
                            struct bats_error *err);

/* The age at which emulation or simulation with this seed reclaims the machine
 * in its life number `life`, from 0; BATS_NEVER: it does not. */
bats_time bats_model_lifetime(const struct bats_cluster *c, uint64_t seed,
                              uint32_t machine, uint32_t life);

#endif
