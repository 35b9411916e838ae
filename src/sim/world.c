#include "sim/world.h"
#include "bats/lease.h"

#include <gsl/gsl_statistics_double.h>
#include <math.h>
#include <stdlib.h>

#include "bats/sample.h"
#include "bats/sched.h"
#include "bats/stats.h"
#include "bats/status.h"
#include "input/bagfile.h"
#include "util/hash.h"
#include "util/larger.h"

/* Independent streams of random numbers of a repeat. */
enum { STREAM_NOISE, STREAM_LOSS, STREAM_TOLD };

struct bats_world {
    const struct bats_scenario *scenario;
    uint32_t seed, repeat;
    uint64_t order_seed; /* the first repeat has the order of a run with
                            --seed */
    uint64_t noise_seed;
    bats_time *work; /* per task, at speed 1 */
    bats_time *told; /* per task: told to policies; or NULL */
    struct bats_sim_loss *losses;
    size_t n_losses;
    struct bats_observation *seen; /* if the scenario is informed */
    size_t n_seen;
    double *chain;   /* see bats_graph_chain; NULL: no dependencies */
    uint32_t *order; /* nodes of the graph, parents first */
    bool has_noise, has_losses;
    struct bats_bound_type types[BATS_CLUSTERS_MAX];
    struct bats_bound_problem problem;
    bats_time deadline; /* the deadline, if the scenario gives a share */
    bool knows_rr;
    bats_money rr; /* charged to rr without a budget */
    /* By budget: amount and bound, once known. */
    bool knows_bound[BATS_SCENARIO_BUDGETS];
    bats_money amount[BATS_SCENARIO_BUDGETS];
    double bound[BATS_SCENARIO_BUDGETS];
};

/* ---- creating a world ---- */

static int draw_tasks(struct bats_world *w, struct bats_error *err)
{
    const struct bats_scenario *s = w->scenario;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    w->work = malloc(s->n_tasks * sizeof *w->work);
    bool fits = true;
    if (rng && w->work) {
        bats_time sum = 0;
        gsl_rng_set(rng, w->seed);
        for (uint32_t i = 0; i < s->n_tasks; i++) {
            w->work[i] = s->as_measured ? s->measured[i]
                                        : bats_draw_next(&s->runtime, rng);
            fits = fits && bats_units_add(sum, w->work[i], &sum);
        }
    }
    gsl_rng_free(rng);
    if (!rng || !w->work)
        return bats_no_memory(err);
    if (!fits)
        return bats_error_set(
            err, BATS_EOVERFLOW,
            "seed %u: the runtimes of all tasks together do not fit 64 bits",
            w->seed);
    return 0;
}

static int tell(struct bats_world *w, uint64_t seed, struct bats_error *err)
{
    const struct bats_scenario *s = w->scenario;
    w->told = malloc(s->n_tasks * sizeof *w->told);
    if (!w->told)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < s->n_tasks; i++)
        w->told[i] = (bats_time)((double)w->work[i] *
                                 bats_draw_error(seed, i, s->told_error));
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const struct bats_sim_loss *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->machine < b->machine ? -1 : a->machine > b->machine;
}

static int draw_losses(struct bats_world *w, uint64_t seed,
                       struct bats_error *err)
{
    const struct bats_platform *p = &w->scenario->platform;
    w->losses = malloc(p->n_machines * sizeof *w->losses);
    if (!w->losses)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < p->n_machines; i++) {
        bats_time mean = w->scenario->loss[p->machines[i].cluster];
        if (mean > 0)
            w->losses[w->n_losses++] =
                (struct bats_sim_loss){bats_draw_loss(seed, i, mean), i};
    }
    qsort(w->losses, w->n_losses, sizeof *w->losses, by_time);
    return 0;
}

/* Notes the runtime of every task on every cluster. */
static int observe(struct bats_world *w, struct bats_error *err)
{
    const struct bats_scenario *s = w->scenario;
    w->seen = malloc(s->n_tasks * s->platform.n_clusters * sizeof *w->seen);
    if (!w->seen)
        return bats_no_memory(err);
    for (uint32_t t = 0; t < s->n_tasks; t++)
        for (uint32_t i = 0; i < s->platform.n_clusters; i++)
            w->seen[w->n_seen++] = (struct bats_observation){
                t, i, llround((double)w->work[t] / s->platform.speed[i])};
    return 0;
}

