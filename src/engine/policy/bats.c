/*
 * bats: uses all machines if the money lasts; otherwise plans the
 * machine-windows that finish the bag soonest. See bats/policy.h,
 * bats/windows.h and policy.h.
 *
 * It starts as begin.c describes, or with a plan if an earlier session, the
 * history (bats/prior.h) or the user's guess covers all clusters. From the
 * first result on it forecasts the cost of all machines until the bag is
 * empty. If that is about the money left, all are used: finishing late with
 * money left is a loss. Otherwise it plans windows, again and again from the
 * current state, for less than all the money to allow for errors of the
 * estimates. If no plan completes the bag, no running task is stopped for one.
 *
 * A schedule chosen after sampling sets an end and a cost limit: bats plans
 * the cheapest way to that end or, once that is impossible, the soonest end.
 * Until then, with dependencies, it also plans machines for the time in which
 * slots wait for the last task of a level (bats/estimate.h), as in the offers.
 * (For the soonest end within a budget that would be too pessimistic: paid
 * slots that wait cost nothing more.)
 */
#include "engine/policy/bats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/money/money.h"
#include "engine/outlook/jobs.h"

/* Use all machines if their forecast cost is below this share of the money
 * left: the forecast is remade with each result, and may err by more. */
#define HOPE 1.1
/* A plan leaves money for this many standard errors of the mean. */
#define ERRORS 2
/* With dependencies, extra rounds of planning: waiting tasks depend on the
 * planned machines. */
#define ROUNDS 3
/* Reserve for each machine's last task, in windows. */
#define RESERVE 0.25
/* Expected runtime of a task on a cluster without results, in multiples of the
 * elapsed time; and the same with a deadline. */
#define LONGER 1.05
#define LONGER_IN_TIME 1.5
/* Up to here results come in fast, and a plan changes little. */
#define FEW 32
/* A plan serves the windows that end within this part of an interval: machines
 * join one by one, and their windows end like that. */
#define LASTS 32

struct work {
    struct problem problem;
    struct bats_windows_plan plan;
    uint32_t buys[BATS_CLUSTERS_MAX];
    int64_t *keeps;                 /* by index in `machines` */
    bool *is_kept;                  /* by machine */
    uint32_t results, next_results; /* known results, and the number at which
                                       to plan again */
    bats_time made_at;              /* time of the plan; -1: none */
    bool is_all;                    /* the plan is to use all machines */
    bool is_new;                    /* the plan is not carried out yet */
    bool can_wait;                  /* jobs that cannot be reclaimed may
                                       wait */
    bool is_asked;                  /* more tasks are ready than planned: plan
                                       again at the next tick */
};

/* ---- the plan ---- */

static bool is_thrifty(const struct state *s)
{
    return s->run.goal.minimize == BATS_MINIMIZE_COST && !width_matters(s);
}

static double money_left(const struct state *s)
{
    return s->money.ledger.budget == BATS_UNLIMITED
               ? INFINITY
               : (double)bats_ledger_available(&s->money.ledger) +
                     (double)jobs_waiting(s);
}

static double reserve(const struct work *w)
{
    double sum = 0;
    for (uint32_t i = 0; i < w->problem.is.n_machines; i++) {
        const struct bats_windows_type *t =
            &w->problem.types[w->problem.machines[i].type];
        sum += RESERVE * t->charge * (t->rate > 1 ? 1 / t->rate : 1);
    }
    return sum;
}

/* For the money, or for `careful` of it if that completes the bag; with a
 * reserve if possible. */
static void plan_windows(struct work *w, double money, double careful)
{
    double kept = reserve(w);
    double budgets[] = {careful - fmin(kept, careful), careful,
                        money - fmin(kept, money), money};
    double demand = w->problem.is.demand;
    int rounds = w->problem.levels.n > 0 ? ROUNDS : 0;
    for (int i = 0; i <= rounds; i++) {
        if (i > 0)
            w->problem.is.demand =
                demand + problem_waits(&w->problem, &w->plan);
        bats_windows_plan(&w->problem.is, budgets,
                          sizeof budgets / sizeof *budgets, &w->plan);
    }
    for (uint32_t i = 0; i < w->problem.is.n_machines && !w->plan.feasible;
         i++)
        if ((double)w->keeps[i] < w->problem.machines[i].overrun)
            w->keeps[i] = (int64_t)w->problem.machines[i].overrun;
}

static double cost_of_all(const struct state *s, struct work *w, double *end)
{
    return bats_windows_cost_of_all(
        &w->problem.is, problem_work(s) + problem_waits_of_all(&w->problem),
        end);
}

