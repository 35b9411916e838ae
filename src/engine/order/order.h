/*
 * order: chooses the task for a slot, and the number of tasks to give ahead.
 * See advisor.h.
 */
#ifndef BATS_ENGINE_ORDER_H
#define BATS_ENGINE_ORDER_H

#include "engine/advisor.h"

struct order {
    struct advisor advisor;
    enum bats_idle refusal; /* what no task means */
    /* A pass over idle slots begins: what the order remembers of the state may
     * be out of date. NULL: it remembers nothing. */
    void (*begin)(void *self);
    /* The task for the machine; BATS_NO_POSITION: the next tasks are for other
     * machines. The bag is not empty. */
    struct bats_position (*next)(void *self, const struct state *s,
                                 uint32_t machine);
};

extern const struct order order_random;
extern const struct order order_chain;
extern const struct order order_fit; /* where tasks have needs */

/* The number of tasks that a slot of the machine may hold, whatever the order:
 * the running one, and as many ahead as fill the prefetch time. Only asked if
 * some may be given ahead. */
uint32_t order_depth(const struct state *s, uint32_t machine);

#endif
