#include "input/sweep/points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* ---- filling an axis ---- */

/* Makes room for an element of an array of the axis. */
static bool grow(struct bats_axis *axis, void *array, size_t *room, size_t n,
                 size_t size)
{
    axis->text.failed =
        axis->text.failed || !bats_grow(array, room, n + 1, size);
    return !axis->text.failed;
}

void bats_axis_begin_row(struct bats_axis *axis)
{
    size_t n = (size_t)axis->n_rows;
    if (!grow(axis, &axis->row, &axis->rows_room, n, sizeof *axis->row))
        return;
    axis->row[n] = axis->text.n;
    axis->n_rows++;
}

void bats_axis_note_line(struct bats_axis *axis, const char *file,
                         uint64_t line)
{
    size_t n = (size_t)axis->n_rows - 1;
    if (axis->file == NULL && (axis->file = strdup(file)) == NULL)
        axis->text.failed = true;
    if (grow(axis, &axis->line, &axis->lines_room, n, sizeof *axis->line))
        axis->line[n] = line < UINT32_MAX ? (uint32_t)line : 0;
}

void bats_axis_add_value(struct bats_axis *axis, const char *bytes, size_t n)
{
    bats_text_put(&axis->text, bytes, n);
    bats_text_put(&axis->text, "", 1);
}

void bats_axis_add(struct bats_axis *axis, const char *value)
{
    bats_axis_begin_row(axis);
    bats_axis_add_value(axis, value, strlen(value));
}

void bats_axis_add_name(struct bats_axis *axis, const char *bytes, size_t n)
{
    char *name = strndup(bytes, n);
    if (name != NULL && grow(axis, &axis->names, &axis->names_room,
                             axis->n_names, sizeof *axis->names)) {
        axis->names[axis->n_names++] = name;
        return;
    }
    axis->text.failed = true;
    free(name);
}

bool bats_axis_has_name(const struct bats_axis *axis, const char *bytes,
                        size_t n)
{
    for (size_t i = 0; i < axis->n_names; i++)
        if (strlen(axis->names[i]) == n &&
            memcmp(axis->names[i], bytes, n) == 0)
            return true;
    return false;
}

void bats_axis_add_span(struct bats_axis *axis, struct bats_row_span span)
{
    if (!grow(axis, &axis->spans, &axis->spans_room, axis->n_spans,
              sizeof *axis->spans))
        return;
    span.before = axis->n_rows;
    axis->spans[axis->n_spans++] = span;
    axis->n_rows += span.n;
}

static void release_axis(struct bats_axis *axis)
{
    bats_text_release(&axis->text);
    free(axis->row);
    free(axis->spans);
    free(axis->file);
    free(axis->line);
    for (size_t i = 0; i < axis->n_names; i++)
        free(axis->names[i]);
    free(axis->names);
}

bool bats_axis_gather(struct bats_axis *axis, size_t n)
{
    if (axis->n_spans > 0 || axis->n_names > 0)
        return false;
    uint64_t rows = (axis->n_rows + n - 1) / n;
    for (uint64_t k = 0; k < rows; k++)
        axis->row[k] = axis->row[k * n];
    axis->n_rows = rows;
    return true;
}

/* ---- all axes ---- */

struct bats_axis *bats_points_axis(struct bats_points *points)
{
    if (!bats_grow(&points->axes, &points->axes_room, points->n_axes + 1,
                   sizeof *points->axes))
        return NULL;
    struct bats_axis *axis = &points->axes[points->n_axes++];
    *axis = (struct bats_axis){0};
    return axis;
}

/* Computes strides and extents from the last axis on; linked axes share
 * them. */
static int count(struct bats_points *points, struct bats_error *err)
{
    uint64_t n = 1;
    for (size_t end = points->n_axes; end > 0;) {
        size_t first = end - 1;
        uint64_t rows = points->axes[first].n_rows;
        while (first > 0 && points->axes[first].linked) {
            uint64_t other = points->axes[--first].n_rows;
            rows = (other < rows) != points->recycle ? other : rows;
        }
        for (size_t k = first; k < end; k++) {
            points->stride[k] = n;
            points->extent[k] = rows;
        }
        if (__builtin_mul_overflow(n, rows, &n) || n > UINT32_MAX - 1)
            return bats_refuse(err,
                               "this sweep has more than %" PRIu32 " points",
                               UINT32_MAX - 1);
        end = first;
    }
    points->n = n;
    return 0;
}

