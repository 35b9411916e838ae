/*
 * expert: a tail that sends instances by a strategy. See bats/strategy.h and
 * instances.h.
 *
 * The tail's tasks are those without a result when it begins. The advisor keeps
 * T_ur, the mean of what has ended in the unreliable pool, until then.
 */
#include "engine/tail/tail.h"

#include <math.h>
#include <stdlib.h>

#include "engine/tail/instances.h"

struct expert {
    struct bats_strategy strategy;
    struct instances instances;
    uint32_t *number;            /* by position: of a task of the tail */
    struct bats_position *tasks; /* by number: its position */
    uint32_t room;               /* tasks that the tail may have */
    double sum;                  /* microseconds; of n results of the */
    uint64_t n;                  /* unreliable pool */
    double t_ur;                 /* since the tail began */
    bool has_begun, has_rushed;
};

static bool is_unreliable(const struct state *s, uint32_t slot)
{
    return s->clusters[slot_cluster(s, slot)].spec.unreliable;
}

static enum pool pool_of(const struct state *s, uint32_t slot)
{
    return is_unreliable(s, slot) ? POOL_UNRELIABLE : POOL_RELIABLE;
}

/* The slots of the machines of a pool that are there. */
static uint32_t pool_slots(const struct state *s, bool unreliable)
{
    double n = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (c->spec.unreliable == unreliable && c->n_machines > 0)
            n += c->n_joined * (double)c->n_slots / c->n_machines;
    }
    return (uint32_t)n;
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct expert *x = self;
    x->strategy = o->strategy;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].spec.unreliable)
            x->room += (uint32_t)s->clusters[i].n_slots;
    if (x->strategy.rush > 0 || x->room > o->n_tasks)
        x->room = o->n_tasks;
    x->number = malloc(o->n_tasks * sizeof *x->number);
    x->tasks = malloc((x->room + 1) * sizeof *x->tasks);
    return instances_init(&x->instances, x->room) && x->number && x->tasks
               ? 0
               : bats_error_set(err, BATS_ENOMEM, "no memory for the tail");
}

static void release(void *self)
{
    struct expert *x = self;
    instances_release(&x->instances);
    free(x->number);
    free(x->tasks);
}

static bool learn(void *self, const struct state *s, size_t cluster,
                  bats_time runtime)
{
    struct expert *x = self;
    if (s->clusters[cluster].spec.unreliable) {
        x->sum += (double)runtime;
        x->n++;
    }
    return true;
}

/* The mean runtime in a pool as the clusters file says; 0: it does not. */
static double expected(const struct state *s, bool unreliable)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        double time = cluster_runtime(c);
        if (c->spec.unreliable != unreliable || time <= 0)
            continue;
        sum += time * (double)c->n_slots;
        n += (double)c->n_slots;
    }
    return n > 0 ? sum / n : 0;
}

/* Where nothing is known of it, a window. */
static double find_t_ur(const struct expert *x, const struct state *s)
{
    double guess = expected(s, true);
    if (x->has_begun)
        return x->t_ur;
    return x->n > 0    ? x->sum / (double)x->n
           : guess > 0 ? guess
                       : (double)s->window;
}

static bats_time limit(const void *self, const struct state *s, size_t cluster)
{
    const struct expert *x = self;
    const struct bats_span throughput = {.of_tur = BATS_THROUGHPUT_D};
    if (!s->clusters[cluster].spec.unreliable)
        return BATS_NEVER;
    bats_time time = bats_span_time(
        s->in_tail ? &x->strategy.d : &throughput, find_t_ur(x, s));
    return time > 0 ? time : 1;
}

/* ---- the begin of the tail ---- */

static struct instances_rules rules_of(const struct expert *x,
                                       const struct state *s)
{
    uint32_t n_ur = pool_slots(s, true), all = pool_slots(s, false);
    double used = ceil(x->strategy.m_r * n_ur - 1e-9);
    return (struct instances_rules){
        .n = x->strategy.n,
        .t = bats_span_time(&x->strategy.t, x->t_ur),
        .n_reliable = used < all ? (uint32_t)used : all,
        .no_unreliable = n_ur == 0,
        .both = x->strategy.both};
}

/* Of strategy B: what is left of its amount pays for all tasks without a result
 * in the reliable pool. */
