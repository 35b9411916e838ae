#include "cli/frontier.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/answers.h"
#include "record/read/axis.h"
#include "record/write/record.h"
#include "report/recorded.h"
#include "util/grow.h"
#include "util/larger.h"

#define TIMES 1000 /* most times kept per pool: quantiles of all */

struct execution {
    bats_time sent, end;
    enum { ANSWERED, LOST, GIVEN_UP, STOPPED } how;
};

struct pool {
    struct execution *list;
    size_t n, capacity;
    double asked;  /* slots of machines asked for, summed */
    double there;  /* slots of machines that stayed to the end */
    double slots;  /* slots of all machines */
    double charge; /* charge of all machines per window */
};

struct reading {
    struct bats_view *view;
    struct bats_view_status status;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX]; /* only the members
                                                      * unreliable and
                                                      * noticed */
    bool is_free;
    bats_time noticed; /* bats_strategy_noticed */
    int64_t jobs;      /* jobs at a time; 0: machines are not jobs */
    struct bats_axis_executions executions;
    struct pool pools[2]; /* unreliable, reliable */
    size_t n_machines;
    bats_time *done_times; /* ends of tasks, ascending */
    size_t n_done_times;
    bats_time waited; /* until then, some task had never been sent */
};

/* ---- reading ---- */

static int read_options(struct reading *r, struct bats_error *err)
{
    json_t *options;
    int rc = bats_recorded_status(r->view, &r->status, &options, err);
    const json_t *engine = json_object_get(options, "engine");
    const json_t *kinds = json_object_get(engine, "unreliable");
    const json_t *delays = json_object_get(engine, "noticed_us");
    bool any = false;
    for (size_t i = 0; i < json_array_size(kinds) && i < BATS_CLUSTERS_MAX;
         i++) {
        json_int_t kind = json_integer_value(json_array_get(kinds, i));
        r->clusters[i].unreliable = kind > 0;
        r->clusters[i].noticed = json_integer_value(json_array_get(delays, i));
        r->is_free |= kind > 1;
        any |= kind > 0;
    }
    r->noticed = bats_strategy_noticed(r->clusters, BATS_CLUSTERS_MAX);
    r->jobs = json_integer_value(
        json_object_get(json_object_get(engine, "billing"), "jobs"));
    json_decref(options);
    return rc < 0 || any
               ? rc
               : bats_refuse(err,
                             "%s: the run had no cluster with reliable = no",
                             bats_view_path(r->view));
}

/* The pool of the cluster: 0 if it is unreliable. */
static int pool_of(const struct reading *r, const char *cluster)
{
    size_t i = 0;
    while (i + 1 < r->status.n_clusters &&
           strcmp(r->status.clusters[i].name, cluster) != 0)
        i++;
    return r->clusters[i].unreliable ? 0 : 1;
}

static int read_machines(struct reading *r, struct bats_error *err)
{
    struct bats_view_machine m;
    int rc = bats_view_machines(r->view, NULL, err);
    while (rc == 0 && (rc = bats_view_next_machine(r->view, &m, err)) > 0) {
        struct pool *p = &r->pools[pool_of(r, m.cluster)];
        double slots = (double)m.slots;
        p->slots += slots;
        p->charge += (double)m.charge;
        p->asked += m.state != BATS_VIEW_NEVER ? slots : 0;
        p->there += m.state != BATS_VIEW_LOST ? slots : 0;
        r->n_machines++;
        rc = 0;
    }
    return rc;
}

static int how_it_ended(const struct reading *r,
                        const struct bats_axis_execution *s)
{
    if (s->timed_out)
        return GIVEN_UP;
    switch (s->outcome) {
    case BATS_RECORD_LOST:
        return LOST;
    case BATS_RECORD_PREEMPTED:
        return r->noticed > 0 ? LOST : STOPPED;
    case BATS_RECORD_SUPERSEDED:
        return s->was_killed ? STOPPED : ANSWERED;
    default:
        return s->failed || s->outcome == BATS_RECORD_YIELDED ? STOPPED
                                                              : ANSWERED;
    }
}

