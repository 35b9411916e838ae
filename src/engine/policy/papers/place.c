/* place: see place.h. */
#include "engine/policy/papers/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/heap.h"
#include "util/larger.h"

/* Relative tolerance for rounding errors in money and time. */
#define NOISE 1e-9
/* A ready task; sorted by ascending `first`, then `second`, then by descending
 * height. */
struct ready {
    double first, second;
    int64_t height;
    uint32_t workflow;
    struct bats_position task;
};

/* Money of a workflow, or of the run. */
struct spending {
    double left, rest; /* rest: least cost of the tasks not begun */
    double squares;    /* their sum, with the running tasks */
};

/* A round is repeated when one of these has changed. */
struct stamp {
    bats_time now;
    uint32_t ready, busy, open, blocked, ranked, noticed;
};

/* Each cluster makes two offers: a used machine and a new one. */
#define OFFERS (2 * BATS_CLUSTERS_MAX)

/* The slots of an offer as a heap by the time when they are free. */
struct offered {
    struct bats_heap_item *item;
    uint32_t n;
};

/* A round ends after this many tasks in a row without an offer, unless smaller
 * ones may have one; or after so many that wait for a busy machine. */
#define REFUSED 64
#define WAITING 256

/* Tasks that wait for a busy slot of a cluster, in the order of the round. */
struct waiting {
    uint32_t next, n;
    struct bats_position task[WAITING];
};

/* The answer for an idle slot; void in other rounds. */
struct answer {
    struct bats_position task;
    uint32_t round;
};

struct place {
    const struct place_kind *kind;
    struct place_rule rule;
    double *least;          /* by node: least time */
    uint32_t ranked, gone;  /* weights and lost machines when the rule was
                               made */
    uint32_t results;       /* and DONE tasks then */
    struct ready *ready;    /* the round's tasks, in order, if there are
                               several workflows, or needs */
    struct bats_heap next;  /* otherwise: places in the bag's order, highest
                               task first, of those whose parents there are
                               taken */
    struct spending *money; /* by workflow; the last entry is the run's */
    uint32_t turn;          /* the workflow in turn */
    uint32_t first;         /* machine to look at first, in each cluster */
    struct bats_heap_item *slots; /* all heaps */
    struct bats_stock *room;      /* by node: not placed in the round; NULL:
                                     tasks need just a slot */
    struct offered offered[OFFERS];
    double *category_cost; /* by category: least cost of a task in the round;
                              < 0: not known yet */
    uint32_t *example;     /* by category: one of its tasks */
    struct answer *answer; /* by slot */
    uint32_t n_answers[BATS_CLUSTERS_MAX]; /* of the round, by cluster */
    struct waiting waiting[BATS_CLUSTERS_MAX];
    bool lasts;          /* rounds also serve later events */
    uint32_t round, age; /* rounds so far; stamps since the last one */
    uint32_t work;       /* slots offered and tasks placed in it */
    int64_t lowest;      /* least height of these */
    uint32_t n_released; /* of the bag's, those looked at */
    bool is_overtaken;   /* a higher task became ready after the round */
    bool is_news;  /* the stamp has changed, and there was no round yet */
    bool gives_up; /* the last round ended before its tasks and slots */
    struct stamp stamp;
    bool keeps;       /* a machine is kept free for a task of several slots */
    bool is_late;     /* a task had no offer in time in the last round */
    bool is_dear;     /* a task had no affordable offer in the last round */
    void *blocks[12]; /* all memory */
    size_t n_blocks;
};

/* ---- costs of tasks ---- */

/* Least time of a task, or its least cost. */
static double least_of(const struct state *s, uint32_t task, bool cost)
{
    double least = INFINITY;
    for (size_t c = 0; c < s->n_clusters; c++) {
        if (!cluster_is_there(&s->clusters[c]))
            continue;
        double time = place_runtime(s, task, c);
        least = fmin(least, cost ? place_cost(s, task, time, c) : time);
    }
    return isfinite(least) ? least : 0;
}

/* The same in a round: if runtimes are learned, tasks of a category cost the
 * same. */
static double least_cost_now(const struct place *p, const struct state *s,
                             uint32_t task)
{
    double *known = &p->category_cost[category_of(s, task)];
    if (s->known.categories.told)
        return least_of(s, task, true);
    if (*known < 0)
        *known = least_of(s, task, true);
    return *known;
}

