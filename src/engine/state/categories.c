/*
 * categories: runtimes by category of tasks, and the longest chain of tasks.
 * See state.h.
 *
 * The weight of a task is the mean runtime of its category over all clusters
 * (w of HEFT, Topcuoglu et al. 2002). It is learned from results. The runtime
 * of category k on cluster c is w_k f_c, where the factors f have a mean of 1
 * and
 *
 *   w_k = sum over its results of t / f_c, / their number
 *   f_c = sum of its results t / sum of their w_k,
 *
 * computed in turn (maximum likelihood of two factors with Poisson's
 * distribution, as in iterative proportional fitting). This predicts runtimes
 * on clusters where a category has not run. A category without results gets
 * the mean weight of the others, weighted by their results. The height of a
 * node is the weight of the heaviest chain that begins with it (rank_u,
 * without the time for data). Before there are results, all tasks weigh the
 * same.
 *
 * Told runtimes may be wrong. Their error is assumed to be TOLD_ERROR until
 * results show it; the assumption counts as one more result, unless all
 * results were as told. Tasks of a category may differ less than told: those
 * with the longest told runtimes take less, others more. So told runtimes are
 * drawn towards their category's mean, by the slope of (runtime - told) over
 * (told - mean) (regression to the mean, Galton 1886), damped by the error of
 * one task.
 *
 * Weights are recomputed when a category's results have doubled, but not
 * before enough results have come to justify a pass over the whole graph.
 */
#include "engine/state/moves.h"

#include <math.h>
#include <stdlib.h>

#define EDGES_PER_RESULT 256
#define ROUNDS 8
#define TOLD_ERROR 0.2

int categories_init(struct state *s, const struct bats_sched_options *o)
{
    struct categories *k = &s->known.categories;
    k->n = o->n_categories > 0 ? o->n_categories : 1;
    k->of = s->needs.of ? s->needs.of : o->category;
    k->told = o->told_runtime;
    k->told_context = o->true_context;
    uint32_t room = o->open && s->needs.list ? BATS_CATEGORIES_MAX : k->n;
    k->weight = calloc(room, sizeof *k->weight);
    k->left = calloc(room, sizeof *k->left);
    k->seen = calloc(room * s->n_clusters, sizeof *k->seen);
    k->stats = calloc(room, sizeof *k->stats);
    k->doubts = calloc(room, sizeof *k->doubts);
    if (!k->weight || !k->left || !k->seen || !k->stats || !k->doubts)
        return BATS_ENOMEM;
    for (size_t c = 0; c < s->n_clusters; c++)
        k->factor[c] = 1;
    for (uint32_t i = 0; i < s->bag.n; i++)
        if (!bats_bag_has_result(&s->bag, s->bag.position[i]) &&
            s->bag.state[s->bag.position[i].i] != BATS_TASK_LEFT_OUT)
            k->left[category_of(s, i)]++;
    return 0;
}

void categories_add(struct state *s, uint32_t task)
{
    s->known.categories.left[category_of(s, task)]++;
}

void categories_release(struct state *s)
{
    struct categories *k = &s->known.categories;
    free(k->weight);
    free(k->left);
    free(k->seen);
    free(k->stats);
    free(k->doubts);
}

/* Mean weight of all results; 0 without any. */
static double mean_weight(const struct categories *k)
{
    double n = 0, sum = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        n += k->stats[i].n;
        sum += k->stats[i].n * k->weight[i];
    }
    return n > 0 ? sum / n : 0;
}

static struct category_seen *seen_of(const struct state *s, uint32_t category,
                                     size_t cluster)
{
    return &s->known.categories.seen[category * s->n_clusters + cluster];
}

/* f_c, for these weights. */
static double find_factor(const struct state *s, size_t cluster)
{
    const struct categories *k = &s->known.categories;
    double took = 0, weight = 0;
    for (uint32_t i = 0; i < k->n; i++) {
        const struct category_seen *seen = seen_of(s, i, cluster);
        took += seen->sum;
        weight += seen->n * k->weight[i];
    }
    return weight > 0 && took > 0 ? took / weight : 1;
}

