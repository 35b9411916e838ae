/* html_strategies: the page of a frontier of strategies, and that part of a
 * run's page. See html.h. */
#include "report/html.h"
#include "report/strategies.h"
#include "report/words.h"
#include "util/json.h"

static void write_row(struct bats_html *h, const struct bats_strategies *s,
                      const struct bats_candidate *c)
{
    char text[BATS_STRATEGY_TEXT], marks[128];
    const double unit = (double)BATS_UNIT;

    bats_html_row(h);
    bats_html_cell(h, "%s", bats_strategy_format(text, &c->strategy));
    bats_html_cell(h, "%s", bats_words_makespan(text, c->mean.makespan));
    bats_html_cell(h, "%s", bats_words_makespan(text, c->margin.makespan));
    bats_html_cell(h, "%.2f", c->mean.cost / unit);
    bats_html_cell(h, "%.2f", c->margin.cost / unit);
    bats_html_cell(h, "%.3g", c->mean.cost / unit / s->model->n_tasks);
    bats_html_cell(h, "%.1f", c->mean.sent_reliable);
    fputs("<td class=\"text\">", h->out);
    bats_html_text(h, bats_strategies_marks(s, c, marks, sizeof marks));
}

static void write_list(struct bats_html *h, const char *caption,
                       const struct bats_strategies *s,
                       const struct bats_candidate *const *list, size_t n)
{
    bats_html_table(h, caption,
                    "strategy|makespan|\302\261|cost|\302\261|cost per task|"
                    "reliable instances|<best for");
    for (size_t i = 0; i < n; i++)
        write_row(h, s, list[i]);
    bats_html_table_end(h);
}

void bats_html_strategies_part(struct bats_html *h,
                               const struct bats_strategies *s)
{
    const struct bats_candidate *list[BATS_CANDIDATES_MAX];
    size_t n = bats_strategies_sort(s, list);

    bats_html_section(h, "Strategies: how to replicate the last tasks", NULL);
    write_list(h,
               "Frontier of N, T, D and Mr: no other such one takes and costs "
               "less",
               s, list, n);
    for (n = 0; s->n_grid + n < s->n; n++)
        list[n] = &s->list[s->n_grid + n];
    write_list(h, "Static strategies", s, list, n);
    bats_html_note(h,
                   "Mean of %u plays of each of %zu strategies, and half its "
                   "95 %% interval. %u unreliable slots, of which %.1f %% "
                   "answer%s; %u reliable ones.",
                   s->n_plays, s->n, s->model->n_unreliable,
                   100 * s->model->gamma,
                   s->model->noticed > 0 ? " and losses are noticed" : "",
                   s->model->n_reliable);
    bats_html_section(h, "Which one? Money against time", "strategies");
}

json_t *bats_html_strategies_data(const struct bats_strategies *s)
{
    json_t *list = json_array();

    for (size_t i = 0; i < s->n; i++) {
        json_t *o = bats_strategies_json(s, &s->list[i]);
        json_object_set_new(o, "static", json_boolean(i >= s->n_grid));
        json_array_append_new(list, o);
    }
    return list;
}

int bats_html_strategies(FILE *out, const struct bats_strategies *s,
                         struct bats_error *err)
{
    struct bats_html h;
    char title[320];

    snprintf(title, sizeof title, "frontier of %s - bats-mpi", s->name);
    int rc = bats_html_begin(&h, out, title, err);
    if (rc < 0)
        return rc;
    fputs("<h1>", out);
    bats_html_textf(&h, "Frontier of %s", s->name);
    fputs("</h1>\n<p class=\"lead\">", out);
    bats_html_textf(&h,
                    "How %u tasks can be replicated on machines that may not "
                    "answer, and what that takes and costs.",
                    s->model->n_tasks);
    fputs("</p>\n", out);
    bats_html_strategies_part(&h, s);
    return bats_html_end(&h,
                         json_pack("{s:s, s:o, s:o}", "kind", "strategies",
                                   "strategies", bats_html_strategies_data(s),
                                   "currency", bats_json_text(s->currency)),
                         err);
}
