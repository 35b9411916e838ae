#include "bats/windows.h"

#include <math.h>
#include <string.h>

#include "bats/cluster.h"
#include "util/larger.h"

#define CLASSES 256
/* Relative precision of ends and demands; means are known no better. */
#define PRECISION 2e-3
/* If the demand cannot be met, the plan does this fraction of the possible
 * work, but sooner. */
#define ENOUGH 0.98
/* At most this many held machines are used to find an end. */
#define SAMPLE 512
/* Factor of the first step beyond what is expected from the guessed end; each
 * later one is the square of the last. */
#define NEAR 1.02
#define FOREVER 1e9
#define INSTANT 1e-6

/* Windows that add `worth` tasks. */
struct step {
    int64_t windows;
    double worth;
};

/* ---- what windows are worth ---- */

static inline double worth_of_held(const struct bats_windows_problem *p,
                                   const struct bats_windows_machine *m,
                                   double paid, double end)
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

/* Makes steps from worth[i], a machine's tasks with windows[i]; steps are
 * joined until each adds less per window than the one before. Returns the
 * number of useful steps. */
static int make_steps(const int64_t *windows, const double *worth, int n,
                      struct step *steps)
{
    int top = 0;
    for (int i = 1; i < n; i++) {
        struct step step = {windows[i] - windows[i - 1],
                            worth[i] - worth[i - 1]};
        while (top > 0 && steps[top - 1].worth * (double)step.windows <=
                              step.worth * (double)steps[top - 1].windows) {
            top--;
            step.windows += steps[top].windows;
            step.worth += steps[top].worth;
        }
        steps[top++] = step;
    }
    while (top > 0 && steps[top - 1].worth <= 0)
        top--;
    return top;
}

/* *paid: the machine's tasks without further windows. */
static int steps_of_held(const struct bats_windows_problem *p,
                         const struct bats_windows_machine *m, double end,
                         double *paid, struct step *steps)
{
    int64_t windows[4] = {0};
    double worth[4];
    int n = 1;
    *paid = worth[0] = worth_of_held(p, m, m->paid, end);
    if (m->leaves)
        return 0;
    int64_t whole = end > m->paid ? (int64_t)(end - m->paid) : -1;
    int64_t overrun = (int64_t)m->overrun;
    if (0 < overrun && overrun < whole)
        windows[n++] = overrun;
    if (whole > 0)
        windows[n++] = whole;
    if (whole >= 0)
        windows[n++] = whole + 1;
    if (overrun > whole + 1)
        windows[n++] = overrun;
    for (int i = 1; i < n; i++)
        worth[i] = worth_of_held(p, m, m->paid + (double)windows[i], end);
    return make_steps(windows, worth, n, steps);
}

static int steps_of_new(const struct bats_windows_type *t, double end,
                        struct step *steps)
{
    end -= t->delay;
    int64_t whole = (int64_t)end, windows[3] = {0};
    double worth[3] = {0};
    int n = 1;
    if (t->parked == 0 || end <= 0)
        return 0;
    if (whole > 0)
        windows[n++] = whole;
    windows[n++] = whole + 1;
    for (int i = 1; i < n; i++)
        worth[i] = larger(smaller((double)windows[i], end) - t->loss, 0) *
                   t->rate * t->slots;
    return make_steps(windows, worth, n, steps);
}

/* ---- how much can be done by an end ---- */

/* Precomputed values, independent of the end, for the common machine: one
 * slot, whose task ends in paid time. */
struct plain {
    bool is_plain; /* false: another machine; the rest is unset */
    double paid, rest, loss, rate, size;
    double now; /* its tasks without further windows, for an end beyond its
                   paid time */
};

/* A prepared problem. */
struct view {
    const struct bats_windows_problem *p;
    uint32_t stride;                 /* every stride-th machine represents
                                        those up to the next */
    double scale[BATS_CLUSTERS_MAX]; /* class of one task per window */
    bool is_paid[BATS_CLUSTERS_MAX]; /* the budget pays for a window */
    struct plain plain[SAMPLE];      /* of the examined machines */
};

/* The steps up to an end. Only classes whose bit is set count: few are used. */
struct tally {
    double end;
    double done; /* tasks of held machines without further windows */
    uint64_t used[CLASSES / 64];
    double worth[CLASSES], cost[CLASSES];
};

