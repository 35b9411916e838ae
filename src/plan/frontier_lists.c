/* See frontier_lists.h. */
#include "plan/frontier_lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME 1e-12          /* rates that differ by less are equal */
#define ROUNDING 1e-10      /* of sums */
#define SLACK 1e-6          /* of bounds that need not be tight */
#define LIST_MAX (1u << 21) /* states in a list */
#define BLOCK 64            /* steps */

/* From the state at `price` to the next: what is spent on types to come
 * instead of the present ones, for a whole in this range, loses more than the
 * list does if it is above `reach`. */
struct step {
    bats_money price;
    double reach;
};

/* Prices, both included, from which something on the frontier may come. */
struct zone {
    bats_money from, to;
};

struct bats_frontier_bounds {
    /* After a type: */
    struct step *steps; /* NULL: nothing is known */
    size_t n_steps;
    double *peaks;      /* the largest reach of BLOCK steps each */
    struct zone *zones; /* ascending, apart from each other */
    size_t n_zones;
    bats_money before; /* price of all machines so far */
    bats_money near;   /* whoever spends more than `before` in all has spent
                          that much on them at least */
};

/* ---- the lists ---- */

static bool reserve(struct bats_frontier_lists *l, size_t n)
{
    if (n <= l->capacity)
        return true;
    n += n / 2;
    struct bats_frontier_state *list = realloc(l->list, n * sizeof *list);
    if (list)
        l->list = list;
    struct bats_frontier_state *spare = realloc(l->spare, n * sizeof *spare);
    if (spare)
        l->spare = spare;
    if (!list || !spare)
        return false;
    l->capacity = n;
    return true;
}

/* State i as it was before the list began to be joined with itself. */
static const struct bats_frontier_state *
state(const struct bats_frontier_lists *l, size_t i)
{
    return i < l->kept ? &l->list[i] : &l->spare[i];
}

