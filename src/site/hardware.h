/*
 * hardware: what the node of a rank is made of, and which part of it is the
 * rank's.
 *
 * Layer: site. Used by node.c, and by the mpi layer to bind tasks. Alone knows
 * hwloc; built without it, nothing is known (all 0, texts empty) and nothing
 * is bound.
 */
#ifndef BATS_SITE_HARDWARE_H
#define BATS_SITE_HARDWARE_H

#include <stdint.h>

#include "bats/error.h"

#define BATS_HARDWARE_MODEL 96
#define BATS_HARDWARE_BOUND 256

struct bats_hardware {
    char model[BATS_HARDWARE_MODEL]; /* of the processors, cut to fit */
    uint32_t packages;
    uint32_t cores;
    uint32_t threads; /* hardware threads, of all cores */
    uint64_t memory_bytes;
    /* The hardware threads that this process may run on, as in "0-3,8", by
     * the numbers of the operating system; "" if not known or too long. */
    char bound[BATS_HARDWARE_BOUND];
    uint32_t bound_cores; /* cores of which it has at least one thread */
};

void bats_hardware_look(struct bats_hardware *hardware);

#endif
