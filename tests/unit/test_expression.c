/* expression: arithmetic as users write it. */
#include <math.h>

#include "helpers/test.h"
#include "util/expression.h"

static const char *const names[] = {"makespan", "cost"};
static const double values[] = {3600, 2.5};

static double value_of(const char *text)
{
    double value = NAN;
    assert_ok(bats_expression_value(text, names, values, 2, &value, &err));
    return value;
}

TEST(it_counts_as_at_school)
{
    assert_true(value_of("1 + 2 * 3") == 7);
    assert_true(value_of("(1 + 2) * 3") == 9);
    assert_true(value_of("2 ^ 3 ^ 2") == 512);
    assert_true(value_of("-2 ^ 2") == -4);
    assert_true(value_of("7 - 2 - 1") == 4);
    assert_true(value_of("8 / 2 / 2") == 2);
    assert_true(value_of("makespan*cost") == 9000);
    assert_true(value_of("max(cost, min(3, 4)) + sqrt(9)") == 6);
    assert_true(value_of("cost + 1e6 * (makespan > 3599)") == 1000002.5);
    assert_true(value_of("1 < 1") == 0);
    assert_true(isinf(value_of("1 / 0")));
    assert_true(isnan(value_of("log(-1)")));
}

TEST(mistakes_are_named_by_place)
{
    static const char *const wrong[][2] = {
        {"", "a number or a name is missing in '', character 1"},
        {"1 +", "a number or a name is missing in '1 +', character 4"},
        {"price", "an unknown name in 'price', character 1"},
        {"cost cost", "something that does not belong there"},
        {"system(1)", "an unknown function in 'system(1)', character 1"},
        {"min(1)", "a comma is missing"},
        {"(1", "a parenthesis is missing"},
        {"1)", "something that does not belong there"},
        {".", "a number or a name is missing"}};
    char deep[BATS_EXPRESSION_MAX + 10];
    double value;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_says(
            bats_expression_value(wrong[i][0], names, values, 2, &value, &err),
            BATS_EINPUT, wrong[i][1]);
    }
    memset(deep, '(', sizeof deep);
    deep[sizeof deep - 1] = '\0';
    assert_int_equal(
        bats_expression_value(deep, names, values, 2, &value, &err),
        BATS_EINPUT);
    deep[BATS_EXPRESSION_MAX - 1] = '\0';
    assert_int_equal(
        bats_expression_value(deep, names, values, 2, &value, &err),
        BATS_EINPUT);
}

TEST_MAIN(NULL, NULL)
