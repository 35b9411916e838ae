/* See knapsack_sums.h. */
#include "plan/knapsack_sums.h"

#include <stdlib.h>
#include <string.h>

#define TRIES 16 /* pairs looked at for each sum */

static const struct sum_step *last_of(const struct sum_list *list)
{
    return &list->steps[list->n - 1];
}

size_t bats_knapsack_sums_n(const struct sums *l, int list)
{
    return last_of(&l->list[list])->n;
}

/* What a piece takes from the pinned type; -1 where the pieces not taken are
 * counted. */
static int64_t pinned_pieces(const struct search *s, size_t type)
{
    return !s->parent ? 0 : s->left_out[type] ? -1 : 1;
}

static bool is_before(const struct sum *a, const struct sum *b)
{
    if (a->rest != b->rest)
        return a->rest < b->rest;
    return a->turns != b->turns ? a->turns < b->turns : a->pinned < b->pinned;
}

/* ---- growing ---- */

static struct sum_step *add_step(struct sum_list *list, size_t n)
{
    struct sum_step *steps =
        realloc(list->steps, (list->n + 1) * sizeof *list->steps);

    if (!steps)
        return NULL;
    list->steps = steps;
    struct sum_step *step = &steps[list->n];
    *step = (struct sum_step){.sums = malloc(n * sizeof *step->sums)};
    if (!step->sums)
        return NULL;
    list->n++;
    return step;
}

bool bats_knapsack_sums_start(struct sums *l)
{
    for (int i = 0; i < 2; i++) {
        struct sum_step *step = add_step(&l->list[i], 1);
        if (!step)
            return false;
        step->sums[0] = (struct sum){.rest = 0};
        step->n = 1;
    }
    return true;
}

void bats_knapsack_sums_free(struct sums *l)
{
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < l->list[i].n; k++)
            free(l->list[i].steps[k].sums);
        free(l->list[i].steps);
    }
}

static struct sum sum_of(const struct sums *l, size_t type, int64_t pieces)
{
    int64_t price = pieces * l->s->price[type];
    struct sum sum = {.rest = price % l->modulus,
                      .turns = price / l->modulus,
                      .pinned = pieces * pinned_pieces(l->s, type)};

    if (sum.rest < 0) {
        sum.rest += l->modulus;
        sum.turns--;
    }
    return sum;
}

static inline struct sum add(struct sum a, const struct sum *b,
                             int64_t modulus)
{
    a.rest += b->rest;
    a.turns += b->turns;
    a.pinned += b->pinned;
    if (a.rest >= modulus) {
        a.rest -= modulus;
        a.turns++;
    }
    return a;
}

