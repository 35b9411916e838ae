#include "bats/plays.h"

#include <gsl/gsl_cdf.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/tail/papers/instances.h"
#include "util/hash.h"

#define LOSSES_MOST 64 /* most consecutive losses of a task */
#define FIRST_OF_TAIL                                                         \
    1000 /* instance numbers from here on belong to the
                              tail */
/* Mean instances per task above which D seems too short for any to answer. */
#define ENDLESS 200
#define NEVER_DONE 9e17 /* makespan and cost of an endless play */

struct sent {
    bats_time end, start;
    uint32_t order; /* order of sending; breaks ties of `end` */
    uint32_t task;
    bool answers, is_noticed, is_reliable;
    bool is_new; /* not sent yet; end and start are void */
    double rank; /* rank of its task's runtime, in (0, 1); or see quantile */
};

struct running {
    struct sent *list;
    uint32_t n, n_sent;
};

/* State of a play when its tail begins. */
struct snapshot {
    bats_time now;
    double cost;
    uint32_t sent_reliable, used_reliable; /* instances so far; most slots at
                                              once */
    struct sent *tasks; /* n_left, by start; end 0: pending */
    uint32_t n_left;
};

struct bats_plays {
    struct bats_plays_model m;
    uint32_t n_plays;
    uint64_t seed;
    bats_time d;                /* before the tail */
    struct snapshot *snapshots; /* one per play */
};

/* One thread's memory for a play. */
struct player {
    const struct bats_plays *p;
    uint64_t seed; /* of the play */
    struct running running;
    uint32_t *bag;     /* tasks; the last is next */
    uint16_t *number;  /* by task: instances sent so far */
    uint8_t *given_up; /* by task: unanswered instances of this phase */
    struct instances instances;
    struct sent *tasks; /* for a tail that begins in this play */
};

/* ---- numbers ---- */

static double uniform(const struct player *w, uint64_t n)
{
    return bats_mix_uniform(bats_mix_at(n, w->seed));
}

static double draw(struct player *w, uint32_t task, bool is_reliable)
{
    return uniform(w, (uint64_t)task << 32 | (uint64_t)is_reliable << 16 |
                          w->number[task]++);
}

/* A number for all instances of the task. */
static double draw_rank(const struct player *w, uint32_t task)
{
    return uniform(w, (uint64_t)task << 32 | UINT64_C(1) << 31);
}

/* Quantile u of the times; for u > 1, u times the longest. */
static bats_time quantile(const bats_time *times, size_t n, double u)
{
    size_t i = (size_t)(u * (double)n);
    return i < n    ? times[i]
           : u <= 1 ? times[n - 1]
                    : (bats_time)((double)times[n - 1] * u);
}

/* ---- the heap ---- */

static bool before(const struct sent *a, const struct sent *b)
{
    return a->end < b->end || (a->end == b->end && a->order < b->order);
}

static void push(struct running *h, struct sent sent)
{
    uint32_t i = h->n++;
    sent.order = h->n_sent++;
    for (; i > 0 && before(&sent, &h->list[(i - 1) / 2]); i = (i - 1) / 2)
        h->list[i] = h->list[(i - 1) / 2];
    h->list[i] = sent;
}

static struct sent pop(struct running *h)
{
    struct sent first = h->list[0], last = h->list[--h->n];
    uint32_t i = 0;
    for (uint32_t child; (child = 2 * i + 1) < h->n; i = child) {
        if (child + 1 < h->n && before(&h->list[child + 1], &h->list[child]))
            child++;
        if (!before(&h->list[child], &last))
            break;
        h->list[i] = h->list[child];
    }
    h->list[i] = last;
    return first;
}

/* ---- instances ---- */

/* Time from the start to the loss, for x in (0, 1). */
static bats_time loss_at(const struct bats_plays_model *m, double x)
{
    if (m->noticed == 0)
        return x < m->gamma ? BATS_NEVER : 0;
    return x < m->loses ? quantile(m->lost, m->n_lost, x / m->loses)
                        : BATS_NEVER;
}

/* Sets the end of an instance of time t: lost at `lost`, or given up after d,
 * if that comes first. */
