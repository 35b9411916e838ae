/* factors: runtimes explained by the numbers of a sweep. */
#include <math.h>

#include "bats/factors.h"
#include "helpers/test.h"

/* From -1 to 1, the same numbers on every machine. */
static double noise(uint32_t i)
{
    return (double)(i * UINT32_C(1103515245) % 20011) / 10005.5 - 1;
}

/* Tasks i = 0 .. tasks - 1 with x = i + 1. */
static struct bats_factors measure(uint32_t tasks,
                                   double (*time)(uint32_t i, double x))
{
    struct bats_factors f = {.n = 1};
    for (uint32_t i = 0; i < tasks; i++) {
        double x = i + 1;
        bats_factors_note(&f, i, &x, time(i, x));
    }
    return f;
}

static double line(uint32_t i, double x)
{
    return (30 + 2 * x) * (1 + 0.05 * noise(i));
}

static double square(uint32_t i, double x)
{
    return 0.5 * x * x * (1 + 0.2 * noise(i));
}

static double chance(uint32_t i, double x)
{
    return 100 * (1 + 0.9 * noise(i));
}

TEST(a_line_and_a_power_are_found)
{
    struct bats_factors f = measure(40, line);
    struct bats_factor_model m = bats_factors_fit(&f);
    assert_true(m.is_there && !m.has_logs);
    assert_near(m.b[0], 30, 2);
    assert_near(m.b[1], 2, 0.1);
    assert_near(bats_factors_at(&m, &(double){100}), 230, 10);
    assert_near(bats_factors_level(&m, &f), 1, 1e-9);
    f = measure(40, square);
    m = bats_factors_fit(&f);
    assert_true(m.is_there && m.has_logs);
    assert_near(m.b[1], 2, 0.1);
    assert_near(bats_factors_at(&m, &(double){100}), 5000, 700);
}

TEST(noise_explains_nothing_and_neither_do_few)
{
    for (uint32_t n = 10; n <= 1000; n *= 10) {
        struct bats_factors f = measure(n, chance);
        assert_false(bats_factors_fit(&f).is_there);
    }
    struct bats_factors f = measure(9, line);
    assert_false(bats_factors_fit(&f).is_there);
    f = measure(0, line);
    assert_false(bats_factors_fit(&f).is_there);
    f.n = 0;
    assert_false(bats_factors_fit(&f).is_there);
}

TEST(bags_of_slower_machines_are_added_up)
{
    struct bats_factors all = {.n = 1}, slow = {.n = 1}, f;
    for (uint32_t i = 0; i < 40; i++) {
        double x = i + 1, t = 3 * line(i, x);
        bats_factors_note(&slow, i, &x, t);
    }
    f = measure(40, line);
    bats_factors_add(&all, &f, 1, 1);
    bats_factors_add(&all, &slow, 0.5, 3);
    struct bats_factor_model m = bats_factors_fit(&all);
    assert_near(bats_factors_at(&m, &(double){20}), 70, 2);
    assert_near(bats_factors_level(&m, &slow), 3, 1e-6);
    /* The same of logarithms. */
    struct bats_factors power = {.n = 1}, twice = measure(40, square);
    bats_factors_add(&power, &twice, 2, 4);
    m = bats_factors_fit(&power);
    assert_near(bats_factors_at(&m, &(double){20}), 50, 4);
    assert_near(bats_factors_level(&m, &twice), 4, 0.05);
}

TEST(several_numbers_of_which_some_say_the_same)
{
    struct bats_factors f = {.n = 4};
    for (uint32_t i = 0; i < 60; i++) {
        double a = i % 5, b = i % 7;
        const double x[] = {a, 3, b, a + b}; /* one is constant, one a sum */
        bats_factors_note(&f, i, x, 10 + 4 * a + b);
    }
    struct bats_factor_model m = bats_factors_fit(&f);
    assert_true(m.is_there && !m.has_logs); /* there is a 0: no logarithms */
    assert_near(bats_factors_at(&m, (const double[]){10, 3, 20, 30}), 70,
                1e-6);
    /* Nothing takes less than 1 % of the mean, 20.9. */
    assert_near(bats_factors_at(&m, (const double[]){-90, 3, 0, -90}), 0.209,
                1e-6);
}

TEST_MAIN(NULL, NULL)
