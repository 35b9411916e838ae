/*
 * Workflows in a budget, where use is charged by the second: policies of the
 * engine in the simulator, and a static schedule, HEFTBUDG (Caniou, Caron, Kong
 * Win Chang, Robert: "Budget-aware scheduling algorithms for scientific
 * workflows with stochastic task weights on heterogeneous IaaS Cloud
 * platforms", 2018).
 *
 *   [LATEST=2] build/bench/miser/graphs KNOWN SEEDS WORKFLOW...
 *
 * KNOWN: what policies are told of runtimes: `no`, or by how much it may be
 * wrong, 0.3 for up to 30 %. Or `windows`: nothing, and machines are charged by
 * windows of an eighth of the longest chain on the fastest machine. Machines: 8
 * of speed 1 at 1000 per hour, 8 of speed 2 at 3000, 8 of speed 4 at 8000.
 * Budgets: 5, 25, 50 and 100 % of the way from the least cost to that of all
 * tasks on the fastest machines.
 *
 * LATEST: there is a deadline, so many times the bound, and the least cost in
 * time is wanted.
 *
 * A row of tab-separated values for each workflow, seed, budget and policy:
 * tasks, done, makespan (s), charged / budget, and makespan / bound. No
 * schedule for this money is sooner than the bound: the longest chain on the
 * fastest machine, or all work on the cheapest machines that it can be done on
 * in that time, as a fluid.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_rng.h>

#include "bats/policy.h"
#include "bats/status.h"
#include "input/workflow/workflow.h"
#include "sim/sim.h"

#define TYPES 3
#define EACH 8
#define MACHINES (TYPES * EACH)

static const double speed[TYPES] = {1, 2, 4};
/* Per hour; so much that a millionth, to which charges are rounded, is
 * nothing. */
static const double price[TYPES] = {1e3, 3e3, 8e3};
static const double shares[] = {.05, .25, .5, 1};
#define BUDGETS (sizeof shares / sizeof *shares)

static const struct bats_policy *const policies[] = {
    &bats_policy_flow, &bats_policy_miser, &bats_policy_mw_dbs,
    &bats_policy_dbc_time, &bats_policy_rr};
#define POLICIES (sizeof policies / sizeof *policies)

static const struct bats_policy *const by_windows[] = {
    &bats_policy_bats, &bats_policy_bkp, &bats_policy_rr};
#define BY_WINDOWS (sizeof by_windows / sizeof *by_windows)

struct graph {
    struct bats_workflow w;
    const char *name;
    uint32_t n, *order;     /* of the graph's nodes, parents first */
    bats_time *work, *told; /* microseconds at speed 1 */
    double sum, chain;      /* seconds */
};

enum known { NOTHING, TOLD, WINDOWS };

struct result {
    uint32_t done;
    double makespan, cost;
};

static double seconds(bats_time time)
{
    return (double)time / BATS_SECOND;
}

static double cost_of(double work, size_t type)
{
    return work / speed[type] * price[type] / 3600;
}

/* ---- the bound ---- */

/* The least cost of all work in `time`; INFINITY: it can not be done. */
static double fluid_cost(double work, double time)
{
    double cost = 0;
    for (size_t k = 0; k < TYPES; k++) { /* the cheapest first */
        double part = fmin(work, time * speed[k] * EACH);
        cost += cost_of(part, k);
        work -= part;
    }
    return work > 1e-9 ? INFINITY : cost;
}

static double bound(const struct graph *g, double budget)
{
    double low = g->chain / speed[TYPES - 1], high = low + g->sum;
    if (fluid_cost(g->sum, low) <= budget)
        return low;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (fluid_cost(g->sum, middle) <= budget)
            high = middle;
        else
            low = middle;
    }
    return high;
}

/* ---- the engine ---- */

