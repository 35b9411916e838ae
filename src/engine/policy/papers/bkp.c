/*
 * bkp: sample, plan, watch, correct. See bats/policy.h and policy.h. Source:
 * paper 2.3, figure 3; thesis 2.2.4.
 */
#include "bats/plan.h"
#include "engine/policy/policy.h"

#include <math.h>
#include <string.h>

/* Accept a plan that does this fraction of the affordable tasks, if it is
 * faster. */
#define ENOUGH 0.98

/* `money` keeps a machine of the cluster until a task of mean length ends. */
static bool can_end_a_task(const struct state *s, const struct cluster *c,
                           bats_money money)
{
    if (c->spec.charge == 0 || money == BATS_UNLIMITED)
        return true;
    double time = (double)(money / c->spec.charge) * (double)s->run.window;
    if (time >= c->stats.mean)
        return true;
    bats_time paid = 0;
    for (uint32_t i = 0; i < c->n_machines; i++) {
        const struct machine *m =
            &s->machines[s->members[c->first_machine + i]];
        if (m->state == MACHINE_ACTIVE && m->paid_end - s->now > paid)
            paid = m->paid_end - s->now;
    }
    return (double)paid + time >= c->stats.mean;
}

/* The clusters as knapsack items, without unknown ones and those that cannot
 * end a single task with the money left. */
static void make_items(const struct state *s, bats_money money,
                       struct bats_plan_item *items)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        uint32_t there = c->n_joined < c->spec.max ? c->n_joined : c->spec.max;
        items[i] = (struct bats_plan_item){.charge = c->spec.charge};
        if (c->stats.mean == 0 || there == 0 || !can_end_a_task(s, c, money))
            continue;
        items[i].rate = cluster_slots(c) / needs_width(s) *
                        (double)s->run.window / c->stats.mean;
        items[i].max = there;
    }
}

static int solve(const struct state *s, const struct forecast *f,
                 int64_t tasks, struct bats_plan *plan, struct bats_error *err)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    double task_windows[BATS_CLUSTERS_MAX];
    make_items(s, f->money_left, items);
    for (size_t i = 0; i < s->n_clusters; i++)
        task_windows[i] = s->clusters[i].stats.mean / (double)s->run.window;
    return bats_plan_solve_whole(items, task_windows, s->n_clusters,
                                 (uint64_t)tasks, f->money_left, plan, err);
}

/* The plan with the most tasks for the money may take many times longer than
 * one with nearly as many. */
static int hasten(const struct state *s, const struct forecast *f,
                  struct bats_plan *plan, struct bats_error *err)
{
    double most =
        fmin((double)plan->windows * plan->rate, (double)f->tasks_left);
    struct bats_plan fast;
    int rc = solve(s, f, (int64_t)(ENOUGH * most), &fast, err);
    if (rc == 0 && fast.feasible && fast.windows > 0) {
        *plan = fast;
        plan->feasible = false;
    }
    return rc;
}

/*
 * The paid windows suffice for the rest of the bag, but the money left may end
 * it sooner: adds the fastest machines affordable for one window.
 */
static int reinforce(const struct state *s, const struct forecast *f,
                     struct bats_plan *plan, struct bats_error *err)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    make_items(s, f->money_left, items);
    for (size_t i = 0; i < s->n_clusters; i++) {
        uint32_t active = s->clusters[i].n_active;
        items[i].max = items[i].max > active ? items[i].max - active : 0;
    }
    int rc =
        bats_plan_solve(items, s->n_clusters, 1, f->money_left, plan, err);
    if (rc < 0)
        return rc;
    if (plan->windows > 1) /* no task ends in a window: no help */
        *plan = (struct bats_plan){0};
    plan->feasible = true;
    for (size_t i = 0; i < s->n_clusters; i++)
        plan->machines[i] += s->clusters[i].n_active;
    return 0;
}

