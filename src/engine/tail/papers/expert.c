/*
 * expert: a tail that sends instances by a strategy. See bats/strategy.h and
 * instances.h.
 *
 * The tail's tasks are those without a result when it begins. Until then the
 * advisor tracks T_ur, the mean runtime of instances that have ended in the
 * unreliable pool.
 */
#include "engine/tail/tail.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bats/answers.h"
#include "engine/tail/papers/decide.h"
#include "engine/tail/papers/instances.h"
#include "util/expression.h"
#include "util/grow.h"
#include "util/hash.h"

/* The strategy is chosen again if the share of answers changes by this
 * much. */
#define CHANGE 0.1

struct past {
    struct bats_instance *list;
    size_t n, capacity;
};

struct tail_task {
    bats_time sent; /* its last instance, when the tail begins */
    struct bats_position task;
};

struct expert {
    struct bats_strategy strategy;
    char utility[BATS_EXPRESSION_MAX]; /* "": the strategy is given */
    uint64_t seed;
    bats_time noticed; /* bats_strategy_noticed */
    struct past past[POOLS];
    bats_time decided;     /* -1 if the strategy is given */
    double gamma;          /* share of answers then */
    size_t n_ended;        /* instances of the unreliable pool until then */
    double makespan, cost; /* of the whole run, expected then */
    size_t next_look;      /* when so many have ended */
    struct instances instances;
    uint32_t *number;        /* by position: number of a task of the
                                tail */
    struct tail_task *tasks; /* by number */
    uint32_t room;           /* maximum number of tail tasks */
    uint32_t n_released;     /* of the bag's, those that it knows of */
    double sum;              /* sum of the unreliable pool's results,
                                microseconds */
    uint64_t n;              /* their number */
    double t_ur;             /* since the tail began */
    bool has_begun;
};

static bool is_unreliable(const struct state *s, uint32_t slot)
{
    return s->clusters[slot_cluster(s, slot)].spec.unreliable;
}

static enum pool pool_of(const struct state *s, uint32_t slot)
{
    return is_unreliable(s, slot) ? POOL_UNRELIABLE : POOL_RELIABLE;
}

static uint32_t pool_slots(const struct state *s, bool unreliable)
{
    double n = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        uint32_t machines = c->n_joined;
        if (s->money.terms.waits && machines > c->spec.max)
            machines = c->spec.max;
        if (c->spec.unreliable == unreliable && c->n_machines > 0)
            n += machines * (double)c->n_slots / c->n_machines;
    }
    return (uint32_t)n;
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct expert *x = self;
    struct bats_error why;
    x->strategy = o->strategy;
    x->seed = o->seed;
    x->noticed = bats_strategy_noticed(o->clusters, o->n_clusters);
    x->decided = -1;
    if (o->utility && strlen(o->utility) >= sizeof x->utility)
        return bats_error_set(err, BATS_EINPUT, "the utility is too long");
    strcpy(x->utility, o->utility ? o->utility : "");
    if (o->utility && bats_utility_check(o->utility, &why) < 0)
        return bats_error_set(err, BATS_EINPUT, "the utility: %s", why.text);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].spec.unreliable)
            x->room += (uint32_t)s->clusters[i].n_slots;
    if (x->room > o->n_tasks)
        x->room = o->n_tasks;
    x->number = malloc(o->n_tasks * sizeof *x->number);
    x->tasks = malloc((x->room + 1) * sizeof *x->tasks);
    return instances_init(&x->instances, x->room) && x->number && x->tasks
               ? 0
               : bats_no_memory(err);
}

static void release(void *self)
{
    struct expert *x = self;
    instances_release(&x->instances);
    free(x->number);
    free(x->tasks);
    for (int i = 0; i < POOLS; i++)
        free(x->past[i].list);
}

/* Mean expected runtime in a pool from the clusters file; 0: not given. */
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

/* T_ur, or a window if nothing is known. */
static double find_t_ur(const struct expert *x, const struct state *s)
{
    double guess = expected(s, true);
    if (x->has_begun)
        return x->t_ur;
    return x->n > 0    ? x->sum / (double)x->n
           : guess > 0 ? guess
                       : (double)s->run.window;
}

static bats_time throughput(const struct expert *x, const struct state *s)
{
    return bats_strategy_throughput(find_t_ur(x, s), x->noticed > 0);
}

/* Before the tail, within this fraction of D: then it changes rarely, though
 * T_ur changes with each result, and few slots have to be told. */
