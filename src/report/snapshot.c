#include "report/snapshot.h"
#include "bats/lease.h"

void bats_snapshot_take(struct bats_snapshot *snapshot,
                        const struct bats_platform *platform,
                        const struct bats_sched *sched)
{
    snapshot->platform = platform;
    snapshot->phase = BATS_SNAPSHOT_RUNS;
    bats_sched_status(sched, &snapshot->status);
    snapshot->has_strategy = bats_sched_strategy(sched, &snapshot->strategy);
    for (size_t i = 0; i < platform->n_clusters; i++)
        bats_sched_cluster_status(sched, i, &snapshot->cluster[i]);
    snapshot->decisions = bats_sched_decisions(sched, &snapshot->n_decisions);
    struct bats_sched_sampled sampled;
    bats_sched_sampled(sched, &sampled);
    snapshot->sampled_at = sampled.time;
    snapshot->sampled_charged = sampled.charged;
    snapshot->has_promise = sampled.chosen != NULL;
    if (sampled.chosen != NULL)
        snapshot->promise = *sampled.chosen;
}

uint32_t bats_snapshot_tasks(const struct bats_snapshot *snapshot)
{
    const struct bats_sched_status *s = &snapshot->status;
    uint32_t n = s->pending + s->running + s->done + s->failed + s->skipped;
    return n > s->expected ? n : s->expected;
}

bool bats_snapshot_is_partial(const struct bats_snapshot *snapshot)
{
    const struct bats_sched_status *s = &snapshot->status;
    return s->is_open &&
           (s->expected == 0 || bats_snapshot_tasks(snapshot) > s->expected);
}

uint32_t bats_snapshot_left(const struct bats_snapshot *snapshot)
{
    return snapshot->status.pending + snapshot->status.running;
}

uint32_t bats_snapshot_machines(const struct bats_platform *platform,
                                size_t cluster)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < platform->n_machines; i++)
        n += platform->machines[i].cluster == cluster;
    return n;
}

uint64_t bats_snapshot_slots(const struct bats_platform *platform,
                             size_t cluster)
{
    uint64_t n = 0;
    for (uint32_t i = 0; i < platform->n_machines; i++)
        if (platform->machines[i].cluster == cluster)
            n += platform->machines[i].slots;
    return n;
}

bats_money bats_snapshot_kept(const struct bats_snapshot *snapshot)
{
    return bats_lease_terms(snapshot->platform->billing).in_windows
               ? 0
               : snapshot->status.held;
}

bats_money bats_snapshot_reserved(const struct bats_snapshot *snapshot,
                                  int64_t *windows)
{
    const struct bats_platform *p = snapshot->platform;
    bats_money price = 0, reserved;
    *windows = snapshot->status.now / p->window +
               (snapshot->status.now % p->window > 0);
    if (!bats_lease_terms(p->billing).in_windows)
        return snapshot->status.charged;
    for (uint32_t i = 0; i < p->n_machines; i++)
        if (!bats_units_add(price, p->clusters[p->machines[i].cluster].charge,
                            &price))
            return BATS_UNLIMITED;
    return bats_units_multiply(price, *windows, &reserved) ? reserved
                                                           : BATS_UNLIMITED;
}
