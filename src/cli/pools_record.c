#include "cli/frontier.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/answers.h"
#include "record/read/axis.h"
#include "util/larger.h"

#define TIMES 1000 /* most times kept per pool: quantiles of all */

struct reading {
    struct bats_axis_pools is;
    bats_time *done_times; /* ends of tasks, ascending */
    size_t n_done_times;
    bats_time waited; /* until then, some task had never been sent */
};

static int read_record(struct reading *r, struct bats_view *view,
                       struct bats_error *err)
{
    int rc = bats_axis_pools(view, &r->is, err);
    if (rc == 0 && !r->is.is_unreliable)
        rc = bats_refuse(err, "%s: the run had no cluster with reliable = no",
                         bats_view_path(view));
    r->done_times = malloc((r->is.n + 1) * sizeof *r->done_times);
    if (rc == 0 && !r->done_times)
        rc = bats_no_memory(err);
    for (size_t i = 0; rc == 0 && i < r->is.n; i++) {
        const struct bats_axis_execution *x = &r->is.list[i];
        if (x->is_done)
            r->done_times[r->n_done_times++] = x->end;
        if (x->first > r->waited)
            r->waited = x->first;
    }
    return rc;
}

/* ---- the pools ---- */

static double slots_of(const struct reading *r, int pool)
{
    const struct bats_axis_pool *p = r->is.pool;
    return r->is.jobs == 0
               ? p[pool].there
               : fmin(p[pool].slots, (double)r->is.jobs *
                                         (p[0].slots + p[1].slots) /
                                         (double)r->is.n_machines);
}

static double effective_size(const struct reading *r)
{
    const struct bats_axis_pool *p = &r->is.pool[0];
    double busy = 0, slots = slots_of(r, 0);
    for (size_t i = 0; i < r->is.n; i++) {
        const struct bats_axis_execution *x = &r->is.list[i];
        double end = (double)(x->end < r->waited ? x->end : r->waited);
        busy += x->pool == 0 ? fmax(end - (double)x->sent, 0) : 0;
    }
    if (busy <= 0 || p->asked <= 0)
        return slots;
    double size = busy / (double)r->waited;
    if (r->is.jobs == 0)
        size *= fmax(slots, p->asked) / p->asked;
    return fmax(fmin(round(size), p->slots), 1);
}

/* The pool's executions before `now` as known at that time. For free(). */
static struct bats_instance *list_instances(const struct bats_axis_pools *p,
                                            int pool, bats_time now, size_t *n)
{
    struct bats_instance *list = malloc((p->n + 1) * sizeof *list);
    double sum = 0, answered = 0;
    *n = 0;
    for (size_t i = 0; i < p->n; i++) {
        const struct bats_axis_execution *x = &p->list[i];
        bool counts =
            x->pool == pool && x->how == BATS_ANSWERED && x->end <= now;
        sum += counts ? (double)(x->end - x->sent) : 0;
        answered += counts;
    }
    double d = BATS_THROUGHPUT_D * sum / fmax(answered, 1);
    for (size_t i = 0; list && i < p->n; i++) {
        const struct bats_axis_execution *x = &p->list[i];
        bool is_over = x->end <= now;
        bool answers = is_over && x->how == BATS_ANSWERED;
        if (x->pool == pool && x->sent < now &&
            !(is_over && x->how == BATS_STOPPED &&
              (double)(x->end - x->sent) < d))
            list[(*n)++] = (struct bats_instance){
                .sent = x->sent,
                .time = answers ? x->end - x->sent : -1,
                .ended = !is_over           ? 0
                         : x->end > x->sent ? x->end - x->sent
                                            : 1,
                .noticed = is_over && x->how == BATS_LOST};
    }
    return list;
}

/* When fewer tasks were left than the unreliable pool has slots. */
static bats_time tail_of(const struct reading *r, double slots)
{
    double at = (double)r->is.tasks - slots;
    return at < 0 || at >= (double)r->n_done_times ? BATS_NEVER
                                                   : r->done_times[(size_t)at];
}

