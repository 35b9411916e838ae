#include "report/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "util/encode.h"

void bats_table_set(struct bats_table *table, size_t row, size_t column,
                    const char *format, ...)
{
    char *cell = table->cell[row][column], raw[BATS_CLUSTER_NAME];
    va_list args;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    bats_encode_terminal(cell, BATS_CLUSTER_NAME, raw);
    if (table->n_rows <= row)
        table->n_rows = row + 1;
    if (table->n_columns <= column)
        table->n_columns = column + 1;
}

void bats_table_head(struct bats_table *table, const char *const *names,
                     size_t n)
{
    for (size_t i = 0; i < n; i++)
        bats_table_set(table, 0, i, "%s", names[i]);
}

/* Number of columns up to the last cell that is not blank; at least 1. */
static size_t count_cells(const struct bats_table *table, size_t row)
{
    size_t n = table->n_columns;
    while (n > 1 && table->cell[row][n - 1][0] == '\0')
        n--;
    return n;
}

static void measure(const struct bats_table *table,
                    int width[BATS_TABLE_COLUMNS])
{
    memset(width, 0, BATS_TABLE_COLUMNS * sizeof *width);
    for (size_t r = 0; r < table->n_rows; r++) {
        size_t n = count_cells(table, r);
        for (size_t c = 0; n > 1 && c < n; c++)
            if (width[c] < (int)strlen(table->cell[r][c]))
                width[c] = (int)strlen(table->cell[r][c]);
    }
}

int bats_table_width(const struct bats_table *table)
{
    int width[BATS_TABLE_COLUMNS], sum = -2;
    measure(table, width);
    for (size_t c = 0; c < table->n_columns; c++)
        sum += width[c] + 2;
    return sum;
}

void bats_table_print(FILE *out, const struct bats_table *table)
{
    int width[BATS_TABLE_COLUMNS];

    measure(table, width);
    for (size_t r = 0; r < table->n_rows; r++) {
        size_t last = count_cells(table, r);
        fprintf(out, "%-*s", last > 1 ? width[0] : 0, table->cell[r][0]);
        for (size_t c = 1; c < last; c++)
            fprintf(out, "  %*s", width[c], table->cell[r][c]);
        putc('\n', out);
    }
}

void bats_table_first(FILE *out, const struct bats_table *t, uint32_t n,
                      uint32_t most)
{
    putc('\n', out);
    bats_table_print(out, t);
    if (n > most)
        fprintf(out, "... %" PRIu32 " more\n", n - most);
}
