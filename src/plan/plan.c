/*
 * See plan.h. For a fixed number of windows k the BKP is a bounded knapsack
 * of capacity floor(B / k), solved in knapsack.c. Its best rate R(k) does not
 * rise with k, so the smallest k that R(k) can finish the bag in gives the
 * fastest configuration of all. The papers' table over the price (Martello and
 * Toth, 1990) would need a column for every micro-unit of the charges.
 *
 * Ties are settled afterwards by asking the same knapsack whether a cheaper
 * configuration is as fast, then whether one with fewer machines of the last
 * cluster is, and so on.
 */
#include "bats/plan.h"

#include <math.h>
#include <string.h>

#include "plan/knapsack.h"

#define TOLERANCE 1e-9 /* of equal rates and of the ceiling; see plan.h */
#define ROUNDING 1e-12 /* allowed for in bounds */
#define RATE_MAX 1e100
#define PATIENCE 50000     /* steps: a millisecond or two */
#define TIE_PATIENCE 10000 /* less than one */

struct planner {
    struct bats_knapsack knapsack; /* prices in multiples of `unit` */
    size_t n_items;
    bats_money unit; /* greatest common divisor of the charges */
    int64_t budget;  /* in multiples of `unit` */
    uint64_t n_tasks;
    int64_t windows_min; /* fewer are useless */
    int64_t windows_max; /* no configuration is affordable for more */
    struct bats_error *err;
};

/* A knapsack problem and its answer. */
struct choice {
    int64_t windows;
    int64_t capacity; /* price per window */
    double target;    /* every rate from this on ties with the best */
    struct bats_knapsack_answer best;
};

int64_t bats_plan_windows(uint64_t n_tasks, double rate)
{
    double exact = (double)n_tasks / rate;
    double windows = ceil(exact - exact * TOLERANCE);
    if (!(windows < 0x1p63))
        return INT64_MAX;
    return windows < 1 ? n_tasks > 0 : (int64_t)windows;
}

/* Smallest rate that finishes the bag in `windows`. */
static double rate_needed(uint64_t n_tasks, int64_t windows)
{
    double rate = (double)n_tasks / (double)windows * (1 - TOLERANCE);
    while (bats_plan_windows(n_tasks, rate) > windows)
        rate = nextafter(rate, INFINITY);
    return rate;
}

static bool search(struct planner *p, int64_t capacity, double target,
                   bool any, struct bats_knapsack_answer *best)
{
    struct bats_knapsack_answer answer;
    double bound = bats_knapsack_bound(&p->knapsack, (double)capacity);
    if (bound * (1 + ROUNDING) < target ||
        !bats_knapsack_search(&p->knapsack, capacity, target, any, &answer))
        return false;
    *best = answer;
    return true;
}

/* Upper bound on the tasks in `windows` within the budget, with divisible
 * machines. Never falls with more windows. */
static double tasks_bound(const struct planner *p, int64_t windows)
{
    double share = (double)p->budget / (double)windows;
    return bats_knapsack_bound(&p->knapsack, share) * (double)windows *
           (1 + ROUNDING);
}

/* The smallest number of windows whose bound reaches `tasks`; windows_max + 1
 * if none does. */
