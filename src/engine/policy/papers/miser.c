/*
 * miser: the quality of a machine for a task. Sampaio, Barbosa: Workflow
 * Scheduling with Amazon EC2 Spot Instances (2020), section III.D. See place.h.
 *
 *   Q = TQ + CQ + RQ                                                    (7)
 *
 * each 1 - (x - min) / (max - min) over the offers, 1 where these are equal: of
 * the finish (4), the cost (5) and the risk (6). (The print of (7) has lost its
 * operators.) A task may be planned for a machine that is not free yet.
 */
#include "engine/policy/papers/place.h"

#include <math.h>

/* A quality of x. */
struct range {
    double least, most;
};

static void widen(struct range *r, double x)
{
    r->least = fmin(r->least, x);
    r->most = fmax(r->most, x);
}

static double quality(struct range r, double x)
{
    return r.most > r.least ? 1 - (x - r.least) / (r.most - r.least) : 1;
}

size_t place_miser(const struct place_offer *offers, size_t n,
                   const struct place_limits *limits)
{
    struct range finish = {INFINITY, -INFINITY}, cost = finish, risk = finish;
    size_t best = PLACE_NONE;
    double most = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        widen(&finish, offers[i].finish);
        widen(&cost, offers[i].cost);
        widen(&risk, offers[i].risk);
    }
    for (size_t i = 0; i < n; i++) {
        const struct place_offer *o = &offers[i];
        double q = quality(finish, o->finish) + quality(cost, o->cost) +
                   quality(risk, o->risk);
        if (o->cost <= limits->cost && o->finish <= limits->finish &&
            q > most) {
            most = q;
            best = i;
        }
    }
    return best;
}

static const struct place_kind kind = {
    .choose = place_miser, .turn = PLACE_IN_TURN, .waits = true};

PLACE_POLICY(miser, "miser",
             "each task to the machine of best time, cost and risk, within "
             "budget and deadline");
