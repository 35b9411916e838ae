/*
 * knapsack_lists: the second method of knapsack.h, two lists of undominated
 * states that are put together at the end.
 *
 * With e = rate / price of the break type, the bound is U = capacity x e + sum
 * over the more efficient types of width x (rate - e price), and any choice is
 *
 *   U - sum(pieces that differ from the relaxation x |rate - e price|)
 *     - e x the price that is not spent
 *
 * Pieces of the break type cost nothing: there are as many as still fit. So of
 * the other types only the price modulo that of the break type matters, and a
 * choice among them is a state (remainder, loss). What loses more than the
 * target allows is not even listed. The types are dealt out to two lists;
 * for each state of one the best partner in the other is the one that leaves
 * least unspent, because in a list without dominated states a greater
 * remainder is worth its loss.
 *
 * Where there is room for few pieces only, or all but few are taken, whole
 * prices are listed, none of them beyond that room: then all there is fits
 * into the lists.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plan/knapsack_search.h"

/* States in one list, and in all steps together. */
#define LIST_MAX ((size_t)1 << 21)
#define TRACE_MAX ((size_t)1 << 25)
#define NO_MODULUS ((int64_t)1 << 62)
#define LITTLE_ROOM 128 /* pieces */
#define FLAT 1e-14      /* all that a type can lose, of the bound */

/* Pairs that turn out not to be possible before no more are tried. */
#define IMPOSSIBLE_MAX 1000

/* In a list the remainders ascend, and no state is worth less than one
 * before it: loss grows by less than e x remainder. */
struct state {
    int64_t remainder; /* of the price added to that of the start */
    double loss;
};

/* One doubling of a list: each state came from state `from >> 1` of the list
 * before it, with or without (from & 1) `pieces` pieces of `type`. */
struct step {
    size_t type;
    int64_t pieces; /* negative: taken away */
    uint32_t *from;
};

struct list {
    struct state *now, *next;
    size_t n_now, n_next, capacity; /* of both */
    struct step *steps;
    size_t n_steps;
};

struct lists {
    struct search *s;
    struct list list[2];
    size_t n_traced;
    size_t break_type;
    double efficiency; /* of the break type */
    double bound;      /* U */
    double least;      /* lost by the best choice so far */
    int64_t modulus;   /* price of the break type, or NO_MODULUS */
    int64_t unspent;   /* of the start, modulo the modulus */
    int64_t least_spent, most_spent;  /* by a state, with no modulus */
    double room[2];                   /* for pieces added, taken away */
    int64_t start[BATS_CLUSTERS_MAX]; /* x of the start: nothing or all */
    bool full;
    bool possible; /* what the last pairing found best, if anything */
};

/* More than this must not be lost. */
static double loss_allowed(const struct lists *l)
{
    return fmin(l->bound - l->s->target * (1 - KNAPSACK_ROUNDING), l->least);
}

/* Nothing can be better. */
static bool is_perfect(const struct lists *l)
{
    return l->s->ended || loss_allowed(l) <= l->bound * KNAPSACK_ROUNDING;
}

static double loss_of(const struct lists *l, size_t type)
{
    const struct search *s = l->s;
    return fabs(s->rate[type] - l->efficiency * (double)s->price[type]);
}

/* Pieces of the type that may differ from the relaxation. */
static int64_t reach(struct lists *l, size_t type)
{
    double most = loss_allowed(l) / loss_of(l, type);
    int64_t width = l->s->width[type];
    if (l->modulus == NO_MODULUS)
        most = fmin(most,
                    l->room[l->start[type] > 0] / (double)l->s->price[type]);
    if (most < (double)width)
        width = (int64_t)fmax(most, 0);
    return width;
}

/* ---- growing ---- */

/* With no modulus a remainder from the half of it on is a price saved. */
static bool has_room(const struct lists *l, int64_t remainder)
{
    if (l->modulus != NO_MODULUS)
        return true;
    if (remainder >= NO_MODULUS / 2)
        remainder -= NO_MODULUS;
    return remainder >= l->least_spent && remainder <= l->most_spent;
}

/* Appends a state, least remainder first, unless it is dominated or loses too
 * much. */
static inline void append(struct lists *l, struct list *list,
                          struct state state, double allowed, uint32_t from)
{
    if (state.loss > allowed || !has_room(l, state.remainder))
        return;
    if (list->n_next > 0) {
        const struct state *last = &list->next[list->n_next - 1];
        double more = (double)(state.remainder - last->remainder);
        if (state.loss - last->loss >= more * l->efficiency)
            return;
        if (state.remainder == last->remainder)
            list->n_next--;
    }
    if (list->n_next == LIST_MAX) {
        l->full = true;
        return;
    }
    list->next[list->n_next] = state;
    list->steps[list->n_steps - 1].from[list->n_next++] = from;
}