static void set_end(const struct bats_plays_model *m, struct sent *sent,
                    bats_time t, bats_time lost, bats_time d)
{
    bool is_lost = lost <= t;
    bats_time end = !is_lost         ? t
                    : m->noticed > 0 ? lost + m->noticed
                                     : BATS_NEVER;
    sent->answers = !is_lost && t < d;
    sent->is_noticed = is_lost && end < d;
    sent->end = sent->start + (end < d ? end : d);
}

static struct sent unreliable(struct player *w, uint32_t task, double rank,
                              bats_time now, bats_time d)
{
    const struct bats_plays_model *m = &w->p->m;
    d = bats_strategy_longer(d, w->given_up[task]);
    double x = draw(w, task, false);
    double u = !m->redraws      ? rank
               : m->noticed > 0 ? draw(w, task, true)
                                : fmin(x / m->gamma, 1);
    struct sent sent = {.start = now, .task = task, .rank = rank};
    /* If every instance of this length were lost, the phase before the tail
     * would never end. */
    bool survives =
        w->number[task] > LOSSES_MOST && w->number[task] < FIRST_OF_TAIL;
    set_end(m, &sent, quantile(m->unreliable, m->n_times, u),
            survives ? BATS_NEVER : loss_at(m, x), d);
    return sent;
}

static struct sent reliable(struct player *w, uint32_t task, double rank,
                            bats_time now)
{
    const struct bats_plays_model *m = &w->p->m;
    double u = m->redraws ? draw(w, task, true) : rank;
    return (struct sent){.end = now +
                                quantile(m->reliable, m->n_reliable_times, u),
                         .start = now,
                         .task = task,
                         .answers = true,
                         .is_reliable = true,
                         .rank = rank};
}

static void note(struct player *w, uint32_t task, const struct sent *sent)
{
    uint8_t *given_up = &w->given_up[task];
    if (!sent->answers && !sent->is_noticed && *given_up < UINT8_MAX)
        ++*given_up;
}

/* Charge for an instance that ends or is stopped now. */
static double charge(const struct bats_plays_model *m, const struct sent *sent,
                     bats_time now, bool answers)
{
    double time = (double)(now - sent->start);
    return sent->is_reliable             ? time * m->price_reliable
           : answers || !m->lost_is_free ? time * m->price_unreliable
                                         : 0;
}

/* ---- the throughput phase ---- */

static double mean_of(const bats_time *times, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)times[i];
    return n > 0 ? sum / (double)n : 0;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static void start_some(struct player *w, const struct bats_strategy *s,
                       uint32_t *n_bag, uint32_t free[POOLS],
                       struct snapshot *to)
{
    while (*n_bag > 0 && !s->only_reliable && free[POOL_UNRELIABLE] > 0) {
        uint32_t task = w->bag[--*n_bag];
        push(&w->running,
             unreliable(w, task, draw_rank(w, task), to->now, w->p->d));
        free[POOL_UNRELIABLE]--;
    }
    while (*n_bag > 0 && s->reliable_works && free[POOL_RELIABLE] > 0) {
        uint32_t task = w->bag[--*n_bag];
        push(&w->running, reliable(w, task, draw_rank(w, task), to->now));
        free[POOL_RELIABLE]--;
        to->sent_reliable++;
    }
    to->used_reliable =
        larger(to->used_reliable, w->p->m.n_reliable - free[POOL_RELIABLE]);
}

