/*
 * points: a phase of its own before the rest of the bag. See bats/sched.h and
 * sampling.h. Source: Oprescu's thesis, 3.2.2, figure 3.2.
 *
 * The first tasks drawn are points: each runs once on every cluster, for the
 * regression. While the task still runs elsewhere, such an execution is a
 * replica that its sibling's result does not stop; after the result, it only
 * measures the runtime. A point that fails anywhere, or returns to the bag, is
 * void and replaced by another task.
 *
 * The thesis' method (bkp) runs 7 of them, on 7 machines of each cluster.
 * Policies that plan machine-windows use fewer machines of expensive clusters,
 * and run no more points on a cluster once its rank is settled.
 *
 * The sample consists of the tasks drawn first, not of those that end first,
 * which would be the short ones.
 *
 * Clusters are ranked by the cost of a task. A sample is worth its money only
 * if it may change what is bought. Of two clusters i and j, with prices c per
 * slot and tasks that ran on both,
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
#include <stdlib.h>

#include "util/grow.h"

#define WORKERS 7
#define POINTS 7
/* The phase does not wait for a task that runs this many times longer than the
 * longest runtime: it may never end. */
#define FOR_EVER 5

/* ---- the ranks of the clusters ---- */

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

static bool is_unsettled(const struct state *s, size_t i, size_t j,
                         struct sum t)
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

/* Updates p->is_settled after an observation. */
static void rank(struct sampling *p, const struct state *s)
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
            if (is_unsettled(s, i, j, pairs.t[i][j]))
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

/* The mean runtime on the cluster with most results is known within 25 %
 * (confidence 95 %). */
static bool mean_is_known(const struct sampling *p, const struct state *s)
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

/* Cost of a task; or of a slot, if some cluster has no expected runtime. */
static double cost(const struct state *s, size_t cluster)
{
    double cost = price(s, cluster);
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].n_machines > 0 && s->clusters[i].expected == 0)
            return cost;
    return cost * (double)s->clusters[cluster].expected;
}

/* The cluster for tasks that need not run on all: the one with the lowest
 * expected cost per task. */
static size_t home_of(const struct state *s)
{
    size_t home = 0;
    for (size_t i = 1; i < s->n_clusters; i++)
        if (s->clusters[i].n_machines > 0 &&
            (s->clusters[home].n_machines == 0 || cost(s, i) < cost(s, home)))
            home = i;
    return home;
}

/* The sample starts with this many of `workers` slots on the cluster: those
 * that cost no more per window than the home cluster's, at least one. */
static uint32_t workers_for(const struct state *s, size_t cluster,
                            uint32_t workers)
{
    double here = price(s, cluster), home = price(s, home_of(s));
    if (here <= home)
        return workers;
    return (uint32_t)fmax(round(workers * home / here), 1);
}

/* ---- earlier results ---- */

static int observe(struct sampling *p, uint32_t number, uint32_t cluster,
                   bats_time runtime)
{
    if (!bats_grow(&p->observations, &p->capacity, p->n_observations + 1,
                   sizeof *p->observations))
        return BATS_ENOMEM;
    p->observations[p->n_observations++] =
        (struct bats_observation){number, cluster, runtime};
    if ((double)runtime > p->longest_runtime)
        p->longest_runtime = (double)runtime;
    return 0;
}

static int take_over(struct sampling *p, const struct state *s,
                     const struct bats_observation *seen, size_t n,
                     struct bats_error *err)
{
    for (size_t i = 0; i < n; i++) {
        if (seen[i].cluster >= s->n_clusters)
            return bats_error_set(err, BATS_EINPUT,
                                  "an observation is of cluster %u, but there "
                                  "are %zu",
                                  seen[i].cluster + 1, s->n_clusters);
        if (observe(p, seen[i].task, seen[i].cluster, seen[i].runtime) < 0)
            return bats_no_memory(err);
    }
    return 0;
}

/* Results of earlier sessions are part of the sample. A cluster that has
 * enough of them gets no more tasks; points run only on the others. */