static bool make_room(struct list *list)
{
    size_t most = 2 * list->n_now < LIST_MAX ? 2 * list->n_now : LIST_MAX;
    struct step *step = &list->steps[list->n_steps - 1];

    if (most > list->capacity) {
        struct state *now = realloc(list->now, most * sizeof *now);
        if (now)
            list->now = now;
        struct state *next = realloc(list->next, most * sizeof *next);
        if (next)
            list->next = next;
        if (!now || !next)
            return false;
        list->capacity = most;
    }
    step->from = malloc(most * sizeof *step->from);
    return step->from != NULL;
}

/* The first state that `more` brings up to the modulus or beyond: with `more`,
 * the ascending order begins there. */
static size_t first_beyond(const struct lists *l, const struct list *list,
                           int64_t more)
{
    size_t low = 0, high = list->n_now;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->now[middle].remainder >= l->modulus - more)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

/* State i with `more` and `loss`; `turn` is the first that this brings beyond
 * the modulus. */
static inline struct state shifted(const struct list *list, size_t i,
                                   size_t turn, int64_t more, double loss,
                                   int64_t modulus)
{
    struct state s = list->now[i];
    s.remainder += i >= turn ? more - modulus : more;
    s.loss += loss;
    return s;
}

/* Doubles the list: every state without and with `pieces` of `type`. */
static bool double_list(struct lists *l, struct list *list, size_t type,
                        int64_t pieces, double loss)
{
    l->s->knapsack->patience -= (int64_t)list->n_now * 2;
    l->full = l->s->knapsack->patience < 0 || l->n_traced > TRACE_MAX;
    if (l->full)
        return true;
    struct step *steps =
        realloc(list->steps, (list->n_steps + 1) * sizeof *steps);
    if (!steps)
        return false;
    list->steps = steps;
    list->steps[list->n_steps++] =
        (struct step){.type = type, .pieces = pieces};
    if (!make_room(list))
        return false;

    int64_t more = pieces * l->s->price[type] % l->modulus;
    if (more < 0)
        more += l->modulus;
    double allowed = loss_allowed(l);
    size_t n = list->n_now, turn = first_beyond(l, list, more);
    size_t i = 0, from = turn % n;
    struct state with = shifted(list, from, turn, more, loss, l->modulus);
    list->n_next = 0;
    for (size_t j = 0; j < n && !l->full;) {
        if (i < n && list->now[i].remainder <= with.remainder) {
            append(l, list, list->now[i], allowed, (uint32_t)(i << 1));
            i++;
            continue;
        }
        append(l, list, with, allowed, (uint32_t)(from << 1 | 1));
        from = ++j < n && from + 1 < n ? from + 1 : 0;
        with = shifted(list, from, turn, more, loss, l->modulus);
    }
    for (; i < n && !l->full; i++)
        append(l, list, list->now[i], allowed, (uint32_t)(i << 1));
    l->n_traced += list->n_next;

    struct state *swap = list->now;
    list->now = list->next;
    list->next = swap;
    list->n_now = list->n_next;
    return true;
}

/* ---- putting together ---- */

static void trace_back(struct search *s, const struct list *list, size_t at)
{
    uint32_t from = 0;
    for (size_t i = list->n_steps; i-- > 0;) {
        from = list->steps[i].from[i + 1 == list->n_steps ? at : from >> 1];
        if (from & 1)
            s->x[list->steps[i].type] += list->steps[i].pieces;
    }
}

/* False if that takes more pieces of the break type than there are, or less
 * than none. */
static bool offer(struct lists *l, const size_t *at)
{
    struct search *s = l->s;
    int64_t left = s->capacity;
    size_t b = l->break_type;

    memcpy(s->x, l->start, sizeof s->x);
    trace_back(s, &l->list[0], at[0]);
    trace_back(s, &l->list[1], at[1]);
    for (size_t i = 0; i < s->n; i++)
        left -= s->x[i] * s->price[i];
    if (l->modulus != NO_MODULUS) {
        if (left < 0 || left / s->price[b] > s->width[b])
            return false;
        s->x[b] = left / s->price[b];
    }
    return bats_knapsack_offer(s);
}

/* How many of the first `most` states add no more than `left` to the
 * remainder; mostly nearly all of them. */
