/* regression: lines by hand, and what takes their place where there is none. */
#include "bats/regression.h"
#include "helpers/test.h"

/* y = b0 + 2 x + e, where e adds up to 0, and so does e x: the least squares
 * are b0 + 2 x. The variance of b0 is 12 / 5 (1 / 7 + 4^2 / 28) = 1.31^2, and
 * t_0.9995(5) = 6.87: b0 counts if it is above 9.0. */
#define SCATTERED(b0)                                                         \
    {                                                                         \
        3 + b0, 2 + b0, 7 + b0, 8 + b0, 11 + b0, 10 + b0, 15 + b0             \
    }

TEST(lines_and_ratios_are_as_by_hand)
{
    static const struct {
        size_t n;
        double base[7], other[7];
        bool ratio;
        double b0, b1;
    } cases[] = {
        {4, {10, 20, 40, 70}, {9, 14, 24, 39}, false, 4, 0.5},
        {7, {1, 2, 3, 4, 5, 6, 7}, SCATTERED(9.1), false, 9.1, 2},
        {7, {1, 2, 3, 4, 5, 6, 7}, SCATTERED(8.9), true, 0, (8.9 + 8) / 4},
        {1, {20}, {5}, true, 0, 0.25},              /* one point */
        {3, {20, 20, 20}, {5, 6, 7}, true, 0, 0.3}, /* all equal */
        {3, {1, 2, 3}, {9, 6, 3}, true, 0, 3}};     /* it falls */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bats_regression r =
            bats_regression_fit(cases[i].base, cases[i].other, cases[i].n);
        assert_near(r.b0, cases[i].b0, 1e-9);
        assert_near(r.b1, cases[i].b1, 1e-9);
        assert_int_equal(r.ratio, cases[i].ratio);
        double y = bats_regression_apply(&r, 100);
        assert_near(y, r.b0 + 100 * r.b1, 1e-9);
        assert_near(bats_regression_invert(&r, y), 100, 1e-9);
    }
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
