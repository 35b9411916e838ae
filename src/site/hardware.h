/*
 * hardware: the hardware of a rank's node, and the part that belongs to the
 * rank.
 *
 * Layer: site. Used by node.c, and by the mpi layer to bind tasks. Only this
 * file uses hwloc; without hwloc, nothing is known (all 0, texts empty) and
 * nothing is bound.
 */
#ifndef BATS_SITE_HARDWARE_H
#define BATS_SITE_HARDWARE_H

#include <stddef.h>
#include <stdint.h>

#include "util/node.h"

void bats_hardware_look(struct bats_hardware *hardware);

/* ---- binding ---- */

enum bats_bind {
    BATS_BIND_NONE, /* keep the launcher's binding */
    BATS_BIND_CORE, /* to the cores of the rank */
    BATS_BIND_NUMA  /* to the NUMA nodes of its cores, as far as allowed */
};

/* The launcher has given `count` ranks the same hardware threads; this rank is
 * number `index` of them. All get the same number of cores, neighbours if
 * possible; left-over cores are not used. */
struct bats_share {
    uint32_t index;
    uint32_t count;
};

/*
 * Binds this thread, and the processes that it starts, to its share. Returns
 * its number of cores; 1 if there are more ranks than cores, and nothing is
 * bound; 0 if nothing is known or requested (BATS_BIND_NONE).
 */
uint32_t bats_hardware_bind(enum bats_bind bind, struct bats_share share);

/*
 * Binds this thread, and the processes that it starts, to the cores of several
 * ranks of this node. `holds` has, for each of these ranks, the hardware
 * threads that it shares, the index of its share, and the number of ranks that
 * share them: "0-3,8:0:4 0-3,8:1:4". Returns the number of cores; 0: nothing
 * is known or requested, or a rank has no core of its own.
 */
uint32_t bats_hardware_bind_to(enum bats_bind bind, const char *holds);

/* For tests: what bats_hardware_bind would choose among the hardware threads
 * `bound`, written into `chosen`, both as in "0-3,8"; "" if nothing is bound.
 * Returns the same. */
uint32_t bats_hardware_choose(const char *bound, enum bats_bind bind,
                              struct bats_share share, char *chosen,
                              size_t size);

#endif
