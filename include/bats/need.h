/*
 * need: the resources of its machine that a running task needs.
 *
 * Layer: engine. A task takes `cores` slots of one machine: the lowest one
 * runs it; the others run nothing else, but are paid. Only tasks that fit into
 * the rest of the machine run beside it.
 */
#ifndef BATS_NEED_H
#define BATS_NEED_H

#include <stdint.h>

#include "bats/units.h"

struct bats_need {
    uint32_t cores;     /* slots, >= 1 */
    uint32_t gpus;      /* tokens of the machine */
    int64_t memory_kib; /* of the machine; 0: unspecified */
    bats_time limit;    /* time limit, after which it is stopped and has
                           failed; 0: none. Open bags only */
};

#define BATS_CORES_MOST 4096 /* of a task */
#define BATS_GPUS_MOST 64    /* of a machine */

/* Resources of a machine; if it has several nodes, of each of them. No task
 * runs on two nodes. The GPUs of a node are numbered from 0. */
struct bats_stock {
    uint32_t cores; /* slots */
    uint32_t gpus;
    int64_t memory_kib; /* 0: not counted */
    uint32_t nodes;     /* equal nodes; the first has the lowest slots; 0: 1 */
};

/* Number of tasks with this need that an empty machine runs at the same time;
 * 0: not even one fits. */
uint32_t bats_need_room(const struct bats_stock *machine,
                        const struct bats_need *need);

/*
 * The slots that a mixture of tasks takes. A task takes its share of the
 * machine: the slots of a machine that is filled with equal tasks, per task. So
 * a task of 6 cores takes 8 of 16 slots, since two fit. Tasks that fill a
 * machine evenly also run in the gaps that others leave, and then take as many
 * slots as they need cores. All zero is an empty mixture.
 */
struct bats_need_mix {
    double tasks; /* or their work, in any unit */
    double cores; /* that they need */
    double gaps;  /* slots taken by tasks that leave gaps */
};

/* Adds tasks. share: as above, >= cores. */
void bats_need_mix_add(struct bats_need_mix *mix, double tasks, uint32_t cores,
                       double share);

/* Mean slots per task; 1 if there are none. */
double bats_need_mix_width(const struct bats_need_mix *mix);

/* Slots of a machine. */
double bats_stock_slots(const struct bats_stock *machine);

#endif
