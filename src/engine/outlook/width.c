/* width: how many jobs to hold money for. See width.h. */
#include "engine/outlook/width.h"

#include "engine/money/money.h"
#include "engine/outlook/forecast.h"
#include "util/larger.h"

/* Cost of all tasks not begun, run on this cluster; 0: unknown. */
static double cost_of_rest(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return bats_bag_pending(&s->bag) * cluster_mean(c) *
           cluster_rate(s, cluster) / cluster_slots(c);
}

/* Time until the lease ends and its tasks are told to stop. */
static double time_left(const struct state *s, uint32_t id)
{
    const struct machine_rest *r = &s->rest[id];
    return (double)(r->began_at + r->leased - s->run.preempt_lead - s->now);
}

/* Cost of the time that the machine's tasks need beyond its lease. */
static double beyond_lease(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    double rest = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        rest = larger(rest, forecast_rest(s, i));
    rest -= time_left(s, id);
    return larger(rest, 0) * cluster_rate(s, m->cluster);
}

static double running(const struct state *s)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_held; i++)
        cost += beyond_lease(s, s->held[i]);
    return cost;
}

/* The part of the money held that jobs have cost already. */
static double spent(const struct state *s)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_held; i++)
        cost += (double)(s->now - s->rest[s->held[i]].began_at) *
                cluster_rate(s, s->machines[s->held[i]].cluster);
    return cost;
}

static uint32_t jobs_asked(const struct state *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        n += s->clusters[i].n_asked;
    return n;
}

bool width_pays_job(const struct state *s, size_t cluster)
{
    const struct bats_ledger *l = &s->money.ledger;
    double left = (double)bats_ledger_available(l), held = (double)l->held;
    double price =
        (double)job_price(s, cluster, s->money.ledger.billing.lease);
    double rest = cost_of_rest(s, cluster);
    double task =
        cluster_mean(&s->clusters[cluster]) * cluster_rate(s, cluster);
    if (!width_matters(s) || l->budget == BATS_UNLIMITED)
        return true;
    if (larger(task, price) + running(s) > left)
        return false;
    if (held == 0 || s->n_held + jobs_asked(s) == 0)
        return true;
    if (rest > 0 && price + rest + running(s) <= left + held - spent(s))
        return true;
    return held + price <= (left + held) / 2 &&
           (rest == 0 || rest + running(s) > left + held);
}

bool width_pays_task(const struct state *s, uint32_t id)
{
    const struct bats_ledger *l = &s->money.ledger;
    const struct machine *m = &s->machines[id];
    double mean = cluster_mean(&s->clusters[m->cluster]);
    if (!width_matters(s) || l->budget == BATS_UNLIMITED || mean == 0)
        return true;
    double cost =
        larger(mean - time_left(s, id), 0) * cluster_rate(s, m->cluster);
    return cost + running(s) - beyond_lease(s, id) <=
           (double)bats_ledger_available(l);
}
