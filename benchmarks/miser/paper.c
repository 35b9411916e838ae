/*
 * The experiment of Sampaio and Barbosa, "Workflow Scheduling with Amazon EC2 Spot
 * Instances" (2020), section IV: 55 workflows of 10 users, on machines that are
 * hired by the second and may be reclaimed. The qualities, CP and DP are those of
 * the engine's policies (engine/policy/place.h); the market is here.
 *
 *   build/bench/miser/paper WORKFLOW SEEDS MACHINES
 *
 * A row of tab-separated values for each policy, models, law of reclaims, B, D, and
 * error of the runtimes that the policies are told; means over the seeds, in
 * percent: tasks done, workflows done, tasks scheduled; machines reclaimed, and
 * workflows that cost more than their budget though all runtimes were known.
 *
 * The paper does not say: how fast the types are (1, 2, 4, 8, as their processors),
 * how many MACHINES a user may have (EC2's limit then was 20; one that is idle
 * is ended for another), how long one takes to
 * start (4 s), and how fast files travel (0 s: those of a task are 0.1 GB).
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "engine/policy/place.h"
#include "input/workflow/workflow.h"

#define TYPES 4
#define MACHINES_MOST 64
#define USERS 10
#define FLOWS 55
#define SCALE 25
#define TASKS_MOST 64
#define START 4.0    /* seconds */
#define NOTICE 120.0
#define HOUR 3600.0
#define MIGRATION 12 /* the longest */
#define RECLAIMED 0.34
#define NEVER INFINITY

/* Table I, per hour. */
static const double speed[TYPES] = {1, 2, 4, 8};
static const double on_demand[TYPES] = {.0230, .0464, .1856, .3712};
static const double reclaimable[TYPES] = {.0069, .0139, .0557, .1114};
static const double block_1h[TYPES] = {.0130, .0260, .1020, .2040};
static const double block_6h[TYPES] = {.0160, .0320, .1300, .2600};

enum model { DEMAND, BLOCK, SPOT, MODELS };

struct vm {
    bool exists;
    int user, type;
    enum model model;
    double began, price, ends; /* a block's end, or that of its life */
    bool told;                 /* that it will be reclaimed */
    int queue[TASKS_MOST], n;  /* flow * TASKS_MOST + task */
    double head_ends, estimate; /* true end of the first; believed end of all */
};

struct job {
    enum { BLOCKED, READY, PLACED, DONE } state;
    int missing;
    bool scheduled, counts;
    double told, actual, moved; /* work at speed 1; time of a migration */
    double left;  /* share of the work that is left */
    double cost;  /* booked: what it is expected to cost */
    double began; /* of the running execution */
    double spent; /* of earlier ones, migrated */
};

struct flow {
    int user;
    double arrives, deadline, budget, spent; /* booked or paid */
    bool arrived, dropped, paid_in_full;
    double latest[TASKS_MOST];
    struct job task[TASKS_MOST];
    int done;
};

struct setting {
    bool miser;
    int models;   /* of O, OB, OBS: 1, 2, 3 */
    int machines; /* of a user, at the same time */
    double sigma; /* of the law of reclaims */
    double b, d, error;
};

static struct {
    struct bats_workflow w;
    uint32_t order[TASKS_MOST];
    double rank[TASKS_MOST];
    int n;
} montage;

static struct {
    struct setting set;
    gsl_rng *rng;
    double now;
    struct flow flow[FLOWS];
    struct vm machine[USERS * MACHINES_MOST];
    int n_machines, turn;
    long reclaimed, dear;
} world;

/* ---- what tasks take and cost ---- */

static struct job *task_of(int id)
{
    return &world.flow[id / TASKS_MOST].task[id % TASKS_MOST];
}

static double work_of(const struct job *t, bool actual)
{
    return (actual ? t->actual : t->told) * t->left;
}

/* A block is as long as it has to be, in hours. */
static double price_of(int type, enum model model, double length)
{
    double hours = fmin(fmax(ceil(length / HOUR), 1), 6);
    if (model == DEMAND)
        return on_demand[type] / HOUR;
    if (model == SPOT)
        return reclaimable[type] / HOUR;
    return (block_1h[type] + (block_6h[type] - block_1h[type]) *
                                 (hours - 1) / 5) / HOUR;
}

static double least_price(int type)
{
    double least = INFINITY;
    for (int m = 0; m < world.set.models; m++)
        least = fmin(least, price_of(type, (enum model)m, 0));
    return least;
}

static double least_cost(const struct job *t)
{
    double least = INFINITY;
    for (int k = 0; k < TYPES; k++)
        least = fmin(least, work_of(t, false) / speed[k] * least_price(k));
    return least;
}