static size_t count_within(const struct list *list, size_t most, int64_t left)
{
    size_t low = most, high = most;

    for (size_t step = 1; low > 0 && list->now[low - 1].remainder > left;
         step *= 2) {
        high = low - 1;
        low = low > step ? low - step : 0;
    }
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->now[middle].remainder <= left)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* What the two states lose together, `unspent` included. */
static double loss_of_pair(const struct lists *l, const struct state *a,
                           const struct state *b, int64_t unspent)
{
    return a->loss + b->loss + l->efficiency * (double)unspent;
}

/* Offers the best pair of states that is possible. False if one that is not
 * would have been better: then nothing is known of the second best. */
static bool pair(struct lists *l)
{
    const struct list *a = &l->list[0], *b = &l->list[1];
    double least = nextafter(loss_allowed(l), INFINITY), impossible = INFINITY;
    unsigned tries = IMPOSSIBLE_MAX;

    /* The states of b that add no more than what is left: fewer and fewer, but
     * for one turn of the remainder. */
    size_t within = 0;
    int64_t before = -1;

    for (size_t i = 0; i < a->n_now && !l->s->ended; i++) {
        int64_t left = l->unspent - a->now[i].remainder;
        if (left < 0)
            left += l->modulus;
        if (left > before)
            within = b->n_now;
        before = left;
        within = count_within(b, within, left);
        /* Or the last state of all, and a piece less of the break type. */
        size_t other[] = {within > 0 ? within - 1 : b->n_now, b->n_now - 1};
        for (int turn = 0; turn < 2; turn++) {
            if (other[turn] == b->n_now)
                continue;
            const struct state *with = &b->now[other[turn]];
            double loss =
                loss_of_pair(l, &a->now[i], with,
                             left - with->remainder + turn * l->modulus);
            if (loss >= least)
                continue;
            if (tries > 0 && offer(l, (size_t[]){i, other[turn]})) {
                least = l->least = loss;
                continue;
            }
            impossible = fmin(impossible, loss);
            tries -= tries > 0;
        }
    }
    l->s->knapsack->patience -= (int64_t)a->n_now;
    return impossible >= least;
}

/* ---- the search ---- */

static bool is_flat(const struct lists *l, size_t type)
{
    return loss_of(l, type) * (double)l->s->width[type] <= l->bound * FLAT;
}

/* What a state may add to the price of the start: what it adds can be saved
 * elsewhere only where the start takes pieces, and the other way round. */
static void set_room(struct lists *l)
{
    double allowed = fmax(loss_allowed(l), 0) / l->efficiency;
    double least = (double)l->unspent - allowed, most = (double)l->unspent;
    double saved = 0, added = 0;

    l->room[0] = l->room[1] = INFINITY;
    for (size_t i = 0; i < l->s->n; i++) {
        double part = (double)reach(l, i) * (double)l->s->price[i];
        if (l->start[i] > 0)
            saved += part;
        else
            added += part;
    }
    most += saved;
    least -= added;
    l->room[0] = most + saved;
    l->room[1] = added - least;
    l->least_spent = least > -0x1p60 ? (int64_t)floor(least) : -NO_MODULUS;
    l->most_spent = most < 0x1p60 ? (int64_t)ceil(most) : NO_MODULUS;
}

/* The relaxation without its part of a piece; of the break type there are as
 * many pieces as the modulus leaves. With no modulus it is one of the types
 * that lose nothing: none of their pieces is taken, or all if that is nearer.
 */
static bool begin(struct lists *l)
{
    struct search *s = l->s;
    int64_t flat = 0;

    l->unspent = s->capacity;
    for (size_t i = 0; i < s->n; i++) {
        if (l->modulus == NO_MODULUS && is_flat(l, i)) {
            flat += s->width[i] * s->price[i];
        } else if (i < l->break_type) {
            l->start[i] = s->width[i];
            l->unspent -= s->width[i] * s->price[i];
        }
    }
    if (flat - l->unspent < l->unspent) {
        l->unspent -= flat;
        for (size_t i = 0; i < s->n; i++)
            if (flat > 0 && is_flat(l, i))
                l->start[i] = s->width[i];
    }
    for (int i = 0; i < 2; i++) {
        struct list *list = &l->list[i];
        list->capacity = list->n_now = 1;
        list->now = calloc(1, sizeof *list->now);
        list->next = calloc(1, sizeof *list->next);
        if (!list->now || !list->next)
            return false;
    }
    if (l->modulus == NO_MODULUS)
        set_room(l);
    l->unspent %= l->modulus;
    if (l->unspent < 0)
        l->unspent += l->modulus;
    return true;
}

