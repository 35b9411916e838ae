/*
 * flow: workflows where use is charged, by simulating the rest. See place.h.
 *
 * A rule selects a task's machine. Some rules have a price of time: they take
 * the least finish + price x cost, in absolute units or, as in miser, in units
 * of their range over the machines. Others have a target end: they take the
 * cheapest machine on which the task ends early enough for its successors to
 * meet the target, at the speed of the fastest machines, of the cheapest ones,
 * or between. Each rule is played on the rest of the workflow by list
 * scheduling with rank_u (HEFT, Topcuoglu et al. 2002) and the known runtimes.
 * Bisection finds the fastest affordable price or target. The rule with the
 * soonest end applies until more is known; or, if that is the goal, the
 * cheapest rule in time. Told runtimes may be wrong, so that plan ends earlier
 * by their error. With told runtimes, money is reserved for errors as soon as
 * results show them; and each task always leaves enough for the rest on the
 * cheapest machines and for the doubt about it (place.h). No money is reserved
 * if that would make the workflow late. Among several workflows, the one due
 * first gets its rule first; the others plan with the machines it leaves.
 */
#include "engine/policy/papers/place.h"

#include <gsl/gsl_sort_double.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SPEEDS 4 /* prices of time from fastest to cheapest */
#define STEPS 9 /* steps of a bisection */
/* Prices of time if money, or time, is no constraint. */
#define NOTHING 1e-100
#define EVERYTHING 1e100
/* If runtimes are learned: fraction of the budget used for planning, and the
 * part of it for tasks of categories without results, which may cost more. */
#define LEARNED 0.9
#define UNSEEN 0.5
/* Slack before a deadline, in relative errors of the expected runtimes. */
#define MARGIN 1.5
#define PATIENCE 64 /* longest target, in multiples of the shortest chain */

/* ---- the choice ---- */

/* Range of finishes / range of costs. */
static double exchange(const struct place_offer *offers, size_t n)
{
    struct place_ranges all = place_ranges(offers, n);
    double costs = all.cost.most - all.cost.least;
    return costs > 0 ? (all.finish.most - all.finish.least) / costs : 0;
}

/* Chooses by the price of time; otherwise the cheapest offer in time, or the
 * first to end. */
static size_t choose(const struct place_offer *offers, size_t n,
                     const struct place_limits *limits)
{
    size_t best = PLACE_NONE;
    double least = INFINITY, price = limits->price;
    bool in_time = false;
    if (limits->is_relative)
        price *= exchange(offers, n);
    for (size_t i = 0; i < n; i++) {
        const struct place_offer *o = &offers[i];
        bool is_in_time = limits->price <= 0 && o->finish <= limits->finish;
        double worth = is_in_time ? o->cost : o->finish + price * o->cost;
        if (o->cost > limits->cost || is_in_time < in_time ||
            (is_in_time == in_time && worth >= least))
            continue;
        in_time = is_in_time;
        least = worth;
        best = i;
    }
    return best;
}

/* ---- playing the rest ---- */

struct node {
    int64_t height;
    uint32_t node, at; /* place in the sorted graph */
    uint32_t workflow; /* JOINT: none */
};
#define JOINT UINT32_MAX

struct play {
    const struct state *s;
    struct node *all; /* tasks left and joints, the heaviest chain first */
    uint32_t n_all;
    struct node *order; /* nodes of one workflow, with the joints */
    uint32_t n;
    double *ready; /* by node: earliest start */
    double *begin; /* the same at the start of the play */
    double *free;  /* times at which slots are free, ascending */
    double *idle;  /* the same at the start of the play */
    uint32_t first[BATS_CLUSTERS_MAX + 1]; /* by cluster: its part of these */
    double *after;                         /* by node: time needed after it */
    double *latest, price;                 /* the rule */
    bool is_relative;
    double running;   /* sum of squared costs of running tasks */
    double end, cost; /* of the last play */
    double squares;   /* sum of its squared costs, including running tasks */
};

