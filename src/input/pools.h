/*
 * pools: what is known about an unreliable and a reliable pool, as a JSON file
 * or as a part of a profile.
 *
 * Layer: input. Found from a scenario, or from the record of a run; read by
 * `bats-mpi frontier`.
 *
 *   {"bats_pools": 1, "tasks": 150, "currency": "SU",
 *    "unreliable": {"slots": 50, "charge_per_hour": "1", "gamma": 0.83,
 *                   "charge_lost": false, "times_s": [1019.5, 1100, ...]},
 *    "reliable": {"slots": 5, "charge_per_hour": "34", "times_s": [2066]}}
 *
 * If losses are noticed, the unreliable pool has three more members:
 * "noticed_s": 10, "loses": 0.3, "lost_s": [60, 1800.5, ...] (bats/plays.h).
 */
#ifndef BATS_POOLS_H
#define BATS_POOLS_H

#include <jansson.h>

#include "bats/answers.h"
#include "bats/error.h"
#include "bats/plays.h"

#define BATS_POOLS_TIMES 1000 /* most times kept per pool: quantiles of all */

#define BATS_POOLS_INSTANCES 100

struct bats_pools {
    struct bats_plays_model model; /* has no tail; its times are these: */
    bats_time *times[2];           /* unreliable, reliable; owned */
    bats_time *lost;               /* owned; or NULL */
    bats_money charge[2];          /* per hour */
    char currency[16];
};

/* Takes over the times, which are sorted and reduced to quantiles. */
void bats_pools_set(struct bats_pools *pools, int pool, bats_time *times,
                    size_t n);
/* The same for times until a loss; `noticed` > 0. */
void bats_pools_set_lost(struct bats_pools *pools, bats_time noticed,
                         double loses, bats_time *times, size_t n);
void bats_pools_set_charge(struct bats_pools *pools, int pool,
                           bats_money per_hour);

/* Typical instances of the pool, for the engine's option `known`
 * (bats/sched.h). Returns their number. */
size_t bats_pools_instances(const struct bats_pools *pools, int pool,
                            struct bats_instance list[BATS_POOLS_INSTANCES]);

/* Convert to and from a JSON object. bats_pools_to_json: NULL without memory.
 * bats_pools_from_json: BATS_EINPUT with "path: sentence", BATS_ENOMEM. */
json_t *bats_pools_to_json(const struct bats_pools *pools);
int bats_pools_from_json(const json_t *object, const char *path,
                         struct bats_pools *pools, struct bats_error *err);

/* Reads such a file, or the member "pools" of a profile (profile.h). Errors as
 * above, with "path:line: sentence" if it is not JSON. */
int bats_pools_load(const char *path, struct bats_pools *pools,
                    struct bats_error *err);
/* Writes such a file. BATS_ESYS, BATS_ENOMEM. */
int bats_pools_save(const struct bats_pools *pools, const char *path,
                    struct bats_error *err);
void bats_pools_release(struct bats_pools *pools);

#endif