/* w_k, for these factors. */
static double find_weight(const struct state *s, uint32_t category)
{
    const struct categories *k = &s->known.categories;
    double n = 0, sum = 0;
    for (size_t c = 0; c < s->n_clusters; c++) {
        const struct category_seen *seen = seen_of(s, category, c);
        n += seen->n;
        sum += seen->sum / k->factor[c];
    }
    return n > 0 ? fmax(sum / n, 1) : 0;
}

static void find_weights(struct state *s)
{
    struct categories *k = &s->known.categories;
    for (int round = 0; round < ROUNDS; round++) {
        double sum = 0;
        for (uint32_t i = 0; i < k->n; i++)
            k->weight[i] = find_weight(s, i);
        for (size_t c = 0; c < s->n_clusters; c++)
            sum += k->factor[c] = find_factor(s, c);
        for (size_t c = 0; c < s->n_clusters; c++)
            k->factor[c] *= (double)s->n_clusters / sum;
    }
    for (uint32_t i = 0; i < k->n; i++)
        k->weight[i] = find_weight(s, i);
    k->mean = mean_weight(k);
}

static double weight_of(const struct state *s, uint32_t task)
{
    if (s->known.categories.told) {
        double sum = 0;
        for (size_t c = 0; c < s->n_clusters; c++)
            sum += categories_runtime(s, task, c);
        return sum / (double)s->n_clusters;
    }
    double weight = s->known.categories.weight[category_of(s, task)];
    return weight > 0 ? weight : s->known.categories.mean;
}

static double told(const struct state *s, uint32_t task, size_t cluster)
{
    const struct categories *k = &s->known.categories;
    return (double)k->told(k->told_context, task, (uint32_t)cluster);
}

double categories_told_error(const struct state *s)
{
    const struct categories *k = &s->known.categories;
    if (k->n_told > 0 && k->told_squares <= 0)
        return 0;
    return sqrt((k->told_squares + TOLD_ERROR * TOLD_ERROR) / (k->n_told + 1));
}

/* Told runtime, drawn towards its category's mean. */
static double believed(const struct state *s, uint32_t task, size_t cluster)
{
    const struct categories *k = &s->known.categories;
    const struct category_told *d = &k->doubts[category_of(s, task)];
    double time = told(s, task, cluster);
    if (d->drawn >= 0)
        return time;
    double error = categories_told_error(s) * d->mean;
    double share = fmin(-d->drawn / (d->spread + error * error), 1);
    return time + share * (d->mean * k->factor[cluster] - time);
}

double categories_runtime(const struct state *s, uint32_t task, size_t cluster)
{
    const struct categories *k = &s->known.categories;
    return k->told ? believed(s, task, cluster)
                   : weight_of(s, task) * k->factor[cluster];
}

double task_runtime(const struct state *s, uint32_t task, size_t cluster)
{
    return s->known.is_ranked ? categories_runtime(s, task, cluster)
                              : cluster_runtime(&s->clusters[cluster]);
}

double slot_rest(const struct state *s, uint32_t slot)
{
    uint32_t task = s->bag.index[s->slots[slot].head.i];
    return fabs(slot_elapsed(s, slot) -
                task_runtime(s, task, slot_cluster(s, slot)));
}

double categories_weight(const struct state *s, uint32_t task)
{
    double mean = s->known.categories.mean;
    return s->known.is_ranked && mean > 0 ? weight_of(s, task) / mean : 1;
}

static void find_heights(struct state *s)
{
    const struct bats_graph *g = s->bag.graph;
    for (uint32_t i = g->n_nodes; i-- > 0;) {
        uint32_t node = s->known.sorted[i];
        int64_t most = 0;
        for (uint64_t e = g->first[node]; e < g->first[node + 1]; e++)
            if (s->known.height[g->child[e]] > most)
                most = s->known.height[g->child[e]];
        double own = node < g->n_tasks ? weight_of(s, node) : 0;
        double height = (double)most + own;
        s->known.height[node] =
            height < (double)BATS_LONGEST ? llround(height) : BATS_LONGEST;
    }
    purses_rank(s);
    bats_bag_reorder(&s->bag);
    s->known.categories.n_ranked++;
    s->known.is_ranked = true;
}

