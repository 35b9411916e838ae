/* See knapsack.h. */
#include "plan/knapsack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/knapsack_search.h"

#define IMPROVEMENT 1e-12 /* a smaller relative gain is none */
#define SAME 1e-15        /* efficiencies that differ by less are equal, */
#define FLAT 4e-15        /* and so are neighbours of neighbours */

/* Steps of the first depth-first search: mostly enough. Where some types are
 * equally efficient it is worth more of them. What is looked for when the
 * patience has run out is looked for this long. */
#define FEW_STEPS 2000
#define FLAT_STEPS 50000
#define LAST_STEPS 1000

/* How far from the bound is looked first, relative to it, and then each time
 * farther. */
#define NEAR 1e-9
#define FURTHER 4

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
    int64_t divisor = 0;
    for (size_t i = knapsack->n; i-- > 0;)
        type[i].divisor = divisor = bats_knapsack_gcd(type[i].price, divisor);
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
    s->divisor[i] = type->divisor;
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
    int64_t rest = 0;
    for (size_t i = s->n; i-- > 0;) {
        s->half[i] = rest / 2;
        if (s->width[i] <= (capacity - rest) / s->price[i])
            rest += s->width[i] * s->price[i];
        else
            rest = capacity;
    }
    s->flat = s->n;
    while (s->flat > 0 &&
           fabs(s->efficiency[s->flat - 1] - s->efficiency[s->n - 1]) <=
               s->efficiency[s->n - 1] * FLAT)
        s->flat--;
    return true;
}

double bats_knapsack_relax(const struct search *s, size_t from,
                           int64_t capacity)
{
    double rate = 0;

    for (size_t i = from; i < s->n && capacity > 0 && s->rate[i] > 0; i++) {
        int64_t fit = capacity / s->price[i];
        if (fit < s->width[i])
            return rate + (double)capacity * s->efficiency[i];
        rate += (double)s->width[i] * s->rate[i];
        capacity -= s->width[i] * s->price[i];
    }
    return rate;
}

bool bats_knapsack_hopeless(const struct search *s, double bound)
{
    return bound < s->target * (1 - KNAPSACK_ROUNDING);
}

size_t bats_knapsack_break(const struct search *s, int64_t *left)
{
    size_t i = 0;

    for (*left = s->capacity; i < s->n; i++) {
        if (s->width[i] > *left / s->price[i])
            break;
        *left -= s->width[i] * s->price[i];
    }
    return i;
}

bool bats_knapsack_offer(struct search *s)
{
    if (s->parent)
        return bats_knapsack_offer_pieces(s);
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
        return true;
    *s->answer = a;
    s->found = true;
    if (s->any)
        s->ended = true;
    s->target = a.rate * (1 + IMPROVEMENT);
    return true;
}

/* ---- the last two types, equally efficient ---- */

/* The smallest j of 0 .. most with low <= j a mod m <= high; -1 if there is
 * none. 0 <= low <= high < m, and most x a fits. Euclid's algorithm on a and
 * m. */
static int64_t first_multiple(int64_t a, int64_t m, int64_t low, int64_t high,
                              int64_t most)
{
    if (low == 0)
        return 0;
    if (a >= m)
        a %= m;
    if (a == 0)
        return -1;
    if (a > m - a)
        return first_multiple(m - a, m, m - high, m - low, most);
    int64_t j = (low - 1) / a + 1, next = j * a;
    if (next <= high || j > most)
        return j <= most ? j : -1;
    /* No multiple of a lies in the range: j a = q m + something in it, for
     * the smallest q that admits this modulo a. */
    int64_t most_q = (most * a - low) / m;
    int64_t q =
        most_q < 1 ? -1
                   : first_multiple(m % a, a, next - high, next - low, most_q);
    if (q < 0)
        return -1;
    j = (q * m + low - 1) / a + 1;
    return j <= most ? j : -1;
}

/* Of two types i, i + 1 of one efficiency only the price that they spend
 * counts: x a + y b has to lie in low .. high. */
static void descend_pair(struct search *s, size_t i, int64_t high, double rate)
{
    int64_t a = s->price[i], b = s->price[i + 1];
    double spend =
        (s->target - rate) / s->efficiency[i] * (1 - KNAPSACK_ROUNDING);
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
        int64_t j =
            first_multiple(a, b, rest - (high - low), rest, most_x - least_x);
        if (j < 0)
            return;
        x += j;
        y = (left - j * a) / b;
    }
    s->x[i] = x;
    s->x[i + 1] = y;
    double before = s->target;
    bats_knapsack_offer(s);
    if (!s->ended && s->target > before)
        descend_pair(s, i, high, rate);
}

/* ---- depth first ---- */

static void descend(struct search *s, size_t i, int64_t capacity, double rate);

