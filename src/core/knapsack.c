/* See knapsack.h. */
#include "core/knapsack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define IMPROVEMENT 1e-12 /* a smaller relative gain is none */
#define ROUNDING 1e-13    /* what sums in another order may differ by */
#define SAME 1e-15        /* efficiencies that differ by less are equal */

/* Steps of the first depth-first search, some milliseconds, and of the last
 * one, some ten seconds; states in a list and in all lists together. */
#define FEW_STEPS 50000
#define MANY_STEPS 300000000
#define LIST_MAX ((size_t)1 << 21)
#define TRACE_MAX ((size_t)1 << 25)

/* What is left to choose once the minima and all pieces that are free of
 * charge are taken. Types of the same price and rate are one here: x[i] of
 * 0..width[i], indices in the order of efficiency. */
struct search {
    const struct bats_knapsack *knapsack;
    size_t n;
    int64_t price[BATS_CLUSTERS_MAX];
    double rate[BATS_CLUSTERS_MAX];
    double efficiency[BATS_CLUSTERS_MAX];
    int64_t width[BATS_CLUSTERS_MAX];
    int64_t divisor[BATS_CLUSTERS_MAX]; /* of the prices i .. n - 1 */
    size_t one[BATS_CLUSTERS_MAX]; /* the i that a knapsack's type went into */
    bool paired; /* the last two types are equally efficient */
    int64_t capacity;
    double base_rate; /* of what is taken already */
    int64_t x[BATS_CLUSTERS_MAX];

    double target; /* what the next answer must reach */
    bool any, found, ended;
    int64_t steps;
    struct bats_knapsack_answer *answer;
};

static int by_efficiency(const void *a, const void *b)
{
    const struct bats_knapsack_type *s = a, *t = b;
    double left = s->rate * (double)t->price;
    double right = t->rate * (double)s->price;

    return left > right ? -1 : left < right;
}

/* Of equally efficient types the dear one first: the cheap ones then fill the
 * gap that is left. */
static int by_price(const void *a, const void *b)
{
    const struct bats_knapsack_type *s = a, *t = b;

    if (s->price != t->price)
        return s->price > t->price ? -1 : 1;
    return s->item < t->item ? -1 : 1;
}

static bool equally_efficient(const struct bats_knapsack_type *a,
                              const struct bats_knapsack_type *b)
{
    double left = a->rate * (double)b->price;
    double right = b->rate * (double)a->price;

    return fabs(left - right) <= left * SAME;
}

void bats_knapsack_sort(struct bats_knapsack *knapsack)
{
    struct bats_knapsack_type *type = knapsack->type;
    size_t end;

    qsort(type, knapsack->n, sizeof *type, by_efficiency);
    for (size_t i = 0; i < knapsack->n; i = end) {
        for (end = i + 1; end < knapsack->n; end++)
            if (!equally_efficient(&type[end - 1], &type[end]))
                break;
        qsort(&type[i], end - i, sizeof *type, by_price);
    }
}

double bats_knapsack_bound(const struct bats_knapsack *knapsack,
                           double capacity)
{
    double rate = 0;

    for (size_t i = 0; i < knapsack->n; i++) {
        const struct bats_knapsack_type *t = &knapsack->type[i];
        capacity -= t->min * (double)t->price;
        rate += t->min * t->rate;
    }
    if (capacity < 0)
        return -1;
    for (size_t i = 0; i < knapsack->n; i++) {
        const struct bats_knapsack_type *t = &knapsack->type[i];
        double price = (double)t->price;
        double x = t->max - t->min;
        if (x * price > capacity)
            x = capacity / price;
        rate += x * t->rate;
        capacity -= x * price;
    }
    return rate;
}

