/*
 * history_world: the small world of test_sched_property.c: machines with
 * queues, and what is known of them from the commands alone. history_draw.h
 * makes one, history_checks.h keeps its books, history_digest.h sums up the
 * answers.
 */
#ifndef BATS_HISTORY_WORLD_H
#define BATS_HISTORY_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_rng.h>

#include "bats/bag.h"
#include "bats/policy.h"
#include "bats/sched.h"

#define PURSES 4
#define MACHINES 12
#define SLOTS 3
#define TASKS 40
#define JOINTS 4
#define EDGES 120
#define SEEN 12

struct execution {
    uint32_t task;
    uint64_t number; /* in the order in which they were begun */
    bool cancelled;
};

struct queue {
    struct execution e[TASKS];
    uint32_t n;
};

struct world {
    gsl_rng *rng;
    struct bats_sched *sched;
    struct bats_sched_options o;
    struct bats_cluster clusters[4];
    struct bats_machine_spec machines[MACHINES];
    bats_time now;
    bool on_hold;
    bool punctual; /* every tick comes exactly when it is wanted */
    struct queue queue[MACHINES][SLOTS];
    uint64_t n_executions;
    uint64_t replicas, superseded; /* of all worlds */
    bool finds;     /* machines run tasks that nobody told them to run; */
    uint64_t found; /* those that the engine wanted, of all worlds */
    uint32_t pending_before;       /* the event */
    bool sampling;                 /* tasks may run for their runtime alone */
    bool sampled, chosen;          /* SAMPLED came, and was answered */
    uint64_t choices;              /* of all worlds */
    uint32_t results[TASKS];
    uint8_t earlier[TASKS], failures[TASKS], once[TASKS];
    struct bats_observation seen[SEEN];
    bats_time paid[MACHINES], expected[4];
    uint32_t node[MACHINES];
    uint32_t left_out;
    struct bats_graph graph; /* with dependencies: n_nodes > 0 */
    bool skipped[TASKS], unpaid[TASKS];
    struct bats_purse purses[PURSES];
    uint16_t purse[TASKS];
    bats_money shared[PURSES];   /* by the SHARE notices */
    uint64_t n_unpaid, n_shared; /* of all worlds */
    uint16_t category[TASKS];
    uint32_t n_skipped, skips; /* the second of all worlds */
    bool joined[MACHINES], lost[MACHINES], held[MACHINES];
    bats_time acquired[MACHINES];
    bats_money booked;    /* by the CHARGE commands */
    bats_money low, high; /* charged for acquisitions that are over */
    enum bats_finish finish;
    bool finished;
    uint64_t digest; /* of this world; of all with each policy: */
    uint64_t digest_bats, digest_bkp, digest_rr, digest_dbc, digest_graph,
        digest_expert;
};

static uint32_t pick(struct world *w, uint32_t n)
{
    return (uint32_t)gsl_rng_uniform_int(w->rng, n);
}

static bool chance(struct world *w, double p)
{
    return gsl_rng_uniform(w->rng) < p;
}

#endif