/* The driver may round a runtime by up to half a microsecond. */
static double shortest(double work, double speed)
{
    return larger(work - 0.5 * speed, 0);
}

static int sort_graph(struct bats_world *w, struct bats_error *err)
{
    const struct bats_graph *g = &w->scenario->graph;
    uint32_t n_circle;
    if (g->n_nodes == 0)
        return 0;
    w->chain = calloc((size_t)g->n_nodes + 1, sizeof *w->chain);
    w->order = malloc(((size_t)g->n_nodes + 1) * sizeof *w->order);
    if (!w->chain || !w->order)
        return bats_no_memory(err);
    int64_t n = bats_graph_sort(g, w->order, &n_circle, err);
    return n < 0 ? (int)n : 0;
}

static double part_of(int k, uint32_t cores, uint32_t gpus, int64_t memory)
{
    return k == 0 ? cores : k == 1 ? gpus : (double)memory;
}

/* Slots that a task with this need takes by the k-th resource, on the machine
 * where these are fewest; 0: some machine does not count this resource. */
static double slots_by(const struct bats_scenario *s,
                       const struct bats_need *need, int k)
{
    double least = INFINITY;
    double takes = part_of(k, need->cores, need->gpus, need->memory_kib);
    for (uint32_t i = 0; takes > 0 && i < s->platform.n_machines; i++) {
        const struct bats_stock *m = &s->stocks[i];
        double has = part_of(k, m->cores, m->gpus, m->memory_kib);
        if (has >= takes)
            least = fmin(least, takes / has * m->cores);
        else if (has == 0 && k == 2)
            return 0;
    }
    return isfinite(least) ? least : 0;
}

/* Sums of the needs for each resource. */
struct sums {
    double slots[BATS_CATEGORIES_MAX][3], of[3];
};

static struct sums *begin_sums(const struct bats_scenario *s)
{
    struct sums *sums = s->needs ? calloc(1, sizeof *sums) : NULL;
    for (uint32_t i = 0; sums && i < s->engine.n_categories; i++)
        for (int k = 0; k < 3; k++)
            sums->slots[i][k] = slots_by(s, &s->needs[i], k);
    return sums;
}

/* Minimal work of the bag, for the bound: with noise, each task's first
 * execution on the cluster where it is shortest. */
static void sum_up(struct bats_world *w)
{
    const struct bats_scenario *s = w->scenario;
    const struct bats_platform *p = &s->platform;
    w->problem = (struct bats_bound_problem){
        .types = w->types, .n_types = p->n_clusters, .window = p->window};
    for (size_t i = 0; i < p->n_clusters; i++)
        w->types[i] = (struct bats_bound_type){.machines = p->clusters[i].max,
                                               .speed = p->speed[i],
                                               .charge = p->clusters[i].charge,
                                               .startup = s->startup[i]};
    for (uint32_t i = 0; i < p->n_machines; i++)
        w->types[p->machines[i].cluster].slots = p->machines[i].slots;
    struct sums *sums = begin_sums(s);
    double longest = 0, fastest = gsl_stats_max(p->speed, 1, p->n_clusters);
    for (uint32_t t = 0; t < s->n_tasks; t++) {
        double least = shortest((double)w->work[t], fastest);
        longest = larger(longest, (double)w->work[t]);
        for (size_t i = 0; w->has_noise && i < p->n_clusters; i++) {
            double noise = bats_draw_noise(w->noise_seed, t, 0, s->noise[i]);
            double work = shortest((double)w->work[t] * noise, p->speed[i]);
            least = i == 0 ? work : smaller(least, work);
            w->types[i].longest = larger(w->types[i].longest, work);
        }
        w->problem.work += least;
        for (int k = 0; sums && k < 3; k++)
            sums->of[k] += least * sums->slots[s->category[t]][k];
        if (w->chain)
            w->chain[t] = least;
    }
    for (size_t i = 0; !w->has_noise && i < p->n_clusters; i++)
        w->types[i].longest = shortest(longest, p->speed[i]);
    if (sums) /* by the scarcest resource */
        w->problem.work = gsl_stats_max(sums->of, 1, 3);
    free(sums);
    if (w->chain)
        w->problem.chain =
            w->chain[bats_graph_chain(&s->graph, w->order, w->chain, NULL)];
}

