/*
 * flow: workflows where use is charged, by simulating the rest. See place.h.
 *
 * A rule selects a task's machine. Some rules have a price of time: they take
 * the least finish + price x cost, in units of their range over the machines,
 * as in miser. Others have a target end: they take the cheapest machine on
 * which the task ends early enough for its successors to meet the target, at
 * the speed of the fastest machines, of the cheapest ones, or between. Each
 * rule is played on the rest of the workflow by list scheduling with rank_u
 * (HEFT, Topcuoglu et al. 2002) and the known runtimes. The fastest affordable
 * price or target is searched from the last one on. The rule with the soonest
 * end applies until more is known; or, if that is the goal, the cheapest rule
 * in time. Told runtimes may be wrong, so that plan ends earlier by their
 * error. With told runtimes, money is reserved for errors as soon as
 * results show them; and each task always leaves enough for the rest on the
 * cheapest machines and for the doubt about it (place.h). No money is reserved
 * if that would make the workflow late. Among several workflows, the one due
 * first gets its rule first; the others plan with the machines it leaves.
 */
#include "engine/policy/papers/place.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/heap.h"
#include "util/larger.h"

#define SPEEDS 3 /* of targets: of the fastest machines to the cheapest */
/* Prices of time if money, or time, is no constraint. */
#define NOTHING 1e-100
#define EVERYTHING 1e100
/* If runtimes are learned: fraction of the budget used for planning, and the
 * part of it for tasks of categories without results, which may cost more. */
#define LEARNED 0.9
#define UNSEEN 0.5
/* Slack before a deadline, in relative errors of the expected runtimes. */
#define MARGIN 1.5
/* A search begins with steps of this size (of a logarithm), makes each GROWTH
 * times as large as the last one, and makes no more than so many. */
#define FINE 0.05
#define GROWTH 4
#define STEPS 6
#define MOST 50 /* largest logarithm */
#define WIDE 12 /* largest logarithm of a price at first */

/* ---- the choice ---- */

static double per(double units, struct place_range r)
{
    return r.most > r.least ? units / (r.most - r.least) : 0;
}

/* Chooses by the price of time; otherwise the cheapest offer in time, or the
 * first to end. */
