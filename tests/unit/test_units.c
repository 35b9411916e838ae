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

/* A text, and the number that it is. */
struct pair {
    const char *text;
    int64_t number;
};

typedef int parse_function(const char *text, int64_t *number,
                           struct bats_error *err);
typedef const char *format_function(char *text, int64_t number);

#define N(array) (sizeof(array) / sizeof *(array))

static void expect_read(parse_function *parse, const struct pair *pairs,
                        size_t n)
{
    for (size_t i = 0; i < n; i++) {
        int64_t number = -1;
        assert_int_equal(parse(pairs[i].text, &number, NULL), 0);
        if (number != pairs[i].number)
            fail_msg("%s is read as %" PRId64, pairs[i].text, number);
    }
}

static void expect_written(format_function *format, const struct pair *pairs,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[BATS_UNITS_TEXT];
        assert_ptr_equal(format(text, pairs[i].number), text);
        assert_string_equal(text, pairs[i].text);
    }
}

/* None of the texts is read; each is quoted, and the sentence says this. */
static void expect_refused(parse_function *parse, const char *const *texts,
                           size_t n, int code, const char *said)
{
    for (size_t i = 0; i < n; i++) {
        char quoted[64];
        int64_t number = 42;
        snprintf(quoted, sizeof quoted, code == BATS_EINPUT ? "'%s'" : "%s",
                 texts[i]);
        if (parse(texts[i], &number, &err) != code)
            fail_msg("'%s' is accepted", texts[i]);
        assert_true(number == 42);
        assert_non_null(strstr(err.text, quoted));
        assert_non_null(strstr(err.text, said));
    }
}

/* Rounded to the nearest, exactly. With colons and dashes as Slurm writes them:
 * MM:SS, HH:MM:SS, D-HH, D-HH:MM, D-HH:MM:SS. */
TEST(durations_are_read_in_every_form)
{
    static const struct pair cases[] = {
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
        {"0.0000004", 0},
        {"0.0000005", 1},
        {"14.632498712345678", 14632499},
        {"0.333333333333333333333h", 1200000000},
        {"0.1us", 0},
        {"1.00000000000000000000000000000000", 1000000},
        {"90:00", 5400000000},
        {"1:30", 90000000},
        {"01:02:03", 3723000000},
        {"100:00:00", 360000000000},
        {"2-0", 172800000000},
        {"1-02", 93600000000},
        {"1-02:03", 93780000000},
        {"1-02:03:04", 93784000000},
        {"2305843009213.693951", INT64_MAX / 4}};
    expect_read(bats_duration_parse, cases, N(cases));
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
        "inf",   "0x10",    "1ms1s",  "never",   "1us1ms"};
    expect_refused(bats_duration_parse, cases, N(cases), BATS_EINPUT,
                   "is not a duration");
}

TEST(durations_that_do_not_fit_are_refused)
{
    static const char *const cases[] = {
        "9223372036854.775807", /* would be BATS_NEVER */
        "2305843009213.693952", /* more than a quarter of it */
        "9223372036855",         "9223372036854d",
        "99999999999999999999",  "106751991d24h",
        "9223372036854.9999999", "999999999999999-00:00"};
    expect_refused(bats_duration_parse, cases, N(cases), BATS_EINPUT,
                   "too long");
}

TEST(durations_are_written_for_people)
{
    static const struct pair cases[] = {{"0s", 0},
                                        {"1us", 1},
                                        {"999us", 999},
                                        {"1ms", 1000},
                                        {"250ms", 250000},
                                        {"999ms", 999499},
                                        {"1s", 999500},
                                        {"3.2s", 3200000},
                                        {"3s", 3000000},
                                        {"59.9s", 59940000},
                                        {"1m", 59960000},
                                        {"1m5s", 65000000},
                                        {"15m", 900000000},
                                        {"1h", 3599600000},
                                        {"4h40m", 16800000000},
                                        {"1d", 86370000000},
                                        {"1d2h", 93600000000},
                                        {"2d", 172800000000},
                                        {"-4h40m", -16800000000},
                                        {"never", INT64_MAX},
                                        {"-106751991d4h", INT64_MIN},
                                        {"106751991d4h", INT64_MAX - 1}};
    expect_written(bats_duration_format, cases, N(cases));
}

TEST(money_is_read_exactly)
{
    static const struct pair cases[] = {
        {"0", 0},
        {"3", 3000000},
        {"3.0", 3000000},
        {"0.085", 85000},
        {"0.000001", 1},
        {"2034.123456", 2034123456},
        {"9223372036854.775806", INT64_MAX - 1}};
    expect_read(bats_money_parse, cases, N(cases));
}

TEST(garbled_money_is_refused_and_quoted)
{
    static const char *const cases[] = {
        "",   "-1",        "-0",    "+1",        "1e3",  "1.",
        ".5", "1,5",       " 1",    "1 ",        "1 SU", "x",
        "$1", "0.0000001", "1.1.1", "unlimited", "-",    "0x1"};
    expect_refused(bats_money_parse, cases, N(cases), BATS_EINPUT, "");
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
    expect_refused(bats_money_parse, cases, N(cases), BATS_EOVERFLOW,
                   "too large");
}

TEST(money_is_written_exactly)
{
    static const struct pair cases[] = {
        {"0", 0},
        {"0.000001", 1},
        {"0.085", 85000},
        {"2034", 2034000000},
        {"100", 100000000},
        {"-1.5", -1500000},
        {"-9223372036854.775808", INT64_MIN},
        {"unlimited", INT64_MAX},
        {"9223372036854.775806", INT64_MAX - 1}};
    expect_written(bats_money_format, cases, N(cases));
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
    static const struct pair cases[] = {
        {"1", 1},           {"1000", 1000},
        {"1023", 1023},     {"1K", 1024},
        {"10M", 10485760},  {"3G", 3221225472},
        {"1025K", 1049600}, {"8589934591G", 9223372035781033984}};
    expect_read(bats_size_parse, cases, N(cases));
    expect_written(bats_size_format, cases, N(cases));
}

TEST(sizes_that_make_no_sense_are_refused)
{
    static const char *const wrong[] = {"",   "0",    "0K",  "K",    "-1",
                                        "+1", " 1",   "1 K", "1KB",  "1k",
                                        "1T", "1.5M", "1x",  "0x10", "1K1"};
    static const char *const large[] = {"9223372036854775808", "8589934592G"};
    expect_refused(bats_size_parse, wrong, N(wrong), BATS_EINPUT,
                   "is not a number of bytes");
    expect_refused(bats_size_parse, large, N(large), BATS_EOVERFLOW,
                   "too large");
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
    for (size_t i = 0; i < N(none); i++)
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
    for (size_t i = 0; i < N(counts); i++) {
        assert_int_equal(bats_count_parse(counts[i], &n, &err), BATS_EINPUT);
        assert_memory_equal(err.text + 1, counts[i], strlen(counts[i]));
    }
    for (size_t i = 0; i < N(factors); i++) {
        assert_int_equal(bats_factor_parse(factors[i], &f, &err), BATS_EINPUT);
        assert_memory_equal(err.text + 1, factors[i], strlen(factors[i]));
    }
    assert_int_equal(bats_count_parse("9223372036854775808", &n, &err),
                     BATS_EOVERFLOW);
    assert_true(n == 7 && f == 7);
}

TEST_MAIN(NULL, NULL)
