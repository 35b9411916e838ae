/* width: how many jobs to hold money for, and which tasks. See jobs.h. */
#include "engine/outlook/jobs.h"

#include "engine/money/money.h"
#include "engine/outlook/forecast.h"
#include "util/larger.h"

/* A task takes no longer than this many times the longest seen. */
#define SURE 1.05
/* Time until its result has arrived, and its slot runs the next one. */
#define MARGIN BATS_SECOND

static bool is_limited(const struct state *s)
{
    return width_matters(s) && s->money.ledger.budget != BATS_UNLIMITED;
}

/* ---- the money ---- */

static double available(const struct state *s)
{
    return (double)bats_ledger_available(&s->money.ledger);
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
        if (s->rest[i].asked && s->rest[i].began_at != BATS_NEVER)
            money -= spent(s, i);
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

/* The same for a task that begins now. If no runtime is known, it is what a
 * third of its share pays: the rest is for starts and ends, which a bag of few
 * tasks on as many slots has to pay for all of them. */
static double time_of_next(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    double mean = cluster_mean(c), rate = cluster_rate(s, cluster);
    if (mean == 0 && rate > 0)
        mean = share(s) / 3 * cluster_slots(c) / needs_width(s) / rate;
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

/* Money until the tasks of all jobs but one have ended, and the first ones of
 * those that are asked for; with `more`: until each job has done one more, too.
 * Runtimes vary, and those that are known first are the short ones. */
static double need(const struct state *s, uint32_t but, bool more)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_held; i++) {
        uint32_t id = s->held[i], at = s->machines[id].cluster;
        double time = time_of(s, id);
        if (more && !s->machines[id].marked)
            time = larger(time, time_of_next(s, at));
        if (id != but && time > 0)
            cost += cost_of(s, at, time);
    }
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_asked > 0)
            cost += s->clusters[i].n_asked * cost_of(s, i, time_of_next(s, i));
    return cost * (1 + forecast_spread(s));
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
    if (!is_limited(s))
        return true;
    double time =
        (double)s->money.ledger.billing.starting + time_of_next(s, cluster);
    return !is_dear(s, cluster) &&
           need(s, NO_MACHINE, true) + cost_of(s, cluster, time) <= unspent(s);
}

bool width_pays_task(const struct state *s, uint32_t id)
{
    size_t cluster = s->machines[id].cluster;
    if (!is_limited(s) || cluster_mean(&s->clusters[cluster]) == 0 ||
        cluster_rate(s, cluster) == 0)
        return true;
    double time = larger(time_of(s, id), time_of_next(s, cluster));
    double more = (time - time_left(s, id)) * cluster_rate(s, cluster);
    return !is_dear(s, cluster) && more <= available(s) &&
           need(s, id, false) + cost_of(s, cluster, time) <= unspent(s);
}

bool width_waits(const struct state *s, uint32_t id)
{
    size_t cluster = s->machines[id].cluster;
    return is_limited(s) && !s->machines[id].marked &&
           s->money.n_jobs > n_jobs(s) && !is_dear(s, cluster) &&
           need(s, NO_MACHINE, true) <= unspent(s);
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