static struct plain plain_of(const struct bats_windows_problem *p,
                             const struct bats_windows_machine *m)
{
    const struct bats_windows_slot *sl = &p->slots[m->first_slot];
    const struct bats_windows_type *t = &p->types[m->type];
    if (m->n_slots != 1 || m->overrun > 0 || m->leaves)
        return (struct plain){.is_plain = false};
    return (struct plain){.is_plain = true,
                          .paid = m->paid,
                          .rest = sl->rest,
                          .loss = t->loss,
                          .rate = t->rate,
                          .size = sl->size,
                          .now = worth_of_held(p, m, m->paid, FOREVER)};
}

/* Excludes types of which the budget does not pay a whole window. Returns
 * whether these are others than before. */
static bool look_at_budget(struct view *v, double budget)
{
    bool is_new = false;
    for (size_t i = 0; i < v->p->n_types; i++) {
        bool is_paid = v->p->types[i].charge <= budget;
        is_new |= is_paid != v->is_paid[i];
        v->is_paid[i] = is_paid;
    }
    return is_new;
}

/* Sets up the classes: the last but one has the best type's tasks per money in
 * whole windows, the last one is free. */
static void look_at(struct view *v, const struct bats_windows_problem *p)
{
    double best = 0;
    v->p = p;
    v->stride = p->n_machines / SAMPLE + 1;
    struct plain *plain = v->plain;
    for (uint32_t i = 0; i < p->n_machines; i += v->stride)
        *plain++ = plain_of(p, &p->machines[i]);
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_windows_type *t = &p->types[i];
        if (t->charge > 0)
            best = larger(best, t->rate * t->slots / t->charge);
    }
    for (size_t i = 0; i < p->n_types; i++) {
        v->scale[i] = p->types[i].charge > 0
                          ? (CLASSES - 2) / (p->types[i].charge * best)
                          : 0;
        v->is_paid[i] = false;
    }
}

static inline int class_of(double scale, const struct step *step)
{
    if (scale <= 0)
        return CLASSES - 1;
    double class = step->worth * scale / (double)step->windows;
    return (int)smaller(class, CLASSES - 2);
}

static inline void count(const struct view *v, struct tally *t, uint32_t type,
                         double n, const struct step *steps, int n_steps)
{
    double charge = n * v->p->types[type].charge, scale = v->scale[type];
    if (!v->is_paid[type])
        return;
    for (int i = 0; i < n_steps; i++) {
        int class = class_of(scale, &steps[i]);
        uint64_t *used = &t->used[class / 64], bit = UINT64_C(1) << class % 64;
        if ((*used & bit) == 0)
            t->worth[class] = t->cost[class] = 0;
        *used |= bit;
        t->worth[class] += n * steps[i].worth;
        t->cost[class] += (double)steps[i].windows * charge;
    }
}

/* The same as steps_of_held, with fewer instructions. */
static inline int steps_of_plain(const struct plain *m, double end,
                                 double *paid, struct step *steps)
{
    double most = m->size + larger(end - m->rest - m->loss, 0) * m->rate;
    *paid = end < m->paid ? most : m->now;
    if (end < m->paid)
        return 0;
    int64_t whole = (int64_t)(end - m->paid);
    struct step last = {1, most - m->now};
    int n = 0;
    if (whole > 0) {
        double until = m->paid + (double)whole;
        double before =
            m->size + larger(until - m->rest - m->loss, 0) * m->rate;
        struct step first = {whole, before - m->now};
        last.worth = most - before;
        if (first.worth <= last.worth * (double)whole)
            last = (struct step){1 + whole, last.worth + first.worth};
        else
            steps[n++] = first;
    }
    steps[n] = last;
    return n + (last.worth > 0);
}

/* *paid: a held machine's tasks without further windows. Returns the number of
 * further steps. i counts the examined machines. */
static inline int steps_of(const struct view *v, uint32_t i, double end,
                           double *paid, struct step *steps)
{
    return v->plain[i].is_plain
               ? steps_of_plain(&v->plain[i], end, paid, steps)
               : steps_of_held(v->p, &v->p->machines[i * v->stride], end, paid,
                               steps);
}

static void tally_held(const struct view *v, double end, struct tally *t)
{
    const struct bats_windows_problem *p = v->p;
    struct step steps[3];
    double paid, done = 0;
    for (uint32_t i = 0, k = 0; k < p->n_machines; i++, k += v->stride) {
        double n = smaller(v->stride, p->n_machines - k);
        int n_steps = steps_of(v, i, end, &paid, steps);
        count(v, t, p->machines[k].type, n, steps, n_steps);
        done += n * paid;
    }
    t->done = done;
}

