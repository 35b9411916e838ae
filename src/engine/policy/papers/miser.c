/*
 * miser, mw-dbs: the quality of a machine for a task. See place.h.
 *
 * miser: Sampaio, Barbosa: Workflow Scheduling with Amazon EC2 Spot Instances
 * (2020), section III.D. A task may wait for a busy machine.
 *
 *   Q = TQ + CQ + RQ                                                    (7)
 *
 * for finish (4), cost (5) and risk (6): each is 1 - (x - min) / (max - min)
 * over the offers, or 1 if all are equal. (The operators of (7) are missing in
 * print.)
 *
 * mw-dbs: Arabnejad, Barbosa: Maximizing the completion rate of concurrent
 * scientific applications under time and budget constraints (2017), with the
 * qualities of their DBCS (Arabnejad, Barbosa, Prodan 2016):
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

static double quality(struct place_range r, double x)
{
    return r.most > r.least ? 1 - (x - r.least) / (r.most - r.least) : 1;
}

size_t place_miser(const struct place_offer *offers, size_t n,
                   const struct place_limits *limits)
{
    struct place_ranges all = place_ranges(offers, n);
    size_t best = PLACE_NONE;
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        const struct place_offer *o = &offers[i];
        double q = quality(all.finish, o->finish) +
                   quality(all.cost, o->cost) + quality(all.risk, o->risk);
        if (o->cost <= limits->cost && o->finish <= limits->finish &&
            q > most) {
            most = q;
            best = i;
        }
    }
    return best;
}

static double share_of(double part, struct place_range all)
{
    return all.most > all.least ? part / (all.most - all.least) : 0;
}

size_t place_mw_dbs(const struct place_offer *offers, size_t n,
                    const struct place_limits *limits)
{
    struct place_ranges all = place_ranges(offers, n);
    double c = fmin(limits->share, 1), most = -INFINITY;
    size_t best = PLACE_NONE;
    for (size_t i = 0; i < n; i++) {
        const struct place_offer *o = &offers[i];
        bool in_time = o->finish <= limits->finish;
        /* Without a deadline only the order of the times counts. */
        double latest =
            isfinite(limits->finish) ? limits->finish : all.finish.most;
        double tq = share_of((in_time ? latest : 0) - o->finish, all.finish);
        double cq = in_time ? share_of(all.cost.most - o->cost, all.cost) : 0;
        double q = tq * (1 - c) + cq * c;
        if (o->cost <= limits->cost && q > most) {
            most = q;
            best = i;
        }
    }
    return best;
}

static const struct place_kind kind_miser = {
    .choose = place_miser, .turn = PLACE_IN_TURN, .waits = true};

PLACE_POLICY(miser, "miser");

static const struct place_kind kind_mw_dbs = {
    .choose = place_mw_dbs, .turn = PLACE_BY_SLACK, .waits = false};

PLACE_POLICY(mw_dbs, "mw-dbs");