static int take_earlier(struct sampling *p, const struct state *s,
                        const struct bats_sched_earlier *earlier,
                        struct bats_error *err)
{
    struct bats_sample sample;
    int rc = bats_sample_init(&sample, s->n_clusters, earlier->seen,
                              earlier->n_seen, err);
    if (rc < 0)
        return rc;
    uint32_t fewest = p->n_points_wanted;
    for (uint32_t i = 0; i < s->n_machines; i++) {
        uint32_t cluster = s->machines[i].cluster;
        uint32_t n = sample.clusters[cluster].n_measured;
        p->is_known[cluster] = n >= p->n_wanted;
        if (n < fewest)
            fewest = n;
    }
    p->n_points_wanted -= fewest;
    uint32_t n_tasks = sample.clusters[sample.base].n;
    p->n_wanted -= n_tasks < p->n_wanted ? n_tasks : p->n_wanted;
    bats_sample_release(&sample);
    return take_over(p, s, earlier->seen, earlier->n_seen, err);
}

static int init(void *self, const struct state *s,
                const struct bats_sched_options *o, struct bats_error *err)
{
    struct sampling *p = self;
    uint32_t n = bats_bag_left(&s->bag);
    p->plans = bats_policy_plans(o->policy);
    p->confidence = o->sampling.confidence;
    p->is_frugal = p->plans == BATS_PLANS_WINDOWS;
    p->goes_on = o->sampling.offers;
    p->longest = BATS_NO_TASK;
    p->over_at = BATS_NEVER;
    if (!o->sampling.on)
        return 0;
    p->is_open = calloc(o->n_tasks, sizeof *p->is_open);
    p->clusters = calloc(s->n_clusters, sizeof *p->clusters);
    if (!p->is_open || !p->clusters)
        return bats_no_memory(err);
    p->workers = o->sampling.workers;
    /* At most half of a small bag. */
    uint32_t half = n / 2 + n % 2;
    p->n_wanted = s->known.sample_size < half ? s->known.sample_size : half;
    p->n_points_wanted = p->n_wanted < POINTS ? p->n_wanted : POINTS;
    if (s->n_clusters == 1) /* nothing to compare it with */
        p->n_points_wanted = 0;
    if (o->sampling.n_observations > 0)
        p->n_wanted = p->n_points_wanted = 0;
    int rc = o->sampling.n_observations == 0 && o->earlier.tops_up
                 ? take_earlier(p, s, &o->earlier, err)
                 : take_over(p, s, o->sampling.observations,
                             o->sampling.n_observations, err);
    if (rc == 0 && p->is_frugal)
        rank(p, s);
    return rc;
}

static void release(void *self)
{
    struct sampling *p = self;
    free(p->observations);
    free(p->is_open);
    free(p->clusters);
}

static uint32_t lacks(const struct sampling *p, const struct state *s,
                      size_t cluster)
{
    if (p->is_known[cluster] ||
        (p->is_settled[cluster] && cluster != home_of(s)))
        return 0;
    return p->n_wanted > p->n_points_wanted ? p->n_wanted : p->n_points_wanted;
}

/* Fewer machines save nothing if they are free, if they are paid anyway (an
 * allocation), or if the run continues with the only cluster. */
static uint32_t workers_on(const struct sampling *p, const struct state *s,
                           size_t cluster)
{
    bool is_only = s->n_clusters == 1 && p->goes_on;
    uint32_t workers = p->workers > 0 ? p->workers : WORKERS;
    if (p->is_frugal && p->workers == 0 &&
        (is_only || s->clusters[cluster].spec.charge == 0))
        return s->n_slots;
    return p->is_frugal ? workers_for(s, cluster, workers) : workers;
}

bool sampling_start(const struct sampling *p, const struct state *s,
                    uint32_t *workers, uint32_t *lacking)
{
    for (size_t i = 0; i < s->n_clusters; i++) {
        lacking[i] = lacks(p, s, i);
        workers[i] = workers_on(p, s, i);
    }
    return p->n_wanted > 0 || p->n_points_wanted > 0;
}

/* ---- points ---- */

static struct point *point_of(struct sampling *p, struct bats_position task)
{
    for (uint32_t i = 0; i < p->n_points; i++)
        if (bats_same_position(p->points[i].task, task))
            return &p->points[i];
    return NULL;
}

static uint32_t good_points(const struct sampling *p)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < p->n_points; i++)
        n += !p->points[i].is_void;
    return n;
}

