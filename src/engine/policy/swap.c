/*
 * swap: distributes jobs among clusters if their length does not matter
 * (outlook/jobs.h), for policy bats.
 *
 * Unknown clusters share the jobs evenly; if money is short, the cheapest gets
 * all but one of each other cluster, or all. A cluster is better than another
 * if its tasks take at least a tenth less time and cost no more. Then the worse
 * one's jobs get no new tasks, and jobs are requested in the better one: at
 * most twice as many at a time as it has already, not while some are queued,
 * and only if the rest of the bag lasts twice as long as jobs wait there. If
 * the money does not cover the bag that way, as many jobs as necessary move
 * from the most expensive cluster to the cheapest. New jobs go to the fastest
 * affordable cluster.
 *
 * Where the least cost is wanted, a cluster is better if its tasks cost less,
 * and new jobs go to the cheapest one; if all jobs there would miss the
 * deadline, it is better if it is faster, at any price.
 *
 * Layer: engine, policies.
 */
#include "engine/policy/bats.h"

#include <math.h>
#include <string.h>

#include "engine/money/money.h"
#include "engine/outlook/forecast.h"

#define BETTER 1.1   /* speed ratio of a better cluster */
#define LAST 2       /* mean runtimes: those that run, and the last ones */
#define CHEAPER 1.02 /* cost ratio of one, where the least cost is wanted */
/* A cluster without results is known to be slower once its tasks have run this
 * many times longer than those of the fastest one. */
#define SLOWER 1.5
/* A cluster gets more jobs if the bag lasts this many times longer than their
 * wait. */
#define WAITS 2
/* Dear clusters are tried as the others if the money pays this many leases of
 * all jobs there, and with one job if it pays so many in the cheapest one. */
#define LEASES 10
#define LEAST 1.5

struct swap {
    const struct state *s;
    struct swap_plan *plan;
    double speed[BATS_CLUSTERS_MAX]; /* of a job, tasks per microsecond; 0:
                                        unknown */
    double price[BATS_CLUSTERS_MAX]; /* of a job, per microsecond */
    double tasks;                    /* not begun, in tasks of one slot */
    uint32_t n, most;                /* planned and allowed jobs */
    bool is_thrifty;                 /* cost counts, and there is time */
};

static bool is_known(const struct cluster *c)
{
    return c->stats.n_done > 0 || cluster_runtime(c) > 0;
}

/* The first tasks to end are the shortest ones; while most still run, their
 * mean is a guess. */
static bool is_settled(const struct cluster *c)
{
    return c->stats.n_done >= c->n_active;
}

static double mean_of(const struct cluster *c)
{
    return is_settled(c) ? cluster_runtime(c) : cluster_mean(c);
}

static void look(struct swap *w)
{
    const struct state *s = w->s;
    double best = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        w->price[i] = cluster_rate(s, i);
        w->speed[i] = is_known(c) ? cluster_slots(c) / fmax(mean_of(c), 1) : 0;
        best = fmax(best, w->speed[i]);
    }
    for (size_t i = 0; i < s->n_clusters; i++) {
        const struct cluster *c = &s->clusters[i];
        double most = cluster_slots(c) / fmax(c->stats.mean, 1);
        if (w->speed[i] == 0 && c->stats.mean > 0 && most * SLOWER < best)
            w->speed[i] = most;
    }
    w->tasks = bats_bag_pending(&s->bag) * needs_width(s);
}

static bool is_by_cost(const struct state *s)
{
    return s->run.goal.minimize == BATS_MINIMIZE_COST;
}

static double cost_of_task(const struct swap *w, size_t i)
{
    return w->price[i] / w->speed[i];
}

/* Unknown clusters are assumed to be as fast as the mean. */
static void expect(const struct swap *w)
{
    double speed = 0, price = 0, n = 0, all = 0;
    for (size_t i = 0; i < w->s->n_clusters; i++) {
        uint32_t jobs = w->plan->target[i];
        speed += jobs * w->speed[i];
        price += jobs * w->price[i];
        n += w->speed[i] > 0 ? jobs : 0;
        all += jobs;
    }
    speed *= n > 0 ? all / n : 0;
    w->plan->end = speed > 0 ? w->tasks / speed : 0;
    w->plan->cost = w->plan->end * price;
}

