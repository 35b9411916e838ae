/* history_digest: all that the engine answers in a history, as one number
 * (FNV-1a, word by word), for test_sched_property.c. */
#ifndef BATS_HISTORY_DIGEST_H
#define BATS_HISTORY_DIGEST_H

#include "bats/sched.h"
#include "bats/status.h"
#include "history_world.h"

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
