#include "bats/units.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DAY (24 * BATS_HOUR)

bool bats_units_add(int64_t a, int64_t b, int64_t *sum)
{
    int64_t result;
    if (__builtin_add_overflow(a, b, &result))
        return false;
    *sum = result;
    return true;
}

bool bats_units_multiply(int64_t a, int64_t b, int64_t *product)
{
    int64_t result;
    if (__builtin_mul_overflow(a, b, &result))
        return false;
    *product = result;
    return true;
}

/* ---- reading ---- */

/* Not isdigit(), which depends on the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

enum outcome { READ, GARBLED, TOO_LARGE };

/* Reads digits at *text, and skips them. */
static enum outcome read_digits(const char **text, int64_t *number)
{
    if (!is_digit(**text))
        return GARBLED;
    *number = 0;
    for (; is_digit(**text); (*text)++) {
        if (!bats_units_multiply(*number, 10, number) ||
            !bats_units_add(*number, **text - '0', number))
            return TOO_LARGE;
    }
    return READ;
}

/*
 * The fraction whose digits begin at `digits`, times `unit`, rounded. Seven
 * decimal places beyond the unit are used: a day in microseconds, the largest
 * unit, leaves room for no more. Further digits change nothing.
 */
static int64_t fraction_of(const char *digits, int64_t unit)
{
    const int64_t guard = 10000000;
    int64_t place = unit * guard, sum = 0;
    for (; is_digit(*digits); digits++) {
        place /= 10;
        sum += (*digits - '0') * place;
    }
    return (sum + guard / 2) / guard;
}

/* Reads a decimal number at *text; `fraction` points to the digits after its
 * point (to another character if it has none). */
static enum outcome read_decimal(const char **text, int64_t *whole,
                                 const char **fraction)
{
    enum outcome outcome = read_digits(text, whole);
    *fraction = *text;
    if (outcome != READ || **text != '.')
        return outcome;
    *fraction = ++*text;
    while (is_digit(**text))
        (*text)++;
    return *text == *fraction ? GARBLED : READ;
}

/* *sum += whole * unit + fraction * unit */
static enum outcome add_scaled(int64_t *sum, int64_t whole,
                               const char *fraction, int64_t unit)
{
    int64_t part;
    return bats_units_multiply(whole, unit, &part) &&
                   bats_units_add(*sum, part, sum) &&
                   bats_units_add(*sum, fraction_of(fraction, unit), sum)
               ? READ
               : TOO_LARGE;
}

static const struct {
    const char *name;
    bats_time time;
} time_units[] = {{"d", DAY},         {"h", BATS_HOUR},   {"ms", 1000},
                  {"m", BATS_MINUTE}, {"s", BATS_SECOND}, {"us", 1}};

/* Reads "90", "0.25", "1h30m". */
static enum outcome read_sum(const char *text, bats_time *sum)
{
    *sum = 0;
    bats_time previous = BATS_NEVER;
    do {
        int64_t whole;
        const char *fraction;
        enum outcome outcome = read_decimal(&text, &whole, &fraction);
        if (outcome != READ)
            return outcome;
        if (*text == '\0' && previous == BATS_NEVER)
            return add_scaled(sum, whole, fraction, BATS_SECOND);
        size_t u = 0, n_units = sizeof time_units / sizeof *time_units;
        while (u < n_units && strncmp(text, time_units[u].name,
                                      strlen(time_units[u].name)) != 0)
            u++;
        if (u == n_units || time_units[u].time >= previous)
            return GARBLED;
        previous = time_units[u].time;
        text += strlen(time_units[u].name);
        outcome = add_scaled(sum, whole, fraction, previous);
        if (outcome != READ)
            return outcome;
    } while (*text);
    return READ;
}

/* Reads "MM:SS", "HH:MM:SS", "D-HH", "D-HH:MM", "D-HH:MM:SS". */
static enum outcome read_clock(const char *text, bats_time *sum)
{
    int64_t field[4]; /* the fields from the left */
    int n = 0;
    bool days = false;
    for (;; text++) {
        enum outcome outcome = read_digits(&text, &field[n++]);
        if (outcome != READ)
            return outcome;
        if (*text == '\0')
            break;
        if (*text == '-' && n == 1)
            days = true;
        else if (*text != ':' || n == (days ? 4 : 3))
            return GARBLED;
    }
    static const bats_time from_day[] = {DAY, BATS_HOUR, BATS_MINUTE,
                                         BATS_SECOND};
    const bats_time *unit = days ? from_day : from_day + 4 - n;
    *sum = 0;
    for (int i = 0; i < n; i++) {
        /* Only the leftmost field may exceed the range of a clock. */
        if (i > 0 && field[i] >= unit[i - 1] / unit[i])
            return GARBLED;
        if (add_scaled(sum, field[i], "", unit[i]) != READ)
            return TOO_LARGE;
    }
    return READ;
}

