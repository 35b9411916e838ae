/*
 * dbc: the four deadline-and-budget policies of Buyya, Murshed, Abramson,
 * Venugopal, "Scheduling parameter sweep applications on global Grids" (2005),
 * section 3.2 and figure 2. See bats/policy.h.
 *
 * A resource is a cluster. With
 *
 *   T_r  measured runtime of a task there; if expected runtimes are given,
 *        measured on all resources together, since the tasks are the same
 *   C_r  = T_r x the charge of a slot: cost of a task
 *
 * every task not begun is assigned to a resource, and a free slot gets a task
 * while its resource has one. Tasks are reassigned when an eighth of the tasks
 * left have ended; when a quarter of that eighth have and a T_r has changed by
 * an eighth or a resource has run out of tasks; and whenever machines are lost
 * or nothing runs. An unknown resource gets one task.
 *
 * A task that needs several slots counts as the mean share of a machine. Tasks
 * that fit on few clusters are assigned first, to these.
 *
 * If use is charged, a task costs its use. If windows are charged, C_r is the
 * cost of a task in a full window; machines are acquired for the tasks
 * assigned to them, and kept while they work.
 */
#include "engine/policy/policy.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/outlook/jobs.h"

#define SHARE 8       /* reassign when 1/SHARE of the tasks left have ended */
#define DRIFT 0.125   /* or when T_r has changed by this fraction */
#define NOISE 1e-9    /* relative tolerance for equal costs */
#define MICROSECOND 1 /* tolerance for the end of a task */
/* Differences above this many standard errors are significant, even with
 * frequent looks. */
#define CHANCE 4

struct resource {
    double runtime;    /* T_r; 0: unknown */
    double measured;   /* on this cluster alone, or the expected runtime */
    double cost;       /* C_r */
    double error;      /* relative standard error of both */
    uint32_t assigned; /* tasks */
    uint32_t begun;    /* tasks begun when the others were assigned */
    /* Times at which its slots become free, ascending from `next`, in a
     * ring. */
    double *free;
    uint32_t n_slots, next;
    uint32_t n_free; /* slots that are free now */
};

struct dbc {
    void (*assign)(struct dbc *d);
    struct resource resources[BATS_CLUSTERS_MAX];
    /* For `assign`: the known clusters, cheapest first and faster first among
     * equal costs; the unassigned tasks (at least one), and the money for
     * them. */
    struct resource *order[BATS_CLUSTERS_MAX];
    size_t n;
    uint32_t tasks;
    double money, deadline; /* INFINITY: no limit */
    double *free;           /* by slot */
    uint32_t results, next_results;
};

/* ---- assigning ---- */

static double completion(const struct resource *r)
{
    return r->free[r->next] + r->runtime;
}

/* Assigns a task to the resource's next slot. False: it would miss the
 * deadline, or is not affordable. */
static bool take(struct dbc *d, struct resource *r)
{
    double end = completion(r);
    if (end > d->deadline + MICROSECOND || r->cost > d->money * (1 + NOISE))
        return false;
    r->free[r->next] = end;
    r->next = r->next + 1 < r->n_slots ? r->next + 1 : 0;
    r->assigned++;
    d->money -= r->cost;
    d->tasks--;
    return true;
}

/* Assigns each task to the one of order[first .. last - 1] that completes it
 * soonest. shares: no task costs more than its share of the money, so that all
 * others keep theirs; if that pays for no task anywhere, the cheapest resource
 * does what it can. */
static void spread(struct dbc *d, size_t first, size_t last, bool shares)
{
    struct resource *best;
    do {
        double share = d->tasks > 0 ? d->money / d->tasks : 0;
        double limit = shares ? fmax(share, d->order[0]->cost) : d->money;
        best = NULL;
        for (size_t i = first; i < last; i++)
            if (d->order[i]->cost <= limit * (1 + NOISE) &&
                (!best || completion(d->order[i]) < completion(best)))
                best = d->order[i];
    } while (d->tasks > 0 && best && take(d, best));
}

/* ---- looking ---- */

static bool same(double a, double b, const struct resource *of_a,
                 const struct resource *of_b)
{
    double error = hypot(of_a->error, of_b->error) + NOISE;
    return fabs(a - b) <= error * fmax(a, b);
}

/* The costs differ by no more than the standard error. */
static bool same_cost(const struct resource *a, const struct resource *b)
{
    return same(a->cost, b->cost, a, b);
}

/* Inserts the resource in order; equal ones keep theirs. */
static void put_in_order(struct dbc *d, struct resource *r)
{
    size_t i = d->n++;
    for (; i > 0; i--) {
        struct resource *before = d->order[i - 1];
        if (same_cost(r, before)
                ? same(r->runtime, before->runtime, r, before) ||
                      r->runtime >= before->runtime
                : r->cost >= before->cost)
            break;
        d->order[i] = before;
    }
    d->order[i] = r;
}