/* ---- workflows ---- */

/* Looks at every task. */
static void count_tasks(struct place *p, const struct state *s)
{
    for (uint32_t i = 0; i < s->bag.n; i++) {
        if (!place_is_left(s, i))
            continue;
        struct spending *own = &p->money[place_workflow(s, s->bag.index[i])];
        double cost = least_cost_now(p, s, s->bag.index[i]);
        own->rest += cost;
        own->squares += cost * cost;
    }
    for (uint32_t i = 0; i < s->n_slots; i++)
        if (s->slots[i].n_tasks > 0) {
            uint32_t flow =
                place_workflow(s, s->bag.index[s->slots[i].head.i]);
            p->money[flow].squares += place_square(s, i, flow);
        }
}

/* A task of the category: another one than before if that has grown. */
static uint32_t example_of(struct place *p, const struct state *s,
                           uint32_t category)
{
    uint32_t *example = &p->example[category];
    for (uint32_t i = 0; category_of(s, *example) != category && i < s->bag.n;
         i++)
        if (category_of(s, i) == category)
            *example = i;
    return *example;
}

/* The same of one workflow whose runtimes are learned, without the squares:
 * nothing doubts learned runtimes. */
static void count_categories(struct place *p, const struct state *s)
{
    const struct categories *k = &s->known.categories;
    double *rest = &p->money[0].rest;
    for (uint32_t i = 0; k->n > 1 && i < s->n_slots; i++)
        if (s->slots[i].n_tasks > 0 && !s->slots[i].is_replica)
            *rest -= least_cost_now(p, s, s->bag.index[s->slots[i].head.i]);
    for (uint32_t i = 0; i < k->n; i++) {
        uint32_t left =
            k->n > 1 ? k->left[i]
                     : bats_bag_left(&s->bag) - bats_bag_running(&s->bag);
        if (left > 0)
            *rest += left * least_cost_now(p, s, example_of(p, s, i));
    }
}

static void count_money(struct place *p, const struct state *s)
{
    uint32_t n = place_workflows(s);
    for (uint32_t i = 0; i < s->known.categories.n; i++)
        p->category_cost[i] = -1;
    for (uint32_t i = 0; i <= n; i++)
        p->money[i] = (struct spending){.left = place_money(s, i)};
    if (s->money.purses.n > 0 || s->known.categories.told)
        count_tasks(p, s);
    else
        count_categories(p, s);
    for (uint32_t i = 0; i < n; i++) {
        p->money[n].rest += p->money[i].rest;
        p->money[n].squares += p->money[i].squares;
    }
}

/* Time to save a task's state, if machines may be reclaimed. */
static double migration(const struct state *s)
{
    for (size_t c = 0; c < s->n_clusters; c++)
        if (cluster_is_there(&s->clusters[c]) &&
            s->clusters[c].spec.reclaimable)
            return (double)s->run.preempt_lead;
    return 0;
}

static void make_deadlines(struct place *p, const struct state *s)
{
    const struct bats_graph *g = s->bag.graph;
    double moved = migration(s);
    for (uint32_t i = 0; i < g->n_nodes; i++) {
        bool is_task = i < g->n_tasks;
        p->least[i] = is_task ? least_of(s, i, false) + moved : 0;
        p->rule.latest[i] =
            is_task ? place_deadline(s, place_workflow(s, i)) : INFINITY;
    }
    place_deadlines(g, s->known.sorted, p->least, p->rule.latest);
}

/* Per workflow, rebuild the rule at most this often because of new results. */
#define RULES 32

static void update_rule(struct place *p, const struct state *s)
{
    uint32_t gone = s->n_lost + s->n_quarantined;
    uint32_t results = s->bag.count[BATS_TASK_DONE];
    bool is_news = p->kind->make && results - p->results >
                                        s->bag.n / RULES / place_workflows(s);
    if (p->ranked == s->known.categories.n_ranked && p->gone == gone &&
        !is_news)
        return;
    p->ranked = s->known.categories.n_ranked;
    p->gone = gone;
    p->results = results;
    if (p->kind->make)
        p->kind->make(s, &p->rule);
    else
        make_deadlines(p, s);
}