/* Goes on with x pieces of type i. False if that is hopeless. */
static bool step(struct search *s, size_t i, int64_t x, int64_t capacity,
                 double rate)
{
    size_t next = i + 1;
    int64_t left = capacity - x * s->price[i];
    double sum = rate + (double)x * s->rate[i];

    if (bats_knapsack_hopeless(s, sum + bats_knapsack_relax(s, next, left)))
        return false;
    if (--s->steps < 0) {
        s->ended = true;
        return true;
    }
    /* The other types can only spend multiples of their divisor. */
    int64_t odd = next < s->n ? left % s->divisor[next] : 0;
    if (odd > 0 && bats_knapsack_hopeless(
                       s, sum + bats_knapsack_relax(s, next, left - odd)))
        return true;
    s->x[i] = x;
    descend(s, next, left, sum);
    return true;
}

static void descend(struct search *s, size_t i, int64_t capacity, double rate)
{
    if (i == s->n) {
        bats_knapsack_offer(s);
        return;
    }
    if (i >= s->flat && i + 2 == s->n) {
        descend_pair(s, i, capacity, rate);
        return;
    }
    int64_t fit = capacity / s->price[i];
    int64_t most = fit < s->width[i] ? fit : s->width[i];
    int64_t first = s->rate[i] > 0 ? most : 0;
    /* Among equally efficient types it does not matter which are taken, only
     * that the price comes out right: leave the later ones room for that. */
    if (i >= s->flat && capacity - most * s->price[i] < s->half[i])
        first =
            capacity > s->half[i] ? (capacity - s->half[i]) / s->price[i] : 0;
    /* The bound falls from the best x on, in both directions. */
    for (int64_t x = first; x >= 0 && !s->ended; x--)
        if (!step(s, i, x, capacity, rate))
            break;
    for (int64_t x = first + 1; x <= most && !s->ended; x++)
        if (!step(s, i, x, capacity, rate))
            break;
}

/* False if it did not come to an end in so many steps. */
static bool depth_first(struct search *s, int64_t steps)
{
    double bound = s->base_rate + bats_knapsack_relax(s, 0, s->capacity);

    s->steps = steps;
    s->ended = false;
    if (!bats_knapsack_hopeless(s, bound))
        descend(s, 0, s->capacity, s->base_rate);
    s->knapsack->patience -= steps - s->steps;
    return s->steps >= 0;
}

static int64_t few_steps(const struct search *s)
{
    int64_t few = s->flat > 0 && s->flat + 1 < s->n ? FLAT_STEPS : FEW_STEPS;

    return s->knapsack->patience > few ? few : LAST_STEPS;
}

int bats_knapsack_explore(struct search *s, struct bats_error *err)
{
    const int64_t *patience = &s->knapsack->patience;
    enum bats_knapsack_sums sums = (s->parent ? s->parent : s)->sums;
    int end = 0;

    if (depth_first(s, few_steps(s)))
        return 1;
    if (*patience > 0 && sums != WITHOUT_SUMS)
        end = bats_knapsack_by_sums(s, err);
    if (end != 0 || sums == SUMS_ONLY)
        return end;
    if (*patience > 0)
        end = bats_knapsack_by_lists(s, err);
    if (end != 0)
        return end;
    return !s->parent && *patience > 0 && depth_first(s, *patience);
}

/*
 * What a choice falls short of the relaxation by is the sum of what each piece
 * that differs costs and of what the unspent price is worth. There are few
 * choices that fall short by little, and more and more the further one goes:
 * so first only those very near are looked at, then four times as far, until
 * there is one. The depth-first search alone would lose itself among the far
 * ones before it knows that there are better ones. Sums of prices need no such
 * limit.
 */
static int deepen(struct search *s, struct bats_error *err)
{
    struct bats_knapsack_pieces pieces;
    double bound = s->base_rate + bats_knapsack_relax(s, 0, s->capacity);
    double least = s->target;
    int end = 1;

    bats_knapsack_pieces_start(s, &pieces);
    bound = fmin(bound, pieces.bound);

    if (!s->any) {
        s->sums = SUMS_ONLY;
        end = bats_knapsack_by_pieces(s, &pieces, err);
        if (end != 0)
            return end;
        s->sums = WITHOUT_SUMS;
        least = s->target;
        end = 1;
    }
    for (double gap = s->any ? 1 : NEAR; end > 0; gap *= FURTHER) {
        double target = fmax(bound * (1 - gap), least);
        s->target = target;
        end = bats_knapsack_by_pieces(s, &pieces, err);
        if (s->target > target || target <= least)
            break;
    }
    return end;
}

int bats_knapsack_search(struct bats_knapsack *knapsack, int64_t capacity,
                         double target, bool any,
                         struct bats_knapsack_answer *answer,
                         struct bats_error *err)
{
    struct search s = {
        .knapsack = knapsack, .target = target, .any = any, .answer = answer};

    if (!prepare(&s, capacity))
        return 0;
    if (depth_first(&s, few_steps(&s)))
        return s.found;
    int end = deepen(&s, err);
    if (end < 0)
        return end;
    if (end == 0)
        knapsack->proven = false;
    return s.found;
}