/* Knowledge from all clusters together. */
struct known {
    double spread; /* relative deviation of runtimes on one cluster */
    double factor; /* runtimes / expected runtimes */
};

static struct known know(const struct state *s)
{
    double took = 0, expected = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        took += c->expected > 0 ? c->stats.rt_done : 0;
        expected += (double)c->expected * c->stats.n_done;
    }
    return (struct known){.spread = forecast_spread(s),
                          .factor = expected > 0 ? took / expected : 1};
}

/* Sets T_r. If runtimes deviate from the expected ones by a common factor, all
 * clusters measure it together. */
static void measure_time(const struct cluster *c, struct known known,
                         struct resource *r)
{
    double n = c->stats.n_done, hoped = (double)c->expected * known.factor;
    r->runtime = r->measured = cluster_runtime(c);
    r->error = n > 0 ? known.spread / sqrt(n) : 0;
    if (n == 0 || (hoped > 0 &&
                   fabs(r->measured - hoped) <= CHANCE * r->error * hoped)) {
        r->runtime = hoped;
        r->error = 0;
    }
}

/* Adds the times at which the machine's slots are free, those that are so now
 * first; an overdue one may be at any moment. */
static void look_at_machine(const struct state *s, const struct machine *m,
                            struct resource *r)
{
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++) {
        uint32_t lead = slot_lead(s, i);
        double rest = r->runtime - slot_elapsed(s, lead);
        double *at = &r->free[r->n_slots++];
        if (s->slots[lead].n_tasks == 0) {
            *at = r->free[r->n_free];
            at = &r->free[r->n_free++];
            rest = 0;
        }
        *at = (double)s->now + fmax(rest, 0);
    }
}

/* Several slots are one for a task of this width: free when the last of them
 * is. */
static void join_slots(struct resource *r, double width)
{
    uint32_t n = (uint32_t)fmax(r->n_slots / width, fmin(r->n_slots, 1));
    for (uint32_t i = 0; i < n; i++)
        r->free[i] = r->free[(uint32_t)((i + 1.0) * r->n_slots / n) - 1];
    r->n_free = (uint32_t)(r->n_free * (double)n / fmax(r->n_slots, 1));
    r->n_slots = n;
}

/* Looks at a cluster; machines yet to join are counted. */
static void look(const struct state *s, size_t cluster, struct known known,
                 double width, struct resource *r)
{
    const struct cluster *c = &s->clusters[cluster];
    uint32_t more =
        length_keeps_away(s, cluster) ? 0 : c->spec.max - c->n_held;
    measure_time(c, known, r);
    r->cost = r->runtime * width * (double)c->price /
              ((double)s->run.window * cluster_slots(c));
    r->begun = c->begun;
    r->assigned = r->n_slots = r->n_free = r->next = 0;
    for (uint32_t i = 0; i < c->n_machines; i++) {
        const struct machine *m =
            &s->machines[s->members[c->first_machine + i]];
        bool waits = m->state == MACHINE_PARKED || m->state == MACHINE_ABSENT;
        if (m->quarantined || (waits && more == 0) ||
            (!waits && m->state != MACHINE_ACTIVE))
            continue;
        more -= waits;
        look_at_machine(s, m, r);
    }
    gsl_sort(r->free + r->n_free, 1, r->n_slots - r->n_free);
    if (width > 1)
        join_slots(r, width);
}

/* One task measures an unknown cluster. */
static void measure(struct dbc *d, struct resource *r)
{
    uint32_t one = d->tasks > 0 && r->assigned == 0 && r->n_free == r->n_slots;
    r->assigned += one;
    d->tasks -= one;
}

/* Tasks not begun that fit on the same clusters. */
struct kin {
    uint32_t clusters; /* a bit for each */
    uint32_t tasks;
};

_Static_assert(BATS_CLUSTERS_MAX <= 32, "a bit for each cluster");

static uint32_t clusters_for(const struct state *s, uint32_t category)
{
    uint32_t clusters = 0;
    for (uint32_t i = 0; i < s->n_machines; i++)
        if (bats_need_room(&s->needs.spec[i], &s->needs.list[category]) > 0)
            clusters |= UINT32_C(1) << s->machines[i].cluster;
    return clusters;
}

static int by_clusters(const void *left, const void *right)
{
    const struct kin *a = left, *b = right;
    int more =
        __builtin_popcount(a->clusters) - __builtin_popcount(b->clusters);
    return more != 0
               ? more
               : (a->clusters > b->clusters) - (a->clusters < b->clusters);
}

