/* dbc: the mechanics of the four deadline-and-budget policies. See dbc.h. */
#include "engine/policy/papers/dbc.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/outlook/length.h"

#define SHARE 8       /* of the tasks left have ended: assign anew */
#define DRIFT 0.125   /* of T_r, the same */
#define NOISE 1e-9    /* relative tolerance for equal costs */
#define MICROSECOND 1 /* tolerance for the end of a task */
/* More standard errors are no chance, often as one looks. */
#define CHANCE 4

/* ---- assigning ---- */

static double completion(const struct dbc_resource *r)
{
    return r->free[r->next] + r->runtime;
}

bool dbc_take(struct dbc *d, struct dbc_resource *r)
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

void dbc_spread(struct dbc *d, size_t first, size_t last, bool shares)
{
    struct dbc_resource *best;
    do {
        double share = d->tasks > 0 ? d->money / d->tasks : 0;
        double limit = shares ? fmax(share, d->order[0]->cost) : d->money;
        best = NULL;
        for (size_t i = first; i < last; i++)
            if (d->order[i]->cost <= limit * (1 + NOISE) &&
                (!best || completion(d->order[i]) < completion(best)))
                best = d->order[i];
    } while (d->tasks > 0 && best && dbc_take(d, best));
}

/* ---- looking ---- */

static int by_time(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

static bool same(double a, double b, const struct dbc_resource *of_a,
                 const struct dbc_resource *of_b)
{
    double error = hypot(of_a->error, of_b->error) + NOISE;
    return fabs(a - b) <= error * fmax(a, b);
}

bool dbc_same_cost(const struct dbc_resource *a, const struct dbc_resource *b)
{
    return same(a->cost, b->cost, a, b);
}

static bool goes_before(const struct dbc_resource *a,
                        const struct dbc_resource *b)
{
    if (!dbc_same_cost(a, b))
        return a->cost < b->cost;
    return !same(a->runtime, b->runtime, a, b) && a->runtime < b->runtime;
}

/* Equal ones keep their order. */
static void put_in_order(struct dbc *d, struct dbc_resource *r)
{
    size_t i = d->n++;
    for (; i > 0 && goes_before(r, d->order[i - 1]); i--)
        d->order[i] = d->order[i - 1];
    d->order[i] = r;
}

/* The knowledge of all clusters together. */
struct known {
    double spread; /* deviation of runtimes on one cluster, relative to their
                      mean */
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

/* T_r. Runtimes that deviate from the expected ones by the same factor are one
 * measurement of all clusters. */
static void measure_time(const struct cluster *c, struct known known,
                         struct dbc_resource *r)
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

/* When its slots are free; one that has taken longer than expected may be at
 * any moment. */
static void look_at_machine(const struct state *s, const struct machine *m,
                            struct dbc_resource *r)
{
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++) {
        bool busy = s->slots[i].n_tasks > 0;
        double rest = busy ? r->runtime - slot_elapsed(s, i) : 0;
        r->free[r->n_slots++] = (double)s->now + fmax(rest, 0);
        r->n_free += !busy;
    }
}

/* Machines that have yet to join are expected. */
static void look(const struct state *s, size_t cluster, struct known known,
                 struct dbc_resource *r)
{
    const struct cluster *c = &s->clusters[cluster];
    uint32_t more =
        length_keeps_away(s, cluster) ? 0 : c->spec.max - c->n_held;
    measure_time(c, known, r);
    r->cost = r->runtime * (double)c->price /
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
    qsort(r->free, r->n_slots, sizeof *r->free, by_time);
}

/* One task measures an unknown cluster. */
static void measure(struct dbc *d, struct dbc_resource *r)
{
    r->assigned = d->tasks > 0 && r->n_free == r->n_slots;
    d->tasks -= r->assigned;
}

static void assign_all(struct dbc *d, const struct state *s)
{
    double *free = d->free;
    struct known known = know(s);
    d->tasks = bats_bag_pending(&s->bag);
    d->money = s->money.ledger.budget == BATS_UNLIMITED
                   ? INFINITY
                   : (double)bats_ledger_available(&s->money.ledger);
    d->deadline = s->run.goal.deadline == BATS_NEVER
                      ? INFINITY
                      : (double)s->run.goal.deadline;
    d->n = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        struct dbc_resource *r = &d->resources[i];
        r->free = free;
        free += s->clusters[i].n_slots;
        look(s, i, known, r);
        if (r->n_slots > 0 && r->runtime > 0)
            put_in_order(d, r);
        else if (r->n_slots > 0 && (double)s->now < d->deadline)
            measure(d, r);
    }
    if (d->n > 0 && d->tasks > 0)
        d->assign(d);
    d->results = 0;
    d->next_results = 1 + bats_bag_left(&s->bag) / SHARE;
}

