/*
 * The experiment of Sampaio and Barbosa, "Workflow Scheduling with Amazon EC2
 * Spot Instances" (2020), section IV: 55 Montage workflows of 10 users, on
 * machines that are charged for use and may be reclaimed. The policies are the
 * engine's, in the simulator; users do not share machines, so each user is a
 * run of several workflows, which have a budget, a deadline and an arrival
 * each.
 *
 *   build/bench/miser/paper WORKFLOW SEEDS MACHINES
 *
 * A row of tab-separated values for each policy, models, sigma of the law of
 * reclaims, B, D, and error of the runtimes that the policies are told
 * (`learned`: they are told none); means over the seeds, in percent of all:
 * tasks done in time, workflows done, tasks begun; and machines reclaimed.
 *
 * The paper does not say how fast the types are (here 1, 2, 4, 8, as their
 * processors), and how many MACHINES of each type and model a user may have (20
 * was EC2's limit). That a machine takes up to 4 s to start is left out. All is
 * over within an hour: so a block is one of an hour, and a reclaimed machine is
 * free.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_rng.h>

#include "input/workflow/workflow.h"
#include "sim/sim.h"

#define TYPES 4
#define MODELS 3
#define USERS 10
#define FLOWS 55
#define FLOWS_MOST ((FLOWS + USERS - 1) / USERS)
#define SCALE 25
#define MACHINES_MOST 64
#define SPARE 2 /* times as many, for those that are reclaimed */
#define NOTICE (120 * BATS_SECOND)
#define MIGRATION (12 * BATS_SECOND) /* the longest */
#define LEARNED -1.0

/* Table I, per hour: on demand, a block of an hour, reclaimable. */
static const double price[TYPES][MODELS] = {{.0230, .0130, .0069},
                                            {.0464, .0260, .0139},
                                            {.1856, .1020, .0557},
                                            {.3712, .2040, .1114}};
static const double speed_of[TYPES] = {1, 2, 4, 8};
/* Charges are rounded to a millionth: of this, that is nothing. */
#define CENTS 1e5

static const struct bats_policy *const policies[] = {
    &bats_policy_miser, &bats_policy_mw_dbs, &bats_policy_flow};
#define POLICIES (sizeof policies / sizeof *policies)

struct setting {
    const struct bats_policy *policy;
    uint32_t models;   /* 1, 2, 3: O, OB, OBS */
    uint32_t machines; /* of each type and model */
    double sigma, b, d, error;
};

static struct {
    struct bats_workflow w;
    uint32_t n;         /* tasks */
    double work, chain; /* seconds, at speed 1 */
} montage;

/* A user's workflows, one behind the other. */
static struct {
    uint32_t n_flows, n;
    struct bats_graph graph;
    struct bats_purse purses[FLOWS_MOST];
    uint16_t *purse, *category;
    bats_time *work, *told;
    uint8_t *begun;
    uint32_t done[FLOWS_MOST]; /* in time */
    unsigned long reclaimed;
} user;

struct sums {
    double tasks, flows, begun, reclaimed;
};

/* ---- workflows ---- */

static double least_price(size_t type, uint32_t models)
{
    return price[type][models - 1]; /* they become cheaper */
}

/* Budget (8) and deadline (9). */
static void set_up_purse(struct bats_purse *p, const struct setting *set,
                         double arrives)
{
    double cheap = INFINITY, dear = 0;
    for (size_t k = 0; k < TYPES; k++) {
        double hours = montage.work / speed_of[k] / 3600;
        cheap = fmin(cheap, hours * least_price(k, set->models));
        dear = fmax(dear, hours * price[k][0]);
    }
    double budget = cheap + set->b * (dear - cheap);
    double fast = montage.chain / speed_of[TYPES - 1], slow = montage.chain;
    double deadline = arrives + fast + set->d * (slow - fast);
    *p =
        (struct bats_purse){.name = "montage",
                            .budget = (bats_money)(budget * CENTS * BATS_UNIT),
                            .begin = (bats_time)(arrives * BATS_SECOND),
                            .deadline = (bats_time)(deadline * BATS_SECOND)};
}

/* Each comes a part of the shortest time of a workflow after the last one. */
static void set_up_user(const struct setting *set, uint32_t number,
                        gsl_rng *rng)
{
    static const double gaps[] = {.1, .3, .5};
    double arrives = 0;
    user.n_flows = FLOWS / USERS + (number < FLOWS % USERS);
    user.n = user.n_flows * montage.n;
    user.reclaimed = 0;
    for (uint32_t f = 0; f < user.n_flows; f++) {
        set_up_purse(&user.purses[f], set, arrives);
        user.done[f] = 0;
        for (uint32_t i = 0; i < montage.n; i++) {
            uint32_t task = f * montage.n + i;
            double told = (double)montage.w.tasks[i].runtime * SCALE;
            double wrong =
                fmax(set->error, 0) * (2 * gsl_rng_uniform(rng) - 1);
            user.told[task] = (bats_time)told;
            user.work[task] = (bats_time)(told * (1 + wrong));
            user.purse[task] = (uint16_t)f;
            user.category[task] =
                montage.w.category ? montage.w.category[i] : 0;
            user.begun[task] = 0;
        }
        arrives += montage.chain / speed_of[TYPES - 1] *
                   gaps[gsl_rng_uniform_int(rng, 3)];
    }
}