static int by_height(const void *left, const void *right)
{
    const struct node *a = left, *b = right;
    if (a->height != b->height)
        return a->height > b->height ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

/* Joints always are: they only pass times on. */
static bool is_left(const struct state *s, uint32_t node)
{
    return node >= s->bag.n || place_is_left(s, s->bag.position[node].i);
}

static void pass_on(const struct play *p, double *ready, uint32_t node,
                    double end)
{
    const struct bats_graph *g = p->s->bag.graph;
    for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
        ready[g->child[k]] = fmax(ready[g->child[k]], end);
}

/* Collects slots that will become free, and running tasks. */
static void set_up(struct play *p)
{
    const struct state *s = p->s;
    uint32_t n[BATS_CLUSTERS_MAX] = {0};
    for (uint32_t i = 0; i < s->n_slots; i++)
        p->first[slot_cluster(s, i) + 1]++;
    for (size_t c = 0; c < s->n_clusters; c++)
        p->first[c + 1] += p->first[c];
    for (uint32_t i = 0; i < s->bag.graph->n_nodes; i++)
        p->begin[i] = (double)s->now;
    for (uint32_t i = 0; i < s->n_slots; i++) {
        const struct machine *m = &s->machines[s->slots[i].machine];
        uint32_t lead = slot_lead(s, i);
        bool comes = m->state == MACHINE_ABSENT || m->state == MACHINE_PARKED;
        double rest = comes || (m->state == MACHINE_ACTIVE &&
                                s->slots[lead].n_tasks == 0)
                          ? 0
                          : place_rest(s, lead);
        bool goes = m->quarantined ||
                    s->rest[s->slots[i].machine].taken_at != BATS_NEVER;
        p->idle[p->first[m->cluster] + n[m->cluster]++] =
            goes ? INFINITY : (double)s->now + rest;
        if (s->slots[i].n_tasks > 0 && isfinite(rest))
            pass_on(p, p->begin, s->bag.index[s->slots[i].head.i],
                    (double)s->now + rest);
    }
    for (size_t c = 0; c < s->n_clusters; c++)
        gsl_sort(p->idle + p->first[c], 1, n[c]);
    for (uint32_t i = 0; i < s->bag.graph->n_nodes; i++)
        if (is_left(s, s->known.sorted[i])) {
            uint32_t node = s->known.sorted[i];
            p->all[p->n_all++] = (struct node){
                s->known.height[node], node, i,
                node < s->bag.n ? place_workflow(s, node) : JOINT};
        }
    qsort(p->all, p->n_all, sizeof *p->all, by_height);
}

/* Selects the tasks of a workflow, and the joints. */
static void take_workflow(struct play *p, uint32_t workflow)
{
    p->n = 0;
    for (uint32_t i = 0; i < p->n_all; i++)
        if (p->all[i].workflow == workflow || p->all[i].workflow == JOINT)
            p->order[p->n++] = p->all[i];
}

/* The first slot of the cluster from `at` on that is free later than `time`, or
 * the end of the cluster. */
static uint32_t find_later(const struct play *p, size_t cluster, uint32_t at,
                           double time)
{
    uint32_t end = p->first[cluster + 1];
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (p->free[middle] <= time)
            at = middle + 1;
        else
            end = middle;
    }
    return at;
}

/* The last of `width` slots of the cluster that are free last before `ready`,
 * or first; the end of the cluster if it has fewer. */
static uint32_t find_slot(const struct play *p, size_t cluster, double ready,
                          uint32_t width)
{
    uint32_t least = p->first[cluster] + width, end = p->first[cluster + 1];
    uint32_t later = find_later(p, cluster, p->first[cluster], ready);
    return least > end ? end : (later > least ? later : least) - 1;
}

/* The slots up to `at` are free later, at `end`. */
static void occupy(struct play *p, size_t cluster, uint32_t at, double end,
                   uint32_t width)
{
    uint32_t to = find_later(p, cluster, at + 1, end);
    uint32_t from = at + 1 - width;
    memmove(p->free + from, p->free + at + 1, (to - at - 1) * sizeof *p->free);
    for (uint32_t i = to - width; i < to; i++)
        p->free[i] = end;
}

static double play_task(struct play *p, uint32_t task)
{
    const struct state *s = p->s;
    struct place_offer offer[BATS_CLUSTERS_MAX];
    uint32_t slot[BATS_CLUSTERS_MAX];
    size_t of[BATS_CLUSTERS_MAX];
    struct place_limits limits = {.cost = INFINITY,
                                  .finish = p->latest[task],
                                  .price = p->price,
                                  .is_relative = p->is_relative};
    uint32_t width = (uint32_t)ceil(task_width(s, task));
    size_t n = 0;
    for (size_t c = 0; c < s->n_clusters; c++) {
        slot[n] = find_slot(p, c, p->ready[task], width);
        if (slot[n] == p->first[c + 1] || isinf(p->free[slot[n]]))
            continue;
        double time = place_runtime(s, task, c);
        offer[n] =
            (struct place_offer){fmax(p->free[slot[n]], p->ready[task]) + time,
                                 place_cost(s, task, time, c), 0};
        of[n++] = c;
    }
    size_t best = choose(offer, n, &limits);
    if (best == PLACE_NONE)
        return p->ready[task];
    occupy(p, of[best], slot[best], offer[best].finish, width);
    p->cost += offer[best].cost;
    p->squares += offer[best].cost * offer[best].cost;
    return offer[best].finish;
}

