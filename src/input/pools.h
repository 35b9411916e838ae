/*
 * pools: what is known about an unreliable and a reliable pool.
 *
 * Layer: input. Found from the record of a run; a part of a profile
 * (profile.h). The frontier plays by it, and an engine that is told of its
 * instances can choose a strategy before it has seen any answer.
 */
#ifndef BATS_POOLS_H
#define BATS_POOLS_H

#include "bats/answers.h"
#include "bats/plays.h"

#define BATS_POOLS_TIMES 1000 /* most times kept per pool: quantiles of all */

#define BATS_POOLS_INSTANCES 100

struct bats_pools {
    struct bats_plays_model model; /* has no tail; its times are these: */
    bats_time *times[2];           /* unreliable, reliable; owned */
    bats_time *lost;               /* owned; or NULL */
};

/* Takes over the times, which are sorted and reduced to quantiles. */
void bats_pools_set(struct bats_pools *pools, int pool, bats_time *times,
                    size_t n);
/* The same for times until a loss; `noticed` > 0. */
void bats_pools_set_lost(struct bats_pools *pools, bats_time noticed,
                         double loses, bats_time *times, size_t n);

/* Typical instances of the pool, for the engine's option `known`
 * (bats/sched.h). Returns their number. */
size_t bats_pools_instances(const struct bats_pools *pools, int pool,
                            struct bats_instance list[BATS_POOLS_INSTANCES]);

void bats_pools_release(struct bats_pools *pools);

#endif
