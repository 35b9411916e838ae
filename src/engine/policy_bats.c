/*
 * policy_bats: sample, plan, watch, correct. See policy.h. Source: paper 2.3,
 * figure 3; thesis 2.2.4.
 */
#include "engine/sched_state.h"

#include <math.h>
#include <string.h>

/* Share of what the money could do that is enough, if it is done sooner. */
#define ENOUGH 0.98
/* A plan that is taken because it is faster is so by this factor, and does so
 * many tasks more than are left. */
#define GAIN 1.05
#define SPARE 10

static const char *const rules[] = {[BATS_RECONFIGURE_VIOLATION] = "violation",
                                    [BATS_RECONFIGURE_IMPROVE] = "improve"};

/* A machine of the cluster can be kept with `money` until a task of mean
 * length ends. */
static bool can_end_a_task(const struct bats_sched *s, const struct cluster *c,
                           bats_money money)
{
    if (c->spec.charge == 0 || money == BATS_UNLIMITED)
        return true;
    double time = (double)(money / c->spec.charge) * (double)s->window;
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

/* The clusters as the knapsack sees them; those that are not known, or cannot
 * end a single task with the money left, are left out. */
static void make_items(const struct bats_sched *s, bats_money money,
                       struct bats_plan_item *items)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        uint32_t there = c->n_joined < c->spec.max ? c->n_joined : c->spec.max;
        items[i] = (struct bats_plan_item){.charge = c->spec.charge};
        if (c->stats.mean == 0 || there == 0 || !can_end_a_task(s, c, money))
            continue;
        double slots = (double)c->n_slots / c->n_machines;
        items[i].rate = slots * (double)s->window / c->stats.mean;
        items[i].max = there;
    }
}

static void record(struct bats_sched *s, enum bats_reason reason,
                   const struct forecast *f, bool had_plan,
                   const struct bats_plan *plan)
{
    struct bats_decision d = {.time = s->now,
                              .reason = reason,
                              .feasible = plan->feasible,
                              .tasks_left = f->tasks_left,
                              .tasks_paid = had_plan ? f->tasks_paid : -1,
                              .budget_left = f->money_left,
                              .windows = plan->windows};
    memcpy(d.machines, plan->machines, sizeof d.machines);
    if (reason != BATS_REASON_SAMPLED && s->n_decisions > 0) {
        const struct bats_decision *last = &s->decisions[s->n_decisions - 1];
        if (last->feasible == d.feasible &&
            memcmp(last->machines, d.machines, sizeof d.machines) == 0)
            return; /* the same configuration, confirmed */
    }
    fleet_record(s, &d);
}

static int solve(const struct bats_sched *s, const struct forecast *f,
                 int64_t tasks, struct bats_plan *plan, struct bats_error *err)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    double task_windows[BATS_CLUSTERS_MAX];

    make_items(s, f->money_left, items);
    for (size_t i = 0; i < s->n_clusters; i++)
        task_windows[i] = s->clusters[i].stats.mean / (double)s->window;
    return bats_plan_solve_whole(items, task_windows, s->n_clusters,
                                 (uint64_t)tasks, f->money_left, plan, err);
}

/* What does most tasks for the money may take many times as long as what does
 * nearly as many. */
static int hasten(const struct bats_sched *s, const struct forecast *f,
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
 * The windows already paid are enough for the rest of the bag. The money left
 * may still end it sooner: the fastest machines that it pays for one window
 * join the ones that are held.
 */
static int reinforce(const struct bats_sched *s, const struct forecast *f,
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
    if (plan->windows > 1) /* not a task in a window: no help */
        *plan = (struct bats_plan){0};
    plan->feasible = true;
    for (size_t i = 0; i < s->n_clusters; i++)
        plan->machines[i] += s->clusters[i].n_active;
    return 0;
}

/* Where the money does not suffice anyway, a plan that it still pays is kept:
 * to change it costs the tasks that are cut off, and gains nothing. */
static bool keeps_plan(const struct bats_sched *s, const struct forecast *f,
                       enum bats_reason reason)
{
    double price = 0;
    uint32_t machines = 0;
    if (reason != BATS_REASON_VIOLATION || s->feasible)
        return false;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        price += (double)c->n_active * (double)c->spec.charge;
        machines += c->n_active;
    }
    return machines > 0 && price <= (double)f->money_left;
}

/* False: not even fractions of machines, of the best type, would be enough. */
static bool may_suffice(const struct bats_sched *s, const struct forecast *f)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    double most = 0; /* tasks for a unit of money */
    make_items(s, f->money_left, items);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (items[i].max > 0)
            most = fmax(most, items[i].rate / (double)items[i].charge);
    return !((double)f->tasks_left > most * (double)f->money_left * 1.001);
}

static void adopt(struct bats_sched *s, enum bats_reason reason,
                  const struct forecast *f, const struct bats_plan *plan)
{
    bool had_plan = s->planned;
    s->planned = true;
    s->feasible = plan->feasible;
    record(s, reason, f, had_plan, plan);
    fleet_configure(s, plan->machines, plan->windows);
}

