/*
 * knapsack_flat: the method of knapsack.h for types that are all equally
 * efficient.
 *
 * Only the price that is spent counts then: the greatest price is looked for
 * that is not above the capacity, or with `any` the least that reaches the
 * target. Prices are made of two lists of sums (Horowitz and Sahni), modulo the
 * price of one type that is in neither of them. Where there are many more
 * choices than prices, some pieces more or less of each type, around a choice
 * in the middle that spends about as much, soon make every price. Where there
 * are not, all sums that are not too dear fit into the lists.
 */
#include <math.h>

#include "plan/knapsack_sums.h"

#define FLAT 1e-14 /* of the bound: what a type may lose and be as efficient */
#define PRICE_MAX 0x1p60

#define DENSE 4              /* choices for each price */
#define FEW_PRICES (1 << 16) /* so few that many choices have the same one */

#define SHARE 8     /* a method may use this part of the patience */
#define PAIRED 2048 /* sums in both lists before they are first paired */
#define MIDDLE_MAX ((size_t)1 << 16) /* in a list, around the middle */
#define LIST_MAX ((size_t)1 << 19)

/* Where the sums begin, and what of them the lists are to have. */
enum method { MIDDLE, ALL, THOROUGH };

struct flat {
    struct search *s;
    int64_t cheapest, dearest;       /* prices still looked for */
    int64_t less[BATS_CLUSTERS_MAX]; /* pieces that may be taken away */
    int64_t more[BATS_CLUSTERS_MAX]; /* and added */
    int64_t part[BATS_CLUSTERS_MAX]; /* entered last; negative: taken away */
    int64_t entered[BATS_CLUSTERS_MAX];
    struct sums sums;
};

static int64_t price_of(const struct search *s, const int64_t *x)
{
    int64_t price = 0;

    for (size_t i = 0; i < s->n; i++)
        price += x[i] * s->price[i];
    return price;
}

/* ---- where the sums begin ---- */

/* What can be spent, or with *all what cannot, whichever is less. */
static int64_t price_to_choose(const struct search *s, bool *all)
{
    int64_t left = price_of(s, s->width) - s->capacity;

    *all = left < s->capacity;
    return *all ? left : s->capacity;
}

/* No piece, or all of them. */
static void start_at_an_end(struct flat *f)
{
    bool all;

    price_to_choose(f->s, &all);
    for (size_t i = 0; i < f->s->n; i++)
        f->sums.start[i] = all ? f->s->width[i] : 0;
}

/* To what is chosen every type gives about the same, but at most half of its
 * pieces. */
static void start_in_the_middle(struct flat *f)
{
    const struct search *s = f->s;
    bool all, done[BATS_CLUSTERS_MAX] = {false};
    int64_t left = price_to_choose(s, &all);

    for (size_t n = s->n; n > 0; n--) {
        size_t next = s->n;
        for (size_t i = 0; i < s->n; i++)
            if (!done[i] &&
                (next == s->n ||
                 s->width[i] * s->price[i] < s->width[next] * s->price[next]))
                next = i;
        int64_t pieces = left / (int64_t)n / s->price[next];
        if (pieces > s->width[next] / 2)
            pieces = s->width[next] / 2;
        left -= pieces * s->price[next];
        f->sums.start[next] = all ? s->width[next] - pieces : pieces;
        done[next] = true;
    }
}

/* How many pieces can be added or taken away, and what sums of them are of
 * use. */
static void set_range(struct flat *f)
{
    const struct search *s = f->s;
    struct sums *l = &f->sums;
    int64_t start = price_of(s, l->start);

    for (size_t i = 0; i < s->n; i++) {
        f->less[i] = l->start[i];
        f->more[i] = s->width[i] - l->start[i];
    }
    l->low = f->cheapest - start;
    l->high = f->dearest - start;
    l->least = l->low - price_of(s, f->more);
    l->most = l->high + price_of(s, f->less);
    for (size_t i = 0; i < s->n; i++) {
        int64_t less = -l->least / s->price[i], more = l->most / s->price[i];
        f->less[i] = f->less[i] < less ? f->less[i] : less;
        f->more[i] = f->more[i] < more ? f->more[i] : more;
    }
}

