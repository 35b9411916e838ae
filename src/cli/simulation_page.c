/* simulation_page: the results of a campaign as a page. */
#include "cli/simulation.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "report/html.h"
#include "report/words.h"
#include "util/json.h"

#define QUANTILES 101

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Percentiles 0 to 100 of n values in `of` runs; null if too few runs have a
 * value. Sorts the values. */
static json_t *quantiles(double *values, size_t n, size_t of)
{
    json_t *list = json_array();

    qsort(values, n, sizeof *values, by_value);
    for (size_t i = 0; i < QUANTILES; i++) {
        size_t k = of > 1 ? (i * (of - 1) + 50) / 100 : 0;
        json_array_append_new(list,
                              k < n ? json_real(values[k]) : json_null());
    }
    return list;
}

/* The distributions of one policy and budget. */
static json_t *group_json(const struct bats_simulation *sim, uint32_t p,
                          uint32_t b)
{
    const struct bats_scenario *s = sim->scenario;
    size_t n = sim->n;
    double *values = malloc((3 * n + 1) * sizeof *values);
    double *ends = values, *costs = values + n, *bounds = values + 2 * n;
    size_t runs = 0, complete = 0, bounded = 0;

    if (values == NULL)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        const struct bats_world_result *r = &sim->results[i];
        if (r->policy != p || r->budget != b)
            continue;
        costs[runs++] = (double)r->charged / BATS_UNIT;
        if (r->undone == 0)
            ends[complete++] = (double)r->makespan / BATS_SECOND;
        if (isfinite(r->bound))
            bounds[bounded++] = r->bound / BATS_SECOND;
    }
    json_t *o = json_pack("{s:s, s:o, s:I, s:I, s:o, s:o, s:o}", "policy",
                          bats_policy_name(s->policies[p]), "budget",
                          bats_json_text(s->budgets[b].text), "runs",
                          (json_int_t)runs, "complete", (json_int_t)complete,
                          "makespan", quantiles(ends, complete, runs), "cost",
                          quantiles(costs, runs, runs), "bound",
                          quantiles(bounds, bounded, runs));
    free(values);
    return o;
}

static void write_row(struct bats_html *h, const struct bats_scenario *s,
                      uint32_t p, uint32_t b,
                      const struct bats_campaign_summary *x)
{
    bats_html_row(h);
    bats_html_cell(h, "%s", s->budgets[b].text);
    bats_html_words(h, bats_policy_name(s->policies[p]));
    bats_html_cell(h, "%zu of %zu", x->complete, x->runs);
    const double times[] = {x->mean, x->margin, (double)x->worst};
    for (size_t i = 0; i < 3; i++)
        bats_html_cell(
            h, "%s", x->complete == 0 ? "-" : bats_words_makespan(times[i]).s);
    bats_html_cell(h, "%.2f", x->charged / BATS_UNIT);
    bats_html_cell(h, "%s", bats_words_amount(x->most).s);
    if (x->mean_ratio > 0)
        bats_html_cell(h, "%.3f", x->mean_ratio);
    else
        bats_html_cell(h, "-");
    bats_html_cell(h, "%.1f", x->undone);
}

int bats_simulation_page(void *simulation, FILE *out, struct bats_error *err)
{
    const struct bats_simulation *sim = simulation;
    const struct bats_scenario *s = sim->scenario;
    struct bats_html h;
    struct bats_campaign_summary x;
    json_t *groups = json_array();

    int rc = bats_html_begin(&h, out, "Simulation of ", sim->name, err);
    if (rc == 0) {
        bats_html_lead(&h, "%s, with %zu %s and %s.",
                       bats_words_count(sim->n, "run").s, s->n_policies,
                       s->n_policies == 1 ? "policy" : "policies",
                       bats_words_count(s->n_budgets, "budget").s);
        bats_html_section(&h, "Policies and budgets", NULL);
        bats_html_table(&h,
                        "Makespans are those of the runs that did the whole "
                        "bag; /bound: against the clairvoyant bound",
                        "budget|<policy|whole bags|mean makespan|95 % "
                        "+-|worst|charged, mean|most|/bound|tasks left, mean");
    }
    for (uint32_t b = 0; rc == 0 && b < s->n_budgets; b++)
        for (uint32_t p = 0; rc == 0 && p < s->n_policies; p++) {
            rc = bats_campaign_summarise(sim->results, sim->n, p, b, &x, err);
            if (rc == 0)
                write_row(&h, s, p, b, &x);
            json_array_append_new(groups, group_json(sim, p, b));
        }
    if (rc < 0) {
        json_decref(groups);
        return rc;
    }
    bats_html_table_end(&h);
    bats_html_section(&h, "How long", "makespans");
    bats_html_section(&h, "How much", "costs");
    return bats_html_end(&h,
                         json_pack("{s:s, s:o, s:o}", "kind", "simulation",
                                   "groups", groups, "currency",
                                   bats_json_text(s->platform.currency)),
                         err);
}
