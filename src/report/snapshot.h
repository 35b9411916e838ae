/*
 * snapshot: the engine's state at one moment, as plain data.
 *
 * Layer: report. All reports use it, so they can be tested without an engine.
 */
#ifndef BATS_SNAPSHOT_H
#define BATS_SNAPSHOT_H

#include <stddef.h>
#include <stdint.h>

#include "bats/estimate.h"
#include "bats/status.h"
#include "input/platform.h"

enum bats_snapshot_phase {
    BATS_SNAPSHOT_RUNS,
    BATS_SNAPSHOT_SAMPLING, /* in a separate sampling phase */
    BATS_SNAPSHOT_CHOOSING  /* the phase is over; a schedule is to be chosen */
};

struct bats_snapshot {
    const struct bats_platform *platform; /* borrowed */
    struct bats_sched_status status;
    struct bats_cluster_status cluster[BATS_CLUSTERS_MAX];
    enum bats_snapshot_phase phase; /* RUNS, unless the caller knows better */
    const struct bats_decision *decisions; /* borrowed from the engine */
    size_t n_decisions;
    bool has_strategy; /* for the policy expert: */
    struct bats_sched_strategy strategy;
    bool has_promise; /* a schedule was chosen after sampling: */
    struct bats_schedule promise;
    bats_time sampled_at;       /* start of its time */
    bats_money sampled_charged; /* charge before it */
};

/* Queries the engine; valid until the engine handles its next event. */
void bats_snapshot_take(struct bats_snapshot *snapshot,
                        const struct bats_platform *platform,
                        const struct bats_sched *sched);

/* The number of tasks in the bag, and the number without a result. */
uint32_t bats_snapshot_tasks(const struct bats_snapshot *snapshot);
uint32_t bats_snapshot_left(const struct bats_snapshot *snapshot);

/* The bag is open, and nobody has said how many tasks come, or more came. */
bool bats_snapshot_is_partial(const struct bats_snapshot *snapshot);

/* The machines of cluster i that the platform offers, and their slots. */
uint32_t bats_snapshot_machines(const struct bats_platform *platform,
                                size_t cluster);
uint64_t bats_snapshot_slots(const struct bats_platform *platform,
                             size_t cluster);

/* Money held for working machines that are billed later; 0 if windows are
 * charged when they begin. */
bats_money bats_snapshot_kept(const struct bats_snapshot *snapshot);

/*
 * Amount that a batch system would bill for all machines of the platform from
 * the start to now: *windows, the windows begun so far, times the sum of the
 * charges. BATS_UNLIMITED on overflow. With other billing than windows, the
 * amount charged.
 */
bats_money bats_snapshot_reserved(const struct bats_snapshot *snapshot,
                                  int64_t *windows);

#endif
