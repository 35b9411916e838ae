/* html_plan: the page of a plan. See html.h. */
#include <inttypes.h>
#include <string.h>

#include "report/html.h"
#include "report/schedules.h"
#include "report/sheet.h"
#include "report/words.h"
#include "util/json.h"

#define POINTS 2000 /* of the frontier, at most */

/* Every step-th schedule, with its machines in words. */
static json_t *list_schedules(const struct bats_estimator *e,
                              const struct bats_schedule *list, size_t n,
                              size_t step)
{
    json_t *rows = json_array();
    char held[4096];

    for (size_t i = 0; i < n; i += step) {
        json_t *row = bats_schedules_json(e, &list[i]);
        if (e->plans == BATS_PLANS_WINDOWS)
            bats_words_held(held, sizeof held, e, &list[i]);
        else
            bats_words_machines(held, sizeof held, e->clusters, e->n_clusters,
                                list[i].plan.machines, ", ");
        json_object_set_new(row, "held", bats_json_text(held));
        json_array_append_new(rows, row);
    }
    return rows;
}

static void write_list(struct bats_html *h, const char *caption,
                       const struct bats_estimator *e,
                       const struct bats_schedule *list, size_t n)
{
    static const struct bats_column columns[] = {
        {"schedule", "name", BATS_FIGURE_TEXT, NULL, true},
        {"<machines", "held", BATS_FIGURE_TEXT, NULL, false},
        {"makespan", "makespan_s", BATS_FIGURE_MAKESPAN, NULL, false},
        {"at most", "makespan_high_s", BATS_FIGURE_MAKESPAN, NULL, true},
        {"cost", "cost", BATS_FIGURE_TEXT, NULL, false},
        {"at most", "cost_high", BATS_FIGURE_TEXT, NULL, true},
        {0},
    };

    bats_sheet_html(h, caption, columns, list_schedules(e, list, n, 1));
}

static void write_clusters(struct bats_html *h, const struct bats_estimator *e)
{
    bats_html_section(h, "Clusters", NULL);
    bats_html_table(h, "Clusters", "cluster|charge per window|machines|mean "
                                   "runtime");
    for (size_t i = 0; i < e->n_clusters; i++) {
        bats_html_row(h);
        bats_html_cell(h, "%s", e->clusters[i].name);
        bats_html_cell(h, "%s",
                       bats_words_money(e->clusters[i].charge, e->currency).s);
        if (e->clusters[i].max == UINT32_MAX)
            bats_html_cell(h, "unlimited");
        else
            bats_html_cell(h, "%" PRIu32, e->clusters[i].max);
        bats_html_cell(h, "%s", bats_words_makespan(e->runtimes[i].mean).s);
    }
    bats_html_table_end(h);
}

int bats_html_plan(FILE *out, const struct bats_html_plan *p,
                   struct bats_error *err)
{
    struct bats_html h;
    char caption[64], path[512];
    int rc = bats_html_begin(&h, out, "Plan of ", p->name, err);
    if (rc < 0)
        return rc;
    bats_html_lead(&h, "%" PRIu64 " tasks, and what they can cost.",
                   p->e->n_tasks);
    bats_html_section(&h, "Time and money", "frontier");
    if (!p->complete)
        bats_html_note(&h, "The frontier is too long: this is a part of it.");
    snprintf(caption, sizeof caption, "Schedules on offer%s%s",
             p->e->currency[0] != '\0' ? ", costs in " : "", p->e->currency);
    write_list(&h, caption, p->e, p->offers, p->n_offers);
    write_clusters(&h, p->e);
    bats_schedules_path(path, sizeof path, p->e, p->path, p->n_path);
    if (path[0] != '\0')
        bats_html_note(&h, "%s", path);
    bats_html_section(&h, "Pareto-optimal schedules", NULL);
    write_list(&h, "Frontier, the cheapest first", p->e, p->frontier,
               p->n_frontier < 200 ? p->n_frontier : 200);
    if (p->n_frontier > 200)
        bats_html_note(&h, "%zu more are only in the chart.",
                       p->n_frontier - 200);
    return bats_html_end(
        &h,
        json_pack(
            "{s:s, s:o, s:f, s:o, s:o, s:o}", "kind", "plan", "frontier",
            list_schedules(p->e, p->frontier, p->n_frontier,
                           (p->n_frontier + POINTS - 1) / POINTS),
            "cheapest",
            p->n_offers > 0 ? (double)p->offers[0].plan.cost / BATS_UNIT : 0.0,
            "currency", bats_json_text(p->e->currency), "profile",
            p->profile != NULL ? bats_json_text(p->profile) : json_null(),
            "bag", p->bag != NULL ? bats_json_text(p->bag) : json_null()),
        err);
}
