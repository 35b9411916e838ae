/*
 * moments: the runtimes of tasks of one kind on one cluster in one bag, in a
 * few numbers.
 *
 * Layer: history. Sums are exact. Quantiles are of all tasks up to 1024, then of
 * every second, fourth, ... task.
 */
#ifndef BATS_HISTORY_MOMENTS_H
#define BATS_HISTORY_MOMENTS_H

#include <stddef.h>
#include <stdint.h>

#include "history/sweep.h"

/* Runtimes in seconds, logarithms natural. */
struct bats_moments {
    int64_t tasks;
    double sum, squares;
    double log_sum, log_squares;
    double p10, p50, p90;
};

/* The moments of kinds and clusters, while a bag runs. */
struct bats_gather {
    struct bats_gather_cell *cells;
    size_t n, room;
};

struct bats_gather_cell {
    uint32_t kind, cluster;
    int64_t bags;                /* 1, unless it was added */
    struct bats_moments moments; /* without quantiles */
    float *sample;
    size_t n_sample, room;
    uint32_t stride; /* every stride-th task is in the sample */
    struct bats_past_sweep *sweep; /* NULL: it is none. For free() */
};

/* A task has taken so long, above 0. BATS_ENOMEM. */
int bats_gather_note(struct bats_gather *gather, uint32_t kind,
                     uint32_t cluster, double seconds);

/* The same task was this one of a sweep, with n numbers of these names.
 * BATS_ENOMEM. */
int bats_gather_point(struct bats_gather *gather, uint32_t kind,
                      uint32_t cluster, uint32_t task, const char *names,
                      const double *x, uint32_t n, double seconds);

/* Adds moments of `bags` bags that were gathered elsewhere, as another cell.
 * Takes over `sweep`, which may be NULL. BATS_ENOMEM. */
int bats_gather_add(struct bats_gather *gather, uint32_t kind,
                    uint32_t cluster, const struct bats_moments *moments,
                    struct bats_past_sweep *sweep, int64_t bags);

/* The moments of cell i, with quantiles; sorts its sample. */
struct bats_moments bats_gather_moments(struct bats_gather *gather, size_t i);

void bats_gather_release(struct bats_gather *gather);

#endif