static void use_all(const struct state *s, struct work *w)
{
    w->plan.feasible = true;
    for (size_t i = 0; i < s->n_clusters; i++)
        w->buys[i] = w->problem.types[i].parked;
    for (uint32_t i = 0; i < s->n_held; i++)
        w->keeps[i] = 1 + (int64_t)w->problem.machines[i].overrun;
}

/* Plans no work after the time limit. */
static void plan_until_limit(const struct state *s, struct work *w)
{
    double end = problem_windows_left(s);
    if (w->plan.end <= end)
        return;
    if (!w->is_all && end > 0)
        bats_windows_cheapest(&w->problem.is, end, money_left(s), &w->plan);
    w->plan.end = fmax(end, 0);
}

/* The money if runtimes are longer than estimated. */
static double careful(const struct state *s, const struct work *w,
                      double money)
{
    double error = w->problem.cv / sqrt(problem_results(s) + 1.0);
    return money / (1 + ERRORS * error);
}

static void plan_soonest(const struct state *s, struct work *w)
{
    double money = money_left(s), end;
    double all = cost_of_all(s, w, &end);
    bool has_aim = w->problem.is.aim > 0;
    w->is_all = !has_aim && (s->n_clusters == 1 || all <= HOPE * money);
    /* Estimate of the end. */
    double since = (double)(s->now - w->made_at) / (double)s->run.window;
    w->plan.end = fmax(w->plan.end - since, 0);
    if (!w->is_all)
        plan_windows(w, money, has_aim ? money : careful(s, w, money));
    w->is_all |= has_aim && all <= w->plan.cost;
    if (w->is_all) {
        w->plan.end = end;
        w->plan.cost = all;
        use_all(s, w);
    }
    plan_until_limit(s, w);
}

/* If only leases of jobs are paid: plans which jobs to hold, not for how
 * long. */
static void plan_jobs(const struct state *s, struct work *w)
{
    struct swap_plan plan;
    uint32_t kept[BATS_CLUSTERS_MAX] = {0};
    double window = (double)s->run.window, money = money_left(s);
    swap_make(s, money, &plan);
    for (uint32_t pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < s->n_held; i++) {
            const struct machine *m = &s->machines[s->held[i]];
            bool keep = w->keeps[i] > 0 && pass > 0;
            if (m->state != MACHINE_ACTIVE || keep ||
                m->marked != (pass > 0) || m->last)
                continue;
            w->keeps[i] = kept[m->cluster] < plan.target[m->cluster];
            kept[m->cluster] += w->keeps[i] > 0;
        }
    for (size_t i = 0; i < s->n_clusters; i++)
        w->buys[i] = plan.target[i] - kept[i];
    w->is_all = false;
    w->plan.feasible = plan.cost <= money;
    w->plan.cost = plan.cost;
    w->plan.end = plan.end / window;
}

static void make_plan(const struct state *s, struct work *w)
{
    problem_make(&w->problem, s, false);
    w->can_wait = false;
    if (width_matters(s) && !is_thrifty(s)) {
        memset(w->keeps, 0, s->n_machines * sizeof *w->keeps);
        plan_jobs(s, w);
    } else if (is_thrifty(s) &&
               deadline_plan(&w->problem, s, money_left(s), &w->plan)) {
        w->is_all = false;
        w->can_wait = deadline_secure(&w->problem, s, &w->plan);
    } else {
        plan_soonest(s, w);
    }
    for (uint32_t i = 0; i < s->n_held; i++)
        w->is_kept[s->held[i]] = w->keeps[i] > 0;
    w->made_at = s->now;
    w->is_asked = false;
    w->is_new = true;
}

/* ---- answers to the engine ---- */

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct work *w = self;
    struct problem *p = &w->problem;
    (void)o;
    p->longer = is_thrifty(s) ? LONGER_IN_TIME : LONGER;
    p->machines = calloc(s->n_machines, sizeof *p->machines);
    p->slots = calloc(s->n_slots, sizeof *p->slots);
    p->sample = calloc(s->known.sample_size + 1, sizeof *p->sample);
    w->keeps = calloc(s->n_machines, sizeof *w->keeps);
    w->is_kept = calloc(s->n_machines, sizeof *w->is_kept);
    if (!p->machines || !p->slots || !p->sample || !w->keeps || !w->is_kept)
        return bats_no_memory(err);
    w->plan.buys = w->buys;
    w->plan.keeps = w->keeps;
    w->made_at = -1;
    w->next_results = 1;
    return 0;
}