/* There are more choices around the start, as far in both directions, than
 * prices. */
static bool is_dense(const struct flat *f)
{
    double choices = 1, prices = 0;

    for (size_t i = 0; i < f->s->n; i++) {
        double pieces = 2 * fmin((double)f->less[i], (double)f->more[i]);
        choices *= 1 + pieces;
        prices += pieces * (double)f->s->price[i];
    }
    return choices > DENSE * prices;
}

/* The type of which most pieces can be taken: without it the lists are much
 * shorter. Where there are few prices, though, each sum would have too many
 * others of the right rest. */
static void set_filler(struct flat *f, bool none)
{
    const struct search *s = f->s;
    struct sums *l = &f->sums;
    int64_t most = -1;

    for (size_t i = 0; i < s->n; i++) {
        int64_t pieces = s->capacity / s->price[i];
        if (pieces > s->width[i])
            pieces = s->width[i];
        if (pieces > most ||
            (pieces == most && s->price[i] < s->price[l->filler])) {
            most = pieces;
            l->filler = i;
        }
    }
    l->modulus = none ? KNAPSACK_NO_FILLER : s->price[l->filler];
    if (none)
        return;
    l->less = f->less[l->filler];
    l->more = f->more[l->filler];
    f->less[l->filler] = f->more[l->filler] = 0;
}

static void set_pinned(struct sums *l)
{
    const struct search *s = l->s;

    l->pinned = s->pieces;
    for (size_t i = 0; i < s->n && s->parent; i++)
        l->pinned -= s->left_out[i] ? s->width[i] - l->start[i] : l->start[i];
}

/* False if that method is of no use. */
static bool begin(struct flat *f, enum method method)
{
    struct sums *l = &f->sums;
    bool few = f->s->capacity < FEW_PRICES;

    if (method == MIDDLE)
        start_in_the_middle(f);
    else
        start_at_an_end(f);
    set_range(f);
    if (method == MIDDLE && !is_dense(f))
        return false;
    l->coarse = method == ALL && few;
    l->thorough = method == THOROUGH;
    set_filler(f, l->thorough || l->coarse);
    set_pinned(l);
    return true;
}

/* ---- growing ---- */

/* The type whose next part is the cheapest, or around no middle the dearest
 * type; n if all pieces are in the lists. */
static size_t next_type(const struct flat *f, enum method method)
{
    const struct search *s = f->s;
    size_t best = s->n;
    double least = 0;

    for (size_t i = 0; i < s->n; i++) {
        double price = (double)s->price[i];
        price *= method == MIDDLE ? (double)(f->entered[i] + 1) : -1;
        if (f->less[i] + f->more[i] > 0 && (best == s->n || price < least)) {
            best = i;
            least = price;
        }
    }
    return best;
}

/* Some pieces of the type, so that any number up to all of them is a sum: to
 * be added, then to be taken away, and so on. */
static int64_t take_part(struct flat *f, size_t type)
{
    bool more =
        f->less[type] == 0 || (f->more[type] > 0 && f->part[type] <= 0);
    int64_t *room = more ? &f->more[type] : &f->less[type];
    int64_t pieces = f->entered[type] + 1;

    if (pieces > *room)
        pieces = *room;
    *room -= pieces;
    f->entered[type] += pieces;
    return f->part[type] = more ? pieces : -pieces;
}

