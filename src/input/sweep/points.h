/*
 * points: the values of a sweep, point by point.
 *
 * Layer: input. Used by sweep.c and by the readers of plan files. A sweep has
 * *axes*, in the order in which their values are numbered. An axis has rows,
 * and a row has values: one, or the columns of a line. Its points are the
 * cross product of the rows; the rows of the last axis change first. An axis
 * that is linked to the one before it does not take part in the product: both
 * advance together, as far as the shorter one goes (GNU parallel's :::+).
 *
 * Model: rows are either kept, as text, or computed from a few numbers (the
 * spans of 1-100:2). Points are never stored. So a sweep costs the text of
 * its rows and 8 bytes for each of them; an axis of spans costs nothing.
 */
#ifndef BATS_SWEEP_POINTS_H
#define BATS_SWEEP_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

/* limit for the length of a computed value, with the NUL */
#define BATS_SPAN_TEXT 32

/* The values from + k step for k = 0 .. n - 1. */
struct bats_row_span {
    uint64_t before; /* rows of the spans before it */
    uint64_t n;
    bool is_real;
    int64_t first, step;
    double from, by; /* if it is real */
};

/* Names at most: each is a column of the record's view of tasks, and SQLite
 * allows 2,000. */
#define BATS_POINTS_NAMES 1000

struct bats_axis {
    bool linked;     /* to the axis before it */
    uint64_t n_rows; /* >= 1 in use */
    char *text;      /* kept rows: all values, each with its NUL */
    size_t length, text_room;
    size_t *row; /* where each row begins in it */
    size_t rows_room;
    struct bats_row_span *spans; /* computed rows */
    size_t n_spans, spans_room;
    char **names; /* of the columns; then every row has n_names values */
    size_t n_names, names_room;
};

/* Each adds to the axis; false: out of memory. A value belongs to the row that
 * was begun last. */
bool bats_axis_begin_row(struct bats_axis *axis);
bool bats_axis_add_value(struct bats_axis *axis, const char *bytes, size_t n);
bool bats_axis_add_name(struct bats_axis *axis, const char *bytes, size_t n);
/* `before` and n_rows follow from the spans before it; span->n >= 1. */
bool bats_axis_add_span(struct bats_axis *axis, struct bats_row_span span);
/* A row of one value. */
bool bats_axis_add(struct bats_axis *axis, const char *bytes, size_t n);

/* Makes one row of every n; the last one may have fewer values. False: the rows
 * have names, or are computed. */
bool bats_axis_gather(struct bats_axis *axis, size_t n);

struct bats_points {
    struct bats_axis *axes;
    size_t n_axes, axes_room;
    uint64_t *stride; /* by axis: points from one row to the next */
    uint64_t *extent; /* by axis: rows in use */
    uint64_t n;       /* points */
    bool recycle;     /* linked axes are as long as the longest one; shorter
                       * ones begin again (GNU parallel's --link) */
};

/* Adds an empty axis, to be filled before the next one is added: the pointer
 * does not last. NULL: out of memory. */
struct bats_axis *bats_points_axis(struct bats_points *points);

/* After the last axis: counts the points. An axis without rows gets one empty
 * value, as GNU parallel has it, unless all are without. BATS_EINPUT: no
 * point, or more than UINT32_MAX - 1; BATS_ENOMEM. */
int bats_points_close(struct bats_points *points, struct bats_error *err);
void bats_points_release(struct bats_points *points);

/* The values of one point. */
struct bats_values {
    const char **item; /* n of them: of every axis, of every column */
    size_t n, room;
    char *computed; /* room for those of spans */
    size_t computed_room;
};

/* Looks up point i < points->n. The values last until the next call, and as
 * long as `points`. False: out of memory. */
bool bats_points_at(const struct bats_points *points, uint64_t i,
                    struct bats_values *values);
void bats_values_release(struct bats_values *values);

/* The number of values of a point if every axis has names or one value a row;
 * for others, of the first point. Errors: 0 if memory is short. */
size_t bats_points_width(const struct bats_points *points);

/* The name of value k, or NULL. */
const char *bats_points_name(const struct bats_points *points, size_t k);

#endif