/* ---- a round ---- */

static int by_keys(const void *left, const void *right)
{
    const struct ready *a = left, *b = right;
    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    if (a->second != b->second)
        return a->second < b->second ? -1 : 1;
    if (a->height != b->height)
        return a->height > b->height ? -1 : 1;
    return a->task.i > b->task.i ? -1 : a->task.i < b->task.i;
}

/* A machine that has had no task yet. */
static bool is_new(const struct state *s, uint32_t machine)
{
    return s->rest[machine].began_at == BATS_NEVER;
}

static double free_at(const struct place *p, const struct state *s,
                      uint32_t slot)
{
    uint32_t machine = s->slots[slot].machine;
    bool is_told = s->rest[machine].taken_at != BATS_NEVER ||
                   (s->n_noticed > 0 && is_new(s, machine) &&
                    s->clusters[slot_cluster(s, slot)].spec.reclaimable);
    if (is_told || (s->slots[slot].n_tasks > 0 && !p->kind->waits))
        return INFINITY;
    return (double)s->now + place_rest(s, slot);
}

/* Offer of the slot; new machines differ only if they may be reclaimed. */
static uint32_t offer_of(const struct state *s, uint32_t slot)
{
    uint32_t c = slot_cluster(s, slot);
    return 2 * c + (s->clusters[c].spec.reclaimable &&
                    is_new(s, s->slots[slot].machine));
}

/* Offers the slot, if it is or will be free. */
static bool offer(struct place *p, const struct state *s, uint32_t slot)
{
    struct offered *o = &p->offered[offer_of(s, slot)];
    double free = free_at(p, s, slot);
    if (!isfinite(free) || slot_lead(s, slot) != slot)
        return false;
    bats_heap_up(o->item, NULL, o->n++,
                 (struct bats_heap_item){(int64_t)free, slot});
    p->work++;
    return true;
}

/* Upper bounds for each cluster: of idle slots beyond one for each task, where
 * all are alike or not; IDLE_MOST in all after a round that gave up; and of
 * machines searched for busy ones, from another one on in each round. */
#define IDLE_SPARE 8
#define IDLE_MOST 128
#define MACHINES_MOST 64

/* Looks at a cluster's slots; returns the number of idle ones. */
static uint32_t look_at(struct place *p, const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    bool differ = p->room || p->kind->make || c->spec.reclaimable;
    uint32_t idle = 0, most = differ ? IDLE_MOST : IDLE_SPARE;
    if (p->gives_up && !p->room)
        most = IDLE_MOST;
    else
        most += bats_bag_ready(&s->bag);
    for (uint32_t at = s->idle.of[cluster].first; at != NO_SLOT && idle < most;
         at = s->slots[at].next_idle)
        if (s->slots[at].n_tasks == 0)
            idle += offer(p, s, at);
    uint32_t machines = p->kind->waits ? c->n_machines : 0;
    for (uint32_t i = 0; i < machines && i < MACHINES_MOST; i++) {
        const struct machine *m =
            &s->machines[s->members[c->first_machine +
                                    (p->first + i) % c->n_machines]];
        for (uint32_t k = 0; k < m->n_slots && m->n_busy > 0; k++)
            if (s->slots[m->first_slot + k].n_tasks > 0)
                offer(p, s, m->first_slot + k);
    }
    return idle;
}

/* Looks at the slots; returns the number of idle ones. */
static uint32_t look(struct place *p, const struct state *s)
{
    uint32_t idle = 0;
    for (size_t i = 0; i < 2 * s->n_clusters; i++)
        p->offered[i].n = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        idle += look_at(p, s, i);
    p->first += MACHINES_MOST;
    return idle;
}

/* The task may begin in the slot, or wait for it. */
static bool may_take(const struct place *p, const struct state *s,
                     uint32_t slot, struct bats_position task)
{
    uint32_t id = s->slots[slot].machine;
    if (!p->room)
        return true;
    const struct bats_need *need = need_of(s, task);
    return slot_is_free(s, slot)
               ? need_fits_in(s, node_of(s, slot), &p->room[node_of(s, slot)],
                              need)
               : bats_need_room(&s->needs.spec[id], need) > 0;
}

/* Place in the heap of the slot that is free first, of another machine than
 * `avoid`; SIZE_MAX: none. */
