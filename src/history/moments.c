#include "history/moments.h"

#include <gsl/gsl_sort_float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bats/error.h"
#include "util/grow.h"

#define SAMPLE 1024
#define PER_OCTAVE 8
#define WORTHWHILE 0.95 /* of the cost: a proposal must be cheaper */

static struct bats_gather_cell *cell_of(struct bats_gather *gather,
                                        uint32_t kind, uint32_t cluster)
{
    for (size_t i = gather->n; i-- > 0;)
        if (gather->cells[i].kind == kind &&
            gather->cells[i].cluster == cluster)
            return &gather->cells[i];
    if (!bats_grow(&gather->cells, &gather->room, gather->n + 1,
                   sizeof *gather->cells))
        return NULL;
    struct bats_gather_cell *c = &gather->cells[gather->n++];
    *c = (struct bats_gather_cell){
        .kind = kind, .cluster = cluster, .stride = 1};
    return c;
}

static void thin_out(struct bats_gather_cell *c)
{
    for (size_t i = 0; i < SAMPLE / 2; i++)
        c->sample[i] = c->sample[2 * i];
    c->n_sample = SAMPLE / 2;
    c->stride *= 2;
}

int bats_gather_note(struct bats_gather *gather, uint32_t kind,
                     uint32_t cluster, double seconds)
{
    struct bats_gather_cell *c = cell_of(gather, kind, cluster);
    if (c == NULL)
        return BATS_ENOMEM;
    struct bats_moments *m = &c->moments;
    if (m->tasks % c->stride == 0) {
        if (c->n_sample == SAMPLE)
            thin_out(c);
        if (!bats_grow(&c->sample, &c->room, c->n_sample + 1,
                       sizeof *c->sample))
            return BATS_ENOMEM;
        if (m->tasks % c->stride == 0)
            c->sample[c->n_sample++] = (float)seconds;
    }
    m->tasks++;
    m->sum += seconds;
    m->squares += seconds * seconds;
    m->log_sum += log(seconds);
    m->log_squares += log(seconds) * log(seconds);
    return 0;
}

static bool is_alike(const struct bats_past_size *a,
                     const struct bats_past_size *b)
{
    return a->kind == b->kind && a->used_kib == b->used_kib &&
           a->asked_kib == b->asked_kib && a->cores == b->cores &&
           a->slots == b->slots && a->node_kib == b->node_kib;
}

int bats_gather_size(struct bats_gather *g, const struct bats_past_size *task)
{
    struct bats_past_size new = *task;
    size_t i = 0;
    if (task->used_kib > 0)
        new.used_kib = bats_size_class(task->used_kib);
    while (i < g->n_sizes && !is_alike(&g->sizes[i], &new))
        i++;
    if (i < g->n_sizes) {
        g->sizes[i].tasks += task->tasks;
        g->sizes[i].seconds += task->seconds;
        g->sizes[i].limit_s = fmax(g->sizes[i].limit_s, task->limit_s);
        g->sizes[i].most_s = fmax(g->sizes[i].most_s, task->most_s);
        return 0;
    }
    if (!bats_grow(&g->sizes, &g->sizes_room, i + 1, sizeof *g->sizes))
        return BATS_ENOMEM;
    g->sizes[g->n_sizes++] = new;
    return 0;
}

int bats_gather_point(struct bats_gather *gather, uint32_t kind,
                      uint32_t cluster, uint32_t task, const char *names,
                      const double *x, uint32_t n, double seconds)
{
    struct bats_gather_cell *c = cell_of(gather, kind, cluster);
    if (c != NULL && c->sweep == NULL &&
        (c->sweep = calloc(1, sizeof *c->sweep)) != NULL) {
        snprintf(c->sweep->names, sizeof c->sweep->names, "%s", names);
        c->sweep->sums.n = n;
    }
    if (c == NULL || c->sweep == NULL)
        return BATS_ENOMEM;
    bats_factors_note(&c->sweep->sums, task, x, seconds);
    return 0;
}

