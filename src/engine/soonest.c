/*
 * soonest: for how long a task may go on, for all that is likely. See tail.h
 * and sched_state.h.
 */
#include "engine/sched_state.h"

#include <math.h>

#define UNLIKELY 0.06 /* of the tasks take longer than that */
#define STUCK 2       /* times the longest runtime */

static void find_longest(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    tail->longest = 1;
    for (size_t i = 0; i < s->n_clusters; i++)
        if (tail_mean(s, i) > 0)
            tail->longest = fmax(
                tail->longest,
                tail_to_canonical(s, s->clusters[i].histogram.longest, i));
    for (size_t i = 0; i < s->n_clusters; i++)
        if (tail_mean(s, i) > 0)
            tail->stuck[i] =
                fmax((double)s->interval,
                     tail_from_canonical(s, STUCK * tail->longest, i));
}

/* Of the tasks that take longer than k parts of `longest`, all but the
 * unlikely take likely[k] parts at most. */
static void find_likely(struct bats_sched *s)
{
    struct tail *tail = &s->tail;
    double count[TAIL_POINTS + 1] = {0}, longer[TAIL_POINTS + 1];
    for (size_t i = 0; i < s->n_clusters; i++)
        if (tail_mean(s, i) > 0) {
            const struct bats_regression *line = &tail->from_canonical[i];
            bats_histogram_divide(&s->clusters[i].histogram, line->b0,
                                  line->b1 * tail->longest / TAIL_POINTS,
                                  TAIL_POINTS, count);
        }
    longer[TAIL_POINTS] = 0;
    for (int k = TAIL_POINTS; k > 0; k--)
        longer[k - 1] = longer[k] + count[k];
    for (int k = 0, most = 0; k <= TAIL_POINTS; k++) {
        while (most < TAIL_POINTS && longer[most] > UNLIKELY * longer[k])
            most++;
        tail->likely[k] = (uint16_t)most;
    }
}

void soonest_look(struct bats_sched *s)
{
    if (s->tail.strategy != BATS_TAIL_SOONEST || s->tail.has_likely)
        return;
    find_longest(s);
    find_likely(s);
    s->tail.has_likely = true;
}

double soonest_total(const struct bats_sched *s, double tau)
{
    const struct tail *tail = &s->tail;
    double part = tail->longest / TAIL_POINTS;
    if (tau >= tail->longest)
        return tau + tail_mean(s, tail->canonical);
    return fmax(tail->likely[(int)(tau / part)] * part, tau);
}
