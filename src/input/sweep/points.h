/*
 * points: the values of a sweep, point by point.
 *
 * Layer: input. Used by sweep.c and by the readers of plan files. A sweep has
 * *axes*, in the order in which their values are numbered. An axis has rows,
 * and a row has values: one, or the columns of a line. The points are the
 * cross product of the rows; the rows of the last axis change fastest. An axis
 * that is linked to the previous one does not take part in the product: both
 * advance together, up to the length of the shorter one (GNU parallel's :::+).
 *
 * Model: rows are either kept, as text, or computed from a few numbers (the
 * spans of 1-100:2). Points are never stored. So a sweep costs the text of its
 * rows and 8 bytes for each of them; an axis of spans costs nothing.
 */
#ifndef BATS_SWEEP_POINTS_H
#define BATS_SWEEP_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "util/text.h"

/* longest computed value, with the NUL */
#define BATS_SPAN_TEXT 32

/* The values from + k step for k = 0 .. n - 1. */
struct bats_row_span {
    uint64_t before; /* rows of the earlier spans */
    uint64_t n;
    bool is_real;
    int64_t first, step;
    double from, by; /* if it is real */
};

/* Most names: each is a column of the record's view of tasks, and SQLite
 * allows 2,000. */
#define BATS_POINTS_NAMES 1000

struct bats_axis {
    bool linked;           /* linked to the previous axis */
    uint64_t n_rows;       /* >= 1 in use */
    struct bats_text text; /* kept rows: all values, each with its NUL;
                            * `failed`: memory was short for some part */
    size_t *row;           /* offset of each row in the text */
    size_t rows_room;
    struct bats_row_span *spans; /* computed rows */
    size_t n_spans, spans_room;
    char *file;     /* that has the rows, or NULL */
    uint32_t *line; /* line of each row in the file; 0: unknown */
    size_t lines_room;
    char **names; /* names of the columns; then every row has n_names values */
    size_t n_names, names_room;
};

/* Each adds to the axis, unless memory is short, which bats_points_close
 * reports. A value belongs to the row begun last. */
void bats_axis_begin_row(struct bats_axis *axis);
void bats_axis_add_value(struct bats_axis *axis, const char *bytes, size_t n);
void bats_axis_add_name(struct bats_axis *axis, const char *bytes, size_t n);
/* The row begun last is at this line of the file. */
void bats_axis_note_line(struct bats_axis *axis, const char *file,
                         uint64_t line);
/* `before` and n_rows are computed; span->n >= 1. */
void bats_axis_add_span(struct bats_axis *axis, struct bats_row_span span);
/* Adds a row of one value. */
void bats_axis_add(struct bats_axis *axis, const char *value);

bool bats_axis_has_name(const struct bats_axis *axis, const char *bytes,
                        size_t n);

/* Makes one row of every n rows; the last one may have fewer values. False:
 * the rows have names, or are computed. */
bool bats_axis_gather(struct bats_axis *axis, size_t n);

struct bats_points {
    struct bats_axis *axes;
    size_t n_axes, axes_room;
    uint64_t *stride; /* by axis: points from one row to the next */
    uint64_t *extent; /* by axis: rows in use */
    uint64_t n;       /* number of points */
    bool recycle;     /* linked axes are as long as the longest one; shorter
                       * ones start over (GNU parallel's --link) */
};

/* Adds an empty axis, to be filled before the next one is added, which
 * invalidates the pointer. NULL: out of memory. */
struct bats_axis *bats_points_axis(struct bats_points *points);

/* Call after the last axis: counts the points. An axis without rows gets one
 * empty value, as in GNU parallel, unless all axes are empty. BATS_EINPUT: no
 * point, or more than UINT32_MAX - 1; BATS_ENOMEM. */
int bats_points_close(struct bats_points *points, struct bats_error *err);
void bats_points_release(struct bats_points *points);

/* The file, or NULL, and the line of the k-th value of point i. */
const char *bats_points_where(const struct bats_points *points, size_t k,
                              uint64_t i, uint32_t *line);

/* The values of one point. */
struct bats_values {
    const char **item; /* n of them: every axis, every column */
    size_t n, room;
    char *computed; /* room for the values of spans */
    size_t computed_room;
};

/* Looks up point i < points->n. The values are valid until the next call, and
 * as long as `points`. False: out of memory. */
bool bats_points_at(const struct bats_points *points, uint64_t i,
                    struct bats_values *values);
void bats_values_release(struct bats_values *values);

/* The number of values of a point if every axis has names or one value per
 * row; otherwise, that of the first point. 0: memory is short. */
size_t bats_points_width(const struct bats_points *points);

/* The name of value k, or NULL. */
const char *bats_points_name(const struct bats_points *points, size_t k);

#endif
