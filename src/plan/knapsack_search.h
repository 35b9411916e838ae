/*
 * knapsack_search: the state of one search, shared by its methods.
 *
 * Layer: plan, private to knapsack.c and the other knapsack_*.c.
 */
#ifndef BATS_KNAPSACK_SEARCH_H
#define BATS_KNAPSACK_SEARCH_H

#include "plan/knapsack.h"

#define KNAPSACK_ROUNDING 1e-13 /* what sums in another order may differ by */

/* Whether bats_knapsack_by_sums is asked: first, instead of or not beside the
 * other methods. */
enum bats_knapsack_sums { SUMS_FIRST, SUMS_ONLY, WITHOUT_SUMS };

/* What is left to choose once the minima and all pieces that are free of
 * charge are taken. Types of the same price and rate are one here: x[i] of
 * 0..width[i], indices in the order of efficiency. */
struct search {
    struct bats_knapsack *knapsack;
    size_t n;
    int64_t price[BATS_CLUSTERS_MAX];
    double rate[BATS_CLUSTERS_MAX];
    double efficiency[BATS_CLUSTERS_MAX];
    int64_t width[BATS_CLUSTERS_MAX];
    int64_t
        divisor[BATS_CLUSTERS_MAX]; /* of the prices i .. n - 1, at least */
    size_t one[BATS_CLUSTERS_MAX]; /* the i that a knapsack's type went into */
    size_t flat; /* types flat .. n - 1 are equally efficient */
    int64_t half[BATS_CLUSTERS_MAX]; /* of what types i + 1 .. n - 1 can cost,
                                        if that is not above the capacity */
    int64_t capacity;
    double base_rate; /* of what is taken already */
    int64_t x[BATS_CLUSTERS_MAX];

    double target; /* what the next answer must reach */
    bool any, found, ended;
    enum bats_knapsack_sums sums; /* of this search and those made from it */
    int64_t steps;                /* that may still be taken */
    struct bats_knapsack_answer *answer;

    /* Where so many pieces are to be taken, neither more nor less: the search
     * for any number, its type that makes up the number, and the other types.
     * See knapsack_pieces.c. */
    struct search *parent;
    int64_t pieces;
    size_t pinned;
    size_t other[BATS_CLUSTERS_MAX];  /* index in the parent */
    bool left_out[BATS_CLUSTERS_MAX]; /* x[i] counts pieces not taken */
};

/* The most rate that types `from` .. n - 1 can bring if their pieces could be
 * divided. */
double bats_knapsack_relax(const struct search *s, size_t from,
                           int64_t capacity);

/* A choice with this bound cannot reach the target. */
bool bats_knapsack_hopeless(const struct search *s, double bound);

/* Takes the present x as the answer if it reaches the target, and raises the
 * target, or ends a search for any answer. False if x is not possible. */
bool bats_knapsack_offer(struct search *s);

/* 1 if all that reaches s->target has been looked at, 0 if the search had to
 * be given up, BATS_ENOMEM. */
int bats_knapsack_explore(struct search *s, struct bats_error *err);

/* The type of which the relaxation of the whole takes only some pieces, and
 * *left, the capacity for it; n if everything fits. */
size_t bats_knapsack_break(const struct search *s, int64_t *left);

/* The two numbers of pieces next to what the relaxation takes, fewer and more,
 * and the searches for just so many. */
struct bats_knapsack_pieces {
    size_t break_type;
    int64_t number[2];
    double
        most[2];  /* their bounds, and the bound of any number; INFINITY if */
    double bound; /*   that is not lower than the relaxation */
    struct search side[2];
};

void bats_knapsack_pieces_start(struct search *s,
                                struct bats_knapsack_pieces *p);

/* As bats_knapsack_explore, number by number if p->bound is finite. */
int bats_knapsack_by_pieces(struct search *s,
                            const struct bats_knapsack_pieces *p,
                            struct bats_error *err);

/* bats_knapsack_offer for a search that knapsack_pieces.c has made. */
bool bats_knapsack_offer_pieces(struct search *s);

/* Searches by lists of states. 1 if that came to an end, 0 if the lists grew
 * too long or the knapsack's patience ran out, BATS_ENOMEM. */
int bats_knapsack_by_lists(struct search *s, struct bats_error *err);

/* The same by sums of prices; 0, too, if not all types are equally efficient.
 * With s->any the answer is the cheapest that it can find. */
int bats_knapsack_by_sums(struct search *s, struct bats_error *err);

#endif
