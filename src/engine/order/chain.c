/*
 * chain: orders tasks with dependencies on machines of different speeds; and
 * draws others in the bag's random order, where a task that failed on a machine
 * goes to another one. See order.h.
 *
 * With dependencies, the bag sorts tasks by the heaviest chain that waits for
 * them (rank_u). In this order each task is assigned to the slot with the
 * earliest finish time, free or busy, among those that its workflow can pay
 * (HEFT, Topcuoglu et al. 2002, section 5.1); runtimes are learned. A slot gets
 * the first task that is not assigned to a faster one. So tasks of the longest
 * chain wait for a fast machine where that pays, and slow machines take other
 * tasks or wait.
 */
#include "engine/order/order.h"

#include <string.h>

/* Upper bounds on the slots and tasks compared. */
#define SLOTS_MOST 256
#define TASKS_MOST BATS_BAG_AHEAD
/* A cluster counts as faster if tasks take less than this fraction of the
 * time; means of equal clusters differ a little. */
#define CLEARLY 0.9

struct faster {
    double free; /* microseconds until it is free */
    uint32_t machine, cluster;
};

/* Counts on which a refusal depends. It holds within a pass over idle slots
 * until a task begins or a slot is no longer idle. */
struct refusal {
    uint32_t ready, busy, idle;
};

struct memory {
    struct faster slots[SLOTS_MOST];
    uint32_t n;
    struct refusal refusal[BATS_CLUSTERS_MAX];
    bool is_refused[BATS_CLUSTERS_MAX]; /* holds for any machine of the
                                           cluster */
};

/* Tasks are clearly faster there than with factor `mine`. */
static bool is_faster(const struct state *s, size_t cluster, double mine)
{
    return s->known.categories.factor[cluster] < CLEARLY * mine &&
           s->clusters[cluster].n_active > 0;
}

static void look_at(struct memory *o, const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++)
        if (o->n < SLOTS_MOST &&
            (s->slots[i].n_tasks == 1 || s->slots[i].is_idle))
            o->slots[o->n++] =
                (struct faster){s->slots[i].n_tasks > 0 ? slot_rest(s, i) : 0,
                                machine, m->cluster};
}

/* Collects the slots of faster machines that stay in use. */
static void look(struct memory *o, const struct state *s, uint32_t machine)
{
    double mine = s->known.categories.factor[s->machines[machine].cluster];
    bool any = false;
    o->n = 0;
    for (size_t c = 0; c < s->n_clusters; c++)
        any |= is_faster(s, c, mine);
    for (uint32_t i = 0; any && i < s->n_held && o->n < SLOTS_MOST; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        if (m->state == MACHINE_ACTIVE && !m->marked && !m->quarantined &&
            is_faster(s, m->cluster, mine))
            look_at(o, s, s->held[i]);
    }
}

/* Assigns the task to a faster slot than this cluster's, if it ends sooner
 * there. False: none is better. */
static bool goes_elsewhere(struct memory *o, const struct state *s,
                           struct bats_position task, uint32_t cluster)
{
    double time[BATS_CLUSTERS_MAX];
    struct faster *best = NULL;
    for (size_t c = 0; o->n > 0 && c < s->n_clusters; c++)
        time[c] = categories_runtime(s, s->bag.index[task.i], c);
    double soonest = o->n > 0 ? time[cluster] : 0;
    for (uint32_t i = 0; i < o->n; i++) {
        double end = o->slots[i].free + time[o->slots[i].cluster];
        if (end < soonest && s->tasks[task.i].avoid != o->slots[i].machine &&
            purse_admits(s, o->slots[i].machine, task)) {
            soonest = end;
            best = &o->slots[i];
        }
    }
    if (best)
        best->free = soonest;
    return best != NULL;
}

static void begin(void *self)
{
    struct memory *o = self;
    memset(o->is_refused, 0, sizeof o->is_refused);
}