/* If the money does not suffice anyway, a plan that is still affordable is
 * kept: changing it cuts off tasks and gains nothing. */
static bool keeps_plan(const struct state *s, const struct forecast *f,
                       enum bats_reason reason)
{
    double price = 0;
    uint32_t machines = 0;
    if (reason != BATS_REASON_VIOLATION || s->run.feasible)
        return false;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        price += (double)c->n_active * (double)c->spec.charge;
        machines += c->n_active;
    }
    return machines > 0 && price <= (double)f->money_left;
}

/* False: not even fractional machines of the best type would suffice. */
static bool may_suffice(const struct state *s, const struct forecast *f)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    double most = 0; /* tasks per unit of money */
    make_items(s, f->money_left, items);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (items[i].max > 0)
            most = fmax(most, items[i].rate / (double)items[i].charge);
    return !((double)f->tasks_left > most * (double)f->money_left * 1.001);
}

static void adopt(const struct state *s, enum bats_reason reason,
                  const struct forecast *f, const struct bats_plan *plan,
                  struct policy_plan *answer)
{
    answer->confirms = reason != BATS_REASON_SAMPLED;
    struct bats_decision *d = &answer->decision;
    *d = state_decision(s, reason);
    d->feasible = plan->feasible;
    d->tasks_left = f->tasks_left;
    d->tasks_paid = s->run.planned ? f->tasks_paid : -1;
    d->budget_left = f->money_left;
    d->windows = plan->windows;
    if (plan->feasible && plan->windows > 0) {
        d->end = s->now + plan->windows * s->run.window;
        d->cost = s->money.ledger.charged + plan->cost;
    }
    memcpy(answer->target, plan->machines, sizeof answer->target);
    memcpy(d->machines, plan->machines, sizeof d->machines);
    for (size_t i = 0; i < s->n_clusters; i++)
        answer->windows[i] = plan->windows;
}

static int make_plan(const struct state *s, enum bats_reason reason,
                     const struct forecast *f, bool *is_new,
                     struct policy_plan *answer, struct bats_error *err)
{
    struct bats_plan plan;
    bool keeps = keeps_plan(s, f, reason); /* unless a feasible plan exists */
    if (keeps && !may_suffice(s, f))
        return 0;
    int rc = f->tasks_left > 0 ? solve(s, f, f->tasks_left, &plan, err)
                               : reinforce(s, f, &plan, err);
    if (rc < 0 || (keeps && !plan.feasible))
        return rc;
    if (!plan.feasible && plan.windows > 0)
        rc = hasten(s, f, &plan, err);
    *is_new = rc == 0;
    if (rc == 0)
        adopt(s, reason, f, &plan, answer);
    return rc;
}

/* ---- what the engine asks ---- */

static void start(void *self, const struct state *s,
                  const struct policy_sample *sample, struct policy_start *all)
{
    initial_start(s, sample, all);
}

/* Results count as news only until there is a plan, and windows never: the
 * next tick looks at them. */
static bool is_news(const struct state *s, const struct occasion *why)
{
    return why->type == OCCASION_RESULT
               ? why->in_sample && !s->run.planned
               : why->type != OCCASION_WINDOW && why->type != OCCASION_READY;
}

/* Replaces lost machines by others of the same cluster, before there is a plan
 * or under a chosen schedule. */
static bool refill(void *self, const struct state *s,
                   const struct occasion *why)
{
    return why->type == OCCASION_READY ||
           (why->type == OCCASION_LOST && (!s->run.planned || s->run.kept));
}

static bool wants(void *self, const struct state *s,
                  const struct occasion *why)
{
    if (!is_news(s, why))
        return false;
    return s->run.planned ||
           (s->run.phase == PHASE_NONE && initial_sampled(s) &&
            forecast_most_profitable(s) != SIZE_MAX);
}

