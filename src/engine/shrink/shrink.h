/*
 * shrink: giving nodes back to the batch system. See advisor.h.
 */
#ifndef BATS_ENGINE_SHRINK_H
#define BATS_ENGINE_SHRINK_H

#include "engine/advisor.h"

struct shrink {
    struct advisor advisor;
    /* Can there ever be anything to give back? */
    bool (*may)(const void *self);
    /* Is it worth ending the run now, to continue with fewer nodes? If so,
     * `machines` has the number of machines of each cluster that continue. The
     * forecast is up to date. */
    bool (*gives_back)(void *self, const struct state *s, uint32_t *machines);
    /* The machine is on a node that is kept. */
    bool (*keeps)(const void *self, uint32_t machine);
};

extern const struct shrink shrink_nodes;

#endif