static void play(struct play *p)
{
    const struct state *s = p->s;
    memcpy(p->ready, p->begin, s->bag.graph->n_nodes * sizeof *p->ready);
    memcpy(p->free, p->idle, s->n_slots * sizeof *p->free);
    p->end = (double)s->now;
    p->cost = 0;
    p->squares = p->running;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t node = p->order[i].node;
        double end = node < s->bag.n ? play_task(p, node) : p->ready[node];
        p->end = fmax(p->end, end);
        pass_on(p, p->ready, node, end);
    }
}

/* ---- finding the rule ---- */

struct search {
    struct play play;
    struct place_rule *best;
    struct place_price *price; /* the workflow's best price */
    double money, doubt, deadline;
    bool saves;       /* the goal is the least cost in time */
    double end, cost; /* of the best rule */
};

/* Plays a rule, and keeps it if it is the best so far. True: it is affordable;
 * with the goal of least cost, it is in time. */
static bool try_rule(struct search *f, double price)
{
    struct play *p = &f->play;
    p->price = price;
    play(p);
    p->cost += f->doubt * sqrt(p->squares);
    bool paid = p->cost <= f->money, late = p->end > f->deadline;
    bool was_paid = f->cost <= f->money, was_late = f->end > f->deadline;
    bool better = p->end < f->end;
    if (paid != was_paid)
        better = paid;
    else if (!paid)
        better = p->cost < f->cost;
    else if (f->saves && late != was_late)
        better = !late;
    else if (f->saves && !late)
        better = p->cost < f->cost;
    if (better) {
        f->end = p->end;
        f->cost = p->cost;
        *f->price = (struct place_price){.price = price,
                                         .is_relative = p->is_relative};
        for (uint32_t i = 0; i < p->n; i++)
            f->best->latest[p->order[i].node] = p->latest[p->order[i].node];
    }
    return f->saves ? late : !paid;
}

/* Computes the time needed after each task, at a speed between those of the
 * fastest (0) and the cheapest (1) machines. Returns the longest chain. */
static double find_after(struct play *p, double speed)
{
    const struct state *s = p->s;
    const struct bats_graph *g = s->bag.graph;
    double longest = 0;
    for (uint32_t i = p->n; i-- > 0;) { /* children come later */
        uint32_t node = p->order[i].node;
        p->after[node] = 0;
        for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++) {
            uint32_t child = g->child[k];
            double fast = INFINITY, cheap = INFINITY, least = INFINITY;
            for (size_t c = 0; child < s->bag.n && c < s->n_clusters; c++) {
                if (!cluster_is_there(&s->clusters[c]))
                    continue;
                double time = place_runtime(s, child, c);
                double cost = place_cost(s, child, time, c);
                fast = fmin(fast, time);
                cheap = cost < least ? time : cheap;
                least = fmin(least, cost);
            }
            double own = isfinite(fast) && is_left(s, child)
                             ? fast + speed * (cheap - fast)
                             : 0;
            p->after[node] = fmax(p->after[node], p->after[child] + own);
        }
        longest = fmax(longest, p->after[node]);
    }
    return longest;
}

/* Finds the target or the price by bisection of its logarithm: each play is
 * too fast or too slow for the goal. */
static void bisect(struct search *f, bool is_target, double low, double high)
{
    struct play *p = &f->play;
    for (int step = 0; step < STEPS; step++) {
        double middle = (low + high) / 2, value = exp(middle);
        for (uint32_t i = 0; is_target && i < p->n; i++) {
            uint32_t node = p->order[i].node;
            p->latest[node] = (double)p->s->now + value - p->after[node];
        }
        if (try_rule(f, is_target ? 0 : value) != f->saves)
            low = middle;
        else
            high = middle;
    }
}

/* Allocates one block of nodes and one of numbers. */
static bool allocate(struct play *p)
{
    size_t nodes = p->s->bag.graph->n_nodes, slots = p->s->n_slots;
    p->all = calloc(2 * nodes, sizeof *p->all);
    p->ready = calloc(4 * nodes + 2 * slots, sizeof *p->ready);
    if (!p->all || !p->ready)
        return false;
    p->order = p->all + nodes;
    p->begin = p->ready + nodes;
    p->after = p->begin + nodes;
    p->latest = p->after + nodes;
    p->free = p->latest + nodes;
    p->idle = p->free + slots;
    return true;
}

