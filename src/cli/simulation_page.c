/* simulation_page: the results of a campaign as a page. */
#include "cli/simulation.h"

#include <math.h>
#include <stdlib.h>

#include "report/page.h"
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

static json_t *seconds(const struct bats_campaign_summary *x, double us)
{
    return x->complete > 0 ? json_real(us / BATS_SECOND) : json_null();
}

/* The summary and the distributions of one policy and budget. */
static json_t *group_json(const struct bats_simulation *sim,
                          const struct bats_campaign_summary *x, uint32_t p,
                          uint32_t b)
{
    const struct bats_scenario *s = sim->scenario;
    size_t n = sim->n, runs = 0, complete = 0, bounded = 0;
    double *values = malloc((3 * n + 1) * sizeof *values);
    double *ends = values, *costs = values + n, *bounds = values + 2 * n;

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
    json_t *o = json_pack(
        "{s:s, s:o, s:I, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:f, s:f, s:f,"
        " s:f}",
        "policy", bats_policy_name(s->policies[p]), "budget",
        bats_json_text(s->budgets[b].text), "runs", (json_int_t)runs,
        "complete", (json_int_t)complete, "makespan",
        quantiles(ends, complete, runs), "cost", quantiles(costs, runs, runs),
        "bound", quantiles(bounds, bounded, runs), "mean_s",
        seconds(x, x->mean), "margin_s", seconds(x, x->margin), "worst_s",
        seconds(x, (double)x->worst), "charged", x->charged / BATS_UNIT,
        "most", (double)x->most / BATS_UNIT, "ratio", x->mean_ratio, "undone",
        x->undone);
    free(values);
    return o;
}

int bats_simulation_page(void *simulation, FILE *out, struct bats_error *err)
{
    const struct bats_simulation *sim = simulation;
    const struct bats_scenario *s = sim->scenario;
    struct bats_campaign_summary x;
    json_t *groups = json_array();

    for (uint32_t b = 0; b < s->n_budgets; b++)
        for (uint32_t p = 0; p < s->n_policies; p++) {
            int rc =
                bats_campaign_summarise(sim->results, sim->n, p, b, &x, err);
            if (rc < 0) {
                json_decref(groups);
                return rc;
            }
            json_array_append_new(groups, group_json(sim, &x, p, b));
        }
    return bats_page_write(
        out,
        json_pack("{s:s, s:o, s:I, s:o, s:o}", "kind", "simulation", "title",
                  json_sprintf("Simulation of %s", sim->name), "runs",
                  (json_int_t)sim->n, "groups", groups, "currency",
                  bats_json_text(s->platform.currency)),
        NULL, NULL, err);
}
