/*
 * runtimes: what is known of task runtimes, by category and cluster, and the
 * longest chain of tasks. See state.h.
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
 * Runtimes that a simulation tells may be wrong. Their error is assumed to be
 * TOLD_ERROR until results show it; the assumption counts as one more result,
 * unless all results were as told.
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
    k->weight = state_room(s, room, sizeof *k->weight);
    k->left = state_room(s, room, sizeof *k->left);
    k->seen = state_room(s, room * s->n_clusters, sizeof *k->seen);
    k->stats = state_room(s, room, sizeof *k->stats);
    if (s->answers.failure < 0)
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

double categories_runtime(const struct state *s, uint32_t task, size_t cluster)
{
    const struct categories *k = &s->known.categories;
    return k->told ? told(s, task, cluster)
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

/* Plausible longest runtime there: the category's mean plus two standard
 * deviations, or twice the mean with hardly any result; 0: unknown. */
static double longest_there(const struct state *s, uint32_t task,
                            size_t cluster)
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
    find_heights(s);
}

static void note_told(struct state *s, uint32_t task, size_t cluster,
                      bats_time runtime)
{
    struct categories *k = &s->known.categories;
    double expected = told(s, task, cluster);
    double wrong = (double)runtime - expected;
    k->n_told++;
    if (expected > 0 && fabs(wrong) > 1) /* beyond rounding */
        k->told_squares += wrong * wrong / (expected * expected);
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
    if (!k->of && !s->bag.graph)
        return; /* the cluster's statistics say as much */
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

/* ---- how long a task may take on a machine ---- */

/* Without estimates, each slot may spend its share of the money divided by
 * this. */
#define SHARES 4

/* A window, if nothing is known of the cluster. A little money may suffice for
 * a workflow of short tasks: then the time it pays for, if a task can run for
 * a moment. Otherwise tasks would start again and again. */
static bats_time unknown(const struct state *s, uint32_t id)
{
    bats_time time = s->run.window + s->run.preempt_lead;
    if (!s->bag.graph)
        return time;
    bats_time lasts = bats_billing_lasts(
        s->clusters[s->machines[id].cluster].price, s->run.window,
        bats_ledger_available(&s->money.ledger) / (SHARES * (s->n_open + 1)));
    return lasts > s->run.preempt_lead + BATS_SECOND && lasts < time ? lasts
                                                                     : time;
}

static bats_time expected(const struct state *s, uint32_t id)
{
    double mean = cluster_runtime(&s->clusters[s->machines[id].cluster]);
    return mean > 0 ? (bats_time)(mean + 0.5) + s->run.preempt_lead
                    : unknown(s, id);
}

/* The task's category gives an expected runtime. */
static bool is_known(const struct state *s, struct bats_position task)
{
    return bats_is_position(task) && s->known.is_ranked;
}

/* The longest runtime in the sample; on machines that may not answer, the time
 * after which a task is given up. */
bats_time task_allowed(const struct state *s, uint32_t id,
                       struct bats_position task)
{
    const struct cluster *c = &s->clusters[s->machines[id].cluster];
    const struct bats_stats *stats = &c->stats;
    if (c->spec.unreliable && s->run.has_limits && c->limit < TIME_MAX)
        return c->limit + s->run.preempt_lead;
    if (is_known(s, task)) {
        double known =
            longest_there(s, s->bag.index[task.i], s->machines[id].cluster);
        return (bats_time)(known + 0.5) + s->run.preempt_lead;
    }
    bats_time time = expected(s, id), longest = 0;
    if (stats->n_sample > 0)
        longest = stats->sample[stats->n_sample - 1] + s->run.preempt_lead;
    return longest > time ? longest : time;
}

bats_time task_typical(const struct state *s, uint32_t id,
                       struct bats_position task)
{
    if (!is_known(s, task))
        return expected(s, id);
    double mean =
        categories_runtime(s, s->bag.index[task.i], s->machines[id].cluster);
    return (bats_time)(mean + 0.5) + s->run.preempt_lead;
}

/* ---- the prior belief about the clusters' runtimes ---- */

/* If the belief may well be off by a factor of 2, no runtime is expected; the
 * relative speeds alone are the better guide. */
#define SURE 0.7
/* Before results, tasks are assumed to vary as in earlier bags, or by VARIES,
 * with the weight of VARIES_LIKE results. */
#define VARIES 0.5
#define VARIES_LIKE 4

void state_believe(struct state *s, const struct bats_prior *prior)
{
    s->known.believes =
        prior != NULL && bats_prior_is_there(prior, s->n_clusters);
    if (!s->known.believes)
        return;
    s->known.prior = *prior;
    for (size_t i = 0; i < s->n_clusters; i++)
        s->clusters[i].is_believed = s->clusters[i].expected == 0;
    state_belief_note(s);
}

void state_belief(const struct state *s, const double *measured,
                  struct bats_belief *belief)
{
    double n[BATS_CLUSTERS_MAX], mean[BATS_CLUSTERS_MAX];
    double results = 0, squares = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct bats_stats *stats = &s->clusters[i].stats;
        n[i] = stats->n_done;
        mean[i] = measured != NULL ? measured[i] : stats->mean_done;
        for (uint32_t k = 0; k < stats->n_sample; k++)
            squares += pow((double)stats->sample[k] / stats->mean_done - 1, 2);
        results += stats->n_sample > 0 ? stats->n_sample - 1 : 0;
    }
    double before = s->known.prior.cv > 0 ? s->known.prior.cv : VARIES;
    double cv = sqrt((squares + VARIES_LIKE * before * before) /
                     (results + VARIES_LIKE));
    bats_prior_update(&s->known.prior, s->n_clusters, mean, n, cv, belief);
}