static int64_t least_windows(const struct planner *p, double tasks)
{
    int64_t low = 1, high = p->windows_max;
    if (tasks_bound(p, high) < tasks)
        return high < INT64_MAX ? high + 1 : high;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        if (tasks_bound(p, middle) >= tasks)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* The fastest configuration that finishes the bag, if there is one. */
static bool find_feasible(struct planner *p, struct choice *c)
{
    int64_t k = least_windows(p, (double)p->n_tasks * (1 - TOLERANCE));
    if (k < p->windows_min)
        k = p->windows_min;
    while (k <= p->windows_max) {
        c->windows = k;
        c->capacity = p->budget / k;
        c->target = rate_needed(p->n_tasks, k);
        if (search(p, c->capacity, c->target, false, &c->best)) {
            c->target = fmax(c->target, c->best.rate * (1 - TOLERANCE));
            return true;
        }
        /* More windows leave less money for each: the fastest configuration
         * for k is too slow for every number of windows below `next`. */
        if (!search(p, c->capacity, 0, false, &c->best) || c->best.rate <= 0 ||
            k == INT64_MAX)
            return false;
        int64_t next = bats_plan_windows(p->n_tasks, c->best.rate);
        k = next > k ? next : k + 1;
        if (p->knapsack.patience < 0 && k < p->windows_max - k / 16)
            k += k / 16;
    }
    return false;
}

/*
 * A machine that is not of the most efficient type wastes money in each of its
 * windows. With more windows than this, the waste of a single machine exceeds
 * the budget that `tasks` leave.
 */
static int64_t windows_for_others(const struct planner *p, double tasks)
{
    const struct bats_knapsack_type *first = &p->knapsack.type[0];
    double efficiency = first->rate / (double)first->price;
    double left = (double)p->budget * (1 + 2 * ROUNDING) - tasks / efficiency;
    double windows = 0;
    for (size_t i = 1; i < p->knapsack.n; i++) {
        const struct bats_knapsack_type *t = &p->knapsack.type[i];
        double waste = (double)t->price - t->rate / efficiency;
        if (waste <= (double)t->price * ROUNDING)
            return p->windows_max;
        windows = fmax(windows, left / waste);
    }
    return windows < (double)p->windows_max ? (int64_t)windows
                                            : p->windows_max;
}

/* With the first type alone: the machines and windows that complete `tasks`,
 * as few windows as possible. */
static void use_one_type(const struct planner *p, double tasks, int64_t least,
                         struct choice *c)
{
    const struct bats_knapsack_type *first = &p->knapsack.type[0];
    for (uint32_t x = first->max; x > 0;) {
        int64_t k = p->budget / (x * first->price);
        double rate = x * first->rate;
        if (k >= least && (double)k * rate >= tasks) {
            c->windows = k;
            c->capacity = p->budget / k;
            c->best = (struct bats_knapsack_answer){.price = x * first->price,
                                                    .rate = rate};
            c->best.counts[first->item] = x;
            return;
        }
        /* Most machines that are affordable for longer. */
        int64_t longer = k < least ? least : k + 1;
        x = (uint32_t)(p->budget / longer / first->price);
    }
}

/*
 * The configuration that completes most tasks with a budget that is too small;
 * no machine is free of charge then. If several k have the same share of the
 * budget, only the last of them counts: its configuration works longest.
 */
static int find_best_effort(struct planner *p, struct choice *c)
{
    const struct bats_knapsack_type *first = &p->knapsack.type[0];
    if (first->price == 0)
        return bats_error_set(
            p->err, BATS_EOVERFLOW,
            "the bag needs more windows than can be counted");
    /* Start with one machine of the most profitable cluster. No plan of this
     * cluster alone does more. */
    use_one_type(p, 0, p->budget / first->price, c);
    double most = (double)c->windows * first->rate;
    double perfect = tasks_bound(p, p->windows_max);
    int64_t from = least_windows(p, most * (1 - TOLERANCE));
    int64_t last = windows_for_others(p, most * (1 - TOLERANCE)), k;
    bool found = false;
    if (from < p->windows_min)
        from = p->windows_min;
    /* Upwards, so that of equals the smallest k stays. */
    for (int64_t before = from - 1; before < last; before = k) {
        if ((found && most * (1 + TOLERANCE) > perfect) ||
            p->knapsack.patience < 0)
            break;
        int64_t share = p->budget / (before + 1);
        k = p->budget / share;
        double least = most * (found ? 1 + TOLERANCE : 1 - TOLERANCE);
        if (!search(p, share, least / (double)k, false, &c->best))
            continue;
        found = true;
        c->windows = k;
        c->capacity = share;
        most = c->best.rate * (double)k;
        last = windows_for_others(p, most);
    }
    if (!found)
        use_one_type(p, most * (1 - TOLERANCE), last, c);
    c->target = most * (1 - TOLERANCE) / (double)c->windows;
    return 0;
}

/* The least price at which the target could be reached if machines could be
 * divided. */
static int64_t price_bound(const struct planner *p, double target)
{
    double price = 0;
    for (size_t i = 0; i < p->knapsack.n && target > 0; i++) {
        const struct bats_knapsack_type *t = &p->knapsack.type[i];
        double x = fmin(t->max, target / t->rate);
        price += x * (double)t->price;
        target -= x * t->rate;
    }
    return (int64_t)ceil(price * (1 - ROUNDING));
}

/* Makes the number of machines of a type, or the price (type: NULL), as small
 * as the target allows, but at least `low`. Usually nothing is smaller, or only
 * by little. */
static void minimise(struct planner *p, struct choice *c,
                     struct bats_knapsack_type *type, int64_t low)
{
    int64_t step = 1, now;
    while (low < (now = type ? c->best.counts[type->item] : c->best.price)) {
        int64_t attempt = now - step > low ? now - step : low;
        if (type)
            type->max = (uint32_t)attempt;
        if (search(p, type ? c->capacity : attempt, c->target, true,
                   &c->best)) {
            step *= 2;
        } else {
            low = attempt + 1;
            step = (now - low + 1) / 2;
        }
    }
}

/* The fewest machines of one type that the bound allows. */
static int64_t count_bound(const struct planner *p,
                           struct bats_knapsack_type *type,
                           const struct choice *c)
{
    uint32_t low = 0, high = c->best.counts[type->item];
    while (low < high) {
        type->max = low + (high - low) / 2;
        double bound = bats_knapsack_bound(&p->knapsack, (double)c->capacity);
        if (bound * (1 + ROUNDING) >= c->target)
            high = type->max;
        else
            low = type->max + 1;
    }
    return low;
}

/* The lowest price, then the fewest machines of the last item, and so on; the
 * types settled before are pinned. */
static void settle_ties(struct planner *p, struct choice *c)
{
    minimise(p, c, NULL, price_bound(p, c->target));
    /* The choice between two plans of equal rate and price is not worth a long
     * search: it only has to be well defined. */
    bool proven = p->knapsack.proven;
    if (p->knapsack.patience > TIE_PATIENCE)
        p->knapsack.patience = TIE_PATIENCE;
    c->capacity = c->best.price;
    for (size_t item = p->n_items; item-- > 0;)
        for (size_t i = 0; i < p->knapsack.n; i++) {
            struct bats_knapsack_type *type = &p->knapsack.type[i];
            if (type->item != item || p->knapsack.patience <= 0)
                continue;
            minimise(p, c, type, count_bound(p, type, c));
            type->min = type->max = c->best.counts[item];
        }
    p->knapsack.proven = proven;
}

static int check(const struct bats_plan_item *items, size_t n_items,
                 struct bats_error *err)
{
    if (n_items < 1 || n_items > BATS_CLUSTERS_MAX)
        return bats_error_set(err, BATS_EINPUT,
                              "a plan needs 1 to %d clusters, not %zu",
                              BATS_CLUSTERS_MAX, n_items);
    for (size_t i = 0; i < n_items; i++) {
        if (items[i].charge < 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "the charge of cluster %zu is negative",
                                  i + 1);
        if (!(items[i].rate >= 0 && items[i].rate <= RATE_MAX))
            return bats_error_set(err, BATS_EINPUT,
                                  "the rate of cluster %zu is not a number "
                                  "of tasks per window",
                                  i + 1);
    }
    return 0;
}

/* The machines that can be paid for at least windows_min windows. */
static void set_up(struct planner *p, const struct bats_plan_item *items,
                   bats_money budget)
{
    double free_rate = 0;
    int64_t cheapest = INT64_MAX;
    p->knapsack.n = 0;
    p->knapsack.patience = PATIENCE;
    p->knapsack.proven = true;
    p->unit = 0;
    for (size_t i = 0; i < p->n_items; i++) {
        const struct bats_plan_item *item = &items[i];
        int64_t most = item->charge > 0
                           ? budget / p->windows_min / item->charge
                           : INT64_MAX;
        if (most > item->max)
            most = item->max;
        if (most == 0 || item->rate <= 0)
            continue;
        p->knapsack.type[p->knapsack.n++] = (struct bats_knapsack_type){
            .price = item->charge,
            .rate = item->rate,
            .max = (uint32_t)most,
            .item = (uint32_t)i,
        };
        p->unit = bats_knapsack_gcd(item->charge, p->unit);
    }
    if (p->unit == 0)
        p->unit = 1;
    p->budget = budget / p->unit;
    for (size_t i = 0; i < p->knapsack.n; i++) {
        struct bats_knapsack_type *t = &p->knapsack.type[i];
        t->price /= p->unit;
        if (t->price == 0)
            free_rate += t->rate * t->max;
        else if (t->price < cheapest)
            cheapest = t->price;
    }
    p->windows_max = free_rate > 0 ? bats_plan_windows(p->n_tasks, free_rate)
                                   : p->budget / cheapest;
    if (free_rate > 0 && p->windows_max < p->windows_min)
        p->windows_max = p->windows_min;
    bats_knapsack_sort(&p->knapsack);
}

/* See bats_plan_solve; a plan has at least `windows_min` windows. */
static int solve(const struct bats_plan_item *items, size_t n_items,
                 uint64_t n_tasks, bats_money budget, int64_t windows_min,
                 struct bats_plan *plan, struct bats_error *err)
{
    struct planner p = {.n_items = n_items,
                        .n_tasks = n_tasks,
                        .windows_min = windows_min,
                        .err = err};
    struct choice choice = {.windows = 0};
    struct bats_plan result = {.feasible = n_tasks == 0, .proven = true};
    int error = check(items, n_items, err);
    if (error < 0)
        return error;
    set_up(&p, items, budget > 0 ? budget : 0);
    if (n_tasks > 0 && p.knapsack.n > 0) {
        result.feasible = find_feasible(&p, &choice);
        if (!result.feasible) {
            error = find_best_effort(&p, &choice);
            if (error < 0)
                return error;
        }
        settle_ties(&p, &choice);
        memcpy(result.machines, choice.best.counts, sizeof result.machines);
        result.windows = choice.windows;
        result.price = choice.best.price * p.unit;
        result.cost = result.windows * result.price;
        result.rate = choice.best.rate;
        result.proven = p.knapsack.proven;
    }
    *plan = result;
    return 0;
}

int bats_plan_solve(const struct bats_plan_item *items, size_t n_items,
                    uint64_t n_tasks, bats_money budget,
                    struct bats_plan *plan, struct bats_error *err)
{
    return solve(items, n_items, n_tasks, budget, 1, plan, err);
}

int64_t bats_plan_span(double task_windows)
{
    double span = ceil(task_windows * (1 - TOLERANCE));
    return span < 0x1p62 ? (int64_t)fmax(span, 1) : INT64_MAX;
}

/* The shortest span of a task that is longer than `span`; INT64_MAX: none. */
static int64_t next_span(const double *task_windows, size_t n_items,
                         int64_t span)
{
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < n_items; i++) {
        int64_t own = bats_plan_span(task_windows[i]);
        if (own > span && own < next)
            next = own;
    }
    return next;
}

