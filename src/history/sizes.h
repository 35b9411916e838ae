/*
 * sizes: the memory that tasks of a kind asked for and used, and what another
 * request would cost.
 *
 * Layer: history. Used by the gather and the store, and by cli for proposals.
 *
 * A task takes the larger one of its shares of its machine: of slots, and of
 * memory. A task that uses more than it asks for is killed and tried again
 * with `factor` times as much, until it fits; each try is taken to last as long
 * as the task, which is an upper bound.
 */
#ifndef BATS_HISTORY_SIZES_H
#define BATS_HISTORY_SIZES_H

#include <stddef.h>
#include <stdint.h>

/* Tasks that were done. */
struct bats_past_size {
    uint32_t kind;                  /* index */
    int64_t asked_kib;              /* 0: nothing */
    int64_t used_kib;               /* no more than this */
    int64_t cores, slots, node_kib; /* of each task, and of its machine; 0:
                                       not counted there */
    int64_t tasks;
    double seconds; /* sum of their runtimes */
};

/* Numbers are rounded up to the next power of 2^(1/8), so that there are few
 * rows. */
int64_t bats_size_class(int64_t kib);

/* Mean machine-seconds of a task of this kind that asks for so much. *again:
 * the share of tasks that are tried again. < 0: not known. */
double bats_size_cost(const struct bats_past_size *list, size_t n,
                      uint32_t kind, int64_t asked_kib, double factor,
                      double *again);

#endif
