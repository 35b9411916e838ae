#include "bats/windows.h"

#include <math.h>
#include <string.h>

#include "bats/cluster.h"

#define CLASSES 256
/* Of an end, and of a demand: means are not known any better. */
#define PRECISION 2e-3
/* Where not all can be done, this share of what can is done sooner. */
#define ENOUGH 0.98
/* So many held machines are enough to find an end. */
#define SAMPLE 2048
#define FOREVER 1e9
#define INSTANT 1e-6

/* Steps of `n` machines, of windows that do `worth` more tasks for `cost`. */
struct step {
    uint32_t machine; /* or, if `is_new`, a type */
    bool is_new;
    double n;
    int64_t windows;
    double worth, cost;
};

typedef void visit(void *context, const struct step *step);

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double smaller(double a, double b)
{
    return a < b ? a : b;
}

/* ---- what windows are worth ---- */

static double worth_of_held(const struct bats_windows_problem *p,
                            const struct bats_windows_machine *m, double paid,
                            double end)
{
    const struct bats_windows_type *t = &p->types[m->type];
    double busy = 0, sizes = 0;
    for (uint32_t i = m->first_slot; i < m->first_slot + m->n_slots; i++) {
        const struct bats_windows_slot *sl = &p->slots[i];
        if (sl->rest <= paid)
            sizes += sl->size;
        busy += larger(smaller(paid, end) - sl->rest - t->loss, 0);
    }
    return sizes + (m->leaves ? 0 : busy * t->rate);
}

static double worth_of_new(const struct bats_windows_type *t, double paid,
                           double end)
{
    return larger(smaller(paid, end) - t->loss, 0) * t->rate * t->slots;
}

/* Hands over the steps of a machine's worth, joined until each one is less
 * worth per window than that before it. */
static void hand_over(struct step step, double charge, const int64_t *windows,
                      const double *worth, int n, void *context, visit *take)
{
    double gain[4];
    int64_t width[4];
    int top = 0;
    for (int i = 1; i < n; i++) {
        int64_t dw = windows[i] - windows[i - 1];
        double dv = worth[i] - worth[i - 1];
        while (top > 0 &&
               gain[top - 1] * (double)dw <= dv * (double)width[top - 1]) {
            top--;
            dw += width[top];
            dv += gain[top];
        }
        width[top] = dw;
        gain[top++] = dv;
    }
    for (int i = 0; i < top && gain[i] > 0; i++) {
        step.windows = width[i];
        step.worth = gain[i];
        step.cost = (double)width[i] * charge;
        take(context, &step);
    }
}

static double steps_of_held(const struct bats_windows_problem *p, uint32_t id,
                            double like, double end, void *context,
                            visit *take)
{
    const struct bats_windows_machine *m = &p->machines[id];
    int64_t windows[4] = {0};
    double worth[4] = {worth_of_held(p, m, m->paid, end)};
    int n = 1;
    if (m->leaves)
        return worth[0];
    int64_t whole = end > m->paid ? (int64_t)(end - m->paid) : -1;
    int64_t overrun = (int64_t)m->overrun;
    if (0 < overrun && overrun < whole)
        windows[n++] = overrun;
    for (int64_t k = whole; k >= 0 && k <= whole + 1; k++)
        if (k > 0)
            windows[n++] = k;
    if (overrun > whole + 1)
        windows[n++] = overrun;
    for (int i = 1; i < n; i++)
        worth[i] = worth_of_held(p, m, m->paid + (double)windows[i], end);
    hand_over((struct step){.machine = id, .n = like},
              p->types[m->type].charge, windows, worth, n, context, take);
    return worth[0];
}

static void steps_of_new(const struct bats_windows_problem *p, uint32_t type,
                         double end, void *context, visit *take)
{
    const struct bats_windows_type *t = &p->types[type];
    int64_t whole = (int64_t)end, windows[3] = {0};
    double worth[3] = {0};
    int n = 1;
    if (t->parked == 0)
        return;
    if (whole > 0)
        windows[n++] = whole;
    windows[n++] = whole + 1;
    for (int i = 1; i < n; i++)
        worth[i] = worth_of_new(t, (double)windows[i], end);
    hand_over((struct step){.machine = type, .is_new = true, .n = t->parked},
              t->charge, windows, worth, n, context, take);
}

