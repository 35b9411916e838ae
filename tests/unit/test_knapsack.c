/* knapsack: instances that depth-first search alone does not solve, against
 * the papers' table over the price. */
#include <gsl/gsl_rng.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "plan/knapsack.h"
#include "plan/knapsack_search.h"

#define TYPES 16
#define PIECES 30
#define FEW_PIECES 6 /* so few that the break type cannot make up for others */
#define INSTANCES 5
#define PATIENCE 100000000
#define DEPTH_FIRST 2001 /* steps before anything else is tried */

/* Many types of almost the same efficiency. With a base fee the number of
 * pieces narrows the bound, without it nothing does. */
static int64_t draw(gsl_rng *rng, double fee, uint32_t pieces,
                    struct bats_knapsack *knapsack)
{
    int64_t all = 0;

    knapsack->n = TYPES;
    knapsack->patience = PATIENCE;
    knapsack->proven = true;
    for (uint32_t i = 0; i < TYPES; i++) {
        int64_t price = 1000 + (int64_t)gsl_rng_uniform_int(rng, 100);
        double rate = (double)price / 3 + fee;
        if (fee <= 0)
            rate += 0.1 * gsl_rng_uniform(rng);
        knapsack->type[i] = (struct bats_knapsack_type){
            .price = price, .rate = rate, .max = pieces, .item = i};
        all += price * pieces;
    }
    bats_knapsack_sort(knapsack);
    return all / 8 + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)all / 4);
}

/* The most rate for every price up to `capacity`, piece by piece. */
static double table(const struct bats_knapsack *knapsack, int64_t capacity)
{
    double *best = calloc((size_t)capacity + 1, sizeof *best);
    assert_non_null(best);

    for (size_t i = 0; i < knapsack->n; i++) {
        const struct bats_knapsack_type *t = &knapsack->type[i];
        for (uint32_t piece = 0; piece < t->max; piece++)
            for (int64_t c = capacity; c >= t->price; c--)
                best[c] = fmax(best[c], best[c - t->price] + t->rate);
    }
    double most = best[capacity];
    free(best);
    return most;
}

static void check_answer(const struct bats_knapsack *knapsack,
                         int64_t capacity,
                         const struct bats_knapsack_answer *answer)
{
    int64_t price = 0;
    double rate = 0;

    for (size_t i = 0; i < knapsack->n; i++) {
        const struct bats_knapsack_type *t = &knapsack->type[i];
        assert_true(answer->counts[t->item] <= t->max);
        price += answer->counts[t->item] * t->price;
        rate += answer->counts[t->item] * t->rate;
    }
    assert_true(price <= capacity);
    assert_int_equal(price, answer->price);
    assert_true(fabs(rate - answer->rate) <= 1e-12 * rate);
}

static void check_hard(double fee, uint32_t pieces, int instances,
                       unsigned hard_least)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    unsigned n_hard = 0;

    gsl_rng_set(rng, 1994);
    for (int run = 0; run < instances; run++) {
        struct bats_knapsack knapsack;
        struct bats_knapsack_answer answer;
        int64_t capacity = draw(rng, fee, pieces, &knapsack);
        double most = table(&knapsack, capacity);

        assert_int_equal(
            bats_knapsack_search(&knapsack, capacity, 0, false, &answer, NULL),
            1);
        n_hard += knapsack.patience < PATIENCE - DEPTH_FIRST;
        check_answer(&knapsack, capacity, &answer);
        assert_true(fabs(answer.rate - most) <= 1e-11 * most);

        assert_int_equal(bats_knapsack_search(&knapsack, capacity,
                                              most * (1 - 1e-11), true,
                                              &answer, NULL),
                         1);
        check_answer(&knapsack, capacity, &answer);
        assert_true(answer.rate >= most * (1 - 1e-11));
        if (answer.cheapest)
            assert_true(table(&knapsack, answer.price - 1) <
                        most * (1 - 1e-11));
        assert_int_equal(bats_knapsack_search(&knapsack, capacity,
                                              most * (1 + 1e-11), true,
                                              &answer, NULL),
                         0);
        assert_true(knapsack.proven);
    }
    print_message("# %u of %d instances were not solved depth first\n", n_hard,
                  instances);
    assert_true(n_hard >= hard_least);
    gsl_rng_free(rng);
}

static void lists_equal_the_table_over_the_price(void **state)
{
    (void)state;
    check_hard(0, PIECES, INSTANCES, 5);
    check_hard(0, FEW_PIECES, 5 * INSTANCES, 5);
}

static void numbers_of_pieces_equal_the_table(void **state)
{
    (void)state;
    check_hard(700, PIECES, INSTANCES, 5);
    check_hard(700, FEW_PIECES, 5 * INSTANCES, 5);
    check_hard(700, 2, 20 * INSTANCES, 5);
    check_hard(700, 1, 20 * INSTANCES, 5);
    check_hard(1, FEW_PIECES, 5 * INSTANCES, 5); /* many numbers */
    check_hard(0.05, FEW_PIECES, 5 * INSTANCES, 5);
}

/* Out of patience, it still answers, but does not claim to have proved it. */
static void impatience_is_admitted(void **state)
{
    (void)state;
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    unsigned n_unproven = 0;

    gsl_rng_set(rng, 1994);
    for (int run = 0; run < 5 * INSTANCES; run++) {
        struct bats_knapsack knapsack;
        struct bats_knapsack_answer answer;
        int64_t capacity = draw(rng, 0, PIECES, &knapsack);

        knapsack.patience = 0;
        assert_int_equal(
            bats_knapsack_search(&knapsack, capacity, 0, false, &answer, NULL),
            1);
        check_answer(&knapsack, capacity, &answer);
        n_unproven += !knapsack.proven;
        double most = table(&knapsack, capacity);
        if (knapsack.proven)
            assert_true(fabs(answer.rate - most) <= 1e-11 * most);
        else
            assert_true(answer.rate <= most * (1 + 1e-11));
    }
    print_message("# %u of %d were not proven\n", n_unproven, 5 * INSTANCES);
    assert_true(n_unproven >= 1);
    gsl_rng_free(rng);
}