static size_t choose(const struct place_offer *offers, size_t n,
                     const struct place_limits *limits)
{
    size_t best = PLACE_NONE;
    double least = INFINITY, time = 1, money = 0;
    bool in_time = false;
    if (limits->price > 0) {
        struct place_ranges all = place_ranges(offers, n);
        time = per(1, all.finish);
        money = per(limits->price, all.cost);
    }
    for (size_t i = 0; i < n; i++) {
        const struct place_offer *o = &offers[i];
        bool is_in_time = limits->price <= 0 && o->finish <= limits->finish;
        double worth =
            is_in_time ? o->cost : time * o->finish + money * o->cost;
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

/* A node left: a task, or a joint of no workflow. */
struct node {
    int64_t height;
    uint32_t at; /* place in the sorted graph */
    uint32_t workflow;
};
#define JOINT UINT32_MAX

/* A node of the workflow that is played. */
struct step {
    uint32_t node, row; /* row of a joint: JOINT */
    double fast, cheap; /* time needed after it on the fastest machines, and
                            on the cheapest */
};

/* Slots of a cluster: idle ones, and a heap of the times when others are
 * free. */
struct pool {
    uint32_t idle, n;
    struct bats_heap_item *busy;
};

struct play {
    const struct state *s;
    struct node *all; /* the heaviest chain first */
    struct step *step;
    struct bats_heap_item *busy; /* of all pools */
    uint32_t n_all, n;
    double *row; /* slots that a task needs, and its time in each cluster */
    double rate[BATS_CLUSTERS_MAX]; /* cost of a slot per time */
    double *ready;                  /* by node: earliest start */
    double *begin;                  /* the same at the start of the play */
    double *fast, *cheap;           /* by node: the longest chain from it on */
    struct pool pool[BATS_CLUSTERS_MAX], start[BATS_CLUSTERS_MAX];
    struct place_price rule;
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

static void pass_on(const struct play *p, double *ready, uint32_t node,
                    double end)
{
    const struct bats_graph *g = p->s->bag.graph;
    for (uint64_t k = g->first[node]; k < g->first[node + 1]; k++)
        ready[g->child[k]] = larger(ready[g->child[k]], end);
}

/* A slot of the pool is free at that time. */
static void give(struct pool *q, double time)
{
    const struct bats_heap_item item = {.time = (int64_t)time};
    bats_heap_up(q->busy, NULL, q->n++, item);
}

/* Takes the slot of the pool that is free first. */
static double take(struct pool *q, double now)
{
    if (q->idle > 0) {
        q->idle--;
        return now;
    }
    double first = (double)q->busy[0].time;
    q->n--;
    bats_heap_down(q->busy, NULL, q->n, 0, q->busy[q->n]);
    return first;
}

static void copy_pools(const struct state *s, struct pool *to,
                       const struct pool *from)
{
    for (size_t c = 0; c < s->n_clusters; c++) {
        to[c].idle = from[c].idle;
        to[c].n = from[c].n;
        memcpy(to[c].busy, from[c].busy, from[c].n * sizeof *to[c].busy);
    }
}

static void set_up_slot(struct play *p, uint32_t i)
{
    const struct state *s = p->s;
    const struct machine *m = &s->machines[s->slots[i].machine];
    uint32_t lead = slot_lead(s, i);
    bool is_idle = m->state == MACHINE_ABSENT || m->state == MACHINE_PARKED ||
                   (m->state == MACHINE_ACTIVE && s->slots[lead].n_tasks == 0);
    bool goes =
        m->quarantined || s->rest[s->slots[i].machine].taken_at != BATS_NEVER;
    double rest = is_idle ? 0 : place_rest(s, lead);
    if (!goes && is_idle)
        p->start[m->cluster].idle++;
    else if (!goes && isfinite(rest))
        give(&p->start[m->cluster], (double)s->now + rest);
    if (s->slots[i].n_tasks > 0 && isfinite(rest))
        pass_on(p, p->begin, s->bag.index[s->slots[i].head.i],
                (double)s->now + rest);
}

/* Collects slots that will become free, running tasks, and what is left. */
static void set_up(struct play *p)
{
    const struct state *s = p->s;
    for (size_t c = 0; c < s->n_clusters; c++)
        p->rate[c] = place_cost(s, 0, 1, c) / task_width(s, 0);
    for (uint32_t i = 0; i < s->bag.graph->n_nodes; i++)
        p->begin[i] = (double)s->now;
    for (uint32_t i = 0; i < s->n_slots; i++)
        set_up_slot(p, i);
    for (uint32_t i = 0; i < s->bag.graph->n_nodes; i++) {
        uint32_t node = s->known.sorted[i];
        bool is_task = node < s->bag.n; /* joints only pass times on */
        if (!is_task || place_is_left(s, s->bag.position[node].i))
            p->all[p->n_all++] =
                (struct node){s->known.height[node], i,
                              is_task ? place_workflow(s, node) : JOINT};
    }
    qsort(p->all, p->n_all, sizeof *p->all, by_height);
}

/* Writes what a task needs into its row, which it shares with those of its
 * category if runtimes are learned. Returns the row. */
static uint32_t fill_row(struct play *p, uint32_t task, uint32_t at)
{
    const struct state *s = p->s;
    uint32_t row = s->known.categories.told ? at : category_of(s, task);
    double *to = p->row + row * (s->n_clusters + 1);
    if (*to > 0 && !s->known.categories.told)
        return row;
    *to = task_width(s, task);
    for (size_t c = 0; c < s->n_clusters; c++)
        to[c + 1] = place_runtime(s, task, c);
    return row;
}

/* Longest chains from the node on: by the machines on which its task is
 * fastest, and cheapest. */
static void find_chains(struct play *p, struct step *step)
{
    const struct state *s = p->s;
    const struct bats_graph *g = s->bag.graph;
    for (uint64_t k = g->first[step->node]; k < g->first[step->node + 1];
         k++) {
        step->fast = larger(step->fast, p->fast[g->child[k]]);
        step->cheap = larger(step->cheap, p->cheap[g->child[k]]);
    }
    p->fast[step->node] = step->fast;
    p->cheap[step->node] = step->cheap;
    if (step->row == JOINT)
        return;
    const double *time = p->row + step->row * (s->n_clusters + 1) + 1;
    double fast = INFINITY, cheap = 0, least = INFINITY;
    for (size_t c = 0; c < s->n_clusters; c++) {
        if (!cluster_is_there(&s->clusters[c]))
            continue;
        fast = smaller(fast, time[c]);
        cheap = time[c] * p->rate[c] < least ? time[c] : cheap;
        least = smaller(least, time[c] * p->rate[c]);
    }
    p->fast[step->node] += isfinite(fast) ? fast : 0;
    p->cheap[step->node] += cheap;
}

/* Selects the tasks of a workflow, and the joints. */
static void take_workflow(struct play *p, uint32_t workflow)
{
    const struct state *s = p->s;
    p->n = 0;
    for (uint32_t i = 0; i < p->n_all; i++) {
        if (p->all[i].workflow != workflow && p->all[i].workflow != JOINT)
            continue;
        uint32_t node = s->known.sorted[p->all[i].at];
        uint32_t row = node < s->bag.n ? fill_row(p, node, p->n) : JOINT;
        p->step[p->n++] = (struct step){.node = node, .row = row};
    }
    for (uint32_t i = p->n; i-- > 0;) /* children come later */
        find_chains(p, &p->step[i]);
}

/* When the node must have ended. */
static double latest(const struct place_price *rule, const struct step *step)
{
    return rule->target - step->fast -
           rule->speed * (step->cheap - step->fast);
}

/* Several slots are offered from when the first of them is free. */
static double play_task(struct play *p, const struct step *step)
{
    const struct state *s = p->s;
    struct place_offer offer[BATS_CLUSTERS_MAX];
    uint32_t of[BATS_CLUSTERS_MAX];
    struct place_limits limits = {.cost = INFINITY,
                                  .finish = latest(&p->rule, step),
                                  .price = p->rule.price};
    const double *row = p->row + step->row * (s->n_clusters + 1);
    double ready = p->ready[step->node], now = (double)s->now;
    uint32_t width = (uint32_t)ceil(row[0]);
    size_t n = 0;
    for (uint32_t c = 0; c < s->n_clusters; c++) {
        const struct pool *q = &p->pool[c];
        if (q->idle + q->n < width)
            continue;
        double from = q->idle >= width ? now : (double)q->busy[0].time;
        offer[n].finish = larger(from, ready) + row[c + 1];
        offer[n].cost = row[0] * row[c + 1] * p->rate[c];
        offer[n].risk = 0;
        of[n++] = c;
    }
    size_t best = choose(offer, n, &limits);
    if (best == PLACE_NONE)
        return ready;
    struct pool *q = &p->pool[of[best]];
    for (uint32_t i = 0; i < width; i++)
        ready = larger(ready, take(q, now));
    ready += row[of[best] + 1];
    for (uint32_t i = 0; i < width; i++)
        give(q, ready);
    p->cost += offer[best].cost;
    p->squares += offer[best].cost * offer[best].cost;
    return ready;
}

static void play(struct play *p)
{
    const struct state *s = p->s;
    memcpy(p->ready, p->begin, s->bag.graph->n_nodes * sizeof *p->ready);
    copy_pools(s, p->pool, p->start);
    p->end = (double)s->now;
    p->cost = 0;
    p->squares = p->running;
    for (uint32_t i = 0; i < p->n; i++) {
        const struct step *step = &p->step[i];
        double end =
            step->row == JOINT ? p->ready[step->node] : play_task(p, step);
        p->end = larger(p->end, end);
        pass_on(p, p->ready, step->node, end);
    }
}

/* ---- finding the rule ---- */

struct search {
    struct play play;
    struct place_rule *best;
    struct place_price *price; /* the workflow's best rule */
    double money, doubt, deadline;
    bool saves;       /* the goal is the least cost in time */
    double end, cost; /* of the best rule */
};

/* Plays a rule, and keeps it if it is the best so far. True: a slower and
 * cheaper one should be tried. */
static bool try_rule(struct search *f, struct place_price rule)
{
    struct play *p = &f->play;
    p->rule = rule;
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
        *f->price = rule;
    }
    return f->saves ? !late : !paid;
}

/* The price with this logarithm, or the target at one of the speeds, so long
 * after now. */
static bool try_at(struct search *f, int speed, double at)
{
    struct place_price rule = {.price = exp(at), .target = INFINITY};
    if (speed >= 0)
        rule = (struct place_price){.target = (double)f->play.s->now + exp(at),
                                    .speed = speed / (SPEEDS - 1.0)};
    return try_rule(f, rule);
}

/* Searches from `at` on by growing steps until the answer changes, and halves
 * the last step then. */
static void seek(struct search *f, int speed, double at, double step)
{
    bool slower = try_at(f, speed, at), changes = false;
    double from = at;
    for (int i = 0; i < STEPS && from < MOST && !changes; i++) {
        at = slower ? smaller(from + step, MOST) : from - step;
        changes = try_at(f, speed, at) != slower;
        from = changes ? from : at;
        step *= GROWTH;
    }
    while (changes && fabs(at - from) > FINE) {
        double middle = (from + at) / 2;
        *(try_at(f, speed, middle) == slower ? &from : &at) = middle;
    }
}

/* Searches rules of both kinds with this money and doubt: between the extremes
 * at first, and then from the last rule on. */
static void search_within(struct search *f, double money, double doubt)
{
    const struct place_price last = *f->price;
    bool has_target = last.price <= 0 && last.target > 0;
    bool is_new =
        !has_target && (last.price <= NOTHING || last.price >= EVERYTHING);
    double tried = is_new ? FINE : last.tried; /* at 0 offers may tie */
    double now = (double)f->play.s->now;
    f->money = money;
    f->doubt = doubt;
    f->end = f->cost = INFINITY;
    try_rule(f, (struct place_price){.price = NOTHING, .target = INFINITY});
    double fastest = log(larger(f->end - now, 1) / 4);
    if (!f->saves && f->cost <= money)
        return;
    if (has_target)
        try_rule(f, last);
    seek(f, -1, is_new ? -WIDE : tried, is_new ? 2 * WIDE + FINE : FINE);
    if (f->price->price > NOTHING)
        tried = log(f->price->price);
    for (int i = 0; i < SPEEDS; i++) {
        double to = log(larger((f->saves ? f->deadline : f->end) - now, 1));
        seek(f, i, is_new ? fastest : to - FINE,
             is_new ? to - fastest + FINE : FINE);
    }
    f->price->tried = tried;
}

/* Reserves the slots that the workflow takes by its rule, and sets when its
 * tasks must have ended. */
static void commit(struct search *f)
{
    struct play *p = &f->play;
    for (uint32_t i = 0; i < p->n; i++)
        f->best->latest[p->step[i].node] = latest(f->price, &p->step[i]);
    if (place_workflows(p->s) == 1)
        return;
    p->rule = *f->price;
    play(p);
    memcpy(p->begin, p->ready, p->s->bag.graph->n_nodes * sizeof *p->ready);
    copy_pools(p->s, p->start, p->pool);
}

/* Allocates a block for each kind of thing. */
static bool allocate(struct play *p)
{
    const struct state *s = p->s;
    size_t nodes = s->bag.graph->n_nodes, at = 0;
    size_t rows = s->known.categories.told ? nodes : s->known.categories.n;
    p->all = malloc(nodes * sizeof *p->all);
    p->step = malloc(nodes * sizeof *p->step);
    p->busy = malloc(2 * (size_t)s->n_slots * sizeof *p->busy);
    p->ready = calloc(4 * nodes + rows * (s->n_clusters + 1), sizeof(double));
    if (!p->all || !p->step || !p->busy || !p->ready)
        return false;
    p->begin = p->ready + nodes;
    p->fast = p->begin + nodes;
    p->cheap = p->fast + nodes;
    p->row = p->cheap + nodes;
    for (size_t c = 0; c < s->n_clusters; at += s->clusters[c++].n_slots) {
        p->pool[c].busy = p->busy + at;
        p->start[c].busy = p->busy + s->n_slots + at;
    }
    return true;
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
        if (p->step[i].row == JOINT)
            continue;
        n++;
        seen += s->known.categories.stats[p->step[i].row].n > 0;
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
            rule->price[i] =
                (struct place_price){.price = EVERYTHING, .target = INFINITY};
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
    free(f.play.step);
    free(f.play.busy);
    free(f.play.ready);
}

static const struct place_kind kind_flow = {.choose = choose,
                                            .make = make_rule,
                                            .turn = PLACE_BY_DEADLINE,
                                            .waits = true};

PLACE_POLICY(flow, "flow");
