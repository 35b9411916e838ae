/*
 * purses: the budgets of workflows that share a run (rule: bats/purse.h).
 *
 * Layer: engine, part of the state. A *stake* is the money that a workflow
 * holds for a machine on which it has tasks, or had some in the time not yet
 * charged. Without purses these functions do nothing. Part of state.h, which
 * includes it.
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
    double used; /* slot time since the last shared charge, microseconds */
};

struct stakes {
    struct stake *list; /* of workflows that have or had tasks there */
    uint32_t n;
    size_t room;
    bats_money window; /* charge of the current window */
    bats_money need;   /* possible further charge: each stake holds it */
    bats_time since;   /* time of the last shared charge */
};

struct purse {
    const char *name;
    struct bats_ledger ledger;
    bats_time deadline;   /* 0: none */
    bats_time begin;      /* earliest start of its tasks */
    uint32_t first, last; /* list of its tasks waiting for money, by index */
    uint32_t n_waiting;   /* and their number */
    bool is_news;         /* money was freed */
    uint32_t left, done, failed, skipped, unpaid;
    bats_time ended;
};

struct purses {
    uint32_t n;         /* 0: no workflows; all below is NULL */
    const uint16_t *of; /* by task; not owned */
    struct purse *list;
    struct stakes *stakes; /* by machine */
    uint32_t *next;        /* by task: next in the list of waiting ones */
    int64_t *urgency;   /* by task: height - its workflow's deadline; NULL: no
                           deadlines, only the height counts */
    uint8_t *is_unpaid; /* by task: skipped for want of money */
    uint32_t n_unpaid, n_waiting;
    bool are_apart;       /* no dependencies between workflows */
    bats_time last_begin; /* latest begin of any workflow */
    bool is_news;         /* of some purse */
};

/* ---- stakes.c ---- */

/* The stake of the workflow in the machine, or NULL. */
struct stake *purse_stake(const struct state *s, uint32_t machine,
                          uint32_t purse);

/* The workflow has a task on the machine that was not cancelled. */
bool purse_goes_on(const struct state *s, uint32_t machine, uint32_t purse);

/* The stake cannot hold what the machine needs; with use charged, nothing
 * more. */
bool purse_is_short(const struct state *s, uint32_t machine,
                    const struct stake *stake);

/* How much more the workflows with running tasks on the machine can hold. */
bats_money purse_room(const struct state *s, uint32_t machine);

/* ---- payment.c ---- */

/* The task's workflow has begun, and can hold what the machine may be
 * charged. */
bool purse_admits(const struct state *s, uint32_t machine,
                  struct bats_position task);

/* Number of tasks for which workflows could pay further machines of the
 * cluster, one slot per task. */
double purses_pay(const struct state *s, size_t cluster);

/* Some tasks wait for their workflow to begin. */
bool purses_begin_later(const struct state *s);

#endif