/* Some cluster still needs points. */
static bool is_open(const struct sampling *p, const struct state *s)
{
    for (size_t c = 0; c < s->n_clusters; c++)
        if (s->clusters[c].n_machines > 0 && !p->is_settled[c])
            return true;
    return false;
}

static bool wants_point(const struct sampling *p, const struct state *s)
{
    return p->n_points < POINTS_MAX && good_points(p) < p->n_points_wanted &&
           is_open(p, s);
}

/* Voids a point; executions that only measure it are released. */
static void void_point(struct sampling *p, struct point *point)
{
    point->is_void = true;
    p->released[p->n_released++] = point->task;
}

struct bats_position sampling_released(struct sampling *p)
{
    return p->first_released < p->n_released ? p->released[p->first_released++]
                                             : BATS_NO_POSITION;
}

bool sampling_refuses(const struct sampling *p, size_t cluster)
{
    return p->n_bad[cluster] >= POINTS;
}

/* The cluster has, or can get, a usable machine. */
static bool is_usable(const struct sampling *p, const struct state *s,
                      size_t cluster)
{
    const struct cluster *c = &s->clusters[cluster];
    return c->n_joined > 0 && c->spec.max > 0 &&
           !(c->done == 0 && sampling_refuses(p, cluster)) &&
           (c->n_held > 0 ||
            bats_ledger_affordable(&s->money.ledger, c->spec.charge) >= 1);
}

/* The first point that the cluster has yet to run, or NULL. */
static const struct point *wanted_by(const struct sampling *p, size_t cluster)
{
    for (uint32_t i = 0; i < p->n_points && !p->is_settled[cluster]; i++)
        if (!p->points[i].is_void && p->points[i].at[cluster] == POINT_WANTED)
            return &p->points[i];
    return NULL;
}

struct bats_position sampling_give(struct sampling *p, const struct state *s,
                                   uint32_t slot)
{
    size_t cluster = slot_cluster(s, slot);
    const struct point *wanted = wanted_by(p, cluster);
    if (!wanted)
        return BATS_NO_POSITION;
    const struct task *t = &s->tasks[wanted->task.i];
    if (!task_has_room(s, slot, wanted->task))
        return BATS_NO_POSITION;
    if (t->slot != NO_SLOT && t->cancelled &&
        !bats_bag_has_result(&s->bag, wanted->task))
        return BATS_NO_POSITION; /* about to return to the bag */
    point_of(p, wanted->task)->at[cluster] = POINT_RUNS;
    return wanted->task;
}

bool sampling_drawn(struct sampling *p, const struct state *s, uint32_t slot,
                    struct bats_position task)
{
    if (!p->is_open[task.i] && p->n_drawn < p->n_wanted) {
        p->is_open[task.i] = true;
        if (p->n_drawn < FIRST)
            p->first[p->n_drawn] = s->bag.index[task.i];
        p->n_drawn++;
        p->n_open++;
    }
    if (!wants_point(p, s) || s->tasks[task.i].once || point_of(p, task))
        return false;
    struct point *point = &p->points[p->n_points++];
    *point = (struct point){.task = task};
    for (size_t c = 0; c < s->n_clusters; c++)
        if (p->is_known[c])
            point->at[c] = POINT_ENDED;
    point->at[slot_cluster(s, slot)] = POINT_RUNS;
    return true;
}

static void leave_sample(struct sampling *p, struct bats_position task)
{
    if (p->is_open[task.i])
        p->n_open--;
    p->is_open[task.i] = false;
}

static int note(struct sampling *p, const struct state *s, uint32_t number,
                uint32_t cluster, bats_time runtime)
{
    int rc = observe(p, number, cluster, runtime);
    if (rc == 0 && p->is_frugal)
        rank(p, s);
    return rc;
}

int sampling_ended(struct sampling *p, const struct state *s, uint32_t machine,
                   struct bats_position task, bats_time runtime)
{
    int rc = 0;
    uint32_t cluster = s->machines[machine].cluster;
    struct point *point = point_of(p, task);
    p->n_bad[cluster] += runtime < 0;
    if (runtime >= 0 && (p->is_open[task.i] || (point && !point->is_void)))
        rc = note(p, s, s->bag.index[task.i], cluster, runtime);
    if (bats_bag_has_result(&s->bag, task))
        leave_sample(p, task);
    if (!point || point->is_void)
        return rc;
    point->at[cluster] = POINT_ENDED;
    if (runtime < 0)
        void_point(p, point);
    return rc;
}

