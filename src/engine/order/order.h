/*
 * order: which task a slot is given, and how many ahead. See advisor.h.
 */
#ifndef BATS_ENGINE_ORDER_H
#define BATS_ENGINE_ORDER_H

#include "engine/advisor.h"

#define ORDER_NONE UINT32_MAX

struct order {
    struct advisor advisor;
    /* The task for the machine, by how many draws it is away; ORDER_NONE: those
     * at hand are for other machines. There is a task. */
    uint32_t (*next)(const void *self, const struct state *s,
                     uint32_t machine);
    /* Tasks that a slot of the machine may hold, the running one included.
     * Only asked where some may be given ahead. */
    uint32_t (*depth)(const void *self, const struct state *s,
                      uint32_t machine);
};

extern const struct order order_random;

#endif
