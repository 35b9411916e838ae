/*
 * order: chooses a slot's task and how many tasks to prefetch. See advisor.h.
 */
#ifndef BATS_ENGINE_ORDER_H
#define BATS_ENGINE_ORDER_H

#include "engine/advisor.h"

struct order {
    struct advisor advisor;
    enum bats_idle refusal; /* reason noted when `next` returns none */
    /* A pass over idle slots begins: cached state may be stale. NULL: nothing
     * is cached. */
    void (*begin)(void *self);
    /* The slot's next task; BATS_NO_POSITION: the next tasks are for other
     * machines. The bag must not be empty. */
    struct bats_position (*next)(void *self, const struct state *s,
                                 uint32_t slot);
    /* In this pass, until another slot stops being idle, any machine of the
     * cluster would get BATS_NO_POSITION. NULL: never known. */
    bool (*refuses)(const void *self, const struct state *s, uint32_t cluster);
    /* False: no machine is reserved. NULL: none ever is. */
    bool (*reservation)(const void *self, const struct state *s,
                        struct bats_reservation *reservation);
};

extern const struct order order_random;
extern const struct order order_chain;
extern const struct order order_fit; /* for tasks with needs */

/* Tasks that a slot of the machine may hold, under any order: the running one
 * and enough to fill the prefetch time. Only asked if prefetching is
 * allowed. */
uint32_t order_depth(const struct state *s, uint32_t machine);

#endif
