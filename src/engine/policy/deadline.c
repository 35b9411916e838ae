/*
 * deadline: least cost by a deadline, for policy bats: chooses the
 * machine-windows (bats/windows.h) to buy. begin.c makes the start.
 *
 * Tasks that begin late may end late. So slots of cluster i count only until
 * Q_i before the deadline:
 *
 *   Q_i   = T_i q, q the longest runtime seen, in units of its cluster's mean,
 *           but at least 1 + z cv: z is the normal quantile of p^(1/k), p the
 *           confidence, for the last tasks of k slots; at most 3, and at most
 *           2 before the first and from 20 results on
 *   loss  = Q_i - T_i (1 + cv^2) / 2: tasks begun by then are finished
 *
 * Before the first result, a task is assumed to take 1.5 times the longest
 * elapsed time; so the tighter the deadline, the sooner machines are added.
 *
 * Reclaimable machines may be gone when needed. So where they are cheaper, the
 * safe machines must be able to finish the remaining tasks and two more in
 * time by themselves: the safety net of Uniform Progress (Wu et al., NSDI
 * 2024). Once they only just can, all of them are used. With jobs, unused time
 * is not paid: reclaimable ones are used whenever available, and safe ones
 * only from that moment until the time suffices for four more tasks.
 */
#include "engine/policy/bats.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Cap z at Z_MOST, or at Z_KNOWN once there are KNOWN results: the longest
 * result says more. */
#define Z_MOST 3
#define Z_KNOWN 2
#define KNOWN 20

/* ---- the plan ---- */

static double slots_of(const struct problem *p)
{
    double n = 0;
    for (uint32_t i = 0; i < p->is.n_machines; i++)
        n += p->machines[i].n_slots;
    for (size_t i = 0; i < p->is.n_types; i++)
        n += p->types[i].parked * p->types[i].slots;
    return n;
}

/* q, as above. */
static double longest(const struct state *s, const struct problem *p)
{
    double last = fmax(fmin(bats_bag_left(&s->bag), slots_of(p)), 1);
    double z = gsl_cdf_ugaussian_Pinv(pow(s->run.goal.confidence, 1 / last));
    double n_results = problem_results(s);
    bool is_new = 0 < n_results && n_results < KNOWN;
    double most = is_new ? Z_MOST : Z_KNOWN;
    double q = 1 + fmin(z, most) * p->cv;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_stats *stats = &s->clusters[i].stats;
        uint32_t n = stats->n_sample;
        if (n > 0)
            q = fmax(q, fmax((double)stats->sample[n - 1], p->longest[i]) /
                            stats->mean_done);
    }
    return q;
}

bool deadline_plan(struct problem *p, const struct state *s, double money,
                   struct bats_windows_plan *plan)
{
    double loss[BATS_CLUSTERS_MAX];
    double end = windows_until(s, s->run.goal.deadline);
    double q = longest(s, p), half = (1 + p->cv * p->cv) / 2;
    plan->feasible = false;
    if (end <= 0)
        return false;
    for (size_t i = 0; i < p->is.n_types; i++) {
        struct bats_windows_type *t = &p->types[i];
        loss[i] = t->loss;
        t->loss = fmax(q - half, 0) / t->rate;
    }
    bats_windows_cheapest(&p->is, end, money, plan);
    for (size_t i = 0; i < p->is.n_types; i++)
        p->types[i].loss = loss[i];
    return plan->feasible;
}

/* ---- machines that may be reclaimed ---- */

static bool is_safe(const struct state *s, size_t cluster)
{
    return !s->clusters[cluster].spec.reclaimable;
}

/* Tasks per window of a machine. */
static double rate_of(const struct problem *p, size_t cluster)
{
    return p->types[cluster].slots * p->types[cluster].rate;
}

/* The same for all safe machines; 0: none, or the others are no cheaper. */
static double safe_rate(const struct problem *p, const struct state *s)
{
    double rate = 0, least[2] = {INFINITY, INFINITY};
    for (size_t i = 0; i < p->is.n_types; i++) {
        const struct cluster *c = &s->clusters[i];
        double n = fmin(c->n_joined, c->spec.max);
        double *cost = &least[is_safe(s, i)];
        if (n > 0)
            *cost = fmin(*cost, p->types[i].charge / rate_of(p, i));
        if (is_safe(s, i))
            rate += n * rate_of(p, i);
    }
    return least[0] < least[1] ? rate : 0;
}

/* Uses all machines of one kind, and none of the other for the last tasks: a
 * queued job would be counted as sufficient. */
static void use(const struct problem *p, const struct state *s,
                struct bats_windows_plan *plan, bool safe)
{
    for (size_t i = 0; i < p->is.n_types; i++)
        if (is_safe(s, i) == safe)
            plan->buys[i] = p->types[i].parked;
        else if (!safe || p->is.demand <= 2 * slots_of(p))
            plan->buys[i] = 0;
    for (uint32_t i = 0; i < p->is.n_machines; i++)
        if (is_safe(s, p->machines[i].type) == safe && plan->keeps[i] == 0)
            plan->keeps[i] = 1 + (int64_t)p->machines[i].overrun;
}

bool deadline_secure(const struct problem *p, const struct state *s,
                     struct bats_windows_plan *plan)
{
    double rate = safe_rate(p, s), task = 0;
    if (rate <= 0 || s->now >= s->run.goal.deadline)
        return false;
    for (size_t i = 0; i < p->is.n_types; i++)
        task = fmax(task, 1 / p->types[i].rate);
    double spare = windows_until(s, s->run.goal.deadline) -
                   p->is.demand / rate - 2 * task;
    if (s->money.terms.waits)
        use(p, s, plan, false);
    if (spare <= 0) {
        use(p, s, plan, true);
        return false;
    }
    return s->money.terms.waits && spare > 2 * task;
}
