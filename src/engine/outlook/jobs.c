/* jobs: how long a job to request, and how many. See jobs.h. */
#include "engine/outlook/jobs.h"

#include <math.h>

#include "bats/windows.h"
#include "engine/money/money.h"
#include "engine/outlook/forecast.h"
#include "util/larger.h"

#define LOST 0.05 /* accepted loss, as a fraction of the job */
/* Time for the last tasks after the bag's end, in losses: eight mean runtimes
 * if all tasks are equal, more if they vary. */
#define LAST 16
/* Factor from a job that a task has filled to the next job. */
#define LONGER 4

static double wanted(const struct cluster *c)
{
    return larger(c->target, (double)c->n_active + c->n_asked);
}

/* Expected time until these jobs have finished the bag. */
static double end_of_bag(const struct state *s)
{
    double rate = 0, n = 0, most = s->money.ledger.billing.jobs;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        double runtime = cluster_mean(c);
        n += wanted(c);
        if (runtime > 0)
            rate += wanted(c) * cluster_slots(c) / runtime;
    }
    if (most > 0 && n > most)
        rate *= most / n;
    return (double)forecast_end_at(s, rate);
}

/* Time that the money pays for all jobs that hold none yet, and for the run's
 * own job meanwhile. */
static double paid(const struct state *s)
{
    const struct bats_billing *b = &s->money.ledger.billing;
    double cost = (double)b->rate / (double)BATS_HOUR;
    if (s->money.ledger.budget == BATS_UNLIMITED)
        return INFINITY;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        double n = wanted(c) - c->n_asked;
        cost += n * (double)c->price / (double)s->run.window;
    }
    double money = (double)bats_ledger_available(&s->money.ledger);
    return cost > 0 ? money / cost - (double)(b->overrun + b->leaving)
                    : INFINITY;
}

/* Rounds the time up to steps, or down if that exceeds `most`. */
static bats_time round_up(const struct state *s, double time, double most)
{
    double window = (double)s->run.window;
    double step = (double)s->money.ledger.billing.step;
    double steps = ceil((time - window) / step);
    double least = -floor((window - 1) / step);
    if (window + steps * step > most)
        steps = floor((most - window) / step);
    return s->run.window +
           (bats_time)larger(steps, least) * s->money.ledger.billing.step;
}

bats_time length_of_job(const struct state *s, size_t cluster)
{
    const struct bats_billing *b = &s->money.ledger.billing;
    double mean = cluster_mean(&s->clusters[cluster]);
    double window = (double)s->run.window, most = (double)TIME_MAX;
    if (width_matters(s))
        return b->longest > 0 ? b->longest : BATS_JOB_LONGEST;
    if (b->step == 0 || mean <= 0 || s->money.purses.n > 0)
        return s->run.window;
    if (b->longest > 0)
        most = (double)b->longest;
    most = larger(smaller(most, paid(s)), window);
    double loss = bats_windows_loss(mean, forecast_spread(s));
    double wait = (double)job_wait(s, cluster);
    double good = (loss + wait) / LOST;
    double need = end_of_bag(s) - (double)s->now + LAST * loss + wait +
                  (double)s->run.preempt_lead;
    double time = smaller(larger(good, window), need);
    return round_up(s, larger(time, LONGER * (double)s->known.filled), most);
}

/* The money pays for a one-window job of the cluster. */
static bool is_paid(const struct state *s, size_t cluster)
{
    return job_first(s, cluster) <=
           bats_ledger_available(&s->money.ledger) + jobs_waiting(s);
}

bool length_keeps_away(const struct state *s, size_t cluster)
{
    uint32_t waiting = 0;
    bool others = false;
    if (!s->money.terms.waits || s->money.ledger.budget == BATS_UNLIMITED)
        return false;
    for (size_t i = 0; i < s->n_clusters; i++) {
        waiting += s->clusters[i].n_asked;
        others |= is_paid(s, i);
    }
    return s->money.n_jobs == waiting && others && !is_paid(s, cluster);
}

/* ---- how many ---- */

#define HALF 0.5 /* share of the money: see jobs.h */

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
