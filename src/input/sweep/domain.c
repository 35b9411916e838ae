#include "input/sweep/domain.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/hash.h"

#define ROWS_MAX (UINT32_MAX - 1)

enum type { ANY, INTEGER, FLOAT, TEXT, FILES };

static const char *const types[] = {[INTEGER] = "integer",
                                    [FLOAT] = "float",
                                    [TEXT] = "text",
                                    [FILES] = "files"};

/* from, to and step of a range. */
struct range {
    double from, to, step;
    int64_t points;      /* 0: unspecified */
    bool has_step, real; /* real: some number is not an integer */
};

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

static void read_number(struct bats_source *s, enum type type,
                        struct range *range, double *number)
{
    bats_source_next(s);
    if (bats_source_ends(s) || !is_number(s->token.value, number))
        bats_source_expected(s, "a number");
    else if (type == INTEGER && !is_integer(s->token.value))
        bats_source_expected(s, "an integer");
    else
        range->real |= !is_integer(s->token.value);
}

/* Reads "points N", and the token after it. */
static void read_points(struct bats_source *s, struct range *range)
{
    bats_source_next(s);
    if (bats_source_ends(s) || !is_integer(s->token.value) ||
        atoll(s->token.value) < 1 || atoll(s->token.value) > ROWS_MAX)
        bats_source_expected(s, "the number of points, at least 1");
    range->points = atoll(s->token.value);
    bats_source_next(s);
}

/* Reads "from A to B", and the token after it. */
static void read_bounds(struct bats_source *s, enum type type,
                        struct range *range)
{
    if (type == TEXT || type == FILES)
        bats_source_expected(s, "a value: this parameter is not a number");
    bats_source_expect(s, "from");
    read_number(s, type, range, &range->from);
    bats_source_expect(s, "to");
    read_number(s, type, range, &range->to);
    if (range->to < range->from)
        bats_source_refuse(s, "the range ends before it begins");
    if (!isfinite(range->to - range->from))
        bats_source_refuse(s, "this range is too wide");
    bats_source_next(s);
}

static void end_here(struct bats_source *s, const char *what)
{
    if (!bats_source_ends(s))
        bats_source_expected(s, what);
}

static void add_row(struct bats_source *s, struct bats_axis *axis,
                    const char *text)
{
    bats_source_check(s, bats_axis_add(axis, text, strlen(text)));
}

/* ---- range ---- */

static void add_span(struct bats_source *s, struct bats_axis *axis,
                     const struct range *range, double n, double step)
{
    if (!(n <= ROWS_MAX)) {
        bats_source_refuse(s, "this range has too many values");
        return;
    }
    struct bats_row_span span = {.n = (uint64_t)n, .is_real = range->real};
    if (range->real) {
        span.from = range->from;
        span.by = step;
    } else {
        span.first = (int64_t)range->from;
        span.step = (int64_t)step;
    }
    bats_source_check(s, bats_axis_add_span(axis, span));
}

/* Adds the integers nearest to equal steps through the range. */
static void add_integers(struct bats_source *s, struct bats_axis *axis,
                         const struct range *range)
{
    int64_t last = 0;
    for (int64_t i = 0; s->rc == 0 && i < range->points; i++) {
        char text[BATS_SPAN_TEXT];
        double part =
            range->points > 1 ? (double)i / (double)(range->points - 1) : 0;
        int64_t value =
            llround(range->from + part * (range->to - range->from));
        if (i > 0 && value == last)
            continue;
        last = value;
        snprintf(text, sizeof text, "%" PRId64, value);
        add_row(s, axis, text);
    }
}

static void read_range(struct bats_source *s, struct bats_axis *axis,
                       enum type type)
{
    struct range range = {.step = 1};
    read_bounds(s, type, &range);
    if (bats_source_is(s, "step")) {
        read_number(s, type, &range, &range.step);
        if (range.step <= 0)
            bats_source_expected(s, "a step above 0");
        bats_source_next(s);
    } else if (bats_source_is(s, "points")) {
        read_points(s, &range);
    }
    end_here(s, "step, points or the end of the statement");
    if (s->rc < 0)
        return;
    double width = range.to - range.from;
    range.real = range.real || type == FLOAT;
    if (range.points > 0 && !range.real)
        add_integers(s, axis, &range);
    else if (range.points > 0)
        add_span(s, axis, &range, (double)range.points,
                 range.points > 1 ? width / (double)(range.points - 1) : 0);
    else /* with a margin, for steps such as 0.1 */
        add_span(s, axis, &range, floor(width / range.step + 1e-9) + 1,
                 range.step);
}