/* Cost of `work` on one machine of the most profitable type. */
static double cost_on_one(const struct bats_bound_problem *p, double work)
{
    size_t best = 0;
    double best_price = INFINITY;
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_bound_type *t = &p->types[i];
        double price = (double)t->charge / (t->speed * t->slots);
        if (price < best_price) {
            best_price = price;
            best = i;
        }
    }
    const struct bats_bound_type *t = &p->types[best];
    double time = (double)t->startup + work / (t->speed * t->slots);
    return ceil(time / (double)p->window) * (double)t->charge;
}

static int find_deadline(struct bats_world *w, struct bats_error *err)
{
    double soonest, latest, share = w->scenario->deadline_share;
    bats_money least = (bats_money)cost_on_one(&w->problem, w->problem.work);
    int rc = bats_bound(&w->problem, BATS_UNLIMITED, &soonest, err);
    if (rc == 0)
        rc = bats_bound(&w->problem, least, &latest, err);
    if (rc == 0)
        w->deadline = (bats_time)ceil(soonest + share * (latest - soonest));
    return rc;
}

int bats_world_create(const struct bats_scenario *scenario, size_t seed,
                      uint32_t repeat, struct bats_world **world,
                      struct bats_error *err)
{
    struct bats_world *w = calloc(1, sizeof *w);
    if (!w)
        return bats_no_memory(err);
    w->scenario = scenario;
    w->seed = scenario->seeds[seed];
    w->repeat = repeat;
    uint64_t own = bats_mix_at(w->seed, repeat);
    w->order_seed = repeat == 0 ? w->seed : own;
    w->noise_seed = bats_mix_at(own, STREAM_NOISE);
    for (size_t i = 0; i < scenario->platform.n_clusters; i++) {
        w->has_noise = w->has_noise || scenario->noise[i] > 0;
        w->has_losses |=
            bats_reliability_loses(&scenario->platform.reliability[i]);
    }
    int rc = draw_tasks(w, err);
    if (rc == 0)
        rc = draw_losses(w, bats_mix_at(own, STREAM_LOSS), err);
    if (rc == 0 && scenario->is_told)
        rc = tell(w, bats_mix_at(own, STREAM_TOLD), err);
    if (rc == 0 && scenario->informed)
        rc = observe(w, err);
    if (rc == 0)
        rc = sort_graph(w, err);
    if (rc == 0)
        sum_up(w);
    if (rc == 0 && scenario->deadline_is_share)
        rc = find_deadline(w, err);
    if (rc < 0) {
        bats_world_destroy(w);
        return rc;
    }
    *world = w;
    return 0;
}

void bats_world_destroy(struct bats_world *world)
{
    if (!world)
        return;
    free(world->work);
    free(world->told);
    free(world->losses);
    free(world->seen);
    free(world->chain);
    free(world->order);
    free(world);
}

/* ---- a run ---- */

static void read_off(const struct bats_world *w, const struct bats_sched *s,
                     struct bats_world_result *r)
{
    struct bats_sched_status st;
    bats_sched_status(s, &st);
    r->finish = st.finish;
    r->charged = st.charged;
    r->done = st.done;
    r->failed = st.failed;
    r->undone = w->scenario->n_tasks - st.done - st.failed;
    r->preempted = st.preempted;
    for (size_t i = 0; i < w->scenario->platform.n_clusters; i++) {
        struct bats_cluster_status c;
        bats_sched_cluster_status(s, i, &c);
        r->windows += c.windows;
        r->lost += c.machines_lost;
    }
    size_t n;
    const struct bats_decision *d = bats_sched_decisions(s, &n);
    for (size_t i = 0; i < n; i++) {
        bool first = d[i].reason == BATS_REASON_START ||
                     d[i].reason == BATS_REASON_SAMPLED ||
                     d[i].reason == BATS_REASON_CHOSEN;
        for (size_t k = 0; first && k < BATS_CLUSTERS_MAX; k++)
            r->machines[k] = d[i].machines[k];
        r->reconfigurations += !first;
    }
}