#define NEAR (1.0 / 64)

static bats_time limit(const void *self, const struct state *s, size_t cluster)
{
    const struct expert *x = self;
    bats_time before = s->clusters[cluster].limit;
    if (!s->clusters[cluster].spec.unreliable)
        return BATS_NEVER;
    bats_time time = s->run.in_tail
                         ? bats_span_time(&x->strategy.d, find_t_ur(x, s))
                         : throughput(x, s);
    if (!s->run.in_tail &&
        fabs((double)(time - before)) <= NEAR * (double)before)
        return before;
    return time >= BATS_LONGEST ? BATS_NEVER : time > 0 ? time : 1;
}

/* ---- instances sent ---- */

/* Instances looked at: a sample of those ended and those running, if there are
 * more. */
#define SEEN 1000

static struct bats_instance *list_instances(const struct expert *x,
                                            const struct state *s, size_t *n)
{
    const struct past *past = &x->past[POOL_UNRELIABLE];
    size_t all = past->n + s->n_slots, step = all / SEEN + 1;
    struct bats_instance *list = malloc((all / step + 1) * sizeof *list);
    *n = 0;
    for (size_t first = 0; list && first < all; first += step) {
        size_t i = first + bats_mix(first) % step;
        uint32_t slot = (uint32_t)(i - past->n);
        if (i < past->n)
            list[(*n)++] = past->list[i];
        else if (slot < s->n_slots && s->slots[slot].n_tasks > 0 &&
                 is_unreliable(s, slot))
            list[(*n)++] = (struct bats_instance){
                .sent = s->slots[slot].started, .time = -1};
    }
    return list;
}

static bool learn(void *self, const struct state *s, size_t cluster,
                  bats_time runtime)
{
    struct expert *x = self;
    if (!s->clusters[cluster].spec.unreliable)
        return true;
    x->sum += (double)runtime;
    x->n++;
    return true;
}

/* ---- deciding ---- */

static size_t reliable_times(const struct expert *x, const struct state *s,
                             const struct bats_answers *a, bats_time *times)
{
    const struct past *past = &x->past[POOL_RELIABLE];
    struct bats_answers seen;
    double here = expected(s, false), there = expected(s, true);
    size_t n = 0;
    if (past->n > 0 &&
        bats_answers_find(past->list, past->n, BATS_NEVER, 0, &seen)) {
        for (; n < seen.n_times && n < a->n_times; n++)
            times[n] = seen.times[n];
        free(seen.times);
        return n;
    }
    double ratio = here > 0 && there > 0 ? here / there : 1;
    for (; n < a->n_times; n++)
        times[n] = (bats_time)fmax((double)a->times[n] * ratio, 1);
    return n;
}

/* Mean price of a slot of the pool per microsecond. */
static double price_of(const struct state *s, bool unreliable)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        if (c->spec.unreliable != unreliable)
            continue;
        sum += (double)c->price * c->n_joined;
        n += c->n_joined;
    }
    return n > 0 ? sum / n / (double)s->run.window : 0;
}

static bool any_free(const struct state *s)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].spec.lost_is_free)
            return true;
    return false;
}

static bool is_new(const struct state *s, struct bats_position task)
{
    const struct task *t = &s->tasks[task.i];
    return t->slot == NO_SLOT && t->losses == 0 && t->given_up == 0 &&
           t->failures == 0;
}

/* Lists the tasks left, each with its original execution. */
static uint32_t list_tasks(const struct expert *x, const struct state *s,
                           struct bats_plays_task *tasks)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < x->instances.n; i++) {
        struct bats_position task = x->tasks[i].task;
        if (!bats_bag_is_left(&s->bag, task))
            continue;
        uint32_t slot = s->tasks[task.i].slot;
        struct bats_plays_task *t = &tasks[n++];
        *t = (struct bats_plays_task){.is_pending = slot == NO_SLOT,
                                      .is_new = is_new(s, task),
                                      .given_up = BATS_NEVER};
        if (slot == NO_SLOT)
            continue;
        bats_time limit = s->clusters[slot_cluster(s, slot)].limit;
        t->started = s->slots[slot].started - s->now;
        t->is_reliable = !is_unreliable(s, slot);
        if (limit < BATS_NEVER)
            t->given_up = t->started + limit > 0 ? t->started + limit : 1;
    }
    return n;
}