static double rest_cost(const struct flow *f)
{
    double sum = 0;
    for (int i = 0; i < montage.n; i++)
        if (f->task[i].state < PLACED)
            sum += least_cost(&f->task[i]);
    return sum;
}

/* ---- workflows ---- */

static const int moves[] = {8, 10, 12};
static const double gaps[] = {.1, .3, .5};

static void set_up_flow(struct flow *f, double arrives, int user)
{
    const struct bats_graph *g = &montage.w.graph;
    double work = 0, chain = 0, least[TASKS_MOST];
    *f = (struct flow){.user = user, .arrives = arrives};
    for (int i = 0; i < montage.n; i++) {
        struct job *t = &f->task[i];
        t->told = (double)montage.w.tasks[i].runtime / BATS_SECOND * SCALE;
        t->actual = t->told * (1 + world.set.error *
                                       (2 * gsl_rng_uniform(world.rng) - 1));
        t->moved = moves[gsl_rng_uniform_int(world.rng, 3)];
        t->left = 1;
        t->state = READY;
        work += t->told;
        chain = fmax(chain, montage.rank[i]);
        least[i] = t->told / speed[TYPES - 1] +
                   (world.set.miser && world.set.models > SPOT ? MIGRATION
                                                               : 0);
    }
    for (uint64_t k = 0; k < bats_graph_edges(g); k++) {
        f->task[g->child[k]].missing++;
        f->task[g->child[k]].state = BLOCKED;
    }
    double cheap = INFINITY, dear = 0; /* (8) */
    for (int k = 0; k < TYPES; k++) {
        cheap = fmin(cheap, work / speed[k] * least_price(k));
        dear = fmax(dear, work / speed[k] * price_of(k, DEMAND, 0));
    }
    f->budget = cheap + world.set.b * (dear - cheap);
    double fast = chain / speed[TYPES - 1], slow = chain / speed[0]; /* (9) */
    f->deadline = arrives + fast + world.set.d * (slow - fast);
    place_deadlines(g, montage.order, least, f->deadline, f->latest);
}

/* Users come one after the other, and so do the workflows of each. */
static void set_up_flows(void)
{
    double came = 0, chain = 0;
    int n = 0;
    for (int i = 0; i < montage.n; i++)
        chain = fmax(chain, montage.rank[i]);
    chain /= speed[TYPES - 1];
    for (int user = 0; user < USERS; user++) {
        double at = came;
        for (int i = user; i < FLOWS; i += USERS) {
            set_up_flow(&world.flow[n++], at, user);
            at += chain * gaps[gsl_rng_uniform_int(world.rng, 3)];
        }
        came += chain * gaps[gsl_rng_uniform_int(world.rng, 3)];
    }
}

/* ---- machines ---- */

/* Counts those of the user; *idle: one of them that is, or NULL. */
static int count_machines(int user, struct vm **idle)
{
    int n = 0;
    *idle = NULL;
    for (int i = 0; i < world.n_machines; i++) {
        struct vm *m = &world.machine[i];
        n += m->exists && m->user == user;
        if (m->exists && m->user == user && m->n == 0)
            *idle = m;
    }
    return n;
}

static double length_of(const struct flow *f)
{
    return f->deadline - world.now;
}

static struct vm *hire(int type, enum model model, const struct flow *f)
{
    struct vm *idle;
    int i = 0;
    if (count_machines(f->user, &idle) >= world.set.machines)
        idle->exists = false;
    while (i < world.n_machines && world.machine[i].exists)
        i++;
    world.n_machines += i == world.n_machines;
    struct vm *m = &world.machine[i];
    *m = (struct vm){.exists = true,
                          .user = f->user,
                          .type = type,
                          .model = model,
                          .began = world.now,
                          .price = price_of(type, model, length_of(f)),
                          .ends = NEVER,
                          .estimate = world.now + START};
    if (model == BLOCK)
        m->ends = world.now + fmin(ceil(length_of(f) / HOUR), 6) * HOUR;
    if (model == SPOT && gsl_rng_uniform(world.rng) < RECLAIMED)
        m->ends = world.now + gsl_ran_lognormal(world.rng, log(1.5 * HOUR),
                                                world.set.sigma);
    return m;
}

/* The first task of the queue begins. */
static void begin(struct vm *m)
{
    if (m->n == 0)
        return;
    struct job *t = task_of(m->queue[0]);
    t->began = fmax(world.now, m->began + START);
    m->head_ends = t->began + work_of(t, true) / speed[m->type];
}

static double believed_end(const struct vm *m)
{
    return fmax(m->estimate, world.now);
}