static struct bats_billing billing_of(const struct bats_scenario *s)
{
    struct bats_billing billing = {.model = s->engine.billing.model};
    if (billing.model == BATS_BILLING_ALLOCATION) {
        billing.rate = bats_platform_hourly(&s->platform, 0);
        billing.leaving = s->engine.preempt_lead;
    }
    if (billing.model != BATS_BILLING_JOB)
        return billing;
    billing = s->engine.billing;
    billing.step = BATS_MINUTE;
    bool is_given = billing.overrun > 0;
    for (size_t i = 0; i < s->platform.n_clusters && !is_given; i++)
        if (s->startup[i] > billing.overrun)
            billing.overrun = s->startup[i];
    return billing;
}

/* Queue wait of an allocation of all machines: that of the cluster with the
 * longest wait. */
static bats_time wait_of_all(const struct bats_world *w)
{
    const struct bats_scenario *s = w->scenario;
    bats_time mean = 0;
    for (size_t i = 0; i < s->platform.n_clusters; i++)
        if (s->queue[i] > mean)
            mean = s->queue[i];
    return bats_lease_terms(s->engine.billing.model).lasts && mean > 0
               ? bats_draw_loss(w->noise_seed, 0, mean)
               : 0;
}

static struct bats_sched_options
sched_options(const struct bats_world *w, const struct bats_policy *policy,
              bats_money budget)
{
    const struct bats_scenario *s = w->scenario;
    const struct bats_platform *p = &s->platform;
    struct bats_sched_options o = s->engine;
    o.graph = s->graph.n_nodes > 0 ? &s->graph : NULL;
    o.policy = bats_policy_for(policy, o.billing.model, o.graph != NULL);
    o.prior = policy == &bats_policy_bats ? o.prior : NULL;
    o.n_tasks = s->n_tasks;
    o.category = s->category;
    o.needs = s->needs;
    o.stocks = s->stocks;
    o.clusters = p->clusters;
    o.n_clusters = p->n_clusters;
    o.expected = p->expected;
    o.machines = p->machines;
    o.n_machines = p->n_machines;
    o.window = p->window;
    o.budget = budget;
    o.billing = billing_of(s);
    o.seed = w->order_seed;
    o.earlier.seen = w->seen;
    o.earlier.n_seen = w->n_seen;
    o.utility = s->utility[0] != '\0' ? s->utility : NULL;
    if (s->bag) {
        o.purses = s->bag->sharing.list;
        o.purse = s->bag->sharing.of;
        o.n_purses = s->bag->sharing.n;
    }
    if (s->deadline_is_share)
        o.goal.deadline = w->deadline;
    return o;
}

static int run(const struct bats_world *w, const struct bats_policy *policy,
               const struct bats_sim_watch *watch, struct bats_world_result *r,
               struct bats_error *err)
{
    const struct bats_scenario *s = w->scenario;
    struct bats_sim_options o = {
        .sched = sched_options(w, policy, r->amount),
        .work = w->work,
        .told = w->told,
        .speed = s->platform.speed,
        .startup = s->startup,
        .queue = s->queue,
        .bill = s->bill,
        .noise = w->has_noise ? s->noise : NULL,
        .noise_seed = w->noise_seed,
        .saves = s->saves,
        .migration = s->migration,
        .reliability = w->has_losses ? s->platform.reliability : NULL,
        .losses = w->losses,
        .n_losses = w->n_losses,
        .watch = watch ? *watch : (struct bats_sim_watch){.context = NULL},
        .violations = &r->violations};
    struct bats_sched *sched;
    int rc = bats_sim_run(&o, &sched, &r->makespan, err);
    if (rc < 0)
        return rc;
    r->makespan += wait_of_all(w);
    read_off(w, sched, r);
    bats_sched_destroy(sched);
    return 0;
}

const bats_time *bats_world_work(const struct bats_world *w)
{
    return w->work;
}

const struct bats_bound_problem *bats_world_problem(const struct bats_world *w)
{
    return &w->problem;
}

/* ---- budgets ---- */

/* Cost of one window of machines of each type, one per task of the sample (or
 * all of them; at most a tenth of the tasks), and of the rest of the bag on
 * one machine. */