/* ---- random ---- */

/* A number uniform in [0, 1). */
static double draw(uint64_t *state)
{
    uint64_t z = bats_mix(*state);
    *state += BATS_MIX_STEP;
    return (double)(z >> 11) * 0x1p-53;
}

static void read_random(struct bats_source *s, struct bats_axis *axis,
                        enum type type, const char *name)
{
    struct range range = {0};
    uint64_t state = bats_hash(BATS_HASH, name, strlen(name));
    read_bounds(s, type, &range);
    if (bats_source_is(s, "points"))
        read_points(s, &range);
    end_here(s, "points or the end of the statement");
    int64_t n = range.points > 0 ? range.points : 1;
    for (int64_t i = 0; s->rc == 0 && i < n; i++) {
        char text[BATS_SPAN_TEXT];
        double width = range.to - range.from, u = draw(&state);
        if (range.real || type == FLOAT)
            snprintf(text, sizeof text, "%.12g", range.from + u * width);
        else
            snprintf(text, sizeof text, "%.0f",
                     range.from + floor(u * (width + 1)));
        add_row(s, axis, text);
    }
}

/* ---- values one by one ---- */

static void add_files(struct bats_source *s, struct bats_axis *axis)
{
    glob_t found;
    int bad = glob(s->token.value, 0, NULL, &found);
    if (bad == GLOB_NOMATCH)
        bats_source_refuse(s, "no file matches '%.100s'", s->token.value);
    bats_source_check(s, bad == 0);
    for (size_t i = 0; s->rc == 0 && i < found.gl_pathc; i++)
        add_row(s, axis, found.gl_pathv[i]);
    if (bad == 0)
        globfree(&found);
}

static void add_value(struct bats_source *s, struct bats_axis *axis,
                      enum type type)
{
    double number;
    if (type == INTEGER && !is_integer(s->token.value))
        bats_source_expected(s, "an integer");
    else if (type == FLOAT && !is_number(s->token.value, &number))
        bats_source_expected(s, "a number");
    else if (type == FILES)
        add_files(s, axis);
    else
        add_row(s, axis, s->token.value);
}

/* Reads values up to the end of the statement or, if allowed, the word
 * `default`. */
static void read_values(struct bats_source *s, struct bats_axis *axis,
                        enum type type, bool may_default)
{
    uint64_t before = axis->n_rows;
    bats_source_next(s);
    for (; !bats_source_ends(s) &&
           !(may_default && bats_source_is(s, "default"));
         bats_source_next(s))
        add_value(s, axis, type);
    if (axis->n_rows == before)
        bats_source_expected(s, "a value");
}

/* Keeps only the n rows from `first` on. */
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

static void read_selection(struct bats_source *s, struct bats_axis *axis,
                           enum type type)
{
    bats_source_next(s);
    bool one = bats_source_is(s, "oneof");
    if (!one && !bats_source_is(s, "anyof"))
        bats_source_expected(s, "anyof or oneof");
    read_values(s, axis, type, true);
    uint64_t n = axis->n_rows;
    if (bats_source_is(s, "default")) {
        read_values(s, axis, type, false);
        if (s->rc == 0)
            keep(axis, n, axis->n_rows - n);
    }
    if (s->rc == 0 && one)
        keep(axis, 0, 1);
}

/* ---- the whole ---- */

/* Reads "label TEXT" and a type, both optional, and the token after them. */
static enum type read_type(struct bats_source *s)
{
    bats_source_next(s);
    if (bats_source_is(s, "label")) {
        bats_source_next(s);
        if (bats_source_ends(s))
            bats_source_expected(s, "the text of the label");
        bats_source_next(s);
    }
    for (int i = INTEGER; i <= FILES; i++)
        if (bats_source_is(s, types[i])) {
            bats_source_next(s);
            return (enum type)i;
        }
    return ANY;
}

void bats_domain_read(struct bats_source *s, struct bats_axis *axis,
                      const char *name)
{
    enum type type = read_type(s);
    if (bats_source_is(s, "range")) {
        read_range(s, axis, type);
    } else if (bats_source_is(s, "random")) {
        read_random(s, axis, type, name);
    } else if (bats_source_is(s, "select")) {
        read_selection(s, axis, type);
    } else if (bats_source_is(s, "default")) {
        read_values(s, axis, type, false);
    } else if (bats_source_ends(s)) {
        bats_source_expected(
            s, type == ANY ? "integer, float, text, files, or a value"
                           : "a value, default, range, random or select");
    } else {
        add_value(s, axis, type);
        bats_source_end(s, "the end of the statement");
    }
}