double categories_longest(const struct state *s, uint32_t task, size_t cluster)
{
    const struct categories *k = &s->known.categories;
    const struct category_stats *stats = &k->stats[category_of(s, task)];
    double mean = categories_runtime(s, task, cluster);
    if (!s->known.is_ranked || k->told)
        return mean;
    if (stats->n < 2 || stats->mean <= 0)
        return 2 * mean;
    return mean *
           (1 + 2 * sqrt(stats->squares / (stats->n - 1)) / stats->mean);
}

static void find_told_means(struct state *s)
{
    struct categories *k = &s->known.categories;
    double *n = calloc(k->n, sizeof *n);
    for (uint32_t task = 0; n && task < s->bag.n; task++) {
        struct category_told *d = &k->doubts[category_of(s, task)];
        d->mean += (weight_of(s, task) - d->mean) / ++n[category_of(s, task)];
    }
    if (!n)
        s->answers.failure = BATS_ENOMEM;
    free(n);
}

void categories_take_told(struct state *s)
{
    double sum[BATS_CLUSTERS_MAX] = {0}, all = 0;
    struct categories *k = &s->known.categories;
    if (!k->told || !s->bag.graph)
        return;
    for (uint32_t task = 0; task < s->bag.n; task++)
        for (size_t c = 0; c < s->n_clusters; c++)
            sum[c] += categories_runtime(s, task, c);
    for (size_t c = 0; c < s->n_clusters; c++)
        all += sum[c] / (double)s->n_clusters;
    for (size_t c = 0; c < s->n_clusters && all > 0; c++)
        k->factor[c] = sum[c] / all;
    k->mean = all / s->bag.n;
    find_told_means(s);
    find_heights(s);
}

static void note_told(struct state *s, uint32_t task, size_t cluster,
                      bats_time runtime)
{
    struct categories *k = &s->known.categories;
    struct category_told *d = &k->doubts[category_of(s, task)];
    double expected = categories_runtime(s, task, cluster);
    double raw = told(s, task, cluster), factor = k->factor[cluster];
    double wrong = (double)runtime - expected;
    k->n_told++;
    if (expected > 0 && fabs(wrong) > 1) /* beyond rounding */
        k->told_squares += wrong * wrong / (expected * expected);
    if (factor > 0) {
        double beyond = raw / factor - d->mean;
        d->spread += beyond * beyond;
        d->drawn += ((double)runtime - raw) / factor * beyond;
    }
}

/* Enough results for a pass over the whole graph. Without a graph, weights
 * serve the tasks' needs. */
static bool is_worth_it(const struct state *s)
{
    const struct bats_graph *g = s->bag.graph;
    return g ? s->known.categories.results * EDGES_PER_RESULT >=
                   (double)bats_graph_edges(g) + g->n_nodes
             : s->needs.list != NULL;
}

void categories_note(struct state *s, struct bats_position task,
                     size_t cluster, bats_time runtime)
{
    struct categories *k = &s->known.categories;
    uint32_t category = category_of(s, s->bag.index[task.i]);
    struct category_stats *stats = &k->stats[category];
    struct category_seen *seen = seen_of(s, category, cluster);
    double before = (double)runtime - stats->mean;
    if (k->told)
        note_told(s, s->bag.index[task.i], cluster, runtime);
    stats->n++;
    stats->mean += before / stats->n;
    stats->squares += before * ((double)runtime - stats->mean);
    seen->n++;
    seen->sum += (double)runtime;
    k->is_news |= (stats->n & (stats->n - 1)) == 0;
    k->results++;
    if (!k->is_news || k->told || !is_worth_it(s))
        return;
    k->is_news = false;
    k->results = 0;
    find_weights(s);
    if (s->bag.graph)
        find_heights(s);
    s->known.is_ranked = true;
}

void categories_drop(struct state *s, uint32_t task)
{
    s->known.categories.left[category_of(s, task)]--;
}

double categories_left_weight(const struct state *s)
{
    const struct categories *k = &s->known.categories;
    double n = 0, sum = 0;
    if (!s->known.is_ranked || k->mean <= 0)
        return 1;
    for (uint32_t i = 0; i < k->n; i++) {
        n += k->left[i];
        sum += k->left[i] * (k->weight[i] > 0 ? k->weight[i] : k->mean);
    }
    return n > 0 ? sum / n / k->mean : 1;
}