static size_t find_slot(const struct place *p, const struct state *s,
                        const struct offered *o, uint32_t avoid,
                        struct bats_position task)
{
    size_t best = SIZE_MAX;
    for (uint32_t i = 0; i < o->n; i++) {
        uint32_t slot = o->item[i].id;
        if (s->slots[slot].machine != avoid && may_take(p, s, slot, task) &&
            (best == SIZE_MAX || bats_heap_before(o->item[i], o->item[best])))
            best = i;
        if (best == 0)
            break;
    }
    return best;
}

static double risk(const struct state *s, uint32_t machine, double finish)
{
    const struct bats_cluster *c =
        &s->clusters[s->machines[machine].cluster].spec;
    double began = is_new(s, machine) ? (double)s->now
                                      : (double)s->rest[machine].began_at;
    return c->reclaimable
               ? bats_lifetime_cdf(&c->lifetime, (bats_time)(finish - began))
               : 0;
}

/* A free machine of a cluster not tried yet. */
static bool is_untried(const struct state *s, uint32_t slot)
{
    const struct cluster *c = &s->clusters[slot_cluster(s, slot)];
    return !s->known.categories.told && cluster_runtime(c) == 0 &&
           c->begun == 0 && s->slots[slot].n_tasks == 0;
}

static double share_of(const struct spending *m)
{
    return m->left > 0 ? m->rest / m->left : 1;
}

static double spare_of(const struct spending *m, double doubt)
{
    return m->left - m->rest - doubt * sqrt(m->squares);
}

static struct place_limits limits_of(const struct place *p,
                                     const struct state *s, uint32_t number,
                                     uint32_t workflow)
{
    const struct spending *own = &p->money[workflow],
                          *run = &p->money[place_workflows(s)];
    bool doubts = p->kind->make && !p->rule.price[workflow].is_late;
    double doubt = doubts ? place_doubt(s) : 0;
    double spare = fmin(spare_of(own, doubt), spare_of(run, doubt));
    if (p->kind->make && spare < 0) /* the rest may turn out cheaper */
        spare = 0;
    return (struct place_limits){
        .cost = (least_cost_now(p, s, number) + spare) * (1 + NOISE) + 1,
        .finish = p->rule.latest[number] * (1 + NOISE),
        .share = fmax(share_of(own), share_of(run)),
        .price = p->rule.price[workflow].price};
}

/* The slot at `at` of the heap got a task until `finish`. */
static void use(const struct place *p, struct offered *o, size_t at,
                double finish)
{
    struct bats_heap_item used = {
        finish < (double)BATS_LONGEST ? (int64_t)finish : BATS_LONGEST,
        o->item[at].id};
    if (!p->kind->waits)
        used = o->item[--o->n];
    if (at < o->n)
        bats_heap_down(o->item, NULL, o->n, (uint32_t)at, used);
}

/* Chooses among the offers. Returns the slot, or NO_SLOT. */
static uint32_t choose(struct place *p, const struct state *s,
                       const struct ready *r, double *price)
{
    struct place_offer offer[OFFERS];
    uint32_t slots[OFFERS];
    size_t at[OFFERS];
    uint32_t avoid = s->n_busy > 0 ? s->tasks[r->task.i].avoid : NO_MACHINE;
    uint32_t number = s->bag.index[r->task.i];
    struct place_limits limits = limits_of(p, s, number, r->workflow);
    size_t n = 0, untried = PLACE_NONE;
    for (size_t i = 0; i < 2 * s->n_clusters; i++) {
        const struct offered *o = &p->offered[i];
        at[n] = find_slot(p, s, o, avoid, r->task);
        if (at[n] == SIZE_MAX)
            continue;
        slots[n] = o->item[at[n]].id;
        double time = place_runtime(s, number, i / 2);
        double finish = (double)o->item[at[n]].time + time;
        offer[n] =
            (struct place_offer){finish, place_cost(s, number, time, i / 2),
                                 risk(s, s->slots[slots[n]].machine, finish)};
        p->is_dear |= offer[n].cost > limits.cost;
        p->is_late |= offer[n].finish > limits.finish;
        if (p->kind->make && untried == PLACE_NONE &&
            offer[n].cost <= limits.cost && is_untried(s, slots[n]))
            untried = n;
        n++;
    }
    size_t best =
        untried != PLACE_NONE ? untried : p->kind->choose(offer, n, &limits);
    if (best == PLACE_NONE)
        return NO_SLOT;
    *price = offer[best].cost;
    use(p, &p->offered[offer_of(s, slots[best])], at[best],
        offer[best].finish);
    return slots[best];
}

