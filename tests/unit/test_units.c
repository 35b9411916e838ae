/* units: time and money, to and from text, and sums that never wrap. */
#include <inttypes.h>

#include "bats/units.h"
#include "helpers/test.h"

TEST(sums_that_do_not_fit_are_refused)
{
    int64_t sum = 42;
    assert_true(bats_units_add(INT64_MAX - 1, 1, &sum));
    assert_true(sum == INT64_MAX);
    sum = 42;
    assert_false(bats_units_add(INT64_MAX, 1, &sum));
    assert_false(bats_units_add(INT64_MIN, -1, &sum));
    assert_true(sum == 42);
}

TEST(products_that_do_not_fit_are_refused)
{
    int64_t product = 42;
    assert_true(bats_units_multiply(-3, 4, &product));
    assert_true(product == -12);
    product = 42;
    assert_false(bats_units_multiply(INT64_MAX / 2 + 1, 2, &product));
    assert_false(bats_units_multiply(INT64_MIN, -1, &product));
    assert_true(product == 42);
}

TEST(durations_are_read_in_every_form)
{
    static const struct {
        const char *text;
        int64_t us;
    } cases[] = {
        {"0", 0},
        {"90", 90000000},
        {"0.25", 250000},
        {"007", 7000000},
        {"15m", 900000000},
        {"1h30m", 5400000000},
        {"3.75m", 225000000},
        {"250ms", 250000},
        {"7us", 7},
        {"1d2h3m4s5ms6us", 93784005006},
        {"2m500ms", 120500000},
        {"1.5h0.5m", 5430000000},
        /* rounded to the nearest, exactly */
        {"0.0000004", 0},
        {"0.0000005", 1},
        {"14.632498712345678", 14632499},
        {"0.333333333333333333333h", 1200000000},
        {"0.1us", 0},
        {"1.00000000000000000000000000000000", 1000000},
        /* Slurm's: MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS */
        {"90:00", 5400000000},
        {"1:30", 90000000},
        {"01:02:03", 3723000000},
        {"100:00:00", 360000000000},
        {"2-0", 172800000000},
        {"1-02", 93600000000},
        {"1-02:03", 93780000000},
        {"1-02:03:04", 93784000000},
        {"2305843009213.693951", INT64_MAX / 4},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bats_time us = -1;
        assert_int_equal(bats_duration_parse(cases[i].text, &us, NULL), 0);
        if (us != cases[i].us)
            fail_msg("%s is read as %" PRId64, cases[i].text, us);
    }
}

TEST(garbled_durations_are_refused_and_quoted)
{
    static const char *const cases[] = {
        "",      " ",       "1 ",     " 1",      "-1",     "-15m",
        "+1",    "1x",      "x",      "m",       "1h30",   "30m1h",
        "1h1h",  "1m1m",    "1e3",    "1.",      ".5",     "1..5",
        "1.5.5", "1,5",     "1M",     "1:2:3:4", "1-",     "1-2:3:4:5",
        "1:-2",  "1-2-3",   ":30",    "1:",      "1:60",   "1:60:00",
        "1-24",  "1-00:60", "1.5:00", "1:30s",   "1h1:30", "nan",
        "inf",   "0x10",    "1ms1s",  "never",   "1us1ms",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char quoted[64];
        bats_time us = 42;
        snprintf(quoted, sizeof quoted, "'%s'", cases[i]);
        if (bats_duration_parse(cases[i], &us, &err) != BATS_EINPUT)
            fail_msg("'%s' is accepted", cases[i]);
        assert_true(us == 42);
        assert_non_null(strstr(err.text, quoted));
    }
}

TEST(durations_that_do_not_fit_are_refused)
{
    static const char *const cases[] = {
        "9223372036854.775807", /* would be BATS_NEVER */
        "2305843009213.693952", /* more than a quarter of it */
        "9223372036855",         "9223372036854d",
        "99999999999999999999",  "106751991d24h",
        "9223372036854.9999999", "999999999999999-00:00",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bats_time us = 42;
        assert_int_equal(bats_duration_parse(cases[i], &us, &err),
                         BATS_EINPUT);
        assert_true(us == 42);
        assert_non_null(strstr(err.text, "too long"));
    }
}