/* Some pieces of a type, to be taken or not. Twice as many each time, and any
 * number up to the reach is a sum. */
struct part {
    size_t type;
    int64_t pieces; /* 0: there is none */
    double loss;
};

/* Of parts that lose nothing: few pieces of each type soon make many
 * remainders; where there is room for few, the dear ones soon fill it. */
static bool comes_before(const struct lists *l, const struct part *a,
                         const struct part *b)
{
    if (l->modulus != NO_MODULUS)
        return a->pieces < b->pieces;
    return l->s->price[a->type] > l->s->price[b->type];
}

/* Of the types' next parts the one that loses least. */
static struct part next_part(struct lists *l, const int64_t *entered)
{
    struct part best = {.pieces = 0};

    for (size_t i = 0; i < l->s->n; i++) {
        int64_t left = reach(l, i) - entered[i];
        struct part part = {.type = i, .pieces = entered[i] + 1};
        if (part.pieces > left)
            part.pieces = left;
        if (!is_flat(l, i))
            part.loss = (double)part.pieces * loss_of(l, i);
        if ((l->modulus != NO_MODULUS && i == l->break_type) || left <= 0)
            continue;
        if (best.pieces == 0 || part.loss < best.loss ||
            (part.loss <= best.loss && comes_before(l, &part, &best)))
            best = part;
    }
    return best;
}

/* False if memory is short. */
static bool grow(struct lists *l)
{
    int64_t entered[BATS_CLUSTERS_MAX] = {0};
    size_t n_paired = 0;
    struct part part;

    if (!begin(l))
        return false;
    l->possible = pair(l);
    while ((part = next_part(l, entered)).pieces > 0 && !is_perfect(l)) {
        struct list *shorter =
            &l->list[l->list[1].n_now < l->list[0].n_now ? 1 : 0];
        int sign = l->start[part.type] > 0 ? -1 : 1;
        double loss = (double)part.pieces * loss_of(l, part.type);
        if (!double_list(l, shorter, part.type, sign * part.pieces, loss))
            return false;
        entered[part.type] += part.pieces;
        if (l->full)
            return true;
        size_t n = l->list[0].n_now + l->list[1].n_now;
        if (n > n_paired + n_paired / 2) {
            l->possible = pair(l);
            n_paired = n;
        }
    }
    if (!is_perfect(l))
        l->possible = pair(l);
    return true;
}

/* 1 if nothing better is left, 0 if there may be, -1 if memory is short. */
static int run(struct lists l, int64_t modulus)
{
    l.modulus = modulus;
    bool enough = grow(&l);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < l.list[i].n_steps; k++)
            free(l.list[i].steps[k].from);
        free(l.list[i].steps);
        free(l.list[i].now);
        free(l.list[i].next);
    }
    if (!enough)
        return -1;
    return is_perfect(&l) || (l.possible && !l.full);
}

/* There is room for few pieces of the types that lose nothing, by the dearest
 * of them, or for nearly all. */
static bool has_little_room(const struct lists *l)
{
    const struct search *s = l->s;
    double left = (double)s->capacity, all = 0;
    int64_t dearest = 0;

    for (size_t i = 0; i < s->n; i++) {
        double part = (double)s->width[i] * (double)s->price[i];
        if (is_flat(l, i)) {
            all += part;
            if (s->price[i] > dearest)
                dearest = s->price[i];
        } else if (i < l->break_type) {
            left -= part;
        }
    }
    return fmin(left, all - left) < LITTLE_ROOM * (double)dearest;
}

int bats_knapsack_by_lists(struct search *s, struct bats_error *err)
{
    int64_t left;
    size_t b = bats_knapsack_break(s, &left);
    int end = 0;

    s->ended = false;
    if (b == s->n) { /* everything fits */
        memcpy(s->x, s->width, sizeof s->x);
        return bats_knapsack_offer(s);
    }
    if (s->rate[b] <= 0)
        return 0;
    struct lists l = {.s = s,
                      .break_type = b,
                      .efficiency = s->efficiency[b],
                      .least = INFINITY,
                      .possible = true};
    l.bound = s->base_rate + bats_knapsack_relax(s, 0, s->capacity);
    bool little = has_little_room(&l);
    if (little)
        end = run(l, NO_MODULUS);
    if (end == 0)
        end = run(l, s->price[b]);
    if (end == 0 && !little)
        end = run(l, NO_MODULUS);
    if (end < 0)
        return bats_error_set(err, BATS_ENOMEM, "out of memory for a plan");
    return end;
}