static void take_out(struct vm *m, int at)
{
    memmove(&m->queue[at], &m->queue[at + 1],
            (size_t)(m->n - at - 1) * sizeof *m->queue);
    m->n--;
    if (at == 0)
        begin(m);
}

/* ---- a round ---- */

struct candidate {
    struct vm *machine; /* or a new one: */
    int type;
    enum model model;
};

static double risk(double began, double finish)
{
    double age = fmax(finish - began, 1);
    return RECLAIMED * gsl_cdf_lognormal_P(age, log(1.5 * HOUR),
                                           world.set.sigma);
}

static bool is_candidate(const struct vm *m, int user, bool migrates)
{
    if (!m->exists || m->user != user || m->told || m->n == TASKS_MOST)
        return false;
    (void)migrates; /* any that runs already will do */
    return world.set.miser || m->n == 0;
}

/* Chooses a machine: of each type and model the one that is free first, and a new
 * one; none of them is new and may be reclaimed if a task migrates. */
static bool choose(struct flow *f, int i, double extra, bool migrates,
                   struct candidate *chosen)
{
    struct candidate who[2 * TYPES * MODELS];
    struct place_offer offer[2 * TYPES * MODELS];
    struct job *t = &f->task[i];
    size_t n = 0;
    struct vm *idle;
    bool may_hire =
        count_machines(f->user, &idle) < world.set.machines || idle;
    for (int k = 0; k < TYPES; k++)
        for (int model = 0; model < world.set.models; model++) {
            struct vm *first = NULL;
            for (int at = 0; at < world.n_machines; at++) {
                struct vm *m = &world.machine[at];
                if (is_candidate(m, f->user, migrates) && m->type == k &&
                    (int)m->model == model &&
                    (!first || believed_end(m) < believed_end(first)))
                    first = m;
            }
            double time = work_of(t, false) / speed[k] + extra;
            if (first) {
                double finish = believed_end(first) + time;
                if (model != BLOCK || finish <= first->ends) {
                    who[n] = (struct candidate){first, k, (enum model)model};
                    offer[n++] = (struct place_offer){
                        finish, time * first->price,
                        model == SPOT ? risk(first->began, finish) : 0};
                }
            }
            if (may_hire && !(migrates && model == SPOT)) {
                double finish = world.now + START + time;
                who[n] = (struct candidate){NULL, k, (enum model)model};
                offer[n++] = (struct place_offer){
                    finish,
                    time * price_of(k, (enum model)model, length_of(f)),
                    model == SPOT ? risk(world.now, finish) : 0};
            }
        }
    double rest = rest_cost(f), left = f->budget - f->spent;
    if (t->state >= PLACED) /* migrates: its money is booked */
        left += t->cost, rest += least_cost(t);
    struct place_limits limits = {
        .cost = (least_cost(t) + left - rest) * (1 + 1e-9),
        .finish = f->latest[i],
        .share = left > 0 ? rest / left : 1};
    size_t best = (world.set.miser ? place_miser : place_mw_dbs)(offer, n,
                                                                 &limits);
    if (best == PLACE_NONE)
        return false;
    *chosen = who[best];
    if (!chosen->machine)
        chosen->machine = hire(chosen->type, chosen->model, f);
    return true;
}

static void place(struct flow *f, int i, double extra, struct vm *m)
{
    struct job *t = &f->task[i];
    double time = work_of(t, false) / speed[m->type] + extra;
    /* A migration is work for this machine. */
    t->left += extra * speed[m->type] / t->actual;
    t->state = PLACED;
    t->scheduled = true;
    t->cost = t->spent + time * m->price;
    f->spent += t->cost - t->spent;
    m->estimate = believed_end(m) + time;
    m->queue[m->n++] = (int)(f - world.flow) * TASKS_MOST + i;
    if (m->n == 1)
        begin(m);
}

static int best_ready(const struct flow *f, const bool *tried)
{
    int best = -1;
    for (int i = 0; i < montage.n; i++)
        if (f->task[i].state == READY && !tried[i] &&
            (best < 0 || montage.rank[i] > montage.rank[best]))
            best = i;
    return best;
}

/* In turn (miser), or the one with the least time to spare (mw-dbs). */
static int next_flow(bool tried[FLOWS][TASKS_MOST])
{
    int best = -1;
    double least = INFINITY;
    for (int k = 0; k < FLOWS; k++) {
        int j = (world.turn + k) % FLOWS;
        struct flow *f = &world.flow[j];
        int i = f->arrived && !f->dropped ? best_ready(f, tried[j]) : -1;
        if (i < 0)
            continue;
        if (world.set.miser)
            return j;
        double slack = f->latest[i] - world.now;
        if (slack < least) {
            least = slack;
            best = j;
        }
    }
    return best;
}