static bool is_better(const struct swap *w, size_t a, size_t b)
{
    if (w->is_thrifty)
        return w->speed[a] > 0 && w->speed[b] > 0 &&
               cost_of_task(w, a) * CHEAPER <= cost_of_task(w, b);
    return w->speed[b] > 0 && w->speed[a] >= BETTER * w->speed[b] &&
           (is_by_cost(w->s) || cost_of_task(w, a) <= cost_of_task(w, b));
}

/* The cluster is not closed. */
static bool has_room(const struct swap *w, size_t i)
{
    const struct cluster *c = &w->s->clusters[i];
    return c->n_joined > 0 && w->plan->target[i] < c->spec.max;
}

/* Number of further jobs the cluster can start in time. */
static uint32_t room_of(const struct swap *w, size_t i)
{
    const struct cluster *c = &w->s->clusters[i];
    if (w->speed[i] == 0 || !has_room(w, i) ||
        w->plan->end < WAITS * (double)job_wait(w->s, i))
        return 0;
    return c->spec.max - w->plan->target[i];
}

static void move(struct swap *w, size_t from, size_t to)
{
    const struct cluster *c = &w->s->clusters[to];
    uint32_t n = room_of(w, to), most = c->n_active > 0 ? 2 * c->n_active : 1;
    n = n < most ? n : most;
    n = n < w->plan->target[from] ? n : w->plan->target[from];
    if (c->n_asked > 0)
        n = 0;
    w->plan->target[from] -= n;
    w->plan->target[to] += n;
}

/* There are results, but what runs may change them. */
static bool is_guess(const struct swap *w, size_t i)
{
    const struct cluster *c = &w->s->clusters[i];
    return is_known(c) && !is_settled(c);
}

static void leave_worse(struct swap *w)
{
    for (size_t i = 0; i < w->s->n_clusters; i++) {
        size_t best = i;
        for (size_t k = 0; k < w->s->n_clusters; k++)
            if (is_better(w, k, i) && room_of(w, k) > 0 &&
                (best == i ||
                 (w->is_thrifty ? cost_of_task(w, k) < cost_of_task(w, best)
                                : w->speed[k] > w->speed[best])))
                best = k;
        if (best != i)
            move(w, i, best);
    }
}

/* The cheapest cluster with room, or the most expensive one with jobs. */
static size_t find(const struct swap *w, bool cheapest)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; i < w->s->n_clusters; i++) {
        if (w->speed[i] == 0 || (!cheapest && is_guess(w, i)) ||
            (cheapest ? room_of(w, i) : w->plan->target[i]) == 0)
            continue;
        double more =
            best == SIZE_MAX ? 1 : cost_of_task(w, i) - cost_of_task(w, best);
        if (best == SIZE_MAX || (cheapest ? more < 0 : more > 0))
            best = i;
    }
    return best;
}

static void afford(struct swap *w, double money)
{
    for (expect(w); w->plan->cost > money; expect(w)) {
        size_t dearest = find(w, false), cheapest = find(w, true);
        if (dearest == SIZE_MAX || cheapest == SIZE_MAX ||
            cost_of_task(w, dearest) <= cost_of_task(w, cheapest))
            return;
        w->plan->target[dearest]--;
        w->plan->target[cheapest]++;
    }
}

/* Compares two clusters that are not known to be affordable: the lower price
 * per hour comes first; at equal prices of unknown ones, the fewer jobs. */
static bool comes_first(const struct swap *w, size_t a, size_t b)
{
    return w->price[a] < w->price[b] ||
           (w->price[a] == w->price[b] && w->speed[b] == 0 &&
            w->plan->target[a] < w->plan->target[b]);
}

/* The fastest affordable cluster with room; else the cheapest, or an unknown
 * one that may be cheaper. */
static size_t next_cluster(const struct swap *w, double money)
{
    size_t best = SIZE_MAX;
    for (size_t i = 0; !w->is_thrifty && i < w->s->n_clusters; i++)
        if (room_of(w, i) > 0 && w->tasks * cost_of_task(w, i) <= money &&
            (best == SIZE_MAX || w->speed[i] > w->speed[best]))
            best = i;
    if (best != SIZE_MAX)
        return best;
    best = find(w, true);
    for (size_t i = 0; i < w->s->n_clusters; i++)
        if (w->speed[i] == 0 && has_room(w, i) &&
            (best == SIZE_MAX || comes_first(w, i, best)))
            best = i;
    return best;
}