static bool run(const struct graph *g, const struct bats_policy *policy,
                double budget, enum known known, double latest,
                struct result *r)
{
    bats_time window = BATS_HOUR;
    if (known == WINDOWS)
        window =
            (bats_time)(g->chain / speed[TYPES - 1] / 8 * BATS_SECOND) + 1;
    double scale = (double)window / BATS_HOUR;
    struct bats_cluster clusters[TYPES] = {{.name = "slow", .max = EACH},
                                           {.name = "middle", .max = EACH},
                                           {.name = "fast", .max = EACH}};
    struct bats_machine_spec machines[MACHINES];
    struct bats_sched *s;
    struct bats_error err;
    struct bats_sched_status status;
    bats_time end;
    for (size_t k = 0; k < TYPES; k++)
        clusters[k].charge = (bats_money)(price[k] * scale * BATS_UNIT);
    for (uint32_t i = 0; i < MACHINES; i++)
        machines[i] = (struct bats_machine_spec){i / EACH, 1};
    struct bats_sim_options o = {
        .sched = {.policy = policy,
                  .n_tasks = g->n,
                  .graph = &g->w.graph,
                  .category = g->w.category,
                  .n_categories =
                      g->w.category ? (uint32_t)g->w.categories.n : 0,
                  .clusters = clusters,
                  .n_clusters = TYPES,
                  .machines = machines,
                  .n_machines = MACHINES,
                  .window = window,
                  .budget = (bats_money)(budget * BATS_UNIT),
                  .goal = {(bats_time)(latest * BATS_SECOND),
                           latest > 0 ? BATS_MINIMIZE_COST
                                      : BATS_MINIMIZE_TIME},
                  .billing = {.model = known == WINDOWS ? BATS_BILLING_WINDOW
                                                        : BATS_BILLING_USE},
                  .seed = 1},
        .work = g->work,
        .told = known == TOLD ? g->told : NULL,
        .speed = speed};
    if (bats_sim_run(&o, &s, &end, &err) < 0) {
        fprintf(stderr, "%s: %s\n", g->name, err.text);
        return false;
    }
    bats_sched_status(s, &status);
    *r = (struct result){status.done, seconds(end),
                         (double)status.charged / BATS_UNIT};
    bats_sched_destroy(s);
    return true;
}

/* ---- HEFTBUDG ---- */

struct ranked {
    double rank;
    uint32_t node, at;
};

