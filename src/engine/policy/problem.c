/*
 * problem: builds the machine-windows problem (bats/windows.h) of policy bats
 * from what is known of clusters and running tasks.
 *
 *   T     = (sum of tau_e over running tasks + rt_done) / (running + done)
 *   tau_e = tau + (sum of (x - tau) over the k runtimes x > tau of the sample
 *           + cv mean of what is done) / (k + 1)
 *   loss  = T (1 + cv^2) / 2: mean elapsed time of a task at a random instant
 *
 * with cv = forecast_spread(). Source of T: paper 2.1. The paper's tau_e
 * without a longer x, tau + T, would treat the last of many equal tasks as
 * just begun, and T would grow with every look.
 */
#include "engine/policy/bats.h"

#include <math.h>

#include "engine/money/money.h"
#include "engine/outlook/jobs.h"
#include "util/larger.h"

/* A task that outlasts all others of its cluster is expected to take this many
 * more standard deviations, at most DEVIATION_MOST means. */
#define DEVIATION_MOST 1
#define CONFIDENCE 0.9

/* ---- estimates ---- */

/* tau_e - tau of a task that has run for `elapsed`. */
static double rest_of(const struct bats_stats *stats, double elapsed,
                      double cv)
{
    uint32_t low = bats_stats_longer(stats, (bats_time)elapsed);
    double n = stats->n_sample - low;
    double sum = n > 0 ? stats->tail[low] - n * elapsed : 0;
    return (sum + smaller(cv, DEVIATION_MOST) * stats->mean_done) / (n + 1);
}

/* The running tasks of a cluster. */
struct running {
    double n, sum, longest;
};

/* Also records each slot's remaining and total task time, microseconds, if its
 * cluster has results. */
static void look(const struct state *s, struct problem *p,
                 struct running *running)
{
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        const struct bats_stats *stats = &s->clusters[m->cluster].stats;
        struct running *r = &running[m->cluster];
        for (uint32_t k = m->first_slot; k < m->first_slot + m->n_slots; k++) {
            uint32_t lead = slot_lead(s, k);
            p->slots[k] = (struct bats_windows_slot){0, 0};
            if (!slot_works(s, lead))
                continue;
            double elapsed = slot_elapsed(s, lead), rest = 0;
            if (stats->n_done > 0)
                rest = rest_of(stats, elapsed, p->cv);
            p->slots[k] = (struct bats_windows_slot){rest, elapsed + rest};
            if (k != lead)
                continue;
            r->n++;
            r->longest = larger(r->longest, elapsed);
            r->sum += p->slots[k].size;
        }
    }
}

/* Applies the prior belief, if there is one. mean[]: observed means, 0 without
 * results. The user's expectation is not a belief. */
static void believe(const struct state *s, double *mean)
{
    struct bats_belief belief;
    double window = (double)s->run.window, seen[BATS_CLUSTERS_MAX];
    if (!s->known.believes)
        return;
    for (size_t i = 0; i < s->n_clusters; i++)
        seen[i] = mean[i] * window;
    state_belief(s, seen, &belief);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (belief.mean[i] > 0 && (s->clusters[i].is_believed || mean[i] > 0))
            mean[i] = belief.mean[i] / window;
}

/* T of every cluster, in windows. A cluster without results gets the belief,
 * or the user's expectation, else the mean of the others; at least the elapsed
 * time of its tasks. */
static void find_means(const struct state *s, struct problem *p, double *mean)
{
    struct running running[BATS_CLUSTERS_MAX] = {{0}};
    double window = (double)s->run.window, sum = 0, n = 0, longest = 0;
    look(s, p, running);
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_stats *stats = &s->clusters[i].stats;
        mean[i] = 0;
        longest = fmax(longest, running[i].longest);
        if (stats->n_done == 0)
            continue;
        mean[i] = fmax((running[i].sum + stats->rt_done) /
                           (running[i].n + stats->n_done),
                       1) /
                  window;
        sum += mean[i];
        n++;
    }
    believe(s, mean);
    double others = n > 0 ? sum / n : fmax(p->longer * longest, 1) / window;
    for (size_t i = 0; i < s->n_clusters; i++) {
        double expected = (double)s->clusters[i].expected / window;
        if (mean[i] == 0)
            mean[i] = expected > 0 ? expected : others;
        if (s->clusters[i].stats.n_done == 0)
            mean[i] = fmax(mean[i], p->longer * running[i].longest / window);
    }
}

/* ---- the problem ---- */

