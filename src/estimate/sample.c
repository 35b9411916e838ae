/* See sample.h. */
#include "bats/sample.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Observations sorted by task. */
struct table {
    struct bats_observation *row;
    size_t n;
    size_t n_tasks;
};

/* Sorts by task and cluster, stably. */
static int by_task(const void *a, const void *b)
{
    const struct bats_observation *s =
        *(const struct bats_observation *const *)a;
    const struct bats_observation *t =
        *(const struct bats_observation *const *)b;

    if (s->task != t->task)
        return s->task < t->task ? -1 : 1;
    if (s->cluster != t->cluster)
        return s->cluster < t->cluster ? -1 : 1;
    return s < t ? -1 : s > t;
}

static int check(size_t n_clusters, const struct bats_observation *o, size_t n,
                 struct bats_error *err)
{
    if (n_clusters < 1 || n_clusters > BATS_CLUSTERS_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "a sample is of 1 to %d clusters, not %zu",
                              BATS_CLUSTERS_MAX, n_clusters);
    for (size_t i = 0; i < n; i++) {
        if (o[i].cluster >= n_clusters)
            return bats_error_set(err, BATS_EINPUT,
                                  "task %" PRIu32
                                  " was sampled on cluster %" PRIu32
                                  ", but there are only %zu",
                                  o[i].task + 1, o[i].cluster + 1, n_clusters);
        if (o[i].runtime < 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "the runtime of task %" PRIu32 " on cluster "
                                  "%" PRIu32 " is negative",
                                  o[i].task + 1, o[i].cluster + 1);
    }
    return 0;
}

/* Sorts the observations and drops repeated ones. */
static int make_table(struct table *t, const struct bats_observation *o,
                      size_t n, struct bats_error *err)
{
    const struct bats_observation **sorted = malloc((n + 1) * sizeof *sorted);

    *t = (struct table){.row = malloc((n + 1) * sizeof *t->row)};
    if (!t->row || !sorted) {
        free(sorted);
        return bats_no_memory(err);
    }
    for (size_t i = 0; i < n; i++)
        sorted[i] = &o[i];
    qsort(sorted, n, sizeof *sorted, by_task);
    for (size_t i = 0; i < n; i++) {
        bool first = t->n == 0 || t->row[t->n - 1].task != sorted[i]->task;
        if (!first && t->row[t->n - 1].cluster == sorted[i]->cluster)
            continue;
        t->n_tasks += first;
        t->row[t->n++] = *sorted[i];
    }
    free(sorted);
    return 0;
}

static double runtime_of(const struct bats_observation *o)
{
    return fmax((double)o->runtime, 1);
}

/* First row after those of row i's task. */
static size_t end_of_task(const struct table *t, size_t i)
{
    size_t end = i;

    while (end < t->n && t->row[end].task == t->row[i].task)
        end++;
    return end;
}

/* The runtime of a task, rows i .. end - 1, on `cluster`; 0: none. */
static double measured(const struct table *t, size_t i, size_t end,
                       size_t cluster)
{
    for (; i < end; i++)
        if (t->row[i].cluster == cluster)
            return runtime_of(&t->row[i]);
    return 0;
}

static double mean_on(const struct table *t, size_t cluster)
{
    double sum = 0;
    size_t n = 0;

    for (size_t i = 0; i < t->n; i++)
        if (t->row[i].cluster == cluster) {
            sum += runtime_of(&t->row[i]);
            n++;
        }
    return sum / (double)n;
}

/* Collects runtimes of tasks run on both clusters; returns their number. */
static size_t pairs_of(const struct table *t, size_t from, size_t to,
                       double *x, double *y)
{
    size_t n = 0;

    for (size_t i = 0, end; i < t->n; i = end) {
        end = end_of_task(t, i);
        x[n] = measured(t, i, end, from);
        y[n] = measured(t, i, end, to);
        if (x[n] > 0 && y[n] > 0)
            n++;
    }
    return n;
}

/* The line from the base to cluster k without common tasks: through a third
 * cluster, or else from the means. */
static struct bats_regression detour(const struct bats_sample *s,
                                     const struct table *t, size_t k,
                                     double *x, double *y)
{
    for (size_t j = 0; j < s->n_clusters; j++) {
        size_t n_base = pairs_of(t, j, s->base, x, y);
        if (n_base == 0)
            continue;
        struct bats_regression to_base = bats_regression_fit(x, y, n_base);
        size_t n_k = pairs_of(t, j, k, x, y);
        if (n_k == 0)
            continue;
        struct bats_regression to_k = bats_regression_fit(x, y, n_k);
        return bats_regression_compose(&to_base, &to_k);
    }
    x[0] = mean_on(t, s->base);
    y[0] = mean_on(t, k);
    return bats_regression_fit(x, y, 1);
}