static void make_round(void)
{
    static bool tried[FLOWS][TASKS_MOST];
    memset(tried, 0, sizeof tried);
    for (int j; (j = next_flow(tried)) >= 0;) {
        struct flow *f = &world.flow[j];
        struct candidate c;
        int i = best_ready(f, tried[j]);
        world.turn = (j + 1) % FLOWS;
        tried[j][i] = true;
        if (choose(f, i, 0, false, &c))
            place(f, i, 0, c.machine);
    }
}

/* ---- what happens ---- */

/* Its workflow can not be completed any more. */
static void drop_late(void)
{
    for (int j = 0; j < FLOWS; j++) {
        struct flow *f = &world.flow[j];
        f->dropped |= world.now > f->deadline;
    }
}

static void end_task(struct vm *m)
{
    int id = m->queue[0];
    struct flow *f = &world.flow[id / TASKS_MOST];
    struct job *t = task_of(id);
    const struct bats_graph *g = &montage.w.graph;
    double paid = t->spent + (world.now - t->began) * m->price;
    f->spent += paid - t->cost; /* what it cost, not what was expected */
    t->state = DONE;
    t->counts = world.now <= f->deadline + 1e-6 &&
                f->spent <= f->budget * (1 + 1e-6) && !f->paid_in_full;
    f->paid_in_full |= f->spent > f->budget * (1 + 1e-6);
    world.dear += world.set.error == 0 && !t->counts && f->paid_in_full;
    f->done += t->counts;
    uint32_t node = (uint32_t)(id % TASKS_MOST);
    for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
        if (--f->task[g->child[k]].missing == 0)
            f->task[g->child[k]].state = READY;
    take_out(m, 0);
}

/* A task of a machine that goes is ready again. */
static void give_back(struct vm *m, int at, bool is_free)
{
    int id = m->queue[at];
    struct flow *f = &world.flow[id / TASKS_MOST];
    struct job *t = task_of(id);
    double used = at == 0 && world.now > t->began
                      ? (world.now - t->began) * m->price
                      : 0;
    f->spent += (is_free ? 0 : used) + t->spent - t->cost;
    t->state = READY;
    t->left = 1; /* what it has done is lost */
    t->spent = 0;
}

static void reclaim(struct vm *m)
{
    bool is_free = m->model == SPOT && world.now - m->began < HOUR;
    world.reclaimed += m->model == SPOT;
    for (int at = 0; at < m->n; at++)
        give_back(m, at, is_free);
    m->exists = false;
}

/* Two minutes before: tasks that would not end move, the running one with what it
 * has done. */
static void take_notice(struct vm *m)
{
    m->told = true;
    if (!world.set.miser)
        return;
    for (int at = m->n; at-- > 0;) {
        int id = m->queue[at];
        struct flow *f = &world.flow[id / TASKS_MOST];
        struct job *t = task_of(id);
        struct candidate c;
        bool runs = at == 0 && world.now > t->began;
        double left = t->left;
        if (runs)
            left -= (world.now - t->began) * speed[m->type] / t->actual;
        if (runs && m->head_ends <= m->ends)
            continue;
        double before = t->left;
        t->left = fmax(left, 0);
        if (!choose(f, id % TASKS_MOST, runs ? t->moved : 0, true, &c)) {
            t->left = before;
            continue;
        }
        if (runs)
            t->spent += (world.now - t->began) * m->price;
        f->spent += t->spent - t->cost;
        take_out(m, at);
        place(f, id % TASKS_MOST, runs ? t->moved : 0, c.machine);
    }
}

static bool user_is_done(int user)
{
    for (int j = 0; j < FLOWS; j++)
        if (world.flow[j].user == user && world.flow[j].arrived &&
            !world.flow[j].dropped && world.flow[j].done < montage.n)
            return false;
    return true;
}

/* Ends machines that no workflow of their user needs, and old blocks. */
static void end_machines(void)
{
    for (int i = 0; i < world.n_machines; i++) {
        struct vm *m = &world.machine[i];
        if (m->exists && m->n == 0 && user_is_done(m->user))
            m->exists = false;
    }
}

