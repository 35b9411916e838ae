/* See knapsack.h. */
#include "plan/knapsack.h"

#include <math.h>
#include <stdlib.h>

#define IMPROVEMENT 1e-12 /* a smaller relative gain does not count */
#define ROUNDING 1e-13    /* tolerance for the order of summation */
#define SAME 1e-15        /* relative tolerance for equal efficiencies */

/* Steps of one search, and of one that begins when the patience is used up.
 * Ten times as many give no noticeable improvement. */
#define STEPS 10000
#define LAST_STEPS 1000

struct search {
    struct bats_knapsack *knapsack;
    int64_t x[BATS_CLUSTERS_MAX]; /* pieces of each type */
    double target;                /* minimum of the next answer */
    int64_t steps;                /* steps left */
    bool any, found, ended;
    struct bats_knapsack_answer *answer;
};

static int by_efficiency(const void *a, const void *b)
{
    const struct bats_knapsack_type *s = a, *t = b;
    double left = s->rate * (double)t->price;
    double right = t->rate * (double)s->price;
    return left > right ? -1 : left < right;
}

/* The expensive one of equally efficient types comes first: the cheap ones
 * then fill the remaining gap. */
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

/* Greatest rate that the types from `first` on can add for `capacity`, beyond
 * their minima, if pieces were divisible. */
static double relax(const struct bats_knapsack *knapsack, size_t first,
                    double capacity)
{
    double rate = 0;
    for (size_t i = first; i < knapsack->n; i++) {
        const struct bats_knapsack_type *t = &knapsack->type[i];
        double width = t->max - t->min, price = (double)t->price;
        if (width * price > capacity)
            return rate + capacity / price * t->rate;
        rate += width * t->rate;
        capacity -= width * price;
    }
    return rate;
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
    return capacity < 0 ? -1 : rate + relax(knapsack, 0, capacity);
}

/* Takes the present x as the answer if it reaches the target. */
static void offer(struct search *s)
{
    struct bats_knapsack_answer a = {.price = 0};
    double rates[BATS_CLUSTERS_MAX] = {0};
    for (size_t t = 0; t < s->knapsack->n; t++) {
        const struct bats_knapsack_type *type = &s->knapsack->type[t];
        a.counts[type->item] = (uint32_t)s->x[t];
        a.price += s->x[t] * type->price;
        rates[type->item] = type->rate;
    }
    /* Summed in the order of items, so that an answer has the same rate
     * wherever it was found. */
    for (size_t i = 0; i < BATS_CLUSTERS_MAX; i++)
        a.rate += a.counts[i] * rates[i];
    if (a.rate < s->target)
        return;
    *s->answer = a;
    s->found = true;
    s->ended = s->any;
    s->target = a.rate * (1 + IMPROVEMENT);
}

/* Decides on type i and those after it. `capacity` is left for their pieces
 * beyond the minima; `rate` is that of the earlier pieces and of all
 * minima. */
static void descend(struct search *s, size_t i, int64_t capacity, double rate)
{
    if (i == s->knapsack->n) {
        offer(s);
        return;
    }
    const struct bats_knapsack_type *t = &s->knapsack->type[i];
    int64_t most = t->max - t->min;
    if (t->price > 0 && most > capacity / t->price)
        most = capacity / t->price;
    /* The bound falls with every piece left to less efficient types, so the
     * first hopeless number is the last one to try. */
    for (int64_t x = most; x >= 0 && !s->ended; x--) {
        int64_t left = capacity - x * t->price, of_use = left;
        double sum = rate + (double)x * t->rate;
        if (sum + relax(s->knapsack, i + 1, (double)left) <
            s->target * (1 - ROUNDING))
            return;
        if (--s->steps < 0) {
            s->ended = true;
            return;
        }
        /* The other types can only spend multiples of their divisor. */
        if (i + 1 < s->knapsack->n && t[1].divisor > 0)
            of_use -= left % t[1].divisor;
        s->x[i] = t->min + x;
        if (of_use == left ||
            sum + relax(s->knapsack, i + 1, (double)of_use) >=
                s->target * (1 - ROUNDING))
            descend(s, i + 1, left, sum);
    }
}

bool bats_knapsack_search(struct bats_knapsack *knapsack, int64_t capacity,
                          double target, bool any,
                          struct bats_knapsack_answer *answer)
{
    int64_t steps = knapsack->patience > 0 ? STEPS : LAST_STEPS;
    struct search s = {.knapsack = knapsack,
                       .target = target,
                       .steps = steps,
                       .any = any,
                       .answer = answer};
    double rate = 0;
    for (size_t i = 0; i < knapsack->n; i++) {
        const struct bats_knapsack_type *t = &knapsack->type[i];
        if (t->price > 0 && t->min > capacity / t->price)
            return false;
        capacity -= t->min * t->price;
        rate += t->min * t->rate;
    }
    descend(&s, 0, capacity, rate);
    knapsack->patience -= steps - s.steps;
    if (s.steps < 0)
        knapsack->proven = false;
    return s.found;
}