/* With linear interpolation. */
static double quantile(const struct bats_gather_cell *c, double p)
{
    double at = p * (double)(c->n_sample - 1);
    size_t low = (size_t)at, high = low + 1 < c->n_sample ? low + 1 : low;
    double part = at - (double)low;
    return (1 - part) * (double)c->sample[low] +
           part * (double)c->sample[high];
}

struct bats_moments bats_gather_moments(struct bats_gather *gather, size_t i)
{
    struct bats_gather_cell *c = &gather->cells[i];
    struct bats_moments m = c->moments;
    if (c->n_sample == 0)
        return m;
    gsl_sort_float(c->sample, 1, c->n_sample);
    m.p10 = quantile(c, 0.1);
    m.p50 = quantile(c, 0.5);
    m.p90 = quantile(c, 0.9);
    return m;
}

void bats_gather_release(struct bats_gather *gather)
{
    for (size_t i = 0; i < gather->n; i++) {
        free(gather->cells[i].sample);
        free(gather->cells[i].sweep);
    }
    free(gather->sizes);
    free(gather->cells);
    *gather = (struct bats_gather){0};
}

/* ---- memory ---- */

int64_t bats_size_class(int64_t kib)
{
    double step = ceil(log2((double)kib) * PER_OCTAVE - 1e-9);
    return (int64_t)ceil(exp2(step / PER_OCTAVE) - 1e-6);
}

static double share(const struct bats_past_size *s, double kib)
{
    return fmin(1, fmax((double)s->cores / (double)s->slots,
                        kib / (double)s->node_kib));
}

double bats_size_cost(const struct bats_past_size *list, size_t n,
                      uint32_t kind, int64_t asked_kib, double factor,
                      double *again)
{
    double cost = 0, tasks = 0, repeated = 0;
    for (size_t i = 0; i < n; i++) {
        const struct bats_past_size *s = &list[i];
        double kib = (double)asked_kib;
        if (s->kind != kind || s->slots == 0 || s->node_kib == 0)
            continue;
        cost += s->seconds * share(s, kib);
        for (; kib < (double)s->used_kib; kib *= factor)
            cost += s->seconds * share(s, kib * factor);
        tasks += (double)s->tasks;
        repeated += asked_kib < s->used_kib ? (double)s->tasks : 0;
    }
    *again = tasks > 0 ? repeated / tasks : 0;
    return tasks > 0 ? cost / tasks : -1;
}

static void consider(const struct bats_past_size *list, size_t n,
                     uint32_t kind, double kib, double factor,
                     struct bats_size_choice *best)
{
    struct bats_size_choice new = {.kib = (int64_t)ceil(kib),
                                   .now = best->now};
    new.cost = bats_size_cost(list, n, kind, new.kib, factor, &new.again);
    if (new.cost >= 0 && (new.cost < best->cost ||
                          (new.cost <= best->cost &&new.kib < best->kib)))
        *best = new;
}

/* The cheapest request lets some task end in some try without a rest. One with
 * which all tasks are tried again is not the cheapest. */
bool bats_size_best(const struct bats_past_size *list, size_t n, uint32_t kind,
                    int64_t asked_kib, double factor,
                    struct bats_size_choice *best)
{
    double least = INFINITY;
    *best = (struct bats_size_choice){.cost = INFINITY};
    best->now = bats_size_cost(list, n, kind, asked_kib, factor, &best->again);
    for (size_t i = 0; i < n; i++)
        if (list[i].kind == kind && list[i].used_kib > 0)
            least = fmin(least, (double)list[i].used_kib);
    for (size_t i = 0; i < n; i++)
        for (double kib = (double)list[i].used_kib;
             list[i].kind == kind && kib >= least; kib /= factor)
            consider(list, n, kind, kib * BATS_SIZE_SPARE, factor, best);
    return best->cost <= WORTHWHILE * best->now && best->kib < asked_kib;
}