/* ---- answers to the engine ---- */

int dbc_init(void *self, const struct state *s, void (*assign)(struct dbc *d),
             struct bats_error *err)
{
    struct dbc *d = self;
    d->assign = assign;
    d->free = malloc(s->n_slots * sizeof *d->free);
    return d->free ? 0 : bats_no_memory(err);
}

void dbc_release(void *self)
{
    free(((struct dbc *)self)->free);
}

static uint32_t smaller(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

/* Waiting for use is free; a window is bought for a task. */
static void count_machines(const struct dbc *d, const struct state *s,
                           uint32_t *machines)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        const struct dbc_resource *r = &d->resources[i];
        uint32_t slots =
            r->n_slots - r->n_free + smaller(r->assigned, r->n_free);
        machines[i] = s->money.terms.idle_is_free
                          ? c->spec.max
                          : smaller((uint32_t)ceil(slots / cluster_slots(c)),
                                    c->spec.max);
    }
}

void dbc_start(void *self, const struct state *s,
               const struct policy_sample *sample, struct policy_start *start)
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
    const struct dbc_resource *r = &d->resources[cluster];
    return s->clusters[cluster].begun - r->begun < r->assigned;
}

enum bats_idle dbc_refuses(const void *self, const struct state *s,
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

static bool has_drifted(const struct dbc *d, const struct state *s, size_t i)
{
    double then = d->resources[i].measured;
    return fabs(cluster_runtime(&s->clusters[i]) - then) > DRIFT * then;
}

/* Something is known of it for the first time. */
static bool is_unknown(const struct dbc *d, const struct state *s, size_t i)
{
    return d->resources[i].runtime == 0 &&
           cluster_runtime(&s->clusters[i]) > 0;
}

/* The cluster could do more, or less, than it has. */
static bool is_wrong(const struct dbc *d, const struct state *s, size_t i)
{
    return has_drifted(d, s, i) || !has_more(d, s, i);
}

bool dbc_wants(void *self, const struct state *s, const struct occasion *why)
{
    struct dbc *d = self;
    if (s->run.phase != PHASE_NONE || bats_bag_ready(&s->bag) == 0)
        return false;
    switch (why->type) {
    case OCCASION_RESULT:
        d->results++;
        return d->results >= d->next_results ||
               is_unknown(d, s, s->machines[why->machine].cluster) ||
               (4 * d->results >= d->next_results &&
                is_wrong(d, s, s->machines[why->machine].cluster));
    case OCCASION_TICK:
    case OCCASION_WINDOW:
    case OCCASION_READY: /* machines it has assigned them are acquired */
        return false;
    case OCCASION_LOST:
    case OCCASION_STALLED:
    case OCCASION_CHOSEN:
        break;
    }
    return true;
}

int dbc_plan(void *self, const struct state *s, const struct occasion *why,
             bool *is_new, struct policy_plan *plan, struct bats_error *err)
{
    struct dbc *d = self;
    (void)err;
    assign_all(d, s);
    plan->decision = (struct bats_decision){
        .time = s->now,
        .reason = BATS_REASON_PLANNED,
        .trigger = why->type == OCCASION_RESULT ? BATS_TRIGGER_RESULTS
                                                : BATS_TRIGGER_NONE,
        .feasible = d->tasks == 0,
        .tasks_left = bats_bag_pending(&s->bag),
        .tasks_paid = -1,
        .budget_left = bats_ledger_available(&s->money.ledger)};
    count_machines(d, s, plan->target);
    memcpy(plan->decision.machines, plan->target,
           sizeof plan->decision.machines);
    plan->confirms = *is_new = true;
    return 0;
}

bool dbc_is_late(const void *self, const struct state *s)
{
    const struct dbc *d = self;
    double money = (double)bats_ledger_available(&s->money.ledger);
    for (size_t i = 0; i < d->n; i++)
        if (d->order[i]->cost <= money)
            return (double)s->now + d->order[i]->runtime > d->deadline;
    return (double)s->now >= d->deadline;
}