static bool step(void)
{
    struct vm *who = NULL;
    struct flow *comes = NULL;
    double next = NEVER;
    enum { ENDS, NOTICED, GONE, ARRIVES } what = ENDS;
    for (int i = 0; i < world.n_machines; i++) {
        struct vm *m = &world.machine[i];
        double notice = m->told ? NEVER : m->ends - NOTICE;
        if (!m->exists)
            continue;
        if (m->n > 0 && m->head_ends < next)
            next = m->head_ends, who = m, what = ENDS;
        if (m->model == SPOT && fmax(notice, m->began) < next)
            next = fmax(notice, m->began), who = m, what = NOTICED;
        if (m->ends < next)
            next = m->ends, who = m, what = GONE;
    }
    for (int j = 0; j < FLOWS; j++) {
        struct flow *f = &world.flow[j];
        if (!f->arrived && f->arrives < next)
            next = f->arrives, comes = f, what = ARRIVES;
    }
    if (next == NEVER)
        return false;
    world.now = fmax(world.now, next);
    if (what == ENDS)
        end_task(who);
    else if (what == NOTICED)
        take_notice(who);
    else if (what == GONE)
        reclaim(who);
    else
        comes->arrived = true;
    drop_late();
    make_round();
    end_machines();
    return true;
}

/* ---- the experiment ---- */

struct sums {
    double tasks, flows, scheduled, reclaimed, dear;
};

static void run(struct setting set, unsigned long seed, struct sums *sums)
{
    gsl_rng *rng = world.rng;
    memset(&world, 0, sizeof world);
    world.set = set;
    world.rng = rng;
    gsl_rng_set(rng, seed);
    set_up_flows();
    while (step())
        ;
    double all = FLOWS * (double)montage.n;
    for (int j = 0; j < FLOWS; j++) {
        const struct flow *f = &world.flow[j];
        sums->tasks += f->done * 100 / all;
        sums->flows += (f->done == montage.n) * 100.0 / FLOWS;
        for (int i = 0; i < montage.n; i++)
            sums->scheduled += f->task[i].scheduled * 100 / all;
    }
    sums->reclaimed += (double)world.reclaimed;
    sums->dear += (double)world.dear;
}

static void print(struct setting set, unsigned long seeds)
{
    static const char *const models[] = {"", "O", "OB", "OBS"};
    struct sums s = {0};
    for (unsigned long seed = 1; seed <= seeds; seed++)
        run(set, seed, &s);
    double n = (double)seeds;
    printf("%s\t%s\t%.2f\t%.2f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\t%.1f\n",
           set.miser ? "miser" : "mw-dbs", models[set.models], set.sigma,
           set.b, set.d, set.error, s.tasks / n, s.flows / n, s.scheduled / n,
           s.reclaimed / n, s.dear / n);
}

static bool load(const char *path)
{
    struct bats_error err;
    uint32_t circle;
    const struct bats_graph *g = &montage.w.graph;
    if (bats_workflow_load(path, &montage.w, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        return false;
    }
    if (g->n_nodes > TASKS_MOST || g->n_nodes != g->n_tasks ||
        bats_graph_sort(g, montage.order, &circle, &err) < 0) {
        fprintf(stderr, "%s: more than %d tasks\n", path, TASKS_MOST);
        return false;
    }
    montage.n = (int)g->n_tasks;
    for (uint32_t i = g->n_nodes; i-- > 0;) { /* (1), without a factor */
        uint32_t node = montage.order[i];
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
            montage.rank[node] =
                fmax(montage.rank[node], montage.rank[g->child[k]]);
        montage.rank[node] +=
            (double)montage.w.tasks[node].runtime / BATS_SECOND * SCALE;
    }
    return true;
}

int main(int argc, char **argv)
{
    static const double sigmas[] = {1.39, 2.25}, errors[] = {0, .1, .3, .5};
    unsigned long seeds = argc == 4 ? strtoul(argv[2], NULL, 10) : 0;
    int machines = argc == 4 ? atoi(argv[3]) : 0;
    if (seeds == 0 || machines < 1 || machines > MACHINES_MOST) {
        fprintf(stderr, "usage: paper WORKFLOW SEEDS MACHINES\n");
        return 2;
    }
    if (!load(argv[1]))
        return 2;
    world.rng = gsl_rng_alloc(gsl_rng_mt19937);
    printf("policy\tmodels\tsigma\tB\tD\terror\ttasks\tworkflows\tscheduled\t"
           "reclaimed\tdear\n");
    for (int miser = 1; miser >= 0; miser--)
        for (int models = 1; models <= 3; models++)
            for (int law = 0; law < (models == 3 ? 2 : 1); law++)
                for (int k = 0; k < 16; k++)
                    print((struct setting){miser, models, machines, sigmas[law],
                                           k & 1 ? .75 : .25, k & 2 ? 2 : 1,
                                           errors[k >> 2]},
                          seeds);
    gsl_rng_free(world.rng);
    bats_workflow_release(&montage.w);
    return 0;
}