static int by_start(const void *left, const void *right)
{
    const struct sent *a = left, *b = right;
    if (a->start != b->start)
        return a->start < b->start ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

/* Makes the tasks left the tail. */
static void take(struct player *w, struct snapshot *to, uint32_t n_bag)
{
    to->n_left = 0;
    for (uint32_t i = 0; i < n_bag; i++)
        to->tasks[to->n_left++] =
            (struct sent){.task = w->bag[i],
                          .start = -BATS_LONGEST,
                          .rank = draw_rank(w, w->bag[i])};
    for (uint32_t i = 0; i < w->running.n; i++)
        to->tasks[to->n_left++] = w->running.list[i];
    qsort(to->tasks, to->n_left, sizeof *to->tasks, by_start);
}

/* Plays until the tail begins or the bag is done. to->tasks has room for all
 * tasks left. */
static void play_throughput(struct player *w, const struct bats_strategy *s,
                            struct snapshot *to)
{
    const struct bats_plays_model *m = &w->p->m;
    uint32_t free[POOLS] = {m->n_unreliable, m->n_reliable};
    uint32_t n_bag = m->n_tasks, left = m->n_tasks;
    for (uint32_t i = 0; i < n_bag; i++)
        w->bag[i] = n_bag - 1 - i;
    memset(w->number, 0, m->n_tasks * sizeof *w->number);
    memset(w->given_up, 0, m->n_tasks);
    w->running.n = w->running.n_sent = 0;
    to->now = 0;
    to->cost = 0;
    while (left > 0 && (left >= m->n_unreliable || s->only_reliable)) {
        start_some(w, s, &n_bag, free, to);
        struct sent sent = pop(&w->running);
        to->now = sent.end;
        to->cost += charge(m, &sent, to->now, sent.answers);
        note(w, sent.task, &sent);
        free[sent.is_reliable ? POOL_RELIABLE : POOL_UNRELIABLE]++;
        if (sent.answers)
            left--;
        else
            w->bag[n_bag++] = sent.task;
    }
    take(w, to, n_bag);
    if (w->running.n_sent == 0) /* the bag is small enough from the start */
        for (uint32_t i = 0; i < to->n_left; i++)
            to->tasks[i].is_new = true;
}

/* A number in (past, 1). */
static double beyond(double past, double u)
{
    return past + u * (1 - past);
}

static size_t count_until(const bats_time *times, size_t n, bats_time age)
{
    size_t low = 0;
    while (low < n) {
        size_t middle = (low + n) / 2;
        if (times[middle] <= age)
            low = middle + 1;
        else
            n = middle;
    }
    return low;
}

/* Draws the end of a running instance without a noticed loss. */
static struct sent draw_running(struct player *w, uint32_t i)
{
    const struct bats_plays_model *m = &w->p->m;
    const struct bats_plays_task *t = &m->tail[i];
    const bats_time *times = t->is_reliable ? m->reliable : m->unreliable;
    size_t n = t->is_reliable ? m->n_reliable_times : m->n_times;
    bool may_be_lost = !t->is_reliable && m->noticed == 0;
    double gamma = may_be_lost ? m->gamma : 1;
    bats_time age = -t->started, time = BATS_NEVER, lost = BATS_NEVER;
    double x = beyond(gamma * (double)count_until(times, n, age) / (double)n,
                      draw(w, i, t->is_reliable));
    double rank = x < gamma ? x / gamma : draw_rank(w, i);
    if (x < gamma)
        time = quantile(times, n, rank);
    else if (!may_be_lost) /* longer than all others */
        time = age + (bats_time)mean_of(times, n);
    if (x >= gamma && m->noticed > 0) /* its length holds wherever it runs */
        rank = fmax((double)time / (double)times[n - 1], 1);
    if (!t->is_reliable && m->noticed > 0 && m->n_lost > 0)
        lost = loss_at(m, beyond(m->loses *
                                     (double)count_until(m->lost, m->n_lost,
                                                         age - m->noticed) /
                                     (double)m->n_lost,
                                 draw(w, i, true)));
    struct sent sent = {.start = t->started,
                        .task = i,
                        .is_reliable = t->is_reliable,
                        .rank = rank};
    set_end(m, &sent, time, lost,
            t->given_up < BATS_LONGEST ? t->given_up - t->started
                                       : BATS_LONGEST);
    return sent;
}

static void play_present(struct player *w, struct snapshot *to)
{
    const struct bats_plays_model *m = &w->p->m;
    memset(w->number, 0, m->n_tasks * sizeof *w->number);
    w->running.n = w->running.n_sent = 0;
    to->now = 0;
    to->cost = 0;
    uint32_t n_bag = 0;
    for (uint32_t i = 0; i < m->n_tasks; i++)
        if (m->tail[i].is_pending)
            w->bag[n_bag++] = i;
        else
            push(&w->running, draw_running(w, i));
    take(w, to, n_bag);
    for (uint32_t i = 0; i < to->n_left; i++)
        to->tasks[i].is_new = m->tail[to->tasks[i].task].is_new;
}

/* ---- the tail ---- */

static void begin_tail(struct player *w, const struct bats_strategy *s,
                       const struct snapshot *from, uint32_t *free)
{
    const struct bats_plays_model *m = &w->p->m;
    const struct instances_rules rules =
        instances_rules(s, m->t_ur, m->n_unreliable, m->n_reliable);
    w->running.n = w->running.n_sent = 0;
    memset(w->given_up, 0, m->n_tasks);
    *free = m->n_unreliable;
    for (uint32_t i = 0; i < from->n_left; i++) {
        struct sent sent = from->tasks[i];
        bool runs = sent.start > -BATS_LONGEST;
        w->instances.tasks[i] =
            (struct instances_task){.last = sent.start,
                                    .is_reliable = sent.is_reliable,
                                    .is_new = sent.is_new};
        sent.task = i;
        if (runs)
            push(&w->running, sent);
        *free -= runs && !sent.is_reliable;
    }
    instances_begin(&w->instances, &rules, from->n_left);
}

static void fill(struct player *w, const struct snapshot *from, bats_time now,
                 bats_time d, uint32_t *free)
{
    uint32_t i;
    while (*free > 0 && (i = instances_peek(&w->instances, POOL_UNRELIABLE,
                                            0)) != NO_INSTANCE) {
        instances_send(&w->instances, POOL_UNRELIABLE, 0, now);
        const struct sent *task = &from->tasks[i];
        struct sent sent = unreliable(w, task->task, task->rank, now, d);
        sent.task = i;
        push(&w->running, sent);
        --*free;
    }
    while ((i = instances_peek(&w->instances, POOL_RELIABLE, 0)) !=
           NO_INSTANCE) {
        instances_send(&w->instances, POOL_RELIABLE, 0, now);
        const struct sent *task = &from->tasks[i];
        struct sent sent = reliable(w, task->task, task->rank, now);
        sent.task = i;
        push(&w->running, sent);
    }
}

static void play_tail(struct player *w, const struct bats_strategy *s,
                      const struct snapshot *from, struct bats_play *play)
{
    const struct bats_plays_model *m = &w->p->m;
    bats_time d = bats_span_time(&s->d, m->t_ur), now = from->now;
    uint32_t left = from->n_left, free;
    double cost = from->cost;
    d = d > 0 ? d : 1;
    begin_tail(w, s, from, &free);
    while (left > 0 && w->running.n_sent < ENDLESS * (from->n_left + 10)) {
        instances_update(&w->instances, now);
        fill(w, from, now, d, &free);
        bats_time due = instances_wakeup(&w->instances);
        if (w->running.n == 0 || due < w->running.list[0].end) {
            now = due;
            continue;
        }
        struct sent sent = pop(&w->running);
        bool is_news = !w->instances.tasks[sent.task].is_done;
        now = sent.end;
        cost += charge(m, &sent, now, sent.answers);
        free += !sent.is_reliable;
        left -= sent.answers && is_news;
        note(w, from->tasks[sent.task].task, &sent);
        instances_end(&w->instances, sent.task,
                      sent.is_reliable ? POOL_RELIABLE : POOL_UNRELIABLE,
                      sent.answers);
        if (sent.is_noticed)
            instances_hurry(&w->instances, sent.task);
    }
    for (uint32_t i = 0; i < w->running.n; i++)
        cost += charge(m, &w->running.list[i], now, false);
    bool is_done = left == 0;
    *play = (struct bats_play){
        .makespan = is_done ? (double)now : NEVER_DONE,
        .tail = is_done ? (double)(now - from->now) : NEVER_DONE,
        .cost = is_done ? cost : NEVER_DONE,
        .used_reliable =
            larger(from->used_reliable, w->instances.most_reliable),
        .longest_queue = w->instances.longest_queue,
        .sent_reliable = from->sent_reliable + w->instances.sent_reliable};
}

/* ---- all together ---- */

static void release(struct player *w)
{
    free(w->running.list);
    free(w->bag);
    free(w->number);
    free(w->given_up);
    free(w->tasks);
    instances_release(&w->instances);
}

static int prepare(struct player *w, const struct bats_plays *p,
                   struct bats_error *err)
{
    const struct bats_plays_model *m = &p->m;
    size_t slots = (size_t)m->n_unreliable + m->n_reliable + 1;
    *w = (struct player){.p = p};
    w->running.list = malloc((slots + m->n_tasks) * sizeof *w->running.list);
    w->bag = malloc(m->n_tasks * sizeof *w->bag);
    w->number = calloc(m->n_tasks, sizeof *w->number);
    w->given_up = calloc(m->n_tasks, sizeof *w->given_up);
    w->tasks = malloc(m->n_tasks * sizeof *w->tasks);
    if (instances_init(&w->instances, m->n_tasks) && w->running.list &&
        w->bag && w->number && w->given_up && w->tasks)
        return 0;
    release(w);
    return bats_no_memory(err);
}

static bool ascends(const bats_time *times, size_t n, bats_time least)
{
    for (size_t i = 0; i < n; i++)
        if (times[i] < (i > 0 ? times[i - 1] : least) ||
            times[i] > BATS_LONGEST)
            return false;
    return true;
}

static int check_model(const struct bats_plays_model *m,
                       struct bats_error *err)
{
    bool ascend = ascends(m->unreliable, m->n_times, 1) &&
                  ascends(m->reliable, m->n_reliable_times, 1) &&
                  ascends(m->lost, m->n_lost, 0);
    if (m->n_tasks < 1 || m->n_unreliable < 1 || m->n_times < 1 || !ascend ||
        (m->n_reliable > 0 && m->n_reliable_times < 1) ||
        !(m->gamma > 0 && m->gamma <= 1) || m->price_unreliable < 0 ||
        m->price_reliable < 0 || m->t_ur < 0 || m->noticed < 0 ||
        m->noticed > BATS_LONGEST ||
        !(m->loses >= 0 && m->loses <= (m->n_lost > 0 ? 1 : 0)))
        return bats_error_set(err, BATS_EINPUT,
                              "the model of the pools is out of range");
    return 0;
}

static int play_snapshots(struct bats_plays *p, struct bats_error *err)
{
    const struct bats_strategy plain = {.n = BATS_INSTANCES_INFINITE};
    const struct bats_plays_model *m = &p->m;
    struct player w;
    int rc = prepare(&w, p, err);
    if (rc < 0)
        return rc;
    for (uint32_t i = 0; rc == 0 && i < p->n_plays; i++) {
        struct snapshot *to = &p->snapshots[i];
        uint32_t room =
            m->tail ? m->n_tasks : larger(m->n_unreliable, m->n_tasks);
        to->tasks = malloc(room * sizeof *to->tasks);
        if (!to->tasks) {
            rc = bats_no_memory(err);
            break;
        }
        w.seed = bats_mix(p->seed + i);
        if (m->tail)
            play_present(&w, to);
        else
            play_throughput(&w, &plain, to);
    }
    release(&w);
    return rc;
}

int bats_plays_create(const struct bats_plays_model *model, uint32_t n_plays,
                      uint64_t seed, struct bats_plays **plays,
                      struct bats_error *err)
{
    int rc = check_model(model, err);
    if (rc < 0)
        return rc;
    struct bats_plays *p = calloc(1, sizeof *p);
    if (p)
        *p = (struct bats_plays){.m = *model,
                                 .n_plays = n_plays,
                                 .seed = bats_mix(seed),
                                 .snapshots =
                                     calloc(n_plays, sizeof *p->snapshots)};
    if (!p || !p->snapshots) {
        bats_plays_destroy(p);
        return bats_no_memory(err);
    }
    if (p->m.t_ur <= 0)
        p->m.t_ur = mean_of(model->unreliable, model->n_times);
    p->d = bats_strategy_throughput(p->m.t_ur, p->m.noticed > 0);
    rc = play_snapshots(p, err);
    if (rc < 0)
        bats_plays_destroy(p);
    else
        *plays = p;
    return rc;
}

void bats_plays_destroy(struct bats_plays *plays)
{
    if (!plays)
        return;
    for (uint32_t i = 0; plays->snapshots && i < plays->n_plays; i++)
        free(plays->snapshots[i].tasks);
    free(plays->snapshots);
    free(plays);
}

int bats_plays_run(const struct bats_plays *p, const struct bats_strategy *s,
                   uint32_t from, uint32_t to, struct bats_play *results,
                   struct bats_error *err)
{
    struct player w;
    if (bats_strategy_needs_reliable(s) && p->m.n_reliable == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "the strategy needs a reliable pool, and there "
                              "is none");
    int rc = prepare(&w, p, err);
    if (rc < 0)
        return rc;
    bool is_own = !p->m.tail && s->reliable_works;
    for (uint32_t i = from; i < to; i++) {
        struct snapshot own = {.tasks = w.tasks};
        w.seed = bats_mix(p->seed + i);
        if (is_own)
            play_throughput(&w, s, &own);
        for (uint32_t task = 0; task < p->m.n_tasks; task++)
            w.number[task] = FIRST_OF_TAIL;
        play_tail(&w, s, is_own ? &own : &p->snapshots[i], &results[i - from]);
    }
    release(&w);
    return 0;
}

/* ---- many strategies ---- */

static size_t add_sizes(struct bats_candidate *list, size_t n,
                        struct bats_strategy s, uint32_t n_unreliable,
                        uint32_t n_reliable)
{
    uint32_t sizes = n_reliable < 4 ? n_reliable : 4;
    for (uint32_t k = 0; k < sizes; k++) {
        uint32_t slots =
            sizes == 1
                ? 1
                : 1 + (k * (n_reliable - 1) + (sizes - 1) / 2) / (sizes - 1);
        s.m_r = (double)slots / n_unreliable;
        list[n++].strategy = s;
    }
    return n;
}

/* T and D of the candidates, in T_ur. Returns their number. */
static size_t list_spans(bool noticed, double t[], double d[])
{
    static const double when_noticed[] = {INFINITY, 4, 2, 1, 0.5, 0.25, 0};
    size_t n = noticed ? sizeof when_noticed / sizeof *when_noticed : 25;
    for (size_t i = 0; i < n; i++) {
        d[i] = noticed ? INFINITY : pow(2, (double)(i / 5) / 2);
        t[i] = noticed ? when_noticed[i] : d[i] * (double)(i % 5) / 4;
    }
    return n;
}

size_t bats_candidates_grid(uint32_t n_unreliable, uint32_t n_reliable,
                            bool noticed, struct bats_candidate *list)
{
    double t[25], d[25];
    size_t n = 0, n_spans = list_spans(noticed, t, d);
    for (uint32_t k = 0; k <= 4; k++)
        for (size_t i = 0; i < n_spans; i++) {
            uint32_t count = noticed ? 4 - k : k;
            struct bats_strategy s = {.n = count,
                                      .t.of_tur = t[i],
                                      .d.of_tur = d[i],
                                      .m_r = INFINITY};
            if (count < 4)
                n = add_sizes(list, n, s, n_unreliable, n_reliable);
            s.n = BATS_INSTANCES_INFINITE;
            if (count == 4 && t[i] > 0)
                list[n++].strategy = s;
        }
    return n;
}

/* Number of members of a play, seen as an array. */
#define MEMBERS (sizeof(struct bats_play) / sizeof(double))

static void summarise(const struct bats_play *plays, uint32_t n,
                      struct bats_candidate *c)
{
    double t = n > 1 ? gsl_cdf_tdist_Pinv(0.975, n - 1.0) : 0;
    for (size_t k = 0; k < MEMBERS; k++) {
        double sum = 0, squares = 0;
        for (uint32_t i = 0; i < n; i++)
            sum += ((const double *)&plays[i])[k];
        double mean = sum / n;
        for (uint32_t i = 0; i < n; i++)
            squares += pow(((const double *)&plays[i])[k] - mean, 2);
        ((double *)&c->mean)[k] = mean;
        ((double *)&c->margin)[k] =
            n > 1 ? t * sqrt(squares / (n - 1.0) / n) : 0;
    }
}

int bats_candidate_play(const struct bats_plays *plays, uint32_t n_plays,
                        struct bats_candidate *candidate,
                        struct bats_error *err)
{
    struct bats_play *results = malloc(n_plays * sizeof *results);
    if (!results)
        return bats_no_memory(err);
    int rc =
        bats_plays_run(plays, &candidate->strategy, 0, n_plays, results, err);
    if (rc == 0)
        summarise(results, n_plays, candidate);
    free(results);
    return rc;
}

/* a < b beyond rounding errors of summation. */
static bool is_less(double a, double b)
{
    return a < b && b - a > 1e-9 * fabs(b);
}

static bool is_as_good(const struct bats_play *a, const struct bats_play *b)
{
    return !is_less(b->makespan, a->makespan) && !is_less(b->cost, a->cost);
}

void bats_candidates_mark(struct bats_candidate *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        list[i].is_efficient = true;
        for (size_t k = 0; k < n && list[i].is_efficient; k++)
            list[i].is_efficient =
                !is_as_good(&list[k].mean, &list[i].mean) ||
                (k >= i && is_as_good(&list[i].mean, &list[k].mean));
    }
}