/* Sorts tasks by the clusters they fit on, the fewest first. Returns their
 * number of kinds. */
static uint32_t find_kin(const struct state *s, struct kin *kin)
{
    const struct bats_bag *bag = &s->bag;
    uint32_t n = s->known.categories.n;
    if (!s->needs.list) {
        kin[0] = (struct kin){UINT32_MAX, bats_bag_pending(bag)};
        return 1;
    }
    for (uint32_t k = 0; k < n; k++)
        kin[k] = (struct kin){clusters_for(s, k), 0};
    for (uint32_t i = 0; i < bag->n; i++)
        kin[category_of(s, bag->index[i])].tasks +=
            bag->state[i] == BATS_TASK_PENDING ||
            bag->state[i] == BATS_TASK_BLOCKED;
    qsort(kin, n, sizeof *kin, by_clusters);
    return n;
}

/* Assigns tasks to the clusters that they fit on; d->tasks: those left. */
static void assign_kin(struct dbc *d, const struct state *s,
                       const struct kin *kin)
{
    d->tasks = kin->tasks;
    d->n = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct resource *r = &d->resources[i];
        if (r->n_slots == 0 || (kin->clusters >> i & 1) == 0)
            continue;
        if (r->runtime > 0)
            put_in_order(d, r);
        else if ((double)s->now < d->deadline)
            measure(d, r);
    }
    if (d->n > 0 && d->tasks > 0)
        d->assign(d);
}

static void assign_all(struct dbc *d, const struct state *s)
{
    struct kin kin[BATS_CATEGORIES_MAX];
    uint32_t n_kin = find_kin(s, kin), undone = 0;
    double *free = d->free;
    struct known known = know(s);
    d->money = s->money.ledger.budget == BATS_UNLIMITED
                   ? INFINITY
                   : (double)bats_ledger_available(&s->money.ledger);
    d->deadline = s->run.goal.deadline == BATS_NEVER
                      ? INFINITY
                      : (double)s->run.goal.deadline;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct resource *r = &d->resources[i];
        r->free = free;
        free += s->clusters[i].n_slots;
        look(s, i, known, needs_width(s), r);
    }
    for (uint32_t i = 0; i < n_kin; i++, undone += d->tasks)
        assign_kin(d, s, &kin[i]);
    d->tasks = undone;
    d->results = 0;
    d->next_results = 1 + bats_bag_left(&s->bag) / SHARE;
}

/* ---- answers to the engine ---- */

static int init(void *self, const struct state *s,
                void (*assign)(struct dbc *d), struct bats_error *err)
{
    struct dbc *d = self;
    d->assign = assign;
    d->free = malloc(s->n_slots * sizeof *d->free);
    return d->free ? 0 : bats_no_memory(err);
}

static void release(void *self)
{
    free(((struct dbc *)self)->free);
}

/* Idle machines are free if use is charged; a window is bought for a task. */
static void count_machines(const struct dbc *d, const struct state *s,
                           uint32_t *machines)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        const struct resource *r = &d->resources[i];
        double slots = r->n_slots - r->n_free + fmin(r->assigned, r->n_free);
        double n = ceil(slots * needs_width(s) / cluster_slots(c));
        machines[i] = s->money.terms.idle_is_free
                          ? c->spec.max
                          : (uint32_t)fmin(n, c->spec.max);
    }
}

static void start(void *self, const struct state *s,
                  const struct policy_sample *sample,
                  struct policy_start *start)
{
    if (sample->is_on) {
        initial_start(s, sample, start);
        return;
    }
    assign_all(self, s);
    count_machines(self, s, start->machines);
}

static bool has_more(const struct dbc *d, const struct state *s,
                     size_t cluster)
{
    const struct resource *r = &d->resources[cluster];
    return s->clusters[cluster].begun - r->begun < r->assigned;
}

static enum bats_idle refuses(void *self, const struct state *s,
                              uint32_t machine)
{
    const struct dbc *d = self;
    size_t i = s->machines[machine].cluster;
    if (s->run.phase != PHASE_NONE)
        return BATS_IDLE_NOT;
    if (!has_more(d, s, i))
        return BATS_IDLE_PLAN;
    if (!forecast_fits(s, machine))
        return BATS_IDLE_SHORT;
    return (double)s->now + d->resources[i].runtime <=
                   d->deadline + MICROSECOND
               ? BATS_IDLE_NOT
               : BATS_IDLE_TOO_LATE;
}

/* The cluster could do more or less than it was assigned. */
static bool is_wrong(const struct dbc *d, const struct state *s, size_t i)
{
    double then = d->resources[i].measured;
    return fabs(cluster_runtime(&s->clusters[i]) - then) > DRIFT * then ||
           !has_more(d, s, i);
}