static void ask(struct expert *x, const struct state *s,
                const struct bats_answers *a)
{
    struct bats_plays_task *tasks =
        malloc((x->instances.n + 1) * sizeof *tasks);
    bats_time *times = malloc((a->n_times + 1) * sizeof *times);
    bats_money left = bats_ledger_available(&s->money.ledger);
    struct decide_answer best;
    struct decide_question q = {
        .model = {.n_unreliable = pool_slots(s, true),
                  .n_reliable = pool_slots(s, false),
                  .unreliable = a->times,
                  .n_times = a->n_times,
                  .reliable = times,
                  .gamma = a->gamma,
                  .noticed = x->noticed,
                  .lost = a->lost,
                  .n_lost = a->n_lost,
                  .loses = a->loses,
                  .t_ur = a->mean,
                  .price_unreliable = price_of(s, true),
                  .price_reliable = price_of(s, false),
                  .lost_is_free = any_free(s),
                  .tail = tasks},
        .utility = x->utility,
        .elapsed = (double)s->now,
        .charged = (double)s->money.ledger.charged,
        .money = left == BATS_UNLIMITED ? INFINITY : (double)left,
        .time = s->run.goal.deadline == BATS_NEVER
                    ? INFINITY
                    : (double)(s->run.goal.deadline - s->now),
        .n_tasks = s->bag.n,
        .seed = x->seed};
    if (tasks && times) {
        q.model.n_tasks = list_tasks(x, s, tasks);
        q.model.n_reliable_times = reliable_times(x, s, a, times);
        if (q.model.n_tasks > 0 && q.model.n_unreliable > 0 &&
            decide(&q, &best)) {
            x->gamma = a->gamma;
            x->n_ended = x->past[POOL_UNRELIABLE].n;
            x->t_ur = a->mean;
            x->strategy = best.strategy;
            x->makespan = q.elapsed + best.makespan;
            x->cost = q.charged + best.cost;
            x->decided = s->now;
        }
    }
    free(tasks);
    free(times);
}

/* When the tail begins, fixes T_ur, including unanswered instances, and
 * decides on a strategy. Looks again each time that a sixteenth more instances
 * have ended, and decides again when the share of answers has changed. (Where
 * losses are noticed, long instances are not given up, and few answers make all
 * look short: decides again when twice as many have ended.) */
static void look(struct expert *x, const struct state *s)
{
    struct bats_answers a;
    size_t n, ended = x->past[POOL_UNRELIABLE].n;
    x->next_look = ended + ended / 16 + 1;
    struct bats_instance *list = list_instances(x, s, &n);
    if (list &&
        (x->noticed > 0
             ? bats_answers_noticed(list, n, s->now, x->noticed, &a)
             : bats_answers_find(list, n, s->now, throughput(x, s), &a))) {
        if (!s->run.in_tail)
            x->t_ur = a.mean;
        bool has_changed = fabs(a.gamma - x->gamma) > CHANGE ||
                           (x->noticed > 0 && ended >= 2 * x->n_ended);
        if (x->utility[0] != '\0' && (x->decided < 0 || has_changed))
            ask(x, s, &a);
        free(a.times);
        free(a.lost);
    }
    free(list);
}

/* ---- the beginning of the tail ---- */

static struct instances_rules rules_of(const struct expert *x,
                                       const struct state *s)
{
    return instances_rules(&x->strategy, x->t_ur, pool_slots(s, true),
                           pool_slots(s, false));
}

static bool begins(const void *self, const struct state *s)
{
    const struct expert *x = self;
    uint32_t left = bats_bag_left(&s->bag);
    return !x->strategy.only_reliable && left > 0 &&
           left < pool_slots(s, true) && left <= x->room;
}

/* The bag gives the last pending task of its array first. */
static int by_time_sent(const void *left, const void *right)
{
    const struct tail_task *a = left, *b = right;
    return a->sent != b->sent
               ? (a->sent > b->sent) - (a->sent < b->sent)
               : (a->task.i < b->task.i) - (a->task.i > b->task.i);
}

