/*
 * leases: what moves when a machine is acquired, held on and let go, by how it
 * is billed (bats/billing.h): one table of functions for each kind.
 *
 * Layer: engine, part of the state. machines.c keeps the states of machines and
 * asks here for the money; what others may ask is in lease.h.
 */
#ifndef BATS_ENGINE_STATE_LEASES_H
#define BATS_ENGINE_STATE_LEASES_H

#include "engine/state/state.h"

struct lease_kind {
    /* The most that a machine of the cluster costs until its first period has
     * ended; and this one, from the end of its present period to that of the
     * next. */
    bats_money (*first)(const struct state *s, size_t cluster);
    bats_money (*next)(const struct state *s, uint32_t machine);
    /* The money that is held for the machine, beyond what is charged. */
    bats_money (*held)(const struct state *s, uint32_t machine);
    /* Pays the first period and sets its end, or holds the next one. False:
     * there is no money, or no such period, and nothing has changed. NULL: it
     * waits to begin, and has one period; the next is of its successor. */
    bool (*begin)(struct state *s, uint32_t machine);
    bool (*extend)(struct state *s, uint32_t machine);
    /* The next period, which is held, begins; or is not wanted. NULL: none is
     * ever `renewing`. */
    void (*enter)(struct state *s, uint32_t machine);
    void (*drop)(struct state *s, uint32_t machine);
    /* It will be gone at this time: sets until when it is paid, not later.
     * Not while the next period is held. NULL: it is paid as long as it
     * works. */
    void (*notice)(struct state *s, uint32_t machine, bats_time taken_at);
    /* A task begins on the machine; the last one there has ended; one that has
     * not answered is about to be taken out by the caller, and is free where
     * lost executions are. NULL: nothing happens. */
    void (*work)(struct state *s, uint32_t machine, struct bats_position task);
    void (*idle)(struct state *s, uint32_t machine);
    void (*forgive)(struct state *s, uint32_t machine);
    /* It ends: charges all that it owes. NULL: nothing. */
    void (*end)(struct state *s, uint32_t machine, enum bats_end how);
    /* The run is killed: charges all that is held. NULL: nothing. */
    void (*kill)(struct state *s, uint32_t machine);
};

extern const struct lease_kind lease_second, lease_use;

const struct lease_kind *lease_kind_of(enum bats_billing_model model);

static inline void lease_work(struct state *s, uint32_t machine,
                              struct bats_position task)
{
    if (s->lease->work)
        s->lease->work(s, machine, task);
}

static inline void lease_idle(struct state *s, uint32_t machine)
{
    if (s->lease->idle)
        s->lease->idle(s, machine);
}

static inline void lease_forgive(struct state *s, uint32_t machine)
{
    if (s->lease->forgive)
        s->lease->forgive(s, machine);
}

static inline void lease_end(struct state *s, uint32_t machine,
                             enum bats_end how)
{
    if (s->lease->end)
        s->lease->end(s, machine, how);
}

#endif
