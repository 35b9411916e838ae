/*
 * fit: tasks that need several slots, memory or GPUs of one machine. See
 * order.h.
 *
 * A machine gets the largest task that fits, so that small tasks remain to
 * fill gaps (first fit decreasing); of equal size, the one with the longest
 * chain, or in an open bag the oldest. Tasks whose chain takes long compared
 * with what is left of the bag come before all others.
 *
 * If runtimes are unknown, the last tasks may take long: these should be few
 * and large. So tasks that leave slots idle come first, the largest before
 * others, and then those that fill a machine, by how long the longest of them
 * may take.
 *
 * To keep small tasks from starving a large one, the first task that waits for
 * room gets a reservation on the machine where it is expected to begin
 * soonest. Other tasks begin there only if they are expected to end before
 * that, or fit beside it (EASY, Lifka 1995). The reservation stays until the
 * machine has room, so every task begins eventually.
 */
#include "engine/order/order.h"

#include <math.h>
#include <stdlib.h>

#define NO_GROUP UINT32_MAX
#define NO_NODE UINT32_MAX
#define MACHINES_MOST 256 /* at most, compared for a reservation */
/* Tasks use the slots of a machine if they leave less of these than this. */
#define GAP 0.125
/* A chain is urgent if it takes this fraction of the time that all tasks left
 * take on all machines. */
#define URGENT 0.2
/* Relative spread of runtimes before there are results. */
#define VARIES 0.5

struct end {
    double rest; /* microseconds until the task ends */
    const struct bats_need *need;
};

struct memory {
    uint32_t node;           /* reserved node, or NO_NODE */
    uint32_t group;          /* category of the waiting task */
    double urgent;           /* least weight of an urgent chain */
    double from;             /* expected start, microseconds; it stays */
    struct bats_stock spare; /* resources left beside it now */
    struct end *ends;        /* room for the slots of any machine */
    uint32_t *old;           /* by slot of the node: its task at that time */
};

/* ---- the order ---- */

static bool is_told(const struct state *s)
{
    return s->known.categories.told || s->run.is_open;
}

/* Expected runtime of the category's next task, as a weight. */
static double weight_of(const struct state *s, uint32_t group)
{
    uint32_t task = s->bag.index[bats_bag_top(&s->bag, group).i];
    double mean = s->known.categories.mean;
    return categories_weight(s, task) * (s->known.is_ranked ? mean : 1);
}

/* Weight of the chain that begins with the category's next task. A task for
 * which none waits is no chain, unless its runtime is known. */
static double chain_of(const struct state *s, uint32_t group)
{
    struct bats_position top = bats_bag_top(&s->bag, group);
    if (!s->bag.priority)
        return 0;
    double chain = (double)s->bag.priority[s->bag.index[top.i]];
    return is_told(s) ? chain : chain - weight_of(s, group);
}

/* Weight of all tasks left, spread over all slots. */
static double weight_left(const struct state *s)
{
    const struct categories *k = &s->known.categories;
    double sum = 0;
    for (uint32_t i = 0; i < k->n; i++)
        sum += k->left[i] * s->needs.share[i] *
               (k->weight[i] > 0 ? k->weight[i] : fmax(k->mean, 1));
    return sum / fmax(s->n_open, 1);
}

static bool leaves_gap(const struct state *s, uint32_t group)
{
    return s->needs.list[group].cores < (1 - GAP) * s->needs.share[group];
}

/* Weight of the longest of the category's tasks that run at the same time on
 * all machines: runtimes are lognormal, and the largest of n normal deviates
 * is sqrt(2 ln n). */
static double longest_of(const struct state *s, uint32_t group)
{
    const struct category_stats *k = &s->known.categories.stats[group];
    double n = fmin(s->n_open / s->needs.share[group],
                    s->known.categories.left[group]);
    double spread = k->n > 1 && k->mean > 0
                        ? sqrt(k->squares / (k->n - 1)) / k->mean
                        : VARIES;
    double variance = log1p(spread * spread);
    return weight_of(s, group) *
           exp(sqrt(2 * variance * log(fmax(n, 1))) - variance / 2);
}