/* The round's tasks are sorted first: the bag's own order is not theirs. */
static bool is_listed(const struct state *s)
{
    return s->money.purses.n > 0 || s->bag.group;
}

/* Orders tasks by turns. In: tasks grouped by workflow, the highest first. */
static void take_turns(struct place *p, const struct state *s, uint32_t n)
{
    uint32_t flows = place_workflows(s), turn = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct ready *r = &p->ready[i];
        turn = i > 0 && r[-1].workflow == r->workflow ? turn + 1 : 0;
        bool is_late = place_deadline(s, r->workflow) < (double)s->now;
        r->first = is_late ? (double)INFINITY : turn;
        r->second = p->kind->turn == PLACE_BY_SLACK
                        ? p->rule.latest[s->bag.index[r->task.i]]
                        : (r->workflow + flows - p->turn) % flows;
    }
    qsort(p->ready, n, sizeof *p->ready, by_keys);
}

/* The bag's order is a heap by height. */
static void open_place(struct place *p, const struct state *s, uint32_t place)
{
    if (place < bats_bag_ready(&s->bag))
        bats_heap_set(
            &p->next, place,
            -s->known.height[s->bag.index[s->bag.groups[0].order[place].i]]);
}

/* The i-th task of the round. */
static struct ready next_ready(struct place *p, const struct state *s,
                               uint32_t i)
{
    uint32_t place = 0;
    if (is_listed(s))
        return p->ready[i];
    bats_heap_first(&p->next, &place);
    bats_heap_remove(&p->next, place);
    open_place(p, s, 2 * place + 1);
    open_place(p, s, 2 * place + 2);
    return (struct ready){.task = s->bag.groups[0].order[place]};
}

static void gather(struct place *p, const struct state *s)
{
    uint32_t n = bats_bag_ready(&s->bag);
    if (!is_listed(s)) {
        while (p->next.n > 0)
            bats_heap_remove(&p->next, p->next.item[p->next.n - 1].id);
        open_place(p, s, 0);
        return;
    }
    bool is_due = p->kind->turn == PLACE_BY_DEADLINE;
    uint32_t g = 0, at = 0;
    for (uint32_t i = 0; i < n; i++, at++) {
        for (; at == s->bag.groups[g].n_ready; at = 0)
            g++;
        struct bats_position task = s->bag.groups[g].order[at];
        uint32_t flow = place_workflow(s, s->bag.index[task.i]);
        double due = is_due ? place_deadline(s, flow) : 0;
        p->ready[i] =
            (struct ready){.first = due < (double)s->now ? INFINITY : due,
                           .second = flow,
                           .height = s->known.height[s->bag.index[task.i]],
                           .workflow = flow,
                           .task = task};
    }
    qsort(p->ready, n, sizeof *p->ready, by_keys);
    if (!is_due && s->money.purses.n > 0)
        take_turns(p, s, n);
}

/* Books a task of this least cost that begins at this price. */
static void spend(struct spending *m, double price, double least)
{
    m->left -= price;
    m->rest -= least;
    m->squares += price * price - least * least;
}

/* The task waits for the slot, which has an earlier one. The first task of
 * several slots that waits keeps others from its machine, which would otherwise
 * be empty only when none of them is left. */
static void wait_for(struct place *p, const struct state *s, uint32_t slot,
                     struct bats_position task)
{
    struct waiting *w = &p->waiting[slot_cluster(s, slot)];
    if (p->lasts && w->n < WAITING)
        w->task[w->n++] = task;
    if (!p->room || p->keeps || need_of(s, task)->cores == 1)
        return;
    p->room[node_of(s, slot)].cores = 0;
    p->keeps = true;
}

/* A round that has placed this many tasks before all idle slots have one places
 * as many again, for later events. */
#define AHEAD 16
/* A round comes only when events since the last one are this fraction of the
 * slots and tasks that it looked at: few events where there are few. */
#define WORK 128

