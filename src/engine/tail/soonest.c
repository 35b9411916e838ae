/*
 * soonest: how long a task is likely to take at most. See bats/tail.h and
 * replicas.h.
 */
#include "engine/tail/replicas.h"

#include <math.h>

#define UNLIKELY 0.06 /* share of tasks that take longer than that */
#define STUCK 2       /* times the longest runtime */

static void find_longest(struct replicas *c, const struct state *s)
{
    c->longest = 1;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (replicas_mean(s, i) > 0)
            c->longest =
                fmax(c->longest,
                     replicas_to_canonical(c, c->histogram[i].longest, i));
    for (size_t i = 0; i < s->n_clusters; i++)
        if (replicas_mean(s, i) > 0)
            c->stuck[i] =
                fmax((double)s->interval,
                     replicas_from_canonical(c, STUCK * c->longest, i));
}

/* Finds likely[k]: tasks that take longer than k parts of `longest` take so
 * many parts at most, all but the unlikely. */
static void find_likely(struct replicas *c, const struct state *s)
{
    double count[TAIL_POINTS + 1] = {0}, longer[TAIL_POINTS + 1];
    for (size_t i = 0; i < s->n_clusters; i++)
        if (replicas_mean(s, i) > 0) {
            const struct bats_regression *line = &c->from_canonical[i];
            bats_histogram_divide(&c->histogram[i], line->b0,
                                  line->b1 * c->longest / TAIL_POINTS,
                                  TAIL_POINTS, count);
        }
    longer[TAIL_POINTS] = 0;
    for (int k = TAIL_POINTS; k > 0; k--)
        longer[k - 1] = longer[k] + count[k];
    for (int k = 0, most = 0; k <= TAIL_POINTS; k++) {
        while (most < TAIL_POINTS && longer[most] > UNLIKELY * longer[k])
            most++;
        c->likely[k] = (uint16_t)most;
    }
}

void soonest_look(struct replicas *c, const struct state *s)
{
    if (c->strategy != BATS_TAIL_SOONEST || c->has_likely)
        return;
    find_longest(c, s);
    find_likely(c, s);
    c->has_likely = true;
}

double soonest_total(const struct replicas *c, const struct state *s,
                     double tau)
{
    double part = c->longest / TAIL_POINTS;
    if (tau >= c->longest)
        return tau + replicas_mean(s, c->canonical);
    return fmax(c->likely[(int)(tau / part)] * part, tau);
}
