/* Costs of machines that are billed by the second, and how long they last:
 * expected values by hand, by the published table, or added up second by
 * second. */
#include <math.h>

#include "bats/lifetime.h"
#include "bats/tariff.h"
#include "helpers/test.h"
#include "util/larger.h"

#define MICRO(x) ((bats_money)((x)*BATS_UNIT + 0.5))

/* Table I of Sampaio, Barbosa 2020: t2.medium. */
static const struct bats_tariff spot = {.per = BATS_HOUR,
                                        .n_steps = 1,
                                        .step = {{0, MICRO(.0139)}},
                                        .free = BATS_HOUR};
static const struct bats_tariff block = {.per = BATS_HOUR,
                                         .n_steps = 1,
                                         .step = {{0, MICRO(.0260)}},
                                         .shortest = BATS_HOUR,
                                         .longest = 6 * BATS_HOUR,
                                         .charge_longest = MICRO(.0320)};
/* Perlmutter's preempt: full price for two hours, a quarter after them. */
static const struct bats_tariff aged = {
    .per = BATS_HOUR,
    .n_steps = 2,
    .step = {{0, BATS_UNIT}, {2 * BATS_HOUR, BATS_UNIT / 4}}};

static const struct bats_tariff huge = {
    .per = 1, .n_steps = 1, .step = {{0, BATS_UNLIMITED / 2}}};

static bats_money cost(const struct bats_tariff *t, bats_time from,
                       bats_time to, enum bats_end end)
{
    return bats_tariff_cost(t, t->shortest, from, to, end);
}

#define MINUTES(n) ((n)*BATS_MINUTE)