static void begin_tail(void *self, const struct state *s)
{
    struct expert *x = self;
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->bag.n; i++) {
        const struct bats_position task = {i};
        x->number[i] = NO_INSTANCE;
        uint32_t slot = s->tasks[i].slot;
        if (bats_bag_is_left(&s->bag, task)) /* in the bag: due at once */
            x->tasks[n++] = (struct tail_task){
                slot == NO_SLOT ? -BATS_LONGEST : s->slots[slot].started,
                task};
    }
    qsort(x->tasks, n, sizeof *x->tasks, by_time_sent);
    for (uint32_t i = 0; i < n; i++) {
        struct bats_position task = x->tasks[i].task;
        uint32_t slot = s->tasks[task.i].slot;
        x->number[task.i] = i;
        x->instances.tasks[i] = (struct instances_task){
            .last = x->tasks[i].sent,
            .is_reliable = slot != NO_SLOT && !is_unreliable(s, slot),
            .is_new = is_new(s, task),
            .is_blocked = s->bag.state[task.i] == BATS_TASK_BLOCKED};
    }
    x->n_released = s->bag.n_released;
    x->t_ur = find_t_ur(x, s);
    x->has_begun = true;
    instances_begin(&x->instances, &(struct instances_rules){.n = 0}, n);
    look(x, s);
    const struct instances_rules rules = rules_of(x, s);
    instances_begin(&x->instances, &rules, n);
}

/* ---- in the tail ---- */

static void update(void *self, const struct state *s)
{
    struct expert *x = self;
    if (x->utility[0] != '\0' && x->past[POOL_UNRELIABLE].n >= x->next_look)
        look(x, s);
    const struct instances_rules rules = rules_of(x, s);
    instances_change(&x->instances, &rules);
    while (s->bag.graph && x->n_released < s->bag.n_released) {
        uint32_t task = s->bag.released[x->n_released++];
        uint32_t number = x->number[s->bag.position[task].i];
        if (number != NO_INSTANCE)
            instances_unblock(&x->instances, number);
    }
    instances_update(&x->instances, s->now);
}

/* The task may be sent: all cancelled executions have answered. */
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
        struct bats_position task = x->tasks[number].task;
        if (!is_startable(s, task) || !task_has_room(s, slot, task))
            continue;
        instances_send(&x->instances, pool, i, s->now);
        return task;
    }
    return BATS_NO_POSITION;
}

/* In the tail, those of the pool's queue; of the first LOOKED_AT, without those
 * whose machine has to answer first. */
#define LOOKED_AT 64

static uint32_t waiting(void *self, const struct state *s, size_t cluster,
                        uint32_t most)
{
    struct expert *x = self;
    bool unreliable = s->clusters[cluster].spec.unreliable;
    enum pool pool = unreliable ? POOL_UNRELIABLE : POOL_RELIABLE;
    if (s->run.in_tail) {
        uint32_t n = instances_waiting(&x->instances, pool), now = 0, i = 0;
        uint32_t number;
        for (;
             i < LOOKED_AT && now < most && now < n &&
             (number = instances_peek(&x->instances, pool, i)) != NO_INSTANCE;
             i++)
            now += is_startable(s, x->tasks[number].task);
        return i == LOOKED_AT && n > i ? now + n - i : now;
    }
    return unreliable || x->strategy.reliable_works ? bats_bag_ready(&s->bag)
                                                    : 0;
}

/* Records answers and given-up instances, not those stopped early. */
static void note(struct expert *x, const struct state *s, uint32_t slot,
                 struct bats_position task, bool answers, bool noticed)
{
    struct past *past = &x->past[pool_of(s, slot)];
    if (!bats_same_position(s->slots[slot].head, task) ||
        (!answers && bats_bag_left(&s->bag) == 0) ||
        !bats_grow(&past->list, &past->capacity, past->n + 1,
                   sizeof *past->list))
        return;
    bats_time sent = s->slots[slot].started, time = s->now - sent;
    past->list[past->n++] =
        (struct bats_instance){.sent = sent,
                               .time = answers ? time : -1,
                               .ended = time > 0 ? time : 1,
                               .noticed = noticed};
}

static void ended(void *self, const struct state *s, uint32_t slot,
                  struct bats_position task, bool answers, bool noticed)
{
    struct expert *x = self;
    note(x, s, slot, task, answers, noticed);
    if (!x->has_begun || x->number[task.i] == NO_INSTANCE)
        return;
    instances_end(&x->instances, x->number[task.i], pool_of(s, slot), answers);
    if (noticed)
        instances_hurry(&x->instances, x->number[task.i]);
}

static void strategy(const void *self, struct bats_sched_strategy *strategy)
{
    const struct expert *x = self;
    *strategy = (struct bats_sched_strategy){.strategy = x->strategy,
                                             .decided = x->decided,
                                             .gamma = x->gamma,
                                             .makespan = x->makespan,
                                             .cost = x->cost};
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
    .waiting = waiting,
    .ended = ended,
    .wakeup = wakeup,
    .strategy = strategy};