static int make_plan(struct bats_sched *s, enum bats_reason reason,
                     const struct forecast *f, struct bats_error *err)
{
    struct bats_plan plan;
    bool keeps = keeps_plan(s, f, reason); /* unless there is a feasible one */
    if (keeps && !may_suffice(s, f))
        return 0;
    int rc = f->tasks_left > 0 ? solve(s, f, f->tasks_left, &plan, err)
                               : reinforce(s, f, &plan, err);
    if (rc < 0 || (keeps && !plan.feasible))
        return rc;
    if (!plan.feasible && plan.windows > 0)
        rc = hasten(s, f, &plan, err);
    if (rc == 0)
        adopt(s, reason, f, &plan);
    return rc;
}

/* The plan holds; the money may buy a faster one. */
static int improve(struct bats_sched *s, const struct forecast *f,
                   struct bats_error *err)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    struct bats_plan plan;
    double rate = 0; /* of what is held, as in the plan */
    make_items(s, f->money_left, items);
    for (size_t i = 0; i < s->n_clusters; i++)
        rate += s->clusters[i].n_active * items[i].rate;
    int rc = solve(s, f, f->tasks_left + SPARE, &plan, err);
    if (rc == 0 && plan.feasible && plan.rate >= GAIN * rate)
        adopt(s, BATS_REASON_IMPROVED, f, &plan);
    return rc;
}

/* A choice among schedules is worth most before machines are paid for a second
 * window. */
static void offer(struct bats_sched *s)
{
    if (!s->sampling.offers ||
        !(initial_sampled(s) ||
          (s->n_absent == 0 && initial_window_closes(s))))
        return;
    forecast_means(s);
    struct forecast f = forecast_make(s);
    sampling_offer(s, f.tasks_left);
}

static int review(struct bats_sched *s, enum bats_reason reason,
                  struct bats_error *err)
{
    bool ticked = reason == BATS_REASON_VIOLATION; /* which has just looked */
    offer(s);
    /* Before there is a plan, and of a schedule that was chosen, other machines
     * of the same cluster take the place of lost ones. */
    bool replaced =
        reason == BATS_REASON_LOST && (!s->planned || s->sampling.is_kept);
    for (size_t i = 0; replaced && i < s->n_clusters; i++)
        fleet_fill(s, i);
    if (!s->planned) {
        if (s->sampling.phase != PHASE_NONE)
            return 0;
        if (!initial_sampled(s) || forecast_most_profitable(s) == SIZE_MAX)
            return 0;
        reason = BATS_REASON_SAMPLED;
        replaced = false;
    }
    if (!ticked)
        forecast_means(s);
    struct forecast f = forecast_make(s);
    if (reason == BATS_REASON_STALLED) /* nothing paid is of use */
        f.tasks_left = s->bag.count[BATS_TASK_PENDING];
    int64_t cushioned = s->cushion > 0 ? s->delta_n : 0;
    if ((reason == BATS_REASON_VIOLATION || replaced) &&
        f.tasks_left <= f.tasks_paid + cushioned)
        return s->reconfigure == BATS_RECONFIGURE_IMPROVE && f.tasks_left > 0
                   ? improve(s, &f, err)
                   : 0;
    return make_plan(s, reason, &f, err);
}

/* What the present plan is still going to charge. */
static double planned_cost(const struct bats_sched *s)
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
 * A marked machine is kept for its running tasks if the windows they need cost
 * less than running them again from the start where that is cheapest, and if
 * the plan can spare the money.
 */
static bool finishing_is_cheaper(const struct bats_sched *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    const struct cluster *c = &s->clusters[m->cluster];
    size_t best = forecast_most_profitable(s);
    if (!copies_machine_works(s, machine) || best == SIZE_MAX ||
        c->stats.mean == 0)
        return false;

    const struct cluster *b = &s->clusters[best];
    double price = (double)b->spec.charge * b->n_machines /
                   ((double)b->n_slots * (double)s->window);
    double longest = 0, redo = 0;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        const struct slot *sl = &s->slots[m->first_slot + i];
        double rest = forecast_rest(s, m->first_slot + i);
        if (copies_works(s, m->first_slot + i))
            redo += ((double)(s->now - sl->started) + rest) *
                    (b->stats.mean / c->stats.mean) * price;
        longest = fmax(longest, rest);
    }
    double over = longest - (double)(m->paid_end - s->now);
    double windows = fmax(ceil(over / (double)s->window), 1);
    double finish = windows * (double)c->spec.charge;
    return finish < redo && finish + planned_cost(s) <=
                                (double)bats_ledger_available(&s->ledger);
}

/* A machine without a task at the end of its window has been refused one, or
 * there is none. */
static bool renew(const struct bats_sched *s, uint32_t machine)
{
    if (s->sampling.phase != PHASE_NONE)
        return sampling_needs(s, machine);
    if (s->machines[machine].marked)
        return finishing_is_cheaper(s, machine);
    return copies_machine_works(s, machine);
}

bool bats_reconfigure_find(const char *name, enum bats_reconfigure *rule)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(name, rules[i]) == 0) {
            *rule = (enum bats_reconfigure)i;
            return true;
        }
    return false;
}

const char *bats_reconfigure_name(enum bats_reconfigure rule)
{
    return rules[rule];
}

const struct bats_policy bats_policy_bats = {"bats", initial_start, review,
                                             renew, forecast_fits};