/* False: no memory, or nothing has answered in the pool. */
static bool find_answers(const struct reading *r, int pool, bats_time now,
                         bats_time d, struct bats_answers *a)
{
    size_t n;
    bats_time end = now < r->is.end ? now : r->is.end;
    struct bats_instance *list = list_instances(&r->is, pool, now, &n);
    bool ok =
        list && (pool == 0 && r->is.noticed > 0
                     ? bats_answers_noticed(list, n, end, r->is.noticed, a)
                     : bats_answers_find(list, n, now, d, a));
    free(list);
    return ok;
}

/* A time after which an unreliable execution no longer answers. */
static bats_time longest(const struct reading *r, bats_time now)
{
    struct bats_answers a;
    size_t n;
    struct bats_instance *list = list_instances(&r->is, 0, now, &n);
    bool found = list && bats_answers_find(list, n, BATS_NEVER, 0, &a);
    free(list);
    if (found)
        free(a.times);
    return found ? (bats_time)(BATS_THROUGHPUT_D * a.mean) : BATS_HOUR;
}

/* Takes over the times. */
static void set_times(struct bats_pools *p, int pool, bats_time *times,
                      size_t n)
{
    size_t kept = bats_thin_out(times, n, TIMES);
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
    p->model.n_lost = bats_thin_out(times, n, TIMES);
}

static void set_pool(const struct reading *r, int pool, double slots,
                     const struct bats_answers *a, struct bats_pools *pools)
{
    const struct bats_axis_pool *p = &r->is.pool[pool];
    if (pool == 0) {
        pools->model.n_unreliable = (uint32_t)slots;
        pools->model.gamma = a->gamma;
    } else {
        pools->model.n_reliable = (uint32_t)slots;
    }
    set_times(pools, pool, a->times, a->n_times);
    if (pool == 0 && r->is.noticed > 0)
        set_lost(pools, r->is.noticed, a->loses, a->lost, a->n_lost);
    else
        free(a->lost);
    *(pool == 0 ? &pools->model.price_unreliable
                : &pools->model.price_reliable) =
        p->charge / p->slots / (double)r->is.window;
}

/* A reliable pool that was never used is assumed to answer like the other
 * one. */
static int make_pools(struct reading *r, const char *path, bool is_online,
                      struct bats_pools *pools, struct bats_error *err)
{
    struct bats_answers a;
    double size[2] = {effective_size(r), slots_of(r, 1)};
    bats_time now = is_online ? tail_of(r, size[0]) : BATS_NEVER;
    bats_time d = longest(r, now);
    if (size[0] < 1 || !find_answers(r, 0, now, d, &a))
        return bats_refuse(
            err, "%s: nothing has answered in the unreliable clusters", path);
    set_pool(r, 0, size[0], &a, pools);
    if (size[1] >= 1 &&
        (find_answers(r, 1, now, d, &a) || find_answers(r, 0, now, d, &a)))
        set_pool(r, 1, size[1], &a, pools);
    pools->model.n_tasks = (uint32_t)r->is.tasks;
    pools->model.lost_is_free = r->is.is_free;
    snprintf(pools->currency, sizeof pools->currency, "%.15s", r->is.currency);
    return 0;
}

int bats_pools_of_record(struct bats_view *view, bool is_online,
                         struct bats_pools *pools, struct bats_error *err)
{
    struct reading r = {.waited = 0};
    *pools = (struct bats_pools){0};
    int rc = read_record(&r, view, err);
    if (rc == 0)
        rc = make_pools(&r, bats_view_path(view), is_online, pools, err);
    free(r.is.list);
    free(r.done_times);
    return rc;
}

void bats_pools_release(struct bats_pools *pools)
{
    free(pools->times[0]);
    free(pools->times[1]);
    free(pools->lost);
    *pools = (struct bats_pools){0};
}