void state_belief_note(struct state *s)
{
    struct bats_belief belief;
    if (!s->known.believes)
        return;
    state_belief(s, NULL, &belief);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].is_believed)
            s->clusters[i].expected =
                belief.error[i] <= SURE &&
                        belief.mean[i] < (double)BATS_LONGEST
                    ? (bats_time)fmax(belief.mean[i], 1)
                    : 0;
}

/* ---- lower bounds on the remaining time from chains of tasks ---- */

/* Time per unit of height: the longest chain runs on the fastest held
 * machines. Until tasks are ranked, a height counts tasks. 0: unknown. */
static double time_of_height(const struct state *s)
{
    double least = INFINITY;
    for (size_t c = 0; c < s->n_clusters; c++) {
        double time = s->known.is_ranked ? s->known.categories.factor[c]
                                         : s->clusters[c].stats.mean;
        if (s->clusters[c].n_active > 0 && time > 0)
            least = fmin(least, time);
    }
    return isfinite(least) ? least : s->known.is_ranked;
}

/* The height of a task of mean length. */
static double unit_of(const struct state *s)
{
    return s->known.is_ranked ? s->known.categories.mean : 1;
}

/* The longest chains of all tasks and, unless it is NULL, of each workflow. */
struct chains {
    const struct state *s;
    double height_time;
    bats_time longest, *of_purse;
};

/* Considers the chain from this task, whose time is longer by `more` (or
 * shorter, if negative). */
static void look_at(struct chains *k, uint32_t task, double more)
{
    double end = (double)k->s->known.height[task] * k->height_time + more;
    bats_time time = (bats_time)fmin(fmax(end, 0), (double)BATS_LONGEST);
    if (time > k->longest)
        k->longest = time;
    if (k->of_purse && time > k->of_purse[k->s->money.purses.of[task]])
        k->of_purse[k->s->money.purses.of[task]] = time;
}

/* A heap's top has the longest chain of the ready tasks, unless deadlines set
 * the order. */
static void look_at_ready(struct chains *k)
{
    const struct state *s = k->s;
    bool all = s->money.purses.urgency || k->of_purse;
    for (uint32_t g = 0; g < s->bag.n_groups; g++) {
        const struct bats_bag_group *of = &s->bag.groups[g];
        for (uint32_t i = 0; i < of->n_ready && (all || i == 0); i++)
            look_at(k, s->bag.index[of->order[i].i], 0);
    }
    for (uint32_t i = 0; i < s->retries.n; i++)
        look_at(k, s->retries.item[i].id,
                (double)(s->retries.item[i].time - s->now));
}

/* The running task ends in its slot; those behind it have not begun. */
static void look_at_slot(struct chains *k, uint32_t slot)
{
    const struct state *s = k->s;
    const struct slot *sl = &s->slots[slot];
    uint32_t task = s->bag.index[sl->head.i];
    size_t cluster = slot_cluster(s, slot);
    double weight = categories_weight(s, task) * unit_of(s);
    double time = s->known.is_ranked ? categories_runtime(s, task, cluster)
                                     : s->clusters[cluster].stats.mean;
    look_at(k, task,
            fmax(time - slot_elapsed(s, slot), 0) - weight * k->height_time);
    for (struct bats_position t = slot_next(s, slot, sl->head);
         bats_is_position(t); t = slot_next(s, slot, t))
        look_at(k, s->bag.index[t.i], 0);
}

bats_time state_longest_chain(const struct state *s, bats_time *of_purse)
{
    struct chains k = {
        .s = s, .of_purse = s->money.purses.are_apart ? of_purse : NULL};
    if (s->bag.graph)
        k.height_time = time_of_height(s);
    if (k.height_time <= 0)
        return 0;
    look_at_ready(&k);
    for (uint32_t i = 0; i < s->n_held; i++) {
        const struct machine *m = &s->machines[s->held[i]];
        for (uint32_t n = m->first_slot; n < m->first_slot + m->n_slots; n++)
            if (s->slots[n].n_tasks > 0)
                look_at_slot(&k, n);
    }
    return k.longest;
}

double state_chain_means(const struct state *s)
{
    double mean = s->bag.graph ? unit_of(s) * time_of_height(s) : 0;
    return mean > 0 ? (double)state_longest_chain(s, NULL) / mean : 0;
}

/* Without memory: no levels. */
void levels_left(const struct state *s, struct bats_levels *levels)
{
    uint32_t n = s->bag.graph ? s->bag.n : 0;
    uint8_t *left = malloc((size_t)n + 1);
    *levels = (struct bats_levels){.n = 0};
    for (uint32_t i = 0; left && i < n; i++)
        left[i] = bats_bag_is_left(&s->bag, s->bag.position[i]);
    if (left && n > 0)
        bats_graph_levels(s->bag.graph, left, levels, NULL);
    free(left);
}