/* All ready tasks belong elsewhere, for any machine of this cluster. */
static bool refuses(const void *self, const struct state *s, uint32_t cluster)
{
    const struct memory *o = self;
    const struct refusal *r = &o->refusal[cluster];
    return o->is_refused[cluster] && r->ready == bats_bag_ready(&s->bag) &&
           r->busy == s->n_busy && r->idle == s->idle.n;
}

static void note_refusal(struct memory *o, const struct state *s,
                         uint32_t cluster)
{
    o->is_refused[cluster] = true;
    o->refusal[cluster] =
        (struct refusal){bats_bag_ready(&s->bag), s->n_busy, s->idle.n};
}

static struct bats_position next(void *self, const struct state *s,
                                 uint32_t slot)
{
    struct memory *o = self;
    uint32_t machine = s->slots[slot].machine;
    struct bats_position task, avoided = BATS_NO_POSITION;
    uint32_t ready = bats_bag_ready(&s->bag);
    uint32_t most = ready < TASKS_MOST ? ready : TASKS_MOST;
    struct bats_bag_walk walk = {.n = 1};
    uint32_t cluster = s->machines[machine].cluster;
    if (refuses(o, s, cluster))
        return BATS_NO_POSITION;
    look(o, s, machine);
    for (uint32_t behind = 0; behind < most; behind++) {
        task = s->bag.groups[0].order[bats_bag_walk(&s->bag, &walk)];
        if (goes_elsewhere(o, s, task, cluster))
            continue;
        if (s->tasks[task.i].avoid != machine)
            return task;
        if (!bats_is_position(avoided))
            avoided = task;
    }
    if (ready > most)
        return task; /* faster machines have enough to do */
    if (!bats_is_position(avoided))
        note_refusal(o, s, cluster);
    /* If no other slot can take the task, it runs here. */
    bool elsewhere = s->n_open > s->machines[machine].n_slots;
    return elsewhere && s->n_busy > 0 ? BATS_NO_POSITION : avoided;
}

const struct order order_chain = {
    .advisor = {.name = "chain", .memory = sizeof(struct memory)},
    .refusal = BATS_IDLE_ELSEWHERE,
    .begin = begin,
    .next = next,
    .refuses = refuses};

/* ---- without dependencies ---- */

/* A slot never queues more than this, however short the tasks. */
#define DEPTH_MAX 512
/* Tasks searched for one that did not fail on this machine. */
#define LOOK_AHEAD 4

static struct bats_position next_random(void *self, const struct state *s,
                                        uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine;
    uint32_t ready = bats_bag_ready(&s->bag);
    uint32_t look = ready < LOOK_AHEAD ? ready : LOOK_AHEAD;
    for (uint32_t behind = 0; behind < look; behind++) {
        struct bats_position task = bats_bag_peek(&s->bag, behind);
        if (s->tasks[task.i].avoid != machine)
            return task;
    }
    /* If no other slot can take the task, it runs here. */
    bool elsewhere = s->n_open > s->machines[machine].n_slots;
    return elsewhere && s->n_busy > 0 ? BATS_NO_POSITION
                                      : bats_bag_peek(&s->bag, 0);
}

/* The running task and enough others to fill the prefetch time, at most the
 * slot's share of the remaining tasks, so that no task queues while another
 * slot is idle. */
uint32_t order_depth(const struct state *s, uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    double mean = s->clusters[m->cluster].stats.mean;
    if (mean == 0 || m->marked || s->run.phase == PHASE_SAMPLING)
        return 1;
    uint32_t share = bats_bag_ready(&s->bag) / s->n_open;
    double ahead = (double)s->run.prefetch / mean;
    uint32_t n = ahead < DEPTH_MAX - 1 ? (uint32_t)ahead : DEPTH_MAX - 1;
    return 1 + (n < share ? n : share);
}

const struct order order_random = {.advisor = {.name = "random"},
                                   .refusal = BATS_IDLE_FAILED_HERE,
                                   .next = next_random};