/* The next task of category a comes before that of b. */
static bool before(const struct memory *f, const struct state *s, uint32_t a,
                   uint32_t b)
{
    if (b == NO_GROUP)
        return true;
    double chain = chain_of(s, a), other = chain_of(s, b);
    const struct needs *needs = &s->needs;
    if (chain >= f->urgent || other >= f->urgent)
        return chain > other;
    bool gap = leaves_gap(s, a);
    if (!is_told(s) && gap != leaves_gap(s, b))
        return gap;
    if (!is_told(s) && !gap)
        return longest_of(s, a) > longest_of(s, b);
    if (needs->share[a] != needs->share[b])
        return needs->share[a] > needs->share[b];
    if (needs->list[a].cores != needs->list[b].cores)
        return needs->list[a].cores > needs->list[b].cores;
    if (!s->run.is_open)
        return chain > other;
    /* Oldest first, or a category with a steady supply would starve others. */
    return bats_bag_top(&s->bag, a).i > bats_bag_top(&s->bag, b).i;
}

/* ---- reservations ---- */

static int by_rest(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    return (x->rest > y->rest) - (x->rest < y->rest);
}

static uint32_t task_of(const struct state *s, uint32_t slot)
{
    return s->bag.index[s->slots[slot].head.i];
}

/* Lists no tasks that began beside the reservation: if one of them replaced
 * another, the reservation would wait for ever. */
static uint32_t list_ends(const struct memory *f, const struct state *s,
                          uint32_t node)
{
    const struct needs_node *m = &s->needs.nodes[node];
    uint32_t n = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (s->slots[i].n_tasks > 0 &&
            (node != f->node || task_of(s, i) == f->old[i - m->first_slot]))
            f->ends[n++] =
                (struct end){slot_rest(s, i), need_of(s, s->slots[i].head)};
    qsort(f->ends, n, sizeof *f->ends, by_rest);
    return n;
}

/* Microseconds until the node has room for the need; sets `free` to what is
 * free then. */
static double wait_for(const struct memory *f, const struct state *s,
                       uint32_t node, const struct bats_need *need,
                       struct bats_stock *free)
{
    *free = s->needs.nodes[node].free;
    if (need_fits_in(s, node, free, need))
        return 0;
    uint32_t n = list_ends(f, s, node);
    for (uint32_t i = 0; i < n; i++) {
        need_count(free, f->ends[i].need, 1);
        if (need_fits_in(s, node, free, need))
            return f->ends[i].rest;
    }
    return INFINITY;
}

static bool is_usable(const struct state *s, uint32_t node)
{
    const struct machine *m = &s->machines[s->needs.nodes[node].machine];
    return m->state == MACHINE_ACTIVE && !m->marked && !m->quarantined;
}

/* The node has an idle slot, so the pass is about to ask it. */
static bool is_about_to_be_asked(const struct state *s, uint32_t node)
{
    const struct needs_node *m = &s->needs.nodes[node];
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (s->slots[i].is_idle)
            return true;
    return false;
}

/* Compares this node with the best so far. False: it has room already. A task
 * that is expected to end right now has not ended. */
static bool compare(struct memory *f, const struct state *s, uint32_t node,
                    uint32_t group, double *soonest)
{
    const struct bats_need *need = &s->needs.list[group];
    struct bats_stock free;
    if (!is_usable(s, node))
        return true;
    if (need_fits(s, node, need))
        return !is_about_to_be_asked(s, node);
    double wait = wait_for(f, s, node, need, &free);
    if (wait >= *soonest)
        return true;
    *soonest = wait;
    f->node = node;
    f->group = group;
    f->from = (double)s->now + wait;
    return true;
}

static void reserve(struct memory *f, const struct state *s, uint32_t group)
{
    double soonest = INFINITY;
    for (uint32_t i = 0; i < s->n_held && i < MACHINES_MOST; i++)
        for (uint32_t node = s->needs.first[s->held[i]];
             node < s->needs.first[s->held[i] + 1]; node++)
            if (!compare(f, s, node, group, &soonest)) {
                f->node = NO_NODE;
                return;
            }
    if (f->node == NO_NODE)
        return;
    const struct needs_node *m = &s->needs.nodes[f->node];
    for (uint32_t i = 0; i < m->n_slots; i++)
        f->old[i] = s->slots[m->first_slot + i].n_tasks > 0
                        ? task_of(s, m->first_slot + i)
                        : UINT32_MAX;
}

static bool is_valid(const struct memory *f, const struct state *s)
{
    return f->node != NO_NODE && is_usable(s, f->node) &&
           s->bag.groups[f->group].n_ready > 0;
}

