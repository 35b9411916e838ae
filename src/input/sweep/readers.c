#include "input/sweep/readers.h"

#include <ctype.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "util/grow.h"

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

static void add_column(struct bats_axis *axis,
                       const struct bats_columns *columns, const char *text,
                       size_t n)
{
    while (columns->trim && n > 0 && isspace((unsigned char)text[n - 1]))
        n--;
    while (columns->trim && n > 0 && isspace((unsigned char)*text)) {
        text++;
        n--;
    }
    bats_axis_add_value(axis, text, n);
}

static void add_row(struct bats_axis *axis, const char *text,
                    const struct bats_columns *columns)
{
    size_t at = 0, begin, end;
    if (!columns->split) {
        bats_axis_add(axis, text);
        return;
    }
    bats_axis_begin_row(axis);
    for (; find_separator(columns, text, at, &begin, &end); at = end)
        add_column(axis, columns, text + at, begin - at);
    add_column(axis, columns, text + at, strlen(text + at));
}

/* Adds names to the axis, without empty ones at the end. */
static void add_names(struct bats_axis *axis, const char *text,
                      const struct bats_columns *columns)
{
    size_t at = 0, begin, end, length = strlen(text);
    if (length > 0 && text[length - 1] == '\r')
        length--;
    for (; find_separator(columns, text, at, &begin, &end) && begin < length;
         at = end)
        bats_axis_add_name(axis, text + at, begin - at);
    bats_axis_add_name(axis, text + at, length - at);
    while (axis->n_names > 1 && *axis->names[axis->n_names - 1] == '\0')
        free(axis->names[--axis->n_names]);
}

void bats_axis_read_words(struct bats_axis *axis, const char *const *words,
                          size_t n, const struct bats_columns *columns)
{
    for (size_t i = 0; i < n && !axis->text.failed; i++)
        if (columns->header && axis->n_names == 0)
            add_names(axis, words[i], columns);
        else
            add_row(axis, words[i], columns);
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
    for (char *line = text, *end; line < text + length; line = end + 1) {
        end = memchr(line, columns->end, (size_t)(text + length - line));
        end = end != NULL ? end : text + length;
        *end = '\0';
        bats_axis_read_words(axis, (const char *const *)&line, 1, columns);
    }
    free(text);
    return 0;
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
    if (bats_axis_has_name(axis, name, n))
        return bats_refuse(err, "%s:1: two columns are called '%.*s'",
                           csv->name, (int)(n < 80 ? n : 80), name);
    bats_axis_add_name(axis, name, n);
    return 0;
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
    bats_axis_begin_row(axis);
    bats_axis_note_line(axis, csv->name, csv->record);
    do {
        int rc = read_field(csv, &value, &n, err);
        if (rc < 0)
            return rc;
        bats_axis_add_value(axis, value, n);
        n_fields++;
    } while (csv->more);
    return n_fields == axis->n_names
               ? 0
               : bats_refuse(
                     err, "%s:%" PRIu64 ": %zu fields, but the header has %zu",
                     csv->name, csv->record, n_fields, axis->n_names);
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

/* Adds the spans in ascending order; they must not overlap. */
static int add_spans(struct bats_axis *axis, struct bats_row_span *spans,
                     size_t n, struct bats_error *err)
{
    qsort(spans, n, sizeof *spans, by_first);
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && spans[i].first <= last_of(&spans[i - 1]))
            return bats_refuse(err,
                               "--array: the ranges from %" PRId64
                               " and from %" PRId64 " overlap",
                               spans[i - 1].first, spans[i].first);
        bats_axis_add_span(axis, spans[i]);
    }
    return 0;
}

int bats_axis_read_array(struct bats_axis *axis, const char *text,
                         struct bats_error *err)
{
    struct bats_row_span *spans = NULL;
    size_t n = 0, room = 0;
    const char *at = text, *wrong = NULL;
    int rc = 0;
    bats_axis_add_name(axis, "array_id", strlen("array_id"));
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

/* ---- JSON ---- */

static void add_json(struct bats_axis *axis, const json_t *value)
{
    if (json_is_string(value)) {
        bats_axis_add_value(axis, json_string_value(value),
                            json_string_length(value));
    } else if (value == NULL || json_is_null(value)) {
        bats_axis_add_value(axis, "", 0);
    } else {
        char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                           JSON_REAL_PRECISION(15));
        axis->text.failed |= text == NULL;
        bats_axis_add_value(axis, text, text != NULL ? strlen(text) : 0);
        free(text);
    }
}

/* Adds the value at this line, counted from 1, or behind it; all values are of
 * one kind. */
static int add_item(struct bats_axis *axis, json_t *value, const char *name,
                    int line, bool is_exact, struct bats_error *err)
{
    const char *key;
    json_t *member;
    bool named = json_is_object(value);
    if (axis->n_rows > 0 && named != (axis->n_names > 0))
        return bats_refuse(err, "%s:%d: objects and other values are mixed",
                           name, line);
    if (named && json_object_size(value) == 0)
        return bats_refuse(err, "%s:%d: an empty object", name, line);
    bats_axis_begin_row(axis);
    bats_axis_note_line(axis, name, is_exact ? (uint64_t)line : 0);
    json_object_foreach(value, key, member)
    {
        if (!bats_axis_has_name(axis, key, strlen(key)))
            bats_axis_add_name(axis, key, strlen(key));
    }
    for (size_t i = 0; i < axis->n_names; i++)
        add_json(axis, json_object_get(value, axis->names[i]));
    if (!named)
        add_json(axis, value);
    return 0;
}

static int count_lines(const char *from, const char *to)
{
    int n = 0;
    for (; from < to; from++)
        n += *from == '\n';
    return n;
}

static int read_items(struct bats_axis *axis, const char *text, size_t length,
                      const char *name, struct bats_error *err)
{
    const char *at = text;
    int rc = 0, line = 1;
    for (;;) {
        const char *begin = at + strspn(at, " \t\r\n");
        line += count_lines(at, begin);
        if (*begin == '\0')
            return 0;
        json_error_t why;
        json_t *value =
            json_loadb(begin, length - (size_t)(begin - text),
                       JSON_DISABLE_EOF_CHECK | JSON_DECODE_ANY, &why);
        if (value == NULL)
            return bats_refuse(err, "%s:%d:%d: %s", name, line + why.line - 1,
                               why.column, why.text);
        at = begin + why.position;
        if (json_is_array(value) && begin == text + strspn(text, " \t\r\n"))
            for (size_t i = 0; rc == 0 && i < json_array_size(value); i++)
                rc = add_item(axis, json_array_get(value, i), name, line,
                              false, err);
        else
            rc = add_item(axis, value, name, line, true, err);
        json_decref(value);
        if (rc < 0)
            return rc;
        line += count_lines(begin, at);
    }
}

int bats_axis_read_json(struct bats_axis *axis, const char *path,
                        struct bats_error *err)
{
    const char *name = bats_textfile_name(path);
    char *text;
    size_t length;
    int rc = bats_textfile_read(path, &text, &length, err);
    if (rc < 0)
        return rc;
    rc = read_items(axis, text, length, name, err);
    if (rc == 0 && axis->n_rows == 0)
        rc = bats_refuse(err, "%s: no values", name);
    free(text);
    return rc;
}