TEST(machines_cost_as_the_rows_say)
{
    static const struct {
        const struct bats_tariff *tariff;
        bats_time from, to;
        enum bats_end end;
        bats_money cost;
    } rows[] = {
        /* Free if it is reclaimed in its first hour, but not later. */
        {&spot, 0, MINUTES(59), BATS_END_RECLAIMED, 0},
        {&spot, 0, MINUTES(60), BATS_END_RECLAIMED, 13900},
        {&spot, 0, MINUTES(90), BATS_END_RECLAIMED, 20850},
        {&spot, MINUTES(60), MINUTES(90), BATS_END_RECLAIMED, 6950},
        /* 100 s at .0139 an hour: 386.1 millionths; half a second is none. */
        {&spot, 0, MINUTES(30), BATS_END_USER, 6950},
        {&spot, 0, 100 * BATS_SECOND, BATS_END_USER, 387},
        {&spot, 0, 100 * BATS_SECOND + 499999, BATS_END_USER, 387},
        {&spot, 0, 100 * BATS_SECOND + 500000, BATS_END_USER, 390},
        /* The price falls with age. */
        {&aged, 0, MINUTES(120), BATS_END_USER, 2 * BATS_UNIT},
        {&aged, 0, MINUTES(360), BATS_END_RECLAIMED, 3 * BATS_UNIT},
        {&aged, MINUTES(90), MINUTES(150), BATS_END_USER, MICRO(.625)},
        {&huge, 0, MINUTES(60), BATS_END_USER, BATS_UNLIMITED}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_int_equal(
            cost(rows[i].tariff, rows[i].from, rows[i].to, rows[i].end),
            rows[i].cost);
}

TEST(what_is_certain_is_what_is_owed_if_it_is_reclaimed_now)
{
    assert_numbers("0 27800 1000000",
                   bats_tariff_certain(&spot, 0, BATS_HOUR - BATS_SECOND),
                   bats_tariff_certain(&spot, 0, 2 * BATS_HOUR),
                   bats_tariff_certain(&aged, 0, BATS_HOUR));
}

TEST(the_price_of_a_block_is_linear_between_its_ends)
{
    static const double per_hour[] = {.0260, .0272, .0284,
                                      .0296, .0308, .0320};
    for (int hours = 1; hours <= 6; hours++)
        assert_int_equal(bats_tariff_cost(&block, hours * BATS_HOUR, 0,
                                          BATS_HOUR, BATS_END_USER),
                         MICRO(per_hour[hours - 1]));
    assert_int_equal(bats_tariff_block(&block, 1), BATS_HOUR);
    assert_int_equal(bats_tariff_block(&block, BATS_HOUR), BATS_HOUR);
    assert_int_equal(bats_tariff_block(&block, BATS_HOUR + 1), 2 * BATS_HOUR);
    assert_int_equal(bats_tariff_block(&block, BATS_LONGEST), 6 * BATS_HOUR);
    assert_int_equal(bats_tariff_block(&spot, BATS_HOUR), 0);
}

/* Added up second by second. */
static double sum(const struct bats_tariff *t, int64_t from, int64_t to)
{
    double total = 0;
    for (int64_t second = from; second < to; second++) {
        uint32_t i = t->n_steps - 1;
        while (t->step[i].from > second * BATS_SECOND)
            i--;
        total +=
            (double)t->step[i].charge / (double)t->per * (double)BATS_SECOND;
    }
    return total;
}

/* The cost of these seconds. */
static bats_money used(const struct bats_tariff *t, int64_t from, int64_t to)
{
    return cost(t, from * BATS_SECOND, to * BATS_SECOND, BATS_END_USER);
}

TEST(costs_are_sums_and_never_fall)
{
    srand(11);
    for (int i = 0; i < 2000; i++) {
        struct bats_tariff t = {.per = rand() % 2 ? BATS_HOUR : BATS_MINUTE,
                                .n_steps = 1 + (uint32_t)rand() % 4};
        for (uint32_t k = 0; k < t.n_steps; k++)
            t.step[k] = (struct bats_tariff_step){
                k == 0 ? 0
                       : t.step[k - 1].from + (1 + rand() % 900) * BATS_SECOND,
                rand() % (5 * BATS_UNIT)};
        int64_t a = rand() % 1500, b = a + rand() % 1500, c = b + rand() % 100;
        bats_money ab = used(&t, a, b), bc = used(&t, b, c);
        assert_near((double)ab, sum(&t, a, b), 1.01);
        assert_true(ab >= 0 && bc >= 0);
        assert_int_equal(ab + bc, used(&t, a, c));
    }
}

/* 34 % of the machines are reclaimed, of these half before 1.5 h and 14 %
 * within 20 minutes (4.76 % of all). */
TEST(lifetimes_are_the_published_ones)
{
    struct bats_lifetime l = {.survival = BATS_SURVIVAL_LOGNORMAL,
                              .a = 90.0 * BATS_MINUTE,
                              .b = 1.39,
                              .share = .34};
    assert_near(bats_lifetime_cdf(&l, 90 * BATS_MINUTE), .17, 1e-9);
    assert_near(bats_lifetime_cdf(&l, 20 * BATS_MINUTE), .0476, 2e-4);
    assert_near(bats_lifetime_cdf(&l, BATS_LONGEST), .34, 1e-6);
    assert_int_equal(bats_lifetime_draw(&l, .34), BATS_NEVER);
    int taken = 0, early = 0, n = 100000;
    for (int i = 0; i < n; i++) {
        bats_time age = bats_lifetime_draw(&l, (i + .5) / n);
        taken += age != BATS_NEVER;
        early += age < 20 * BATS_MINUTE;
    }
    assert_true(abs(taken - 34000) <= 1 && abs(early - 4760) <= 50);
}

/* Three of four machines were reclaimed, at these ages. */
TEST(a_trace_has_its_own_ages_and_no_others)
{
    struct bats_lifetime l = {.survival = BATS_SURVIVAL_TRACE,
                              .share = .75,
                              .n_ages = 3,
                              .age = {10, 20, 50}};
    assert_near(bats_lifetime_cdf(&l, 9), 0, 1e-12);
    assert_near(bats_lifetime_cdf(&l, 10), .25, 1e-12);
    assert_near(bats_lifetime_cdf(&l, 49), .5, 1e-12);
    assert_near(bats_lifetime_cdf(&l, BATS_LONGEST), .75, 1e-12);
    int64_t list[] = {5, 1, 4, 2, 3};
    assert_int_equal(bats_thin_out(list, 5, 2), 2);
    assert_true(list[0] == 2 && list[1] == 4);
    static const bats_time ages[] = {10, 20, 50, BATS_NEVER};
    for (int i = 0; i < 400; i++)
        assert_true(bats_lifetime_draw(&l, (i + .5) / 400) == ages[i / 100]);
}

TEST(what_is_guaranteed_is_not_taken)
{
    struct bats_lifetime l = {.survival = BATS_SURVIVAL_EXPONENTIAL,
                              .a = (double)BATS_HOUR,
                              .share = 1,
                              .guaranteed = 2 * BATS_HOUR};
    assert_true(bats_lifetime_cdf(&l, 2 * BATS_HOUR - 1) == 0);
    assert_true(fabs(bats_lifetime_cdf(&l, 2 * BATS_HOUR) - (1 - exp(-2))) <
                1e-9);
    assert_int_equal(bats_lifetime_draw(&l, .1), 2 * BATS_HOUR);
    assert_true(bats_lifetime_draw(&l, .9) > 2 * BATS_HOUR);
}

TEST_MAIN(NULL, NULL)