static int by_rank(const void *left, const void *right)
{
    const struct ranked *a = left, *b = right;
    if (a->rank != b->rank)
        return a->rank > b->rank ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static struct ranked *rank(const struct graph *g)
{
    const struct bats_graph *w = &g->w.graph;
    double *height = calloc(w->n_nodes, sizeof *height);
    struct ranked *list = calloc(w->n_nodes, sizeof *list);
    for (uint32_t i = w->n_nodes; height && list && i-- > 0;) {
        uint32_t node = g->order[i];
        for (uint64_t k = w->first[node]; k < w->first[node + 1]; k++)
            height[node] = fmax(height[node], height[w->child[k]]);
        height[node] += node < g->n ? seconds(g->told[node]) : 0;
        list[i] = (struct ranked){height[node], node, i};
    }
    free(height);
    if (list)
        qsort(list, w->n_nodes, sizeof *list, by_rank);
    return list;
}

/* A machine and what it is to do, in the order of time. */
struct lane {
    uint32_t n;
    double (*busy)[2]; /* from, to */
    double really;     /* free from then on, when it comes to it */
};

static double gap(const struct lane *l, double ready, double time)
{
    double at = ready;
    for (uint32_t i = 0; i < l->n && at + time > l->busy[i][0]; i++)
        at = fmax(at, l->busy[i][1]);
    return at;
}

static void book(struct lane *l, double begin, double end)
{
    uint32_t i = l->n++;
    for (; i > 0 && l->busy[i - 1][0] > begin; i--)
        memcpy(l->busy[i], l->busy[i - 1], sizeof *l->busy);
    l->busy[i][0] = begin;
    l->busy[i][1] = end;
}

struct planned {
    double begin, ready;
    uint32_t node, at; /* its place in the sorted graph */
    size_t machine;    /* MACHINES: a joint */
};

static int by_begin(const void *left, const void *right)
{
    const struct planned *a = left, *b = right;
    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* In the order of rank_u, each task to the machine, and there to the gap, where
 * it ends first of those that cost no more than its share of the budget and
 * what others have left of theirs; or to the cheapest ones. */
static void plan(const struct graph *g, double budget,
                 const struct ranked *list, struct lane *lanes,
                 struct planned *plan)
{
    const struct bats_graph *w = &g->w.graph;
    double told = 0, pot = 0;
    for (uint32_t i = 0; i < g->n; i++)
        told += seconds(g->told[i]);
    for (uint32_t i = 0; i < w->n_nodes; i++) {
        struct planned *p = &plan[list[i].node];
        double end = p->begin = p->ready;
        p->node = list[i].node;
        p->at = list[i].at;
        p->machine = MACHINES;
        if (p->node < g->n) {
            double work = seconds(g->told[p->node]), first = INFINITY;
            double share = told > 0 ? budget * work / told : 0;
            bool is_paid = false;
            for (size_t m = 0; m < MACHINES; m++) {
                size_t k = m / EACH;
                double time = work / speed[k];
                double begin = gap(&lanes[m], p->ready, time);
                bool pays = cost_of(work, k) <= (share + pot) * (1 + 1e-9);
                if (pays < is_paid || (!pays && k > 0) ||
                    (pays == is_paid && begin + time >= first))
                    continue;
                is_paid = pays;
                first = begin + time;
                p->begin = begin;
                p->machine = m;
            }
            end = first;
            book(&lanes[p->machine], p->begin, end);
            pot += share - cost_of(work, p->machine / EACH);
        }
        for (uint64_t k = w->first[p->node]; k < w->first[p->node + 1]; k++)
            plan[w->child[k]].ready = fmax(plan[w->child[k]].ready, end);
    }
}

/* The real times: each machine does what it is to do in that order. */
static void carry_out(const struct graph *g, struct planned *plan,
                      struct lane *lanes, double *ready, struct result *r)
{
    const struct bats_graph *w = &g->w.graph;
    qsort(plan, w->n_nodes, sizeof *plan, by_begin);
    for (uint32_t i = 0; i < w->n_nodes; i++) {
        const struct planned *p = &plan[i];
        double end = ready[p->node];
        if (p->machine < MACHINES) {
            double work = seconds(g->work[p->node]);
            struct lane *l = &lanes[p->machine];
            end = l->really =
                fmax(l->really, end) + work / speed[p->machine / EACH];
            r->cost += cost_of(work, p->machine / EACH);
            r->makespan = fmax(r->makespan, end);
        }
        for (uint64_t k = w->first[p->node]; k < w->first[p->node + 1]; k++)
            ready[w->child[k]] = fmax(ready[w->child[k]], end);
    }
}

static bool static_schedule(const struct graph *g, double budget,
                            struct result *r)
{
    uint32_t nodes = g->w.graph.n_nodes;
    struct ranked *list = rank(g);
    struct planned *planned = calloc(nodes, sizeof *planned);
    double *ready = calloc(nodes, sizeof *ready);
    struct lane lanes[MACHINES] = {{0}};
    bool ok = list && planned && ready;
    for (size_t m = 0; m < MACHINES; m++)
        ok &= (lanes[m].busy = calloc(g->n, sizeof *lanes[m].busy)) != NULL;
    *r = (struct result){.done = g->n};
    if (ok) {
        plan(g, budget, list, lanes, planned);
        carry_out(g, planned, lanes, ready, r);
    }
    for (size_t m = 0; m < MACHINES; m++)
        free(lanes[m].busy);
    free(list);
    free(planned);
    free(ready);
    return ok;
}

/* ---- the experiment ---- */

static void print(const struct graph *g, unsigned long seed, size_t budget,
                  const char *policy, double money, const struct result *r)
{
    printf("%s\t%lu\t%.0f\t%s\t%u\t%u\t%.3f\t%.4f\t%.4f\n", g->name, seed,
           shares[budget] * 100, policy, g->n, r->done, r->makespan,
           r->cost / money, r->makespan / bound(g, money));
}

static bool run_all(const struct graph *g, unsigned long seed,
                    enum known known)
{
    const struct bats_policy *const *list =
        known == WINDOWS ? by_windows : policies;
    size_t n = known == WINDOWS ? BY_WINDOWS : POLICIES;
    double least = cost_of(g->sum, 0), most = cost_of(g->sum, TYPES - 1);
    const char *late = getenv("LATEST");
    struct result r;
    for (size_t b = 0; b < BUDGETS; b++) {
        double money = least + shares[b] * (most - least);
        double latest = late ? strtod(late, NULL) * bound(g, money) : 0;
        for (size_t p = 0; p < n; p++) {
            if (!run(g, list[p], money, known, latest, &r))
                return false;
            print(g, seed, b, bats_policy_name(list[p]), money, &r);
        }
        if (known == TOLD && !late && !static_schedule(g, money, &r))
            return false;
        if (known == TOLD && !late)
            print(g, seed, b, "heftbudg", money, &r);
    }
    return true;
}

static void measure(struct graph *g)
{
    const struct bats_graph *w = &g->w.graph;
    double *height = calloc(w->n_nodes, sizeof *height);
    for (uint32_t i = w->n_nodes; height && i-- > 0;) {
        uint32_t node = g->order[i];
        for (uint64_t k = w->first[node]; k < w->first[node + 1]; k++)
            height[node] = fmax(height[node], height[w->child[k]]);
        height[node] += node < g->n ? seconds(g->work[node]) : 0;
        g->chain = fmax(g->chain, height[node]);
        g->sum += node < g->n ? seconds(g->work[node]) : 0;
    }
    free(height);
}

static bool load(const char *path, struct graph *g)
{
    struct bats_error err;
    uint32_t circle;
    const char *slash = strrchr(path, '/');
    *g = (struct graph){.name = slash ? slash + 1 : path};
    if (bats_workflow_load(path, &g->w, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    g->n = g->w.graph.n_tasks;
    g->order = malloc(g->w.graph.n_nodes * sizeof *g->order);
    g->work = malloc(g->n * sizeof *g->work);
    g->told = malloc(g->n * sizeof *g->told);
    if (!g->order || !g->work || !g->told ||
        bats_graph_sort(&g->w.graph, g->order, &circle, &err) < 0)
        return false;
    for (uint32_t i = 0; i < g->n; i++) {
        g->work[i] = g->w.tasks[i].runtime;
        if (g->work[i] < 0) {
            fprintf(stderr, "%s: a task without a runtime\n", path);
            return false;
        }
    }
    measure(g);
    return true;
}

static void tell(struct graph *g, gsl_rng *rng, double error)
{
    for (uint32_t i = 0; i < g->n; i++)
        g->told[i] = (bats_time)((double)g->work[i] *
                                 (1 + error * (2 * gsl_rng_uniform(rng) - 1)));
}

int main(int argc, char **argv)
{
    unsigned long seeds = argc > 3 ? strtoul(argv[2], NULL, 10) : 0;
    if (seeds == 0) {
        fprintf(stderr, "usage: graphs KNOWN SEEDS WORKFLOW...\n");
        return 2;
    }
    enum known known = strcmp(argv[1], "no") == 0        ? NOTHING
                       : strcmp(argv[1], "windows") == 0 ? WINDOWS
                                                         : TOLD;
    bool ok = true;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    for (int i = 3; i < argc && ok; i++) {
        struct graph g;
        ok = load(argv[i], &g);
        for (unsigned long seed = 1; ok && seed <= seeds; seed++) {
            gsl_rng_set(rng, seed);
            tell(&g, rng, known == TOLD ? strtod(argv[1], NULL) : 0);
            ok = run_all(&g, seed, known);
        }
        free(g.order);
        free(g.work);
        free(g.told);
        bats_workflow_release(&g.w);
    }
    gsl_rng_free(rng);
    return ok ? 0 : 1;
}
