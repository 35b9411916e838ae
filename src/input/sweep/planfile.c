#include "input/sweep/planfile.h"

#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/plantask.h"
#include "input/sweep/source.h"
#include "util/grow.h"
#include "util/hash.h"

static void end_statement(struct bats_source *s)
{
    bats_source_end(s, "the end of the statement");
}

/*
 * The values of a parameter:
 *
 *     [label "TEXT"] [integer|float|text|files]
 *         VALUE | default VALUE...
 *       | range from A to B [step S | points N]
 *       | random from A to B [points N]
 *       | select anyof|oneof VALUE... [default VALUE...]
 *
 * A range includes B if a step meets it; the default step is 1. Random values
 * depend only on the parameter's name, so that they are the same when the plan
 * is read again. A selection gives its default values or, without them, all
 * (anyof) or the first (oneof). Files are names or patterns; every match is a
 * value, in alphabetical order.
 */

#define ROWS_MAX (UINT32_MAX - 1)

enum type { ANY, INTEGER, FLOAT, TEXT, FILES };

static const char *const types[] = {[INTEGER] = "integer",
                                    [FLOAT] = "float",
                                    [TEXT] = "text",
                                    [FILES] = "files"};

/* from, to and step of a range. */
struct range {
    double from, to, step;
    int64_t points; /* 0: unspecified */
    bool real;      /* some number is not an integer */
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

/* ---- range ---- */

static void add_span(struct bats_source *s, struct bats_axis *axis,
                     const struct range *range, double n, double step)
{
    if (!(n <= ROWS_MAX))
        bats_source_refuse(s, "this range has too many values");
    else if (range->real)
        bats_axis_add_span(axis, (struct bats_row_span){.n = (uint64_t)n,
                                                        .is_real = true,
                                                        .from = range->from,
                                                        .by = step});
    else
        bats_axis_add_span(
            axis, (struct bats_row_span){.n = (uint64_t)n,
                                         .first = (int64_t)range->from,
                                         .step = (int64_t)step});
}

/* Adds the integers nearest to equal steps through the range. */
static void add_integers(struct bats_source *s, struct bats_axis *axis,
                         const struct range *range)
{
    int64_t last = 0;
    for (int64_t i = 0; s->rc == 0 && !axis->text.failed && i < range->points;
         i++) {
        char text[BATS_SPAN_TEXT];
        double part =
            range->points > 1 ? (double)i / (double)(range->points - 1) : 0;
        int64_t value =
            llround(range->from + part * (range->to - range->from));
        if (i > 0 && value == last)
            continue;
        last = value;
        snprintf(text, sizeof text, "%" PRId64, value);
        bats_axis_add(axis, text);
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
    for (int64_t i = 0; s->rc == 0 && !axis->text.failed && i < n; i++) {
        char text[BATS_SPAN_TEXT];
        double width = range.to - range.from, u = draw(&state);
        if (range.real || type == FLOAT)
            snprintf(text, sizeof text, "%.12g", range.from + u * width);
        else
            snprintf(text, sizeof text, "%.0f",
                     range.from + floor(u * (width + 1)));
        bats_axis_add(axis, text);
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
        bats_axis_add(axis, found.gl_pathv[i]);
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
        bats_axis_add(axis, s->token.value);
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
        first + n < axis->n_rows ? axis->row[first + n] : axis->text.n;
    memmove(axis->text.bytes, axis->text.bytes + begin, end - begin);
    for (uint64_t i = 0; i < n; i++)
        axis->row[i] = axis->row[first + i] - begin;
    bats_text_cut(&axis->text, end - begin);
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
        if (s->rc == 0 && !axis->text.failed)
            keep(axis, n, axis->n_rows - n);
    }
    if (s->rc == 0 && one && !axis->text.failed)
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

static void read_domain(struct bats_source *s, struct bats_axis *axis,
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

/* ---- names ---- */

static bool is_known(const struct bats_points *points, const char *name)
{
    for (size_t k = 0; k < points->n_axes; k++)
        if (bats_axis_has_name(&points->axes[k], name, strlen(name)))
            return true;
    return false;
}

/* Makes an empty axis with the name that comes next, which must be new. NULL:
 * there is a mistake. */
static struct bats_axis *read_axis(struct bats_source *s,
                                   struct bats_points *points, const char *of)
{
    bats_source_next(s);
    if (s->token.kind == BATS_TOKEN_STRING ||
        !bats_text_is_name(s->token.value))
        bats_source_expected(s, of);
    if (bats_plantask_is_number(s->token.value))
        bats_source_refuse(s, "'%.60s' is the number of the job",
                           s->token.value);
    if (is_known(points, s->token.value))
        bats_source_refuse(s, "there is already a '%.60s'", s->token.value);
    if (s->rc < 0)
        return NULL;
    struct bats_axis *axis = bats_points_axis(points);
    if (axis != NULL)
        bats_axis_add_name(axis, s->token.value, strlen(s->token.value));
    bats_source_check(s, axis != NULL && !axis->text.failed);
    return s->rc == 0 ? axis : NULL;
}

/* ---- variables and jobs ---- */

/* In the lines of `jobs`, numbers of rows stand for the values of
 * variables. */
struct variables {
    struct bats_points all; /* one axis for each variable */
    int64_t *index;
    size_t index_room;
};

static int64_t read_index(struct bats_source *s, const char *what)
{
    bats_source_next(s);
    const char *word = s->token.value;
    size_t n = strspn(word, "0123456789");
    if (n == 0 || n > 9 || word[n] != '\0')
        bats_source_expected(s, what);
    return atoll(word);
}

static void read_variable(struct bats_source *s, struct variables *v)
{
    size_t n = v->all.n_axes;
    struct bats_axis *axis = read_axis(s, &v->all, "the name of a variable");
    bats_source_check(
        s, bats_grow(&v->index, &v->index_room, n + 1, sizeof *v->index));
    bats_source_expect(s, "index");
    int64_t index = read_index(s, "a number: the place of the variable in the "
                                  "lines of jobs, from 0");
    for (size_t i = 0; s->rc == 0 && i < n; i++)
        if (v->index[i] == index)
            bats_source_refuse(s, "two variables have the index %" PRId64,
                               index);
    bats_source_expect(s, "list");
    if (s->rc < 0)
        return;
    v->index[n] = index;
    while (bats_source_next(s), !bats_source_ends(s))
        bats_axis_add(axis, s->token.value);
    bats_source_check(s, !axis->text.failed);
    if (axis->n_rows == 0)
        bats_source_expected(s, "a value");
}

/* The variable at place `index` of a line; each place has one. */
static struct bats_axis *variable_at(struct variables *v, size_t index)
{
    for (size_t i = 0; i < v->all.n_axes; i++)
        if (v->index[i] == (int64_t)index)
            return &v->all.axes[i];
    return NULL;
}

static void check_indices(struct bats_source *s, struct variables *v)
{
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++)
        if (variable_at(v, i) == NULL)
            bats_source_refuse(
                s, "no variable has the index %zu: they go from 0 to %zu", i,
                v->all.n_axes - 1);
}

/* Reads the rest of a job's line after its name. */
static void read_job(struct bats_source *s, struct variables *v,
                     struct bats_axis *jobs)
{
    bats_axis_add(jobs, s->token.value);
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++) {
        const struct bats_axis *axis = variable_at(v, i);
        int64_t at = read_index(s, "the number of a value, from 0, for each "
                                   "variable");
        if ((uint64_t)at >= axis->n_rows)
            bats_source_refuse(
                s, "%s has the values 0 to %" PRIu64 ", and not %" PRId64,
                axis->names[0], axis->n_rows - 1, at);
        if (s->rc < 0)
            return;
        const char *value = axis->text.bytes + axis->row[at];
        bats_axis_add_value(jobs, value, strlen(value));
    }
    end_statement(s);
}

static void read_jobs(struct bats_source *s, struct variables *v,
                      struct bats_points *points)
{
    struct bats_axis *jobs = bats_points_axis(points);
    bats_source_check(s, jobs != NULL);
    end_statement(s);
    check_indices(s, v);
    if (s->rc == 0)
        bats_axis_add_name(jobs, BATS_PLANTASK_JOBNAME,
                           strlen(BATS_PLANTASK_JOBNAME));
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++) {
        const char *name = variable_at(v, i)->names[0];
        bats_axis_add_name(jobs, name, strlen(name));
    }
    while (bats_source_next(s), !bats_source_is(s, "endjobs")) {
        if (s->token.kind == BATS_TOKEN_EOF) {
            bats_source_expected(s, "'endjobs'");
            return;
        }
        if (s->token.kind != BATS_TOKEN_END)
            read_job(s, v, jobs);
    }
    end_statement(s);
}

/* Without a list of jobs, variables become axes like parameters. */
static void take_variables(struct bats_source *s, struct variables *v,
                           struct bats_points *points)
{
    check_indices(s, v);
    for (size_t i = 0; s->rc == 0 && i < v->all.n_axes; i++) {
        struct bats_axis *axis = bats_points_axis(points);
        struct bats_axis *from = variable_at(v, i);
        bats_source_check(s, axis != NULL);
        if (axis == NULL)
            return;
        *axis = *from;
        *from = (struct bats_axis){0};
        v->index[from - v->all.axes] = -1;
    }
}

/* ---- statements ---- */

/* Skips to the end of a task; plantask.c reads it later. */
static void skip_task(struct bats_source *s)
{
    do {
        bats_source_rest(s);
        while (*s->at != '\0' && bats_source_next(s) == BATS_TOKEN_END)
            ;
        if (bats_source_is(s, "endtask")) {
            end_statement(s);
            return;
        }
        if (bats_source_is(s, "task")) { /* plantask.c complains */
            s->at = s->token.at;
            return;
        }
    } while (*s->at != '\0');
}

static void read_statement(struct bats_source *s, struct variables *v,
                           struct bats_points *points, bool *has_jobs)
{
    if (s->token.kind == BATS_TOKEN_END)
        return;
    if (bats_source_is(s, "parameter")) {
        struct bats_axis *axis =
            read_axis(s, points, "the name of a parameter");
        if (axis != NULL)
            read_domain(s, axis, axis->names[0]);
    } else if (bats_source_is(s, "variable")) {
        read_variable(s, v);
    } else if (bats_source_is(s, "task")) {
        skip_task(s);
    } else if (!bats_source_is(s, "jobs")) {
        bats_source_expected(s, "parameter, variable, jobs or task");
    } else if (*has_jobs) {
        bats_source_refuse(s, "there is already a list of jobs");
    } else {
        *has_jobs = true;
        read_jobs(s, v, points);
    }
}

static void read_axes(struct bats_source *s, struct bats_points *points)
{
    struct variables v = {0};
    bool has_jobs = false;
    while (bats_source_next(s) != BATS_TOKEN_EOF)
        read_statement(s, &v, points, &has_jobs);
    if (!has_jobs)
        take_variables(s, &v, points);
    if (points->n_axes == 0)
        bats_source_expected(s, "a parameter");
    bats_points_release(&v.all);
    free(v.index);
}

int bats_planfile_read(const char *name, const char *text,
                       struct bats_points *points,
                       struct bats_template *script, char **warnings,
                       struct bats_error *err)
{
    struct bats_source s = {
        .name = name, .text = text, .at = text, .err = err};
    read_axes(&s, points);
    if (s.rc == 0) {
        s.at = text;
        bats_plantask_read(&s, points, script);
    }
    *warnings = s.warnings.bytes;
    s.warnings = (struct bats_text){0};
    bats_source_release(&s);
    return s.rc;
}

/* ---- scripts with parameters ---- */

/* The parameters of a line "#BATS parameter ...", or NULL. */
static const char *parameter_line(const char *line)
{
    static const char mark[] = "#BATS", word[] = "parameter";
    size_t n = strlen(mark);
    if (strncmp(line, mark, n) != 0 || (line[n] != ' ' && line[n] != '\t'))
        return NULL;
    line += n + strspn(line + n, " \t");
    return strncmp(line, word, strlen(word)) == 0 ? line : NULL;
}

bool bats_planfile_in_script(const char *text)
{
    if (strncmp(text, "#!", 2) != 0)
        return false;
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n';
        if (parameter_line(line) != NULL)
            return true;
    }
    return false;
}

/* Blanks out everything but the parameters, so that lines keep their
 * numbers. */
int bats_planfile_read_script(const char *name, const char *text,
                              struct bats_points *points,
                              struct bats_error *err)
{
    char *only = strdup(text);
    struct bats_source s = {
        .name = name, .text = only, .at = only, .err = err};
    if (only == NULL)
        return bats_no_memory(s.err);
    for (char *line = only; *line != '\0';) {
        const char *from = parameter_line(line);
        size_t n = strcspn(line, "\n");
        memset(line, ' ', from != NULL ? (size_t)(from - line) : n);
        line += n + (line[n] == '\n');
    }
    read_axes(&s, points);
    bats_source_release(&s);
    free(only);
    return s.rc;
}