/* The first state from `low` on of at least that price; mostly it is near. */
static size_t find(const struct bats_frontier_lists *l, size_t low,
                   bats_money price)
{
    size_t high = low;

    for (size_t step = 1; high < l->n && state(l, high)->price < price;
         step *= 2) {
        low = high + 1;
        high += step;
    }
    if (high > l->n)
        high = l->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (state(l, middle)->price < price)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Where the search for the next state to add pieces to has arrived. */
struct search {
    size_t with; /* a state */
    size_t step, zone;
};

/* The first step from `at` on that reaches so far; n_steps if none does. */
static size_t next_step(const struct bats_frontier_bounds *b, size_t at,
                        double price)
{
    while (at < b->n_steps && b->steps[at].reach < price)
        at += at % BLOCK == 0 && b->peaks[at / BLOCK] < price ? BLOCK : 1;
    return at < b->n_steps ? at : b->n_steps;
}

/*
 * Moves on to the next state, s->with or a later one, that can be added
 * pieces worth `price` with success. False if there is none.
 */
static bool next_of_use(const struct bats_frontier_lists *l, bats_money price,
                        struct search *s)
{
    const struct bats_frontier_bounds *b = l->bounds;

    while (s->with < l->n) {
        bats_money own = state(l, s->with)->price, sum = own + price;
        if (!b->steps)
            return true;
        if (sum > b->before) {
            if (own < b->near)
                s->with = find(l, s->with, b->near);
            return s->with < l->n;
        }
        while (s->zone < b->n_zones && b->zones[s->zone].to < sum)
            s->zone++;
        bats_money from = b->before + 1;
        if (s->zone < b->n_zones)
            from = b->zones[s->zone].from;
        if (from <= sum) {
            while (s->step + 1 < b->n_steps &&
                   b->steps[s->step + 1].price <= sum)
                s->step++;
            if (b->steps[s->step].reach >= (double)price)
                return true;
            size_t next = next_step(b, s->step + 1, (double)price);
            bool is_last = next == b->n_steps;
            from = is_last ? b->before + 1 : b->steps[next].price;
            s->step = is_last ? next - 1 : next;
        }
        s->with = find(l, s->with + 1, from - price);
    }
    return false;
}

/* Appends from[0 .. count) to the new list, but not what is no faster than its
 * last state. Returns its new length. */
static size_t append(struct bats_frontier_state *list, size_t n,
                     const struct bats_frontier_state *from, size_t count)
{
    double best = n > 0 ? list[n - 1].rate * (1 + SAME) : -1;
    size_t i = 0;

    while (i < count && from[i].rate <= best)
        i++;
    for (; i < count; i++)
        list[n++] = from[i];
    return n;
}

/* Joins the list with itself, `pieces` of type t added to each state, and
 * drops what is dominated. */
static void join(struct bats_frontier_lists *l, size_t t, uint32_t pieces)
{
    const struct bats_knapsack_type *type = &l->types.type[t];
    bats_money price = pieces * type->price;
    double rate = pieces * type->rate;
    struct search search = {.with = 0};
    const struct bats_frontier_state *old = l->spare;
    struct bats_frontier_state *list = l->list;

    if (!next_of_use(l, price, &search))
        return;
    /* What is cheaper than the first new state stays where it is. */
    l->kept = find(l, search.with, l->list[search.with].price + price);
    size_t without = l->kept, n = l->kept;
    memcpy(l->spare + n, list + n, (l->n - n) * sizeof *list);
    do {
        struct bats_frontier_state s = *state(l, search.with);
        size_t end = without;
        s.price += price;
        s.rate += rate;
        s.count += pieces;
        while (end < l->n && old[end].price <= s.price)
            end++;
        n = append(list, n, old + without, end - without);
        without = end;
        search.with++;
        if (n > 0 && s.rate <= list[n - 1].rate * (1 + SAME))
            continue;
        n -= n > 0 && list[n - 1].price == s.price;
        list[n++] = s;
    } while (next_of_use(l, price, &search));
    l->n = append(list, n, old + without, l->n - without);
    l->kept = SIZE_MAX;
}

/* ---- bounds ---- */

/* To fill up in the order of efficiency, but with whole machines, is one way
 * to reach a rate. */
static double price_of_greed(const struct bats_knapsack *types, double rate)
{
    double price = 0;

    for (size_t t = 0; t < types->n && rate > 0; t++) {
        const struct bats_knapsack_type *type = &types->type[t];
        double pieces = fmin(type->max, ceil(rate / type->rate));
        price += pieces * (double)type->price;
        rate -= pieces * type->rate;
    }
    return rate > 0 ? INFINITY : price;
}

static void find_least(struct bats_frontier_lists *l)
{
    double *least = l->least->cost;

    for (int k = 1; k < BATS_FRONTIER_WINDOWS; k++) {
        double rate = (double)l->n_tasks / k * (1 + SLACK);
        if (k >= l->span)
            least[k] = fmin(least[k],
                            k * price_of_greed(&l->types, rate) * (1 + SLACK));
        least[k] = fmin(least[k], least[k - 1]);
    }
}

/* What costs `price` per window or more and does `rate` at most needs k windows
 * at least. If that costs more than k - 1 windows or fewer are known to, it is
 * dominated. */
static bool is_hopeless(const struct bats_frontier_lists *l, double price,
                        double rate)
{
    double exact = (double)l->n_tasks / rate * (1 - SLACK), windows = exact;
    size_t fewer = BATS_FRONTIER_WINDOWS - 1;

    if (exact < BATS_FRONTIER_WINDOWS) {
        fewer = (size_t)exact; /* ceil() takes longer */
        if (fewer > 0 && (double)fewer >= exact)
            fewer--;
        windows = (double)(fewer + 1);
    }
    if (windows < (double)l->span)
        windows = (double)l->span;
    return windows * price > l->least->cost[fewer];
}

/* The linear relaxation, walked downwards. */
struct walk {
    const struct bats_knapsack_type *type;
    size_t at;          /* the type that the present price is paid for */
    double price, rate; /* of all types before it */
};

/* The most rate for `price`, which may not rise from call to call. */
static double relax(struct walk *w, double price)
{
    while (w->at > 0 && w->price >= price) {
        w->at--;
        w->price -= (double)w->type[w->at].price * w->type[w->at].max;
        w->rate -= w->type[w->at].rate * w->type[w->at].max;
    }
    return w->rate + (price - w->price) *
                         (w->type[w->at].rate / (double)w->type[w->at].price);
}

static double efficiency(const struct bats_knapsack_type *type)
{
    return type->rate / (double)type->price;
}

/* Adds a zone below or across the last one; they are found from the top. */
static void add_zone(struct bats_frontier_bounds *b, bats_money from,
                     bats_money to)
{
    struct zone *last = b->n_zones > 0 ? &b->zones[b->n_zones - 1] : NULL;

    if (!last || to < last->from)
        b->zones[b->n_zones++] = (struct zone){from, to};
    else if (from < last->from)
        last->from = from;
}

static void turn_round(struct bats_frontier_bounds *b)
{
    for (size_t i = 0, j = b->n_zones; i + 1 < j; i++) {
        struct zone swap = b->zones[i];
        b->zones[i] = b->zones[--j];
        b->zones[j] = swap;
    }
    for (size_t i = 0, j = b->n_steps; i + 1 < j; i++) {
        struct step swap = b->steps[i];
        b->steps[i] = b->steps[--j];
        b->steps[j] = swap;
    }
}

/*
 * Once type t is done, but for pieces worth `rest`: the new steps and zones.
 * Types still to come are less efficient, by `gain` at least.
 *
 * Who spends Q on them, and P <= before in all, loses Q x gain against the
 * relaxation at P. The list loses its gap there, so Q is at most gap / gain:
 * only states that far below a price of interest count.
 *
 * Who spends more than `before` in all, but D less than `before` on the types
 * so far, loses D x gain against the relaxation beyond `before`. So does a
 * state of the list, its D being what it is short of the full rate; and one of
 * those within a machine's price of `before` can be filled up to any price.
 *
 * That counts `rest`, too. Let e and e' be the efficiencies of t and of the
 * next type, gain = e - e', F a configuration as above, and u what is left
 * over of its price where all machines so far are taken and as many of F's
 * others as can be paid: one of those, of price f, would be more than u. Then
 * D gain < u e'. And with that one, v = f - u less can be spent so far, which
 * loses T(v): D gain < T(v). The present list, that lacks `rest`, loses rest e
 * at v = 0, and at v + rest loses rest gain + T(v) at least. If v + rest is
 * within a machine's price, the latter is counted; else u < rest, and D + rest
 * < rest e / gain, which is counted. In both cases D + rest is below what is
 * counted, and a state that lacks both is kept. Of a state that lacks only a
 * part r of the rest the same is true with v + r and D + r.
 *
 * The steps are counted from the top, and v is at most D: the others that F
 * has more than fit cost D + u, and one of them f = u + v. So what keeps a
 * state has been counted when it is reached, whatever `near` becomes below.
 */
static void find_bounds(const struct bats_frontier_lists *l, size_t t,
                        double rest, struct bats_frontier_bounds *b)
{
    const struct bats_knapsack_type *type = l->types.type;
    const struct bats_frontier_bounds *old = l->bounds;
    double next = efficiency(&type[t + 1]);
    double least_gain = efficiency(&type[t]) - next;
    double end = (double)b->before, full = 0, dearest = 0, most = 0;
    struct walk w = {.type = type, .at = t + 1, .price = end};
    size_t n_old = old->n_zones;
    bats_money above = b->before;

    for (size_t i = t + 1; i < l->types.n; i++)
        dearest = fmax(dearest, (double)type[i].price);
    for (size_t i = 0; i <= t; i++)
        full += type[i].rate * type[i].max;
    w.rate = full;
    for (size_t i = l->n; i-- > 0; above = l->list[i].price) {
        bats_money price = l->list[i].price;
        if ((double)above >= end - dearest) {
            double lost = full * (1 + ROUNDING) - l->list[i].rate -
                          (end - (double)above) * next;
            most = least_gain > 0 ? fmax(most, lost / least_gain) : INFINITY;
            double near = end - most;
            b->near = end > dearest && near > 0 ? (bats_money)near : 0;
        }
        while (n_old > 0 && old->zones[n_old - 1].from > price)
            n_old--;
        if (price < old->before && n_old > 0 &&
            old->zones[n_old - 1].to < above)
            above = old->zones[n_old - 1].to;
        double rate = relax(&w, (double)above);
        double gap = rate * (1 + ROUNDING) - l->list[i].rate;
        double gain = efficiency(&type[w.at]) - next;
        double reach = gain > 0 ? gap / gain : INFINITY;
        b->steps[b->n_steps++] = (struct step){price, reach};
        if (price >= b->near || !is_hopeless(l, (double)price, rate)) {
            double from = (double)price - rest - reach;
            add_zone(b, from > 0 ? (bats_money)from : 0, above);
        }
    }
    turn_round(b);
}

/* Leaves only the states in zones. */
static void prune(struct bats_frontier_lists *l,
                  const struct bats_frontier_bounds *b)
{
    size_t n = 0, zone = 0;

    for (size_t i = 0; i < l->n; i++) {
        while (zone < b->n_zones && b->zones[zone].to < l->list[i].price)
            zone++;
        if (zone < b->n_zones && b->zones[zone].from <= l->list[i].price)
            l->list[n++] = l->list[i];
    }
    l->n = n;
}

static void release_bounds(struct bats_frontier_bounds *b)
{
    free(b->steps);
    free(b->peaks);
    free(b->zones);
}

static void find_peaks(struct bats_frontier_bounds *b)
{
    for (size_t i = 0; i < b->n_steps; i++) {
        double *peak = &b->peaks[i / BLOCK];
        if (i % BLOCK == 0 || b->steps[i].reach > *peak)
            *peak = b->steps[i].reach;
    }
}

/* Drops what is of no use after type t, of which `left` pieces are still to be
 * added. With none left, the bounds are those for the types to come. */
static bool update_bounds(struct bats_frontier_lists *l, size_t t,
                          uint32_t left)
{
    const struct bats_knapsack_type *type = &l->types.type[t];
    struct bats_frontier_bounds *b = l->bounds, next = {.n_steps = 0};

    if (t + 1 == l->types.n || type->price == 0)
        return true;
    next.before = b->before + type->price * type->max;
    next.steps = malloc((l->n + 1) * sizeof *next.steps);
    next.peaks = malloc((l->n / BLOCK + 1) * sizeof *next.peaks);
    next.zones = malloc((l->n + 1) * sizeof *next.zones);
    if (!next.steps || !next.peaks || !next.zones) {
        release_bounds(&next);
        return false;
    }
    find_bounds(l, t, (double)left * (double)type->price, &next);
    prune(l, &next);
    if (left > 0) {
        release_bounds(&next);
        return true;
    }
    find_peaks(&next);
    release_bounds(b);
    *b = next;
    return true;
}

/* ---- the whole ---- */

/* Any count from 0 to max is a sum of what is added here: the largest parts
 * first, because the list grows most with the smallest, and may be pruned
 * before. */
static bool add_type(struct bats_frontier_lists *l, size_t t)
{
    uint32_t left = l->types.type[t].max, part = 1;
    size_t pruned = l->n;

    for (uint32_t i = 0; i < l->n; i++) {
        l->list[i].origin = i;
        l->list[i].count = 0;
    }
    while (part <= left / 2)
        part *= 2;
    for (uint32_t pieces = left - part + 1; left > 0; pieces = part /= 2) {
        if (2 * l->n > LIST_MAX) {
            l->full = true;
            return true;
        }
        if (!reserve(l, 2 * l->n))
            return false;
        join(l, t, pieces);
        left -= pieces;
        if (left == 0 || l->n > 2 * pruned) {
            if (!update_bounds(l, t, left))
                return false;
            pruned = l->n;
        }
    }
    return true;
}

static bool keep_origins(struct bats_frontier_lists *l, size_t t)
{
    l->origin[t] = malloc((l->n + 1) * sizeof *l->origin[t]);
    l->count[t] = malloc((l->n + 1) * sizeof *l->count[t]);
    if (!l->origin[t] || !l->count[t])
        return false;
    for (size_t i = 0; i < l->n; i++) {
        l->origin[t][i] = l->list[i].origin;
        l->count[t][i] = l->list[i].count;
    }
    return true;
}

bool bats_frontier_lists_make(struct bats_frontier_lists *l)
{
    l->bounds = calloc(1, sizeof *l->bounds);
    if (!l->bounds || !reserve(l, 1))
        return false;
    l->list[0] = (struct bats_frontier_state){.price = 0};
    l->n = 1;
    l->kept = SIZE_MAX;
    find_least(l);
    for (size_t t = 0; t < l->types.n; t++) {
        if (!add_type(l, t))
            return false;
        if (l->full)
            break;
        if (!keep_origins(l, t))
            return false;
    }
    return true;
}

void bats_frontier_lists_trace(const struct bats_frontier_lists *l, size_t i,
                               uint32_t *machines)
{
    for (size_t t = l->types.n; t-- > 0;) {
        machines[l->types.type[t].item] = l->count[t][i];
        i = l->origin[t][i];
    }
}

void bats_frontier_lists_release(struct bats_frontier_lists *l)
{
    for (size_t t = 0; t < BATS_CLUSTERS_MAX; t++) {
        free(l->origin[t]);
        free(l->count[t]);
    }
    if (l->bounds)
        release_bounds(l->bounds);
    free(l->bounds);
    free(l->list);
    free(l->spare);
    *l = (struct bats_frontier_lists){.n = 0};
}
