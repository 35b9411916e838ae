/*
 * fit: tasks that need several slots, memory or GPUs of one machine. See
 * order.h.
 *
 * A machine gets the largest task that fits, so that small tasks remain to
 * fill gaps (first fit decreasing). With a graph, the product of size and
 * weight of the chain decides, so that the largest task comes first among
 * chains of similar weight. In an open bag, older tasks of equal size come
 * first.
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
#define MACHINES_MOST 256 /* at most, compared for a reservation */

struct end {
    double rest; /* microseconds until the task ends */
    const struct bats_need *need;
};

struct memory {
    uint32_t machine;        /* reserved machine, or NO_MACHINE */
    uint32_t group;          /* category of the waiting task */
    double from;             /* expected start, microseconds */
    struct bats_stock spare; /* resources left beside it */
    struct end *ends;        /* room for the slots of any machine */
};

/* ---- the order ---- */

/* How early the next task of the category should begin. */
static double urgency(const struct state *s, uint32_t group)
{
    struct bats_position top = bats_bag_top(&s->bag, group);
    double chain = s->bag.priority
                       ? (double)s->bag.priority[s->bag.index[top.i]]
                       : 1;
    return chain * s->needs.share[group];
}

/* The next task of category a comes before that of b. */
static bool before(const struct state *s, uint32_t a, uint32_t b)
{
    if (b == NO_GROUP)
        return true;
    double first = urgency(s, a), second = urgency(s, b);
    if (first > second || first < second || !s->run.is_open)
        return first > second;
    /* Oldest first, or a category with a steady supply would starve others. */
    return bats_bag_top(&s->bag, a).i > bats_bag_top(&s->bag, b).i;
}

/* ---- reservations ---- */

static int by_rest(const void *a, const void *b)
{
    const struct end *x = a, *y = b;
    return (x->rest > y->rest) - (x->rest < y->rest);
}

static uint32_t list_ends(const struct memory *f, const struct state *s,
                          uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    uint32_t n = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (s->slots[i].n_tasks > 0)
            f->ends[n++] =
                (struct end){slot_rest(s, i), need_of(s, s->slots[i].head)};
    qsort(f->ends, n, sizeof *f->ends, by_rest);
    return n;
}

/* Microseconds until the machine has room for the need; sets `free` to what is
 * free then. */
static double wait_for(const struct memory *f, const struct state *s,
                       uint32_t machine, const struct bats_need *need,
                       struct bats_stock *free)
{
    *free = s->needs.free[machine];
    if (need_fits_in(s, machine, free, need))
        return 0;
    uint32_t n = list_ends(f, s, machine);
    for (uint32_t i = 0; i < n; i++) {
        need_count(free, f->ends[i].need, 1);
        if (need_fits_in(s, machine, free, need))
            return f->ends[i].rest;
    }
    return INFINITY;
}

static bool is_usable(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    return m->state == MACHINE_ACTIVE && !m->marked && !m->quarantined;
}

/* The machine has an idle slot, so the pass is about to ask it. */
static bool is_about_to_be_asked(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (s->slots[i].is_idle)
            return true;
    return false;
}

static void reserve(struct memory *f, const struct state *s, uint32_t group)
{
    const struct bats_need *need = &s->needs.list[group];
    struct bats_stock free;
    double soonest = INFINITY;
    for (uint32_t i = 0; i < s->n_held && i < MACHINES_MOST; i++) {
        uint32_t id = s->held[i];
        if (!is_usable(s, id))
            continue;
        double wait = wait_for(f, s, id, need, &free);
        if (wait <= 0 && is_about_to_be_asked(s, id)) {
            f->machine = NO_MACHINE;
            return;
        }
        if (wait <= 0 || wait >= soonest)
            continue;
        soonest = wait;
        f->machine = id;
        f->group = group;
        f->from = (double)s->now + wait;
        f->spare = free;
        need_count(&f->spare, need, -1);
    }
}

static bool is_valid(const struct memory *f, const struct state *s)
{
    return f->machine != NO_MACHINE && is_usable(s, f->machine) &&
           s->bag.groups[f->group].n_ready > 0;
}

static bool ends_before(const struct memory *f, const struct state *s,
                        uint32_t group)
{
    uint32_t task = s->bag.index[bats_bag_top(&s->bag, group).i];
    double time = task_runtime(s, task, s->machines[f->machine].cluster);
    return time > 0 && (double)s->now + time <= f->from;
}

/* A task of the category does not delay the reservation. */
static bool leaves_room(const struct memory *f, const struct state *s,
                        uint32_t machine, uint32_t group)
{
    return machine != f->machine || group == f->group ||
           ends_before(f, s, group) ||
           need_fits_in(s, machine, &f->spare, &s->needs.list[group]);
}

/* ---- the advisor ---- */

/* Category whose task the machine gets, or NO_GROUP; `waits`: the first one
 * that needs more room there. */
static uint32_t choose(const struct memory *f, const struct state *s,
                       uint32_t machine, uint32_t *waits)
{
    uint32_t best = NO_GROUP, avoided = NO_GROUP;
    *waits = NO_GROUP;
    for (uint32_t g = 0; g < s->bag.n_groups; g++) {
        if (s->bag.groups[g].n_ready == 0)
            continue;
        struct bats_position task = bats_bag_top(&s->bag, g);
        bool fits = need_fits(s, machine, &s->needs.list[g]);
        uint32_t *first = !fits                               ? waits
                          : s->tasks[task.i].avoid == machine ? &avoided
                                                              : &best;
        if (fits ? leaves_room(f, s, machine, g)
                 : bats_need_room(&s->needs.spec[machine], &s->needs.list[g]) >
                       0)
            if (before(s, g, *first))
                *first = g;
    }
    bool elsewhere = s->n_open > s->machines[machine].n_slots;
    return best != NO_GROUP || (elsewhere && s->n_busy > 0) ? best : avoided;
}

static struct bats_position next(void *self, const struct state *s,
                                 uint32_t machine)
{
    struct memory *f = self;
    uint32_t waits;
    if (!is_valid(f, s))
        f->machine = NO_MACHINE;
    uint32_t group = choose(f, s, machine, &waits);
    if (waits != NO_GROUP && f->machine == NO_MACHINE &&
        (group == NO_GROUP || before(s, waits, group))) {
        reserve(f, s, waits);
        group = choose(f, s, machine, &waits);
    }
    if (group == NO_GROUP)
        return BATS_NO_POSITION;
    if (machine == f->machine && group == f->group)
        f->machine = NO_MACHINE;
    else if (machine == f->machine && !ends_before(f, s, group))
        need_count(&f->spare, &s->needs.list[group], -1);
    return bats_bag_top(&s->bag, group);
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct memory *f = self;
    uint32_t most = 0;
    (void)s;
    for (uint32_t i = 0; i < o->n_machines; i++)
        most = o->machines[i].slots > most ? o->machines[i].slots : most;
    f->machine = NO_MACHINE;
    f->ends = malloc(most * sizeof *f->ends);
    return f->ends ? 0 : bats_no_memory(err);
}

static void release(void *self)
{
    struct memory *f = self;
    free(f->ends);
}

const struct order order_fit = {.advisor = {.name = "fit",
                                            .memory = sizeof(struct memory),
                                            .init = init,
                                            .release = release},
                                .refusal = BATS_IDLE_NO_ROOM,
                                .next = next};
