#include "input/sweep/domain.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS_MAX (UINT32_MAX - 1)

enum type { ANY, INTEGER, FLOAT, TEXT, FILES };

static const char *const types[] = {[INTEGER] = "integer",
                                    [FLOAT] = "float",
                                    [TEXT] = "text",
                                    [FILES] = "files"};

/* from, to and by of a range. */
struct range {
    double from, to, step;
    int64_t points;      /* 0: not given */
    bool has_step, real; /* real: one of them is not an integer */
};

static int no_memory(const struct bats_source *s)
{
    return bats_error_set(s->err, BATS_ENOMEM, "no memory for a plan");
}

/* ---- numbers ---- */

static bool is_integer(const char *word)
{
    word += *word == '-' || *word == '+';
    size_t n = strspn(word, "0123456789");
    return n > 0 && n <= 15 && word[n] == '\0';
}

static bool is_number(const char *word, double *number)
{
    char *end;
    if (word[strspn(word, "0123456789+-.eE")] != '\0')
        return false;
    *number = strtod(word, &end);
    return end > word && *end == '\0' && isfinite(*number);
}

static int read_number(struct bats_source *s, enum type type,
                       struct range *range, double *number)
{
    int rc = bats_source_next(s);
    if (rc < 0)
        return rc;
    if (bats_source_ends(s) || !is_number(s->token.value, number))
        return bats_source_expected(s, "a number");
    if (is_integer(s->token.value))
        return 0;
    if (type == INTEGER)
        return bats_source_expected(s, "an integer");
    range->real = true;
    return 0;
}

static int read_points(struct bats_source *s, struct range *range)
{
    int rc = bats_source_next(s);
    if (rc < 0)
        return rc;
    if (bats_source_ends(s) || !is_integer(s->token.value) ||
        atoll(s->token.value) < 1 || atoll(s->token.value) > ROWS_MAX)
        return bats_source_expected(s, "the number of points, at least 1");
    range->points = atoll(s->token.value);
    return bats_source_next(s);
}

/* "from A to B", and the token after it. */
static int read_bounds(struct bats_source *s, enum type type,
                       struct range *range)
{
    if (type == TEXT || type == FILES)
        return bats_source_expected(s, "a value: this parameter is no number");
    int rc = bats_source_expect(s, "from");
    if (rc == 0)
        rc = read_number(s, type, range, &range->from);
    if (rc == 0)
        rc = bats_source_expect(s, "to");
    if (rc == 0)
        rc = read_number(s, type, range, &range->to);
    if (rc == 0 && range->to < range->from)
        rc = bats_source_refuse(s, "the range ends before it begins");
    if (rc == 0 && !isfinite(range->to - range->from))
        rc = bats_source_refuse(s, "this range is too wide");
    return rc < 0 ? rc : bats_source_next(s);
}

static int end_here(struct bats_source *s, const char *what)
{
    return bats_source_ends(s) ? 0 : bats_source_expected(s, what);
}

/* ---- range ---- */

static int add_span(struct bats_source *s, struct bats_axis *axis,
                    const struct range *range, double n, double step)
{
    if (!(n <= ROWS_MAX))
        return bats_source_refuse(s, "this range has too many values");
    struct bats_span span = {.n = (uint64_t)n, .is_real = range->real};
    if (range->real) {
        span.from = range->from;
        span.by = step;
    } else {
        span.first = (int64_t)range->from;
        span.step = (int64_t)step;
    }
    return bats_axis_add_span(axis, span) ? 0 : no_memory(s);
}

/* The values nearest to those that divide the range equally. */
static int add_integers(struct bats_source *s, struct bats_axis *axis,
                        const struct range *range)
{
    int64_t last = 0;
    for (int64_t i = 0; i < range->points; i++) {
        char text[BATS_SPAN_TEXT];
        double part =
            range->points > 1 ? (double)i / (double)(range->points - 1) : 0;
        int64_t value =
            llround(range->from + part * (range->to - range->from));
        if (i > 0 && value == last)
            continue;
        last = value;
        snprintf(text, sizeof text, "%" PRId64, value);
        if (!bats_axis_add(axis, text, strlen(text)))
            return no_memory(s);
    }
    return 0;
}

static int read_range(struct bats_source *s, struct bats_axis *axis,
                      enum type type)
{
    struct range range = {.step = 1};
    int rc = read_bounds(s, type, &range);
    if (rc == 0 && bats_source_is(s, "step")) {
        rc = read_number(s, type, &range, &range.step);
        if (rc == 0 && range.step <= 0)
            rc = bats_source_expected(s, "a step above 0");
        if (rc == 0)
            rc = bats_source_next(s);
    } else if (rc == 0 && bats_source_is(s, "points")) {
        rc = read_points(s, &range);
    }
    if (rc == 0)
        rc = end_here(s, "step, points or the end of the statement");
    if (rc < 0)
        return rc;
    double width = range.to - range.from;
    range.real = range.real || type == FLOAT;
    if (range.points > 0 && !range.real)
        return add_integers(s, axis, &range);
    if (range.points > 0)
        return add_span(s, axis, &range, (double)range.points,
                        range.points > 1 ? width / (double)(range.points - 1)
                                         : 0);
    /* A little more than whole, for steps such as 0.1. */
    return add_span(s, axis, &range, floor(width / range.step + 1e-9) + 1,
                    range.step);
}

/* ---- random ---- */

