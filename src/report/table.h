/*
 * table: figures in aligned columns, for people.
 *
 * Layer: report. The first column is flush left, the others flush right, with
 * two blanks between columns. Each column is as wide as its widest cell. A row
 * with only its first cell is a heading of the rows below it, and makes no
 * column wider.
 *
 * Figures are collected once, as JSON objects: for programs, status files and
 * page scripts. Columns define which of them a table shows, and how. Null is
 * shown as "-".
 */
#ifndef BATS_TABLE_H
#define BATS_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/cluster.h"

#define BATS_TABLE_COLUMNS 12
#define BATS_TABLE_ROWS 128 /* enough for all clusters with header and total */

/* All zero: empty. Cells that are not set are blank. */
struct bats_table {
    char cell[BATS_TABLE_ROWS][BATS_TABLE_COLUMNS][BATS_CLUSTER_NAME];
    size_t n_rows;
    size_t n_columns;
};

/* Sets a cell, encoded for a terminal; the table grows to hold it. */
void bats_table_set(struct bats_table *table, size_t row, size_t column,
                    const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Adds a row. A tab separates cells, so no text may have one. */
void bats_table_add(struct bats_table *table, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The width of the longest line. */
int bats_table_width(const struct bats_table *table);

void bats_table_print(FILE *out, const struct bats_table *table);

/* Prints, after a blank line, a table of the first `most` of n things and the
 * number left out. */
void bats_table_first(FILE *out, const struct bats_table *table, uint32_t n,
                      uint32_t most);

/* ---- columns ---- */

enum bats_figure {
    BATS_FIGURE_TEXT,     /* a text, a whole number, or "-" */
    BATS_FIGURE_NAME,     /* a text, cut at 40 bytes */
    BATS_FIGURE_SHORT,    /* a text, cut at 14 bytes, for `top` */
    BATS_FIGURE_OF,       /* two whole numbers, `other` last: "3/4" */
    BATS_FIGURE_DURATION, /* seconds; "-" unless above 0 */
    BATS_FIGURE_MOMENT,   /* whole seconds; "-" unless above 0 */
    BATS_FIGURE_GUESS,    /* a duration, with a mark if `other` is true */
    BATS_FIGURE_LATE,     /* a duration, and "(late)" if `other` is true */
    BATS_FIGURE_MAKESPAN, /* estimated seconds */
    BATS_FIGURE_PERCENT,  /* a share: "97%" */
    BATS_FIGURE_RATIO,    /* "0.94", with a mark if `other` is true; "-" unless
                            * above 0 */
    BATS_FIGURE_TENTH,    /* "1.5" */
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

/* Adds the energy that a cluster's jobs used, if it was measured, and the CO2
 * at so many grams per kWh (0: unknown). Two spare columns show them. */
void bats_table_add_energy(json_t *cluster, int64_t energy_j,
                           double grams_per_kwh);
/* clang-format off */
#define BATS_TABLE_ENERGY                                                     \
    {"kWh", "energy_kwh", BATS_FIGURE_THREE, NULL, true},                     \
        {"kg CO2", "co2_kg", BATS_FIGURE_THREE, NULL, true}
/* clang-format on */

/* Fills the table with its head and the first `most` rows of the array. */
void bats_table_fill(struct bats_table *table,
                     const struct bats_column *columns, const json_t *rows,
                     size_t most);

#endif