/* ---- the end of the phase ---- */

bool sampling_needs(const struct sampling *p, const struct state *s,
                    uint32_t machine)
{
    const struct machine *m = &s->machines[machine];
    if (s->run.phase != PHASE_SAMPLING)
        return false;
    for (uint32_t i = 0; i < m->n_slots; i++) {
        const struct slot *sl = &s->slots[m->first_slot + i];
        if (sl->n_tasks > 0 &&
            !execution_cancelled(s, m->first_slot + i, sl->head) &&
            (p->is_open[sl->head.i] ||
             (s->tasks[sl->head.i].point && !p->is_settled[m->cluster])))
            return true;
    }
    return false;
}

static bool points_complete(const struct sampling *p, const struct state *s)
{
    if (wants_point(p, s) && bats_bag_pending(&s->bag) > 0)
        return false;
    for (uint32_t i = 0; i < p->n_points; i++) {
        const struct point *point = &p->points[i];
        for (size_t c = 0; c < s->n_clusters && !point->is_void; c++)
            if (point->at[c] != POINT_ENDED && !p->is_settled[c] &&
                is_usable(p, s, c))
                return false;
    }
    return true;
}

static bool is_enough(const struct sampling *p, const struct state *s)
{
    return p->is_frugal && p->n_drawn >= FIRST && mean_is_known(p, s);
}

static bool all_drawn(const struct sampling *p, const struct state *s)
{
    return p->n_drawn >= p->n_wanted || bats_bag_pending(&s->bag) == 0;
}

int sampling_conclude(struct sampling *p, const struct state *s,
                      struct bats_sample *sample)
{
    for (uint32_t i = 0; i < p->n_points; i++)
        if (!p->points[i].is_void)
            void_point(p, &p->points[i]);
    sampling_mark_time(p, s);
    return bats_sample_init(sample, s->n_clusters, p->observations,
                            p->n_observations, NULL);
}

/* Nothing runs but results are missing: names a cluster to use. */
static enum sampling_step call(const struct sampling *p, const struct state *s,
                               size_t *cluster)
{
    *cluster = forecast_most_profitable(s);
    for (size_t c = 0; c < s->n_clusters; c++)
        if (wanted_by(p, c) && is_usable(p, s, c))
            *cluster = c;
    for (size_t c = 0; c < s->n_clusters && *cluster == SIZE_MAX; c++)
        if (is_usable(p, s, c))
            *cluster = c;
    return *cluster == SIZE_MAX ? SAMPLING_IS_OVER : SAMPLING_CALLS;
}

enum sampling_step sampling_step(const struct sampling *p,
                                 const struct state *s, bool stalled,
                                 size_t *cluster)
{
    bool is_drawn = all_drawn(p, s);
    if (s->n_absent > 0 || s->run.draining)
        return SAMPLING_GOES_ON;
    if (points_complete(p, s) &&
        ((is_drawn && p->n_open == 0) || is_enough(p, s)))
        return SAMPLING_IS_OVER;
    if (stalled)
        return call(p, s, cluster);
    bool wanted = !is_drawn || wants_point(p, s), active = false;
    for (size_t c = 0; c < s->n_clusters; c++) {
        wanted |= wanted_by(p, c) && is_usable(p, s, c);
        active |= s->clusters[c].n_active > 0;
    }
    return active && !wanted ? SAMPLING_RESTS : SAMPLING_GOES_ON;
}

void sampling_watch(struct sampling *p, const struct state *s)
{
    if (p->longest_runtime == 0 || !all_drawn(p, s))
        return;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct slot *sl = &s->slots[i];
        if (sl->n_tasks == 0 ||
            (double)(s->now - sl->started) < FOR_EVER * p->longest_runtime)
            continue;
        struct point *point = point_of(p, sl->head);
        bool is_point = point && !point->is_void;
        if (!p->is_open[sl->head.i] && !is_point)
            continue;
        leave_sample(p, sl->head);
        p->given_up++;
        p->longest = s->bag.index[sl->head.i];
        if (is_point)
            void_point(p, point);
    }
}

const struct advisor sampling_points = {"points", sizeof(struct sampling),
                                        init, release};
