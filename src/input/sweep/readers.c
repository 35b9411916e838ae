#include "input/sweep/readers.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "util/grow.h"
#include "util/larger.h"

/* ---- columns ---- */

/* Replaces \t and \n, which POSIX regular expressions do not know. */
static char *plain_expression(const char *separator)
{
    char *copy = malloc(strlen(separator) + 1), *to = copy;
    for (const char *at = separator; copy != NULL && *at != '\0'; at++) {
        if (at[0] == '\\' && (at[1] == 't' || at[1] == 'n')) {
            *to++ = at[1] == 't' ? '\t' : '\n';
            at++;
        } else {
            *to++ = *at;
            if (at[0] == '\\' && at[1] != '\0')
                *to++ = *++at;
        }
    }
    if (copy != NULL)
        *to = '\0';
    return copy;
}

int bats_columns_init(struct bats_columns *columns, const char *separator,
                      bool header, struct bats_error *err)
{
    *columns = (struct bats_columns){
        .header = header, .split = header, .literal = '\t'};
    if (separator == NULL)
        return 0;
    columns->literal = '\0';
    columns->split = columns->trim = true;
    char *text = plain_expression(separator);
    if (text == NULL)
        return bats_no_memory(err);
    if (strlen(text) == 1 && strchr("^.[$()|*+?{\\", *text) == NULL)
        columns->literal = *text;
    int bad = regcomp(&columns->regex, text, REG_EXTENDED);
    free(text);
    if (bad != 0)
        return bats_refuse(
            err, "--colsep: '%s' is not an extended regular expression",
            separator);
    columns->has_regex = true;
    if (regexec(&columns->regex, "", 0, NULL, 0) == 0) {
        bats_columns_release(columns);
        return bats_refuse(err, "--colsep: '%s' matches the empty string",
                           separator);
    }
    return 0;
}

void bats_columns_release(struct bats_columns *columns)
{
    if (columns->has_regex)
        regfree(&columns->regex);
    columns->has_regex = false;
}

/* Finds begin and end of the separator in `text`, from `at` on; false:
 * none. */
static bool find_separator(const struct bats_columns *columns,
                           const char *text, size_t at, size_t *begin,
                           size_t *end)
{
    regmatch_t match;
    if (columns->literal != '\0') {
        const char *found = strchr(text + at, columns->literal);
        if (found == NULL)
            return false;
        *begin = (size_t)(found - text);
        *end = *begin + 1;
        return true;
    }
    /* An empty match, as of (^|,), separates nothing. */
    for (size_t from = at;; from = *end + 1) {
        if (regexec(&columns->regex, text + from, 1, &match,
                    from > 0 ? REG_NOTBOL : 0) != 0)
            return false;
        *begin = from + (size_t)match.rm_so;
        *end = from + (size_t)match.rm_eo;
        if (*end > *begin)
            return true;
        if (text[*end] == '\0')
            return false;
    }
}

