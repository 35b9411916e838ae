/* width: how many jobs to hold money for, and which tasks. See jobs.h. */
#include "engine/outlook/jobs.h"

#include <math.h>

#include "engine/money/money.h"
#include "engine/outlook/forecast.h"
#include "util/larger.h"

/* A task takes no longer than this many times the longest seen. */
#define SURE 1.05
/* Time until its result has arrived, and its slot runs the next one. */
#define MARGIN BATS_SECOND
/* Time from the end of a job to its bill. */
#define WAIT (2 * BATS_SECOND)

static bool is_limited(const struct state *s)
{
    return width_matters(s) && s->money.ledger.budget != BATS_UNLIMITED;
}

/* ---- the money ---- */

static double available(const struct state *s)
{
    return (double)bats_ledger_available(&s->money.ledger);
}

static bool has_begun(const struct state *s, uint32_t id)
{
    return s->rest[id].asked && s->rest[id].began_at != BATS_NEVER;
}

/* What the machine's job has cost so far. */
static double spent(const struct state *s, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    bats_time end = s->now < m->paid_end ? s->now : m->paid_end;
    return (double)(end - s->rest[id].began_at) * cluster_rate(s, m->cluster);
}

/* The money that no job has cost yet. */
static double unspent(const struct state *s)
{
    double money = available(s) + (double)s->money.ledger.held;
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (has_begun(s, i))
            money -= spent(s, i);
    return money;
}

/* Money that will be free when jobs that have ended are billed. */
static double coming(const struct state *s)
{
    double money = 0;
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (has_begun(s, i) && !machine_is_held(&s->machines[i]))
            money += (double)job_held(s, i) - spent(s, i);
    return money;
}

/* ---- what tasks cost ---- */

static double cost_of_task(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return cluster_mean(c) * cluster_rate(s, cluster) / cluster_slots(c) *
           needs_width(s);
}

/* The same money for each task that is not done. */
static double share(const struct state *s)
{
    return (available(s) + (double)s->money.ledger.held) /
           larger(bats_bag_left(&s->bag), 1);
}

/* A task costs more there than its share of the money, and less elsewhere. */
static bool is_dear(const struct state *s, size_t cluster)
{
    double cost = cost_of_task(s, cluster);
    bool is_least = true;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_active + s->clusters[i].n_asked > 0)
            is_least &= cost_of_task(s, i) >= cost;
    return !is_least && cost > share(s);
}

/* ---- how long jobs have to last ---- */

/* Time for a task of this age that is expected to take `rest` more: with the
 * time in which it is told to stop, unless it ends for sure before; least: as
 * if it took no longer than the longest one seen. */
static double time_for(const struct state *s, size_t cluster, double age,
                       double rest, bool least)
{
    const struct bats_stats *stats = &s->clusters[cluster].stats;
    uint32_t n = stats->n_sample;
    double time = rest + (double)s->run.preempt_lead;
    double longest = n > 0 ? (double)stats->sample[n - 1] : 0;
    if (SURE * longest > age)
        time = smaller(time, SURE * longest - age + MARGIN);
    return least && longest > age ? smaller(time, longest - age) : time;
}

/* The same for all tasks of the machine. */
static double time_for_all(const struct state *s, uint32_t id, bool least)
{
    const struct machine *m = &s->machines[id];
    double time = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (slot_works(s, i))
            time = larger(time, time_for(s, m->cluster, slot_elapsed(s, i),
                                         forecast_rest(s, i), least));
    return time;
}

static double time_of(const struct state *s, uint32_t id)
{
    return time_for_all(s, id, false);
}

/* The same for a task that begins now. If no runtime is known, it is what half of
 * its share pays: the rest is for starts and ends, which a bag of few tasks on as
 * many slots has to pay for all of them. */
static double time_of_next(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    double mean = cluster_mean(c);
    if (mean == 0)
        mean = share(s) / 2 * cluster_slots(c) / needs_width(s) /
               cluster_rate(s, cluster);
    return time_for(s, cluster, 0, mean, false);
}

/* Time until the lease ends. */
static double time_left(const struct state *s, uint32_t id)
{
    const struct machine_rest *r = &s->rest[id];
    return (double)(r->began_at + r->leased - s->now);
}

bool width_is_short(const struct state *s, uint32_t id)
{
    return time_for_all(s, id, true) > time_left(s, id);
}

bats_time width_task_end(const struct state *s, uint32_t id)
{
    return s->now + (bats_time)time_of(s, id);
}

/* ---- what jobs need ---- */

/* Money for so much time of a job, and its end. */
static double cost_of(const struct state *s, size_t cluster, double time)
{
    return (time + (double)s->money.ledger.billing.overrun) *
           cluster_rate(s, cluster);
}