/* Others have ended since the last time, or now run beside it. */
static void count_spare(struct memory *f, const struct state *s)
{
    const struct bats_need *need = &s->needs.list[f->group];
    if (isinf(wait_for(f, s, f->node, need, &f->spare)))
        f->spare = (struct bats_stock){0};
    else
        need_count(&f->spare, need, -1);
}

static bool ends_before(const struct memory *f, const struct state *s,
                        uint32_t group)
{
    uint32_t task = s->bag.index[bats_bag_top(&s->bag, group).i];
    double time = task_runtime(
        s, task, s->machines[s->needs.nodes[f->node].machine].cluster);
    return time > 0 && (double)s->now + time <= f->from;
}

/* A task of the category does not delay the reservation. */
static bool leaves_room(const struct memory *f, const struct state *s,
                        uint32_t node, uint32_t group)
{
    return node != f->node || group == f->group || ends_before(f, s, group) ||
           need_fits_in(s, node, &f->spare, &s->needs.list[group]);
}

/* ---- the advisor ---- */

/* Category whose task the node gets, or NO_GROUP; `waits`: the first one
 * that needs more room there. */
static uint32_t choose(struct memory *f, const struct state *s, uint32_t node,
                       uint32_t *waits)
{
    uint32_t machine = s->needs.nodes[node].machine;
    uint32_t best = NO_GROUP, avoided = NO_GROUP;
    *waits = NO_GROUP;
    if (node == f->node)
        count_spare(f, s);
    for (uint32_t g = 0; g < s->bag.n_groups; g++) {
        if (s->bag.groups[g].n_ready == 0)
            continue;
        struct bats_position task = bats_bag_top(&s->bag, g);
        bool fits = need_fits(s, node, &s->needs.list[g]);
        uint32_t *first = !fits                               ? waits
                          : s->tasks[task.i].avoid == machine ? &avoided
                                                              : &best;
        if (fits ? leaves_room(f, s, node, g)
                 : bats_need_room(&s->needs.spec[machine], &s->needs.list[g]) >
                       0)
            if (before(f, s, g, *first))
                *first = g;
    }
    bool elsewhere = s->n_open > s->machines[machine].n_slots;
    return best != NO_GROUP || (elsewhere && s->n_busy > 0) ? best : avoided;
}

static struct bats_position next(void *self, const struct state *s,
                                 uint32_t slot)
{
    struct memory *f = self;
    uint32_t waits, node = node_of(s, slot);
    f->urgent = s->bag.priority ? URGENT * weight_left(s) : INFINITY;
    if (!is_valid(f, s))
        f->node = NO_NODE;
    uint32_t group = choose(f, s, node, &waits);
    if (waits != NO_GROUP && f->node == NO_NODE &&
        (group == NO_GROUP || before(f, s, waits, group))) {
        reserve(f, s, waits);
        group = choose(f, s, node, &waits);
    }
    if (group == NO_GROUP)
        return BATS_NO_POSITION;
    if (node == f->node && group == f->group)
        f->node = NO_NODE;
    return bats_bag_top(&s->bag, group);
}

static bool reservation(const void *self, const struct state *s,
                        struct bats_reservation *r)
{
    const struct memory *f = self;
    if (!is_valid(f, s))
        return false;
    struct bats_position task = bats_bag_top(&s->bag, f->group);
    *r = (struct bats_reservation){s->needs.nodes[f->node].machine,
                                   s->bag.index[task.i], (bats_time)f->from};
    return true;
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct memory *f = self;
    uint32_t most = 0;
    for (uint32_t i = 0; i < o->n_machines; i++)
        most = o->machines[i].slots > most ? o->machines[i].slots : most;
    f->node = NO_NODE;
    f->ends = malloc(most * sizeof *f->ends);
    f->old = malloc(most * sizeof *f->old);
    return f->ends && f->old ? 0 : bats_no_memory(err);
}

static void release(void *self)
{
    struct memory *f = self;
    free(f->ends);
    free(f->old);
}

const struct order order_fit = {.advisor = {.name = "fit",
                                            .memory = sizeof(struct memory),
                                            .init = init,
                                            .release = release},
                                .refusal = BATS_IDLE_NO_ROOM,
                                .next = next,
                                .reservation = reservation};
