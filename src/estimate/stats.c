#include "bats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint32_t bats_stats_sample_size(uint32_t n_tasks, double z, double delta)
{
    double N = n_tasks;
    double n = ceil(N * z * z / (z * z + 2 * (N - 1) * delta * delta));
    return n < 1 ? 1 : n > N ? n_tasks : (uint32_t)n;
}

int bats_stats_init(struct bats_stats *stats, uint32_t capacity,
                    struct bats_error *err)
{
    *stats = (struct bats_stats){.capacity = capacity};
    stats->sample = malloc(capacity * sizeof *stats->sample);
    stats->tail = malloc(capacity * sizeof *stats->tail);
    if (capacity > 0 && (!stats->sample || !stats->tail)) {
        bats_stats_release(stats);
        return bats_no_memory(err);
    }
    return 0;
}

void bats_stats_release(struct bats_stats *stats)
{
    free(stats->sample);
    free(stats->tail);
    *stats = (struct bats_stats){0};
}

void bats_stats_add(struct bats_stats *stats, bats_time runtime,
                    bool in_sample)
{
    stats->n_done++;
    stats->rt_done += (double)runtime;
    double mean = stats->rt_done / stats->n_done;
    stats->mean = stats->mean_done = mean > 1 ? mean : 1;
    if (!in_sample || stats->n_sample == stats->capacity)
        return;
    uint32_t at = bats_stats_longer(stats, runtime),
             behind = stats->n_sample - at;
    memmove(stats->sample + at + 1, stats->sample + at,
            behind * sizeof *stats->sample);
    memmove(stats->tail + at + 1, stats->tail + at,
            behind * sizeof *stats->tail);
    stats->sample[at] = runtime;
    double sum = behind > 0 ? stats->tail[at + 1] : 0;
    for (uint32_t i = at + 1; i-- > 0;)
        stats->tail[i] = sum += (double)stats->sample[i];
    stats->n_sample++;
}

void bats_stats_update(struct bats_stats *stats, uint32_t running,
                       double expected)
{
    if (stats->n_done > 0)
        stats->mean = fmax((expected + stats->rt_done) /
                               ((double)running + stats->n_done),
                           1);
}

bats_time bats_stats_median(const struct bats_stats *stats)
{
    uint32_t n = stats->n_sample;
    if (n < 5)
        return 0;
    bats_time high = stats->sample[n / 2];
    return n % 2 ? high : high - (high - stats->sample[n / 2 - 1]) / 2;
}
