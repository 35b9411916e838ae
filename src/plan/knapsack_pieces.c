/*
 * knapsack_pieces: the search of knapsack.h, one number of pieces at a time.
 *
 * Where every piece brings the same rate in addition to one that goes with its
 * price, the relaxation takes a fraction of a piece that no choice can: it is
 * too high by up to that rate, and nothing is ruled out. With the number of
 * pieces given the bound is tight. So if the relaxation takes q pieces,
 * floor(q) and ceil(q) are tried, then their neighbours, until none can reach
 * the target: as a function of the number, the relaxation is concave. (Bounds
 * from the number of pieces: Martello and Toth, "Upper bounds and algorithms
 * for hard 0-1 knapsack problems", Operations Research 45, 1997.)
 *
 * With q pieces x_b = q - sum(x_i), b being one of the types. What is left is
 * a knapsack of the others,
 *
 *   maximise    q rate_b + sum(x_i (rate_i - rate_b))
 *   subject to  sum(x_i (price_i - price_b)) <= capacity - q price_b
 *
 * in which the pieces of a type that is cheaper than b are counted where they
 * are not taken. Prices are small there, and so is the capacity. That
 * 0 <= x_b <= width_b is checked of each answer; without it every b gives a
 * bound, and that b is used which gives the lowest.
 */
#include <math.h>
#include <string.h>

#include "plan/knapsack_search.h"

#define NUMBERS_MAX 8       /* tried before it is given up */
#define LOWER (1 - 1e-10)   /* a bound that is lower by less is not */
#define IMPOSSIBLE (-1e300) /* bound */

/* The type is worth a place before the last one. */
static void insert(struct search *d, size_t i, int64_t price, double rate,
                   int64_t width, bool left_out)
{
    double efficiency = rate / (double)price;
    size_t at = d->n++;

    for (; at > 0 && (d->efficiency[at - 1] < efficiency); at--) {
        d->price[at] = d->price[at - 1];
        d->rate[at] = d->rate[at - 1];
        d->efficiency[at] = d->efficiency[at - 1];
        d->width[at] = d->width[at - 1];
        d->other[at] = d->other[at - 1];
        d->left_out[at] = d->left_out[at - 1];
    }
    d->price[at] = price;
    d->rate[at] = rate;
    d->efficiency[at] = efficiency;
    d->width[at] = width;
    d->other[at] = i;
    d->left_out[at] = left_out;
}

/* The search for `pieces` pieces with type b pinned. False if it cannot be
 * made. */
static bool pin(struct search *s, size_t b, int64_t pieces, struct search *d)
{
    *d = (struct search){.knapsack = s->knapsack,
                         .parent = s,
                         .pinned = b,
                         .pieces = pieces,
                         .any = s->any};
    d->capacity = s->capacity - pieces * s->price[b];
    d->base_rate = s->base_rate + (double)pieces * s->rate[b];
    for (size_t i = 0; i < s->n; i++) {
        int64_t price = s->price[i] - s->price[b];
        double rate = s->rate[i] - s->rate[b];
        if (i == b)
            continue;
        if (price == 0)
            return false;
        if (price > 0) {
            insert(d, i, price, rate, s->width[i], false);
            continue;
        }
        d->capacity -= s->width[i] * price;
        d->base_rate += (double)s->width[i] * rate;
        insert(d, i, -price, -rate, s->width[i], true);
    }
    d->flat = d->n;
    for (size_t i = 0; i < d->n; i++)
        d->divisor[i] = 1;
    return true;
}

/* The search for `pieces` pieces with the lowest bound, which is returned. */
static double narrow(struct search *s, size_t first, int64_t pieces,
                     struct search *best)
{
    double least = INFINITY;

    for (size_t i = 0; i < s->n; i++) {
        struct search d;
        /* The break type first: of equals it leaves least to be chosen. */
        size_t b = i == 0 ? first : i <= first ? i - 1 : i;
        if (!pin(s, b, pieces, &d))
            continue;
        if (d.capacity < 0)
            return IMPOSSIBLE;
        double bound = d.base_rate + bats_knapsack_relax(&d, 0, d.capacity);
        if (bound < least * LOWER) {
            least = bound;
            *best = d;
        }
    }
    return least;
}

bool bats_knapsack_offer_pieces(struct search *d)
{
    struct search *s = d->parent;
    int64_t left = d->pieces;

    for (size_t i = 0; i < d->n; i++) {
        size_t other = d->other[i];
        s->x[other] = d->left_out[i] ? d->width[i] - d->x[i] : d->x[i];
        left -= s->x[other];
    }
    if (left < 0 || left > s->width[d->pinned])
        return false;
    s->x[d->pinned] = left;
    s->target = d->target;
    s->ended = false;
    bats_knapsack_offer(s);
    d->target = s->target;
    d->ended = s->ended;
    return true;
}

void bats_knapsack_pieces_start(struct search *s,
                                struct bats_knapsack_pieces *p)
{
    int64_t left;
    size_t b = bats_knapsack_break(s, &left);
    double bound = s->base_rate + bats_knapsack_relax(s, 0, s->capacity);

    p->bound = INFINITY;
    if (b == s->n || s->parent)
        return;
    p->break_type = b;
    p->number[0] = left / s->price[b];
    for (size_t i = 0; i < b; i++)
        p->number[0] += s->width[i];
    p->number[1] = p->number[0] + 1;
    for (int i = 0; i < 2; i++)
        p->most[i] = narrow(s, b, p->number[i], &p->side[i]);
    double most = fmax(p->most[0], p->most[1]);
    if (most < bound * LOWER)
        p->bound = most;
}

int bats_knapsack_by_pieces(struct search *s,
                            const struct bats_knapsack_pieces *start,
                            struct bats_error *err)
{
    struct bats_knapsack_pieces p = *start;

    if (isinf(p.bound))
        return bats_knapsack_explore(s, err);
    s->ended = false;
    for (int tries = 0; tries < NUMBERS_MAX; tries++) {
        int next = p.most[1] > p.most[0];
        if (isinf(p.most[next]))
            break;
        if (bats_knapsack_hopeless(s, p.most[next]))
            return 1;
        p.side[next].target = s->target;
        int end = bats_knapsack_explore(&p.side[next], err);
        bool ended = s->ended;
        if (end < 0)
            return end;
        if (end == 0 && !ended)
            break;
        p.number[next] += next ? 1 : -1;
        p.most[next] =
            p.number[next] < 0
                ? IMPOSSIBLE
                : narrow(s, p.break_type, p.number[next], &p.side[next]);
        if (!ended)
            continue;
        /* The cheapest of this number. */
        if (!bats_knapsack_hopeless(s, fmax(p.most[0], p.most[1])))
            s->answer->cheapest = false;
        return 1;
    }
    return bats_knapsack_explore(s, err);
}
