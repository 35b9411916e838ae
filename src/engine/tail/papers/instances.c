#include "engine/tail/papers/instances.h"

#include <math.h>
#include <stdlib.h>

bool instances_init(struct instances *x, uint32_t n)
{
    *x = (struct instances){.n = n, .room = 4};
    /* A task is in a queue at most twice, one entry being void. */
    while (x->room < 2 * n + 2)
        x->room *= 2;
    x->tasks = calloc(n + 1, sizeof *x->tasks);
    x->waiting.list = malloc(x->room * sizeof *x->waiting.list);
    x->since = malloc(x->room * sizeof *x->since);
    for (int i = 0; i < POOLS; i++)
        x->queue[i].list = malloc(x->room * sizeof *x->queue[i].list);
    return x->tasks && x->waiting.list && x->since && x->queue[0].list &&
           x->queue[1].list;
}

void instances_release(struct instances *x)
{
    free(x->tasks);
    free(x->waiting.list);
    free(x->since);
    for (int i = 0; i < POOLS; i++)
        free(x->queue[i].list);
}

struct instances_rules instances_rules(const struct bats_strategy *s,
                                       double t_ur, uint32_t n_unreliable,
                                       uint32_t n_reliable)
{
    double used = ceil(s->m_r * n_unreliable - 1e-9);
    return (struct instances_rules){
        .n = s->n,
        .t = bats_span_time(&s->t, t_ur),
        .n_reliable = used < n_reliable ? (uint32_t)used : n_reliable,
        .no_unreliable = n_unreliable == 0,
        .both = s->both};
}

/* ---- the rings ---- */

static void push(struct instances *x, struct instances_queue *q, uint32_t task)
{
    q->list[(q->first + q->n++) & (x->room - 1)] = task;
}

static uint32_t at(const struct instances *x, const struct instances_queue *q,
                   uint32_t i)
{
    return q->list[(q->first + i) & (x->room - 1)];
}

static void drop_first(struct instances_queue *q)
{
    q->first++;
    q->n--;
}

static bool is_open(const struct instances_task *t)
{
    return !t->is_done && !t->is_queued && !t->is_reliable && !t->is_blocked;
}

static bool is_stale(const struct instances *x, uint32_t i)
{
    const struct instances_queue *q = &x->waiting;
    return x->since[(q->first + i) & (x->room - 1)] !=
           x->tasks[at(x, q, i)].last;
}

/* Makes the task wait from now on. (instances_hurry leaves stale entries
 * behind.) */
static void wait(struct instances *x, uint32_t task)
{
    struct instances_queue *q = &x->waiting;
    uint32_t kept = 0;
    for (uint32_t i = 0; q->n == x->room && i < x->room; i++)
        if (!is_stale(x, i)) {
            uint32_t to = (q->first + kept++) & (x->room - 1);
            q->list[to] = at(x, q, i);
            x->since[to] = x->tasks[q->list[to]].last;
        }
    if (q->n == x->room)
        q->n = kept;
    x->since[(q->first + q->n) & (x->room - 1)] = x->tasks[task].last;
    push(x, q, task);
}

/* The entry is void: the task is done, or already in the reliable pool. */
static bool is_void(const struct instances_task *t)
{
    return t->is_done || t->is_reliable;
}

/* Counts the task's entries out (-1) before they change, and in (1) after. */
static void count(struct instances *x, const struct instances_task *t,
                  int sign)
{
    for (int i = 0; i < POOLS && !is_void(t); i++)
        x->queue[i].n_valid += (uint32_t)(sign * t->entries[i]);
}

/* An entry joins the pool's queue (1) or has left it (-1). */
static void change_entries(struct instances *x, enum pool pool, uint32_t task,
                           int by)
{
    struct instances_task *t = &x->tasks[task];
    t->entries[pool] = (uint8_t)(t->entries[pool] + by);
    x->queue[pool].n_valid += (uint32_t)(is_void(t) ? 0 : by);
}

static void add_entry(struct instances *x, enum pool pool, uint32_t task)
{
    push(x, &x->queue[pool], task);
    change_entries(x, pool, task, 1);
}

static uint32_t take_entry(struct instances *x, enum pool pool)
{
    uint32_t task = at(x, &x->queue[pool], 0);
    drop_first(&x->queue[pool]);
    change_entries(x, pool, task, -1);
    return task;
}

static void enqueue(struct instances *x, enum pool pool, uint32_t task)
{
    x->tasks[task].is_queued = true;
    add_entry(x, pool, task);
    if (pool == POOL_RELIABLE && x->queue[pool].n > x->longest_queue)
        x->longest_queue = x->queue[pool].n;
}

/* Queues the task's next instance for the right pool. */
static void enqueue_next(struct instances *x, uint32_t task)
{
    const struct instances_task *t = &x->tasks[task];
    bool is_last =
        (t->sent >= x->rules.n && !t->is_new) || x->rules.no_unreliable;
    enqueue(x,
            is_last && x->rules.n_reliable > 0 ? POOL_RELIABLE
                                               : POOL_UNRELIABLE,
            task);
}