/* The first that is not before the sum. */
static size_t find(const struct sum_step *step, const struct sum *sum)
{
    size_t low = 0, high = step->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (is_before(&step->sums[middle], sum))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Appends a sum, the lowest rest first, unless it is there or of no use. */
static inline void append(struct sums *l, struct sum_step *step,
                          const struct sum *sum)
{
    int64_t price = sum->rest + sum->turns * l->modulus;

    if (price < l->least || price > l->most)
        return;
    if (step->n > 0) {
        const struct sum *last = &step->sums[step->n - 1];
        if (!is_before(last, sum))
            return;
        if (l->coarse && last->rest == sum->rest &&
            last->turns == sum->turns) {
            l->lossy = true;
            return;
        }
    }
    step->sums[step->n++] = *sum;
}

bool bats_knapsack_sums_double(struct sums *l, int list, size_t type,
                               int64_t pieces)
{
    size_t n = bats_knapsack_sums_n(l, list);
    struct sum_step *step = add_step(&l->list[list], 2 * n);

    if (!step)
        return false;
    step->type = type;
    step->pieces = pieces;
    const struct sum_step *old = step - 1;
    struct sum more = sum_of(l, type, pieces);
    /* With `more` the ascending order begins at the first sum that it brings
     * beyond the modulus. */
    struct sum beyond = {l->modulus - more.rest, INT64_MIN, INT64_MIN};
    size_t i = 0, from = find(old, &beyond) % n;
    struct sum with = add(old->sums[from], &more, l->modulus);
    for (size_t j = 0; j < n;) {
        if (i < n && is_before(&old->sums[i], &with)) {
            append(l, step, &old->sums[i++]);
            continue;
        }
        append(l, step, &with);
        from = ++j < n && from + 1 < n ? from + 1 : 0;
        with = add(old->sums[from], &more, l->modulus);
    }
    while (i < n)
        append(l, step, &old->sums[i++]);
    l->s->knapsack->patience -= (int64_t)n * 2;
    return true;
}

/* ---- putting together ---- */

/* Adds to s->x what the sum is made of. */
static void trace_back(struct sums *l, const struct sum_list *list,
                       struct sum sum)
{
    for (size_t i = list->n - 1; i > 0; i--) {
        const struct sum_step *step = &list->steps[i];
        size_t at = find(&step[-1], &sum);
        if (at < step[-1].n && !is_before(&sum, &step[-1].sums[at]))
            continue;
        l->s->x[step->type] += step->pieces;
        struct sum less = sum_of(l, step->type, -step->pieces);
        sum = add(sum, &less, l->modulus);
    }
}

static int64_t price_of(const struct sums *l)
{
    int64_t price = 0;

    for (size_t i = 0; i < l->s->n; i++)
        price += (l->s->x[i] - l->start[i]) * l->s->price[i];
    return price;
}

/* There are so many pieces of the filler, and of the pinned type as many as
 * are then missing. */
static bool is_possible(const struct sums *l, int64_t filler, int64_t pinned)
{
    const struct search *s = l->s;

    if (filler < -l->less || filler > l->more)
        return false;
    if (!s->parent)
        return true;
    int64_t left = l->pinned - pinned - filler * pinned_pieces(s, l->filler);
    return left >= 0 && left <= s->parent->width[s->pinned];
}

/* The best two sums whose rests are low to high together, and that take
 * `turns` turns with the filler. False if there are none. */
static bool find_pair(struct sums *l, int64_t low, int64_t high, int64_t turns,
                      struct sum *best)
{
    const struct sum_step *a = last_of(&l->list[0]);
    const struct sum_step *b = last_of(&l->list[1]);
    int64_t *patience = &l->s->knapsack->patience;
    bool found = false;

    *patience -= (int64_t)(a->n + b->n);
    for (size_t i = 0, j = b->n; i < a->n && low <= high; i++) {
        const struct sum *x = &a->sums[i];
        while (j > 0 && x->rest + b->sums[j - 1].rest > high)
            j--;
        for (size_t k = j; k > 0 && x->rest + b->sums[k - 1].rest >= low;
             k--) {
            const struct sum *y = &b->sums[k - 1];
            (*patience)--;
            l->hasty = --l->tries < 0;
            if (l->hasty)
                return found;
            if (!is_possible(l, turns - x->turns - y->turns,
                             x->pinned + y->pinned))
                continue;
            found = true;
            best[0] = *x;
            best[1] = *y;
            if (!l->s->any) {
                low = x->rest + y->rest + 1;
                break;
            }
            high = x->rest + y->rest - 1;
        }
    }
    return found;
}

static void offer(struct sums *l, const struct sum *best, int64_t filler)
{
    struct search *s = l->s;

    memcpy(s->x, l->start, sizeof s->x);
    trace_back(l, &l->list[0], best[0]);
    trace_back(l, &l->list[1], best[1]);
    s->x[l->filler] += filler;
    int64_t price = price_of(l);
    /* However little this is better than the last. */
    double before = s->target;
    s->target = l->target;
    s->ended = false;
    bats_knapsack_offer(s);
    l->found |= s->ended;
    if (s->target <= l->target)
        s->target = before;
    if (s->ended) /* any answer will do, but there may be a cheaper one */
        l->high = price - 1;
    else /* what is better is dearer; or a rate that is rounded just failed */
        l->low = price + 1;
}

/* Offers the best two sums of a price from low to high, which is less than the
 * modulus. */
static void pair_between(struct sums *l, int64_t low, int64_t high)
{
    struct sum best[2];
    int64_t first = low / l->modulus - (low % l->modulus < 0), filler = 0;
    bool found = false;

    /* Rests add up to less than two turns. */
    for (int64_t turns = first - 1; turns <= first + 1; turns++) {
        int64_t less = turns * l->modulus;
        if (!find_pair(l, low - less, high - less, turns, best))
            continue;
        found = true;
        filler = turns - best[0].turns - best[1].turns;
        if (l->s->any)
            high = best[0].rest + best[1].rest + less - 1;
        else
            low = best[0].rest + best[1].rest + less + 1;
    }
    if (found)
        offer(l, best, filler);
}

void bats_knapsack_sums_pair(struct sums *l)
{
    /* In so many prices a sum has about one other to make them. */
    int64_t width = l->modulus / (int64_t)bats_knapsack_sums_n(l, 0) + 1;
    int64_t low = l->low, high = l->high;

    l->hasty = false;
    l->tries =
        (int64_t)(bats_knapsack_sums_n(l, 0) + bats_knapsack_sums_n(l, 1)) *
        TRIES;
    if (l->thorough)
        l->tries = l->s->knapsack->patience;
    while (low <= high && !l->hasty) {
        int64_t more = high - low < width ? high - low : width - 1;
        if (l->s->any) {
            pair_between(l, low, low + more);
            /* Unless the cheapest of these just failed. */
            low = l->low > low ? l->low : low + more + 1;
        } else {
            pair_between(l, high - more, high);
            high -= more + 1;
            low = l->low;
        }
        high = high < l->high ? high : l->high;
        width = width < l->modulus / 4 ? width * 4 : l->modulus;
    }
}
