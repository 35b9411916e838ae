/*
 * table: cells of text in aligned columns.
 *
 * Layer: report. The first column is flush left, the others flush right, with
 * two blanks between columns. Each column is as wide as its widest cell. A row
 * with only its first cell is a heading of the rows below it, and makes no
 * column wider.
 */
#ifndef BATS_TABLE_H
#define BATS_TABLE_H

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

/* Sets the cells of row 0, from the left. */
void bats_table_head(struct bats_table *table, const char *const *names,
                     size_t n);

/* The width of the longest line. */
int bats_table_width(const struct bats_table *table);

void bats_table_print(FILE *out, const struct bats_table *table);

/* Prints, after a blank line, a table of the first `most` of n things and the
 * number left out. */
void bats_table_first(FILE *out, const struct bats_table *table, uint32_t n,
                      uint32_t most);

#endif
