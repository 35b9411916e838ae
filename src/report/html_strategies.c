/* html_strategies: the page of a frontier of strategies, and the part of a
 * run's page about it. See html.h. */
#include "report/html.h"
#include "report/strategies.h"
#include "util/json.h"

static void write_list(struct bats_html *h, const char *caption,
                       const struct bats_strategies *s,
                       const struct bats_candidate *const *list, size_t n)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, bats_strategies_json(s, list[i]));
    bats_sheet_html(h, caption, bats_strategies_columns, rows);
}

void bats_html_strategies_part(struct bats_html *h,
                               const struct bats_strategies *s)
{
    const struct bats_candidate *list[BATS_CANDIDATES_MAX];
    size_t n = bats_strategies_sort(s, list);

    bats_html_section(h, "Strategies: how to replicate the last tasks", NULL);
    write_list(
        h,
        "Efficient strategies: no other one of this form takes less time "
        "for less money",
        s, list, n);
    for (n = 0; s->n_grid + n < s->n; n++)
        list[n] = &s->list[s->n_grid + n];
    write_list(h, "Static strategies", s, list, n);
    bats_html_note(h,
                   "Mean of %u plays of each of %zu strategies, and half its "
                   "95 %% interval. %u unreliable slots, where %.1f %% of "
                   "executions answer%s; %u reliable slots.",
                   s->n_plays, s->n, s->model->n_unreliable,
                   100 * s->model->gamma,
                   s->model->noticed > 0 ? " and losses are noticed" : "",
                   s->model->n_reliable);
    bats_html_section(h, "Cost against time", "strategies");
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
    int rc = bats_html_begin(&h, out, "Frontier of ", s->name, err);
    if (rc < 0)
        return rc;
    bats_html_lead(&h,
                   "How %u tasks can be replicated on machines that may not "
                   "answer, and what that takes and costs.",
                   s->model->n_tasks);
    bats_html_strategies_part(&h, s);
    return bats_html_end(&h,
                         json_pack("{s:s, s:o, s:o}", "kind", "strategies",
                                   "strategies", bats_html_strategies_data(s),
                                   "currency", bats_json_text(s->currency)),
                         err);
}
