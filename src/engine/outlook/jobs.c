/* jobs: how long a job to request. See jobs.h. */
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

/* The money suffices to ask for a one-window job of the cluster. */
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