static bool add_column(struct bats_axis *axis,
                       const struct bats_columns *columns, const char *text,
                       size_t n)
{
    while (columns->trim && n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    while (columns->trim && n > 0 && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    return bats_axis_add_value(axis, text, n);
}

static bool add_row(struct bats_axis *axis, const char *text,
                    const struct bats_columns *columns)
{
    size_t at = 0, begin, end;
    bool ok = bats_axis_begin_row(axis);
    if (!columns->split)
        return ok && bats_axis_add_value(axis, text, strlen(text));
    while (ok && find_separator(columns, text, at, &begin, &end)) {
        ok = add_column(axis, columns, text + at, begin - at);
        at = end;
    }
    return ok && add_column(axis, columns, text + at, strlen(text + at));
}

/* Adds names to the axis, without empty ones at the end. */
static bool add_names(struct bats_axis *axis, const char *text,
                      const struct bats_columns *columns)
{
    size_t at = 0, begin, end, length = strlen(text);
    bool ok = true;
    if (length > 0 && text[length - 1] == '\r')
        length--;
    while (ok && find_separator(columns, text, at, &begin, &end) &&
           begin < length) {
        ok = bats_axis_add_name(axis, text + at, begin - at);
        at = end;
    }
    ok = ok && bats_axis_add_name(axis, text + at, length - at);
    while (ok && axis->n_names > 1 && *axis->names[axis->n_names - 1] == '\0')
        free(axis->names[--axis->n_names]);
    return ok;
}

/* Adds a line to the axis: as the names if these are still missing, else as a
 * row. */
static bool add_line(struct bats_axis *axis, const char *text,
                     const struct bats_columns *columns)
{
    if (columns->header && axis->n_names == 0)
        return add_names(axis, text, columns);
    return add_row(axis, text, columns);
}

int bats_axis_read_words(struct bats_axis *axis, const char *const *words,
                         size_t n, const struct bats_columns *columns,
                         struct bats_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!add_line(axis, words[i], columns))
            return bats_no_memory(err);
    return 0;
}

int bats_axis_read_lines(struct bats_axis *axis, const char *path,
                         const struct bats_columns *columns,
                         struct bats_error *err)
{
    char *text;
    size_t length;
    int rc = columns->end == '\0'
                 ? bats_textfile_read_nul(path, &text, &length, err)
                 : bats_textfile_read(path, &text, &length, err);
    if (rc < 0)
        return rc;
    bool ok = true;
    for (char *line = text; ok && line < text + length;) {
        char *end = line;
        while (end < text + length && *end != columns->end)
            end++;
        *end = '\0';
        ok = add_line(axis, line, columns);
        line = end + 1;
    }
    free(text);
    return ok ? 0 : bats_no_memory(err);
}

/* ---- CSV ---- */

struct csv {
    const char *name;
    char *at;
    uint64_t line;   /* line of `at`, from 1 */
    uint64_t record; /* line on which the current record began */
    bool more;       /* more fields follow in this record */
};

static int bad_csv(const struct csv *csv, const char *sentence,
                   struct bats_error *err)
{
    return bats_refuse(err, "%s:%" PRIu64 ": %s", csv->name, csv->line,
                       sentence);
}

/* Reads what follows a field: a comma, or the end of the record. */
static int end_field(struct csv *csv, struct bats_error *err)
{
    csv->more = *csv->at == ',';
    if (csv->at[0] == '\r' && (csv->at[1] == '\n' || csv->at[1] == '\0'))
        csv->at++;
    if (*csv->at == '\n')
        csv->line++;
    else if (*csv->at != ',' && *csv->at != '\0')
        return bad_csv(csv,
                       "expected a comma or the end of the line after "
                       "the closing quote",
                       err);
    csv->at += *csv->at != '\0';
    return 0;
}

/* Reads a field; *value points into the text. */
static int read_field(struct csv *csv, char **value, size_t *n,
                      struct bats_error *err)
{
    char *to = csv->at;
    *value = csv->at;
    if (*csv->at != '"') {
        csv->at += strcspn(csv->at, ",\n\"");
        if (*csv->at == '"')
            return bad_csv(csv,
                           "a quote in a field that does not begin with "
                           "one",
                           err);
        *n = (size_t)(csv->at - *value);
        if (*n > 0 && csv->at[0] != ',' && csv->at[-1] == '\r')
            --*n;
        return end_field(csv, err);
    }
    for (csv->at++; *csv->at != '\0'; csv->at++) {
        csv->line += *csv->at == '\n';
        if (*csv->at == '"' && *++csv->at != '"') {
            *n = (size_t)(to - *value);
            return end_field(csv, err);
        }
        *to++ = *csv->at;
    }
    csv->line = csv->record;
    return bad_csv(csv, "this record has a quote that is not closed", err);
}

static int name_column(struct bats_axis *axis, const struct csv *csv,
                       const char *name, size_t n, struct bats_error *err)
{
    if (n == 0)
        return bats_refuse(err, "%s:1: column %zu has no name", csv->name,
                           axis->n_names + 1);
    if (axis->n_names == BATS_POINTS_NAMES)
        return bats_refuse(
            err, "%s:1: more than %d columns: a sweep has no more parameters",
            csv->name, BATS_POINTS_NAMES);
    for (size_t i = 0; i < axis->n_names; i++)
        if (strlen(axis->names[i]) == n &&
            memcmp(axis->names[i], name, n) == 0)
            return bats_refuse(err, "%s:1: two columns are called '%.*s'",
                               csv->name, (int)(n < 80 ? n : 80), name);
    return bats_axis_add_name(axis, name, n) ? 0 : bats_no_memory(err);
}

static int read_names(struct bats_axis *axis, struct csv *csv,
                      struct bats_error *err)
{
    char *value;
    size_t n;
    int rc;
    do {
        rc = read_field(csv, &value, &n, err);
        if (rc == 0)
            rc = name_column(axis, csv, value, n, err);
    } while (rc == 0 && csv->more);
    return rc;
}

static int read_record(struct bats_axis *axis, struct csv *csv,
                       struct bats_error *err)
{
    size_t n_fields = 0, n;
    char *value;
    int rc = bats_axis_begin_row(axis) &&
                     bats_axis_note_line(axis, csv->name, csv->record)
                 ? 0
                 : bats_no_memory(err);
    for (csv->more = true; rc == 0 && csv->more; n_fields++) {
        rc = read_field(csv, &value, &n, err);
        if (rc == 0 && !bats_axis_add_value(axis, value, n))
            rc = bats_no_memory(err);
    }
    if (rc == 0 && n_fields != axis->n_names)
        rc = bats_refuse(err,
                         "%s:%" PRIu64 ": %zu fields, but the header has %zu",
                         csv->name, csv->record, n_fields, axis->n_names);
    return rc;
}

static bool is_empty_line(const char *at)
{
    return at[0] == '\n' || (at[0] == '\r' && at[1] == '\n');
}

int bats_axis_read_csv(struct bats_axis *axis, const char *path,
                       struct bats_error *err)
{
    char *text;
    size_t length;
    int rc = bats_textfile_read(path, &text, &length, err);
    if (rc < 0)
        return rc;
    struct csv csv = {
        .name = bats_textfile_name(path), .at = text, .line = 1, .record = 1};
    if (strncmp(text, "\xEF\xBB\xBF", 3) == 0) /* a byte order mark */
        csv.at += 3;
    rc = read_names(axis, &csv, err);
    while (rc == 0 && *csv.at != '\0') {
        csv.record = csv.line;
        if (axis->n_names > 1 && is_empty_line(csv.at)) {
            csv.at += 1 + (*csv.at == '\r');
            csv.line++;
        } else {
            rc = read_record(axis, &csv, err);
        }
    }
    if (rc == 0 && axis->n_rows == 0)
        rc = bats_refuse(err, "%s: no record after the header", csv.name);
    free(text);
    return rc;
}

/* ---- arrays as Slurm has them ---- */

static bool read_number(const char **at, int64_t *number)
{
    size_t n = strspn(*at, "0123456789");
    if (n == 0 || n > 18)
        return false;
    *number = strtoll(*at, NULL, 10);
    *at += n;
    return true;
}

/* Reads a span. Returns a description of the mistake, or NULL. */
static const char *read_span(const char **at, struct bats_row_span *span)
{
    static const char form[] = "is not of the form 1-100, 1-100:2 or 1,3,5-9";
    int64_t last;
    *span = (struct bats_row_span){.step = 1};
    if (!read_number(at, &span->first))
        return form;
    last = span->first;
    if (**at == '-') {
        ++*at;
        if (!read_number(at, &last))
            return form;
        if (last < span->first)
            return "has a range that ends below its beginning";
        if (**at == ':') {
            ++*at;
            if (!read_number(at, &span->step))
                return form;
            if (span->step == 0)
                return "has a step of 0";
        }
    }
    span->n = (uint64_t)((last - span->first) / span->step) + 1;
    if (**at == '%')
        return "limits the tasks at a time; use -j for that";
    return **at == ',' || **at == '\0' ? NULL : form;
}

static int64_t last_of(const struct bats_row_span *span)
{
    return span->first + (int64_t)(span->n - 1) * span->step;
}

static int by_first(const void *left, const void *right)
{
    const struct bats_row_span *a = left, *b = right;
    return (a->first > b->first) - (a->first < b->first);
}

/* Adds the numbers without duplicates, as spans of consecutive ones. */
static bool add_numbers(struct bats_axis *axis, int64_t *numbers, size_t n)
{
    bool ok = true;
    qsort(numbers, n, sizeof *numbers, bats_ascending);
    for (size_t i = 0; ok && i < n;) {
        struct bats_row_span span = {.first = numbers[i], .step = 1, .n = 1};
        while (++i < n && numbers[i] <= last_of(&span) + 1)
            span.n += numbers[i] > last_of(&span);
        ok = bats_axis_add_span(axis, span);
    }
    return ok;
}

/* Adds n overlapping spans without duplicates. */
static int add_once(struct bats_axis *axis, const struct bats_row_span *spans,
                    size_t n, struct bats_error *err)
{
    uint64_t n_all = 0, k = 0;
    for (size_t i = 0; i < n && n_all < UINT32_MAX; i++)
        n_all += spans[i].n;
    if (n_all >= UINT32_MAX)
        return bats_refuse(err,
                           "--array: ranges of more than %" PRIu32
                           " numbers must not overlap",
                           UINT32_MAX - 1);
    int64_t *numbers = malloc((size_t)n_all * sizeof *numbers);
    for (size_t i = 0; numbers != NULL && i < n; i++)
        for (uint64_t row = 0; row < spans[i].n; row++)
            numbers[k++] = spans[i].first + (int64_t)row * spans[i].step;
    bool ok = numbers != NULL && add_numbers(axis, numbers, (size_t)k);
    free(numbers);
    return ok ? 0 : bats_no_memory(err);
}

/* Adds the union of the spans: an array is a set, as for Slurm. */
static int add_spans(struct bats_axis *axis, struct bats_row_span *spans,
                     size_t n, struct bats_error *err)
{
    bool ok = true;
    qsort(spans, n, sizeof *spans, by_first);
    for (size_t i = 1; i < n; i++)
        if (spans[i].first <= last_of(&spans[i - 1]))
            return add_once(axis, spans, n, err);
    for (size_t i = 0; ok && i < n; i++)
        ok = bats_axis_add_span(axis, spans[i]);
    return ok ? 0 : bats_no_memory(err);
}

int bats_axis_read_array(struct bats_axis *axis, const char *text,
                         struct bats_error *err)
{
    static const char name[] = "array_id";
    struct bats_row_span *spans = NULL;
    size_t n = 0, room = 0;
    const char *at = text, *wrong = NULL;
    int rc =
        bats_axis_add_name(axis, name, strlen(name)) ? 0 : bats_no_memory(err);
    for (bool more = true; rc == 0 && more; more = *at++ == ',') {
        if (!bats_grow(&spans, &room, n + 1, sizeof *spans))
            rc = bats_no_memory(err);
        else if ((wrong = read_span(&at, &spans[n++])) != NULL)
            rc = bats_refuse(err, "--array: '%s' %s", text, wrong);
    }
    if (rc == 0)
        rc = add_spans(axis, spans, n, err);
    free(spans);
    return rc;
}
