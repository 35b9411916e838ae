/* ends: the Pareto-optimal schedules of a planner in cost and end, and the
 * named ones among them. See plans.h. */
#include "estimate/plans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* Costs within this relative difference count as equal. */
#define SAME 0.002
/* "cheapest" is the soonest end within this fraction of the least cost, which
 * is about the precision of a forecast. */
#define CHEAP 0.03
/* Least relative difference in cost or end between named schedules. */
#define DIFFERS 0.05

/* ---- the frontier ---- */

int ends_add(struct ends *ends, const struct end *end, struct bats_error *err)
{
    if (!bats_grow(&ends->points, &ends->capacity, ends->n + 1,
                   sizeof *ends->points))
        return bats_no_memory(err);
    ends->points[ends->n++] = *end;
    return 0;
}

static int by_time(const void *left, const void *right)
{
    const struct end *a = left, *b = right;
    if (a->time != b->time)
        return a->time < b->time ? -1 : 1;
    return a->cost < b->cost ? -1 : a->cost > b->cost;
}

/* Lists the ends, the fastest first, without those that are too late unless
 * all are. Free ends->points, also after an error. */
static int find(const struct planner *planner, const struct bats_estimator *e,
                struct ends *ends, struct bats_error *err)
{
    size_t kept = 1;
    *ends = (struct ends){.points = NULL};
    int rc = planner->find(e, ends, err);
    if (rc < 0)
        return rc;
    qsort(ends->points, ends->n, sizeof *ends->points, by_time);
    for (size_t i = 1; i < ends->n; i++) {
        const struct end *p = &ends->points[i];
        if (p->cost < ends->points[kept - 1].cost * (1 - SAME) &&
            !(e->until > 0 && p->time > (double)e->until))
            ends->points[kept++] = *p;
    }
    ends->n = kept;
    return 0;
}

/* ---- names ---- */

static bool differs(const struct end *sooner, const struct end *later)
{
    return later->time > sooner->time * (1 + DIFFERS) &&
           later->cost * (1 + DIFFERS) < sooner->cost;
}

/* The knee of the points from `first` to `last`; if there is none, the middle
 * of their ends; `last` if no point lies between them. */
static size_t knee(const struct ends *ends, size_t first, size_t last)
{
    const struct end *a = &ends->points[first], *b = &ends->points[last];
    double x = log(b->time / a->time), y = log(b->cost / a->cost);
    double farthest = 0, nearest = INFINITY;
    size_t best = last, middle = last;
    for (size_t i = first + 1; i < last; i++) {
        const struct end *p = &ends->points[i];
        double u = log(p->time / a->time), v = log(p->cost / a->cost);
        if (!differs(a, p) || !differs(p, b))
            continue;
        if (y * u - x * v > farthest) {
            farthest = y * u - x * v;
            best = i;
        }
        if (fabs(u - x / 2) < nearest) {
            nearest = fabs(u - x / 2);
            middle = i;
        }
    }
    return best < last ? best : middle;
}

#define NAMES 5

static const enum bats_offer names[NAMES] = {
    BATS_OFFER_CHEAPEST, BATS_OFFER_CHEAPER, BATS_OFFER_BALANCED,
    BATS_OFFER_FASTER, BATS_OFFER_FASTEST};

/* Finds the point of each name. */
static void find_names(const struct ends *ends, size_t place[NAMES])
{
    const struct end *last = &ends->points[ends->n - 1];
    place[0] = place[4] = 0;
    while (ends->points[place[0]].cost > last->cost * (1 + CHEAP))
        place[0]++;
    place[2] = knee(ends, place[4], place[0]);
    place[1] = knee(ends, place[2], place[0]);
    place[3] = knee(ends, place[4], place[2]);
}

/* The name's schedule differs from that of names further out. */
static bool is_listed(const size_t place[NAMES], int k)
{
    static const int outer[NAMES][3] = {
        {4, 4, 4}, {0, 2, 4}, {0, 4, 4}, {0, 2, 4}, {-1, -1, -1}};
    for (int i = 0; i < 3; i++)
        if (outer[k][i] >= 0 && place[k] == place[outer[k][i]])
            return false;
    return true;
}

int ends_offer(const struct planner *planner, const struct bats_estimator *e,
               struct bats_schedule schedules[BATS_OFFERS], size_t *n,
               struct bats_error *err)
{
    struct ends ends;
    size_t place[NAMES];
    int rc = find(planner, e, &ends, err);
    *n = 0;
    if (rc == 0)
        find_names(&ends, place);
    for (int k = 0; k < NAMES && rc == 0; k++)
        if (is_listed(place, k))
            rc = planner->make(e, &ends.points[place[k]], names[k],
                               &schedules[(*n)++], err);
    free(ends.points);
    return rc;
}

/* Index of the wanted schedule among the ends. */
static size_t place_of(const struct ends *ends, enum bats_offer offer,
                       double limit)
{
    size_t i = 0, place[NAMES];
    int k = 0;
    switch (offer) {
    case BATS_OFFER_BUDGET:
        while (i + 1 < ends->n && ends->points[i].cost > limit)
            i++;
        return i;
    case BATS_OFFER_DEADLINE:
        while (i + 1 < ends->n && ends->points[i + 1].time <= limit)
            i++;
        return i;
    default:
        find_names(ends, place);
        while (k < NAMES - 1 && names[k] != offer)
            k++;
        return place[k];
    }
}

int ends_choose(const struct planner *planner, const struct bats_estimator *e,
                enum bats_offer offer, double limit,
                struct bats_schedule *schedule, struct bats_error *err)
{
    struct ends ends;
    int rc = find(planner, e, &ends, err);
    if (rc == 0)
        rc = planner->make(e, &ends.points[place_of(&ends, offer, limit)],
                           offer, schedule, err);
    free(ends.points);
    return rc;
}

int ends_least_budget(const struct planner *planner,
                      const struct bats_estimator *e, bats_money *budget,
                      struct bats_error *err)
{
    struct ends ends;
    int rc = find(planner, e, &ends, err);
    if (rc == 0) {
        double cost = ceil(ends.points[ends.n - 1].cost);
        *budget = cost < 0x1p62 ? (bats_money)cost : BATS_UNLIMITED;
    }
    free(ends.points);
    return rc;
}

int ends_frontier(const struct planner *planner,
                  const struct bats_estimator *e,
                  struct bats_schedule **schedules, size_t *n,
                  struct bats_error *err)
{
    struct ends ends;
    int rc = find(planner, e, &ends, err);
    *n = 0;
    *schedules = rc == 0 ? calloc(ends.n, sizeof **schedules) : NULL;
    if (rc == 0 && !*schedules)
        rc = bats_no_memory(err);
    for (size_t k = ends.n; k-- > 0 && rc == 0;)
        rc = planner->make(e, &ends.points[k], BATS_OFFER_NONE,
                           &(*schedules)[(*n)++], err);
    free(ends.points);
    if (rc < 0)
        free(*schedules);
    return rc;
}
