/* machine_windows: schedules for policy bats. See plans.h. */
#include "estimate/plans.h"

#include <math.h>

#include "bats/windows.h"

/* Ends to try: each STEP times the last one, and all whole numbers of windows
 * up to WHOLE. */
#define STEP 1.03
#define WHOLE 100
/* Latest end to try, in windows. */
#define FAR 1e9
/* With dependencies, extra rounds of buying windows. */
#define ROUNDS 3

/* The bag as a machine-windows problem, with none bought yet. */
struct bag {
    const struct bats_estimator *e;
    struct bats_windows_problem is;
    struct bats_windows_type types[BATS_CLUSTERS_MAX];
    size_t cluster[BATS_CLUSTERS_MAX]; /* by type; unknown clusters have
                                          none */
};

/* The windows bought for it. */
struct purchase {
    struct bats_windows_plan plan;
    double end; /* without dependencies */
    uint32_t machines[BATS_CLUSTERS_MAX];
    int64_t windows[BATS_CLUSTERS_MAX];
};

/* ---- the problem ---- */

/* high: with mean and deviation at their upper bounds. */
static void make_bag(const struct bats_estimator *e, bool high,
                     struct bag *bag)
{
    *bag = (struct bag){
        .e = e, .is = {.types = bag->types, .demand = (double)e->n_tasks}};
    for (size_t i = 0; i < e->n_clusters; i++) {
        const struct bats_runtimes *r = &e->runtimes[i];
        double mean = (high ? r->mean_high : r->mean) / (double)e->window;
        double deviation = high ? r->deviation_high : r->deviation;
        uint32_t most = estimate_most(e, i, estimate_widest(e));
        if (most == 0)
            continue;
        bag->cluster[bag->is.n_types] = i;
        bag->types[bag->is.n_types++] = (struct bats_windows_type){
            .rate = 1 / mean,
            .slots = estimate_slots(e, i),
            .charge = (double)e->clusters[i].charge,
            .loss =
                bats_windows_loss(mean, deviation / (double)e->window / mean),
            .parked = most};
    }
}

/* ---- one schedule ---- */

static void set_plan(const struct bag *bag, const struct purchase *p,
                     struct bats_schedule *s)
{
    s->plan = (struct bats_plan){.feasible = p->plan.feasible, .proven = true};
    for (size_t t = 0; t < bag->is.n_types; t++) {
        size_t i = bag->cluster[t];
        uint32_t machines = p->machines[t];
        if (machines == 0)
            continue;
        s->plan.machines[i] = machines;
        s->held[i] = p->windows[t] / machines;
        s->longer[i] = (uint32_t)(p->windows[t] % machines);
        s->plan.windows = (int64_t)fmax(
            (double)s->plan.windows, (double)s->held[i] + (s->longer[i] > 0));
        s->plan.price += machines * bag->e->clusters[i].charge;
        s->plan.rate += machines * bag->types[t].slots * bag->types[t].rate;
    }
    s->plan.cost = estimate_money(p->plan.cost);
}

/* A machine counts for the fraction of M that it is held. */
static void slots_of(const struct bats_estimator *e,
                     const struct bats_schedule *s, double end, double *slots)
{
    for (size_t i = 0; i < e->n_clusters; i++) {
        uint32_t n = s->plan.machines[i];
        double held = (n - s->longer[i]) * fmin((double)s->held[i], end) +
                      s->longer[i] * fmin((double)s->held[i] + 1, end);
        slots[i] = held / end * estimate_slots(e, i);
    }
}

/* Mean delay over the schedule's machines: already paid ones begin when their
 * windows end. */
static double later(const struct bag *bag, const struct bats_schedule *s)
{
    double sum = 0, all = 0;
    for (size_t t = 0; t < bag->is.n_types && bag->e->paid; t++) {
        size_t i = bag->cluster[t];
        const struct bats_paid *paid = &bag->e->paid[i];
        uint32_t n = s->plan.machines[i];
        double rate = bag->types[t].slots * bag->types[t].rate;
        sum += rate * (n < paid->machines ? n : paid->machines) * paid->time;
        all += rate * n;
    }
    return sum > 0 ? sum / all : 0;
}

static struct bats_prediction
makespan_of(const struct bag *bag, const struct bats_schedule *s, double end)
{
    double slots[BATS_CLUSTERS_MAX];
    slots_of(bag->e, s, end, slots);
    return estimate_makespan(bag->e, slots, later(bag, s));
}

static void buy(struct bag *bag, double aim, double demand, struct purchase *p)
{
    p->plan = (struct bats_windows_plan){.buys = p->machines,
                                         .buys_windows = p->windows};
    bag->is.aim = aim;
    bag->is.demand = demand;
    bats_windows_plan(&bag->is, &(double){INFINITY}, 1, &p->plan);
}