static void begin_round(struct place *p, const struct state *s)
{
    p->round++;
    p->age = p->work = 0;
    p->is_late = p->is_dear = p->keeps = p->is_news = p->is_overtaken = false;
    p->n_released = s->bag.n_released;
    p->lowest = INT64_MIN;
    for (size_t c = 0; c < s->n_clusters; c++)
        p->n_answers[c] = p->waiting[c].next = p->waiting[c].n = 0;
    update_rule(p, s);
}

static void make_round(struct place *p, const struct state *s)
{
    uint32_t n = bats_bag_ready(&s->bag), refused = 0, waiting = 0, placed = 0;
    begin_round(p, s);
    uint32_t idle = look(p, s), most = n;
    if (idle == 0)
        return;
    for (uint32_t k = 0; p->room && k < s->needs.first[s->n_machines]; k++)
        p->room[k] = s->needs.nodes[k].free;
    count_money(p, s);
    gather(p, s);
    while (placed < most && placed < n && refused < REFUSED &&
           waiting < WAITING) {
        const struct ready r = next_ready(p, s, placed++);
        struct spending *own = &p->money[r.workflow],
                        *run = &p->money[place_workflows(s)];
        double price = 0, least = least_cost_now(p, s, s->bag.index[r.task.i]);
        uint32_t slot = choose(p, s, &r, &price);
        p->lowest = s->known.height[s->bag.index[r.task.i]];
        refused = slot == NO_SLOT && !p->room ? refused + 1 : 0;
        if (slot == NO_SLOT)
            continue;
        spend(own, price, least);
        spend(run, price, least);
        if (s->slots[slot].n_tasks > 0 || p->answer[slot].round == p->round) {
            wait_for(p, s, slot, r.task);
            waiting += !p->room;
            continue;
        }
        if (p->room)
            need_count(&p->room[node_of(s, slot)], need_of(s, r.task), -1);
        p->answer[slot] = (struct answer){r.task, p->round};
        p->n_answers[slot_cluster(s, slot)]++;
        waiting = 0;
        p->turn = (r.workflow + 1) % place_workflows(s);
        if (--idle == 0)
            most = !p->lasts || placed < AHEAD ? placed : 2 * placed;
    }
    p->work += placed;
    if (placed == n || is_listed(s))
        p->lowest = INT64_MIN;
    p->gives_up = idle > 0 && (refused >= REFUSED || waiting >= WAITING);
}

/* ---- answers to the engine ---- */

static struct stamp stamp_of(const struct state *s)
{
    return (struct stamp){.now = s->now,
                          .ready = bats_bag_ready(&s->bag),
                          .busy = s->n_busy,
                          .open = s->n_open,
                          .blocked = s->bag.count[BATS_TASK_BLOCKED],
                          .ranked = s->known.categories.n_ranked,
                          .noticed = s->n_noticed};
}

/* The slot's task in the round, or the first that waits for its cluster. */
static struct bats_position answer_for(struct place *p, const struct state *s,
                                       uint32_t slot)
{
    struct waiting *w = &p->waiting[slot_cluster(s, slot)];
    struct bats_position task = p->answer[slot].task;
    if (p->answer[slot].round == p->round) {
        p->answer[slot].round = 0;
        p->n_answers[slot_cluster(s, slot)]--;
        if (s->bag.state[task.i] == BATS_TASK_PENDING)
            return task;
    }
    while (w->next < w->n &&
           s->bag.state[w->task[w->next].i] != BATS_TASK_PENDING)
        w->next++;
    if (w->next == w->n || !isfinite(free_at(p, s, slot)))
        return BATS_NO_POSITION;
    task = w->task[w->next];
    if (s->n_busy > 0 && s->tasks[task.i].avoid == s->slots[slot].machine)
        return BATS_NO_POSITION;
    w->next++;
    return task;
}

/* The answers of the last round are void. */
static bool is_void(struct place *p, const struct state *s,
                    const struct stamp *now)
{
    while (p->n_released < s->bag.n_released)
        p->is_overtaken |=
            s->known.height[s->bag.released[p->n_released++]] >= p->lowest;
    return now->open != p->stamp.open || now->ranked != p->stamp.ranked ||
           now->noticed != p->stamp.noticed || s->n_busy == 0 || !p->lasts ||
           (p->is_overtaken && p->age * WORK >= p->work);
}