/* `sent`: by task, when it was first sent. */
static int take(struct reading *r, const struct bats_axis_execution *s,
                bats_time *sent, struct bats_error *err)
{
    struct pool *p = &r->pools[pool_of(r, s->cluster)];
    if (s->task > 0 && s->task <= r->status.tasks && s->given < sent[s->task])
        sent[s->task] = s->given;
    if (s->outcome == BATS_RECORD_RESULT && !s->failed)
        r->done_times[r->n_done_times++] = s->ended;
    if (!bats_grow(&p->list, &p->capacity, p->n + 1, sizeof *p->list))
        return bats_no_memory(err);
    p->list[p->n++] =
        (struct execution){s->given, s->ended, (unsigned)how_it_ended(r, s)};
    return 0;
}

static int read_executions(struct reading *r, struct bats_error *err)
{
    const struct bats_axis_executions *x = &r->executions;
    size_t n = (size_t)r->status.tasks + 1;
    bats_time *sent = malloc(n * sizeof *sent);
    int rc = bats_axis_executions(r->view, &r->executions, err);
    r->done_times = malloc((x->n + 1) * sizeof *r->done_times);
    if (rc == 0 && (!r->done_times || !sent))
        rc = bats_no_memory(err);
    for (size_t i = 0; sent && i < n; i++)
        sent[i] = BATS_NEVER;
    for (size_t i = 0; rc == 0 && i < x->n; i++)
        rc = take(r, &x->list[i], sent, err);
    for (size_t i = 0; rc == 0 && i < n; i++)
        if (sent[i] < BATS_NEVER && sent[i] > r->waited)
            r->waited = sent[i];
    free(sent);
    return rc;
}

/* ---- the pools ---- */

static double slots_of(const struct reading *r, int pool)
{
    const struct pool *p = &r->pools[pool];
    if (r->jobs == 0 || r->n_machines == 0)
        return p->there;
    return fmin(p->slots, (double)r->jobs *
                              (r->pools[0].slots + r->pools[1].slots) /
                              (double)r->n_machines);
}

static double effective_size(const struct reading *r)
{
    const struct pool *p = &r->pools[0];
    double busy = 0, slots = slots_of(r, 0);
    for (size_t i = 0; i < p->n; i++)
        busy += fmax(
            (double)(p->list[i].end < r->waited ? p->list[i].end : r->waited) -
                (double)p->list[i].sent,
            0);
    if (busy <= 0 || p->asked <= 0)
        return slots;
    double size = busy / (double)r->waited;
    if (r->jobs == 0)
        size *= fmax(slots, p->asked) / p->asked;
    return fmax(fmin(round(size), p->slots), 1);
}

/* The executions before `now` as known at that time. For free(). */
static struct bats_instance *list_instances(const struct pool *p,
                                            bats_time now, size_t *n)
{
    struct bats_instance *list = malloc((p->n + 1) * sizeof *list);
    double sum = 0, answered = 0;
    *n = 0;
    for (size_t i = 0; i < p->n; i++) {
        bool counts = p->list[i].how == ANSWERED && p->list[i].end <= now;
        sum += counts ? (double)(p->list[i].end - p->list[i].sent) : 0;
        answered += counts;
    }
    double d = BATS_THROUGHPUT_D * sum / fmax(answered, 1);
    for (size_t i = 0; list && i < p->n; i++) {
        const struct execution *x = &p->list[i];
        bool is_over = x->end <= now, answers = is_over && x->how == ANSWERED;
        if (x->sent < now &&
            !(is_over && x->how == STOPPED && (double)(x->end - x->sent) < d))
            list[(*n)++] = (struct bats_instance){
                .sent = x->sent,
                .time = answers ? x->end - x->sent : -1,
                .ended = !is_over           ? 0
                         : x->end > x->sent ? x->end - x->sent
                                            : 1,
                .noticed = is_over && x->how == LOST};
    }
    return list;
}

/* When fewer tasks were left than the unreliable pool has slots. */
static bats_time tail_of(const struct reading *r, double slots)
{
    double at = (double)r->status.tasks - slots;
    return at < 0 || at >= (double)r->n_done_times ? BATS_NEVER
                                                   : r->done_times[(size_t)at];
}

/* False: no memory, or nothing has answered in the pool. */
static bool find_answers(const struct reading *r, int pool, bats_time now,
                         bats_time d, struct bats_answers *a)
{
    size_t n;
    bats_time end = now < r->executions.end ? now : r->executions.end;
    struct bats_instance *list = list_instances(&r->pools[pool], now, &n);
    bool ok = list && (pool == 0 && r->noticed > 0
                           ? bats_answers_noticed(list, n, end, r->noticed, a)
                           : bats_answers_find(list, n, now, d, a));
    free(list);
    return ok;
}