/* Plays all kinds of rules with this money and doubt. */
static void search_within(struct search *f, double money, double doubt)
{
    double now = (double)f->play.s->now;
    f->money = money;
    f->doubt = doubt;
    f->end = f->cost = INFINITY;
    try_rule(f, NOTHING);
    double fastest = f->play.end - now, dear = f->play.cost;
    try_rule(f, EVERYTHING);
    double scale = log(fmax(fastest, 1) / fmax(dear, 1));
    bisect(f, false, scale - 12, scale + 12);
    f->play.is_relative = true;
    bisect(f, false, -12, 12);
    f->play.is_relative = false;
    for (int i = 0; i < SPEEDS; i++) {
        double after = find_after(&f->play, i / (SPEEDS - 1.0));
        double chain = log(fmax(fmax(after, fastest / 4), 1));
        bisect(f, true, chain, chain + log(PATIENCE));
    }
}

/* Reserves the slots that the workflow takes by its rule. */
static void commit(struct search *f)
{
    struct play *p = &f->play;
    p->is_relative = f->price->is_relative;
    for (uint32_t i = 0; i < p->n; i++)
        p->latest[p->order[i].node] = f->best->latest[p->order[i].node];
    p->price = f->price->price;
    play(p);
    p->is_relative = false;
    memcpy(p->begin, p->ready, p->s->bag.graph->n_nodes * sizeof *p->ready);
    memcpy(p->idle, p->free, p->s->n_slots * sizeof *p->free);
}

struct due {
    double deadline;
    uint32_t workflow;
};

static int by_deadline(const void *left, const void *right)
{
    const struct due *a = left, *b = right;
    if (a->deadline != b->deadline)
        return a->deadline < b->deadline ? -1 : 1;
    return a->workflow < b->workflow ? -1 : 1;
}

/* Fraction of the budget used for planning; 1 if runtimes are known. */
static double share_of_money(const struct play *p)
{
    const struct state *s = p->s;
    double n = 0, seen = 0;
    if (s->known.categories.told)
        return 1;
    for (uint32_t i = 0; i < p->n; i++) {
        uint32_t node = p->order[i].node;
        if (node >= s->bag.n)
            continue;
        n++;
        seen += s->known.categories.stats[category_of(s, node)].n > 0;
    }
    return n == 0 ? 1 : LEARNED * (seen / n + UNSEEN * (1 - seen / n));
}

/* The planned end, before the deadline to allow for errors of the expected
 * runtimes. */
static double planned_end(const struct state *s, double deadline)
{
    double now = (double)s->now;
    double error = s->known.categories.told ? categories_told_error(s) : 0;
    return deadline > now ? now + (deadline - now) / (1 + MARGIN * error)
                          : deadline;
}

/* Each workflow in turn uses what those due earlier have left. */
static void search_all(struct search *f, struct due *due)
{
    const struct state *s = f->play.s;
    uint32_t n = place_workflows(s);
    double run = place_money(s, n);
    double doubt = s->known.categories.n_told > 0 ? place_doubt(s) : 0;
    for (uint32_t i = 0; i < n; i++)
        due[i] = (struct due){place_deadline(s, i), i};
    qsort(due, n, sizeof *due, by_deadline);
    set_up(&f->play);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t flow = due[i].workflow;
        f->price = &f->best->price[flow];
        f->deadline = planned_end(s, due[i].deadline);
        take_workflow(&f->play, flow);
        f->play.running = 0;
        for (uint32_t k = 0; k < s->n_slots; k++)
            f->play.running += place_square(s, k, flow);
        double money = fmin(place_money(s, flow), run);
        search_within(f, money * share_of_money(&f->play), doubt);
        if (f->end > f->deadline) {
            search_within(f, money, 0);
            f->price->is_late = true;
        }
        if (i + 1 == n)
            break;
        commit(f);
        run = fmax(run - f->play.cost, 0);
    }
}

static void make_rule(const struct state *s, struct place_rule *rule)
{
    uint32_t n = place_workflows(s);
    if (!s->known.is_ranked) { /* first a task per kind of machine, then cheap
                              ones */
        for (uint32_t i = 0; i < n; i++)
            rule->price[i] = (struct place_price){.price = EVERYTHING};
        return;
    }
    struct search f = {.play = {.s = s},
                       .best = rule,
                       .saves = s->run.goal.minimize == BATS_MINIMIZE_COST};
    struct due *due = calloc(n, sizeof *due);
    if (due && allocate(&f.play))
        search_all(&f, due);
    free(due);
    free(f.play.all);
    free(f.play.ready);
}

static const struct place_kind kind_flow = {.choose = choose,
                                            .make = make_rule,
                                            .turn = PLACE_BY_DEADLINE,
                                            .waits = true};

PLACE_POLICY(flow, "flow");