int bats_points_close(struct bats_points *points, struct bats_error *err)
{
    bool some = false, failed = false;
    for (size_t k = 0; k < points->n_axes; k++)
        some = some || points->axes[k].n_rows > 0;
    for (size_t k = 0; k < points->n_axes; k++) {
        if (some && points->axes[k].n_rows == 0)
            bats_axis_add(&points->axes[k], "");
        failed = failed || points->axes[k].text.failed;
    }
    if (!some && !failed)
        return bats_refuse(err, "this sweep has no values");
    points->stride = calloc(points->n_axes, sizeof *points->stride);
    points->extent = calloc(points->n_axes, sizeof *points->extent);
    return failed || points->stride == NULL || points->extent == NULL
               ? bats_no_memory(err)
               : count(points, err);
}

void bats_points_release(struct bats_points *points)
{
    for (size_t k = 0; k < points->n_axes; k++)
        release_axis(&points->axes[k]);
    free(points->axes);
    free(points->stride);
    free(points->extent);
    *points = (struct bats_points){0};
}

/* ---- looking up ---- */

static bool put(struct bats_values *values, const char *item)
{
    if (!bats_grow(&values->item, &values->room, values->n + 1,
                   sizeof *values->item))
        return false;
    values->item[values->n++] = item;
    return true;
}

static void compute(const struct bats_axis *axis, uint64_t row,
                    char text[BATS_SPAN_TEXT])
{
    size_t low = 0;
    for (size_t high = axis->n_spans; high - low > 1;) {
        size_t middle = low + (high - low) / 2;
        if (axis->spans[middle].before <= row)
            low = middle;
        else
            high = middle;
    }
    const struct bats_row_span *span = &axis->spans[low];
    uint64_t k = row - span->before;
    if (span->is_real) /* as in awk; sums such as 0.1 + 0.2 come out right */
        snprintf(text, BATS_SPAN_TEXT, "%.12g",
                 span->from + (double)k * span->by);
    else
        snprintf(text, BATS_SPAN_TEXT, "%" PRId64,
                 span->first + (int64_t)k * span->step);
}

static bool put_kept(const struct bats_axis *axis, uint64_t row,
                     struct bats_values *values)
{
    size_t at = axis->row[row], n = values->n;
    size_t end = row + 1 < axis->n_rows ? axis->row[row + 1] : axis->text.n;
    bool ok = true;
    for (; ok && at < end; at += strlen(axis->text.bytes + at) + 1)
        ok = put(values, axis->text.bytes + at);
    while (ok && values->n - n < axis->n_names)
        ok = put(values, "");
    return ok;
}

static uint64_t row_at(const struct bats_points *points, size_t axis,
                       uint64_t i)
{
    return i / points->stride[axis] % points->extent[axis] %
           points->axes[axis].n_rows;
}

/* The axis of value *k, which becomes its column there; NULL: no such value. */
static const struct bats_axis *find_axis(const struct bats_points *points,
                                         size_t *k)
{
    for (size_t i = 0; i < points->n_axes; i++) {
        const struct bats_axis *axis = &points->axes[i];
        size_t n = axis->n_names > 0 ? axis->n_names : 1;
        if (*k < n)
            return axis;
        *k -= n;
    }
    return NULL;
}

const char *bats_points_name(const struct bats_points *points, size_t k)
{
    const struct bats_axis *axis = find_axis(points, &k);
    return axis != NULL && axis->n_names > 0 ? axis->names[k] : NULL;
}

const char *bats_points_where(const struct bats_points *points, size_t k,
                              uint64_t i, uint32_t *line)
{
    const struct bats_axis *axis = find_axis(points, &k);
    *line = 0;
    if (axis == NULL || axis->file == NULL)
        return NULL;
    *line = axis->line[row_at(points, (size_t)(axis - points->axes), i)];
    return axis->file;
}

bool bats_points_at(const struct bats_points *points, uint64_t i,
                    struct bats_values *values)
{
    bool ok = bats_grow(&values->computed, &values->computed_room,
                        points->n_axes * BATS_SPAN_TEXT, 1);
    values->n = 0;
    for (size_t k = 0; ok && k < points->n_axes; k++) {
        const struct bats_axis *axis = &points->axes[k];
        uint64_t row = row_at(points, k, i);
        if (axis->n_spans == 0) {
            ok = put_kept(axis, row, values);
        } else {
            char *text = values->computed + k * BATS_SPAN_TEXT;
            compute(axis, row, text);
            ok = put(values, text);
        }
    }
    return ok;
}

void bats_values_release(struct bats_values *values)
{
    free(values->item);
    free(values->computed);
    *values = (struct bats_values){0};
}

size_t bats_points_width(const struct bats_points *points)
{
    struct bats_values values = {0};
    size_t n = bats_points_at(points, 0, &values) ? values.n : 0;
    bats_values_release(&values);
    return n;
}