static int connect(struct bats_error *err)
{
    const struct bats_graph *g = &montage.w.graph;
    uint64_t n = 0, edges = bats_graph_edges(g) * user.n_flows;
    struct bats_edge *list = calloc(edges + 1, sizeof *list);
    for (uint32_t f = 0; list && f < user.n_flows; f++)
        for (uint32_t i = 0; i < montage.n; i++)
            for (uint64_t k = g->first[i]; k < g->first[i + 1]; k++)
                list[n++] = (struct bats_edge){f * montage.n + i,
                                               f * montage.n + g->child[k]};
    int rc = list ? bats_graph_init(&user.graph, user.n, user.n, list, n, err)
                  : BATS_ENOMEM;
    free(list);
    return rc;
}

/* ---- a run ---- */

static void hear(void *context, bats_time now, const struct bats_event *event)
{
    uint32_t f = event->task / montage.n;
    if (event->type == BATS_EVENT_DONE)
        user.done[f] += now <= user.purses[f].deadline;
    user.reclaimed += event->type == BATS_EVENT_LOST;
}

static void obey(void *context, bats_time now, const struct bats_command *c)
{
    if (c->type == BATS_COMMAND_RUN)
        user.begun[c->task] = 1;
}

/* mw-dbs knows nothing of reclaims. */
static struct bats_cluster cluster_of(const struct setting *set, size_t type,
                                      uint32_t model)
{
    bool hears = set->policy != &bats_policy_mw_dbs;
    struct bats_cluster c = {
        .charge = (bats_money)(price[type][model] * CENTS * BATS_UNIT),
        .max = set->machines};
    snprintf(c.name, sizeof c.name, "%c%zu", "OBS"[model], type);
    if (model + 1 < MODELS)
        return c;
    c.lost_is_free = c.reclaimable = true;
    c.notice = hears ? NOTICE : 0;
    c.lifetime = (struct bats_lifetime){.survival = BATS_SURVIVAL_LOGNORMAL,
                                        .a = 90.0 * BATS_MINUTE,
                                        .b = set->sigma,
                                        .share = 0.34};
    return c;
}

static int run_user(const struct setting *set, unsigned long seed,
                    struct bats_error *err)
{
    struct bats_cluster clusters[TYPES * MODELS];
    double speed[TYPES * MODELS];
    static struct bats_machine_spec
        machines[TYPES * MODELS * MACHINES_MOST * SPARE];
    uint32_t n = 0, n_machines = 0;
    for (size_t k = 0; k < TYPES; k++)
        for (uint32_t model = 0; model < set->models; model++, n++) {
            clusters[n] = cluster_of(set, k, model);
            speed[n] = speed_of[k];
            uint32_t each =
                set->machines * (clusters[n].reclaimable ? SPARE : 1);
            while (each-- > 0)
                machines[n_machines++] = (struct bats_machine_spec){n, 1};
        }
    bool saves = set->models == MODELS && set->policy != &bats_policy_mw_dbs;
    struct bats_sim_options o = {
        .sched = {.policy = set->policy,
                  .n_tasks = user.n,
                  .graph = &user.graph,
                  .category = user.category,
                  .n_categories = montage.w.category
                                      ? (uint32_t)montage.w.categories.n
                                      : 1,
                  .purse = user.purse,
                  .purses = user.purses,
                  .n_purses = user.n_flows,
                  .clusters = clusters,
                  .n_clusters = n,
                  .machines = machines,
                  .n_machines = n_machines,
                  .window = BATS_HOUR,
                  .budget = BATS_UNLIMITED,
                  .billing = {.model = BATS_BILLING_USE},
                  .rules = {.losses = UINT8_MAX - 1},
                  .seed = seed},
        .work = user.work,
        .told = set->error == LEARNED ? NULL : user.told,
        .speed = speed,
        .noise_seed = seed,
        .saves = saves,
        .migration = MIGRATION,
        .watch.on_event = hear,
        .watch.on_command = obey};
    struct bats_sched *s;
    bats_time end;
    int rc = bats_sim_run(&o, &s, &end, err);
    if (rc == 0)
        bats_sched_destroy(s);
    return rc;
}

/* ---- the experiment ---- */

