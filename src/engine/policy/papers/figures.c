/* figures: runtimes, costs, money and deadlines of tasks, and what offers have.
 * See place.h. */
#include "engine/policy/papers/place.h"

#include <math.h>

#include "util/larger.h"

/* Assumed runtime before any result: so small that all tasks are
 * affordable. */
#define UNKNOWN 1
/* Reserve, in standard deviations of the expected runtimes. */
#define DOUBT 3

double place_runtime(const struct state *s, uint32_t task, size_t cluster)
{
    double time = task_runtime(s, task, cluster);
    return time > 0 || s->known.is_ranked ? time : UNKNOWN;
}

double place_cost(const struct state *s, uint32_t task, double time,
                  size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return task_width(s, task) * time / (double)s->run.window *
           (double)c->price / cluster_slots(c);
}

double place_square(const struct state *s, uint32_t slot, uint32_t workflow)
{
    const struct slot *sl = &s->slots[slot];
    uint32_t cluster = slot_cluster(s, slot);
    uint32_t task = sl->n_tasks > 0 ? s->bag.index[sl->head.i] : 0;
    if (sl->n_tasks == 0 || place_workflow(s, task) != workflow)
        return 0;
    double cost =
        place_cost(s, task, place_runtime(s, task, cluster), cluster);
    return cost * cost;
}

double place_doubt(const struct state *s)
{
    return s->known.categories.told ? DOUBT * categories_told_error(s) : 0;
}

double place_rest(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    const struct machine *m = &s->machines[sl->machine];
    if (m->state != MACHINE_ACTIVE || m->quarantined)
        return INFINITY;
    if (sl->n_tasks == 0)
        return sl->is_idle ? 0 : (double)INFINITY;
    return fabs(slot_elapsed(s, slot) -
                place_runtime(s, s->bag.index[sl->head.i], m->cluster));
}

double place_money(const struct state *s, uint32_t workflow)
{
    bool is_run = workflow == place_workflows(s);
    if (!is_run && s->money.purses.n == 0)
        return INFINITY;
    const struct bats_ledger *ledger =
        is_run ? &s->money.ledger : &s->money.purses.list[workflow].ledger;
    return ledger->budget == BATS_UNLIMITED
               ? INFINITY
               : (double)bats_ledger_available(ledger);
}

double place_deadline(const struct state *s, uint32_t workflow)
{
    bats_time own =
        s->money.purses.n > 0 ? s->money.purses.list[workflow].is.deadline : 0;
    double run = s->run.goal.deadline == BATS_NEVER
                     ? INFINITY
                     : (double)s->run.goal.deadline;
    return own > 0 ? fmin((double)own, run) : run;
}

void place_deadlines(const struct bats_graph *g, const uint32_t *order,
                     const double *least, double *latest)
{
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        uint32_t node = order[i];
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
            latest[node] =
                fmin(latest[node], latest[g->child[k]] - least[g->child[k]]);
    }
}

static void widen(struct place_range *r, double x)
{
    r->least = smaller(r->least, x);
    r->most = larger(r->most, x);
}

struct place_ranges place_ranges(const struct place_offer *offers, size_t n)
{
    const struct place_range none = {INFINITY, -INFINITY};
    struct place_ranges all = {none, none, none};
    for (size_t i = 0; i < n; i++) {
        widen(&all.finish, offers[i].finish);
        widen(&all.cost, offers[i].cost);
        widen(&all.risk, offers[i].risk);
    }
    return all;
}
