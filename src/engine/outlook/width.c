/* width: how many jobs to hold money for. See width.h. */
#include "engine/outlook/width.h"

#include "engine/money/money.h"
#include "engine/outlook/forecast.h"
#include "util/larger.h"

#define HALF 0.5 /* share of the money: see width.h */

/* Cost of all tasks not begun, run on this cluster; 0: unknown. */
static double cost_of_rest(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return bats_bag_pending(&s->bag) * needs_width(s) * cluster_mean(c) *
           cluster_rate(s, cluster) / cluster_slots(c);
}

/* Time until the lease ends and its tasks are told to stop. */
static double time_left(const struct state *s, uint32_t id)
{
    const struct machine_rest *r = &s->rest[id];
    return (double)(r->began_at + r->leased - s->run.preempt_lead - s->now);
}

/* The longest rest of the machine's tasks. */
static double rest_of(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    double rest = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        rest = larger(rest, forecast_rest(s, i));
    return rest;
}

bats_time width_task_end(const struct state *s, uint32_t id)
{
    return s->now + (bats_time)rest_of(s, id) + s->run.preempt_lead;
}

/* Cost of the time that the machine's tasks need beyond its lease. */
static double beyond_lease(const struct state *s, uint32_t id)
{
    return larger(rest_of(s, id) - time_left(s, id), 0) *
           cluster_rate(s, s->machines[id].cluster);
}

/* Cost of the running tasks from now on, or only beyond the leases. */
static double running(const struct state *s, bool beyond)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        uint32_t id = s->held[i];
        cost +=
            beyond ? beyond_lease(s, id)
                   : rest_of(s, id) * cluster_rate(s, s->machines[id].cluster);
    }
    return cost;
}

/* The money that no job has cost yet. */
static double unspent(const struct state *s)
{
    const struct bats_ledger *l = &s->money.ledger;
    double money = (double)bats_ledger_available(l) + (double)l->held;
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (s->rest[i].asked && s->rest[i].began_at != BATS_NEVER)
            money -= (double)(s->now - s->rest[i].began_at) *
                     cluster_rate(s, s->machines[i].cluster);
    return money;
}

/* Money that a job of the cluster holds and that no task can use. */
static double end_of(const struct state *s, size_t cluster)
{
    return (double)(s->run.preempt_lead + s->money.ledger.billing.overrun) *
           cluster_rate(s, cluster);
}

static double task_of(const struct state *s, size_t cluster)
{
    return cluster_mean(&s->clusters[cluster]) * cluster_rate(s, cluster);
}

/* The money that the ends of all jobs hold, each after one more task if
 * `task`. */
static double all_ends(const struct state *s, bool task)
{
    double cost = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        cost += (s->clusters[i].n_active + s->clusters[i].n_asked) *
                (end_of(s, i) + (task ? task_of(s, i) : 0));
    return cost;
}

bool width_pays_job(const struct state *s, size_t cluster)
{
    const struct bats_ledger *l = &s->money.ledger;
    double left = (double)bats_ledger_available(l), held = (double)l->held;
    double price = (double)job_price(s, cluster, job_ahead(s, TIME_MAX));
    double rest = cost_of_rest(s, cluster) + running(s, false);
    double money = unspent(s), task = task_of(s, cluster);
    if (!width_matters(s) || l->budget == BATS_UNLIMITED)
        return true;
    if (larger(task, price) + running(s, true) > left)
        return false;
    if (held == 0 || s->n_held + s->money.n_asked_slots == 0)
        return true;
    if (task == 0)
        return held + price <= HALF * (left + held);
    if (rest + all_ends(s, false) + end_of(s, cluster) <= money)
        return true;
    return rest <= money &&
           all_ends(s, true) + task + end_of(s, cluster) <= HALF * money;
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
    if (cost > 0 && cost + running(s, true) - beyond_lease(s, id) >
                        (double)bats_ledger_available(l))
        return false;
    double money = unspent(s);
    return s->n_held == 1 || all_ends(s, true) <= money ||
           cost_of_rest(s, m->cluster) + running(s, false) +
                   all_ends(s, false) <=
               money;
}
