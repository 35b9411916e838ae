/*
 * place: ranks clusters by the cost of a task, and tells how certain the ranks
 * are. A sample is worth its money only if it may change what is bought.
 *
 * Of two clusters i and j, with prices c per slot and tasks that ran on both,
 *
 *   d = ln(t_i c_i / t_j c_j)
 *
 * for each of these tasks. Their order is settled as soon as the interval of
 * the mean of d (Student, 90 %) excludes 0, or is so narrow that they are
 * alike. The user's expectation counts as one more task; before the first
 * result, as right within a factor of 2. A cluster is unsettled while its
 * order with any other cluster is, or nothing is known of it.
 */
#include "engine/sampling/memory.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

/* Quantiles: a 90 % interval, and 95 % for the mean, which then counts as
 * known within a quarter (delta of the sample size). */
#define SURE 0.95
#define MEAN_SURE 0.975
#define MEAN_NEAR 0.25
/* The user's expectation is assumed right within this factor. */
#define GUESS 2
/* Costs within this factor are alike. */
#define ALIKE 1.25

/* Running sums of values. */
struct sum {
    double n, sum, squares;
};

static void add(struct sum *s, double x)
{
    s->n++;
    s->sum += x;
    s->squares += x * x;
}

/* Half-width of the confidence interval of the mean. */
static double half_width(const struct sum *s, double sure)
{
    double mean = s->sum / s->n;
    return s->n < 2 ? INFINITY
                    : gsl_cdf_tdist_Pinv(sure, s->n - 1) *
                          sqrt(fmax(s->squares / s->n - mean * mean, 0) /
                               (s->n - 1));
}

static double price(const struct state *s, size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return (double)c->price / cluster_slots(c);
}

/* ---- the place ---- */

/* t[i][j]: log ratios of task runtimes on cluster i to those on j < i. */
struct pairs {
    struct sum t[BATS_CLUSTERS_MAX][BATS_CLUSTERS_MAX];
};

static void add_pair(struct pairs *pairs, const struct bats_observation *x,
                     const struct bats_observation *y)
{
    if (x->task == y->task && x->cluster > y->cluster)
        add(&pairs->t[x->cluster][y->cluster],
            log(fmax((double)x->runtime, 1) / fmax((double)y->runtime, 1)));
}

static bool is_open(const struct state *s, size_t i, size_t j, struct sum t)
{
    const struct cluster *ci = &s->clusters[i], *cj = &s->clusters[j];
    bool is_expected = ci->expected > 0 && cj->expected > 0, none = t.n == 0;
    if (ci->n_machines == 0 || cj->n_machines == 0 || ci->price == 0 ||
        cj->price == 0)
        return false; /* nothing to save */
    if (is_expected)
        add(&t, log((double)ci->expected / (double)cj->expected));
    double half = is_expected && none ? log(GUESS) : half_width(&t, SURE);
    double cost = t.sum / t.n + log(price(s, i) / price(s, j));
    return !(half <= log(ALIKE) || fabs(cost) > half);
}

void place_look(struct sampling *p, const struct state *s)
{
    struct pairs pairs = {{{{0, 0, 0}}}};
    for (size_t i = 0; i < s->n_clusters; i++)
        p->is_settled[i] = s->clusters[i].expected > 0;
    for (size_t a = 0; a < p->n_observations; a++) {
        p->is_settled[p->observations[a].cluster] = true;
        for (size_t b = 0; b < p->n_observations; b++)
            add_pair(&pairs, &p->observations[a], &p->observations[b]);
    }
    for (size_t i = 0; i < s->n_clusters; i++)
        for (size_t j = 0; j < i; j++)
            if (is_open(s, i, j, pairs.t[i][j]))
                p->is_settled[i] = p->is_settled[j] = false;
}

/* Only tasks drawn first count: the first ones to end are mostly short. */
static bool is_first(const struct sampling *p, uint32_t task)
{
    for (size_t i = 0; i < FIRST; i++)
        if (p->first[i] == task)
            return true;
    return false;
}

bool place_mean_is_known(const struct sampling *p, const struct state *s)
{
    struct sum t[BATS_CLUSTERS_MAX] = {{0, 0, 0}};
    size_t most = 0;
    for (size_t i = 0; i < p->n_observations; i++)
        if (is_first(p, p->observations[i].task))
            add(&t[p->observations[i].cluster],
                (double)p->observations[i].runtime);
    for (size_t i = 1; i < s->n_clusters; i++)
        if (t[i].n > t[most].n)
            most = i;
    return t[most].n >= FIRST - 1 && half_width(&t[most], MEAN_SURE) <=
                                         MEAN_NEAR * t[most].sum / t[most].n;
}

/* ---- where to begin ---- */

/* Cost of a task; or of a slot, if some cluster has no expected runtime. */
static double cost(const struct state *s, size_t cluster)
{
    double cost = price(s, cluster);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_machines > 0 && s->clusters[i].expected == 0)
            return cost;
    return cost * (double)s->clusters[cluster].expected;
}

size_t place_home(const struct state *s)
{
    size_t home = 0;
    for (size_t i = 1; i < s->n_clusters; i++)
        if (s->clusters[i].n_machines > 0 &&
            (s->clusters[home].n_machines == 0 || cost(s, i) < cost(s, home)))
            home = i;
    return home;
}

uint32_t place_workers(const struct state *s, size_t cluster, uint32_t workers)
{
    double here = price(s, cluster), home = price(s, place_home(s));
    if (here <= home)
        return workers;
    return (uint32_t)fmax(round(workers * home / here), 1);
}
