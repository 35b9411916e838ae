/*
 * history_billing: how the worlds of history_draw.h are billed: all models,
 * with tariffs, blocks, machines that are reclaimed, and jobs; and what is
 * asserted of the leases and stakes that the engine tells: they add up to what
 * it says, and to what KILLED charges.
 */
#ifndef BATS_HISTORY_BILLING_H
#define BATS_HISTORY_BILLING_H

#include "history_world.h"

/* All times are longer: tariffs round to the nearest second. */
static void stretch(struct world *w, bats_time scale)
{
    w->scale = scale;
    w->o.window *= scale;
    w->o.preempt_lead *= scale;
    w->o.prefetch *= scale;
    w->o.monitor_interval *= scale;
    w->o.goal.deadline *= scale;
    w->o.rules.retry_delay *= scale;
    w->o.rules.timeout *= scale;
    w->o.rules.time_limit *= scale;
    for (uint32_t i = 0; i < w->o.n_clusters; i++)
        w->expected[i] *= scale;
    for (uint32_t i = 0; i < w->o.earlier.n_seen; i++)
        w->seen[i].runtime *= scale;
}

/* By age, or a block; perhaps free when it is reclaimed early. */
static void add_tariff(struct world *w, struct bats_cluster *c)
{
    struct bats_tariff *t = &c->tariff;
    bool is_block = chance(0.3);
    t->per = w->o.window;
    t->n_steps = is_block ? 1 : 1 + pick(BATS_TARIFF_STEPS);
    for (uint32_t i = 0; i < t->n_steps; i++)
        t->step[i] = (struct bats_tariff_step){
            i == 0 ? 0 : t->step[i - 1].from + 1 + pick(30000000),
            i == 0 ? c->charge : pick(5000000)};
    if (is_block) {
        t->shortest = BATS_SECOND * (1 + pick(20));
        t->longest = t->shortest * (1 + pick(4));
        t->charge_longest = t->step[0].charge + pick(1000000);
    }
    if (chance(0.4))
        t->free = pick(60000000);
}

/* The run is in a job of its own, and machines may be jobs. */
static void add_jobs(struct world *w)
{
    struct bats_billing *b = &w->o.billing;
    bool is_job = b->model == BATS_BILLING_JOB;
    if (!is_job || chance(0.4))
        b->rate = pick(2000000000);
    if (b->rate > 0 && chance(0.3))
        b->leaving = pick(5000000);
    if (b->rate > 0 && chance(0.3))
        b->least = pick(20000000);
    if (chance(0.2))
        b->before = pick(2000000) - w->o.earlier.charged / 2;
    if (!is_job)
        return;
    if (chance(0.3))
        b->overrun = pick(5000000);
    if (chance(0.4))
        b->jobs = 1 + pick(4);
    if (chance(0.5))
        b->step = 1 + w->o.window / (1 + pick(6));
    if (chance(0.3))
        b->longest = w->o.window * (1 + pick(3));
    uint32_t n[4] = {0};
    for (uint32_t i = 0; i < w->o.n_machines; i++) {
        uint32_t cluster = w->machines[i].cluster;
        w->overbilled = b->before > 0;
        w->joined[i] = true; /* it can be asked for */
        if (chance(0.2) && n[cluster]++ < w->clusters[cluster].max)
            w->asked[i] = 1 + pick(40000000);
    }
    if (chance(0.3))
        w->o.earlier.asked = w->asked;
}

/* One model after the other; machines may be reclaimed. */
static void bill(struct world *w, unsigned long seed)
{
    static const enum kind kinds[] = {KIND_SECOND, KIND_JOB,
                                      KIND_NOTICE, KIND_JOB,
                                      KIND_SECOND, KIND_ALLOCATION};
    struct bats_sched_options *o = &w->o;
    w->kind = kinds[seed % 6];
    o->billing.model = w->kind == KIND_SECOND       ? BATS_BILLING_SECOND
                       : w->kind == KIND_JOB        ? BATS_BILLING_JOB
                       : w->kind == KIND_ALLOCATION ? BATS_BILLING_ALLOCATION
                       : chance(0.5)                ? BATS_BILLING_USE
                                                    : BATS_BILLING_WINDOW;
    if (!is_billed(w, BATS_BILLING_WINDOW))
        o->sampling.on = w->sampling = false;
    stretch(w, 10000);
    if (is_billed(w, BATS_BILLING_JOB) && seed % 12 > 5)
        o->billing.lease = o->window / 4 + 2 * o->preempt_lead + 1;
    if (o->billing.lease > 0 && seed % 24 > 17)
        o->billing.starting = o->window / 8;
    for (uint32_t i = 0; i < o->n_clusters; i++) {
        struct bats_cluster *c = &w->clusters[i];
        c->lost_is_free &= is_billed(w, BATS_BILLING_USE);
        c->reclaimable = chance(0.5);
        c->notice = chance(0.5) ? pick(5000000) : 0;
        if (c->reclaimable)
            c->lifetime =
                (struct bats_lifetime){.survival = BATS_SURVIVAL_EXPONENTIAL,
                                       .a = 1 + pick(100000000),
                                       .share = 1 - 0.5 * uniform()};
        if (w->kind == KIND_SECOND)
            add_tariff(w, c);
    }
    if (w->kind == KIND_JOB || w->kind == KIND_ALLOCATION)
        add_jobs(w);
}

/* ---- leases ---- */

#define LEASES 20000

struct leases {
    struct bats_lease list[LEASES]; /* by id - 1; */
    uint32_t n;
    bats_money stakes[MACHINES][PURSES]; /* by machine: one lease has any */
};

