#include "input/pools.h"

#include <stdlib.h>

#include "util/larger.h"

/* Sorts the times, and keeps quantiles if there are too many. Returns how many
 * are left. */
static size_t thin_out(bats_time *times, size_t n)
{
    size_t kept = n < BATS_POOLS_TIMES ? n : BATS_POOLS_TIMES;
    if (n > 0)
        qsort(times, n, sizeof *times, bats_ascending);
    for (size_t i = 0; i < kept; i++)
        times[i] = times[(2 * i + 1) * n / (2 * kept)];
    return kept;
}

void bats_pools_set(struct bats_pools *p, int pool, bats_time *times, size_t n)
{
    size_t kept = thin_out(times, n);
    free(p->times[pool]);
    p->times[pool] = times;
    if (pool == 0) {
        p->model.unreliable = times;
        p->model.n_times = kept;
    } else {
        p->model.reliable = times;
        p->model.n_reliable_times = kept;
    }
}

void bats_pools_set_lost(struct bats_pools *p, bats_time noticed, double loses,
                         bats_time *times, size_t n)
{
    free(p->lost);
    p->lost = times;
    p->model.noticed = noticed;
    p->model.loses = loses;
    p->model.lost = times;
    p->model.n_lost = thin_out(times, n);
}

static bats_time quantile(const bats_time *times, size_t n, double u)
{
    size_t i = (size_t)(u * (double)n);
    return times[i < n ? i : n - 1];
}

size_t bats_pools_instances(const struct bats_pools *p, int pool,
                            struct bats_instance list[BATS_POOLS_INSTANCES])
{
    const struct bats_plays_model *m = &p->model;
    size_t n = pool ? m->n_reliable_times : m->n_times;
    for (size_t i = 0; n > 0 && i < BATS_POOLS_INSTANCES; i++) {
        double rank = ((double)i + 0.5) / BATS_POOLS_INSTANCES;
        /* Losses alternate between long and short times: 37 and 100 are
         * coprime. */
        double x = ((double)(i * 37 % BATS_POOLS_INSTANCES) + 0.5) /
                   BATS_POOLS_INSTANCES;
        bats_time time = quantile(p->times[pool], n, rank), lost = BATS_NEVER;
        if (pool == 0 && m->noticed == 0 && x > m->gamma)
            lost = 0;
        if (pool == 0 && m->noticed > 0 && x < m->loses)
            lost = quantile(m->lost, m->n_lost, x / m->loses);
        list[i] = lost > time
                      ? (struct bats_instance){.time = time, .ended = time}
                      : (struct bats_instance){
                            .time = -1,
                            .ended = lost + (m->noticed > 0 ? m->noticed : 1),
                            .noticed = true};
    }
    return n > 0 ? BATS_POOLS_INSTANCES : 0;
}

void bats_pools_release(struct bats_pools *pools)
{
    free(pools->times[0]);
    free(pools->times[1]);
    free(pools->lost);
    *pools = (struct bats_pools){0};
}
