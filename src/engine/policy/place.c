/* place: see place.h. */
#include "engine/policy/place.h"

#include <math.h>
#include <stdlib.h>

/* Money and time may be short by so much of themselves: rounding. */
#define NOISE 1e-9
/* The runtime of a task if no task has ended: then nothing is too dear. */
#define UNKNOWN 1

struct ready {
    int64_t height;
    struct bats_position task;
};

/* A round depends on this. */
struct stamp {
    bats_time now;
    uint32_t ready, busy, open, blocked, ranked;
};

struct place {
    place_choose *choose;
    place_make_rule *make;
    bool waits;
    struct place_rule rule;
    double *least;         /* by node: least time */
    uint32_t ranked, gone; /* weights and machines, of which the rule is, */
    uint32_t results;      /* and DONE tasks */
    struct ready *ready;   /* of the round, the highest first */
    double *free;          /* by slot: from when; INFINITY: it is not
                                   offered */
    struct bats_position *answer; /* by slot; or BATS_NO_POSITION */
    struct stamp stamp;
    bool is_late; /* a task had no offer in time, */
    bool is_dear; /* or none that it can pay, in the last round */
};

/* ---- what tasks take and cost ---- */

double place_runtime(const struct state *s, uint32_t task, size_t cluster)
{
    double time = categories_runtime(s, task, cluster);
    if (time > 0)
        return time;
    time = cluster_runtime(&s->clusters[cluster]);
    return time > 0 ? time : UNKNOWN;
}

bool place_knows(const struct state *s)
{
    return s->categories.told || s->is_ranked;
}

double place_cost(const struct state *s, double time, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return time / (double)s->window * (double)c->price / cluster_slots(c);
}

/* Machines that have yet to join are expected. */
bool place_offers(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return c->n_machines > c->n_lost + c->n_quarantined && c->spec.max > 0;
}

static double least_time(const struct state *s, uint32_t task)
{
    double least = INFINITY;
    for (size_t c = 0; c < s->n_clusters; c++)
        if (place_offers(s, c))
            least = fmin(least, place_runtime(s, task, c));
    return isfinite(least) ? least : 0;
}

static double least_cost(const struct state *s, uint32_t task)
{
    double least = INFINITY;
    for (size_t c = 0; c < s->n_clusters; c++)
        if (place_offers(s, c))
            least = fmin(least, place_cost(s, place_runtime(s, task, c), c));
    return isfinite(least) ? least : 0;
}

static double least_cost_of_rest(const struct state *s)
{
    double sum = 0;
    for (uint32_t i = 0; i < s->bag.n; i++)
        if (s->bag.state[i] == BATS_TASK_PENDING ||
            s->bag.state[i] == BATS_TASK_BLOCKED ||
            s->bag.state[i] == BATS_TASK_WAITING)
            sum += least_cost(s, s->bag.index[i]);
    return sum;
}

void place_deadlines(const struct bats_graph *g, const uint32_t *order,
                     const double *least, double deadline, double *latest)
{
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        uint32_t node = order[i];
        latest[node] = deadline;
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
            latest[node] =
                fmin(latest[node], latest[g->child[k]] - least[g->child[k]]);
    }
}

static void make_deadlines(struct place *p, const struct state *s)
{
    const struct bats_graph *g = s->bag.graph;
    for (uint32_t i = 0; i < g->n_nodes; i++)
        p->least[i] = i < g->n_tasks ? least_time(s, i) : 0;
    place_deadlines(g, s->sorted, p->least,
                    s->goal.deadline == BATS_NEVER ? INFINITY
                                                   : (double)s->goal.deadline,
                    p->rule.latest);
}

/* So often do results alone make it worth a new rule. */
#define RULES 32

static void update_rule(struct place *p, const struct state *s, double money)
{
    uint32_t gone = s->n_lost + s->n_quarantined;
    uint32_t results = s->bag.count[BATS_TASK_DONE];
    bool is_news = p->make && results - p->results > s->bag.n / RULES;
    if (p->ranked == s->categories.n_ranked && p->gone == gone && !is_news)
        return;
    p->ranked = s->categories.n_ranked;
    p->gone = gone;
    p->results = results;
    if (p->make)
        p->make(s, money, &p->rule);
    else
        make_deadlines(p, s);
}

/* ---- a round ---- */

static int by_height(const void *left, const void *right)
{
    const struct ready *a = left, *b = right;
    if (a->height != b->height)
        return a->height > b->height ? -1 : 1;
    return a->task.i > b->task.i ? -1 : a->task.i < b->task.i;
}