/* All steps, of every `stride`-th held machine for those up to the next one;
 * returns what is worth something without them. */
static double steps(const struct bats_windows_problem *p, uint32_t stride,
                    double end, void *context, visit *take)
{
    double paid = 0;
    for (uint32_t i = 0; i < p->n_machines; i += stride) {
        double like = smaller(stride, p->n_machines - i);
        paid += like * steps_of_held(p, i, like, end, context, take);
    }
    for (uint32_t i = 0; i < p->n_types; i++)
        steps_of_new(p, i, end, context, take);
    return paid;
}

/* ---- how much can be done by an end ---- */

struct tally {
    double best; /* tasks for money, of whole windows */
    double worth[CLASSES], cost[CLASSES];
};

static double best_ratio(const struct bats_windows_problem *p)
{
    double best = 0;
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_windows_type *t = &p->types[i];
        if (t->charge > 0)
            best = larger(best, t->rate * t->slots / t->charge);
    }
    return best;
}

static int class_of(double best, const struct step *step)
{
    if (step->cost <= 0)
        return CLASSES - 1; /* for nothing */
    double part = step->worth / (step->cost * best);
    return (int)(smaller(part, 1) * (CLASSES - 2));
}

static void count(void *context, const struct step *step)
{
    struct tally *t = context;
    int class = class_of(t->best, step);
    t->worth[class] += step->n * step->worth;
    t->cost[class] += step->n * step->cost;
}

static uint32_t stride_of(const struct bats_windows_problem *p)
{
    return p->n_machines / SAMPLE + 1;
}

/* Tasks that the budget does until `end`; as soon as these are `want`, enough.
 * *last: the last class that something is bought of. */
static double reach(const struct bats_windows_problem *p, uint32_t stride,
                    double best, double end, double budget, double want,
                    int *last)
{
    struct tally t = {.best = best};
    double done = steps(p, stride, end, &t, count);
    *last = CLASSES;
    for (int i = CLASSES - 1; i >= 0 && done < want; i--) {
        if (t.worth[i] <= 0 || (t.cost[i] > 0 && budget <= 0))
            continue;
        double part = t.cost[i] > budget ? budget / t.cost[i] : 1;
        done += part * t.worth[i];
        budget -= part * t.cost[i];
        if (part < 1)
            budget = 0;
        *last = i;
    }
    return done;
}

/* ---- the plan ---- */

struct purchase {
    const struct bats_windows_problem *p;
    struct bats_windows_plan *plan;
    double best, budget, want;
    int last;
    bool is_rest; /* of the last class */
};

/* A machine for fewer windows: nothing but the first is decided on now. */
static void buy_part(struct purchase *b, const struct step *step, double left)
{
    double charge = step->cost / (double)step->windows;
    double windows = floor(left / charge);
    uint32_t *buys = &b->plan->buys[step->machine];
    if (windows < 1 || *buys > 0)
        return;
    *buys = 1;
    b->plan->cost += windows * charge;
    b->want -= step->worth * windows / (double)step->windows;
}

static void buy(void *context, const struct step *step)
{
    struct purchase *b = context;
    int class = class_of(b->best, step);
    if (b->is_rest ? class != b->last : class <= b->last)
        return;
    double n = step->n;
    if (b->is_rest)
        n = smaller(n, ceil(larger(b->want, 0) / step->worth - PRECISION));
    double left = b->budget - b->plan->cost;
    if (n * step->cost > left) {
        n = floor(left / step->cost);
        if (n < 1 && step->is_new) {
            buy_part(b, step, left);
            return;
        }
    }
    if (n < 1)
        return;
    b->want -= n * step->worth;
    b->plan->cost += n * step->cost;
    if (!step->is_new)
        b->plan->keeps[step->machine] += step->windows;
    else if (n > b->plan->buys[step->machine])
        b->plan->buys[step->machine] = (uint32_t)n;
}

