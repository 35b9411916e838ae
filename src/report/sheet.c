#include "report/sheet.h"

#include <inttypes.h>
#include <string.h>

#include "report/words.h"

#define CELL 4096

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

static void put_number(char *text, enum bats_figure as, double number)
{
    if (as == BATS_FIGURE_PERCENT)
        snprintf(text, CELL, "%.0f%%", 100 * number);
    else if (as == BATS_FIGURE_RATIO && number <= 0)
        snprintf(text, CELL, "-");
    else if (as == BATS_FIGURE_THREE)
        snprintf(text, CELL, "%.3g", number);
    else
        snprintf(text, CELL, "%.*f", as == BATS_FIGURE_TENTH ? 1 : 2, number);
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

static const char *cell(char text[CELL], const json_t *row,
                        const struct bats_column *c)
{
    const json_t *value = json_object_get(row, c->key);
    bool is_so = json_is_true(json_object_get(row, c->other));

    if (json_is_null(value)) {
        strcpy(text, "-");
        return text;
    }
    switch (c->as) {
    case BATS_FIGURE_TEXT:
    case BATS_FIGURE_NAME:
    case BATS_FIGURE_SHORT:
        put_text(text, value,
                 c->as == BATS_FIGURE_NAME    ? 40
                 : c->as == BATS_FIGURE_SHORT ? 14
                                              : CELL - 1);
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
    case BATS_FIGURE_MAKESPAN:
        snprintf(
            text, CELL, "%s",
            bats_words_makespan(json_number_value(value) * BATS_SECOND).s);
        break;
    default:
        put_number(text, c->as, json_number_value(value));
    }
    return text;
}

/* Some row has a value in the column. */
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

void bats_sheet_table(struct bats_table *t, const struct bats_column *columns,
                      const json_t *rows, size_t most)
{
    char text[CELL];
    size_t n = json_array_size(rows), column = 0;

    for (const struct bats_column *c = columns; c->head != NULL; c++) {
        if (!is_used(c, rows))
            continue;
        bats_table_set(t, 0, column, "%s", c->head);
        for (size_t i = 0; i < n && i < most; i++)
            bats_table_set(t, i + 1, column, "%s",
                           cell(text, json_array_get(rows, i), c));
        column++;
    }
}