static void tally_new(const struct view *v, double end, struct tally *t)
{
    const struct bats_windows_problem *p = v->p;
    struct step steps[2];
    for (uint32_t i = 0; i < p->n_types; i++)
        count(v, t, i, p->types[i].parked, steps,
              steps_of_new(&p->types[i], end, steps));
}

/* The steps to buy: all in classes above the last one, and as many of the last
 * class as the remaining money and tasks allow. */
struct selection {
    double done; /* tasks */
    int last;
    double money, tasks; /* left for the last class */
};

static struct selection choose(const struct tally *t, double budget,
                               double want)
{
    struct selection s = {.done = t->done, .last = CLASSES};
    for (int i = CLASSES - 1; i >= 0 && s.done < want; i--) {
        uint64_t at_most = t->used[i / 64] << (63 - i % 64);
        i -= at_most > 0 ? __builtin_clzll(at_most) : i % 64;
        if (at_most == 0 || t->worth[i] <= 0)
            continue;
        if (t->cost[i] > 0 && budget <= 0)
            break; /* only the first class is free */
        s.last = i;
        s.money = budget;
        s.tasks = want - s.done;
        double part = t->cost[i] > budget ? budget / t->cost[i] : 1;
        s.done += part * t->worth[i];
        budget = part < 1 ? 0 : budget - t->cost[i];
    }
    return s;
}

static void tally(const struct view *v, double end, struct tally *t)
{
    t->end = end;
    memset(t->used, 0, sizeof t->used);
    tally_held(v, end, t);
    tally_new(v, end, t);
}

/* ---- the plan ---- */

struct purchase {
    const struct view *v;
    struct bats_windows_plan *plan;
    double budget;
    struct selection left; /* to buy from the last class */
};

/* Unneeded windows at the end of the step for n parked machines. */
static double spare(const struct purchase *b, uint32_t type, double n,
                    const struct step *step)
{
    const struct bats_windows_type *t = &b->v->p->types[type];
    double over = n * step->worth - b->left.tasks;
    return n >= 1 ? larger(floor(over / (t->rate * t->slots)), 0) : 0;
}

/* Buys the step for as many of n machines as are wanted and affordable;
 * returns their number. */
static double buy(struct purchase *b, uint32_t type, double n, bool is_parked,
                  const struct step *step)
{
    int class = class_of(b->v->scale[type], step);
    bool is_last = class == b->left.last;
    double charge = b->v->p->types[type].charge;
    double windows = (double)step->windows, left = b->budget - b->plan->cost;
    if (class < b->left.last || !b->v->is_paid[type])
        return 0;
    if (is_last) {
        bool any = b->left.tasks > PRECISION * b->v->p->demand;
        n = smaller(n, larger(ceil(b->left.tasks / step->worth - PRECISION),
                              any ? 1 : 0));
        left = smaller(left, b->left.money);
    }
    if (n < 1)
        return 0;
    if (n * windows * charge > left) {
        n = floor(left / (windows * charge));
        if (n < 1 && is_parked) { /* only the first window is decided now */
            windows = floor(left / charge);
            n = windows >= 1 && b->plan->buys[type] == 0;
        }
    }
    if (is_parked && b->plan->buys_windows) {
        double less = is_last ? spare(b, type, n, step) : 0;
        b->plan->buys_windows[type] += (int64_t)(n * windows - less);
        b->plan->cost -= less * charge;
    }
    b->plan->cost += n * windows * charge;
    if (is_last) {
        b->left.money -= n * windows * charge;
        b->left.tasks -= n * step->worth * windows / (double)step->windows;
    }
    return n;
}

static void buy_all(struct purchase *b)
{
    const struct bats_windows_problem *p = b->v->p;
    struct step steps[3];
    double paid;
    for (uint32_t i = 0; i < p->n_machines; i++) {
        const struct bats_windows_machine *m = &p->machines[i];
        int n = b->v->stride == 1
                    ? steps_of(b->v, i, b->plan->end, &paid, steps)
                    : steps_of_held(p, m, b->plan->end, &paid, steps);
        for (int k = 0; k < n; k++)
            if (buy(b, m->type, 1, false, &steps[k]) > 0)
                b->plan->keeps[i] += steps[k].windows;
    }
    for (uint32_t i = 0; i < p->n_types; i++) {
        int n = steps_of_new(&p->types[i], b->plan->end, steps);
        for (int k = 0; k < n; k++) {
            double bought = buy(b, i, p->types[i].parked, true, &steps[k]);
            if (bought > b->plan->buys[i])
                b->plan->buys[i] = (uint32_t)bought;
        }
    }
}