static bool may_rush(const struct expert *x, const struct state *s)
{
    double time = expected(s, false), price = 0;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (!s->clusters[i].spec.unreliable)
            price = fmax(price, (double)s->clusters[i].price);
    if (time <= 0)
        time = find_t_ur(x, s);
    return x->strategy.rush > 0 && !x->has_rushed &&
           bats_bag_left(&s->bag) * (time / (double)s->window) * price <=
               (double)(x->strategy.rush - s->ledger.charged);
}

static bool begins(const void *self, const struct state *s)
{
    const struct expert *x = self;
    uint32_t left = bats_bag_left(&s->bag);
    return !x->strategy.only_reliable && left > 0 &&
           (left < pool_slots(s, true) || may_rush(x, s)) && left <= x->room;
}

/* What waits in the bag is due. */
static bats_time sent_at(const struct state *s, struct bats_position task)
{
    uint32_t slot = s->tasks[task.i].slot;
    return slot == NO_SLOT ? -BATS_LONGEST : s->slots[slot].started;
}

/* The order in which their last instances were sent. */
static void sort(struct expert *x, const struct state *s, uint32_t n)
{
    for (uint32_t i = 1; i < n; i++) {
        struct bats_position task = x->tasks[i];
        bats_time time = sent_at(s, task);
        uint32_t k = i;
        for (; k > 0 && sent_at(s, x->tasks[k - 1]) > time; k--)
            x->tasks[k] = x->tasks[k - 1];
        x->tasks[k] = task;
    }
}

static void begin_tail(void *self, const struct state *s)
{
    struct expert *x = self;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->bag.n; i++) {
        const struct bats_position task = {i};
        x->number[i] = NO_INSTANCE;
        if (!bats_bag_has_result(&s->bag, task) &&
            s->bag.state[i] != BATS_TASK_LEFT_OUT)
            x->tasks[n++] = task;
    }
    sort(x, s, n);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slot = s->tasks[x->tasks[i].i].slot;
        x->number[x->tasks[i].i] = i;
        x->instances.tasks[i] = (struct instances_task){
            .last = sent_at(s, x->tasks[i]),
            .is_reliable = slot != NO_SLOT && !is_unreliable(s, slot)};
    }
    x->t_ur = find_t_ur(x, s);
    x->has_begun = true;
    const struct instances_rules rules = rules_of(x, s);
    instances_begin(&x->instances, &rules, n);
}

/* ---- in the tail ---- */

static void update(void *self, const struct state *s)
{
    struct expert *x = self;
    const struct instances_rules rules = rules_of(x, s);
    instances_change(&x->instances, &rules);
    if (may_rush(x, s)) {
        x->has_rushed = true;
        instances_rush(&x->instances);
    }
    instances_update(&x->instances, s->now);
}

/* It may be sent now: what was told to stop has to answer first. */
static bool is_startable(const struct state *s, struct bats_position task)
{
    return s->bag.state[task.i] == BATS_TASK_PENDING ||
           task_may_be_replicated(s, task);
}

static struct bats_position next(void *self, const struct state *s,
                                 uint32_t slot)
{
    struct expert *x = self;
    enum pool pool = pool_of(s, slot);
    uint32_t number;
    for (uint32_t i = 0;
         (number = instances_peek(&x->instances, pool, i)) != NO_INSTANCE;
         i++) {
        struct bats_position task = x->tasks[number];
        if (!is_startable(s, task))
            continue;
        instances_send(&x->instances, pool, i, s->now);
        return task;
    }
    return BATS_NO_POSITION;
}

static void ended(void *self, const struct state *s, uint32_t slot,
                  struct bats_position task, bool has_result, bool noticed)
{
    struct expert *x = self;
    if (!x->has_begun || x->number[task.i] == NO_INSTANCE)
        return;
    instances_end(&x->instances, x->number[task.i], pool_of(s, slot),
                  has_result);
    if (noticed)
        instances_hurry(&x->instances, x->number[task.i]);
}

static bats_time wakeup(void *self)
{
    struct expert *x = self;
    return x->has_begun ? instances_wakeup(&x->instances) : BATS_NEVER;
}

const struct tail tail_expert = {
    .advisor = {"expert", sizeof(struct expert), init, release},
    .learn = learn,
    .begins = begins,
    .begin_tail = begin_tail,
    .limit = limit,
    .update = update,
    .next = next,
    .ended = ended,
    .wakeup = wakeup};