static bats_money minimum(const struct bats_world *w)
{
    const struct bats_bound_problem *p = &w->problem;
    uint32_t n_tasks = w->scenario->n_tasks;
    uint32_t sample = bats_stats_sample_size(n_tasks, 1.96, 0.25);
    uint32_t tenth = n_tasks / 10 + (n_tasks % 10 > 0);
    double cost = 0, done = 0;
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_bound_type *t = &p->types[i];
        double n =
            fmin(ceil((sample < tenth ? sample : tenth) / (double)t->slots),
                 t->machines);
        cost += n * (double)t->charge;
        done += n * t->speed * t->slots *
                fmax((double)(p->window - t->startup), 0);
    }
    if (done < p->work)
        cost += cost_on_one(p, p->work - done);
    return (bats_money)cost;
}

/* Cost of all machines for the windows that the bag needs as a fluid. */
static bats_money fastest(const struct bats_world *w)
{
    const struct bats_bound_problem *p = &w->problem;
    double price = 0;
    for (size_t i = 0; i < p->n_types; i++)
        price += p->types[i].machines * (double)p->types[i].charge;
    return (bats_money)(ceil(bats_bound_fluid(p) / (double)p->window) * price);
}

static int cost_of_rr(struct bats_world *w, bats_money *cost,
                      struct bats_error *err)
{
    struct bats_world_result r = {.amount = BATS_UNLIMITED};
    int rc = w->knows_rr ? 0 : run(w, &bats_policy_rr, NULL, &r, err);
    if (rc == 0 && !w->knows_rr) {
        w->rr = r.charged;
        w->knows_rr = true;
    }
    *cost = w->rr;
    return rc;
}

static int amount_of(struct bats_world *w,
                     const struct bats_scenario_budget *b, bats_money *amount,
                     struct bats_error *err)
{
    int rc = 0;
    double least = cost_on_one(&w->problem, w->problem.work);
    switch (b->base) {
    case BATS_BUDGET_AMOUNT:
    case BATS_BUDGET_UNLIMITED:
        *amount = b->amount;
        return 0;
    case BATS_BUDGET_SHARE:
        *amount = (bats_money)ceil(
            least + b->factor * fmax((double)fastest(w) - least, 0));
        return 0;
    case BATS_BUDGET_RR:
        rc = cost_of_rr(w, amount, err);
        break;
    case BATS_BUDGET_CHEAPEST:
        *amount = (bats_money)least;
        break;
    case BATS_BUDGET_MINIMUM:
        *amount = minimum(w);
        break;
    case BATS_BUDGET_FASTEST:
        *amount = fastest(w);
        break;
    }
    /* Rounded up to a millionth, but 10 % of a round sum stays round. */
    *amount = (bats_money)ceil((double)*amount * b->factor - 1e-3);
    return rc;
}

/* Updates amount and bound of a budget. */
static int know_budget(struct bats_world *w, uint32_t budget,
                       struct bats_error *err)
{
    if (w->knows_bound[budget])
        return 0;
    int rc =
        amount_of(w, &w->scenario->budgets[budget], &w->amount[budget], err);
    w->bound[budget] = INFINITY; /* the bound is for whole windows */
    struct bats_lease_terms terms =
        bats_lease_terms(w->scenario->engine.billing.model);
    if (rc == 0 && (terms.in_windows || !terms.prolongs))
        rc =
            bats_bound(&w->problem, w->amount[budget], &w->bound[budget], err);
    w->knows_bound[budget] = rc == 0;
    return rc;
}

int bats_world_run(struct bats_world *world, uint32_t policy, uint32_t budget,
                   const struct bats_sim_watch *watch,
                   struct bats_world_result *result, struct bats_error *err)
{
    int rc = know_budget(world, budget, err);
    if (rc < 0)
        return rc;
    *result = (struct bats_world_result){.seed = world->seed,
                                         .repeat = world->repeat + 1,
                                         .policy = policy,
                                         .budget = budget,
                                         .amount = world->amount[budget],
                                         .bound = world->bound[budget]};
    rc = run(world, world->scenario->policies[policy], watch, result, err);
    if (rc == 0 && result->undone == 0 && isfinite(result->bound))
        result->ratio = (double)result->makespan / result->bound;
    return rc;
}
