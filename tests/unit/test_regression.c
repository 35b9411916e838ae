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

/* By hand: means 2 and 11/3; sum of (x - 2)(y - 11/3) = 3, of (x - 2)^2 = 2;
 * b1 = 1.5, b0 = 11/3 - 3. */
static void scattered_points_get_the_least_squares(void **state)
{
    (void)state;
    const double base[] = {1, 2, 3};
    const double other[] = {2, 4, 5};
    struct bats_regression r = bats_regression_fit(base, other, 3);

    near(r.b1, 1.5);
    near(r.b0, 2.0 / 3);
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
        cmocka_unit_test(one_point_gives_a_ratio),
        cmocka_unit_test(equal_runtimes_give_the_ratio_of_means),
        cmocka_unit_test(falling_line_gives_the_ratio_of_means),
        cmocka_unit_test(lines_are_composed),
        cmocka_unit_test(short_tasks_take_no_negative_time),
    };

    return cmocka_run_group_tests_name("regression", tests, NULL, NULL);
}