/* All jobs in the cheapest cluster end the bag by the deadline; or its speed is
 * not known yet. */
static bool has_time(const struct swap *w)
{
    const struct state *s = w->s;
    size_t best = find(w, true);
    bool is_known = s->run.goal.deadline != BATS_NEVER;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (w->speed[i] == 0 && has_room(w, i) &&
            (best == SIZE_MAX || comes_first(w, i, best)))
            is_known = false;
    if (!is_known || best == SIZE_MAX)
        return true;
    double n = fmin(w->most, s->clusters[best].spec.max);
    double time = w->tasks / (n * w->speed[best]) +
                  LAST * cluster_slots(&s->clusters[best]) / w->speed[best];
    return time <= (double)(s->run.goal.deadline - s->now);
}

/* The most jobs that there can be at a time. */
static uint32_t most_jobs(const struct state *s)
{
    uint32_t sum = 0, most = s->money.ledger.billing.jobs;
    for (size_t i = 0; i < s->n_clusters; i++)
        sum += s->clusters[i].spec.max;
    return most > 0 && most < sum ? most : sum;
}

void swap_make(const struct state *s, double money, struct swap_plan *plan)
{
    struct swap w = {.s = s, .plan = plan};
    look(&w);
    for (size_t i = 0; i < s->n_clusters; i++) {
        plan->target[i] = s->clusters[i].n_active + s->clusters[i].n_asked;
        w.n += plan->target[i];
    }
    w.most = most_jobs(s);
    plan->end = INFINITY;
    expect(&w);
    w.is_thrifty = is_by_cost(s) && has_time(&w);
    leave_worse(&w);
    while (w.n < w.most) {
        if (plan->end == 0)
            plan->end = INFINITY;
        size_t i = next_cluster(&w, money);
        if (i == SIZE_MAX)
            break;
        plan->target[i]++;
        w.n++;
    }
    afford(&w, money);
}

/* Number of leases of all jobs in the cheapest cluster, or in the dearest one,
 * that the money pays. */
static double leases_of_all(const struct state *s, bool cheapest)
{
    const struct bats_ledger *l = &s->money.ledger;
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < s->n_clusters; i++) {
        double price = (double)job_first(s, i);
        least = fmin(least, price);
        most = fmax(most, price);
    }
    return l->budget == BATS_UNLIMITED
               ? INFINITY
               : (double)bats_ledger_available(l) /
                     ((cheapest ? least : most) * most_jobs(s));
}

static bool is_cheapest(const struct state *s, size_t cluster)
{
    for (size_t i = 0; i < s->n_clusters; i++)
        if (s->clusters[i].price < s->clusters[cluster].price)
            return false;
    return true;
}

/* Most of the first jobs of a cluster: the first tasks on dear clusters would
 * use up much of little money. */
static uint32_t first_jobs(const struct state *s, size_t cluster)
{
    bool hurries = !is_by_cost(s) || s->run.goal.deadline != BATS_NEVER;
    if (is_cheapest(s, cluster) ||
        (hurries && leases_of_all(s, false) >= LEASES))
        return s->clusters[cluster].spec.max;
    return leases_of_all(s, true) >= LEAST;
}

/* One job per cluster in turn, until there are slots for all tasks. */
static void share_out(const struct state *s, struct policy_start *start)
{
    uint32_t most = s->money.ledger.billing.jobs, n = 0;
    double tasks = bats_bag_left(&s->bag) * needs_width(s);
    for (uint32_t round = 0, last = UINT32_MAX; last != n; round++) {
        last = n;
        for (size_t i = 0; i < s->n_clusters; i++) {
            const struct cluster *c = &s->clusters[i];
            if (round >= first_jobs(s, i) || tasks <= 0 ||
                (most > 0 && n == most))
                continue;
            start->machines[i]++;
            tasks -= cluster_slots(c);
            n++;
        }
    }
}

void swap_start(const struct state *s, double money,
                struct policy_start *start)
{
    struct swap_plan plan;
    if (money == 0) {
        share_out(s, start);
        return;
    }
    swap_make(s, money, &plan);
    memcpy(start->machines, plan.target, sizeof start->machines);
}
