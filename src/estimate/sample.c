/* See sample.h. */
#include "bats/sample.h"

#include <gsl/gsl_statistics_double.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Runtimes by task, ascending, and cluster; 0: not measured. */
struct table {
    double *runtime; /* n_tasks rows of n_clusters */
    size_t n_tasks, n_clusters;
};

/* Sorts by task, stably. */
static int by_task(const void *left, const void *right)
{
    const struct bats_observation *a =
        *(const struct bats_observation *const *)left;
    const struct bats_observation *b =
        *(const struct bats_observation *const *)right;
    if (a->task != b->task)
        return a->task < b->task ? -1 : 1;
    return a < b ? -1 : a > b;
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

/* The first observation of a task on a cluster counts. */
static int make_table(struct table *t, const struct bats_observation *o,
                      size_t n, struct bats_error *err)
{
    const struct bats_observation **sorted = malloc((n + 1) * sizeof *sorted);
    for (size_t i = 0; sorted && i < n; i++)
        sorted[i] = &o[i];
    if (sorted)
        qsort(sorted, n, sizeof *sorted, by_task);
    for (size_t i = 0; sorted && i < n; i++)
        t->n_tasks += i == 0 || sorted[i]->task != sorted[i - 1]->task;
    t->runtime = calloc(t->n_tasks * t->n_clusters + 1, sizeof *t->runtime);
    double *row = t->runtime;
    for (size_t i = 0; sorted && row && i < n; i++) {
        if (i > 0 && sorted[i]->task != sorted[i - 1]->task)
            row += t->n_clusters;
        if (row[sorted[i]->cluster] <= 0)
            row[sorted[i]->cluster] = fmax((double)sorted[i]->runtime, 1);
    }
    bool ok = sorted && t->runtime;
    free(sorted);
    return ok ? 0 : bats_no_memory(err);
}

static const double *row_of(const struct table *t, size_t task)
{
    return t->runtime + task * t->n_clusters;
}

static double mean_on(const struct table *t, size_t cluster)
{
    double sum = 0, n = 0;
    for (size_t i = 0; i < t->n_tasks; i++) {
        sum += row_of(t, i)[cluster];
        n += row_of(t, i)[cluster] > 0;
    }
    return sum / n;
}

/* Collects runtimes of tasks run on both clusters; returns their number. */
static size_t pairs_of(const struct table *t, size_t from, size_t to,
                       double *x, double *y)
{
    size_t n = 0;
    for (size_t i = 0; i < t->n_tasks; i++) {
        x[n] = row_of(t, i)[from];
        y[n] = row_of(t, i)[to];
        n += x[n] > 0 && y[n] > 0;
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

/* A task's runtime on the base: measured, or from the cluster with the most
 * pairs. */
static double on_base(const struct bats_sample *s, const double *row)
{
    size_t best = s->n_clusters;
    for (size_t k = 0; k < s->n_clusters && row[s->base] <= 0; k++)
        if (row[k] > 0 && (best == s->n_clusters ||
                           s->clusters[k].n_pairs > s->clusters[best].n_pairs))
            best = k;
    return best == s->n_clusters
               ? row[s->base]
               : bats_regression_invert(&s->clusters[best].line, row[best]);
}

static void complete(struct bats_sample *s, const struct table *t)
{
    for (size_t i = 0; i < t->n_tasks; i++) {
        const double *row = row_of(t, i);
        double base = on_base(s, row);
        for (size_t k = 0; k < s->n_clusters; k++) {
            struct bats_cluster_sample *c = &s->clusters[k];
            if (c->n_measured > 0)
                c->runtimes[c->n++] =
                    row[k] > 0 ? row[k]
                               : bats_regression_apply(&c->line, base);
        }
    }
}

/* Counts the measured runtimes, and finds the base. False: out of memory. */
static bool count(struct bats_sample *s, const struct table *t)
{
    bool enough = true;
    for (size_t i = 0; i < t->n_tasks * s->n_clusters; i++)
        s->clusters[i % s->n_clusters].n_measured += t->runtime[i] > 0;
    for (size_t k = 0; k < s->n_clusters; k++) {
        struct bats_cluster_sample *c = &s->clusters[k];
        if (c->n_measured > s->clusters[s->base].n_measured)
            s->base = k;
        if (c->n_measured > 0)
            c->runtimes = malloc(t->n_tasks * sizeof *c->runtimes);
        enough &= c->n_measured == 0 || c->runtimes;
    }
    return enough;
}

int bats_sample_init(struct bats_sample *sample, size_t n_clusters,
                     const struct bats_observation *observations, size_t n,
                     struct bats_error *err)
{
    struct table t = {.n_clusters = n_clusters};
    struct bats_sample s = {.n_clusters = n_clusters};
    double *pairs = NULL;
    int rc = check(n_clusters, observations, n, err);
    if (rc == 0)
        rc = make_table(&t, observations, n, err);
    if (rc == 0)
        pairs = malloc((2 * t.n_tasks + 2) * sizeof *pairs);
    if (rc == 0 && (!pairs || !count(&s, &t)))
        rc = bats_no_memory(err);
    for (size_t k = 0; rc == 0 && k < n_clusters; k++)
        if (s.clusters[k].n_measured > 0)
            fit(&s, &t, k, pairs, pairs + t.n_tasks + 1);
    if (rc == 0) {
        complete(&s, &t);
        *sample = s;
    } else {
        bats_sample_release(&s);
    }
    free(pairs);
    free(t.runtime);
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
    double *like = malloc((base->n + 1) * sizeof *like);
    if (!like)
        return BATS_ENOMEM;
    if (mean_base <= 0)
        mean_base = fmax(gsl_stats_mean(base->runtimes, 1, base->n), 1);
    for (uint32_t i = 0; i < base->n; i++)
        like[i] = mean / mean_base * base->runtimes[i];
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
