/*
 * history_world: the small world of test_sched_property.c: machines with
 * queues, what is known of them from the commands alone, and the digest of all
 * that the engine answers. history_draw.h makes one, history_checks.h keeps its
 * books.
 */
#ifndef BATS_HISTORY_WORLD_H
#define BATS_HISTORY_WORLD_H

#include "bats/bag.h"
#include "bats/policy.h"
#include "bats/sample.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "draw.h"

#define PURSES 4
#define MACHINES 12
#define SLOTS 3
#define WIDEST 8 /* slots, where tasks have needs */
#define CATEGORIES 5
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

/* What a history is of: each has a digest of its own. */
enum kind {
    KIND_BATS,
    KIND_BKP,
    KIND_RR,
    KIND_DBC,
    KIND_EXPERT,
    KIND_GRAPH,
    KIND_WORKFLOWS,
    KIND_NOTICE, /* charged by the window or for use, and reclaimed */
    KIND_SECOND,
    KIND_JOB,
    KIND_ALLOCATION,
    KIND_NEEDS, /* tasks need several slots, memory, GPUs */
    KINDS
};

/* Of all worlds. */
struct totals {
    uint64_t digest[KINDS];
    uint64_t replicas, superseded;
    uint64_t found; /* tasks that machines ran, and that the engine wanted */
    uint64_t choices;
    uint64_t skips, unpaid, shares;
    uint64_t bills, notices, kills;
    uint64_t leases, stakes, due; /* told; and kills that charged */
    uint64_t idle[BATS_IDLE_NO_COPY + 1];
};

/* A machine that is a job (billing = job). */
enum job { NO_JOB, JOB_ASKED, JOB_BEGUN, JOB_ENDED };

struct world {
    struct totals *all;
    enum kind kind;
    bats_time scale; /* of all times: tariffs count by the second */
    struct bats_sched *sched;
    struct bats_sched_options o;
    struct bats_cluster clusters[4];
    struct bats_machine_spec machines[MACHINES];
    bats_time now;
    bool on_hold;
    bool punctual; /* every tick comes exactly when it is wanted */
    struct queue queue[MACHINES][WIDEST];
    uint64_t n_executions;
    uint32_t ends; /* the task whose end is being told; or UINT32_MAX */
    bool finds;    /* machines run tasks that nobody told them
                                      to run */
    uint32_t pending_before; /* the event */
    bool sampling;           /* tasks may run for their runtime alone */
    bool sampled, chosen;    /* SAMPLED came, and was answered */
    uint32_t results[TASKS];
    uint8_t earlier[TASKS], failures[TASKS], once[TASKS];
    struct bats_observation seen[SEEN];
    bats_time asked[MACHINES], expected[4];
    uint32_t left_out;
    struct bats_graph graph; /* with dependencies: n_nodes > 0 */
    bool skipped[TASKS], unpaid[TASKS];
    struct bats_purse purses[PURSES];
    uint16_t purse[TASKS];
    bats_money shared[PURSES];           /* by the SHARE notices */
    bats_money shares[MACHINES][PURSES]; /* the same, of each machine; */
    bats_money paid[MACHINES];           /* and by CHARGE */
    struct leases *leases;               /* NULL: the engine tells none */
    uint16_t category[TASKS];
    struct bats_need needs[CATEGORIES];
    uint16_t more[CATEGORIES];
    struct bats_stock stocks[MACHINES];
    uint32_t n_skipped;
    bool joined[MACHINES], lost[MACHINES], held[MACHINES];
    bats_time acquired[MACHINES];
    enum job job[MACHINES];
    bats_time length[MACHINES];    /* of the job */
    enum bats_idle idle[MACHINES]; /* why they are, as told last */
    bool closed[MACHINES];         /* no other job can be had there */
    bool overbilled;      /* a job was billed more than was held for it */
    bats_money booked;    /* by the CHARGE commands */
    bats_money low, high; /* charged for acquisitions that are over */
    enum bats_finish finish;
    bool finished;
    bool killed;
    uint64_t digest; /* of this world */
};