/* Tasks of all machines per window. */
static double all_rates(const struct view *v)
{
    const struct bats_windows_problem *p = v->p;
    double sum = 0;
    for (uint32_t i = 0; i < p->n_machines; i += v->stride) {
        const struct bats_windows_machine *m = &p->machines[i];
        sum += v->stride * m->n_slots * p->types[m->type].rate;
    }
    for (size_t i = 0; i < p->n_types; i++)
        sum += p->types[i].parked * p->types[i].slots * p->types[i].rate;
    return sum;
}

/*
 * The tally of the soonest end by which the budget does `want`: one of two, the
 * first of which is of an end by which it does `most` >= want. Brackets the end
 * from the guess in growing steps; then alternates bisection with
 * interpolation, slightly overshooting towards the farther side.
 */
static struct tally *soonest(const struct view *v, double budget, double want,
                             double guess, double most, struct tally *two)
{
    double latest = two[0].end, low = 0, high = latest;
    double below = -want, above = most - want, factor = NEAR;
    struct tally *found = &two[0], *now = &two[1];
    for (int i = 0; high - low > PRECISION * high + INSTANT;) {
        double middle = (low + high) / 2;
        if ((low == 0 || high == latest) && low < guess && guess < high) {
            middle = guess;
        } else if (i++ % 3 < 2) {
            double root = low + (high - low) * below / (below - above);
            double step = 0.4 * (PRECISION * high + INSTANT);
            middle = root + (root < middle ? step : -step);
        }
        tally(v, middle, now);
        double over = choose(now, budget, INFINITY).done - want;
        if (over < 0) {
            low = middle;
            below = over;
            guess = middle * want / (want + over) * factor;
        } else {
            struct tally *last = found;
            found = now;
            now = last;
            high = middle;
            above = over;
            guess = middle * want / (want + over) / factor;
        }
        factor *= factor;
    }
    return found;
}

static void clear(const struct bats_windows_problem *p,
                  struct bats_windows_plan *plan)
{
    memset(plan->buys, 0, p->n_types * sizeof *plan->buys);
    if (p->n_machines > 0)
        memset(plan->keeps, 0, p->n_machines * sizeof *plan->keeps);
    if (plan->buys_windows)
        memset(plan->buys_windows, 0, p->n_types * sizeof *plan->buys_windows);
    plan->cost = 0;
}

static double wanted(const struct bats_windows_problem *p)
{
    return p->demand * (1 - 1e-9);
}

void bats_windows_cheapest(const struct bats_windows_problem *p, double end,
                           double budget, struct bats_windows_plan *plan)
{
    struct view v;
    struct tally t;
    struct purchase b = {.v = &v, .plan = plan, .budget = budget};
    look_at(&v, p);
    look_at_budget(&v, budget);
    clear(p, plan);
    tally(&v, end, &t);
    b.left = choose(&t, budget, wanted(p));
    plan->feasible = b.left.done >= wanted(p);
    plan->end = end;
    buy_all(&b);
}

void bats_windows_plan(const struct bats_windows_problem *p,
                       const double *budgets, int n,
                       struct bats_windows_plan *plan)
{
    struct view v;
    struct tally two[2], *t;
    struct purchase b = {.v = &v, .plan = plan};
    double latest = 1, shortest = FOREVER, want = wanted(p), most = 0;
    look_at(&v, p);
    clear(p, plan);
    for (size_t i = 0; i < p->n_types; i++) {
        const struct bats_windows_type *type = &p->types[i];
        latest = larger(latest, 2 * type->loss + 1 +
                                    (p->demand + 2) / type->rate /
                                        smaller(type->slots, 1));
        shortest = smaller(shortest, 1 / type->rate);
    }
    for (int i = 0; i < n && (i == 0 || most < want); i++) {
        b.budget = budgets[i];
        if (look_at_budget(&v, b.budget) || i == 0)
            tally(&v, latest, &two[0]);
        most = choose(&two[0], b.budget, INFINITY).done;
    }
    plan->feasible = most >= want;
    if (!plan->feasible)
        want = ENOUGH * most;
    double guess = plan->end > 0 ? plan->end : 1.25 * want / all_rates(&v);
    t = soonest(&v, b.budget, want, guess, most, two);
    plan->end = larger(t->end, shortest);
    if (plan->feasible)
        plan->end = larger(plan->end, p->aim);
    if (plan->end != t->end)
        tally(&v, plan->end, t);
    b.left = choose(t, b.budget, want);
    buy_all(&b);
}