/* Tasks that the machines could do while slots wait for the end of a level. */
static double waiting(const struct bag *bag, const struct purchase *p)
{
    double slots[BATS_CLUSTERS_MAX];
    struct bats_schedule s = {.offer = BATS_OFFER_NONE};
    set_plan(bag, p, &s);
    slots_of(bag->e, &s, p->plan.end, slots);
    return bats_levels_waiting(bag->e, slots, later(bag, &s));
}

/* Buys the cheapest windows for the end `aim`; 0: those that end soonest. In
 * rounds, as waiting depends on the windows bought. */
static void solve(struct bag *bag, double aim, struct purchase *p)
{
    double n = (double)bag->e->n_tasks;
    buy(bag, aim, n, p);
    p->end = p->plan.end;
    for (int i = 0; i < ROUNDS && bag->e->levels && p->plan.feasible; i++)
        buy(bag, aim, n + waiting(bag, p), p);
}

/* Cost of the schedule's machines until the end's upper bound. The plan divides
 * tasks among windows. A run cannot, and the remainder needs one more window on
 * any cluster: at least the most expensive one. */
static double cost_of_longer(const struct bats_estimator *e,
                             const struct bats_schedule *s)
{
    double cost = 0, dearest = 0;
    for (size_t i = 0; i < e->n_clusters; i++) {
        double charge = (double)e->clusters[i].charge;
        uint32_t n = s->plan.machines[i];
        cost += charge *
                (n * (double)(s->held[i] + s->windows_high - s->plan.windows) +
                 s->longer[i]);
        dearest = fmax(dearest, n > 0 ? charge : 0);
    }
    return fmax(cost, (double)s->plan.cost + dearest);
}

/* Cost of the same end with all runtimes at their upper bounds; the machines
 * begin `after` from now. */
static void bound_cost(const struct bats_estimator *e, struct bats_schedule *s,
                       double after)
{
    struct bag bag;
    struct purchase p;
    double end = (s->makespan.high - after) / (double)e->window;
    make_bag(e, true, &bag);
    solve(&bag, end, &p);
    s->windows_high = (int64_t)fmin(ceil(end), 0x1p62);
    if (s->windows_high < s->plan.windows)
        s->windows_high = s->plan.windows;
    s->cost_high = estimate_money(fmax(p.plan.cost, cost_of_longer(e, s)));
}

/* ---- all of them ---- */

/* Adds a plan if it costs less than all before; *m: its end without
 * dependencies. */
static int look_at(struct bag *bag, double *m, double aim, struct ends *ends,
                   struct bats_error *err)
{
    struct bats_schedule s = {.offer = BATS_OFFER_NONE};
    struct purchase p;
    solve(bag, aim, &p);
    *m = p.end;
    if (ends->n > 0 && p.plan.cost >= ends->points[ends->n - 1].cost)
        return 0;
    set_plan(bag, &p, &s);
    const struct end end = {.aim = aim,
                            .time = makespan_of(bag, &s, *m).estimate,
                            .cost = p.plan.cost};
    return ends_add(ends, &end, err);
}

/* End of the bag on one machine of the slowest cluster. */
static double latest_end(const struct bag *bag)
{
    double latest = 0;
    for (size_t t = 0; t < bag->is.n_types; t++)
        latest = fmax(latest, (bag->is.demand + 2) / bag->types[t].rate /
                                      bag->types[t].slots +
                                  2 * bag->types[t].loss + 1);
    return fmin(latest, FAR);
}

static int find_ends(const struct bats_estimator *e, struct ends *ends,
                     struct bats_error *err)
{
    struct bag bag;
    double m = 0;
    make_bag(e, false, &bag);
    int rc = look_at(&bag, &m, 0, ends, err);
    for (double latest = latest_end(&bag); rc == 0 && m < latest;) {
        double next = m * STEP, whole = floor(m) + 1;
        rc = look_at(&bag, &m, whole <= WHOLE && whole < next ? whole : next,
                     ends, err);
    }
    return rc;
}

/* With an aim, the policy will take the cheapest way to that end. */
static int make_end(const struct bats_estimator *e, const struct end *end,
                    enum bats_offer offer, struct bats_schedule *schedule,
                    struct bats_error *err)
{
    struct bats_schedule s = {.offer = offer};
    struct purchase p;
    struct bag bag;
    make_bag(e, false, &bag);
    solve(&bag, end->aim, &p);
    set_plan(&bag, &p, &s);
    s.budget = s.plan.cost;
    s.windows_high = s.plan.windows;
    s.cost_high = s.plan.cost;
    if (end->aim > 0)
        s.aim = (bats_time)fmin(end->aim * (double)e->window, 0x1p60);
    if (s.plan.feasible) {
        double after = later(&bag, &s);
        s.makespan = makespan_of(&bag, &s, p.plan.end);
        s.is_bounded = estimate_is_bounded(e, s.plan.machines);
        bound_cost(e, &s, after);
        if (s.aim > 0)
            s.aim += (bats_time)after;
    }
    *schedule = s;
    return 0;
}

const struct planner planner_of_windows = {.find = find_ends,
                                           .make = make_end};