static bool wants(void *self, const struct state *s,
                  const struct occasion *why)
{
    struct dbc *d = self;
    if (s->run.phase != PHASE_NONE || bats_bag_ready(&s->bag) == 0)
        return false;
    if (why->type == OCCASION_RESULT) {
        size_t cluster = s->machines[why->machine].cluster;
        bool is_first = d->resources[cluster].runtime == 0 &&
                        cluster_runtime(&s->clusters[cluster]) > 0;
        d->results++;
        return d->results >= d->next_results || is_first ||
               (4 * d->results >= d->next_results && is_wrong(d, s, cluster));
    }
    return why->type == OCCASION_LOST || why->type == OCCASION_STALLED ||
           why->type == OCCASION_CHOSEN;
}

static int plan(void *self, const struct state *s, const struct occasion *why,
                bool *is_new, struct policy_plan *plan, struct bats_error *err)
{
    struct dbc *d = self;
    assign_all(d, s);
    plan->decision = state_decision(s, BATS_REASON_PLANNED);
    plan->decision.feasible = d->tasks == 0;
    plan->decision.trigger = why->type == OCCASION_RESULT
                                 ? BATS_TRIGGER_RESULTS
                                 : BATS_TRIGGER_NONE;
    count_machines(d, s, plan->target);
    memcpy(plan->decision.machines, plan->target,
           sizeof plan->decision.machines);
    plan->confirms = *is_new = true;
    return 0;
}

static bool is_late(void *self, const struct state *s)
{
    const struct dbc *d = self;
    double money = (double)bats_ledger_available(&s->money.ledger);
    for (size_t i = 0; i < d->n; i++)
        if (d->order[i]->cost <= money)
            return (double)s->now + d->order[i]->runtime > d->deadline;
    return (double)s->now >= d->deadline;
}

/* ---- the policies ---- */

#define POLICY(id, called)                                                    \
    static int init_##id(void *self, const struct state *s,                   \
                         const struct bats_sched_options *o,                  \
                         struct bats_error *err)                              \
    {                                                                         \
        return init(self, s, by_##id, err);                                   \
    }                                                                         \
    const struct bats_policy bats_policy_dbc_##id = {                         \
        .advisor = {called, sizeof(struct dbc), init_##id, release},          \
        .one_each = true,                                                     \
        .start = start,                                                       \
        .renew = rr_renew,                                                    \
        .refuses = refuses,                                                   \
        .refill = rr_refill,                                                  \
        .wants = wants,                                                       \
        .plan = plan,                                                         \
        .is_late = is_late}

/* The cheapest resource gets as many tasks as it can finish by the deadline
 * and the budget pays for, then the next one. */
static void by_cost(struct dbc *d)
{
    for (size_t i = 0; i < d->n; i++)
        spread(d, i, i + 1, false);
}

POLICY(cost, "dbc-cost");

/* Figure 2: the same for groups of resources with equal task costs; within a
 * group each task goes to the one that completes it soonest. */
static void by_cost_time(struct dbc *d)
{
    for (size_t first = 0, last; first < d->n; first = last) {
        last = first + 1;
        while (last < d->n && same_cost(d->order[first], d->order[last]))
            last++;
        spread(d, first, last, false);
    }
}

POLICY(cost_time, "dbc-cost-time");

/* Each task goes to the resource that completes it soonest, among those where
 * it costs at most money left / tasks left. */
static void by_time(struct dbc *d)
{
    spread(d, 0, d->n, true);
}

POLICY(time, "dbc-time");

/* Tasks per microsecond of order[first], order[first + 1], ... */
static double rate(const struct dbc *d, size_t first)
{
    double sum = 0;
    for (size_t i = first; i < d->n; i++)
        sum += d->order[i]->n_slots / d->order[i]->runtime;
    return sum;
}

/* Resources where a task costs at most its share of the money get tasks in
 * inverse proportion to their runtimes. Their savings raise the share of the
 * other tasks, for more expensive resources; and so on. The rest goes where it
 * ends soonest. Every task keeps its share. */
static void by_conservative_time(struct dbc *d)
{
    size_t paid = 0, first;
    do {
        double share = d->money / d->tasks, tasks = d->tasks;
        double all = rate(d, paid);
        for (first = paid; paid < d->n && d->order[paid]->cost <= share;
             paid++) {
            struct resource *r = d->order[paid];
            double n = floor(tasks * r->n_slots / r->runtime / all);
            while (n-- > 0 && take(d, r))
                continue;
        }
    } while (paid > first && paid < d->n && d->tasks > 0);
    spread(d, 0, d->n, true);
}

POLICY(conservative_time, "dbc-conservative-time");