struct bats_position place_place(void *self, const struct state *s,
                                 uint32_t slot)
{
    struct place *p = ((struct place_memory *)self)->place;
    const struct stamp now = stamp_of(s);
    if (memcmp(&p->stamp, &now, sizeof now) != 0) {
        p->age++;
        p->is_news = true;
        if (is_void(p, s, &now))
            make_round(p, s);
    }
    struct bats_position task = answer_for(p, s, slot);
    if (!bats_is_position(task) && p->is_news) {
        p->is_news = false;
        if (p->age * WORK >= p->work) {
            make_round(p, s);
            task = answer_for(p, s, slot);
        }
    }
    p->stamp = stamp_of(s);
    if (bats_is_position(task)) { /* the round stays valid after it has
                                     begun */
        p->stamp.ready--;
        p->stamp.busy++;
    }
    return task;
}

bool place_is_over(const void *self, const struct state *s, uint32_t cluster)
{
    const struct place *p = ((const struct place_memory *)self)->place;
    const struct stamp now = stamp_of(s);
    return p->n_answers[cluster] == 0 &&
           p->waiting[cluster].next == p->waiting[cluster].n &&
           memcmp(&p->stamp, &now, sizeof now) == 0;
}

/* Each offer has room for all slots of its cluster. */
static void divide(struct place *p, const struct state *s)
{
    uint32_t n[BATS_CLUSTERS_MAX] = {0};
    struct bats_heap_item *item = p->slots;
    for (uint32_t i = 0; i < s->n_slots; i++)
        n[slot_cluster(s, i)]++;
    for (size_t i = 0; i < 2 * s->n_clusters; item += n[i++ / 2])
        p->offered[i].item = item;
}

/* Memory for n elements, which goes with the policy; *ok: there was enough. */
static void *room(struct place *p, size_t n, size_t size, bool *ok)
{
    void *block = calloc(n, size);
    p->blocks[p->n_blocks++] = block;
    *ok &= block != NULL;
    return block;
}

int place_init(void *self, const struct state *s,
               const struct place_kind *kind, struct bats_error *err)
{
    struct place *p = calloc(1, sizeof *p);
    uint32_t nodes = s->bag.graph->n_nodes, flows = place_workflows(s);
    uint32_t kinds = s->known.categories.n, tasks = s->bag.n;
    bool ok = true;
    ((struct place_memory *)self)->place = p;
    if (!p)
        return bats_no_memory(err);
    p->kind = kind;
    p->lasts = kind->waits && !kind->make && !s->needs.list;
    p->ranked = UINT32_MAX;
    p->stamp.now = -1;
    p->rule.latest = room(p, nodes, sizeof *p->rule.latest, &ok);
    p->rule.price = room(p, flows, sizeof *p->rule.price, &ok);
    p->least = room(p, nodes, sizeof *p->least, &ok);
    p->ready = room(p, is_listed(s) ? tasks : 1, sizeof *p->ready, &ok);
    p->money = room(p, flows + 1, sizeof *p->money, &ok);
    p->slots = room(p, 2 * (size_t)s->n_slots, sizeof *p->slots, &ok);
    p->category_cost = room(p, kinds, sizeof *p->category_cost, &ok);
    p->example = room(p, kinds, sizeof *p->example, &ok);
    p->answer = room(p, s->n_slots, sizeof *p->answer, &ok);
    if (s->needs.list)
        p->room = room(p, s->needs.first[s->n_machines], sizeof *p->room, &ok);
    if (!bats_heap_init(&p->next, is_listed(s) ? 1 : tasks) || !ok)
        return bats_no_memory(err);
    divide(p, s);
    for (uint32_t i = 0; i < tasks; i++)
        p->example[category_of(s, i)] = i;
    return 0;
}

void place_release(void *self)
{
    struct place *p = ((struct place_memory *)self)->place;
    for (size_t i = 0; p && i < p->n_blocks; i++)
        free(p->blocks[i]);
    if (p)
        bats_heap_release(&p->next);
    free(p);
}

bool place_is_late(void *self, const struct state *s)
{
    const struct place *p = ((struct place_memory *)self)->place;
    return p->is_late && !p->is_dear;
}