static enum bats_reason reason_of(const struct state *s,
                                  const struct occasion *why)
{
    if (!s->run.planned)
        return BATS_REASON_SAMPLED;
    return why->type == OCCASION_LOST      ? BATS_REASON_LOST
           : why->type == OCCASION_STALLED ? BATS_REASON_STALLED
                                           : BATS_REASON_VIOLATION;
}

static int make_answer(void *self, const struct state *s,
                       const struct occasion *why, bool *is_new,
                       struct policy_plan *answer, struct bats_error *err)
{
    enum bats_reason reason = reason_of(s, why);
    struct forecast f = forecast_make(s);
    if (reason == BATS_REASON_STALLED) /* the paid windows are of no use */
        f.tasks_left = bats_bag_pending(&s->bag);
    bool replaced = reason == BATS_REASON_LOST && s->run.kept;
    if ((reason == BATS_REASON_VIOLATION || replaced) &&
        f.tasks_left <= f.tasks_paid)
        return 0;
    return make_plan(s, reason, &f, is_new, answer, err);
}

/* Money that the current plan will still charge. */
static double planned_cost(const struct state *s)
{
    double cost = 0;
    for (uint32_t i = 0; i < s->n_machines; i++) {
        const struct machine *m = &s->machines[i];
        if (m->state == MACHINE_ACTIVE && !m->marked)
            cost += (double)m->plan_windows *
                    (double)s->clusters[m->cluster].spec.charge;
    }
    return cost;
}

/*
 * Keeps a marked machine for its running tasks if the windows they need cost
 * less than rerunning them where that is cheapest, and if the plan can spare
 * the money.
 */
static bool finishing_is_cheaper(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    const struct cluster *c = &s->clusters[m->cluster];
    size_t best = forecast_most_profitable(s);
    if (!machine_works(s, machine) || best == SIZE_MAX || c->stats.mean == 0)
        return false;
    const struct cluster *b = &s->clusters[best];
    double price = (double)b->spec.charge * b->n_machines /
                   ((double)b->n_slots * (double)s->run.window);
    double longest = 0, redo = 0;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        uint32_t lead = slot_lead(s, m->first_slot + i);
        const struct slot *sl = &s->slots[lead];
        double rest = forecast_rest(s, lead);
        if (slot_works(s, lead))
            redo += ((double)(s->now - sl->started) + rest) *
                    (b->stats.mean / c->stats.mean) * price;
        longest = fmax(longest, rest);
    }
    double over = longest - (double)(m->paid_end - s->now);
    double windows = fmax(ceil(over / (double)s->run.window), 1);
    double finish = windows * (double)c->spec.charge;
    return finish < redo &&
           finish + planned_cost(s) <=
               (double)bats_ledger_available(&s->money.ledger);
}

/* The plan keeps no held machine. */
static bool all_are_marked(const struct state *s)
{
    for (uint32_t i = 0; i < s->n_held; i++)
        if (s->machines[s->held[i]].state == MACHINE_ACTIVE &&
            !s->machines[s->held[i]].marked)
            return false;
    return true;
}

/* A machine idle at the end of its window was refused a task, or none was
 * ready. With dependencies the plan's machines may have no task yet; tasks
 * that are cut off would restart for ever. */
static bool renew(void *self, const struct state *s, uint32_t machine)
{
    if (s->machines[machine].marked)
        return finishing_is_cheaper(s, machine) ||
               (s->known.height && machine_works(s, machine) &&
                all_are_marked(s));
    return machine_works(s, machine);
}

static enum bats_idle refuses(void *self, const struct state *s,
                              uint32_t machine)
{
    return forecast_fits(s, machine) ? BATS_IDLE_NOT : BATS_IDLE_SHORT;
}

const struct bats_policy bats_policy_bkp = {.advisor = {.name = "bkp"},
                                            .plans_windows = true,
                                            .forecasts = true,
                                            .start = start,
                                            .renew = renew,
                                            .refuses = refuses,
                                            .refill = refill,
                                            .wants = wants,
                                            .plan = make_answer};
