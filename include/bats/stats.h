/*
 * stats: statistics of the runtimes of tasks on one cluster.
 *
 * Layer: estimate, used by the engine. Source: paper, section 2.1; thesis,
 * 2.2.1.
 *
 *   n      = ceil(N z^2 / (z^2 + 2 (N - 1) delta^2)), the sample size
 *   tau_e  = mean of the sample's runtimes that are longer than tau, for a
 *            task that has run for tau; if there is none, tau + T
 *   T      = (sum of tau_e over running tasks + rt_done) / (running + done)
 *
 * (The two papers divide the sum in tau_e by n - k and n - k + 1; here it is
 * divided by the number of terms.) A failed task counts like a finished one:
 * it took time and is out of the bag.
 */
#ifndef BATS_STATS_H
#define BATS_STATS_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/units.h"

struct bats_stats {
    bats_time *sample; /* runtimes of the sample, ascending */
    double *tail;      /* tail[i]: the sum of sample[i], sample[i + 1], ... */
    uint32_t n_sample;
    uint32_t capacity;
    uint32_t n_done;
    double rt_done;   /* sum of all finished runtimes, microseconds */
    double mean_done; /* their mean, at least 1; 0 without any */
    double mean;      /* T, microseconds; 0 while nothing is known */
};

/* Sample size for a bag of `n_tasks` >= 1; between 1 and n_tasks. */
uint32_t bats_stats_sample_size(uint32_t n_tasks, double z, double delta);

/* Room for a sample of up to `capacity` runtimes. BATS_ENOMEM. */
int bats_stats_init(struct bats_stats *stats, uint32_t capacity,
                    struct bats_error *err);
void bats_stats_release(struct bats_stats *stats);

/* Adds the `runtime` of a task; `in_sample` if it belongs to the sample.
 * Updates the mean as if nothing were running. */
void bats_stats_add(struct bats_stats *stats, bats_time runtime,
                    bool in_sample);

/* Index of the first runtime in the sample that is longer than `elapsed`. */
static inline uint32_t bats_stats_longer(const struct bats_stats *stats,
                                         bats_time elapsed)
{
    const bats_time *first = stats->sample;
    uint32_t n = stats->n_sample;
    if (n == 0 || elapsed < *first) /* most tasks that run */
        return 0;
    for (; n > 1; n -= n / 2) /* branch-free, to avoid mispredictions */
        first += (n / 2) * (uint32_t)(first[n / 2 - 1] <= elapsed);
    first += *first <= elapsed;
    return (uint32_t)(first - stats->sample);
}

/* tau_e in microseconds of a task that has run for `elapsed`. */
static inline double bats_stats_expected(const struct bats_stats *stats,
                                         bats_time elapsed)
{
    uint32_t at = bats_stats_longer(stats, elapsed);
    if (at == stats->n_sample)
        return (double)elapsed + stats->mean;
    return stats->tail[at] / (stats->n_sample - at);
}

/* Median of the sample; 0 while it has fewer than five runtimes. */
bats_time bats_stats_median(const struct bats_stats *stats);

/* Recomputes T with `running` tasks whose tau_e add up to `expected`. */
void bats_stats_update(struct bats_stats *stats, uint32_t running,
                       double expected);

#endif