/* For a task that begins now. */
static double cost_of_next(const struct state *s, size_t cluster)
{
    return cost_of(s, cluster, time_of_next(s, cluster));
}

/* Money for the time that all jobs but one need beyond their leases. */
static double beyond_leases(const struct state *s, uint32_t but)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        uint32_t id = s->held[i];
        if (id != but)
            cost += larger(time_of(s, id) - time_left(s, id), 0) *
                    cluster_rate(s, s->machines[id].cluster);
    }
    return cost;
}

/* Money until the tasks of all jobs but one have ended, and the first ones of
 * those that are asked for. */
static double need(const struct state *s, uint32_t but)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        uint32_t id = s->held[i];
        if (id != but && s->machines[id].n_busy > 0)
            cost += cost_of(s, s->machines[id].cluster, time_of(s, id));
    }
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_asked > 0)
            cost += s->clusters[i].n_asked * cost_of_next(s, i);
    return cost;
}

static bool knows(const struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        if (cluster_mean(&s->clusters[i]) > 0)
            return true;
    return false;
}

/* Money for all jobs, and one more, until each has done one more task, with
 * the time for a start before; the tasks are equal if none is known. */
static double need_with(const struct state *s, size_t cluster)
{
    double start = knows(s) ? (double)s->money.ledger.billing.starting : 0;
    double cost = cost_of(s, cluster,
                          (double)s->money.ledger.billing.starting +
                              time_of_next(s, cluster));
    for (uint32_t i = 0; i < s->n_held; i++) {
        uint32_t id = s->held[i], at = s->machines[id].cluster;
        double time = time_of(s, id);
        if (!s->machines[id].marked)
            time = larger(time, start + time_of_next(s, at));
        cost += cost_of(s, at, time);
    }
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_asked > 0)
            cost += s->clusters[i].n_asked *
                    cost_of(s, i, start + time_of_next(s, i));
    return cost;
}

static uint32_t n_jobs(const struct state *s)
{
    uint32_t n = s->n_held;
    for (size_t i = 0; i < s->n_clusters; i++)
        n += s->clusters[i].n_asked;
    return n;
}

/* ---- decisions ---- */

bool width_pays_job(const struct state *s, size_t cluster)
{
    double start = (double)s->money.ledger.billing.starting, task = 0;
    double price = (double)job_price(s, cluster, job_ahead(s, TIME_MAX));
    if (!is_limited(s))
        return true;
    if (cluster_mean(&s->clusters[cluster]) > 0)
        task = cost_of(s, cluster, start + time_of_next(s, cluster));
    return larger(task, price) + beyond_leases(s, NO_MACHINE) <=
               available(s) &&
           (n_jobs(s) == 0 ||
            (!is_dear(s, cluster) && need_with(s, cluster) <= unspent(s)));
}

bool width_pays_task(const struct state *s, uint32_t id)
{
    size_t cluster = s->machines[id].cluster;
    if (!is_limited(s) || cluster_mean(&s->clusters[cluster]) == 0)
        return true;
    double time = larger(time_of(s, id), time_of_next(s, cluster));
    double more = (time - time_left(s, id)) * cluster_rate(s, cluster);
    if (is_dear(s, cluster) ||
        (more > 0 && more + beyond_leases(s, id) > available(s)))
        return false;
    return s->n_held == 1 ||
           need(s, id) + cost_of(s, cluster, time) <= unspent(s);
}

bool width_waits(const struct state *s, uint32_t id)
{
    size_t cluster = s->machines[id].cluster;
    double more = beyond_leases(s, NO_MACHINE), all = need(s, NO_MACHINE);
    if (!is_limited(s) || s->machines[id].marked ||
        s->money.n_jobs == n_jobs(s) || is_dear(s, cluster))
        return false;
    for (uint32_t i = 0; i < s->n_held; i++) {
        uint32_t other = s->held[i], at = s->machines[other].cluster;
        double rate = cluster_rate(s, at), time = time_of_next(s, at);
        all += WAIT * rate;
        if (s->machines[other].n_busy > 0 || s->machines[other].marked ||
            cost_of_task(s, at) > cost_of_task(s, cluster))
            continue;
        all += cost_of(s, at, time);
        more += larger(time - time_left(s, other), 0) * rate;
    }
    return more <= available(s) + coming(s) && all <= unspent(s);
}

bats_time width_lease_end(const struct state *s, uint32_t id)
{
    double all = 0;
    if (!is_limited(s))
        return BATS_NEVER;
    for (uint32_t i = 0; i < s->n_held; i++)
        all += cost_of(s, s->machines[s->held[i]].cluster,
                       (double)s->money.ledger.billing.lease);
    return all + (double)jobs_waiting(s) <= unspent(s) ? BATS_NEVER
                                                       : width_task_end(s, id);
}
