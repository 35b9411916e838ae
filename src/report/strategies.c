#include "report/strategies.h"

#include <stdlib.h>

#include "report/table.h"
#include "report/words.h"
#include "util/json.h"
#include "util/text.h"

/* Lines of the table with its head, without static strategies. */
#define ROWS 120

static const char *const mark_names[BATS_MARKS] = {
    "cheapest", "fastest", "makespan x cost", "budget", "deadline", "utility"};

/* "cheapest, budget": the criteria it is best for. Returns `text`. */
static const char *marks_of(const struct bats_strategies *s,
                            const struct bats_candidate *c, char *text,
                            size_t size)
{
    text[0] = '\0';
    for (enum bats_mark mark = 0; mark < BATS_MARKS; mark++)
        if (s->best[mark] < s->n && c == &s->list[s->best[mark]]) {
            bats_append(text, size, "%s%s", text[0] ? ", " : "",
                        mark_names[mark]);
        }
    return text;
}

static int by_makespan(const void *left, const void *right)
{
    const struct bats_candidate *a = *(struct bats_candidate *const *)left;
    const struct bats_candidate *b = *(struct bats_candidate *const *)right;
    return a->mean.makespan < b->mean.makespan
               ? -1
               : a->mean.makespan > b->mean.makespan;
}

/* The undominated strategies and the one with the best utility, the fastest
 * first. `list` has room for n_grid. Returns their number. */
static size_t sort(const struct bats_strategies *s,
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

static const struct bats_column columns[] = {
    {"strategy", "strategy", BATS_FIGURE_TEXT, NULL, false},
    {"makespan", "makespan_s", BATS_FIGURE_MAKESPAN, NULL, false},
    {"+-", "makespan_margin_s", BATS_FIGURE_MAKESPAN, NULL, false},
    {"cost", "cost", BATS_FIGURE_HUNDREDTH, NULL, false},
    {"+-", "cost_margin", BATS_FIGURE_HUNDREDTH, NULL, false},
    {"/task", "task_cost", BATS_FIGURE_THREE, NULL, false},
    {"reliable", "sent_reliable", BATS_FIGURE_TENTH, NULL, false},
    {"best for", "best", BATS_FIGURE_TEXT, NULL, false},
    {0},
};

static void print_head(FILE *out, const struct bats_strategies *s)
{
    const struct bats_plays_model *m = s->model;
    double mean = 0;
    for (size_t i = 0; i < m->n_times; i++)
        mean += (double)m->unreliable[i] / (double)m->n_times;
    bats_words_line(
        out,
        "%s: %s; %u unreliable slots, where %.1f %% of executions answer%s, "
        "after %s on average; %u reliable slots; %zu strategies, "
        "%u plays of each",
        s->name, bats_words_count(m->n_tasks, "task").s, m->n_unreliable,
        100 * m->gamma, m->noticed > 0 ? " and losses are noticed" : "",
        bats_words_makespan(mean).s, m->n_reliable, s->n, s->n_plays);
    putc('\n', out);
}

void bats_strategies_print(FILE *out, const struct bats_strategies *s)
{
    struct bats_table table = {0};
    const struct bats_candidate *sorted[BATS_CANDIDATES_MAX];
    char marks[128];
    json_t *rows = json_array();
    size_t n = sort(s, sorted);
    for (size_t i = 0; i < n; i++)
        if (json_array_size(rows) + 1 < ROWS - BATS_MARKS ||
            *marks_of(s, sorted[i], marks, sizeof marks) != '\0')
            json_array_append_new(rows, bats_strategies_json(s, sorted[i]));
    size_t n_left_out = n - json_array_size(rows);
    for (size_t i = s->n_grid; i < s->n; i++)
        json_array_append_new(rows, bats_strategies_json(s, &s->list[i]));
    bats_table_fill(&table, columns, rows, BATS_TABLE_ROWS - 1);
    json_decref(rows);
    print_head(out, s);
    bats_table_print(out, &table);
    fputs(
        "\nThe efficient strategies, the fastest first, then the static ones. "
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
                c->mean.tail / 1e6, c->mean.cost / unit, c->margin.cost / unit,
                c->mean.cost / unit / s->model->n_tasks, c->mean.sent_reliable,
                c->mean.used_reliable, c->mean.longest_queue, c->is_efficient,
                marks_of(s, c, marks, sizeof marks));
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
        "best", marks_of(s, c, marks, sizeof marks));
}

json_t *bats_strategies_page(const struct bats_strategies *s)
{
    const struct bats_plays_model *m = s->model;
    json_t *list = json_array();
    for (size_t i = 0; i < s->n; i++) {
        json_t *o = bats_strategies_json(s, &s->list[i]);
        json_object_set_new(o, "static", json_boolean(i >= s->n_grid));
        json_array_append_new(list, o);
    }
    return json_pack("{s:o, s:o, s:{s:i, s:i, s:i, s:f, s:b, s:i}}",
                     "strategies", list, "currency",
                     bats_json_text(s->currency), "plays", "each",
                     (int)s->n_plays, "tasks", (int)m->n_tasks, "unreliable",
                     (int)m->n_unreliable, "answer", m->gamma, "noticed",
                     m->noticed > 0, "reliable", (int)m->n_reliable);
}
