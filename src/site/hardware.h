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

#include <stddef.h>
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

/* ---- binding ---- */

enum bats_bind {
    BATS_BIND_NONE, /* stay where the launcher has put the rank */
    BATS_BIND_CORE, /* to the cores of the rank */
    BATS_BIND_NUMA  /* to what it may use of the NUMA nodes that they are on */
};

/* So many ranks have been given the same hardware threads by the launcher;
 * this is one of them. All get the same number of cores, neighbours as far as
 * that goes, and what is left over is nobody's. */
struct bats_share {
    uint32_t index;
    uint32_t count;
};

/*
 * Ties this thread, and with it the processes that it starts, to its share.
 * Returns how many cores that is; 1 where there are more ranks than cores, and
 * nothing is tied; 0 where nothing is known or wanted (BATS_BIND_NONE).
 */
uint32_t bats_hardware_bind(enum bats_bind bind, struct bats_share share);

/* The choice that makes, for tests: of the hardware threads `bound` into
 * `chosen`, both as in "0-3,8". The same result; "" if nothing is to be
 * tied. */
uint32_t bats_hardware_choose(const char *bound, enum bats_bind bind,
                              struct bats_share share, char *chosen,
                              size_t size);

#endif
