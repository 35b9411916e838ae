#include "report/strategies.h"

#include <stdlib.h>
#include <string.h>

#include "report/table.h"
#include "report/words.h"

/* Of a table, with its head, without the static ones. */
#define ROWS 120

static const char *const mark_names[BATS_MARKS] = {
    "cheapest", "fastest",  "makespan x cost",
    "budget",   "deadline", "utility"};

const char *bats_strategies_marks(const struct bats_strategies *s,
                                  const struct bats_candidate *c, char *text,
                                  size_t size)
{
    text[0] = '\0';
    for (enum bats_mark mark = 0; mark < BATS_MARKS; mark++)
        if (s->best[mark] < s->n && c == &s->list[s->best[mark]]) {
            size_t used = strlen(text);
            snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "",
                     mark_names[mark]);
        }
    return text;
}

static int by_makespan(const void *left, const void *right)
{
    const struct bats_candidate *a = *(struct bats_candidate *const *)left;
    const struct bats_candidate *b = *(struct bats_candidate *const *)right;
    return a->mean.makespan < b->mean.makespan ? -1
                                               : a->mean.makespan >
                                                     b->mean.makespan;
}

size_t bats_strategies_sort(const struct bats_strategies *s,
                            const struct bats_candidate **list)
{
    size_t n = 0;
    for (size_t i = 0; i < s->n_grid; i++)
        if (s->list[i].is_efficient || s->best[BATS_MARK_UTILITY] == i)
            list[n++] = &s->list[i];
    qsort(list, n, sizeof *list, by_makespan);
    return n;
}

/* ---- for people ---- */

static void set_row(struct bats_table *t, size_t row,
                    const struct bats_strategies *s,
                    const struct bats_candidate *c)
{
    char text[BATS_STRATEGY_TEXT], marks[128];
    const double unit = (double)BATS_UNIT;
    bats_table_set(t, row, 0, "%s", bats_strategy_format(text, &c->strategy));
    bats_table_set(t, row, 1, "%s",
                   bats_words_makespan(text, c->mean.makespan));
    bats_table_set(t, row, 2, "%s",
                   bats_words_makespan(text, c->margin.makespan));
    bats_table_set(t, row, 3, "%.2f", c->mean.cost / unit);
    bats_table_set(t, row, 4, "%.2f", c->margin.cost / unit);
    bats_table_set(t, row, 5, "%.3g",
                   c->mean.cost / unit / s->model->n_tasks);
    bats_table_set(t, row, 6, "%.1f", c->mean.sent_reliable);
    bats_table_set(t, row, 7, "%s",
                   bats_strategies_marks(s, c, marks, sizeof marks));
}

static void print_head(FILE *out, const struct bats_strategies *s)
{
    const struct bats_plays_model *m = s->model;
    char tasks[BATS_UNITS_TEXT], text[BATS_UNITS_TEXT];
    double mean = 0;
    for (size_t i = 0; i < m->n_times; i++)
        mean += (double)m->unreliable[i] / (double)m->n_times;
    bats_words_line(
        out,
        "%s: %s; %u unreliable slots, of which %.1f %% answer%s, "
        "after %s on average; %u reliable ones; %zu strategies, "
        "%u plays of each",
        s->name, bats_words_count(tasks, sizeof tasks, m->n_tasks, "task"),
        m->n_unreliable, 100 * m->gamma,
        m->noticed > 0 ? " and losses are noticed" : "",
        bats_words_makespan(text, mean), m->n_reliable, s->n, s->n_plays);
    putc('\n', out);
}

void bats_strategies_print(FILE *out, const struct bats_strategies *s)
{
    static const char *const head[] = {"strategy", "makespan", "+-",
                                       "cost",     "+-",       "/task",
                                       "reliable", "best for"};
    struct bats_table table = {0};
    const struct bats_candidate *sorted[BATS_CANDIDATES_MAX];
    char marks[128];
    size_t n = bats_strategies_sort(s, sorted), row = 1;
    bats_table_head(&table, head, sizeof head / sizeof *head);
    for (size_t i = 0; i < n; i++)
        if (row < ROWS - BATS_MARKS ||
            *bats_strategies_marks(s, sorted[i], marks, sizeof marks) != '\0')
            set_row(&table, row++, s, sorted[i]);
    size_t n_left_out = n - (row - 1);
    for (size_t i = s->n_grid; i < s->n; i++)
        set_row(&table, row++, s, &s->list[i]);
    print_head(out, s);
    bats_table_print(out, &table);
    fputs("\nThe efficient strategies, the fastest first, then the static ones. "
          "+-: half the\n95 % interval of the mean. reliable: instances sent "
          "to that pool, mean.\n",
          out);
    if (n_left_out > 0)
        fprintf(out,
                "%zu more efficient ones are not shown: --csv lists all.\n",
                n_left_out);
    for (enum bats_mark mark = BATS_MARK_BUDGET; mark < BATS_MARK_UTILITY;
         mark++)
        if (s->asked[mark] && s->best[mark] == s->n)
            fprintf(out, "No strategy is within the %s.\n", mark_names[mark]);
}

/* ---- for programs ---- */

void bats_strategies_print_csv(FILE *out, const struct bats_strategies *s)
{
    fputs("strategy,makespan_s,makespan_margin_s,tail_s,cost,cost_margin,"
          "task_cost,sent_reliable,used_reliable,longest_queue,efficient,"
          "best\n",
          out);
    for (size_t i = 0; i < s->n; i++) {
        const struct bats_candidate *c = &s->list[i];
        char text[BATS_STRATEGY_TEXT], marks[128];
        const double unit = (double)BATS_UNIT;
        fprintf(out,
                "\"%s\",%.3f,%.3f,%.3f,%.6f,%.6f,%.6f,%.2f,%.2f,%.2f,%d,"
                "\"%s\"\n",
                bats_strategy_format(text, &c->strategy),
                c->mean.makespan / 1e6, c->margin.makespan / 1e6,
                c->mean.tail / 1e6, c->mean.cost / unit,
                c->margin.cost / unit, c->mean.cost / unit / s->model->n_tasks,
                c->mean.sent_reliable, c->mean.used_reliable,
                c->mean.longest_queue, c->is_efficient,
                bats_strategies_marks(s, c, marks, sizeof marks));
    }
}

json_t *bats_strategies_json(const struct bats_strategies *s,
                             const struct bats_candidate *c)
{
    char text[BATS_STRATEGY_TEXT], marks[128];
    const double unit = (double)BATS_UNIT;
    return json_pack(
        "{s:s, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:b, s:s}",
        "strategy", bats_strategy_format(text, &c->strategy), "makespan_s",
        c->mean.makespan / 1e6, "makespan_margin_s", c->margin.makespan / 1e6,
        "tail_s", c->mean.tail / 1e6, "cost", c->mean.cost / unit,
        "cost_margin", c->margin.cost / unit, "task_cost",
        c->mean.cost / unit / s->model->n_tasks, "sent_reliable",
        c->mean.sent_reliable, "used_reliable", c->mean.used_reliable,
        "longest_queue", c->mean.longest_queue, "efficient", c->is_efficient,
        "best", bats_strategies_marks(s, c, marks, sizeof marks));
}
