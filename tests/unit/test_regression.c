/* regression: lines by hand, and what takes their place where there is none. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "bats/regression.h"

static void near(double x, double y)
{
    if (!(fabs(x - y) <= 1e-9 * (1 + fabs(y))))
        fail_msg("%.12g is not %.12g", x, y);
}

static void exact_line_is_found(void **state)
{
    (void)state;
    const double base[] = {10, 20, 40, 70};
    const double other[] = {9, 14, 24, 39}; /* 4 + x / 2 */
    struct bats_regression r = bats_regression_fit(base, other, 4);

    near(r.b0, 4);
    near(r.b1, 0.5);
    assert_false(r.ratio);
    near(bats_regression_apply(&r, 100), 54);
    near(bats_regression_invert(&r, 54), 100);
}

/* y = b0 + 2 x + e, where e adds up to 0, and so does e x: the least squares
 * are b0 + 2 x. The variance of b0 is 12 / 5 (1 / 7 + 4^2 / 28) = 1.31^2, and
 * t_0.9995(5) = 6.87: b0 counts if it is above 9.0. */
static struct bats_regression scattered(double b0)
{
    static const double e[] = {1, -2, 1, 0, 1, -2, 1};
    double base[7], other[7];

    for (int i = 0; i < 7; i++) {
        base[i] = i + 1;
        other[i] = b0 + 2 * base[i] + e[i];
    }
    return bats_regression_fit(base, other, 7);
}

static void scattered_points_get_the_least_squares(void **state)
{
    (void)state;
    struct bats_regression r = scattered(9.1);

    near(r.b1, 2);
    near(r.b0, 9.1);
    assert_false(r.ratio);
}

static void start_that_may_be_nothing_is_nothing(void **state)
{
    (void)state;
    struct bats_regression r = scattered(8.9);

    assert_true(r.ratio);
    near(r.b0, 0);
    near(r.b1, (8.9 + 8) / 4);
}

static void one_point_gives_a_ratio(void **state)
{
    (void)state;
    const double base[] = {20}, other[] = {5};
    struct bats_regression r = bats_regression_fit(base, other, 1);

    assert_true(r.ratio);
    near(r.b0, 0);
    near(r.b1, 0.25);
}

static void equal_runtimes_give_the_ratio_of_means(void **state)
{
    (void)state;
    const double base[] = {20, 20, 20}, other[] = {5, 6, 7};
    struct bats_regression r = bats_regression_fit(base, other, 3);

    assert_true(r.ratio);
    near(r.b0, 0);
    near(r.b1, 0.3);
}

static void falling_line_gives_the_ratio_of_means(void **state)
{
    (void)state;
    const double base[] = {1, 2, 3}, other[] = {9, 6, 3};
    struct bats_regression r = bats_regression_fit(base, other, 3);

    assert_true(r.ratio);
    near(r.b0, 0);
    near(r.b1, 3);
}

/* to j: 4 + x / 2; to k: 10 + 3 x; so k = 10 + 3 * 2 (j - 4) = 6 j - 14. */
static void lines_are_composed(void **state)
{
    (void)state;
    const struct bats_regression to_j = {.b0 = 4, .b1 = 0.5};
    const struct bats_regression to_k = {.b0 = 10, .b1 = 3};
    struct bats_regression r = bats_regression_compose(&to_j, &to_k);

    near(r.b0, -14);
    near(r.b1, 6);
    assert_false(r.ratio);
    const struct bats_regression rough = {.b1 = 2, .ratio = true};
    assert_true(bats_regression_compose(&to_j, &rough).ratio);
}

/* The thesis prints the lines of its table 6.2 as -0.01 + 0.52 x. */
static void short_tasks_take_no_negative_time(void **state)
{
    (void)state;
    const struct bats_regression r = {.b0 = -10, .b1 = 0.5};

    near(bats_regression_apply(&r, 4), 1);
    const struct bats_regression late = {.b0 = 10, .b1 = 0.5};
    near(bats_regression_invert(&late, 4), 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_line_is_found),
        cmocka_unit_test(scattered_points_get_the_least_squares),
        cmocka_unit_test(start_that_may_be_nothing_is_nothing),
        cmocka_unit_test(one_point_gives_a_ratio),
        cmocka_unit_test(equal_runtimes_give_the_ratio_of_means),
        cmocka_unit_test(falling_line_gives_the_ratio_of_means),
        cmocka_unit_test(lines_are_composed),
        cmocka_unit_test(short_tasks_take_no_negative_time),
    };

    return cmocka_run_group_tests_name("regression", tests, NULL, NULL);
}