/* It is of the kind that machines are billed by, and lasts until now. */
static void check_times(const struct world *w, const struct bats_lease *l)
{
    static const char *const kinds[] = {[BATS_BILLING_WINDOW] = "window",
                                        [BATS_BILLING_ALLOCATION] = "free",
                                        [BATS_BILLING_USE] = "use",
                                        [BATS_BILLING_JOB] = "job",
                                        [BATS_BILLING_SECOND] = "second"};
    struct bats_sched_status st;
    bats_sched_status(w->sched, &st);
    assert_true(l->asked <= st.now);
    assert_true(
        l->state != BATS_LEASE_BEGUN ||
        (l->asked <= l->begun && l->begun <= st.now && st.now <= l->until));
    assert_true(l->ended == BATS_NEVER ||
                (l->asked <= l->ended && l->ended <= st.now));
    if (l->machine == BATS_NO_MACHINE)
        return;
    assert_string_equal(l->kind, kinds[w->o.billing.model]);
    if (l->state == BATS_LEASE_ASKED) {
        assert_int_equal(l->length, w->length[l->machine]);
        assert_true(l->begun == BATS_NEVER && l->until == BATS_NEVER);
    }
    if (l->state == BATS_LEASE_BEGUN && is_billed(w, BATS_BILLING_WINDOW) &&
        w->all->notices == 0) /* which cut it short */
        assert_int_equal((l->until - l->begun) % w->o.window, 0);
}

/* A row is told when it is new, or another one. */
static void hear_lease(struct world *w, const struct bats_lease *l)
{
    struct leases *k = w->leases;
    assert_true(0 < l->id && l->id <= LEASES);
    for (; k->n < l->id; k->n++) /* in no order */
        k->list[k->n] = (struct bats_lease){.state = BATS_LEASE_ENDED};
    bool is_new = k->list[l->id - 1].id == 0;
    assert_true(
        l->machine < w->o.n_machines ||
        (l->machine == BATS_NO_MACHINE && strcmp(l->kind, "allocation") == 0));
    if (!is_new) {
        const struct bats_lease *old = &k->list[l->id - 1];
        assert_true(old->machine == l->machine && old->asked == l->asked);
        assert_true(old->state <= l->state);
        assert_true(old->charged <= l->charged ||
                    l->machine == BATS_NO_MACHINE); /* less than before */
    }
    check_times(w, l);
    assert_true(l->held >= 0 &&
                (l->if_killed == 0 || l->if_killed == l->held));
    assert_int_equal(l->ended == BATS_NEVER, l->state <= BATS_LEASE_BEGUN);
    k->list[l->id - 1] = *l;
    w->all->leases++;
}

/* The leases of a machine are as they were told. */
static void check_leases_of(const struct world *w, uint32_t machine,
                            bats_money *held)
{
    const struct leases *k = w->leases;
    uint32_t open = 0;
    bats_money charged = 0;
    for (uint32_t i = 0; i < k->n; i++)
        if (k->list[i].machine == machine) {
            charged += k->list[i].charged;
            *held += k->list[i].held;
            open += k->list[i].state < BATS_LEASE_ENDED;
        }
    assert_true(open <= 1);
    if (machine < w->o.n_machines) {
        assert_int_equal(charged, w->paid[machine]);
        assert_true(!w->held[machine] || w->finished || open == 1);
    }
}

static void check_leases(struct world *w)
{
    struct bats_sched_status st;
    bats_money held = 0;
    bats_sched_status(w->sched, &st);
    for (uint32_t m = 0; m < w->o.n_machines; m++)
        check_leases_of(w, m, &held);
    check_leases_of(w, BATS_NO_MACHINE, &held);
    assert_int_equal(held, st.held);
    for (uint32_t i = 0; i < w->o.n_purses; i++) {
        struct bats_purse_status p;
        bats_money stakes = 0;
        bats_sched_purse_status(w->sched, i, &p);
        for (uint32_t m = 0; m < w->o.n_machines; m++)
            stakes += w->leases->stakes[m][i];
        assert_int_equal(stakes, p.held);
    }
}

static void hear_leases(struct world *w)
{
    struct bats_lease lease;
    struct bats_stake stake;
    while (bats_sched_next_lease(w->sched, &lease))
        hear_lease(w, &lease);
    while (bats_sched_next_stake(w->sched, &stake)) {
        struct leases *k = w->leases;
        assert_true(stake.lease > 0 && stake.lease <= k->n);
        assert_int_equal(k->list[stake.lease - 1].id, stake.lease);
        uint32_t m = k->list[stake.lease - 1].machine;
        assert_true(k->stakes[m][stake.purse] != stake.held);
        k->stakes[m][stake.purse] = stake.held;
        w->all->stakes++;
    }
    check_leases(w);
}

/* The charges of KILLED by what was told; *sum: of all. */
static void foresee(const struct world *w, bats_money *paid,
                    bats_money shares[MACHINES][PURSES])
{
    memcpy(paid, w->paid, sizeof w->paid);
    memcpy(shares, w->shares, sizeof w->shares);
    for (uint32_t i = 0; i < w->leases->n; i++)
        if (w->leases->list[i].machine != BATS_NO_MACHINE)
            paid[w->leases->list[i].machine] += w->leases->list[i].if_killed;
    for (uint32_t m = 0; m < MACHINES; m++)
        for (uint32_t i = 0; i < PURSES; i++)
            shares[m][i] += w->leases->stakes[m][i];
}

#endif