/* Two equally efficient types whose prices add up to few of the numbers. */
static void pairs_hit_what_can_be_hit(void **state)
{
    (void)state;
    for (int64_t capacity = 0; capacity <= 400; capacity++) {
        struct bats_knapsack knapsack = {
            .type = {{.price = 17, .rate = 34, .max = 12, .item = 0},
                     {.price = 11, .rate = 22, .max = 9, .item = 1}},
            .n = 2,
            .patience = PATIENCE,
            .proven = true};
        struct bats_knapsack_answer answer;
        bats_knapsack_sort(&knapsack);
        assert_int_equal(
            bats_knapsack_search(&knapsack, capacity, 0, false, &answer, NULL),
            1);
        check_answer(&knapsack, capacity, &answer);
        assert_true(fabs(answer.rate - table(&knapsack, capacity)) < 1e-9);
    }
}

/* ---- sums of equally efficient types, without a search before ---- */

#define EFFICIENCY 3.0

static void draw_sums(gsl_rng *rng, size_t n, uint32_t pieces, int64_t most,
                      struct bats_knapsack *knapsack, struct search *s)
{
    *knapsack =
        (struct bats_knapsack){.n = n, .patience = PATIENCE, .proven = true};
    *s = (struct search){.knapsack = knapsack, .n = n};
    for (uint32_t i = 0; i < n; i++) {
        int64_t price =
            1 + (int64_t)gsl_rng_uniform_int(rng, (unsigned long)most);
        uint32_t max = 1 + (uint32_t)gsl_rng_uniform_int(rng, pieces);
        knapsack->type[i] =
            (struct bats_knapsack_type){.price = price,
                                        .rate = EFFICIENCY * (double)price,
                                        .max = max,
                                        .item = i};
        s->price[i] = price;
        s->rate[i] = knapsack->type[i].rate;
        s->efficiency[i] = EFFICIENCY;
        s->width[i] = max;
        s->one[i] = i;
        s->capacity += max * price;
    }
}

/* What `n` types can spend, price by price. */
static bool *prices_of(const struct search *s, int64_t all)
{
    bool *can = calloc((size_t)all + 1, sizeof *can);

    assert_non_null(can);
    can[0] = true;
    for (size_t i = 0; i < s->n; i++)
        for (int64_t piece = 0; piece < s->width[i]; piece++)
            for (int64_t p = all; p >= s->price[i]; p--)
                can[p] = can[p] || can[p - s->price[i]];
    return can;
}

/* The dearest price within the capacity, and the cheapest from `least` on,
 * whose own rate just fails where it is itself a price. */
static void check_sums(struct search *s, const bool *can, int64_t least)
{
    struct bats_knapsack_answer answer;
    int64_t dearest = s->capacity, cheapest = least + 1;

    while (!can[dearest])
        dearest--;
    while (cheapest <= s->capacity && !can[cheapest])
        cheapest++;
    s->answer = &answer;
    s->any = s->found = false;
    s->target = 0;
    assert_int_equal(bats_knapsack_by_sums(s, NULL), 1);
    assert_true(s->found);
    assert_int_equal(answer.price, dearest);
    check_answer(s->knapsack, s->capacity, &answer);

    s->any = true;
    s->found = false;
    s->target = EFFICIENCY * (double)least * (1 + 4e-14);
    assert_int_equal(bats_knapsack_by_sums(s, NULL), 1);
    assert_int_equal(s->found, cheapest <= s->capacity);
    assert_int_equal(s->ended, s->found);
    if (s->found) {
        assert_int_equal(answer.price, cheapest);
        assert_true(answer.cheapest);
        check_answer(s->knapsack, s->capacity, &answer);
    }
}

static void sums_equal_the_table(void **state)
{
    (void)state;
    static const struct {
        size_t n;
        uint32_t pieces;
        int64_t price;
    } sizes[] = {{2, 3, 50},    {5, 4, 100},  {3, 300, 70},  {8, 40, 300},
                 {16, 6, 400},  {6, 5, 9000}, {4, 9, 20000}, {24, 2, 3000},
                 {5, 60, 2000}, {9, 3, 30000}};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);

    gsl_rng_set(rng, 1974);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (int run = 0; run < 6; run++) {
            struct bats_knapsack knapsack;
            struct search s;
            draw_sums(rng, sizes[i].n, sizes[i].pieces, sizes[i].price,
                      &knapsack, &s);
            int64_t all = s.capacity;
            bool *can = prices_of(&s, all);
            for (int share = 1; share < 16; share++) {
                s.capacity = all * share / 16;
                int64_t least = s.capacity - s.capacity / 50 - 1;
                check_sums(&s, can, least > 0 ? least : 0);
            }
            free(can);
        }
    gsl_rng_free(rng);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_equal_the_table_over_the_price),
        cmocka_unit_test(numbers_of_pieces_equal_the_table),
        cmocka_unit_test(impatience_is_admitted),
        cmocka_unit_test(pairs_hit_what_can_be_hit),
        cmocka_unit_test(sums_equal_the_table),
    };

    return cmocka_run_group_tests_name("knapsack", tests, NULL, NULL);
}
