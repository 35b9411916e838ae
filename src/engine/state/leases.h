/*
 * leases: what moves when a machine is acquired, held on and let go, by how it
 * is billed: one table of functions for each kind, which are in money/.
 *
 * Layer: engine, part of the state. machines.c keeps the states of machines and
 * asks here for the money; what others may ask is in terms.h.
 */
#ifndef BATS_ENGINE_STATE_LEASES_H
#define BATS_ENGINE_STATE_LEASES_H

#include "engine/state/moves.h"

struct lease_kind {
    const char *name; /* for people and records */
    struct bats_lease_terms terms;
    bool is_own; /* the job that the run itself is in is billed */
    /* The cluster is one of the run: sets what a window of a machine charges,
     * if that is not what its price says. NULL: it is. */
    void (*set_up)(const struct state *s, struct cluster *cluster);
    /* The most that a machine of the cluster costs until its first period has
     * ended (NULL: what its tasks do, or nothing); and this one, from the end of its present period to that of the
     * next. */
    bats_money (*first)(const struct state *s, size_t cluster);
    bats_money (*next)(const struct state *s, uint32_t machine);
    /* Money held for the machine, beyond the charge. */
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
    /* A task begins on the machine, which may well take so long; the last one
     * there has ended; one that has not answered is about to be taken out by the caller, and is free where
     * lost executions are. NULL: nothing happens. */
    void (*work)(struct state *s, uint32_t machine, bats_time allowed);
    void (*idle)(struct state *s, uint32_t machine);
    void (*forgive)(struct state *s, uint32_t machine);
    /* The lease ends: charges all that is owed. NULL: nothing. */
    void (*end)(struct state *s, uint32_t machine, enum bats_end how);
    /* The run is killed: charges all that is held. NULL: nothing. */
    void (*kill)(struct state *s, uint32_t machine);
};

static inline void lease_work(struct state *s, uint32_t machine,
                              struct bats_position task)
{
    if (!s->money.lease->work)
        return;
    s->money.lease->work(s, machine, task_allowed(s, machine, task));
    books_change(s, machine);
}

static inline void lease_idle(struct state *s, uint32_t machine)
{
    if (!s->money.lease->idle)
        return;
    s->money.lease->idle(s, machine);
    books_change(s, machine);
}

static inline void lease_forgive(struct state *s, uint32_t machine)
{
    if (!s->money.lease->forgive)
        return;
    s->money.lease->forgive(s, machine);
    books_change(s, machine);
}

static inline void lease_end(struct state *s, uint32_t machine,
                             enum bats_end how)
{
    if (s->money.lease->end)
        s->money.lease->end(s, machine, how);
    books_end(s, machine);
}

#endif
