/*
 * leases: the money side of acquiring, keeping and releasing a machine: one
 * table of functions for each billing kind, implemented in money/.
 *
 * Layer: engine, part of the state. machines.c keeps the states of machines
 * and calls these for the money; the public terms are in bats/lease.h.
 */
#ifndef BATS_ENGINE_STATE_LEASES_H
#define BATS_ENGINE_STATE_LEASES_H

#include "engine/state/moves.h"

struct lease_kind {
    const char *name; /* for people and records */
    struct bats_lease_terms terms;
    bool is_own; /* billed as the job that the run itself is in */
    /* Sets the charge of a window in this cluster. NULL: the charge is the
     * price. */
    void (*set_up)(const struct state *s, struct cluster *cluster);
    /* first: the most that a machine of the cluster costs in its first period
     * (NULL: only what its tasks cost, or nothing). next: the most that this
     * machine costs in its next period. */
    bats_money (*first)(const struct state *s, size_t cluster);
    bats_money (*next)(const struct state *s, uint32_t machine);
    /* Money held for the machine, beyond the charge. */
    bats_money (*held)(const struct state *s, uint32_t machine);
    /* begin: pays the first period and sets its end. extend: holds the money
     * for the next one. False: not affordable, or no such period, and nothing
     * has changed. NULL: the machine is queued first and has a single period;
     * its successor has the next. */
    bool (*begin)(struct state *s, uint32_t machine);
    bool (*extend)(struct state *s, uint32_t machine);
    /* enter: the next period, already held, begins. drop: it is not wanted.
     * NULL: machines are never `renewing`. */
    void (*enter)(struct state *s, uint32_t machine);
    void (*drop)(struct state *s, uint32_t machine);
    /* The machine will be reclaimed at this time: limits its paid time. Not
     * while the next period is held. NULL: it is paid as long as it works. */
    void (*notice)(struct state *s, uint32_t machine, bats_time taken_at);
    /* work: a task begins that may take up to `allowed`. idle: the machine's
     * last task has ended. forgive: the caller is about to take out an
     * execution that has not answered; it costs nothing where lost executions
     * are free. NULL: nothing happens. */
    void (*work)(struct state *s, uint32_t machine, bats_time allowed);
    void (*idle)(struct state *s, uint32_t machine);
    void (*forgive)(struct state *s, uint32_t machine);
    /* The lease ends: charges what is owed. NULL: nothing. */
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
