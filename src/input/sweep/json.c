/* json: values of a sweep from a JSON file. See readers.h. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "input/sweep/readers.h"
#include "input/textfile.h"

static bool add_value(struct bats_axis *axis, const json_t *value)
{
    if (value == NULL || json_is_null(value))
        return bats_axis_add_value(axis, "", 0);
    if (json_is_string(value))
        return bats_axis_add_value(axis, json_string_value(value),
                                   json_string_length(value));
    char *text = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT |
                                       JSON_REAL_PRECISION(15));
    bool ok = text != NULL && bats_axis_add_value(axis, text, strlen(text));
    free(text);
    return ok;
}

static bool has_name(const struct bats_axis *axis, const char *name)
{
    for (size_t i = 0; i < axis->n_names; i++)
        if (strcmp(axis->names[i], name) == 0)
            return true;
    return false;
}

static bool add_object(struct bats_axis *axis, json_t *object)
{
    const char *key;
    json_t *value;
    bool ok = bats_axis_begin_row(axis);
    json_object_foreach(object, key, value)
    {
        if (!has_name(axis, key))
            ok = ok && bats_axis_add_name(axis, key, strlen(key));
    }
    for (size_t i = 0; ok && i < axis->n_names; i++)
        ok = add_value(axis, json_object_get(object, axis->names[i]));
    return ok;
}

/* Adds the value at this line, counted from 1, or behind it; all values are of
 * one kind. */
static int add_row(struct bats_axis *axis, json_t *value, const char *name,
                   int line, bool is_exact, struct bats_error *err)
{
    bool named = json_is_object(value);
    if (axis->n_rows > 0 && named != (axis->n_names > 0))
        return bats_refuse(err, "%s:%d: objects and other values are mixed",
                           name, line);
    if (named && json_object_size(value) == 0)
        return bats_refuse(err, "%s:%d: an empty object", name, line);
    bool ok = named ? add_object(axis, value)
                    : bats_axis_begin_row(axis) && add_value(axis, value);
    ok = ok && bats_axis_note_line(axis, name, is_exact ? (uint64_t)line : 0);
    return ok ? 0 : bats_no_memory(err);
}

static int count_lines(const char *from, const char *to)
{
    int n = 0;
    for (; from < to; from++)
        n += *from == '\n';
    return n;
}

static int read_values(struct bats_axis *axis, const char *text, size_t length,
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
                rc = add_row(axis, json_array_get(value, i), name, line, false,
                             err);
        else
            rc = add_row(axis, value, name, line, true, err);
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
    rc = read_values(axis, text, length, name, err);
    if (rc == 0 && axis->n_rows == 0)
        rc = bats_refuse(err, "%s: no values", name);
    free(text);
    return rc;
}
