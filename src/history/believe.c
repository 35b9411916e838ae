#include "history/believe.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The texts agree, or one is unknown. */
static bool agree(const char *a, const char *b)
{
    return a[0] == '\0' || b[0] == '\0' || strcmp(a, b) == 0;
}

/* Cluster that matches a place of the history; SIZE_MAX: none. */
static size_t cluster_of(const struct bats_past_place *p,
                         const struct bats_past_place *clusters, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(p->name, clusters[i].name) == 0 &&
            agree(p->site, clusters[i].site) &&
            agree(p->hardware, clusters[i].hardware))
            return i;
    for (size_t i = 0; i < n; i++)
        if (p->hardware[0] != '\0' &&
            strcmp(p->hardware, clusters[i].hardware) == 0 &&
            strcmp(p->site, clusters[i].site) == 0)
            return i;
    return SIZE_MAX;
}

/* Places of the rows: first the clusters, then unmatched places of the
 * history, through which clusters can be compared. */
static uint32_t *find_places(const struct bats_past *past,
                             const struct bats_past_place *clusters, size_t n,
                             uint32_t *place)
{
    uint32_t *of = malloc((past->n_places + 1) * sizeof *of);
    for (size_t i = 0; i < n; i++)
        place[i] = UINT32_MAX;
    for (size_t i = 0; of != NULL && i < past->n_places; i++) {
        size_t c = cluster_of(&past->places[i], clusters, n);
        of[i] = (uint32_t)(c == SIZE_MAX ? n + i : c);
        if (c != SIZE_MAX)
            place[c] = (uint32_t)c;
    }
    return of;
}

