/* reliability: which executions are lost, and when. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "input/reliability.h"

#define EXECUTIONS 100000

/* The share of executions lost before `age`, of those that begin at `at`. */
static double lost_before(const struct bats_reliability *r, bats_time age,
                          bats_time at)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < EXECUTIONS; i++)
        n += bats_reliability_lost(r, 7, 0, i / 4, i % 4, at) <= age;
    return n / (double)EXECUTIONS;
}

static void near(double value, double expected)
{
    if (value < expected - 0.005 || value > expected + 0.005)
        fail_msg("%g, not %g", value, expected);
}

static void without_a_word_nothing_is_lost(void **state)
{
    (void)state;
    struct bats_reliability r = {0};
    assert_false(bats_reliability_loses(&r));
    assert_true(bats_reliability_lost(&r, 1, 0, 0, 0, 0) == BATS_NEVER);
}

static void a_share_is_lost_at_once(void **state)
{
    (void)state;
    struct bats_reliability r = {0};
    assert_int_equal(bats_reliability_parse(&r, "0.83, 0.4 from 2h", NULL), 0);
    near(lost_before(&r, 0, 0), 0.17);
    near(lost_before(&r, BATS_LONGEST, BATS_HOUR), 0.17);
    near(lost_before(&r, 0, 2 * BATS_HOUR), 0.6);
    assert_int_equal(bats_reliability_parse(&r, "1", NULL), 0);
    near(lost_before(&r, BATS_LONGEST, 0), 0);
}

/* By the distribution functions. */
static void they_survive_as_long_as_is_said(void **state)
{
    (void)state;
    struct bats_reliability r = {0};
    assert_int_equal(bats_survival_parse(&r, "exponential 2h", NULL), 0);
    near(lost_before(&r, BATS_HOUR, 0), 0.3935); /* 1 - exp(-1/2) */
    assert_int_equal(bats_survival_parse(&r, "weibull 2h 2", NULL), 0);
    near(lost_before(&r, BATS_HOUR, 0), 0.2212); /* 1 - exp(-1/4) */
    assert_int_equal(bats_survival_parse(&r, "lognormal 2h 1.39", NULL), 0);
    near(lost_before(&r, 2 * BATS_HOUR, 0), 0.5);
    near(lost_before(&r, BATS_HOUR, 0), 0.309); /* Phi(-ln 2 / 1.39) */
}

static void an_outage_takes_what_runs_on_its_machine(void **state)
{
    (void)state;
    struct bats_reliability r = {0}, copy;
    char path[] = "/tmp/bats-outages-XXXXXX";
    int fd = mkstemp(path);
    FILE *out = fdopen(fd, "w");
    fputs("# machine, down, up\n2, 3h, 4h\n1,1h,90m\n2,1h,2h\n", out);
    fclose(out);
    assert_int_equal(bats_outages_read(&r, "/tmp/x", path, NULL), 0);
    assert_true(bats_reliability_copy(&copy, &r));
    bats_reliability_release(&r);
    assert_true(bats_reliability_lost(&copy, 1, 0, 0, 0, 0) == BATS_HOUR);
    assert_true(bats_reliability_lost(&copy, 1, 0, 0, 0, BATS_HOUR) == 0);
    assert_true(bats_reliability_lost(&copy, 1, 0, 0, 0, 90 * BATS_MINUTE) ==
                BATS_NEVER);
    assert_true(bats_reliability_lost(&copy, 1, 1, 0, 0, 2 * BATS_HOUR) ==
                BATS_HOUR);
    assert_true(bats_reliability_lost(&copy, 1, 2, 0, 0, 0) == BATS_NEVER);
    bats_reliability_release(&copy);
    unlink(path);
}

static void wrong_outages_are_named_by_line(void **state)
{
    (void)state;
    static const char *const wrong[][2] = {
        {"1,1h,2h\n1,2h\n", ":2: expected machine,down,up"},
        {"0,1h,2h\n", ":1: '0' is not the number of a machine"},
        {"1,2h,1h\n", ":1: it is up before it is down"},
        {"\n1,2h,x\n", ":2: "},
        {"# none\n", ": no outages"}};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        struct bats_reliability r = {0};
        struct bats_error err;
        char path[] = "/tmp/bats-outages-XXXXXX";
        FILE *out = fdopen(mkstemp(path), "w");
        fputs(wrong[i][0], out);
        fclose(out);
        assert_int_equal(bats_outages_read(&r, "x", path, &err), BATS_EINPUT);
        assert_non_null(strstr(err.text, wrong[i][1]));
        bats_reliability_release(&r);
        unlink(path);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_word_nothing_is_lost),
        cmocka_unit_test(a_share_is_lost_at_once),
        cmocka_unit_test(they_survive_as_long_as_is_said),
        cmocka_unit_test(an_outage_takes_what_runs_on_its_machine),
        cmocka_unit_test(wrong_outages_are_named_by_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