TEST(durations_are_written_for_people)
{
    static const struct {
        int64_t us;
        const char *text;
    } cases[] = {
        {0, "0s"},
        {1, "1us"},
        {999, "999us"},
        {1000, "1ms"},
        {250000, "250ms"},
        {999499, "999ms"},
        {999500, "1s"},
        {3200000, "3.2s"},
        {3000000, "3s"},
        {59940000, "59.9s"},
        {59960000, "1m"},
        {65000000, "1m5s"},
        {900000000, "15m"},
        {3599600000, "1h"},
        {16800000000, "4h40m"},
        {86370000000, "1d"},
        {93600000000, "1d2h"},
        {172800000000, "2d"},
        {-16800000000, "-4h40m"},
        {INT64_MAX, "never"},
        {INT64_MIN, "-106751991d4h"},
        {INT64_MAX - 1, "106751991d4h"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[BATS_UNITS_TEXT];
        assert_ptr_equal(bats_duration_format(text, cases[i].us), text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(money_is_read_exactly)
{
    static const struct {
        const char *text;
        int64_t millionths;
    } cases[] = {
        {"0", 0},
        {"3", 3000000},
        {"3.0", 3000000},
        {"0.085", 85000},
        {"0.000001", 1},
        {"2034.123456", 2034123456},
        {"9223372036854.775806", INT64_MAX - 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bats_money amount = -1;
        assert_int_equal(bats_money_parse(cases[i].text, &amount, NULL), 0);
        assert_true(amount == cases[i].millionths);
    }
}

TEST(garbled_money_is_refused_and_quoted)
{
    static const char *const cases[] = {
        "",   "-1",        "-0",    "+1",        "1e3",  "1.",
        ".5", "1,5",       " 1",    "1 ",        "1 SU", "x",
        "$1", "0.0000001", "1.1.1", "unlimited", "-",    "0x1",
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char quoted[64];
        bats_money amount = 42;
        snprintf(quoted, sizeof quoted, "'%s'", cases[i]);
        if (bats_money_parse(cases[i], &amount, &err) != BATS_EINPUT)
            fail_msg("'%s' is accepted", cases[i]);
        assert_true(amount == 42);
        assert_non_null(strstr(err.text, quoted));
    }
}

TEST(negative_and_overly_exact_money_is_called_so)
{
    bats_money amount;
    bats_money_parse("-3", &amount, &err);
    assert_string_equal(err.text, "the amount '-3' is negative");
    bats_money_parse("0.0000001", &amount, &err);
    assert_string_equal(
        err.text, "'0.0000001' has more than six digits after the point");
}

TEST(money_that_does_not_fit_is_refused)
{
    static const char *const cases[] = {
        "9223372036854.775807", /* would be BATS_UNLIMITED */
        "9223372036855", "99999999999999999999"};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        bats_money amount = 42;
        assert_int_equal(bats_money_parse(cases[i], &amount, NULL),
                         BATS_EOVERFLOW);
        assert_true(amount == 42);
    }
}

TEST(money_is_written_exactly)
{
    static const struct {
        int64_t millionths;
        const char *text;
    } cases[] = {
        {0, "0"},
        {1, "0.000001"},
        {85000, "0.085"},
        {2034000000, "2034"},
        {100000000, "100"},
        {-1500000, "-1.5"},
        {INT64_MIN, "-9223372036854.775808"},
        {INT64_MAX, "unlimited"},
        {INT64_MAX - 1, "9223372036854.775806"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[BATS_UNITS_TEXT];
        assert_ptr_equal(bats_money_format(text, cases[i].millionths), text);
        assert_string_equal(text, cases[i].text);
    }
}

/* Amounts of every size; the generator is Knuth's, so the test is its own. */
TEST(money_survives_writing_and_reading)
{
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        bats_money amount = (bats_money)(random >> (1 + i % 63)), back = -1;
        char text[BATS_UNITS_TEXT];
        if (amount == BATS_UNLIMITED)
            continue;
        bats_money_format(text, amount);
        assert_int_equal(bats_money_parse(text, &back, NULL), 0);
        assert_true(back == amount);
    }
}

TEST(sizes_are_read_and_written)
{
    static const struct {
        const char *text;
        int64_t bytes;
    } cases[] = {{"1", 1},           {"1000", 1000},
                 {"1023", 1023},     {"1K", 1024},
                 {"10M", 10485760},  {"3G", 3221225472},
                 {"1025K", 1049600}, {"8589934591G", 9223372035781033984}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int64_t bytes = -1;
        char text[BATS_UNITS_TEXT];
        assert_int_equal(bats_size_parse(cases[i].text, &bytes, NULL), 0);
        assert_true(bytes == cases[i].bytes);
        assert_ptr_equal(bats_size_format(text, bytes), text);
        assert_string_equal(text, cases[i].text);
    }
}

TEST(sizes_that_make_no_sense_are_refused)
{
    static const char *const wrong[] = {"",   "0",    "0K",  "K",    "-1",
                                        "+1", " 1",   "1 K", "1KB",  "1k",
                                        "1T", "1.5M", "1x",  "0x10", "1K1"};
    int64_t bytes = 7;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        assert_int_equal(bats_size_parse(wrong[i], &bytes, &err), BATS_EINPUT);
        assert_memory_equal(err.text + 1, wrong[i], strlen(wrong[i]));
    }
    assert_int_equal(bats_size_parse("9223372036854775808", &bytes, &err),
                     BATS_EOVERFLOW);
    assert_int_equal(bats_size_parse("8589934592G", &bytes, &err),
                     BATS_EOVERFLOW);
    assert_true(bytes == 7);
}

TEST(numbers_are_read)
{
    uint64_t n = 0;
    double f = 0;
    assert_int_equal(bats_count_parse("0", &n, NULL), 0);
    assert_true(n == 0);
    assert_int_equal(bats_count_parse("9223372036854775807", &n, NULL), 0);
    assert_true(n == INT64_MAX);
    assert_int_equal(bats_factor_parse("0.25", &f, NULL), 0);
    assert_true(f == 0.25);
    assert_int_equal(bats_factor_parse("1e3", &f, NULL), 0);
    assert_true(f == 1000);
}

TEST(a_percentage_is_a_share)
{
    static const char *const none[] = {"",     "%",    "30",   "-1%", "101%",
                                       " 30%", "30 %", "nan%", "1%%"};
    double share = 7;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        assert_false(bats_share_parse(none[i], &share));
    assert_true(share == 7);
    assert_true(bats_share_parse("0%", &share) && share == 0);
    assert_true(bats_share_parse("12.5%", &share) && share == 0.125);
    assert_true(bats_share_parse("100%", &share) && share == 1);
}

TEST(what_is_no_number_is_refused_and_quoted)
{
    static const char *const counts[] = {"",  "+1",  "-1",  " 1", "1 ",
                                         "x", "1.0", "0x1", "1e3"};
    static const char *const factors[] = {"",    "0",   "-1",    "1x", "nan",
                                          "inf", "0x1", "1e999", " 1", "."};
    uint64_t n = 7;
    double f = 7;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        assert_int_equal(bats_count_parse(counts[i], &n, &err), BATS_EINPUT);
        assert_memory_equal(err.text + 1, counts[i], strlen(counts[i]));
    }
    for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
        assert_int_equal(bats_factor_parse(factors[i], &f, &err), BATS_EINPUT);
        assert_memory_equal(err.text + 1, factors[i], strlen(factors[i]));
    }
    assert_int_equal(bats_count_parse("9223372036854775808", &n, &err),
                     BATS_EOVERFLOW);
    assert_true(n == 7 && f == 7);
}

TEST_MAIN(NULL, NULL)