static void add_machine(const struct state *s, struct problem *p,
                        const double *mean, uint32_t id)
{
    const struct machine *m = &s->machines[id];
    const struct bats_stats *stats = &s->clusters[m->cluster].stats;
    double window = (double)s->run.window, longest = 0;
    bats_time paid = m->paid_end - s->now + (m->renewing ? s->run.window : 0);
    struct bats_windows_machine *machine = &p->machines[p->is.n_machines++];
    for (uint32_t k = m->first_slot; k < m->first_slot + m->n_slots; k++) {
        struct bats_windows_slot *slot = &p->slots[k];
        uint32_t lead = slot_lead(s, k);
        if (!slot_works(s, lead))
            continue;
        double elapsed = slot_elapsed(s, lead) / window;
        slot->rest = stats->n_done > 0
                         ? slot->rest / window
                         : larger(mean[m->cluster] - elapsed,
                                  (p->longer - 1) * mean[m->cluster]);
        slot->size = (elapsed + slot->rest) / mean[m->cluster];
        p->is.demand += slot->size;
        longest = larger(longest, slot->rest);
    }
    *machine = (struct bats_windows_machine){
        .type = m->cluster,
        .first_slot = m->first_slot,
        .n_slots = m->n_slots,
        .paid = larger((double)paid / window, 0),
        .leaves = m->state != MACHINE_ACTIVE || m->quarantined};
    if (longest > machine->paid)
        machine->overrun = ceil(longest - machine->paid);
}

/* Mean cost of a window for a machine of this age, kept for `windows`: it may
 * get cheaper with age, or be reclaimed before it costs anything. */
static double price_at(const struct state *s, const struct cluster *c,
                       bats_time age, double windows)
{
    const struct bats_tariff *t = &c->spec.tariff;
    const struct bats_lifetime *l = &c->spec.lifetime;
    double most = fmin(windows * (double)s->run.window, (double)TIME_MAX / 2);
    bats_time time = (bats_time)most;
    bats_money cost = bats_tariff_cost(t, bats_tariff_block(t, age + time),
                                       age, age + time, BATS_END_USER);
    double free = 0;
    if (c->spec.reclaimable && age < t->free)
        free = bats_lifetime_cdf(l, t->free) - bats_lifetime_cdf(l, age);
    return (double)cost / windows * (1 - free);
}

/* Price of held machines, or of new ones if none is held: a plan has only one
 * price per cluster. */
static double mean_price(const struct state *s, const struct cluster *c,
                         double windows)
{
    double sum = 0, n = 0;
    if (!(s->money.terms.returns && s->money.terms.prolongs) || windows < 1)
        return (double)c->spec.charge;
    for (uint32_t i = 0; i < s->n_held && c->n_held > 0; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        if (&s->clusters[m->cluster] != c || m->state != MACHINE_ACTIVE)
            continue;
        sum +=
            price_at(s, c, m->paid_end - s->rest[s->held[i]].since, windows);
        n++;
    }
    return n > 0 ? sum / n : price_at(s, c, 0, windows);
}

/* Fraction of the time not lost with tasks cut off half-way. */
static double useful(const struct cluster *c, double mean)
{
    return c->spec.reclaimable
               ? 1 - bats_lifetime_cdf(&c->spec.lifetime, (bats_time)mean) / 2
               : 1;
}

/* Windows that all machines need for the bag: the least time for which a new
 * machine is kept. */
static double horizon(const struct state *s, const struct problem *p,
                      const double *mean)
{
    double rate = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        double n = fmin(c->n_joined, c->spec.max);
        rate += n * cluster_slots(c) / mean[i];
    }
    return rate > 0 ? p->is.demand / rate : 0;
}

/* Adds the cluster, with `there` machines that can be held. */
static void add_type(const struct state *s, struct problem *p, size_t cluster,
                     double cv, double mean, double windows, uint32_t there)
{
    const struct cluster *c = &s->clusters[cluster];
    double slots = cluster_slots(c);
    bool is_open = there > c->n_held && !length_keeps_away(s, cluster);
    uint32_t parked = is_open ? there - c->n_held : 0;
    double most = ceil(bats_bag_ready(&s->bag) * needs_width(s) / slots);
    p->types[cluster] = (struct bats_windows_type){
        .rate = useful(c, mean * (double)s->run.window) / mean,
        .slots = slots,
        .charge = mean_price(s, c, windows),
        .loss = bats_windows_loss(mean, cv),
        .delay = (double)job_wait(s, cluster) / (double)s->run.window,
        .parked = parked < most ? parked : (uint32_t)most};
}

double problem_pending(const struct state *s)
{
    const uint32_t *count = s->bag.count;
    return (double)bats_bag_pending(&s->bag) + count[BATS_TASK_CANCELLING] +
           count[BATS_TASK_WAITING];
}

