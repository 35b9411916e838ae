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
 *   N'    = N + z_p cv sqrt(N + N^2 / (n + 1)), n results: the sum of N
 *           runtimes whose mean is known from n; N' = N while n < 4
 *
 * The margin N' - N is bought only at the last chance: as long as parked
 * machines could do it a little later, windows for N are bought; also if only
 * the money is too short for the margin.
 *
 * Before the first result, a task is assumed to take 1.5 times the longest
 * elapsed time; so the tighter the deadline, the sooner machines are added.
 * From 20 results on, a plan that could begin five looks later is reviewed
 * after four.
 *
 * From Q_i before the deadline on, cluster i starts no task as long as other
 * machines with more time could start, in paid windows, 1.5 times as many
 * tasks as are left: it would only make one late. Overdue tasks are copied
 * elsewhere, as described below.
 *
 * Reclaimable machines may be gone when needed. So where they are cheaper, the
 * safe machines must be able to finish the remaining tasks and two more in
 * time by themselves: the safety net of Uniform Progress (Wu et al., NSDI
 * 2024). Once they only just can, all of them are used. With jobs, unused time
 * is not paid: reclaimable ones are used whenever available, and safe ones
 * only from that moment until the time suffices for four more tasks.
 *
 * Copies of overdue tasks. Once no task is waiting, a task expected to end
 * after the deadline can be in time only if a faster machine starts a copy.
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

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Cap z at Z_MOST, or at Z_KNOWN once there are KNOWN results: the longest
 * result says more. */
#define Z_MOST 3
#define Z_KNOWN 2
#define KNOWN 20
/* No margin with fewer results. */
#define FEW 4
/* "A little later", in review intervals; and the number of reviews to skip if
 * the plan could still begin that much later. */
#define WAIT 1.5
#define SKIP 4
/* Wait for cheaper machines only if they can start this many times as many
 * tasks. */
#define SAFELY 1.5

/* ---- the plan ---- */

static bool is_known(const struct state *s, size_t cluster)
{
    return s->clusters[cluster].stats.n_done > 0;
}

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

/* N' - N, as above. */
static double margin(const struct state *s, const struct problem *p)
{
    double n = p->is.demand,
           z = gsl_cdf_ugaussian_Pinv(s->run.goal.confidence);
    double n_results = problem_results(s);
    return n_results < FEW ? 0 : z * p->cv * sqrt(n + n * n / (n_results + 1));
}

/* Questions to bats_windows_suffice(): starting now, and later. */
enum { NOW, WAITING, SKIPPING, N_ANSWERS };

static void ask(const struct problem *p, const struct state *s, double end,
                double money, bool *enough)
{
    double look = (double)s->run.interval / (double)s->run.window;
    const double later[N_ANSWERS] = {
        [NOW] = 0, [WAITING] = WAIT * look, [SKIPPING] = (WAIT + SKIP) * look};
    bats_windows_suffice(&p->is, end, money, later, N_ANSWERS, enough);
}

/* Cost of a task on its cheapest cluster. */
static double least_cost(const struct problem *p)
{
    double least = INFINITY;
    for (size_t i = 0; i < p->is.n_types; i++) {
        const struct bats_windows_type *t = &p->types[i];
        least = fmin(least, t->charge / (t->rate * t->slots));
    }
    return least;
}

/* Keeps machines of running tasks, unless the cluster is known and another one
 * repeats the task for less. */
static void let_end(const struct problem *p, const struct state *s,
                    struct bats_windows_plan *plan)
{
    double again = least_cost(p);
    for (uint32_t i = 0; i < p->is.n_machines; i++) {
        const struct bats_windows_machine *m = &p->machines[i];
        double cost = m->overrun * p->types[m->type].charge, tasks = 0;
        if (m->leaves || (double)plan->keeps[i] >= m->overrun)
            continue;
        for (uint32_t k = 0; k < m->n_slots; k++)
            if (p->slots[m->first_slot + k].rest > m->paid)
                tasks += p->slots[m->first_slot + k].size;
        if (s->clusters[m->type].stats.n_done == 0 || cost <= tasks * again)
            plan->keeps[i] = (int64_t)m->overrun;
    }
}

bool deadline_plan(struct problem *p, const struct state *s, double money,
                   struct bats_windows_plan *plan, bats_time *look_at)
{
    double loss[BATS_CLUSTERS_MAX], demand = p->is.demand;
    double end = windows_until(s, s->run.goal.deadline);
    double q = p->q = longest(s, p), half = (1 + p->cv * p->cv) / 2;
    bool enough[N_ANSWERS], with_money[N_ANSWERS];
    plan->feasible = false;
    bool knows = problem_results(s) >= KNOWN;
    *look_at = knows ? BATS_NEVER : s->now;
    if (end <= 0)
        return false;
    for (size_t i = 0; i < p->is.n_types; i++) {
        struct bats_windows_type *t = &p->types[i];
        loss[i] = t->loss;
        t->loss = fmax(q - half, 0) / t->rate;
    }
    p->is.demand += margin(s, p);
    ask(p, s, end, money, enough);
    if (!enough[WAITING] && !enough[NOW])
        ask(p, s, end, INFINITY, with_money);
    /* If only the money is short, plan without the margin. */
    if (enough[WAITING] || (!enough[NOW] && with_money[NOW]))
        p->is.demand = demand;
    bats_windows_cheapest(&p->is, end, money, plan);
    let_end(p, s, plan);
    for (size_t i = 0; i < p->is.n_types; i++)
        p->types[i].loss = loss[i];
    p->is.demand = demand;
    if (plan->feasible)
        *look_at = s->now + (knows && enough[WAITING] && enough[SKIPPING]
                                 ? SKIP * s->run.interval
                                 : 0);
    return plan->feasible;
}

/* ---- which task waits for another machine ---- */

/* Q of the cluster; INFINITY: no results there. */
static double last_task(const struct problem *p, const struct state *s,
                        size_t cluster)
{
    return is_known(s, cluster) ? p->q / p->types[cluster].rate : INFINITY;
}

/* (A machine that gets no further window works until its paid time ends.) */
bool deadline_waits(const struct problem *p, const struct state *s,
                    size_t cluster)
{
    double end = windows_until(s, s->run.goal.deadline);
    double wanted = SAFELY * bats_bag_pending(&s->bag), most = 0, n = 0;
    if (p->q == 0 || end <= 0 || !is_known(s, cluster) ||
        last_task(p, s, cluster) <= end)
        return false;
    for (size_t i = 0; i < p->is.n_types; i++)
        most += s->clusters[i].n_held * p->types[i].slots * p->types[i].rate *
                fmax(end - last_task(p, s, i), 0);
    for (uint32_t i = 0; i < s->n_held && most >= wanted && n < wanted; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        double paid = windows_until(s, m->paid_end) + m->renewing;
        double time = fmin(end - last_task(p, s, m->cluster), paid);
        if (m->state == MACHINE_ACTIVE && !m->quarantined && time > 0)
            n += m->n_slots * p->types[m->cluster].rate * time;
    }
    return most >= wanted && n >= wanted;
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
                     struct bats_windows_plan *plan, bats_time *look_at)
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
    double at = (double)s->now + spare * (double)s->run.window + 1;
    *look_at = (bats_time)fmin((double)*look_at, at);
    return s->money.terms.waits && spare > 2 * task;
}

/* ---- copies of overdue tasks ---- */

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
    double end = windows_until(s, s->run.goal.deadline);
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
