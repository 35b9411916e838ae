/*
 * mw-dbs: the quality of a machine for a task. Arabnejad, Barbosa: Maximizing
 * the completion rate of concurrent scientific applications under time and
 * budget constraints (2017), with the qualities of their DBCS (Arabnejad,
 * Barbosa, Prodan 2016). See place.h.
 *
 *   Q  = TQ (1 - C) + CQ C, C = least cost of all that is left / money left
 *   TQ = (W DP - FT) / (FT max - FT min)
 *   CQ = W (cost max - cost) / (cost max - cost min)
 *
 * with W = 1 if FT <= DP, else 0, over free machines that cost at most CP. If
 * none is in time, this chooses the one that ends first, and the deadline is
 * missed.
 */
#include "engine/policy/papers/place.h"

#include <math.h>

static double share_of(double part, double all)
{
    return all > 0 ? part / all : 0;
}

size_t place_mw_dbs(const struct place_offer *offers, size_t n,
                    const struct place_limits *limits)
{
    double first = INFINITY, last = 0, least = INFINITY, most = 0;
    double c = fmin(limits->share, 1), best_q = -INFINITY;
    size_t best = PLACE_NONE;
    for (size_t i = 0; i < n; i++) {
        first = fmin(first, offers[i].finish);
        last = fmax(last, offers[i].finish);
        least = fmin(least, offers[i].cost);
        most = fmax(most, offers[i].cost);
    }
    for (size_t i = 0; i < n; i++) {
        const struct place_offer *o = &offers[i];
        bool in_time = o->finish <= limits->finish;
        /* Without a deadline only the order of the times counts. */
        double latest = isfinite(limits->finish) ? limits->finish : last;
        double tq = share_of((in_time ? latest : 0) - o->finish, last - first);
        double cq = in_time ? share_of(most - o->cost, most - least) : 0;
        double q = tq * (1 - c) + cq * c;
        if (o->cost <= limits->cost && q > best_q) {
            best_q = q;
            best = i;
        }
    }
    return best;
}

static const struct place_kind kind = {
    .choose = place_mw_dbs, .turn = PLACE_BY_SLACK, .waits = false};

PLACE_POLICY(mw_dbs, "mw-dbs",
             "each task to the free machine of best time and cost, within "
             "budget and deadline");
