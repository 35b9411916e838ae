/*
 * need: what a task needs of its machine while it runs.
 *
 * Layer: engine. A task takes `cores` slots of one machine: the lowest of them
 * runs it, and the others run nothing else, and are paid. Beside it runs only
 * what the rest of the machine has room for.
 */
#ifndef BATS_NEED_H
#define BATS_NEED_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/units.h"

struct bats_need {
    uint32_t cores;     /* slots, >= 1 */
    uint32_t gpus;      /* tokens of the machine */
    int64_t memory_kib; /* of the machine; 0: it does not say */
    bats_time limit;    /* it is stopped, and has failed, when it runs for
                         * longer; 0: never. Open bags only */
};

#define BATS_CORES_MOST 4096 /* of a task */
#define BATS_GPUS_MOST 64    /* of a machine */

/* The resources of a machine. Its GPUs have the numbers from 0 on. */
struct bats_stock {
    uint32_t cores; /* its slots */
    uint32_t gpus;
    int64_t memory_kib; /* 0: it is not counted */
};

/* How many tasks with this need an empty machine runs at the same time; 0: it
 * has no room for one. */
uint32_t bats_need_room(const struct bats_stock *machine,
                        const struct bats_need *need);

#endif
