#include "report/table.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "report/words.h"
#include "util/encode.h"

#define CELL 4096

static void set(struct bats_table *table, size_t row, size_t column,
                const char *text)
{
    char raw[BATS_CLUSTER_NAME];
    snprintf(raw, sizeof raw, "%s", text);
    bats_encode_terminal(table->cell[row][column], BATS_CLUSTER_NAME, raw);
    if (table->n_rows <= row)
        table->n_rows = row + 1;
    if (table->n_columns <= column)
        table->n_columns = column + 1;
}

void bats_table_set(struct bats_table *table, size_t row, size_t column,
                    const char *format, ...)
{
    char text[BATS_CLUSTER_NAME];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    set(table, row, column, text);
}

void bats_table_add(struct bats_table *table, const char *format, ...)
{
    char text[CELL], *rest = text, *cell;
    size_t row = table->n_rows, column = 0;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    while ((cell = strsep(&rest, "\t")) != NULL)
        set(table, row, column++, cell);
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

/* ---- columns ---- */

static int64_t count_of(const json_t *row, const char *key)
{
    return json_integer_value(json_object_get(row, key));
}

/* A time value, formatted by `words`; "-" if there is none. */
static struct bats_phrase time_of(const json_t *value,
                                  struct bats_phrase (*words)(bats_time time))
{
    double us = json_number_value(value) * (double)BATS_SECOND;
    struct bats_phrase none = {"-"};
    return us > 0 && us < (double)BATS_LONGEST ? words((bats_time)(us + 0.5))
                                               : none;
}

static void put_text(char *text, const json_t *value, int most)
{
    if (json_is_integer(value))
        snprintf(text, CELL, "%" JSON_INTEGER_FORMAT,
                 json_integer_value(value));
    else
        snprintf(text, CELL, "%.*s", most,
                 json_is_string(value) ? json_string_value(value) : "-");
}

static void put_number(char *text, const struct bats_column *c, double number,
                       bool is_so)
{
    if (c->as == BATS_FIGURE_PERCENT)
        snprintf(text, CELL, "%.0f%%", 100 * number);
    else if (c->as == BATS_FIGURE_THREE)
        snprintf(text, CELL, "%.3g", number);
    else if (c->as == BATS_FIGURE_MAKESPAN)
        snprintf(text, CELL, "%s",
                 bats_words_makespan(number * BATS_SECOND).s);
    else if (c->as == BATS_FIGURE_RATIO && number <= 0)
        snprintf(text, CELL, "-");
    else
        snprintf(text, CELL, "%s%.*f", is_so ? BATS_WORDS_GUESS : "",
                 c->as == BATS_FIGURE_TENTH ? 1 : 2, number);
}

static void put_cell(char text[CELL], const json_t *row,
                     const struct bats_column *c)
{
    const json_t *value = json_object_get(row, c->key);
    bool is_so = json_is_true(json_object_get(row, c->other));
    if (json_is_null(value)) {
        strcpy(text, "-");
        return;
    }
    switch (c->as) {
    case BATS_FIGURE_TEXT:
        put_text(text, value, CELL - 1);
        break;
    case BATS_FIGURE_NAME:
        put_text(text, value, 40);
        break;
    case BATS_FIGURE_SHORT:
        put_text(text, value, 14);
        break;
    case BATS_FIGURE_OF:
        snprintf(text, CELL, "%" PRId64 "/%" PRId64, count_of(row, c->key),
                 count_of(row, c->other));
        break;
    case BATS_FIGURE_DURATION:
    case BATS_FIGURE_GUESS:
    case BATS_FIGURE_LATE:
        snprintf(text, CELL, "%s%s%s",
                 c->as == BATS_FIGURE_GUESS && is_so ? BATS_WORDS_GUESS : "",
                 time_of(value, bats_words_duration).s,
                 c->as == BATS_FIGURE_LATE && is_so ? " (late)" : "");
        break;
    case BATS_FIGURE_MOMENT:
        snprintf(text, CELL, "%s", time_of(value, bats_words_moment).s);
        break;
    default:
        put_number(text, c, json_number_value(value), is_so);
    }
}

static bool is_used(const struct bats_column *c, const json_t *rows)
{
    size_t i;
    json_t *row;
    bool any = !c->is_spare;
    json_array_foreach(rows, i, row)
    {
        const json_t *value = json_object_get(row, c->key);
        any |= json_is_string(value)
                   ? strcmp(json_string_value(value), "0") != 0
                   : json_number_value(value) > 0;
    }
    return any;
}

void bats_table_add_energy(json_t *cluster, int64_t energy_j,
                           double grams_per_kwh)
{
    double kwh = (double)energy_j / 3.6e6;
    if (kwh > 0)
        json_object_set_new(cluster, "energy_kwh", json_real(kwh));
    if (kwh > 0 && grams_per_kwh > 0)
        json_object_set_new(cluster, "co2_kg",
                            json_real(kwh * grams_per_kwh / 1000));
}

void bats_table_fill(struct bats_table *t, const struct bats_column *columns,
                     const json_t *rows, size_t most)
{
    char text[CELL];
    size_t n = json_array_size(rows), column = 0;
    for (const struct bats_column *c = columns; c->head != NULL; c++) {
        if (!is_used(c, rows))
            continue;
        set(t, 0, column, c->head);
        for (size_t i = 0; i < n && i < most; i++) {
            put_cell(text, json_array_get(rows, i), c);
            set(t, i + 1, column, text);
        }
        column++;
    }
}