static int by_bag(const void *left, const void *right)
{
    const struct bats_prior_row *a = left, *b = right;
    if (a->bag != b->bag)
        return a->bag < b->bag ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

/* Whether two rows are from the same bag: the same run, or merged rows of the
 * same month. */
static bool is_same_bag(const struct bats_past_row *a,
                        const struct bats_past_row *b)
{
    return a->run != 0 ? a->run == b->run
                       : b->run == 0 && a->month == b->month;
}

/* The bag of a query. */
struct question {
    const struct bats_task_kinds *kinds;
    const char *names;
    const struct bats_past_model *models; /* by kind; NULL: none */
};

/* With a model, means become ratios of runtimes to the model's. Bags without
 * parameters then count as another kind. */
static void compare(const struct bats_past *past,
                    const struct bats_past_row *from, const struct question *q,
                    struct bats_prior_row *row)
{
    for (size_t k = 0; q->models != NULL && k < q->kinds->n; k++) {
        const struct bats_factor_model *m = &q->models[k].model;
        if (!m->is_there ||
            strcmp(q->kinds->kind[k].name, past->kinds[from->kind]) != 0)
            continue;
        double level =
            from->sweep != NULL && strcmp(from->sweep->names, q->names) == 0
                ? bats_factors_level(m, &from->sweep->sums)
                : 0;
        if (level > 0)
            row->mean = level * (double)BATS_SECOND;
        else
            row->kind = UINT32_MAX - 1;
    }
}

static struct bats_prior_row *make_rows(const struct bats_past *past,
                                        const uint32_t *place_of,
                                        const struct question *q)
{
    struct bats_prior_row *rows = malloc((past->n_rows + 1) * sizeof *rows);
    uint32_t bags = 0;
    for (size_t i = 0; rows != NULL && i < past->n_rows; i++) {
        const struct bats_past_row *r = &past->rows[i];
        const struct bats_moments *m = &r->moments;
        double n = (double)m->tasks, mean = m->sum / n;
        double variance = m->squares / n - mean * mean;
        size_t k = i;
        while (k > 0 && !is_same_bag(r, &past->rows[k - 1]))
            k--;
        rows[i] =
            (struct bats_prior_row){.bag = k > 0 ? rows[k - 1].bag : bags++,
                                    .kind = r->kind,
                                    .place = place_of[r->place],
                                    .tasks = n,
                                    .mean = mean * (double)BATS_SECOND,
                                    .cv = sqrt(fmax(variance, 0)) / mean};
        compare(past, r, q, &rows[i]);
    }
    if (rows != NULL)
        qsort(rows, past->n_rows, sizeof *rows, by_bag);
    return rows;
}

int bats_history_speeds(const struct bats_past *past,
                        struct bats_prior_past *speeds, struct bats_error *err)
{
    uint32_t *place = malloc((past->n_places + 1) * sizeof *place);
    for (uint32_t i = 0; place != NULL && i < past->n_places; i++)
        place[i] = i;
    struct bats_prior_row *rows =
        place != NULL
            ? make_rows(past, place, &(struct question){.kinds = NULL})
            : NULL;
    int rc = rows != NULL ? bats_prior_learn(rows, past->n_rows,
                                             past->n_places, speeds, err)
                          : bats_no_memory(err);
    free(place);
    free(rows);
    return rc;
}

static uint32_t find_kind(const struct bats_past *past, const char *name)
{
    for (uint32_t i = 0; i < past->n_kinds; i++)
        if (strcmp(past->kinds[i], name) == 0)
            return i;
    return UINT32_MAX;
}

/* Scales the level by the model's mean over the bag's points. */
static void take_points(const struct bats_past_model *m, size_t n_clusters,
                        struct bats_prior *prior)
{
    for (size_t i = 0; i < n_clusters && m->model.is_there; i++)
        prior->mean[i] *= m->mean;
    if (m->model.is_there)
        prior->cv = sqrt(m->cv * m->cv + m->model.error * m->model.error);
}

/* The belief about each kind of the bag, and about all together. */
static bool mix(const struct bats_past *past,
                const struct bats_prior_past *speeds,
                const struct bats_prior_row *rows, const uint32_t *place,
                const double *charge, size_t n_clusters,
                const struct question *q, double *weight,
                struct bats_believed *b)
{
    const struct bats_task_kinds *kinds = q->kinds;
    struct bats_prior *each = b->kinds;
    bool is_known = false;
    double most = 0;
    for (size_t k = 0; k < kinds->n; k++) {
        uint32_t bags, kind = find_kind(past, kinds->kind[k].name);
        each[k] = (struct bats_prior){.level = INFINITY};
        if (bats_prior_of(speeds, rows, past->n_rows, kind, place, charge,
                          n_clusters, &each[k], &bags))
            is_known = true;
        else
            each[k] = (struct bats_prior){.level = INFINITY};
        weight[k] = fmax(kinds->kind[k].tasks, 1);
        if (q->models != NULL && bags > 0)
            take_points(&q->models[k], n_clusters, &each[k]);
        if (weight[k] > most && bags > 0) {
            most = weight[k];
            b->bags = bags;
        }
    }
    bats_prior_mix(each, weight, kinds->n, n_clusters, &b->prior);
    return is_known && bats_prior_is_there(&b->prior, n_clusters);
}

int bats_history_believe(const struct bats_past *past,
                         const struct bats_past_place *clusters,
                         const double *charge, size_t n_clusters,
                         const struct bats_task_kinds *kinds,
                         const char *names,
                         const struct bats_past_model *models,
                         struct bats_believed *b, struct bats_error *err)
{
    const struct question q = {kinds, names, models};
    uint32_t place[BATS_CLUSTERS_MAX];
    struct bats_prior_past speeds = {0};
    uint32_t *of = find_places(past, clusters, n_clusters, place);
    struct bats_prior_row *rows = of != NULL ? make_rows(past, of, &q) : NULL;
    double *weight = calloc(kinds->n + 1, sizeof *weight);
    *b = (struct bats_believed){.kinds =
                                    calloc(kinds->n + 1, sizeof *b->kinds)};
    int rc = rows != NULL && weight != NULL && b->kinds != NULL
                 ? bats_prior_learn(rows, past->n_rows,
                                    n_clusters + past->n_places, &speeds, err)
                 : bats_no_memory(err);
    if (rc == 0)
        rc =
            mix(past, &speeds, rows, place, charge, n_clusters, &q, weight, b);
    bats_prior_past_release(&speeds);
    free(of);
    free(rows);
    free(weight);
    if (rc <= 0) {
        free(b->kinds);
        *b = (struct bats_believed){.bags = 0};
    }
    return rc;
}

double bats_history_last(const struct bats_past *past, const char *kind)
{
    uint32_t number = find_kind(past, kind);
    const struct bats_past_row *last = NULL;
    double sum = 0, tasks = 0;
    for (size_t i = past->n_rows; i-- > 0;) {
        const struct bats_past_row *r = &past->rows[i];
        if (r->kind != number || (last != NULL && !is_same_bag(r, last)))
            continue;
        last = r;
        sum += r->moments.sum;
        tasks += (double)r->moments.tasks;
    }
    return tasks > 0 ? sum / tasks : 0;
}
