/* knapsack: against the papers' table over the price, on instances that a
 * depth-first search does not finish, too. */
#include <gsl/gsl_rng.h>
#include <math.h>

#include "helpers/test.h"
#include "plan/knapsack.h"

#define TYPES 16
#define PIECES 30
#define INSTANCES 25
#define PATIENCE 100000000

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

/* The most rate for every price up to `capacity`. Of each type there are lots of
 * 1, 2, 4 .. pieces and one of the rest, whose sums are all numbers of pieces. */
static double table(const struct bats_knapsack *knapsack, int64_t capacity)
{
    double *best = calloc((size_t)capacity + 1, sizeof *best);
    assert_non_null(best);

    for (size_t i = 0; i < knapsack->n; i++) {
        const struct bats_knapsack_type *t = &knapsack->type[i];
        uint32_t left = t->max;
        for (uint32_t lot = 1; left > 0; left -= lot, lot *= 2) {
            lot = lot < left ? lot : left;
            for (int64_t c = capacity; c >= lot * t->price; c--) {
                double with = best[c - lot * t->price] + lot * t->rate;
                best[c] = with > best[c] ? with : best[c];
            }
        }
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

/* Checks the answer for the most rate, the first answer of a rate that is
 * just possible, and that of one that is not. Returns what is lost of the most
 * rate, relative to it. */
static double check_searches(struct bats_knapsack *knapsack, int64_t capacity)
{
    struct bats_knapsack_answer answer;
    double most = table(knapsack, capacity);
    assert_true(bats_knapsack_search(knapsack, capacity, 0, false, &answer));
    check_answer(knapsack, capacity, &answer);
    assert_true(answer.rate <= most * (1 + 1e-11));
    double loss = 1 - answer.rate / most;
    assert_true(bats_knapsack_search(
        knapsack, capacity, answer.rate * (1 - 1e-11), true, &answer));
    check_answer(knapsack, capacity, &answer);
    assert_false(bats_knapsack_search(knapsack, capacity, most * (1 + 1e-11),
                                      true, &answer));
    return loss;
}

TEST(answers_equal_the_table_over_the_price)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 1974);
    for (int run = 0; run < 20 * INSTANCES; run++) {
        struct bats_knapsack knapsack;
        draw(rng, 0, PIECES, &knapsack);
        knapsack.n = 1 + gsl_rng_uniform_int(rng, 6);
        for (size_t i = 0; i < knapsack.n; i++)
            knapsack.type[i].rate = 0.5 + gsl_rng_uniform(rng);
        bats_knapsack_sort(&knapsack);
        int64_t capacity =
            1100 + (int64_t)gsl_rng_uniform_int(rng, 1000 * PIECES);
        assert_true(check_searches(&knapsack, capacity) <= 1e-11);
        assert_true(knapsack.proven);
    }
    gsl_rng_free(rng);
}

/* With a base fee no bound is sharp; without one, nothing is. */
TEST(what_is_not_proven_is_nearly_the_best)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    unsigned n_unproven = 0;
    double worst = 0;
    gsl_rng_set(rng, 1994);
    for (int run = 0; run < INSTANCES; run++) {
        struct bats_knapsack knapsack;
        int64_t capacity = draw(rng, run % 2 ? 700 : 0, PIECES, &knapsack);
        double loss = check_searches(&knapsack, capacity);
        if (knapsack.proven)
            assert_true(loss <= 1e-11);
        n_unproven += !knapsack.proven;
        worst = fmax(worst, loss);
    }
    print_message("# %u of %d were not proven, the worst lost %.2g\n",
                  n_unproven, INSTANCES, worst);
    assert_true(n_unproven >= 5);
    assert_true(worst <= 0.01);
    gsl_rng_free(rng);
}

/* A caller that asks many questions in turn waits for a bounded time. */
TEST(a_search_ends_after_a_bounded_number_of_steps)
{
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    gsl_rng_set(rng, 1994);
    for (int run = 0; run < INSTANCES; run++) {
        struct bats_knapsack knapsack;
        struct bats_knapsack_answer answer;
        int64_t capacity = draw(rng, 0, PIECES, &knapsack);
        assert_true(
            bats_knapsack_search(&knapsack, capacity, 0, false, &answer));
        assert_true(PATIENCE - knapsack.patience <= 20000);
        knapsack.patience = 0;
        assert_true(
            bats_knapsack_search(&knapsack, capacity, 0, false, &answer));
        check_answer(&knapsack, capacity, &answer);
        assert_true(-knapsack.patience <= 2000);
    }
    gsl_rng_free(rng);
}

TEST_MAIN(NULL, NULL)
