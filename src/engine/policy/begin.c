/*
 * begin: the initial machines of policy bats when no cluster is known.
 *
 * Within a budget: slots for all tasks, the cheapest first, so that every
 * cluster that may be needed is measured at once. All machines, in numerical
 * order, if charges differ no more than speeds may, and so do not tell the
 * price of work; or if the budget does not pay all of them for a window, when
 * no order beats self-scheduling.
 *
 * By a deadline: a few machines of each cluster, for equal money; or all, if
 * the budget pays for all until the deadline, since then only time can be
 * short.
 */
#include "engine/policy/bats.h"

#include <math.h>

/* Charges within this factor do not tell the price of work. */
#define ALIKE 2
/* Initial machines of the cheapest cluster; others get as many as cost the
 * same, at least one. */
#define FIRST 8

/* Price of a slot's time or, if relative speeds are believed, of its work. */
static double slot_price(const struct state *s, size_t i)
{
    const struct cluster *c = &s->clusters[i];
    double price = (double)c->spec.charge / cluster_slots(c), most = 0;
    for (size_t k = 0; k < s->n_clusters && s->known.believes; k++)
        most = fmax(most, s->known.prior.mean[k]);
    return s->known.believes ? price * s->known.prior.mean[i] / most : price;
}

/* Slots to start for; an open bag will get more tasks. */
static double tasks_of(const struct state *s)
{
    double left =
        (bats_bag_left(&s->bag) + problem_announced(s)) * needs_width(s);
    bool is_unknown = s->run.is_open && s->run.in_all == 0;
    return is_unknown ? fmax(left, s->n_slots) : left;
}

/* ---- within a budget ---- */

static void start_cheap(const struct state *s, struct policy_start *start)
{
    bool seen[BATS_CLUSTERS_MAX] = {false};
    double tasks = tasks_of(s);
    for (size_t k = 0; k < s->n_clusters; k++) {
        size_t best = SIZE_MAX;
        double price = INFINITY;
        for (size_t i = 0; i < s->n_clusters; i++) {
            double p = slot_price(s, i);
            if (!seen[i] && p < price) {
                price = p;
                best = i;
            }
        }
        const struct cluster *c = &s->clusters[best];
        double slots = cluster_slots(c);
        double n = fmin(ceil(tasks / slots), c->spec.max);
        start->machines[best] = (uint32_t)n;
        seen[best] = true;
        tasks = fmax(tasks - n * slots, 0);
    }
}

void begin_for_budget(const struct state *s, double money,
                      struct policy_start *start)
{
    double all = 0, least = INFINITY, most = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        double price = slot_price(s, i);
        all += (double)s->clusters[i].spec.charge * s->clusters[i].spec.max;
        least = fmin(least, price);
        most = fmax(most, price);
    }
    if (most <= ALIKE * least || money == INFINITY || all > money)
        rr_start(NULL, s, NULL, start);
    else
        start_cheap(s, start);
}

/* ---- by a deadline ---- */

static double most_of(const struct state *s, const struct cluster *c)
{
    double slots = cluster_slots(c);
    return fmin(ceil(tasks_of(s) / slots), c->spec.max);
}

/* The budget pays for all machines until the deadline. */
static bool pays_all(const struct state *s)
{
    double time = (double)(s->run.goal.deadline - s->now), cost = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        cost += most_of(s, c) * (double)c->spec.charge;
    }
    return s->money.ledger.budget != BATS_UNLIMITED &&
           cost * ceil(time / (double)s->run.window) <=
               (double)bats_ledger_available(&s->money.ledger);
}

void begin_for_deadline(const struct state *s, struct policy_start *start)
{
    double least = INFINITY;
    bool all = pays_all(s);
    for (size_t i = 0; i < s->n_clusters; i++)
        least = fmin(least, slot_price(s, i));
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        double p = slot_price(s, i), n = most_of(s, c);
        if (!all && p > 0)
            n = fmin(n, fmax(round(FIRST * least / p), 1));
        start->machines[i] = (uint32_t)n;
    }
}