double place_rest(const struct state *s, uint32_t slot)
{
    const struct slot *sl = &s->slots[slot];
    const struct machine *m = &s->machines[sl->machine];
    if (m->state != MACHINE_ACTIVE || m->quarantined ||
        (sl->n_tasks == 0 && !sl->is_idle))
        return INFINITY;
    if (sl->n_tasks == 0)
        return 0;
    double over = slot_elapsed(s, slot) -
                  place_runtime(s, s->bag.index[sl->head.i], m->cluster);
    return fabs(over); /* late: as late again */
}

static double free_at(const struct place *p, const struct state *s,
                      uint32_t slot)
{
    if (s->slots[slot].n_tasks > 0 && !p->waits)
        return INFINITY;
    return (double)s->now + place_rest(s, slot);
}

/* The slots; returns how many are idle. */
static uint32_t look(struct place *p, const struct state *s)
{
    uint32_t idle = 0;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        p->answer[i] = BATS_NO_POSITION;
        p->free[i] = free_at(p, s, i);
        idle += isfinite(p->free[i]) && s->slots[i].n_tasks == 0;
    }
    return idle;
}

/* Finds the slot of each cluster that is free first. */
static void find_slots(const struct place *p, const struct state *s,
                       struct bats_position task, uint32_t *slots)
{
    uint32_t avoid = s->tasks[task.i].avoid;
    for (size_t c = 0; c < s->n_clusters; c++)
        slots[c] = NO_SLOT;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        uint32_t *best = &slots[slot_cluster(s, i)];
        if (isfinite(p->free[i]) &&
            (s->slots[i].machine != avoid || s->n_busy == 0) &&
            (*best == NO_SLOT || p->free[i] < p->free[*best]))
            *best = i;
    }
}

struct money {
    double left, rest; /* least cost of what has not begun */
};

/* The offer of a machine that is free now and of which nothing is known, nor will
 * soon be. */
static size_t explore(const struct state *s, const struct place_offer *offers,
                      const uint32_t *slots, size_t n,
                      const struct place_limits *limits)
{
    for (size_t i = 0; i < n; i++) {
        const struct cluster *c = &s->clusters[slot_cluster(s, slots[i])];
        if (!s->categories.told && cluster_runtime(c) == 0 && c->begun == 0 &&
            s->slots[slots[i]].n_tasks == 0 && offers[i].cost <= limits->cost)
            return i;
    }
    return PLACE_NONE;
}

/* Chooses among the offers: the slot, or NO_SLOT. */
static uint32_t choose(struct place *p, const struct state *s,
                       struct bats_position task, const struct money *money,
                       double *price)
{
    struct place_offer offer[BATS_CLUSTERS_MAX];
    uint32_t slots[BATS_CLUSTERS_MAX], of[BATS_CLUSTERS_MAX];
    uint32_t number = s->bag.index[task.i];
    double least = least_cost(s, number), spare = money->left - money->rest;
    if (p->make && spare < 0) /* the rest may turn out to cost less */
        spare = 0;
    struct place_limits limits = {
        .cost = (least + spare) * (1 + NOISE) + 1,
        .finish = p->rule.latest[number] * (1 + NOISE),
        .share = money->left > 0 ? money->rest / money->left : 1,
        .price = p->rule.price,
        .is_relative = p->rule.is_relative};
    size_t n = 0;
    find_slots(p, s, task, slots);
    for (size_t c = 0; c < s->n_clusters; c++) {
        if (slots[c] == NO_SLOT)
            continue;
        double time = place_runtime(s, number, c);
        offer[n] = (struct place_offer){p->free[slots[c]] + time,
                                        place_cost(s, time, c), 0};
        p->is_dear |= offer[n].cost > limits.cost;
        p->is_late |= offer[n].finish > limits.finish;
        of[n++] = slots[c];
    }
    size_t best = p->make ? explore(s, offer, of, n, &limits) : PLACE_NONE;
    if (best == PLACE_NONE)
        best = p->choose(offer, n, &limits);
    if (best == PLACE_NONE)
        return NO_SLOT;
    *price = offer[best].cost;
    p->free[of[best]] = offer[best].finish;
    return of[best];
}

static void gather(struct place *p, const struct state *s)
{
    uint32_t n = bats_bag_ready(&s->bag);
    for (uint32_t i = 0; i < n; i++)
        p->ready[i] = (struct ready){
            s->height[s->bag.index[s->bag.order[i].i]], s->bag.order[i]};
    qsort(p->ready, n, sizeof *p->ready, by_height);
}