static bool is_billed(const struct world *w, enum bats_billing_model model)
{
    return w->o.billing.model == model;
}

/* ---- the digest: FNV-1a, word by word ---- */

static void add(struct world *w, uint64_t word)
{
    w->digest = (w->digest ^ word) * UINT64_C(1099511628211);
    w->digest ^= w->digest >> 32;
}

static void add_number(struct world *w, double number)
{
    uint64_t word;
    memcpy(&word, &number, sizeof word);
    add(w, word);
}

static void add_command(struct world *w, const struct bats_command *c)
{
    add(w, c->type);
    add(w, c->machine);
    add(w, c->slot);
    add(w, c->task);
    add(w, c->replica);
    add(w, c->time_out);
    add(w, c->purse);
    add(w, c->unpaid);
    add(w, (uint64_t)c->time);
    add(w, (uint64_t)c->amount);
    add(w, c->finish);
}

static void add_status(struct world *w)
{
    struct bats_sched_status st;
    bats_sched_status(w->sched, &st);
    const uint64_t words[] = {(uint64_t)st.now,
                              st.finish,
                              st.pending,
                              st.blocked,
                              st.running,
                              st.done,
                              st.failed,
                              st.skipped,
                              (uint64_t)st.budget,
                              (uint64_t)st.charged,
                              (uint64_t)st.held,
                              (uint64_t)st.charged_before,
                              st.retried,
                              st.timed_out,
                              st.preempted,
                              st.replicas,
                              st.replicas_won,
                              (uint64_t)st.estimated_end,
                              (uint64_t)st.late_end,
                              (uint64_t)st.rest_cost,
                              st.sample_size};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        add(w, words[i]);
    for (uint32_t i = 0; i < w->o.n_purses; i++) {
        struct bats_purse_status p;
        bats_sched_purse_status(w->sched, i, &p);
        add(w, (uint64_t)p.charged);
        add(w, (uint64_t)p.held);
        add(w, p.left);
        add(w, p.unpaid);
        add(w, (uint64_t)p.ended);
    }
}

static void add_clusters(struct world *w)
{
    for (size_t i = 0; i < w->o.n_clusters; i++) {
        struct bats_cluster_status c;
        bats_sched_cluster_status(w->sched, i, &c);
        const uint64_t words[] = {c.machines_used,
                                  c.machines_now,
                                  c.machines_lost,
                                  c.machines_quarantined,
                                  (uint64_t)c.windows,
                                  (uint64_t)c.charged,
                                  c.done,
                                  c.failed};
        for (size_t k = 0; k < sizeof words / sizeof *words; k++)
            add(w, words[k]);
        add_number(w, c.mean_runtime);
        add_number(w, c.profitability);
        add_number(w, c.utilisation);
    }
}

static void add_decisions(struct world *w)
{
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(w->sched, &n);
    for (size_t i = 0; i < n; i++) {
        add(w, (uint64_t)d[i].time);
        add(w, d[i].reason);
        add(w, d[i].feasible);
        add(w, (uint64_t)d[i].tasks_left);
        add(w, (uint64_t)d[i].tasks_paid);
        add(w, (uint64_t)d[i].budget_left);
        add(w, (uint64_t)d[i].windows);
        for (size_t k = 0; k < w->o.n_clusters; k++)
            add(w, (uint64_t)d[i].machines[k] << 32 | d[i].ending[k]);
    }
}

/* Adds the values known only at the end. */
static void add_end(struct world *w)
{
    struct bats_sched_sampled sampled;
    bats_sched_sampled(w->sched, &sampled);
    add(w, (uint64_t)sampled.time);
    add(w, (uint64_t)sampled.charged);
    add(w, sampled.tasks);
    add(w, sampled.given_up);
    add(w, sampled.longest);
    add(w, sampled.n_observations);
    add_clusters(w);
    add_decisions(w);
    uint64_t *all = &w->all->digest[w->kind];
    *all = (*all ^ w->digest) * UINT64_C(1099511628211);
}

#endif
