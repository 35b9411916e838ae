/*
 * model: how the machines of a cluster are priced, and how long they last.
 *
 * Layer: input. The clusters file and scenarios have the same keys for it:
 *
 *   charge = 3                      per machine and window
 *          | 3/h                    per machine and hour
 *          | 1/h for 2h, 0.25/h after      by the age of the machine
 *          | 0.013/h..0.016/h       of the shortest and the longest block
 *   block = 1h..6h                  it is bought for so long: some multiple of
 *                                   the shortest length
 *   reclaimable = yes               it may be taken away, then also:
 *   notice = 2m                     so long after that is said
 *   guaranteed = 2h                 not before this age
 *   free = 1h                       nothing is charged if that is earlier
 *   lifetime = lognormal(90m, 1.39), 34%   what is to be expected, and what
 *          | exponential(2h)        emulation and simulation draw: the share
 *          | weibull(2h, 1.5)       (default 100%) that is ever taken away, and
 *                                   the age at which it is (bats/lifetime.h)
 *          | trace FILE             a line for each machine that was observed:
 *                                   the age at which it was reclaimed, or
 *                                   never; of more than 100, their percentiles
 *                                   count
 *
 * A machine without any of the last six keys is on demand. Prices by age,
 * blocks and `free` need billing = second (bats/billing.h), which is the
 * default where there are some.
 */
#ifndef BATS_INPUT_MODEL_H
#define BATS_INPUT_MODEL_H

#include "bats/billing.h"
#include "bats/cluster.h"
#include "bats/error.h"

enum bats_model_key {
    BATS_MODEL_BLOCK,
    BATS_MODEL_RECLAIMABLE,
    BATS_MODEL_NOTICE,
    BATS_MODEL_GUARANTEED,
    BATS_MODEL_FREE,
    BATS_MODEL_LIFETIME,
    BATS_MODEL_KEYS
};

extern const char *const bats_model_keys[BATS_MODEL_KEYS];

/* Each parses a value, into the cluster. BATS_EINPUT with a sentence. `from`:
 * the file that the value stands in. */
int bats_model_charge(struct bats_cluster *c, const char *value, bool *by_hour,
                      struct bats_error *err);
int bats_model_set(struct bats_cluster *c, enum bats_model_key key,
                   const char *value, const char *from,
                   struct bats_error *err);

/* The price is of a kind that only billing = second supports. */
bool bats_model_is_by_age(const struct bats_cluster *c);

/* After all keys: BATS_EINPUT if they contradict each other or the billing;
 * *key is the one at fault, BATS_MODEL_KEYS: the charge. */
int bats_model_check(const struct bats_cluster *c,
                     enum bats_billing_model billing, enum bats_model_key *key,
                     struct bats_error *err);

/* The age at which the machine is reclaimed, in its life number `life` from 0,
 * by emulation or simulation with this seed; BATS_NEVER: it is not. */
bats_time bats_model_lifetime(const struct bats_cluster *c, uint64_t seed,
                              uint32_t machine, uint32_t life);

/* Once the window is known; `charge` of the cluster is that of a window then.
 * False: it does not fit. */
bool bats_model_settle(struct bats_cluster *c, bool by_hour, bats_time window,
                       enum bats_billing_model billing);

#endif