/* ---- the steps ---- */

static void enqueue_first(struct instances *x, uint32_t task)
{
    if (!x->rules.both || x->rules.n_reliable == 0)
        return;
    enqueue(x, POOL_UNRELIABLE, task);
    add_entry(x, POOL_RELIABLE, task);
}

void instances_begin(struct instances *x, const struct instances_rules *rules,
                     uint32_t n)
{
    x->n = n;
    x->rules = *rules;
    x->waiting.first = x->waiting.n = x->n_reliable = 0;
    x->most_reliable = x->longest_queue = x->sent_reliable = 0;
    for (int i = 0; i < POOLS; i++)
        x->queue[i].first = x->queue[i].n = x->queue[i].n_valid = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct instances_task *t = &x->tasks[i];
        t->sent = 0;
        t->is_done = t->is_queued = false;
        t->entries[0] = t->entries[1] = 0;
        x->n_reliable += t->is_reliable;
        if (t->is_reliable || t->is_blocked)
            continue;
        wait(x, i);
        enqueue_first(x, i);
    }
    x->most_reliable = x->n_reliable;
}

void instances_unblock(struct instances *x, uint32_t task)
{
    x->tasks[task].is_blocked = false;
    enqueue_first(x, task);
    instances_hurry(x, task);
}

void instances_change(struct instances *x, const struct instances_rules *rules)
{
    enum pool from = rules->n_reliable == 0 ? POOL_RELIABLE : POOL_UNRELIABLE;
    x->rules = *rules;
    if (rules->n_reliable > 0 && !rules->no_unreliable)
        return;
    for (uint32_t n = x->queue[from].n; n > 0; n--) {
        uint32_t task = take_entry(x, from);
        if (!is_void(&x->tasks[task]))
            enqueue_next(x, task);
    }
}

void instances_update(struct instances *x, bats_time now)
{
    while (x->waiting.n > 0) {
        uint32_t task = at(x, &x->waiting, 0);
        const struct instances_task *t = &x->tasks[task];
        bool is_due = is_open(t) && !is_stale(x, 0);
        if (is_due && t->last + x->rules.t > now)
            return;
        drop_first(&x->waiting);
        if (is_due)
            enqueue_next(x, task);
    }
}

bats_time instances_wakeup(struct instances *x)
{
    while (x->waiting.n > 0) {
        const struct instances_task *t = &x->tasks[at(x, &x->waiting, 0)];
        if (is_open(t) && !is_stale(x, 0))
            return t->last + x->rules.t;
        drop_first(&x->waiting);
    }
    return BATS_NEVER;
}

uint32_t instances_peek(struct instances *x, enum pool pool, uint32_t i)
{
    struct instances_queue *q = &x->queue[pool];
    if (pool == POOL_RELIABLE && x->n_reliable >= x->rules.n_reliable)
        return NO_INSTANCE;
    while (q->n > 0 && is_void(&x->tasks[at(x, q, 0)]))
        x->tasks[take_entry(x, pool)].is_queued = false;
    return i < q->n ? at(x, q, i) : NO_INSTANCE;
}

uint32_t instances_waiting(const struct instances *x, enum pool pool)
{
    uint32_t n = x->queue[pool].n_valid;
    uint32_t all = x->rules.n_reliable, used = x->n_reliable;
    uint32_t most = pool == POOL_UNRELIABLE ? n : all > used ? all - used : 0;
    return n < most ? n : most;
}

void instances_send(struct instances *x, enum pool pool, uint32_t i,
                    bats_time now)
{
    struct instances_queue *q = &x->queue[pool];
    uint32_t task = at(x, q, i);
    struct instances_task *t = &x->tasks[task];
    for (; i > 0; i--) /* entries before it move up */
        q->list[(q->first + i) & (x->room - 1)] = at(x, q, i - 1);
    q->list[q->first & (x->room - 1)] = task;
    take_entry(x, pool);
    t->is_queued = false;
    t->last = now;
    count(x, t, -1);
    if (pool == POOL_RELIABLE) {
        t->is_reliable = true;
        x->sent_reliable++;
        if (++x->n_reliable > x->most_reliable)
            x->most_reliable = x->n_reliable;
    } else {
        t->sent += !t->is_new;
        wait(x, task);
    }
    count(x, t, 1);
    t->is_new = false;
}

void instances_end(struct instances *x, uint32_t task, enum pool pool,
                   bool has_result)
{
    struct instances_task *t = &x->tasks[task];
    count(x, t, -1);
    t->is_done |= has_result;
    t->is_reliable &= pool == POOL_UNRELIABLE;
    count(x, t, 1);
    x->n_reliable -= pool == POOL_RELIABLE;
    if (pool == POOL_RELIABLE && is_open(t))
        enqueue(x, POOL_RELIABLE, task);
}

void instances_hurry(struct instances *x, uint32_t task)
{
    if (is_open(&x->tasks[task]))
        enqueue_next(x, task);
}