static int64_t gcd(int64_t a, int64_t b)
{
    while (b != 0) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static uint32_t taken(const struct bats_knapsack_type *t)
{
    return t->price == 0 ? t->max : t->min;
}

/* Adds what may be chosen of type t. */
static void add_type(struct search *s, size_t t)
{
    const struct bats_knapsack_type *type = &s->knapsack->type[t];
    int64_t width = type->max - taken(type);
    size_t i = s->n;

    if (i > 0 && s->price[i - 1] == type->price &&
        s->rate[i - 1] >= type->rate && s->rate[i - 1] <= type->rate) {
        s->width[i - 1] += width;
        s->one[t] = i - 1;
        return;
    }
    s->one[t] = i;
    s->n++;
    s->price[i] = type->price;
    s->rate[i] = type->rate;
    s->efficiency[i] = type->rate / (double)type->price;
    s->width[i] = width;
}

/* False if the minima do not fit. */
static bool prepare(struct search *s, int64_t capacity)
{
    for (size_t t = 0; t < s->knapsack->n; t++) {
        const struct bats_knapsack_type *type = &s->knapsack->type[t];
        uint32_t n = taken(type);
        if (type->price > 0 && n > capacity / type->price)
            return false;
        capacity -= n * type->price;
        s->base_rate += n * type->rate;
        if (n < type->max)
            add_type(s, t);
    }
    s->capacity = capacity;
    for (size_t i = s->n; i-- > 0;)
        s->divisor[i] = gcd(s->price[i], i + 1 < s->n ? s->divisor[i + 1] : 0);
    if (s->n >= 2) {
        double last = s->efficiency[s->n - 1];
        double before = s->efficiency[s->n - 2];
        s->paired = fabs(last - before) <= last * 4 * SAME;
    }
    return true;
}

/* The linear relaxation of types `from` .. n - 1. */
static double relax(const struct search *s, size_t from, int64_t capacity)
{
    double rate = 0;

    for (size_t i = from; i < s->n && capacity > 0; i++) {
        int64_t fit = capacity / s->price[i];
        if (fit < s->width[i])
            return rate + (double)capacity * s->efficiency[i];
        rate += (double)s->width[i] * s->rate[i];
        capacity -= s->width[i] * s->price[i];
    }
    return rate;
}

static bool hopeless(const struct search *s, double bound)
{
    return bound < s->target * (1 - ROUNDING);
}

/* Takes the present x as the answer if it is good enough. */
static void offer(struct search *s)
{
    struct bats_knapsack_answer a = {.price = 0};
    double rates[BATS_CLUSTERS_MAX] = {0};
    int64_t x[BATS_CLUSTERS_MAX];

    memcpy(x, s->x, sizeof x);
    for (size_t t = 0; t < s->knapsack->n; t++) {
        const struct bats_knapsack_type *type = &s->knapsack->type[t];
        uint32_t *count = &a.counts[type->item];
        *count = taken(type);
        if (*count < type->max) {
            int64_t room = type->max - *count;
            int64_t *rest = &x[s->one[t]];
            int64_t n = room < *rest ? room : *rest;
            *count += (uint32_t)n;
            *rest -= n;
        }
        a.price += *count * type->price;
        rates[type->item] = type->rate;
    }
    /* Summed up in the order of items, so that an answer has one rate
     * wherever it was found. */
    for (size_t i = 0; i < BATS_CLUSTERS_MAX; i++)
        a.rate += a.counts[i] * rates[i];
    if (a.rate < s->target)
        return;
    *s->answer = a;
    s->found = true;
    if (s->any)
        s->ended = true;
    s->target = a.rate * (1 + IMPROVEMENT);
}

/* ---- the last two types, equally efficient ---- */

/* The smallest j >= 0 with low <= j a mod m <= high; -1 if there is none.
 * 0 <= low <= high < m. Euclid's algorithm on a and m. */
static int64_t first_multiple(int64_t a, int64_t m, int64_t low, int64_t high)
{
    if (low == 0)
        return 0;
    a %= m;
    if (a == 0)
        return -1;
    if (a > m - a)
        return first_multiple(m - a, m, m - high, m - low);
    int64_t j = (low - 1) / a + 1;
    if (j <= high / a)
        return j;
    /* No multiple of a lies in the range: j a = q m + something in it, for
     * the smallest q that admits this modulo a. */
    int64_t q =
        first_multiple(m % a, a, (a - high % a) % a, (a - low % a) % a);
    if (q < 0)
        return -1;
    return (int64_t)(((__int128)q * m + low - 1) / a + 1);
}

/* Of two types i, i + 1 of one efficiency only the price that they spend
 * counts: x a + y b has to lie in low .. high. */
static void descend_pair(struct search *s, size_t i, int64_t high, double rate)
{
    int64_t a = s->price[i], b = s->price[i + 1];
    double spend = (s->target - rate) / s->efficiency[i] * (1 - ROUNDING);
    int64_t low = spend < 0 ? 0 : (int64_t)ceil(spend);
    int64_t most_y = s->width[i + 1];
    int64_t least_x = 0, most_x = s->width[i];

    if (low > high)
        return;
    if (most_x > high / a)
        most_x = high / a;
    if (most_y > high / b)
        most_y = high / b;
    if (low > most_y * b)
        least_x = (low - most_y * b - 1) / a + 1;
    if (least_x > most_x)
        return;
    int64_t left = high - least_x * a;
    int64_t y = left / b < most_y ? left / b : most_y;
    int64_t x = least_x;
    if (left - y * b > high - low) {
        int64_t rest = left % b;
        int64_t j = first_multiple(a, b, rest - (high - low), rest);
        if (j < 0 || j > most_x - least_x)
            return;
        x += j;
        y = (left - j * a) / b;
    }
    s->x[i] = x;
    s->x[i + 1] = y;
    double before = s->target;
    offer(s);
    if (!s->ended && s->target > before)
        descend_pair(s, i, high, rate);
}

/* ---- depth first ---- */

static void descend(struct search *s, size_t i, int64_t capacity, double rate)
{
    if (i == s->n) {
        offer(s);
        return;
    }
    if (i + 2 == s->n && s->paired) {
        descend_pair(s, i, capacity, rate);
        return;
    }
    int64_t fit = capacity / s->price[i];
    /* In the order of efficiency the bound falls with every piece less. */
    for (int64_t x = fit < s->width[i] ? fit : s->width[i]; x >= 0; x--) {
        int64_t left = capacity - x * s->price[i];
        double sum = rate + (double)x * s->rate[i];
        if (hopeless(s, sum + relax(s, i + 1, left)))
            return;
        if (--s->steps < 0) {
            s->ended = true;
            return;
        }
        /* The other types can only spend multiples of their divisor. */
        int64_t odd = i + 1 < s->n ? left % s->divisor[i + 1] : 0;
        if (odd > 0 && hopeless(s, sum + relax(s, i + 1, left - odd)))
            continue;
        s->x[i] = x;
        descend(s, i + 1, left, sum);
        if (s->ended)
            return;
    }
}

/* False if the steps did not suffice. */
static bool depth_first(struct search *s, int64_t steps)
{
    s->steps = steps;
    s->ended = false;
    if (!hopeless(s, s->base_rate + relax(s, 0, s->capacity)))
        descend(s, 0, s->capacity, s->base_rate);
    return s->steps >= 0;
}

/* ---- lists of states ---- */

/* A choice for the types seen so far, the others being as in the relaxation.
 * In a list both members ascend: no state is dearer and slower than another. */
struct state {
    int64_t excess; /* of the price over the capacity; may be negative */
    double rate;
};

/* One doubling of a list: each state came from state `from >> 1` of the list
 * before it, with or without (from & 1) `pieces` pieces of `type`. */
struct step {
    size_t type;
    int64_t pieces; /* negative: taken away */
    uint32_t *from;
};

struct lists {
    struct search *s;
    struct state *now, *next;
    size_t n_now, n_next, capacity; /* of both lists */
    struct step *steps;
    size_t n_steps, n_traced;
    double add, remove; /* best efficiency at which the types still to come
                           can use room or give room back */
    int64_t start[BATS_CLUSTERS_MAX]; /* x of the first state */
    bool full;
};

/* The answer behind entry `from` of the newest list. */
static void trace_back(struct lists *l, uint32_t from)
{
    struct search *s = l->s;

    memcpy(s->x, l->start, sizeof s->x);
    for (size_t i = l->n_steps; i-- > 0;) {
        if (from & 1)
            s->x[l->steps[i].type] += l->steps[i].pieces;
        if (i > 0)
            from = l->steps[i - 1].from[from >> 1];
    }
    offer(s);
}

/* Appends a state, cheapest first, unless it is dominated or hopeless. */
static void append(struct lists *l, struct state state, uint32_t from)
{
    struct search *s = l->s;
    double factor = state.excess > 0 ? l->remove : l->add;

    if (l->n_next > 0 && state.rate <= l->next[l->n_next - 1].rate)
        return;
    if (state.excess > 0 && isinf(factor))
        return;
    if (hopeless(s, state.rate - (double)state.excess * factor))
        return;
    if (l->n_next > 0 && state.excess == l->next[l->n_next - 1].excess)
        l->n_next--;
    if (l->n_next == LIST_MAX) {
        l->full = s->ended = true;
        return;
    }
    l->next[l->n_next] = state;
    l->steps[l->n_steps - 1].from[l->n_next++] = from;
    if (state.excess <= 0 && state.rate >= s->target)
        trace_back(l, from);
}

static bool make_room(struct lists *l)
{
    size_t most = 2 * l->n_now < LIST_MAX ? 2 * l->n_now : LIST_MAX;
    struct step *step = &l->steps[l->n_steps - 1];

    if (most > l->capacity) {
        struct state *now = realloc(l->now, most * sizeof *now);
        if (now)
            l->now = now;
        struct state *next = realloc(l->next, most * sizeof *next);
        if (next)
            l->next = next;
        if (!now || !next)
            return false;
        l->capacity = most;
    }
    step->from = malloc(most * sizeof *step->from);
    return step->from != NULL;
}

/* Doubles the list: every state without and with `pieces` of `type`. */
static bool double_list(struct lists *l, size_t type, int64_t pieces)
{
    struct step *steps =
        realloc(l->steps, (l->n_steps + 1) * sizeof *l->steps);
    if (!steps)
        return false;
    l->steps = steps;
    l->steps[l->n_steps++] = (struct step){.type = type, .pieces = pieces};
    if (!make_room(l))
        return false;

    int64_t excess = pieces * l->s->price[type];
    double rate = (double)pieces * l->s->rate[type];
    /* More than the capacity in excess can never be given back. */
    size_t i = 0, j = 0, n_with = l->n_now;
    while (excess > 0 && n_with > 0 &&
           l->now[n_with - 1].excess > l->s->capacity - excess)
        n_with--;
    l->n_next = 0;
    while ((i < l->n_now || j < n_with) && !l->s->ended) {
        bool with = i == l->n_now || (j < n_with && l->now[j].excess + excess <
                                                        l->now[i].excess);
        struct state state = l->now[with ? j : i];
        if (with) {
            state.excess += excess;
            state.rate += rate;
            append(l, state, (uint32_t)(j++ << 1 | 1));
        } else {
            append(l, state, (uint32_t)(i++ << 1));
        }
    }
    struct step *step = &l->steps[l->n_steps - 1];
    uint32_t *smaller = realloc(step->from, (l->n_next + 1) * sizeof *smaller);
    if (smaller)
        step->from = smaller;
    l->n_traced += l->n_next;
    if (l->n_traced > TRACE_MAX)
        l->full = l->s->ended = true;

    struct state *swap = l->now;
    l->now = l->next;
    l->next = swap;
    l->n_now = l->n_next;
    return true;
}

/* Any count from 0 to `width` is a sum of these doublings. `sign` is -1 where
 * pieces are taken away. */
static bool enter_type(struct lists *l, size_t type, int64_t width, int sign)
{
    for (int64_t part = 1; width > 0 && l->n_now > 0 && !l->s->ended;
         part *= 2) {
        int64_t pieces = part < width ? part : width;
        if (!double_list(l, type, sign * pieces))
            return false;
        width -= pieces;
    }
    return true;
}

/* The most pieces, up to width, that may differ from the relaxation's x of a
 * type (`sign` 1: upwards from 0, -1: downwards from the width) before the
 * bound is hopeless. */
static int64_t reach(const struct search *s, size_t type, int sign)
{
    struct search rest = *s;
    int64_t most = 0, least_bad = s->width[type] + 1;

    for (size_t i = type; i + 1 < s->n; i++) {
        rest.price[i] = s->price[i + 1];
        rest.rate[i] = s->rate[i + 1];
        rest.efficiency[i] = s->efficiency[i + 1];
        rest.width[i] = s->width[i + 1];
    }
    rest.n--;
    while (most + 1 < least_bad) {
        int64_t middle = most + (least_bad - most) / 2;
        int64_t x = sign > 0 ? middle : s->width[type] - middle;
        bool fits = x <= s->capacity / s->price[type];
        if (fits && !hopeless(s, s->base_rate + (double)x * s->rate[type] +
                                     relax(&rest, 0,
                                           s->capacity - x * s->price[type])))
            most = middle;
        else
            least_bad = middle;
    }
    return most;
}

/* From the break type outwards, less and more efficient types in turn. */
static bool grow(struct lists *l, size_t break_type)
{
    struct search *s = l->s;
    size_t left = break_type, right = break_type;

    while (!s->ended && l->n_now > 0 && (left > 0 || right < s->n)) {
        if (right < s->n) {
            l->add = s->efficiency[right];
            l->remove = left > 0 ? s->efficiency[left - 1] : INFINITY;
            /* The relaxation has a part of the break type, so its way up
             * from 0 is not limited by the bound. */
            int64_t width =
                right == break_type ? s->width[right] : reach(s, right, 1);
            if (!enter_type(l, right++, width, 1))
                return false;
        }
        if (left > 0) {
            left--;
            l->add = right < s->n ? s->efficiency[right] : 0;
            l->remove = s->efficiency[left];
            if (!enter_type(l, left, reach(s, left, -1), -1))
                return false;
        }
    }
    return true;
}

/* 1 if it came to an end, 0 if the lists grew too long. */
static int by_lists(struct search *s, struct bats_error *err)
{
    struct lists l = {.s = s, .capacity = 1};
    struct state first = {.excess = -s->capacity, .rate = s->base_rate};
    size_t break_type = 0;

    s->ended = false;
    while (break_type < s->n &&
           s->width[break_type] <= -first.excess / s->price[break_type]) {
        l.start[break_type] = s->width[break_type];
        first.excess += s->width[break_type] * s->price[break_type];
        first.rate += (double)s->width[break_type] * s->rate[break_type];
        break_type++;
    }
    l.now = malloc(sizeof *l.now);
    l.next = malloc(sizeof *l.next);
    bool enough = l.now && l.next;
    if (enough) {
        l.now[l.n_now++] = first;
        enough = grow(&l, break_type);
    }
    for (size_t i = 0; i < l.n_steps; i++)
        free(l.steps[i].from);
    free(l.steps);
    free(l.now);
    free(l.next);
    if (!enough)
        return bats_error_set(err, BATS_ENOMEM, "out of memory for a plan");
    return !l.full;
}

int bats_knapsack_search(const struct bats_knapsack *knapsack,
                         int64_t capacity, double target, bool any,
                         struct bats_knapsack_answer *answer,
                         struct bats_error *err)
{
    struct search s = {
        .knapsack = knapsack, .target = target, .any = any, .answer = answer};

    if (!prepare(&s, capacity))
        return 0;
    if (!depth_first(&s, FEW_STEPS)) {
        int end = by_lists(&s, err);
        if (end < 0)
            return end;
        if (end == 0 && !depth_first(&s, MANY_STEPS))
            return bats_error_set(
                err, BATS_ENOMEM,
                "the best configuration is too hard to find with these "
                "charges: give them with fewer digits");
    }
    return s.found;
}
