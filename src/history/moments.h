/*
 * moments: summary figures of the runtimes of one kind of tasks on one cluster
 * in one bag.
 *
 * Layer: history. Sums are exact. Quantiles use all tasks up to 1024, then
 * every second, fourth, ... task.
 */
#ifndef BATS_HISTORY_MOMENTS_H
#define BATS_HISTORY_MOMENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "history/sweep.h"

/*
 * The memory and time that tasks of a kind asked for and used.
 *
 * A task takes the larger one of its shares of its machine: of slots, and of
 * memory. A task that uses more than it asks for is killed and tried again
 * with `factor` times as much, until it fits; each try is taken to last as long
 * as the task, which is an upper bound.
 */
struct bats_past_size {
    uint32_t kind;                  /* index */
    int64_t asked_kib;              /* 0: nothing */
    int64_t used_kib;               /* no more than this; 0: than the worker */
    int64_t cores, slots, node_kib; /* of each task, and of its machine; 0:
                                       not counted there */
    int64_t tasks;
    double seconds; /* sum of their runtimes */
    double limit_s; /* time limit, 0: none; in a history that of the kind */
    double most_s;  /* longest runtime, likewise */
};

/* Numbers are rounded up to the next power of 2^(1/8), so that there are few
 * rows. */
int64_t bats_size_class(int64_t kib);

/* Mean machine-seconds of a task of this kind that asks for so much, > 0.
 * *again: the share of tasks that are tried again. < 0: not known. */
double bats_size_cost(const struct bats_past_size *list, size_t n,
                      uint32_t kind, int64_t asked_kib, double factor,
                      double *again);

#define BATS_SIZE_SPARE 1.05 /* a request above what was used */
#define BATS_SIZE_FACTOR 2   /* usual factor */

struct bats_size_choice {
    int64_t kib;
    double cost, again; /* as of bats_size_cost */
    double now;         /* the cost of what is asked for */
};

/* Finds the cheapest request with which each task of this kind would have had
 * a twentieth more than it used, at first or tried again. factor > 1. False: it
 * is no smaller, saves less than 5 %, or costs are not known. */
bool bats_size_best(const struct bats_past_size *list, size_t n, uint32_t kind,
                    int64_t asked_kib, double factor,
                    struct bats_size_choice *best);

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
    struct bats_past_size *sizes;
    size_t n_sizes, sizes_room;
};

struct bats_gather_cell {
    uint32_t kind, cluster;
    struct bats_moments moments; /* without quantiles */
    float *sample;
    size_t n_sample, room;
    uint32_t stride;               /* every stride-th task is in the sample */
    struct bats_past_sweep *sweep; /* NULL: no sweep. For free() */
};

/* Adds a task's runtime, > 0. BATS_ENOMEM. */
int bats_gather_note(struct bats_gather *gather, uint32_t kind,
                     uint32_t cluster, double seconds);

/* Adds the same task as point `task` of a sweep, with n numbers of these
 * names. BATS_ENOMEM. */
int bats_gather_point(struct bats_gather *gather, uint32_t kind,
                      uint32_t cluster, uint32_t task, const char *names,
                      const double *x, uint32_t n, double seconds);

/* Adds what a task asked for and used; `used_kib` is exact. BATS_ENOMEM. */
int bats_gather_size(struct bats_gather *gather,
                     const struct bats_past_size *task);

/* Moments of cell i, with quantiles; sorts its sample. */
struct bats_moments bats_gather_moments(struct bats_gather *gather, size_t i);

void bats_gather_release(struct bats_gather *gather);

#endif
