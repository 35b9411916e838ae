/* html_plan: the page of a plan. See html.h. */
#include <inttypes.h>
#include <string.h>

#include "report/html.h"
#include "report/schedules.h"
#include "report/words.h"
#include "util/json.h"

#define POINTS 2000 /* of the frontier, at most */

static void write_offer(struct bats_html *h, const struct bats_estimator *e,
                        const struct bats_schedule *s)
{
    char held[4096], money[96], time[BATS_UNITS_TEXT];
    const char *name = bats_offer_name(s->offer);

    if (e->plans == BATS_PLANS_WINDOWS)
        bats_words_held(held, sizeof held, e, s);
    else
        bats_words_machines(held, sizeof held, e->clusters, e->n_clusters,
                            s->plan.machines, ", ");
    bats_html_row(h);
    bats_html_cell(h, "%s", name[0] != '\0' ? name : "-");
    fputs("<td class=\"text\">", h->out);
    bats_html_text(h, held);
    bats_html_cell(h, "%s",
                   bats_words_makespan(time, s->makespan.estimate));
    if (s->is_bounded)
        bats_html_cell(h, "%s", bats_words_makespan(time, s->makespan.high));
    else
        bats_html_cell(h, "-");
    bats_html_cell(h, "%s", bats_words_money(money, sizeof money,
                                             s->plan.cost, e->currency));
    if (s->is_bounded)
        bats_html_cell(h, "%s", bats_words_money(money, sizeof money,
                                                 s->cost_high, e->currency));
    else
        bats_html_cell(h, "-");
}

static void write_list(struct bats_html *h, const char *caption,
                       const struct bats_estimator *e,
                       const struct bats_schedule *list, size_t n)
{
    bats_html_table(h, caption,
                    "schedule|<machines|makespan|at most|cost|at most");
    for (size_t i = 0; i < n; i++)
        write_offer(h, e, &list[i]);
    bats_html_table_end(h);
}

static void write_clusters(struct bats_html *h, const struct bats_estimator *e)
{
    char text[96], time[BATS_UNITS_TEXT];

    bats_html_section(h, "What is known of the clusters", NULL);
    bats_html_table(h, "Clusters", "cluster|charge per window|machines|mean "
                                   "runtime");
    for (size_t i = 0; i < e->n_clusters; i++) {
        bats_html_row(h);
        bats_html_cell(h, "%s", e->clusters[i].name);
        bats_html_cell(h, "%s", bats_words_money(text, sizeof text,
                                                 e->clusters[i].charge,
                                                 e->currency));
        if (e->clusters[i].max == UINT32_MAX)
            bats_html_cell(h, "unlimited");
        else
            bats_html_cell(h, "%" PRIu32, e->clusters[i].max);
        bats_html_cell(h, "%s",
                       bats_words_makespan(time, e->runtimes[i].mean));
    }
    bats_html_table_end(h);
}

static json_t *frontier_json(const struct bats_html_plan *p)
{
    json_t *list = json_array();
    size_t step = (p->n_frontier + POINTS - 1) / POINTS;
    char held[4096];

    for (size_t i = 0; i < p->n_frontier; i += step > 0 ? step : 1) {
        const struct bats_schedule *s = &p->frontier[i];
        json_t *o = bats_schedules_json(p->e, s);
        if (p->e->plans == BATS_PLANS_WINDOWS)
            bats_words_held(held, sizeof held, p->e, s);
        else
            bats_words_machines(held, sizeof held, p->e->clusters,
                                p->e->n_clusters, s->plan.machines, ", ");
        json_object_set_new(o, "held", bats_json_text(held));
        json_array_append_new(list, o);
    }
    return list;
}

int bats_html_plan(FILE *out, const struct bats_html_plan *p,
                   struct bats_error *err)
{
    struct bats_html h;
    char title[320], path[512];

    snprintf(title, sizeof title, "plan of %s - bats-mpi", p->name);
    int rc = bats_html_begin(&h, out, title, err);
    if (rc < 0)
        return rc;
    fputs("<h1>", out);
    bats_html_textf(&h, "Plan of %s", p->name);
    fputs("</h1>\n<p class=\"lead\">", out);
    bats_html_textf(&h, "%" PRId64 " tasks, and what they can cost.",
                    (int64_t)p->e->n_tasks);
    fputs("</p>\n", out);
    bats_html_section(&h, "Time and money", "frontier");
    if (!p->complete)
        bats_html_note(&h, "The frontier is too long: this is a part of it.");
    write_list(&h, "Schedules on offer", p->e, p->offers, p->n_offers);
    write_clusters(&h, p->e);
    bats_schedules_path(path, sizeof path, p->e, p->path, p->n_path);
    if (path[0] != '\0')
        bats_html_note(&h, "%s", path);
    bats_html_section(&h, "All schedules that no other one beats", NULL);
    write_list(&h, "Frontier, the cheapest first", p->e, p->frontier,
               p->n_frontier < 200 ? p->n_frontier : 200);
    if (p->n_frontier > 200)
        bats_html_note(&h, "%zu more are only in the chart.",
                       p->n_frontier - 200);
    return bats_html_end(
        &h,
        json_pack("{s:s, s:o, s:f, s:o, s:o, s:o}", "kind", "plan",
                  "frontier", frontier_json(p), "cheapest",
                  p->n_offers > 0
                      ? (double)p->offers[0].plan.cost / BATS_UNIT
                      : 0.0,
                  "currency", bats_json_text(p->e->currency),
                  "profile",
                  p->profile != NULL ? bats_json_text(p->profile)
                                     : json_null(),
                  "bag",
                  p->bag != NULL ? bats_json_text(p->bag) : json_null()),
        err);
}
