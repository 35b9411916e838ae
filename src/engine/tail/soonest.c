/*
 * soonest: which executions seem to be stuck. See bats/tail.h and replicas.h.
 */
#include "engine/tail/replicas.h"

#include <math.h>

#define STUCK 2 /* times the longest runtime */

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
                fmax((double)s->run.interval,
                     replicas_from_canonical(c, STUCK * c->longest, i));
}

void soonest_look(struct replicas *c, const struct state *s)
{
    if (c->strategy != BATS_TAIL_SOONEST || c->has_longest)
        return;
    find_longest(c, s);
    c->has_longest = true;
}