/* A time after which an unreliable execution no longer answers. */
static bats_time longest(const struct pool *p, bats_time now)
{
    struct bats_answers a;
    size_t n;
    struct bats_instance *list = list_instances(p, now, &n);
    bool found = list && bats_answers_find(list, n, BATS_NEVER, 0, &a);
    free(list);
    if (found)
        free(a.times);
    return found ? (bats_time)(BATS_THROUGHPUT_D * a.mean) : BATS_HOUR;
}

static size_t thin_out(bats_time *times, size_t n)
{
    size_t kept = n < TIMES ? n : TIMES;
    if (n > 0)
        qsort(times, n, sizeof *times, bats_ascending);
    for (size_t i = 0; i < kept; i++)
        times[i] = times[(2 * i + 1) * n / (2 * kept)];
    return kept;
}

/* Takes over the times. */
static void set_times(struct bats_pools *p, int pool, bats_time *times,
                      size_t n)
{
    size_t kept = thin_out(times, n);
    p->times[pool] = times;
    if (pool == 0) {
        p->model.unreliable = times;
        p->model.n_times = kept;
    } else {
        p->model.reliable = times;
        p->model.n_reliable_times = kept;
    }
}

static void set_lost(struct bats_pools *p, bats_time noticed, double loses,
                     bats_time *times, size_t n)
{
    p->lost = times;
    p->model.noticed = noticed;
    p->model.loses = loses;
    p->model.lost = times;
    p->model.n_lost = thin_out(times, n);
}

static void set_pool(const struct reading *r, int pool, double slots,
                     const struct bats_answers *a, struct bats_pools *pools)
{
    const struct pool *p = &r->pools[pool];
    if (pool == 0) {
        pools->model.n_unreliable = (uint32_t)slots;
        pools->model.gamma = a->gamma;
    } else {
        pools->model.n_reliable = (uint32_t)slots;
    }
    set_times(pools, pool, a->times, a->n_times);
    if (pool == 0 && r->noticed > 0)
        set_lost(pools, r->noticed, a->loses, a->lost, a->n_lost);
    else
        free(a->lost);
    *(pool == 0 ? &pools->model.price_unreliable
                : &pools->model.price_reliable) =
        p->charge / p->slots / (double)r->status.window;
}

/* A reliable pool that was never used is assumed to answer like the other
 * one. */
static int make_pools(struct reading *r, bool is_online,
                      struct bats_pools *pools, struct bats_error *err)
{
    struct bats_answers a;
    double size[2] = {effective_size(r), slots_of(r, 1)};
    bats_time now = is_online ? tail_of(r, size[0]) : BATS_NEVER;
    bats_time d = longest(&r->pools[0], now);
    if (size[0] < 1 || !find_answers(r, 0, now, d, &a))
        return bats_refuse(
            err, "%s: nothing has answered in the unreliable clusters",
            bats_view_path(r->view));
    set_pool(r, 0, size[0], &a, pools);
    if (size[1] >= 1 &&
        (find_answers(r, 1, now, d, &a) || find_answers(r, 0, now, d, &a)))
        set_pool(r, 1, size[1], &a, pools);
    pools->model.n_tasks = (uint32_t)r->status.tasks;
    pools->model.lost_is_free = r->is_free;
    snprintf(pools->currency, sizeof pools->currency, "%.15s",
             r->status.currency);
    return 0;
}

int bats_pools_of_record(struct bats_view *view, bool is_online,
                         struct bats_pools *pools, struct bats_error *err)
{
    struct reading r = {.view = view};
    *pools = (struct bats_pools){0};
    int rc = read_options(&r, err);
    if (rc == 0)
        rc = read_machines(&r, err);
    if (rc == 0)
        rc = read_executions(&r, err);
    if (rc == 0)
        rc = make_pools(&r, is_online, pools, err);
    free(r.executions.list);
    free(r.done_times);
    free(r.pools[0].list);
    free(r.pools[1].list);
    return rc;
}

void bats_pools_release(struct bats_pools *pools)
{
    free(pools->times[0]);
    free(pools->times[1]);
    free(pools->lost);
    *pools = (struct bats_pools){0};
}
