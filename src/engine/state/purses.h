/*
 * purses: the money of workflows that share a run. The rule is in bats/purse.h.
 *
 * Layer: engine, the state's. A *stake* is what a workflow holds for a machine
 * on which it has tasks, or had some in the time that is yet to be charged.
 * Without purses all of this does nothing. Part of state.h, which includes it.
 */
#ifndef BATS_ENGINE_PURSES_H
#define BATS_ENGINE_PURSES_H

#include "bats/bag.h"
#include "bats/ledger.h"
#include "bats/sched.h"

struct state;

/* A workflow's part in a machine. */
struct stake {
    uint16_t purse;
    bats_money held;
    double
        used; /* time of its slots since a charge was shared, microseconds */
};

struct stakes {
    struct stake *list; /* of those that have or had tasks there */
    uint32_t n;
    size_t room;
    bats_money window; /* what the present window was charged */
    bats_money need;   /* what may still be charged: a stake holds it */
    bats_time since;   /* when a charge was shared last */
};

struct purse {
    const char *name;
    struct bats_ledger ledger;
    bats_time deadline;   /* 0: none */
    bats_time begin;      /* none of its tasks begins before */
    uint32_t first, last; /* of its tasks that wait for money, by index, */
    uint32_t n_waiting;   /* and how many */
    bool is_news;         /* money has become free */
    uint32_t left, done, failed, skipped, unpaid;
    bats_time ended;
};

struct purses {
    uint32_t n;         /* 0: no workflows, and all below is NULL */
    const uint16_t *of; /* by task; not owned */
    struct purse *list;
    struct stakes *stakes; /* by machine */
    uint32_t *next;        /* by task: the next one that waits for money */
    int64_t *urgency;   /* by task: its height - the deadline of its workflow;
                         NULL: none has one, and the height alone counts */
    uint8_t *is_unpaid; /* by task: it was skipped for want of money */
    uint32_t n_unpaid, n_waiting;
    bool are_apart;       /* no task waits for one of another workflow */
    bats_time last_begin; /* from then on no workflow is still to begin */
    bool is_news;         /* of some purse */
};

/* ---- stakes.c ---- */

void purses_check(const struct state *s);

/* The stake of the workflow in the machine, or NULL. */
struct stake *purse_stake(const struct state *s, uint32_t machine,
                          uint32_t purse);

/* The workflow has a task on the machine that was not told to stop. */
bool purse_goes_on(const struct state *s, uint32_t machine, uint32_t purse);

/* The stake cannot hold what the machine needs or, of use, any more. */
bool purse_is_short(const struct state *s, uint32_t machine,
                    const struct stake *stake);

/* The workflows whose tasks run on the machine can hold this much more. */
bats_money purse_room(const struct state *s, uint32_t machine);

/* ---- payment.c ---- */

/* The workflow of the task has begun, and can hold what the machine may be
 * charged. */
bool purse_admits(const struct state *s, uint32_t machine,
                  struct bats_position task);

/* The number of tasks for which workflows could pay further machines of the
 * cluster, a slot for each task. */
double purses_pay(const struct state *s, size_t cluster);

/* Tasks wait for the beginning of their workflow. */
bool purses_begin_later(const struct state *s);

#endif
