/*
 * sheet: rows of figures as a table for people.
 *
 * Layer: report. Figures are collected once, as JSON objects: for programs,
 * status files and page scripts. Columns define which figures a table shows,
 * and how. Null is shown as "-".
 */
#ifndef BATS_SHEET_H
#define BATS_SHEET_H

#include <jansson.h>
#include <stddef.h>

#include "report/table.h"

enum bats_figure {
    BATS_FIGURE_TEXT,      /* a text, a whole number, or "-" */
    BATS_FIGURE_NAME,      /* a text, cut at 40 bytes */
    BATS_FIGURE_SHORT,     /* a text, cut at 14 bytes, for `top` */
    BATS_FIGURE_OF,        /* two whole numbers, `other` last: "3/4" */
    BATS_FIGURE_DURATION,  /* seconds; "-" unless above 0 */
    BATS_FIGURE_MOMENT,    /* whole seconds; "-" unless above 0 */
    BATS_FIGURE_GUESS,     /* a duration, with a mark if `other` is true */
    BATS_FIGURE_LATE,      /* a duration, and "(late)" if `other` is true */
    BATS_FIGURE_MAKESPAN,  /* estimated seconds */
    BATS_FIGURE_PERCENT,   /* a share: "97%" */
    BATS_FIGURE_RATIO,     /* "0.94"; "-" unless above 0 */
    BATS_FIGURE_TENTH,     /* "1.5" */
    BATS_FIGURE_HUNDREDTH, /* "1.53" */
    BATS_FIGURE_THREE      /* three digits */
};

/* A list ends with an all-zero column. */
struct bats_column {
    const char *head;
    const char *key;
    enum bats_figure as;
    const char *other; /* another key */
    bool is_spare;     /* left out if no row has a value */
};

/* Fills the table with its head and the first `most` rows of the array. */
void bats_sheet_table(struct bats_table *table,
                      const struct bats_column *columns, const json_t *rows,
                      size_t most);

#endif
