/* reliability: which executions are lost, and when. */
#include "helpers/test.h"
#include "input/reliability.h"

#define EXECUTIONS 100000

/* The share of executions lost before `age`, of those that begin at `at`. */
static double lost_before(const struct bats_reliability *r, bats_time age,
                          bats_time at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < EXECUTIONS; i++)
        n += bats_reliability_lost(r, 7, i / 4, i % 4, at) <= age;
    return n / (double)EXECUTIONS;
}

TEST(without_a_word_nothing_is_lost)
{
    struct bats_reliability r = {0};
    assert_false(bats_reliability_loses(&r));
    assert_true(bats_reliability_lost(&r, 1, 0, 0, 0) == BATS_NEVER);
}

TEST(a_share_is_lost_at_once)
{
    struct bats_reliability r = {0};
    assert_int_equal(bats_reliability_parse(&r, "0.83, 0.4 from 2h", NULL), 0);
    assert_near(lost_before(&r, 0, 0), 0.17, 0.005);
    assert_near(lost_before(&r, BATS_LONGEST, BATS_HOUR), 0.17, 0.005);
    assert_near(lost_before(&r, 0, 2 * BATS_HOUR), 0.6, 0.005);
    assert_int_equal(bats_reliability_parse(&r, "1", NULL), 0);
    assert_near(lost_before(&r, BATS_LONGEST, 0), 0, 0.005);
}

/* By the distribution functions. */
TEST(they_survive_as_long_as_is_said)
{
    struct bats_reliability r = {0};
    assert_int_equal(bats_survival_parse(&r, "exponential 2h", NULL), 0);
    assert_near(lost_before(&r, BATS_HOUR, 0), 0.3935,
                0.005); /* 1 - exp(-1/2) */
    assert_int_equal(bats_survival_parse(&r, "weibull 2h 2", NULL), 0);
    assert_near(lost_before(&r, BATS_HOUR, 0), 0.2212,
                0.005); /* 1 - exp(-1/4) */
    assert_int_equal(bats_survival_parse(&r, "lognormal 2h 1.39", NULL), 0);
    assert_near(lost_before(&r, 2 * BATS_HOUR, 0), 0.5, 0.005);
    assert_near(lost_before(&r, BATS_HOUR, 0), 0.309,
                0.005); /* Phi(-ln 2 / 1.39) */
}

TEST_MAIN(NULL, NULL)
