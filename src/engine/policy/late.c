/*
 * late: machines for copies of overdue tasks, for policy bats. Once no task is
 * waiting, a task expected to end after the deadline can be in time only if a
 * faster machine starts a copy.
 *
 *   rest     = expected remaining time of a task where it runs; the elapsed
 *              time again if its cluster has no results
 *   total_j  = max((elapsed + rest) T_j / T_i, T_j), or T_j if i is unknown:
 *              the expected time of a copy on cluster j
 *
 * Tasks with rest beyond the deadline, the longest first, get the machine that
 * ends them soonest: an idle one, else a parked one, if it is in time and
 * affordable beside the needs of running tasks. A bought machine has no task:
 * the tail (../tail/tail.h) sends it the copy.
 */
#include "engine/policy/bats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A copy is kept if its task would be late when taking this many times the
 * expected time. */
#define RISK 2

static int by_rest(const void *left, const void *right)
{
    const struct late *a = left, *b = right;
    if (a->rest != b->rest)
        return a->rest > b->rest ? -1 : 1;
    return a->slot < b->slot ? -1 : a->slot > b->slot;
}

static bool is_known(const struct state *s, size_t cluster)
{
    return s->clusters[cluster].stats.n_done > 0;
}

/* All times are in windows. */
static double elapsed(const struct state *s, uint32_t slot)
{
    return slot_elapsed(s, slot) / (double)s->run.window;
}

static double rest(const struct problem *p, const struct state *s,
                   uint32_t slot)
{
    return is_known(s, slot_cluster(s, slot)) ? p->slots[slot].rest
                                              : elapsed(s, slot);
}

/* total_j of the task in `slot`. */
static double total(const struct problem *p, const struct state *s,
                    uint32_t slot, size_t j)
{
    size_t i = slot_cluster(s, slot);
    double means = is_known(s, i) ? (elapsed(s, slot) + rest(p, s, slot)) *
                                        p->types[i].rate
                                  : 1;
    return fmax(means, 1) / p->types[j].rate;
}

/* The copy in `slot` is expected to end first, and may save the deadline.
 * *left: its remaining time. */
static bool is_sooner(const struct problem *p, const struct state *s,
                      uint32_t slot, double end, double *left)
{
    size_t cluster = slot_cluster(s, slot);
    uint32_t task = s->tasks[s->slots[slot].head.i].slot;
    *left = fmax(total(p, s, task, cluster) - elapsed(s, slot), 0);
    return is_known(s, cluster) && *left < rest(p, s, task) &&
           (!is_known(s, slot_cluster(s, task)) ||
            RISK * rest(p, s, task) > end);
}

/* Buys the parked machine that ends the task first, if it is in time and
 * affordable. */
static void buy(const struct problem *p, const struct state *s, uint32_t slot,
                double end, uint32_t *spares, double *money)
{
    double soonest = end, price = 0;
    size_t chosen = p->is.n_types;
    for (size_t j = 0; j < p->is.n_types; j++) {
        const struct cluster *c = &s->clusters[j];
        uint32_t there = c->n_joined < c->spec.max ? c->n_joined : c->spec.max;
        double time = total(p, s, slot, j);
        double cost = ceil(time) * p->types[j].charge;
        if (is_known(s, j) && c->n_held + spares[j] < there &&
            cost <= *money && time < soonest) {
            soonest = time;
            price = cost;
            chosen = j;
        }
    }
    *money -= price;
    if (chosen < p->is.n_types)
        spares[chosen]++;
}

static bool is_last(const struct state *s)
{
    return problem_pending(s) == 0 && s->bag.count[BATS_TASK_BLOCKED] == 0;
}

/* The task has no copy but may have one. */
static bool is_alone(const struct state *s, uint32_t slot)
{
    struct bats_position task = s->slots[slot].head;
    return s->tasks[task.i].replicas == NO_SLOT &&
           task_may_be_replicated(s, task);
}

bool late_is_news(const struct state *s)
{
    double end = (double)(s->run.goal.deadline - s->now);
    if (s->money.terms.waits || !is_last(s) || end <= 0)
        return false;
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        if (is_known(s, m->cluster))
            continue;
        for (uint32_t k = m->first_slot; k < m->first_slot + m->n_slots; k++)
            if (slot_works(s, k) && slot_elapsed(s, k) > end && is_alone(s, k))
                return true;
    }
    return false;
}

/* Lists late tasks without a copy. Returns their number, and subtracts the
 * needs of running tasks from the money. */
static uint32_t look(const struct problem *p, const struct state *s,
                     double end, struct late_room *r, double *money,
                     uint32_t *n_idle)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->is.n_machines; i++) {
        const struct bats_windows_machine *m = &p->machines[i];
        double longest = 0;
        for (uint32_t k = m->first_slot; k < m->first_slot + m->n_slots; k++) {
            if (!slot_works(s, k)) {
                *n_idle += !m->leaves && !s->slots[k].is_replica;
                continue;
            }
            longest = fmax(longest, ceil(rest(p, s, k) - m->paid));
            if (is_alone(s, k) && rest(p, s, k) > end)
                r->list[n++] = (struct late){rest(p, s, k), k};
        }
        *money -= longest * p->types[m->type].charge;
    }
    return n;
}

/* Keeps the copies worth continuing, as far as the money lasts. */
static void keep_copies(const struct problem *p, const struct state *s,
                        double end, struct late_room *r, double *money)
{
    for (uint32_t i = 0; i < p->is.n_machines; i++) {
        const struct bats_windows_machine *m = &p->machines[i];
        double charge = p->types[m->type].charge, left;
        for (uint32_t k = m->first_slot; k < m->first_slot + m->n_slots; k++) {
            if (m->leaves || !slot_copies(s, k) ||
                !is_sooner(p, s, k, end, &left))
                continue;
            double cost = fmax(ceil(left - m->paid), 0) * charge;
            if (cost <= *money) {
                r->copies[s->held[i]] = true;
                *money -= cost;
            }
        }
    }
}

void late_plan(const struct problem *p, const struct state *s, bool wanted,
               double money, struct late_room *r)
{
    double end =
        (double)(s->run.goal.deadline - s->now) / (double)s->run.window;
    uint32_t n_idle = 0;
    memset(r->spares, 0, sizeof r->spares);
    memset(r->copies, 0, s->n_machines * sizeof *r->copies);
    if (!wanted || s->money.terms.waits || !is_last(s))
        return;
    uint32_t n = look(p, s, end, r, &money, &n_idle);
    keep_copies(p, s, end, r, &money);
    qsort(r->list, n, sizeof *r->list, by_rest);
    for (uint32_t i = n_idle; i < n; i++)
        buy(p, s, r->list[i].slot, end, r->spares, &money);
}

/* ---- life cycle ---- */

int late_init(struct late_room *r, const struct state *s)
{
    r->copies = calloc(s->n_machines, sizeof *r->copies);
    r->list = calloc(s->n_slots, sizeof *r->list);
    return r->copies && r->list ? 0 : BATS_ENOMEM;
}

void late_release(struct late_room *r)
{
    free(r->copies);
    free(r->list);
}
