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

/* Upper bounds: of tasks compared, and for each cluster, of the slots that they
 * are compared with and of the machines searched for these. */
#define TASKS_MOST BATS_BAG_AHEAD
#define SLOTS_MOST 32
#define MACHINES_MOST 64
/* A cluster counts as faster if tasks take less than this fraction of the
 * time; means of equal clusters differ a little. */
#define CLEARLY 0.9

/* Counts on which a refusal depends. It holds within a pass over idle slots
 * until a task begins or a slot is no longer idle, for any machine of the
 * cluster. No task ready: there is none. */
struct refusal {
    uint32_t ready, busy, idle;
};

struct memory {
    /* By cluster: heaps of slots, each as the microseconds until it is free
     * and its machine. */
    struct bats_heap_item slots[BATS_CLUSTERS_MAX][SLOTS_MOST];
    uint32_t n[BATS_CLUSTERS_MAX];
    struct refusal refusal[BATS_CLUSTERS_MAX];
};

static void add(struct memory *o, const struct state *s, uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine;
    const struct machine *m = &s->machines[machine];
    if (m->state == MACHINE_ACTIVE && !m->marked && !m->quarantined)
        bats_heap_up(o->slots[m->cluster], NULL, o->n[m->cluster]++,
                     (struct bats_heap_item){s->slots[slot].n_tasks > 0
                                                 ? (int64_t)slot_rest(s, slot)
                                                 : 0,
                                             machine});
}

/* Collects slots of a faster cluster's machines that stay in use: those idle,
 * and unless these suffice for all tasks compared, those that are busy. */
static void look_at(struct memory *o, const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    uint32_t *n = &o->n[cluster], at = s->idle.of[cluster].first;
    for (uint32_t k = 0; at != NO_SLOT && *n < TASKS_MOST && k < SLOTS_MOST;
         k++, at = s->slots[at].next_idle)
        if (s->slots[at].n_tasks == 0)
            add(o, s, at);
    uint32_t machines = *n < TASKS_MOST ? c->n_machines : 0;
    for (uint32_t i = 0; i < machines && i < MACHINES_MOST; i++) {
        const struct machine *m =
            &s->machines[s->members[c->first_machine + i]];
        for (uint32_t k = 0; k < m->n_slots && m->n_busy > 0; k++)
            if (*n < SLOTS_MOST && s->slots[m->first_slot + k].n_tasks == 1)
                add(o, s, m->first_slot + k);
    }
}

/* Collects slots of clusters where tasks are clearly faster. */
static void look(struct memory *o, const struct state *s, uint32_t cluster)
{
    const double *factor = s->known.categories.factor;
    for (size_t c = 0; c < s->n_clusters; c++) {
        o->n[c] = 0;
        if (factor[c] < CLEARLY * factor[cluster] &&
            s->clusters[c].n_active > 0)
            look_at(o, s, c);
    }
}

/* The cluster's slot that is free first, of those that may take the task. */
static struct bats_heap_item *find_first(struct memory *o,
                                         const struct state *s,
                                         struct bats_position task,
                                         size_t cluster)
{
    struct bats_heap_item *heap = o->slots[cluster], *best = NULL;
    for (uint32_t i = 0; i < o->n[cluster]; i++)
        if ((!best || heap[i].time < best->time) &&
            s->tasks[task.i].avoid != heap[i].id &&
            purse_admits(s, heap[i].id, task)) {
            best = &heap[i];
            if (i == 0)
                break;
        }
    return best;
}

/* Assigns the task to a faster slot than this cluster's, if it ends sooner
 * there. False: none is better. */
static bool goes_elsewhere(struct memory *o, const struct state *s,
                           struct bats_position task, uint32_t cluster)
{
    uint32_t index = s->bag.index[task.i];
    double soonest = categories_runtime(s, index, cluster);
    struct bats_heap_item *best = NULL;
    size_t of = cluster;
    for (size_t c = 0; c < s->n_clusters; c++) {
        if (o->n[c] == 0)
            continue;
        double time = categories_runtime(s, index, c);
        struct bats_heap_item *first =
            (double)o->slots[c][0].time + time < soonest
                ? find_first(o, s, task, c)
                : NULL;
        if (first && (double)first->time + time < soonest) {
            soonest = (double)first->time + time;
            best = first;
            of = c;
        }
    }
    if (!best)
        return false;
    bats_heap_down(o->slots[of], NULL, o->n[of],
                   (uint32_t)(best - o->slots[of]),
                   (struct bats_heap_item){(int64_t)soonest, best->id});
    return true;
}

static void begin(void *self)
{
    struct memory *o = self;
    memset(o->refusal, 0, sizeof o->refusal);
}

/* All ready tasks belong elsewhere, for any machine of this cluster. */
static bool refuses(const void *self, const struct state *s, uint32_t cluster)
{
    const struct memory *o = self;
    const struct refusal *r = &o->refusal[cluster];
    return r->ready > 0 && r->ready == bats_bag_ready(&s->bag) &&
           r->busy == s->n_busy && r->idle == s->idle.n;
}

static void note_refusal(struct memory *o, const struct state *s,
                         uint32_t cluster)
{
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
    look(o, s, cluster);
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
    const struct bats_position *order = s->bag.groups[0].order;
    for (uint32_t at = ready; at-- > ready - look;)
        if (s->tasks[order[at].i].avoid != machine)
            return order[at];
    /* If no other slot can take the task, it runs here. */
    bool elsewhere = s->n_open > s->machines[machine].n_slots;
    return elsewhere && s->n_busy > 0 ? BATS_NO_POSITION
                                      : order[ready - 1];
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