double problem_announced(const struct state *s)
{
    uint32_t submitted = s->bag.n - s->bag.count[BATS_TASK_LEFT_OUT];
    return s->run.is_open && s->run.in_all > submitted
               ? s->run.in_all - submitted
               : 0;
}

uint32_t problem_results(const struct state *s)
{
    uint32_t n = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        n += s->clusters[i].stats.n_done;
    return n;
}

double problem_windows_left(const struct state *s)
{
    return s->run.time_limit == BATS_NEVER
               ? INFINITY
               : windows_until(s, s->run.time_limit);
}

double problem_work(const struct state *s)
{
    return (problem_pending(s) + problem_announced(s)) *
           categories_left_weight(s) * needs_width(s);
}

/* ---- tasks that wait for others ---- */

static void find_runtimes(const struct state *s, struct problem *p,
                          const double *mean)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_stats *stats = &s->clusters[i].stats;
        for (uint32_t k = 0; k < stats->n_sample; k++)
            p->sample[k] = (double)stats->sample[k];
        p->runtimes[i] =
            stats->n_sample > 0
                ? bats_runtimes_of(p->sample, stats->n_sample, CONFIDENCE)
                : bats_runtimes_given(mean[i] * (double)s->run.window);
    }
}

/* slots[] are divided by the width of tasks. */
static double waiting(const struct problem *p, double *slots)
{
    double n = 0, all = 0;
    for (size_t k = 0; k < p->levels.n; k++)
        n += p->levels.tasks[k] * p->levels.count[k];
    for (size_t i = 0; i < p->is.n_types; i++)
        all += slots[i] /= p->width;
    const struct bats_estimator e = {.runtimes = p->runtimes,
                                     .n_clusters = p->is.n_types,
                                     .n_tasks = (uint64_t)n,
                                     .levels = &p->levels,
                                     .chain = p->chain};
    return n < 1 || all <= 0 ? 0
                             : bats_levels_waiting(&e, slots, 0) * p->width;
}

double problem_waits_of_all(const struct problem *p)
{
    double slots[BATS_CLUSTERS_MAX];
    for (size_t i = 0; i < p->is.n_types; i++)
        slots[i] = p->types[i].parked * p->types[i].slots;
    for (uint32_t i = 0; i < p->is.n_machines; i++)
        if (!p->machines[i].leaves)
            slots[p->machines[i].type] += p->machines[i].n_slots;
    return waiting(p, slots);
}

/* A machine counts for the fraction of time it is held. */
double problem_waits(const struct problem *p,
                     const struct bats_windows_plan *plan)
{
    double slots[BATS_CLUSTERS_MAX];
    for (size_t i = 0; i < p->is.n_types; i++) {
        const struct bats_windows_type *t = &p->types[i];
        slots[i] = plan->buys[i] * t->slots * fmax(plan->end - t->delay, 0);
    }
    for (uint32_t i = 0; i < p->is.n_machines; i++) {
        const struct bats_windows_machine *m = &p->machines[i];
        double held = fmin(m->paid + (double)plan->keeps[i], plan->end);
        slots[m->type] += m->leaves ? 0 : m->n_slots * held;
    }
    for (size_t i = 0; i < p->is.n_types && plan->end > 0; i++)
        slots[i] /= plan->end;
    return plan->end > 0 ? waiting(p, slots) : 0;
}

/* ---- all of it ---- */

void problem_make(struct problem *p, const struct state *s, bool all)
{
    double mean[BATS_CLUSTERS_MAX], cv = p->cv = forecast_spread(s);
    double windows;
    find_means(s, p, mean);
    p->width = needs_width(s);
    /* the plan need not be sooner than a chosen schedule */
    double aim = s->run.aim > s->now ? windows_until(s, s->run.aim) : 0;
    p->is = (struct bats_windows_problem){.types = p->types,
                                          .n_types = s->n_clusters,
                                          .machines = p->machines,
                                          .slots = p->slots,
                                          .demand = problem_work(s),
                                          .aim = aim};
    windows = horizon(s, p, mean);
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        uint32_t there = all ? c->n_machines : c->n_joined;
        add_type(s, p, i, cv, mean[i], windows,
                 there < c->spec.max ? there : c->spec.max);
    }
    for (uint32_t i = 0; i < s->n_held; i++)
        add_machine(s, p, mean, s->held[i]);
    p->levels.n = 0;
    if (p->is.aim > 0)
        levels_left(s, &p->levels);
    if (p->levels.n > 0) {
        find_runtimes(s, p, mean);
        p->chain = state_chain_means(s);
    }
}

void problem_note(struct problem *p, const struct state *s,
                  const struct occasion *why)
{
    double *longest = &p->longest[s->machines[why->machine].cluster];
    *longest = larger(*longest, (double)why->runtime);
}
