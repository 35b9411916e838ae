#include "input/sweep/points.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/grow.h"

/* ---- filling an axis ---- */

bool bats_axis_begin_row(struct bats_axis *axis)
{
    size_t n = (size_t)axis->n_rows;
    if (!bats_grow(&axis->row, &axis->rows_room, n + 1, sizeof *axis->row))
        return false;
    axis->row[n] = axis->length;
    axis->n_rows++;
    return true;
}

bool bats_axis_note_line(struct bats_axis *axis, const char *file,
                         uint64_t line)
{
    size_t n = (size_t)axis->n_rows;
    if (axis->file == NULL && (axis->file = strdup(file)) == NULL)
        return false;
    if (!bats_grow(&axis->line, &axis->lines_room, n, sizeof *axis->line))
        return false;
    axis->line[n - 1] = line < UINT32_MAX ? (uint32_t)line : 0;
    return true;
}

bool bats_axis_add_value(struct bats_axis *axis, const char *bytes, size_t n)
{
    if (!bats_grow(&axis->text, &axis->text_room, axis->length + n + 1, 1))
        return false;
    memcpy(axis->text + axis->length, bytes, n);
    axis->text[axis->length + n] = '\0';
    axis->length += n + 1;
    return true;
}

bool bats_axis_add(struct bats_axis *axis, const char *bytes, size_t n)
{
    return bats_axis_begin_row(axis) && bats_axis_add_value(axis, bytes, n);
}

bool bats_axis_add_name(struct bats_axis *axis, const char *bytes, size_t n)
{
    char *name = strndup(bytes, n);
    if (name == NULL || !bats_grow(&axis->names, &axis->names_room,
                                   axis->n_names + 1, sizeof *axis->names)) {
        free(name);
        return false;
    }
    axis->names[axis->n_names++] = name;
    return true;
}

bool bats_axis_add_span(struct bats_axis *axis, struct bats_row_span span)
{
    if (!bats_grow(&axis->spans, &axis->spans_room, axis->n_spans + 1,
                   sizeof *axis->spans))
        return false;
    span.before = axis->n_rows;
    axis->spans[axis->n_spans++] = span;
    axis->n_rows += span.n;
    return true;
}

static void release_axis(struct bats_axis *axis)
{
    free(axis->text);
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

/* Gives axes without rows one empty value. */
static bool fill_empty(struct bats_points *points)
{
    for (size_t k = 0; k < points->n_axes; k++)
        if (points->axes[k].n_rows == 0 &&
            !bats_axis_add(&points->axes[k], "", 0))
            return false;
    return true;
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
    bool some = false;
    for (size_t k = 0; k < points->n_axes; k++)
        some = some || points->axes[k].n_rows > 0;
    if (!some)
        return bats_refuse(err, "this sweep has no values");
    points->stride = calloc(points->n_axes, sizeof *points->stride);
    points->extent = calloc(points->n_axes, sizeof *points->extent);
    if (points->stride == NULL || points->extent == NULL ||
        !fill_empty(points))
        return bats_no_memory(err);
    return count(points, err);
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
    size_t end = row + 1 < axis->n_rows ? axis->row[row + 1] : axis->length;
    bool ok = true;
    for (; ok && at < end; at += strlen(axis->text + at) + 1)
        ok = put(values, axis->text + at);
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

const char *bats_points_where(const struct bats_points *points, size_t k,
                              uint64_t i, uint32_t *line)
{
    size_t axis = 0;
    for (; axis < points->n_axes; axis++) {
        size_t n = points->axes[axis].n_names;
        n = n > 0 ? n : 1;
        if (k < n)
            break;
        k -= n;
    }
    *line = 0;
    if (axis == points->n_axes || points->axes[axis].file == NULL)
        return NULL;
    *line = points->axes[axis].line[row_at(points, axis, i)];
    return points->axes[axis].file;
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

const char *bats_points_name(const struct bats_points *points, size_t k)
{
    for (size_t a = 0; a < points->n_axes; a++) {
        const struct bats_axis *axis = &points->axes[a];
        size_t n = axis->n_names > 0 ? axis->n_names : 1;
        if (k < n)
            return axis->n_names > 0 ? axis->names[k] : NULL;
        k -= n;
    }
    return NULL;
}
