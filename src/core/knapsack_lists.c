/*
 * knapsack_lists: the second method of knapsack.h, lists of undominated
 * states. Each piece of memory is bounded; what does not fit is given up.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/knapsack_search.h"

/* States in one list, and in all lists together. */
#define LIST_MAX ((size_t)1 << 21)
#define TRACE_MAX ((size_t)1 << 25)

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
    bats_knapsack_offer(s);
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
    if (bats_knapsack_hopeless(s, state.rate - (double)state.excess * factor))
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
    l->s->knapsack->patience -= (int64_t)l->n_now * 2;
    if (l->n_traced > TRACE_MAX || l->s->knapsack->patience < 0)
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
        if (fits &&
            !bats_knapsack_hopeless(
                s, s->base_rate + (double)x * s->rate[type] +
                       bats_knapsack_relax(&rest, 0,
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

int bats_knapsack_by_lists(struct search *s, struct bats_error *err)
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
    memcpy(s->x, l.start, sizeof s->x);
    bats_knapsack_offer(s);
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
