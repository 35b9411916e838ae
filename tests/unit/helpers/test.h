/*
 * test: what every unit test begins with. A case is TEST(name) and its block, or
 * TEST_WITH(name, set_up, tear_down), and runs in the order of the file; the file
 * ends with TEST_MAIN(set_up, tear_down), of the group. A main() of its own calls
 * run_cases().
 */
#ifndef BATS_TEST_H
#define BATS_TEST_H

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bats/error.h"
#include "check.h"

/* cmocka gives each case a state, which few need. */
#pragma GCC diagnostic ignored "-Wunused-parameter"
/* Some functions get an error named like that of all cases. */
#pragma GCC diagnostic ignored "-Wshadow"

/* What the last call said. */
static struct bats_error err __attribute__((unused));

static struct {
    struct CMUnitTest at[100];
    size_t n;
} all_cases;

#define TEST(name) TEST_WITH(name, NULL, NULL)
#define TEST_WITH(name, set_up, tear_down)                                    \
    static void name(void **state);                                           \
    __attribute__((constructor)) static void add_##name(void)                 \
    {                                                                         \
        assert_true(all_cases.n <                                             \
                    sizeof all_cases.at / sizeof all_cases.at[0]);            \
        all_cases.at[all_cases.n++] =                                         \
            (struct CMUnitTest){#name, name, set_up, tear_down, NULL};        \
    }                                                                         \
    static void name(void **state)

#define TEST_MAIN(set_up, tear_down)                                          \
    int main(void)                                                            \
    {                                                                         \
        return run_cases(set_up, tear_down);                                  \
    }

/* The call, which ends with &err, returns 0. */
#define assert_ok(call)                                                       \
    do {                                                                      \
        if ((call) != 0)                                                      \
            fail_msg("%s", err.text);                                         \
    } while (0)

/* The call returns this code, and says this. */
#define assert_refused(call, code_, says)                                     \
    do {                                                                      \
        err = (struct bats_error){0};                                         \
        assert_int_equal(call, code_);                                        \
        assert_string_equal(err.text, says);                                  \
    } while (0)

/* The call, which ends with &err, returns this code, and says this among
 * others. */
#define assert_says(call, code_, words)                                       \
    do {                                                                      \
        if ((call) != (code_) || strstr(err.text, words) == NULL)             \
            fail_msg("%d: '%s' does not say '%s'", err.code, err.text,        \
                     words);                                                  \
    } while (0)

/* What printf makes of the rest is this text. */
#define assert_reads(text, ...)                                               \
    do {                                                                      \
        char reads_[4096];                                                    \
        snprintf(reads_, sizeof reads_, __VA_ARGS__);                         \
        assert_string_equal(reads_, text);                                    \
    } while (0)

/* The rest, whole numbers, are these, with blanks between. */
#define assert_numbers(text, ...)                                             \
    assert_string_equal(                                                      \
        in_a_row((const intmax_t[]){__VA_ARGS__},                             \
                 sizeof((const intmax_t[]){__VA_ARGS__}) / sizeof(intmax_t)), \
        text)

/* The text is what this prints to `out`; for free(). */
#define PRINT(text, ...)                                                      \
    do {                                                                      \
        size_t size_;                                                         \
        FILE *out = open_memstream(&(text), &size_);                          \
        __VA_ARGS__;                                                          \
        fclose(out);                                                          \
    } while (0)

/* Nothing that is not a number is near to anything. */
#define assert_near(value, expected, tolerance)                               \
    do {                                                                      \
        double is_ = (value), wanted_ = (expected);                           \
        if (!(fabs(is_ - wanted_) <= (tolerance)))                            \
            fail_msg("%s is %.12g, not %.12g", #value, is_, wanted_);         \
    } while (0)

static inline const char *in_a_row(const intmax_t *numbers, size_t n)
{
    static char text[1024];
    size_t used = 0;
    for (size_t i = 0; i < n; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%jd",
                                 i > 0 ? " " : "", numbers[i]);
    assert_true(used < sizeof text);
    return text;
}

static inline int run_cases(CMFixtureFunction set_up,
                            CMFixtureFunction tear_down)
{
    return cmocka_run_group_tests(all_cases.at, set_up, tear_down);
}

#endif