/* 1 if nothing better is left, 0 if there may be, -1 if memory is short. */
static int grow(struct flat *f, enum method method)
{
    struct sums *l = &f->sums;
    size_t n_paired = PAIRED, type;

    if (!bats_knapsack_sums_start(l))
        return -1;
    while ((type = next_type(f, method)) < f->s->n) {
        size_t n[] = {bats_knapsack_sums_n(l, 0), bats_knapsack_sums_n(l, 1)};
        int shorter = n[1] < n[0];
        if (n[shorter] > (method == MIDDLE ? MIDDLE_MAX : LIST_MAX) ||
            f->s->knapsack->patience < 0)
            break;
        if (n[0] + n[1] > n_paired + n_paired / 2) {
            bats_knapsack_sums_pair(l);
            n_paired = n[0] + n[1];
            if (l->low > l->high || l->hasty)
                return !l->hasty;
        }
        int64_t part = take_part(f, type);
        if (!bats_knapsack_sums_double(l, shorter, type, part))
            return -1;
    }
    bats_knapsack_sums_pair(l);
    return l->low > l->high || (type == f->s->n && !l->hasty && !l->lossy);
}

/* ---- the search ---- */

/* Of the dearest type: its efficiency is the most exact. */
static double efficiency_of(const struct search *s)
{
    size_t dearest = 0;

    for (size_t i = 1; i < s->n; i++)
        if (s->price[i] > s->price[dearest])
            dearest = i;
    return s->rate[dearest] / (double)s->price[dearest];
}

static bool is_flat(const struct search *s)
{
    double efficiency = s->n > 0 ? efficiency_of(s) : 0;
    double bound = s->base_rate + bats_knapsack_relax(s, 0, s->capacity);
    double all = 0;

    for (size_t i = 0; i < s->n; i++) {
        double loss = fabs(s->rate[i] - efficiency * (double)s->price[i]);
        if (loss * (double)s->width[i] > bound * FLAT)
            return false;
        all += (double)s->width[i] * (double)s->price[i];
    }
    return efficiency > 0 && all < PRICE_MAX && (double)s->capacity < all;
}

/* All prices are multiples of their greatest common divisor. */
static void set_prices(struct flat *f)
{
    const struct search *s = f->s;
    double least = (s->target * (1 - KNAPSACK_ROUNDING) - s->base_rate) /
                   efficiency_of(s);
    int64_t divisor = 0;

    for (size_t i = 0; i < s->n; i++)
        divisor = bats_knapsack_gcd(s->price[i], divisor);
    f->cheapest = least > 0 ? (int64_t)ceil(least) : 0;
    f->cheapest += (divisor - f->cheapest % divisor) % divisor;
    f->dearest = s->capacity - s->capacity % divisor;
}

static int run(struct flat *f, enum method method)
{
    struct flat own = *f;

    if (!begin(&own, method))
        return 0;
    int end = own.sums.low > own.sums.high ? 1 : grow(&own, method);
    int64_t start = price_of(f->s, own.sums.start);
    f->cheapest = own.sums.low + start;
    f->dearest = own.sums.high + start;
    f->sums.found = own.sums.found;
    bats_knapsack_sums_free(&own.sums);
    return end;
}

int bats_knapsack_by_sums(struct search *s, struct bats_error *err)
{
    double bound = s->base_rate + bats_knapsack_relax(s, 0, s->capacity);
    struct search *root = s->parent ? s->parent : s;
    struct flat f = {.s = s, .sums = {.s = s, .target = s->target}};
    int64_t *patience = &s->knapsack->patience;
    int end = 0;

    if (!is_flat(s))
        return 0;
    if (bound <= s->target)
        return 1;
    set_prices(&f);
    for (enum method method = MIDDLE; method <= THOROUGH && end == 0;
         method++) {
        int64_t spare = *patience - *patience / SHARE;
        *patience -= spare;
        end = run(&f, method);
        *patience += spare;
    }
    s->ended = root->ended = s->any && f.sums.found;
    if (s->any)
        s->target = root->target = f.sums.target;
    if (s->ended)
        root->answer->cheapest = end > 0;
    if (end < 0)
        return bats_error_set(err, BATS_ENOMEM, "out of memory for a plan");
    return end > 0 || s->ended;
}
