#include "sim/bound.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "bats/plan.h"

/* Windows of one price that do the same amount of work. */
struct piece {
    double work;
    double price;
    double n;
};

#define PIECES_MAX (2 * BATS_CLUSTERS_MAX)

/*
 * The work that the windows of a type do within `makespan`: n whole windows
 * per machine, and the one that the end cuts off. A start-up is lost once per
 * machine, over however many windows it is held. The loss is spread so that a
 * machine held for fewer windows does not gain from it (the least concave
 * function above the work that k windows do).
 */
static void cut(const struct bats_bound_problem *p, size_t type,
                double makespan, struct piece *whole, struct piece *last)
{
    const struct bats_bound_type *t = &p->types[type];
    double window = (double)p->window, lost = (double)t->startup;
    double n = floor(makespan / window);
    double rest = makespan - n * window;
    double rate = t->speed * t->slots;
    double each = n > 0 ? window - lost / n : 0;
    if (each < rest)
        each = rest = fmax(makespan - lost, 0) / (n + 1);
    *whole = (struct piece){rate * each, (double)t->charge, n * t->machines};
    *last = (struct piece){rate * rest, (double)t->charge, t->machines};
}

static int by_efficiency(const void *a, const void *b)
{
    const struct piece *s = a, *t = b;
    double left = s->work * t->price, right = t->work * s->price;
    return left > right ? -1 : left < right;
}

/* Windows within `makespan`, those with the most work per price first. */
static size_t cut_all(const struct bats_bound_problem *p, double makespan,
                      struct piece pieces[PIECES_MAX])
{
    size_t n_pieces = 0;
    for (size_t i = 0; i < p->n_types; i++) {
        struct piece both[2];
        cut(p, i, makespan, &both[0], &both[1]);
        for (int k = 0; k < 2; k++)
            if (both[k].n > 0 && both[k].work > 0)
                pieces[n_pieces++] = both[k];
    }
    qsort(pieces, n_pieces, sizeof *pieces, by_efficiency);
    return n_pieces;
}

/* Most work possible within `makespan` with divisible windows. */
static double most_work(const struct bats_bound_problem *p, double budget,
                        double makespan)
{
    struct piece pieces[PIECES_MAX];
    double work = 0;
    size_t n_pieces = cut_all(p, makespan, pieces);
    for (size_t i = 0; i < n_pieces; i++) {
        double n = pieces[i].n;
        if (n * pieces[i].price > budget)
            n = budget / pieces[i].price;
        work += n * pieces[i].work;
        budget -= n * pieces[i].price;
    }
    return work;
}

/* Whether whole windows can do the work within `makespan`. Also true if
 * unknown, because the knapsack is hard. */
static int may_suffice(const struct bats_bound_problem *p, bats_money budget,
                       double makespan, bool *answer, struct bats_error *err)
{
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
    struct piece pieces[PIECES_MAX];
    struct bats_plan plan;
    size_t n = cut_all(p, makespan, pieces);
    *answer = true;
    for (size_t i = 0; i < n; i++) {
        if (i == BATS_CLUSTERS_MAX || pieces[i].n >= UINT32_MAX)
            return 0;
        items[i] =
            (struct bats_plan_item){.rate = pieces[i].work,
                                    .charge = (bats_money)pieces[i].price,
                                    .max = (uint32_t)pieces[i].n};
    }
    if (n == 0) {
        *answer = p->work <= 0;
        return 0;
    }
    /* One task per window: the plan with the greatest rate that the budget
     * pays once. */
    int rc = bats_plan_solve(items, n, 1, budget, &plan, err);
    *answer = rc < 0 || !plan.proven ||
              (plan.windows > 0 && plan.rate >= p->work * (1 - 1e-12));
    return rc;
}

/* An upper bound on the makespan if the budget suffices: machines do all the
 * work one after the other. */
static double long_enough(const struct bats_bound_problem *p)
{
    double longest = 0;
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_bound_type *t = &p->types[i];
        if (t->machines > 0)
            longest = fmax(longest, (double)t->startup +
                                        p->work / (t->speed * t->slots));
    }
    double windows = ceil(longest / (double)p->window) + 1;
    return windows * (double)p->window;
}

/* Narrows [*low, *high] around the shortest makespan in which windows do the
 * work: whole ones, or divisible ones. */
static int narrow(const struct bats_bound_problem *p, bats_money budget,
                  bool whole, double *low, double *high,
                  struct bats_error *err)
{
    int rc = 0;
    while (rc == 0 && *high - *low > 1e-9 * *high && *high - *low > 0.5) {
        double middle = (*low + *high) / 2;
        bool enough =
            !whole && most_work(p, (double)budget, middle) >= p->work;
        if (whole)
            rc = may_suffice(p, budget, middle, &enough, err);
        *(enough ? high : low) = middle;
    }
    return rc;
}

/* The shortest makespan at which divisible windows do the work. */
static double bound_relaxed(const struct bats_bound_problem *p,
                            bats_money budget, double high)
{
    double low = 0;
    if (most_work(p, (double)budget, high) < p->work * (1 - 1e-12))
        return INFINITY;
    narrow(p, budget, false, &low, &high, NULL);
    return low;
}

/* The same for whole windows, starting from `low`. */
static int bound_whole(const struct bats_bound_problem *p, bats_money budget,
                       double low, double longest, double *bound,
                       struct bats_error *err)
{
    bool enough;
    double step = low * 1e-4 + 1, high = low;
    int rc;
    *bound = low;
    while ((rc = may_suffice(p, budget, high, &enough, err)) == 0 && !enough) {
        if (high >= longest) {
            *bound = INFINITY;
            return 0;
        }
        *bound = high;
        high = fmin(high + step, longest);
        step *= 2;
    }
    return rc == 0 ? narrow(p, budget, true, bound, &high, err) : rc;
}

/* The soonest end of the longest task alone, on machines that the budget pays
 * for. INFINITY: none. */
static double end_of_longest(const struct bats_bound_problem *p, double budget)
{
    double soonest = INFINITY;
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_bound_type *t = &p->types[i];
        double time = (double)t->startup + t->longest / t->speed;
        double price = ceil(time / (double)p->window) * (double)t->charge;
        if (t->machines > 0 && price <= budget)
            soonest = fmin(soonest, time);
    }
    return soonest;
}

/* The longest chain on the fastest machines, at any cost. */
static double bound_of_chain(const struct bats_bound_problem *p)
{
    double soonest = INFINITY;
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_bound_type *t = &p->types[i];
        if (t->machines > 0)
            soonest = fmin(soonest, p->chain / t->speed);
    }
    return p->chain > 0 ? soonest : 0;
}

int bats_bound(const struct bats_bound_problem *problem, bats_money budget,
               double *makespan, struct bats_error *err)
{
    double longest = long_enough(problem);
    double low = bound_relaxed(problem, budget, longest);
    int rc = 0;
    if (isfinite(low) && budget != BATS_UNLIMITED)
        rc = bound_whole(problem, budget, low, longest, &low, err);
    *makespan = fmax(fmax(low, end_of_longest(problem, (double)budget)),
                     bound_of_chain(problem));
    return rc;
}

double bats_bound_fluid(const struct bats_bound_problem *problem)
{
    return bound_relaxed(problem, BATS_UNLIMITED, long_enough(problem));
}