int bats_duration_parse(const char *text, bats_time *duration,
                        struct bats_error *err)
{
    bats_time sum = 0;
    bool clock = is_digit(text[0]) && strpbrk(text, ":-");
    enum outcome outcome =
        clock ? read_clock(text, &sum) : read_sum(text, &sum);
    if (outcome == GARBLED)
        return bats_refuse(
            err,
            "'%.60s' is not a duration such as 90, 15m, 1h30m or 2-12:00:00",
            text);
    if (outcome == TOO_LARGE || sum > BATS_LONGEST)
        return bats_refuse(err, "the duration '%.60s' is too long", text);
    *duration = sum;
    return 0;
}

int bats_period_parse(const char *text, bats_time *period,
                      struct bats_error *err)
{
    int rc = bats_duration_parse(text, period, err);
    return rc != 0 || *period > 0
               ? rc
               : bats_refuse(err, "it must be longer than 0");
}

int bats_money_parse(const char *text, bats_money *amount,
                     struct bats_error *err)
{
    const char *rest = text, *fraction;
    int64_t whole, sum = 0;
    enum outcome outcome = read_decimal(&rest, &whole, &fraction);
    if (*rest != '\0' && outcome == READ)
        outcome = GARBLED;
    if (outcome == READ && rest - fraction > 6)
        return bats_refuse(
            err, "'%.60s' has more than six digits after the point", text);
    if (outcome == READ)
        outcome = add_scaled(&sum, whole, fraction, BATS_UNIT);
    if (outcome == GARBLED)
        return bats_refuse(err,
                           text[0] == '-' && is_digit(text[1])
                               ? "the amount '%.60s' is negative"
                               : "'%.60s' is not an amount such as 3 or 0.085",
                           text);
    if (outcome == TOO_LARGE || sum == BATS_UNLIMITED)
        return bats_error_set(err, BATS_EOVERFLOW,
                              "the amount '%.60s' is too large", text);
    *amount = sum;
    return 0;
}

/* ---- writing ---- */

static uint64_t magnitude(int64_t value)
{
    return value < 0 ? -(uint64_t)value : (uint64_t)value;
}

/* Writes `count` small units as "<large><small>" or, without remainder,
 * "<large>". */
static void write_pair(char text[BATS_UNITS_TEXT], const char *sign,
                       uint64_t count, uint64_t per_large, char large,
                       char small)
{
    int n = snprintf(text, BATS_UNITS_TEXT, "%s%" PRIu64 "%c", sign,
                     count / per_large, large);
    if (count % per_large)
        snprintf(text + n, BATS_UNITS_TEXT - (size_t)n, "%" PRIu64 "%c",
                 count % per_large, small);
}

static uint64_t rounded(uint64_t value, int64_t unit)
{
    return (value + (uint64_t)unit / 2) / (uint64_t)unit;
}

const char *bats_duration_format(char text[BATS_UNITS_TEXT],
                                 bats_time duration)
{
    const char *sign = duration < 0 ? "-" : "";
    uint64_t us = magnitude(duration);
    /* Each threshold applies to the rounded value: 59.96 s is "1m", not
     * "60s". */
    if (duration == BATS_NEVER)
        return strcpy(text, "never");
    if (us == 0)
        return strcpy(text, "0s");
    if (us < 1000)
        snprintf(text, BATS_UNITS_TEXT, "%s%" PRIu64 "us", sign, us);
    else if (rounded(us, 1000) < 1000)
        snprintf(text, BATS_UNITS_TEXT, "%s%" PRIu64 "ms", sign,
                 rounded(us, 1000));
    else if (rounded(us, BATS_SECOND / 10) < 600) {
        uint64_t tenths = rounded(us, BATS_SECOND / 10);
        if (tenths % 10)
            snprintf(text, BATS_UNITS_TEXT, "%s%" PRIu64 ".%" PRIu64 "s", sign,
                     tenths / 10, tenths % 10);
        else
            snprintf(text, BATS_UNITS_TEXT, "%s%" PRIu64 "s", sign,
                     tenths / 10);
    } else if (rounded(us, BATS_SECOND) < 3600)
        write_pair(text, sign, rounded(us, BATS_SECOND), 60, 'm', 's');
    else if (rounded(us, BATS_MINUTE) < 24 * 60)
        write_pair(text, sign, rounded(us, BATS_MINUTE), 60, 'h', 'm');
    else
        write_pair(text, sign, rounded(us, BATS_HOUR), 24, 'd', 'h');
    return text;
}