/* True if the first can be executed and the second cannot, or if it completes
 * more tasks, is faster or cheaper. */
static bool is_better(const struct bats_plan *a, const struct bats_plan *b)
{
    if (a->feasible != b->feasible)
        return a->feasible;
    double left = a->rate, right = b->rate;
    if (!a->feasible) {
        left *= (double)a->windows;
        right *= (double)b->windows;
    }
    if (fabs(left - right) > left * TOLERANCE)
        return left > right;
    return a->cost < b->cost;
}

int bats_plan_solve_whole(const struct bats_plan_item *items,
                          const double *task_windows, size_t n_items,
                          uint64_t n_tasks, bats_money budget,
                          struct bats_plan *plan, struct bats_error *err)
{
    struct bats_plan_item some[BATS_CLUSTERS_MAX];
    struct bats_plan best, next;
    bool found = false;
    int rc = check(items, n_items, err);
    for (int64_t span = 0; rc == 0 && (span = next_span(task_windows, n_items,
                                                        span)) < INT64_MAX;) {
        for (size_t i = 0; i < n_items; i++) {
            some[i] = items[i];
            if (bats_plan_span(task_windows[i]) > span)
                some[i].rate = 0;
        }
        rc = solve(some, n_items, n_tasks, budget, span, &next, err);
        if (rc == 0 && next.windows > 0 &&
            (!found || is_better(&next, &best))) {
            best = next;
            found = true;
        }
    }
    if (rc == 0 && !found) {
        rc = bats_plan_solve(items, n_items, n_tasks, budget, &best, err);
        best.feasible = n_tasks == 0;
    }
    if (rc == 0)
        *plan = best;
    return rc;
}