static double soonest(const struct bats_windows_problem *p, double best,
                      double budget, double want, double latest)
{
    double low = 0, high = latest;
    int last;
    while (high - low > PRECISION * high + INSTANT) {
        /* First by powers of two: the end is rarely far away. */
        double middle =
            low == 0 && high > 1 ? sqrt(high) / 2 : (low + high) / 2;
        if (reach(p, stride_of(p), best, middle, budget, want, &last) >= want)
            high = middle;
        else
            low = middle;
    }
    return high;
}

void bats_windows_plan(const struct bats_windows_problem *p, double budget,
                       struct bats_windows_plan *plan)
{
    struct purchase b = {.p = p, .plan = plan, .budget = budget};
    double latest = 1, shortest = FOREVER;
    b.best = best_ratio(p);
    memset(plan->buys, 0, p->n_types * sizeof *plan->buys);
    memset(plan->keeps, 0, p->n_machines * sizeof *plan->keeps);
    plan->cost = 0;
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_windows_type *t = &p->types[i];
        latest = larger(latest, (p->demand + 2) / t->rate + 2 * t->loss + 1);
        shortest = smaller(shortest, 1 / t->rate);
    }
    double most =
        reach(p, stride_of(p), b.best, latest, budget, p->demand, &b.last);
    plan->feasible = most >= p->demand * (1 - 1e-9);
    b.want = plan->feasible ? p->demand * (1 - 1e-9) : ENOUGH * most;
    plan->end = larger(soonest(p, b.best, budget, b.want, latest), shortest);
    reach(p, 1, b.best, plan->end, budget, b.want, &b.last);
    b.want -= steps(p, 1, plan->end, &b, buy);
    b.is_rest = true;
    steps(p, 1, plan->end, &b, buy);
}

/* ---- all machines ---- */

/* Tasks that are begun until `time`, by all machines. */
static double begun(const struct bats_windows_problem *p, double time)
{
    double n = 0;
    uint32_t stride = stride_of(p);
    for (uint32_t i = 0; i < p->n_machines; i += stride) {
        const struct bats_windows_machine *m = &p->machines[i];
        double rate = p->types[m->type].rate;
        double like = smaller(stride, p->n_machines - i);
        for (uint32_t k = 0; k < m->n_slots && !m->leaves; k++) {
            double free = time - p->slots[m->first_slot + k].rest;
            n += free > 0 ? like * (free * rate + 0.5) : 0;
        }
    }
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_windows_type *t = &p->types[i];
        n += t->parked * t->slots * (time * t->rate + 1);
    }
    return n;
}

double bats_windows_cost_of_all(const struct bats_windows_problem *p,
                                double pending, double *end)
{
    double empty = 0, cost = 0;
    if (pending > 0) {
        double high = 1, low = 0;
        while (begun(p, high) < pending && high < FOREVER)
            high *= 2;
        while (high - low > PRECISION * high + INSTANT) {
            double middle = (low + high) / 2;
            if (begun(p, middle) < pending)
                low = middle;
            else
                high = middle;
        }
        empty = high;
    }
    *end = 0;
    for (uint32_t i = 0; i < p->n_machines; i++) {
        const struct bats_windows_machine *m = &p->machines[i];
        const struct bats_windows_type *t = &p->types[m->type];
        double last = 0;
        for (uint32_t k = 0; k < m->n_slots; k++) {
            double rest = p->slots[m->first_slot + k].rest;
            last = larger(last, rest >= empty ? rest : empty + 0.5 / t->rate);
        }
        *end = larger(*end, last);
        if (last > m->paid)
            cost += t->charge * (pending > 0 ? last - m->paid + 0.5
                                             : ceil(last - m->paid));
    }
    for (size_t i = 0; i < p->n_types && pending > 0; i++) {
        const struct bats_windows_type *t = &p->types[i];
        double last = empty + 0.5 / t->rate;
        cost += t->parked * t->charge * larger(last + 0.5, 1);
        if (t->parked > 0)
            *end = larger(*end, last);
    }
    return cost;
}
