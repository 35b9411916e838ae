/*
 * miser: the quality of a machine for a task, from Sampaio, Barbosa: Workflow
 * Scheduling with Amazon EC2 Spot Instances (2020), section III.D. See
 * place.h.
 *
 *   Q = TQ + CQ + RQ                                                    (7)
 *
 * for finish (4), cost (5) and risk (6): each is 1 - (x - min) / (max - min)
 * over the offers, or 1 if all are equal. (The operators of (7) are missing in
 * print.) A task may wait for a busy machine.
 */
#include "engine/policy/papers/place.h"

#include <math.h>

/* Range of x for its quality. */
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