const char *bats_money_format(char text[BATS_UNITS_TEXT], bats_money amount)
{
    if (amount == BATS_UNLIMITED)
        return strcpy(text, "unlimited");
    uint64_t millionths = magnitude(amount);
    int n = snprintf(text, BATS_UNITS_TEXT, "%s%" PRIu64 ".%06" PRIu64,
                     amount < 0 ? "-" : "", millionths / 1000000,
                     millionths % 1000000);
    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    text[n] = '\0';
    return text;
}

/* ---- bytes ---- */

static const char size_letters[] = "KMG";

int bats_size_parse(const char *text, int64_t *bytes, struct bats_error *err)
{
    const char *at = text;
    int64_t n = 0;
    enum outcome read = read_digits(&at, &n);
    const char *letter = *at != '\0' ? strchr(size_letters, *at) : NULL;
    if (letter != NULL)
        at++;
    if (read == GARBLED || (read == READ && (*at != '\0' || n == 0)))
        return bats_refuse(
            err, "'%s' is not a number of bytes such as 1000, 64K, 10M or 2G",
            text);
    for (ptrdiff_t i = letter != NULL ? letter - size_letters : -1;
         i >= 0 && read == READ; i--)
        if (!bats_units_multiply(n, 1024, &n))
            read = TOO_LARGE;
    if (read == TOO_LARGE)
        return bats_error_set(err, BATS_EOVERFLOW, "%s is too large", text);
    *bytes = n;
    return 0;
}

const char *bats_size_format(char text[BATS_UNITS_TEXT], int64_t bytes)
{
    int letter = -1;
    while (bytes != 0 && bytes % 1024 == 0 && letter < 2) {
        bytes /= 1024;
        letter++;
    }
    snprintf(text, BATS_UNITS_TEXT, "%" PRId64 "%.*s", bytes, letter >= 0,
             letter >= 0 ? size_letters + letter : "");
    return text;
}

/* ---- numbers ---- */

int bats_count_parse(const char *text, uint64_t *count, struct bats_error *err)
{
    const char *at = text;
    int64_t n = 0;
    enum outcome read = read_digits(&at, &n);
    if (read == GARBLED || (read == READ && *at != '\0'))
        return bats_refuse(err, "'%s' is not a whole number", text);
    if (read == TOO_LARGE)
        return bats_error_set(err, BATS_EOVERFLOW, "%s is too large", text);
    *count = (uint64_t)n;
    return 0;
}

int bats_count_within(const char *text, uint32_t least, uint32_t most,
                      uint32_t *count, struct bats_error *err)
{
    uint64_t n;
    if (bats_count_parse(text, &n, NULL) < 0 || n < least || n > most)
        return bats_refuse(err, "'%.60s' is not a whole number from %u to %u",
                           text, least, most);
    *count = (uint32_t)n;
    return 0;
}

int bats_factor_parse(const char *text, double *factor, struct bats_error *err)
{
    char *end;
    double f = strtod(text, &end);
    /* strtod also accepts blanks, hexadecimal digits and infinity. */
    if (text[0] == '\0' || text[strspn(text, "0123456789.eE+-")] != '\0' ||
        *end != '\0' || !isfinite(f) || f <= 0)
        return bats_refuse(err, "'%s' is not a number above 0", text);
    *factor = f;
    return 0;
}

bool bats_share_parse(const char *text, double *share)
{
    char number[16];
    double percent = 0;
    size_t n = strlen(text);
    if (n < 2 || n > sizeof number || text[n - 1] != '%')
        return false;
    snprintf(number, sizeof number, "%.*s", (int)n - 1, text);
    if (strspn(number, "0") < n - 1 &&
        (bats_factor_parse(number, &percent, NULL) != 0 || percent > 100))
        return false;
    *share = percent / 100;
    return true;
}

int bats_yes_parse(const char *text, bool *yes, struct bats_error *err)
{
    *yes = strcmp(text, "yes") == 0;
    return *yes || strcmp(text, "no") == 0
               ? 0
               : bats_refuse(err, "'%.60s' is neither yes nor no", text);
}
