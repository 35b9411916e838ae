/*
 * choice: offers schedules and takes the choice. See bats/sched.h and
 * sampling.h.
 */
#include "engine/sampling/memory.h"

/* ---- the data of the estimate ---- */

static int make_runtimes(struct sampling *p, const struct state *s,
                         double confidence, struct bats_error *err)
{
    struct bats_sample sample;
    int rc = bats_sample_init(&sample, s->n_clusters, p->observations,
                              p->n_observations, err);
    if (rc < 0)
        return rc;
    bats_time expected[BATS_CLUSTERS_MAX];
    for (size_t i = 0; i < s->n_clusters; i++)
        expected[i] = s->clusters[i].expected;
    rc = bats_sample_runtimes(&sample, confidence, expected, p->runtimes, err);
    bats_sample_release(&sample);
    return rc;
}

static void make_clusters(struct sampling *p, const struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        p->clusters[i] = c->spec;
        p->clusters[i].charge = c->price;
        if (c->n_joined < c->spec.max)
            p->clusters[i].max = c->n_joined;
        p->slots[i] = cluster_slots(c) / needs_width_in(s, i);
        p->paid[i] = (struct bats_paid){.machines = c->n_held};
    }
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        struct bats_paid *paid = &p->paid[m->cluster];
        paid->time += (double)(m->paid_end - s->now) / paid->machines;
    }
}

/* Tasks left after the paid windows. An allocation has no such windows: there,
 * pending tasks and half of the running ones. */
static uint64_t tasks_left(const struct state *s)
{
    int64_t left = s->money.terms.lasts
                       ? bats_bag_pending(&s->bag) + s->n_busy / 2
                       : forecast_make(s).tasks_left;
    return left > 0 ? (uint64_t)left : 1;
}

/* Tasks that wait for others reduce what paid windows can do. */
static void allow_for_waiting(const struct sampling *p, const struct state *s,
                              struct bats_estimator *e)
{
    double slots[BATS_CLUSTERS_MAX], held = 0;
    struct bats_estimator all = *e;
    all.n_tasks = bats_bag_left(&s->bag);
    for (size_t i = 0; i < s->n_clusters; i++) {
        slots[i] =
            p->runtimes[i].mean > 0 ? p->paid[i].machines * p->slots[i] : 0;
        held += slots[i];
    }
    if (held > 0 && all.n_tasks > e->n_tasks)
        e->n_tasks += (uint64_t)((double)(all.n_tasks - e->n_tasks) *
                                 (1 - bats_levels_share(&all, slots)));
}

int sampling_estimator(struct sampling *p, const struct state *s,
                       struct bats_estimator *e, struct bats_error *err)
{
    if (s->run.phase != PHASE_SAMPLED)
        return bats_error_set(err, BATS_ESTATE,
                              "there is no sample to choose from");
    *e = (struct bats_estimator){
        .plans = s->money.terms.lasts ? BATS_PLANS_ALLOCATION : p->plans,
        .clusters = p->clusters,
        .runtimes = p->runtimes,
        .slots = p->slots,
        .paid = p->paid,
        .n_clusters = s->n_clusters,
        .n_tasks = tasks_left(s),
        .window = s->run.window,
        .confidence = p->confidence,
        .until =
            s->run.time_limit == BATS_NEVER ? 0 : s->run.time_limit - s->now,
        .least = s->money.terms.lasts && s->money.ledger.billing.least > s->now
                     ? s->money.ledger.billing.least - s->now
                     : 0,
        .rate = s->money.terms.lasts ? s->money.ledger.billing.rate : 0};
    make_clusters(p, s);
    levels_left(s, &p->levels);
    if (p->levels.n > 1)
        e->levels = &p->levels;
    e->chain = state_chain_means(s);
    int rc = make_runtimes(p, s, bats_estimate_confidence(e), err);
    if (rc == 0 && e->levels)
        allow_for_waiting(p, s, e);
    return rc;
}

/* ---- the choice ---- */

/* Maximum amount for the schedule: the promised upper bound of its cost, or
 * the given budget. */
static bats_money limit_of(const struct bats_schedule *schedule)
{
    if (schedule->offer == BATS_OFFER_BUDGET)
        return schedule->budget;
    return schedule->cost_high > schedule->budget ? schedule->cost_high
                                                  : schedule->budget;
}

static int too_dear(bats_money cost, struct bats_error *err)
{
    char money[BATS_UNITS_TEXT];
    return bats_error_set(err, BATS_EBUDGET,
                          "the deadline cannot be met for less than %s",
                          bats_money_format(money, cost));
}

int sampling_choose(struct sampling *p, const struct state *s,
                    const struct bats_choice *choice,
                    struct sampling_choice *chosen, struct bats_error *err)
{
    struct bats_estimator e;
    *chosen = (struct sampling_choice){.is_none = false};
    if (choice->offer == BATS_OFFER_NONE && s->run.phase == PHASE_SAMPLED) {
        chosen->is_none = true;
        return 0;
    }
    int rc = sampling_estimator(p, s, &e, err);
    if (rc == 0)
        rc = bats_estimate_choose(&e, choice, &chosen->schedule, err);
    if (rc == 0 && choice->offer == BATS_OFFER_DEADLINE &&
        chosen->schedule.plan.cost > bats_ledger_available(&s->money.ledger))
        rc = too_dear(chosen->schedule.plan.cost, err);
    if (rc < 0)
        return rc;
    chosen->plans = e.plans;
    chosen->n_tasks = e.n_tasks;
    chosen->limit = limit_of(&chosen->schedule);
    p->chosen = chosen->schedule;
    p->has_chosen = true;
    sampling_mark_time(p, s); /* the promise starts now */
    return 0;
}

void bats_sched_sampled(const struct bats_sched *e,
                        struct bats_sched_sampled *sampled)
{
    const struct sampling *p = e->state.own.sampling;
    *sampled = (struct bats_sched_sampled){.time = p->over_at,
                                           .charged = p->over_charged,
                                           .tasks = p->n_drawn,
                                           .given_up = p->given_up,
                                           .longest = p->longest,
                                           .observations = p->observations,
                                           .n_observations = p->n_observations,
                                           .chosen = p->has_chosen ? &p->chosen
                                                                   : NULL};
}
