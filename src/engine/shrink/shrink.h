/*
 * shrink: giving nodes back to the batch system. See advisor.h.
 */
#ifndef BATS_ENGINE_SHRINK_H
#define BATS_ENGINE_SHRINK_H

#include "engine/advisor.h"

struct shrink {
    struct advisor advisor;
    /* Is there anything to give back, ever? */
    bool (*may)(const void *self);
    /* Is it worth it now, to end the run and go on with fewer nodes? Then
     * `machines` says how many of each cluster go on. The forecast has looked
     * just now. */
    bool (*gives_back)(void *self, const struct state *s, uint32_t *machines);
    /* The machine is on a node that goes on. */
    bool (*keeps)(const void *self, uint32_t machine);
};

extern const struct shrink shrink_nodes;

#endif
