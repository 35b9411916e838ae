/*
 * configurations: what plans and frontiers are chosen from, one after the other,
 * and clusters drawn at random; for tests that try all.
 */
#ifndef BATS_CONFIGURATIONS_H
#define BATS_CONFIGURATIONS_H

#include "bats/plan.h"
#include "draw.h"

struct configuration {
    uint32_t machines[BATS_CLUSTERS_MAX];
    int64_t windows;
    bats_money price;
    double rate;
};

/* The next of all (A_1 + 1) ... (A_n + 1) configurations, with its price and
 * rate; false at the end. */
static inline bool advance(struct configuration *c,
                           const struct bats_plan_item *items, size_t n)
{
    size_t i = 0;
    while (i < n && (c->machines[i] >= items[i].max || items[i].rate <= 0))
        c->machines[i++] = 0;
    if (i == n)
        return false;
    c->machines[i]++;
    c->rate = 0;
    c->price = 0;
    for (i = 0; i < n; i++) {
        c->rate += c->machines[i] * items[i].rate;
        c->price += c->machines[i] * items[i].charge;
    }
    return true;
}

/* Windows that a task needs on any of the clusters in use; NULL: one. */
static inline int64_t span_of(const struct configuration *c,
                              const double *task_windows, size_t n)
{
    double span = 1;
    for (size_t i = 0; task_windows && i < n; i++)
        if (c->machines[i] > 0)
            span = fmax(span, ceil(task_windows[i]));
    return (int64_t)span;
}

static inline bats_money cost_of(const struct configuration *c)
{
    return c->windows * c->price;
}

/* Charges with up to six digits, and rates that tie often or never. */
static inline void draw_item(unsigned long kind, struct bats_plan_item *item,
                             unsigned long max)
{
    static const double charges[] = {3, 12, 9, 0.085, 0.17, 0.34, 1, 0.5};
    static const double minutes[] = {15, 3.75, 5, 7, 3.5, 30, 90, 145};
    double charge = charges[pick(8)];
    item->max = pick(max + 1);
    item->rate = 60 / minutes[pick(8)];
    if (kind == 1) { /* any charge, any rate */
        charge = ceil(uniform() * 5e6) / 1e6;
        item->rate = 0.1 + 20 * uniform();
    } else if (kind == 2) { /* all equally profitable */
        item->rate = charge * (10.0 / 3);
    }
    item->charge = (bats_money)llround(charge * 1e6);
    if (pick(20) == 0)
        item->charge = 0;
    if (pick(20) == 0)
        item->rate = 0;
}

#endif