static void make_round(struct place *p, const struct state *s)
{
    struct money money = {.left =
                              s->ledger.budget == BATS_UNLIMITED
                                  ? INFINITY
                                  : (double)bats_ledger_available(&s->ledger),
                          .rest = least_cost_of_rest(s)};
    uint32_t n = bats_bag_ready(&s->bag), idle = look(p, s);
    update_rule(p, s, money.left);
    gather(p, s);
    p->is_late = p->is_dear = false;
    for (uint32_t i = 0; i < n && idle > 0; i++) {
        struct bats_position task = p->ready[i].task;
        double price = 0;
        uint32_t slot = choose(p, s, task, &money, &price);
        if (slot == NO_SLOT)
            continue;
        money.left -= price;
        money.rest -= least_cost(s, s->bag.index[task.i]);
        if (s->slots[slot].n_tasks > 0 || bats_is_position(p->answer[slot]))
            continue; /* it waits for what goes first there */
        p->answer[slot] = task;
        idle--;
        if (!p->waits)
            p->free[slot] = INFINITY;
    }
}

/* ---- answers to the engine ---- */

static struct stamp stamp_of(const struct state *s)
{
    return (struct stamp){.now = s->now,
                          .ready = bats_bag_ready(&s->bag),
                          .busy = s->n_busy,
                          .open = s->n_open,
                          .blocked = s->bag.count[BATS_TASK_BLOCKED],
                          .ranked = s->categories.n_ranked};
}

static bool same_stamp(struct stamp a, struct stamp b)
{
    return a.now == b.now && a.ready == b.ready && a.busy == b.busy &&
           a.open == b.open && a.blocked == b.blocked && a.ranked == b.ranked;
}

struct bats_position place_place(void *self, const struct state *s,
                                 uint32_t slot)
{
    struct place *p = ((struct place_memory *)self)->place;
    if (!same_stamp(p->stamp, stamp_of(s)))
        make_round(p, s);
    p->stamp = stamp_of(s);
    struct bats_position task = p->answer[slot];
    p->answer[slot] = BATS_NO_POSITION;
    if (bats_is_position(task)) { /* the round holds after it has begun */
        p->stamp.ready--;
        p->stamp.busy++;
    }
    return task;
}

int place_init(void *self, const struct state *s, place_choose *choose_one,
               place_make_rule *make, bool waits, struct bats_error *err)
{
    struct place *p = calloc(1, sizeof *p);
    ((struct place_memory *)self)->place = p;
    if (!p)
        goto no_memory;
    uint32_t nodes = s->bag.graph->n_nodes;
    p->choose = choose_one;
    p->make = make;
    p->waits = waits;
    p->ranked = UINT32_MAX;
    p->stamp.now = -1;
    p->rule.latest = calloc(nodes, sizeof *p->rule.latest);
    p->least = calloc(nodes, sizeof *p->least);
    p->ready = calloc(s->bag.n, sizeof *p->ready);
    p->free = calloc(s->n_slots, sizeof *p->free);
    p->answer = calloc(s->n_slots, sizeof *p->answer);
    if (p->rule.latest && p->least && p->ready && p->free && p->answer)
        return 0;
no_memory:
    return bats_error_set(err, BATS_ENOMEM, "no memory for a policy");
}

void place_release(void *self)
{
    struct place *p = ((struct place_memory *)self)->place;
    if (!p)
        return;
    free(p->rule.latest);
    free(p->least);
    free(p->ready);
    free(p->free);
    free(p->answer);
    free(p);
}

/* Waiting is free where use is charged. */
void place_start(void *self, const struct state *s,
                 const struct policy_sample *sample,
                 struct policy_start *start)
{
    (void)self;
    (void)sample;
    for (size_t i = 0; i < s->n_clusters; i++)
        start->machines[i] = s->clusters[i].spec.max;
}

bool place_renew(const void *self, const struct state *s, uint32_t machine)
{
    (void)self;
    return machine_works(s, machine);
}

bool place_refill(const void *self, const struct state *s,
                  const struct occasion *why)
{
    (void)self;
    (void)s;
    (void)why;
    return true;
}

bool place_is_late(const void *self, const struct state *s)
{
    const struct place *p = ((const struct place_memory *)self)->place;
    (void)s;
    return p->is_late && !p->is_dear;
}