static void release(void *self)
{
    struct work *w = self;
    free(w->problem.machines);
    free(w->problem.slots);
    free(w->problem.sample);
    free(w->keeps);
    free(w->is_kept);
}

/* All clusters are known from an earlier session, a profile or the user. */
static bool is_known(const struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        if (cluster_runtime(&s->clusters[i]) == 0)
            return false;
    return true;
}

static void start(void *self, const struct state *s,
                  const struct policy_sample *sample,
                  struct policy_start *start)
{
    struct work *w = self;
    if (sample->is_on) {
        initial_start(s, sample, start);
        return;
    }
    if (width_matters(s) && !is_thrifty(s)) {
        swap_start(s, is_known(s) ? money_left(s) : 0, start);
        return;
    }
    bool plans = is_known(s) &&
                 (is_thrifty(s) || (s->n_clusters > 1 &&
                                    s->money.ledger.budget != BATS_UNLIMITED));
    if (!plans && is_thrifty(s)) {
        begin_for_deadline(s, start);
        return;
    }
    if (!plans) {
        begin_for_budget(s, money_left(s), start);
        return;
    }
    double end;
    problem_make(&w->problem, s, true);
    bool is_cheap = is_thrifty(s) &&
                    deadline_plan(&w->problem, s, money_left(s), &w->plan);
    if (!is_cheap && cost_of_all(s, w, &end) <= HOPE * money_left(s))
        use_all(s, w);
    else if (!is_cheap)
        plan_windows(w, money_left(s), money_left(s));
    memcpy(start->machines, w->buys, sizeof start->machines);
}

/* There are data to plan with. */
static bool is_ready(const struct state *s)
{
    return s->n_absent == 0 && (problem_results(s) > 0 || is_thrifty(s));
}

static bool renew(void *self, const struct state *s, uint32_t machine)
{
    struct work *w = self;
    bats_time entered = s->machines[machine].paid_end - s->run.window;
    bats_time lasts = s->run.interval / (is_thrifty(s) ? 2 : LASTS);
    /* Tasks on a free machine are never cut off: they would be restarted and
     * cut off for ever. */
    if (!is_ready(s) ||
        s->clusters[s->machines[machine].cluster].spec.charge == 0)
        return machine_works(s, machine);
    /* A plan from before this window may not know the machine. */
    if (w->made_at < 0 || w->made_at <= entered || s->now - w->made_at > lasts)
        make_plan(s, w);
    return w->is_all ? machine_works(s, machine) : w->is_kept[machine];
}

/* The cluster gets no tasks, since they can wait for reclaimable machines. */
static bool begins_none(const struct work *w, const struct state *s,
                        size_t cluster)
{
    return w->can_wait && !s->clusters[cluster].spec.reclaimable;
}

static enum bats_idle refuses(void *self, const struct state *s,
                              uint32_t machine)
{
    const struct work *w = self;
    uint32_t cluster = s->machines[machine].cluster;
    if (begins_none(w, s, cluster) ||
        (width_matters(s) && s->machines[machine].marked))
        return BATS_IDLE_PLAN;
    if (!width_pays_task(s, machine))
        return BATS_IDLE_MONEY;
    return (s->n_clusters == 1 && !is_thrifty(s)) || forecast_fits(s, machine)
               ? BATS_IDLE_NOT
               : BATS_IDLE_SHORT;
}

static bool refill(void *self, const struct state *s,
                   const struct occasion *why)
{
    return !is_ready(s);
}

/* Tasks wait or may come, and results have doubled (a FEW: they are four times
 * as many). Jobs can go elsewhere from the first result of a cluster on. */
static bool is_due(struct work *w, const struct state *s,
                   const struct occasion *why)
{
    uint32_t n = problem_results(s);
    bool moves = width_matters(s);
    if (!is_ready(s) || (problem_work(s) == 0 && !s->run.is_open) ||
        (n < w->next_results &&
         !(moves && s->clusters[s->machines[why->machine].cluster].done == 1)))
        return false;
    w->next_results = 1 < n && n < FEW && !moves ? 4 * n : 2 * n;
    return true;
}

/* Plans again before a window ends, too, since a machine that is not kept then
 * starts no long task. */
