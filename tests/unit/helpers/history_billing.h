/*
 * history_billing: how the worlds of history_draw.h are billed: all models, with
 * tariffs, blocks, machines that are reclaimed, and jobs.
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

#endif