static void add_up(struct sums *sums)
{
    double all = FLOWS * (double)montage.n;
    for (uint32_t f = 0; f < user.n_flows; f++) {
        sums->tasks += user.done[f] * 100 / all;
        sums->flows += (user.done[f] == montage.n) * 100.0 / FLOWS;
    }
    for (uint32_t i = 0; i < user.n; i++)
        sums->begun += user.begun[i] * 100 / all;
    sums->reclaimed += (double)user.reclaimed;
}

static int run(const struct setting *set, unsigned long seed, gsl_rng *rng,
               struct sums *sums, struct bats_error *err)
{
    int rc = 0;
    gsl_rng_set(rng, seed);
    for (uint32_t i = 0; i < USERS && rc == 0; i++) {
        set_up_user(set, i, rng);
        rc = connect(err);
        if (rc == 0)
            rc = run_user(set, seed * USERS + i, err);
        add_up(sums);
        bats_graph_release(&user.graph);
    }
    return rc;
}

static bool print(const struct setting *set, unsigned long seeds, gsl_rng *rng)
{
    static const char *const models[] = {"", "O", "OB", "OBS"};
    struct sums s = {0};
    struct bats_error err;
    char told[16] = "learned";
    for (unsigned long seed = 1; seed <= seeds; seed++)
        if (run(set, seed, rng, &s, &err) < 0) {
            fprintf(stderr, "%s\n", err.text);
            return false;
        }
    double n = (double)seeds;
    if (set->error >= 0)
        snprintf(told, sizeof told, "%.1f", set->error);
    printf("%s\t%s\t%.2f\t%.2f\t%.1f\t%s\t%.1f\t%.1f\t%.1f\t%.1f\n",
           bats_policy_name(set->policy), models[set->models], set->sigma,
           set->b, set->d, told, s.tasks / n, s.flows / n, s.begun / n,
           s.reclaimed / n);
    fflush(stdout);
    return true;
}

static bool load(const char *path)
{
    struct bats_error err;
    const struct bats_graph *g = &montage.w.graph;
    if (bats_workflow_load(path, &montage.w, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    uint32_t circle, *order = calloc(g->n_nodes, sizeof *order);
    double *rank = calloc(g->n_nodes, sizeof *rank);
    bool ok = order && rank && g->n_nodes == g->n_tasks &&
              bats_graph_sort(g, order, &circle, &err) == g->n_nodes;
    for (uint32_t i = g->n_nodes; ok && i-- > 0;) {
        uint32_t node = order[i];
        double own =
            (double)montage.w.tasks[node].runtime / BATS_SECOND * SCALE;
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
            rank[node] = fmax(rank[node], rank[g->child[k]]);
        rank[node] += own;
        montage.work += own;
        montage.chain = fmax(montage.chain, rank[node]);
    }
    free(order);
    free(rank);
    montage.n = g->n_tasks;
    uint32_t most = FLOWS_MOST * montage.n;
    user.purse = calloc(most, sizeof *user.purse);
    user.category = calloc(most, sizeof *user.category);
    user.work = calloc(most, sizeof *user.work);
    user.told = calloc(most, sizeof *user.told);
    user.begun = calloc(most, sizeof *user.begun);
    if (!ok)
        fprintf(stderr, "%s: not a graph of tasks alone\n", path);
    return ok && user.purse && user.category && user.work && user.told &&
           user.begun;
}

static bool print_all(unsigned long seeds, uint32_t machines, gsl_rng *rng)
{
    static const double sigmas[] = {1.39, 2.25},
                        errors[] = {0, .1, .3, .5, LEARNED};
    bool ok = true;
    for (size_t p = 0; p < POLICIES; p++)
        for (uint32_t models = 1; models <= MODELS; models++)
            for (size_t law = 0; law < (models == MODELS ? 2 : 1); law++)
                for (size_t k = 0; ok && k < 20; k++)
                    ok =
                        print(&(struct setting){policies[p], models, machines,
                                                sigmas[law], k & 1 ? .75 : .25,
                                                k & 2 ? 2 : 1, errors[k >> 2]},
                              seeds, rng);
    return ok;
}

int main(int argc, char **argv)
{
    unsigned long seeds = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    unsigned long machines = argc == 4 ? strtoul(argv[3], NULL, 10) : 0;
    if (seeds == 0 || machines < 1 || machines > MACHINES_MOST) {
        fprintf(stderr, "usage: paper WORKFLOW SEEDS MACHINES\n");
        return 2;
    }
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    printf("policy\tmodels\tsigma\tB\tD\terror\ttasks\tworkflows\tbegun\t"
           "reclaimed\n");
    bool ok = load(argv[1]) && print_all(seeds, (uint32_t)machines, rng);
    gsl_rng_free(rng);
    bats_workflow_release(&montage.w);
    free(user.purse);
    free(user.category);
    free(user.work);
    free(user.told);
    free(user.begun);
    return ok ? 0 : 1;
}
