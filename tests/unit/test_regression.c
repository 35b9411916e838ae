/* regression: lines by hand, and what takes their place where there is none. */
#include <math.h>

#include "bats/regression.h"
#include "helpers/test.h"

TEST(exact_line_is_found)
{
    const double base[] = {10, 20, 40, 70};
    const double other[] = {9, 14, 24, 39}; /* 4 + x / 2 */
    struct bats_regression r = bats_regression_fit(base, other, 4);
    assert_near(r.b0, 4, 1e-9);
    assert_near(r.b1, 0.5, 1e-9);
    assert_false(r.ratio);
    assert_near(bats_regression_apply(&r, 100), 54, 1e-9);
    assert_near(bats_regression_invert(&r, 54), 100, 1e-9);
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

TEST(scattered_points_get_the_least_squares)
{
    struct bats_regression r = scattered(9.1);
    assert_near(r.b1, 2, 1e-9);
    assert_near(r.b0, 9.1, 1e-9);
    assert_false(r.ratio);
}

TEST(start_that_may_be_nothing_is_nothing)
{
    struct bats_regression r = scattered(8.9);
    assert_true(r.ratio);
    assert_near(r.b0, 0, 1e-9);
    assert_near(r.b1, (8.9 + 8) / 4, 1e-9);
}

TEST(one_point_gives_a_ratio)
{
    const double base[] = {20}, other[] = {5};
    struct bats_regression r = bats_regression_fit(base, other, 1);
    assert_true(r.ratio);
    assert_near(r.b0, 0, 1e-9);
    assert_near(r.b1, 0.25, 1e-9);
}

TEST(equal_runtimes_give_the_ratio_of_means)
{
    const double base[] = {20, 20, 20}, other[] = {5, 6, 7};
    struct bats_regression r = bats_regression_fit(base, other, 3);
    assert_true(r.ratio);
    assert_near(r.b0, 0, 1e-9);
    assert_near(r.b1, 0.3, 1e-9);
}

TEST(falling_line_gives_the_ratio_of_means)
{
    const double base[] = {1, 2, 3}, other[] = {9, 6, 3};
    struct bats_regression r = bats_regression_fit(base, other, 3);
    assert_true(r.ratio);
    assert_near(r.b0, 0, 1e-9);
    assert_near(r.b1, 3, 1e-9);
}

/* to j: 4 + x / 2; to k: 10 + 3 x; so k = 10 + 3 * 2 (j - 4) = 6 j - 14. */
TEST(lines_are_composed)
{
    const struct bats_regression to_j = {.b0 = 4, .b1 = 0.5};
    const struct bats_regression to_k = {.b0 = 10, .b1 = 3};
    struct bats_regression r = bats_regression_compose(&to_j, &to_k);
    assert_near(r.b0, -14, 1e-9);
    assert_near(r.b1, 6, 1e-9);
    assert_false(r.ratio);
    const struct bats_regression rough = {.b1 = 2, .ratio = true};
    assert_true(bats_regression_compose(&to_j, &rough).ratio);
}

/* The thesis prints the lines of its table 6.2 as -0.01 + 0.52 x. */
TEST(short_tasks_take_no_negative_time)
{
    const struct bats_regression r = {.b0 = -10, .b1 = 0.5};
    assert_near(bats_regression_apply(&r, 4), 1, 1e-9);
    const struct bats_regression late = {.b0 = 10, .b1 = 0.5};
    assert_near(bats_regression_invert(&late, 4), 1, 1e-9);
}

TEST_MAIN(NULL, NULL)
