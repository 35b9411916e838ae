/*
 * frontier: the properties of two pools, from the record of a run
 * (pools_record.c).
 *
 * Layer: cli. Used by the verb frontier. Source for records:
 * ExPERT (bats/strategy.h), sections 4.2 and 4.3. An execution that was lost,
 * timed out or was stopped after 4 T_ur counts as one that does not answer;
 * one that was stopped earlier does not count. The effective size of the
 * unreliable pool is the mean number of its slots that were busy while some
 * tasks had never been sent: the rate at which tasks were sent times how long
 * each was under way. Machines that were never asked for are assumed to be no
 * worse than the others.
 */
#ifndef BATS_CLI_FRONTIER_H
#define BATS_CLI_FRONTIER_H

#include "bats/plays.h"
#include "record/read/view.h"

/* An unreliable and a reliable pool. */
struct bats_pools {
    struct bats_plays_model model; /* has no tail; its times are these: */
    bats_time *times[2];           /* unreliable, reliable; owned */
    bats_time *lost;               /* owned; or NULL */
    char currency[16];
};

void bats_pools_release(struct bats_pools *pools);

/* `is_online`: only what was known when fewer tasks than unreliable slots were
 * left. Release with bats_pools_release, also after an error. BATS_EINPUT if
 * the run had no unreliable cluster or no answer from it; BATS_ENOMEM, and
 * errors of records. */
int bats_pools_of_record(struct bats_view *view, bool is_online,
                         struct bats_pools *pools, struct bats_error *err);

#endif