/* Uniform in [0, 1): splitmix64. */
static double draw(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

static int read_random(struct bats_source *s, struct bats_axis *axis,
                       enum type type, const char *name)
{
    struct range range = {0};
    uint64_t state = UINT64_C(0xcbf29ce484222325);
    int rc = read_bounds(s, type, &range);
    if (rc == 0 && bats_source_is(s, "points"))
        rc = read_points(s, &range);
    if (rc == 0)
        rc = end_here(s, "points or the end of the statement");
    for (; *name != '\0'; name++)
        state = (state ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    int64_t n = range.points > 0 ? range.points : 1;
    for (int64_t i = 0; rc == 0 && i < n; i++) {
        char text[BATS_SPAN_TEXT];
        double width = range.to - range.from, u = draw(&state);
        if (range.real || type == FLOAT)
            snprintf(text, sizeof text, "%.12g", range.from + u * width);
        else
            snprintf(text, sizeof text, "%.0f",
                     range.from + floor(u * (width + 1)));
        if (!bats_axis_add(axis, text, strlen(text)))
            rc = no_memory(s);
    }
    return rc;
}

/* ---- values one by one ---- */

static int add_files(struct bats_source *s, struct bats_axis *axis)
{
    glob_t found;
    int bad = glob(s->token.value, 0, NULL, &found);
    if (bad == GLOB_NOMATCH)
        return bats_source_refuse(s, "no file matches '%.100s'",
                                  s->token.value);
    if (bad != 0)
        return no_memory(s);
    bool ok = true;
    for (size_t i = 0; ok && i < found.gl_pathc; i++)
        ok = bats_axis_add(axis, found.gl_pathv[i], strlen(found.gl_pathv[i]));
    globfree(&found);
    return ok ? 0 : no_memory(s);
}

static int add_value(struct bats_source *s, struct bats_axis *axis,
                     enum type type)
{
    double number;
    if (type == INTEGER && !is_integer(s->token.value))
        return bats_source_expected(s, "an integer");
    if (type == FLOAT && !is_number(s->token.value, &number))
        return bats_source_expected(s, "a number");
    if (type == FILES)
        return add_files(s, axis);
    return bats_axis_add(axis, s->token.value, strlen(s->token.value))
               ? 0
               : no_memory(s);
}

/* Reads values up to the end of the statement, or to the word `default` if
 * that may come. */
static int read_values(struct bats_source *s, struct bats_axis *axis,
                       enum type type, bool may_default)
{
    uint64_t before = axis->n_rows;
    int rc;
    while ((rc = bats_source_next(s)) == 0 && !bats_source_ends(s) &&
           !(may_default && bats_source_is(s, "default")))
        if ((rc = add_value(s, axis, type)) < 0)
            return rc;
    if (rc == 0 && axis->n_rows == before)
        rc = bats_source_expected(s, "a value");
    return rc;
}

/* Keeps the rows from `first` on, n of them. */
static void keep(struct bats_axis *axis, uint64_t first, uint64_t n)
{
    size_t begin = axis->row[first];
    size_t end =
        first + n < axis->n_rows ? axis->row[first + n] : axis->length;
    memmove(axis->text, axis->text + begin, end - begin);
    for (uint64_t i = 0; i < n; i++)
        axis->row[i] = axis->row[first + i] - begin;
    axis->length = end - begin;
    axis->n_rows = n;
}

static int read_selection(struct bats_source *s, struct bats_axis *axis,
                          enum type type)
{
    int rc = bats_source_next(s);
    if (rc < 0)
        return rc;
    bool one = bats_source_is(s, "oneof");
    if (!one && !bats_source_is(s, "anyof"))
        return bats_source_expected(s, "anyof or oneof");
    rc = read_values(s, axis, type, true);
    uint64_t n = axis->n_rows;
    if (rc == 0 && bats_source_is(s, "default")) {
        rc = read_values(s, axis, type, false);
        if (rc == 0)
            keep(axis, n, axis->n_rows - n);
    }
    if (rc == 0 && one)
        keep(axis, 0, 1);
    return rc;
}

/* ---- the whole ---- */

/* "label TEXT" and a type, both optional; the token after them. */
static int read_type(struct bats_source *s, enum type *type)
{
    int rc = bats_source_next(s);
    *type = ANY;
    if (rc == 0 && bats_source_is(s, "label")) {
        rc = bats_source_next(s);
        if (rc == 0 && bats_source_ends(s))
            rc = bats_source_expected(s, "the text of the label");
        if (rc == 0)
            rc = bats_source_next(s);
    }
    for (int i = INTEGER; rc == 0 && *type == ANY && i <= FILES; i++)
        if (bats_source_is(s, types[i]))
            *type = (enum type)i;
    return rc == 0 && *type != ANY ? bats_source_next(s) : rc;
}

int bats_domain_read(struct bats_source *s, struct bats_axis *axis,
                     const char *name)
{
    enum type type;
    int rc = read_type(s, &type);
    if (rc < 0)
        return rc;
    if (bats_source_is(s, "range"))
        return read_range(s, axis, type);
    if (bats_source_is(s, "random"))
        return read_random(s, axis, type, name);
    if (bats_source_is(s, "select"))
        return read_selection(s, axis, type);
    if (bats_source_is(s, "default"))
        return read_values(s, axis, type, false);
    if (bats_source_ends(s))
        return bats_source_expected(
            s, type == ANY ? "integer, float, text, files, or a value"
                           : "a value, default, range, random or select");
    rc = add_value(s, axis, type);
    if (rc == 0)
        rc = bats_source_next(s);
    return rc < 0 ? rc : end_here(s, "the end of the statement");
}