/* The line from the base to cluster k; x, y: room for all tasks. */
static void fit(struct bats_sample *s, const struct table *t, size_t k,
                double *x, double *y)
{
    struct bats_cluster_sample *c = &s->clusters[k];
    size_t n = pairs_of(t, s->base, k, x, y);

    c->n_pairs = (uint32_t)n;
    if (k == s->base)
        c->line = (struct bats_regression){.b1 = 1};
    else
        c->line = n > 0 ? bats_regression_fit(x, y, n) : detour(s, t, k, x, y);
}

/* Runtime on the base of the task in rows i .. end - 1. */
static double on_base(const struct bats_sample *s, const struct table *t,
                      size_t i, size_t end)
{
    double base = measured(t, i, end, s->base);

    if (base > 0)
        return base;
    /* Use the cluster with the most pairs. */
    size_t best = i;
    for (size_t j = i + 1; j < end; j++)
        if (s->clusters[t->row[j].cluster].n_pairs >
            s->clusters[t->row[best].cluster].n_pairs)
            best = j;
    return bats_regression_invert(&s->clusters[t->row[best].cluster].line,
                                  runtime_of(&t->row[best]));
}

static void complete(struct bats_sample *s, const struct table *t)
{
    for (size_t i = 0, end; i < t->n; i = end) {
        end = end_of_task(t, i);
        double base = on_base(s, t, i, end);
        for (size_t k = 0; k < s->n_clusters; k++) {
            struct bats_cluster_sample *c = &s->clusters[k];
            if (c->n_measured == 0)
                continue;
            double here = measured(t, i, end, k);
            c->runtimes[c->n++] =
                here > 0 ? here : bats_regression_apply(&c->line, base);
        }
    }
}

int bats_sample_init(struct bats_sample *sample, size_t n_clusters,
                     const struct bats_observation *observations, size_t n,
                     struct bats_error *err)
{
    struct table t = {.row = NULL};
    struct bats_sample s = {.n_clusters = n_clusters};
    double *pairs = NULL;
    int rc = check(n_clusters, observations, n, err);

    if (rc == 0)
        rc = make_table(&t, observations, n, err);
    if (rc < 0)
        goto error;
    for (size_t i = 0; i < t.n; i++)
        s.clusters[t.row[i].cluster].n_measured++;
    pairs = malloc((2 * t.n_tasks + 2) * sizeof *pairs);
    bool enough = pairs != NULL;
    for (size_t k = 0; k < n_clusters; k++) {
        struct bats_cluster_sample *c = &s.clusters[k];
        if (c->n_measured > s.clusters[s.base].n_measured)
            s.base = k;
        if (c->n_measured == 0)
            continue;
        c->runtimes = malloc(t.n_tasks * sizeof *c->runtimes);
        enough = enough && c->runtimes != NULL;
    }
    if (!enough) {
        rc = bats_no_memory(err);
        goto error;
    }
    for (size_t k = 0; k < n_clusters; k++)
        if (s.clusters[k].n_measured > 0)
            fit(&s, &t, k, pairs, pairs + t.n_tasks + 1);
    complete(&s, &t);
    *sample = s;
    free(pairs);
    free(t.row);
    return 0;

error:
    bats_sample_release(&s);
    free(pairs);
    free(t.row);
    return rc;
}

void bats_sample_release(struct bats_sample *sample)
{
    for (size_t k = 0; k < BATS_CLUSTERS_MAX; k++)
        free(sample->clusters[k].runtimes);
    *sample = (struct bats_sample){0};
}

/* Runtimes of a cluster without measurements, from the expected one. */
static int guess(const struct bats_sample *sample, double p, double mean,
                 double mean_base, struct bats_runtimes *runtimes)
{
    const struct bats_cluster_sample *base = &sample->clusters[sample->base];
    double *like = malloc((base->n + 1) * sizeof *like), sum = 0;

    if (!like)
        return BATS_ENOMEM;
    for (uint32_t i = 0; i < base->n; i++)
        sum += base->runtimes[i];
    double factor = mean_base > 0 ? mean / mean_base
                                  : mean / fmax(sum / fmax(base->n, 1), 1);
    for (uint32_t i = 0; i < base->n; i++)
        like[i] = factor * base->runtimes[i];
    *runtimes = base->n > 0 ? bats_runtimes_of(like, base->n, p)
                            : bats_runtimes_given(mean);
    runtimes->is_guess = true;
    free(like);
    return 0;
}

int bats_sample_runtimes(const struct bats_sample *sample, double p,
                         const bats_time *expected,
                         struct bats_runtimes *runtimes,
                         struct bats_error *err)
{
    double base = expected ? (double)expected[sample->base] : 0;

    for (size_t k = 0; k < sample->n_clusters; k++) {
        const struct bats_cluster_sample *c = &sample->clusters[k];
        runtimes[k] = c->n > 0 ? bats_runtimes_of(c->runtimes, c->n, p)
                               : (struct bats_runtimes){.mean = 0};
        runtimes[k].is_guess = c->n_measured == 1;
        if (c->n == 0 && expected && expected[k] > 0 &&
            guess(sample, p, (double)expected[k], base, &runtimes[k]) < 0)
            return bats_no_memory(err);
    }
    return 0;
}