static bool wants(void *self, const struct state *s,
                  const struct occasion *why)
{
    struct work *w = self;
    if (s->run.phase != PHASE_NONE)
        return false;
    switch (why->type) {
    case OCCASION_RESULT:
        problem_note(&w->problem, s, why);
        return is_due(w, s, why);
    case OCCASION_WINDOW:
        return w->is_new && w->made_at == s->now;
    case OCCASION_TICK:
        return is_ready(s) && (w->is_asked || s->money.terms.waits ||
                               is_thrifty(s) || initial_window_closes(s));
    case OCCASION_READY: /* up to a thousand per second */
        w->is_asked = true;
        return is_ready(s) && s->now - w->made_at >= s->run.interval;
    case OCCASION_LOST:
        return is_ready(s);
    case OCCASION_STALLED:
        return s->n_absent == 0;
    case OCCASION_CHOSEN:
        return true;
    }
    return false;
}

static bats_time expected_end(void *self, const struct state *s)
{
    const struct work *w = self;
    double end = (double)w->made_at + w->plan.end * (double)s->run.window;
    end = fmax(end, (double)s->now + (double)state_longest_chain(s, NULL));
    return w->made_at < 0 || end >= (double)BATS_NEVER ? BATS_NEVER
                                                       : (bats_time)end;
}

static void tell_expected(void *self, const struct state *s,
                          struct bats_decision *d)
{
    const struct work *w = self;
    double cost = (double)s->money.ledger.charged + w->plan.cost;
    bats_time end = expected_end(self, s);
    if (!w->plan.feasible || end == BATS_NEVER || !(cost < 0x1p62))
        return;
    d->end = end;
    d->cost = (bats_money)cost;
}

static enum bats_trigger trigger_of(const struct work *w,
                                    const struct state *s,
                                    const struct occasion *why)
{
    switch (why->type) {
    case OCCASION_RESULT:
        return BATS_TRIGGER_RESULTS;
    case OCCASION_READY:
        return BATS_TRIGGER_READY;
    case OCCASION_WINDOW:
        return BATS_TRIGGER_WINDOW;
    case OCCASION_TICK:
        return w->is_asked     ? BATS_TRIGGER_READY
               : is_thrifty(s) ? BATS_TRIGGER_DEADLINE
                               : BATS_TRIGGER_WINDOW;
    case OCCASION_LOST:
    case OCCASION_STALLED:
    case OCCASION_CHOSEN:
        break;
    }
    return BATS_TRIGGER_NONE;
}

static int plan(void *self, const struct state *s, const struct occasion *why,
                bool *is_new, struct policy_plan *answer,
                struct bats_error *err)
{
    static const enum bats_reason reasons[] = {
        [OCCASION_RESULT] = BATS_REASON_PLANNED,
        [OCCASION_WINDOW] = BATS_REASON_PLANNED,
        [OCCASION_TICK] = BATS_REASON_PLANNED,
        [OCCASION_LOST] = BATS_REASON_LOST,
        [OCCASION_STALLED] = BATS_REASON_STALLED,
        [OCCASION_READY] = BATS_REASON_PLANNED,
        [OCCASION_CHOSEN] = BATS_REASON_CHOSEN};
    struct work *w = self;
    enum bats_trigger trigger = trigger_of(w, s, why);
    if (why->type != OCCASION_WINDOW)
        make_plan(s, w);
    w->is_new = false;
    *is_new = true;
    answer->confirms = why->type != OCCASION_CHOSEN;
    answer->keeps = w->is_kept;
    struct bats_decision *d = &answer->decision;
    *d = state_decision(s, s->run.planned || !is_known(s) ||
                                   why->type == OCCASION_CHOSEN
                               ? reasons[why->type]
                               : BATS_REASON_SAMPLED);
    d->feasible = w->plan.feasible;
    d->tasks_left = (int64_t)problem_pending(s);
    d->windows = (int64_t)ceil(w->plan.end);
    d->trigger = trigger;
    tell_expected(self, s, d);
    memcpy(answer->target, w->buys, sizeof answer->target);
    memcpy(d->machines, answer->target, sizeof d->machines);
    for (uint32_t i = 0; i < w->problem.is.n_machines; i++) {
        uint32_t cluster = w->problem.machines[i].type;
        bool ends = w->keeps[i] == 0 || w->problem.machines[i].leaves;
        answer->target[cluster] += !ends && !begins_none(w, s, cluster);
        d->machines[cluster]++;
        d->ending[cluster] += ends;
        if (w->keeps[i] > answer->windows[cluster])
            answer->windows[cluster] = w->keeps[i];
    }
    return 0;
}

const struct bats_policy bats_policy_bats = {
    .advisor = {.name = "bats",
                .memory = sizeof(struct work),
                .init = init,
                .release = release},
    .plans_windows = true,
    .start = start,
    .renew = renew,
    .refuses = refuses,
    .refill = refill,
    .wants = wants,
    .end = expected_end,
    .plan = plan};
