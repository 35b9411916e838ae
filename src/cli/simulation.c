#include "cli/simulation.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "report/finish.h"
#include "report/table.h"
#include "report/words.h"
#include "util/json.h"

/* ---- for people ---- */

/* Means of money, rounded to hundredths of a unit. */
static struct bats_phrase rounded(double amount)
{
    const bats_money hundredth = BATS_UNIT / 100;
    if (!isfinite(amount))
        return bats_words_amount(BATS_UNLIMITED);
    return bats_words_amount(llround(amount / (double)hundredth) * hundredth);
}

static void set_makespans(struct bats_table *table, size_t row,
                          const struct bats_campaign_summary *s)
{
    if (s->complete == 0)
        return;
    bats_table_set(table, row, 1, "%s",
                   bats_words_duration(llround(s->mean)).s);
    bats_table_set(table, row, 3, "%s",
                   bats_words_duration(llround(s->median)).s);
    bats_table_set(table, row, 4, "%s", bats_words_duration(s->worst).s);
    bats_table_set(table, row, 8, "%.3f", s->mean_ratio);
    bats_table_set(table, row, 9, "%.3f", s->worst_ratio);
    if (s->complete > 1)
        bats_table_set(table, row, 2, "%s",
                       bats_words_duration(llround(s->margin)).s);
}

static void set_row(struct bats_table *table, size_t row, const char *policy,
                    const struct bats_campaign_summary *s)
{
    bats_table_set(table, row, 0, "%s", policy);
    bats_table_set(table, row, 5, "%s", rounded(s->charged).s);
    bats_table_set(table, row, 6, "%s", bats_words_amount(s->most).s);
    bats_table_set(table, row, 7, "%zu", s->runs - s->complete);
    set_makespans(table, row, s);
}

/* The heading above the rows of a budget. */
static void set_budget(struct bats_table *table, size_t row,
                       const struct bats_scenario_budget *budget,
                       const struct bats_campaign_summary *s)
{
    if (budget->base == BATS_BUDGET_AMOUNT ||
        budget->base == BATS_BUDGET_UNLIMITED)
        bats_table_set(table, row, 0, "budget %s", budget->text);
    else
        bats_table_set(table, row, 0, "budget %s: %s", budget->text,
                       rounded(s->amount).s);
}

static void print_head(FILE *out, const char *name,
                       const struct bats_scenario *s)
{
    bats_words_line(out, "%s: %s, %s in %zu cluster%s, window %s; %s each",
                    name, bats_words_count(s->n_tasks, "task").s,
                    bats_words_count(s->platform.n_machines, "machine").s,
                    s->platform.n_clusters,
                    s->platform.n_clusters == 1 ? "" : "s",
                    bats_words_duration(s->platform.window).s,
                    bats_words_count(s->n_seeds * s->repeats, "run").s);
    putc('\n', out);
}

int bats_simulation_table(FILE *out, const struct bats_simulation *sim,
                          struct bats_error *err)
{
    const struct bats_scenario *scenario = sim->scenario;
    static const char *const head[] = {"policy", "makespan", "+-",   "median",
                                       "worst",  "charged",  "most", "undone",
                                       "/bound", "worst"};
    static struct bats_table table; /* too large for a stack */
    size_t row = 0;
    int rc = 0;

    table = (struct bats_table){.n_rows = 0};
    bats_table_head(&table, head, sizeof head / sizeof *head);
    for (uint32_t b = 0; rc == 0 && b < scenario->n_budgets; b++) {
        size_t heading = ++row;
        for (uint32_t p = 0; rc == 0 && p < scenario->n_policies; p++) {
            struct bats_campaign_summary s;
            rc = bats_campaign_summarise(sim->results, sim->n, p, b, &s, err);
            if (rc < 0)
                break;
            set_budget(&table, heading, &scenario->budgets[b], &s);
            set_row(&table, ++row, bats_policy_name(scenario->policies[p]),
                    &s);
        }
    }
    if (rc < 0)
        return rc;
    print_head(out, sim->name, scenario);
    bats_table_print(out, &table);
    fputs("\nmakespan, median, worst: of the runs that did the whole bag; +-: "
          "half the 95 %\ninterval of the mean. charged: mean, and most. "
          "undone: runs that left tasks.\n/bound: makespan / clairvoyant "
          "bound, mean and worst.\n",
          out);
    return 0;
}

/* ---- for programs ---- */

void bats_simulation_csv(FILE *out, const struct bats_simulation *sim)
{
    const struct bats_scenario *scenario = sim->scenario;
    fputs("seed,repeat,policy,budget,amount,outcome,makespan_s,windows,"
          "charged,violations,reconfigurations,done,failed,undone,preempted,"
          "lost,bound_s,ratio",
          out);
    for (size_t k = 0; k < scenario->platform.n_clusters; k++)
        fprintf(out, ",machines_%s", scenario->platform.clusters[k].name);
    putc('\n', out);
    for (size_t i = 0; i < sim->n; i++) {
        const struct bats_world_result *r = &sim->results[i];
        char bound[BATS_UNITS_TEXT] = "", ratio[BATS_UNITS_TEXT] = "";
        if (isfinite(r->bound))
            snprintf(bound, sizeof bound, "%.3f", r->bound / 1e6);
        if (r->ratio > 0)
            snprintf(ratio, sizeof ratio, "%.6f", r->ratio);
        fprintf(out, "%" PRIu32 ",%" PRIu32 ",%s,", r->seed, r->repeat,
                bats_policy_name(scenario->policies[r->policy]));
        bats_words_put(out, BATS_ENCODE_CSV,
                       scenario->budgets[r->budget].text);
        fprintf(out,
                ",%s,%s,%.6f,%" PRId64 ",%s,%" PRIu32 ",%" PRIu32 ",%" PRIu32
                ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%s,%s",
                bats_words_amount(r->amount).s,
                bats_finish_row(r->finish, 0)->key, (double)r->makespan / 1e6,
                r->windows, bats_words_amount(r->charged).s, r->violations,
                r->reconfigurations, r->done, r->failed, r->undone,
                r->preempted, r->lost, bound, ratio);
        for (size_t k = 0; k < scenario->platform.n_clusters; k++)
            fprintf(out, ",%" PRIu32, r->machines[k]);
        putc('\n', out);
    }
}

static json_t *row(const struct bats_scenario *s,
                   const struct bats_world_result *r)
{
    json_t *machines = json_object();
    for (size_t k = 0; k < s->platform.n_clusters; k++)
        json_object_set_new(machines, s->platform.clusters[k].name,
                            json_integer(r->machines[k]));
    return json_pack(
        "{s:I, s:I, s:s, s:o, s:o, s:s, s:f, s:I, s:o, s:I, s:I, s:I, s:I, "
        "s:I, s:I, s:I, s:o, s:o, s:o}",
        "seed", (json_int_t)r->seed, "repeat", (json_int_t)r->repeat, "policy",
        bats_policy_name(s->policies[r->policy]), "budget",
        bats_json_text(s->budgets[r->budget].text), "amount",
        bats_json_money(r->amount), "outcome",
        bats_finish_row(r->finish, 0)->key, "makespan_s",
        (double)r->makespan / 1e6, "windows", (json_int_t)r->windows,
        "charged", bats_json_money(r->charged), "violations",
        (json_int_t)r->violations, "reconfigurations",
        (json_int_t)r->reconfigurations, "done", (json_int_t)r->done, "failed",
        (json_int_t)r->failed, "undone", (json_int_t)r->undone, "preempted",
        (json_int_t)r->preempted, "lost", (json_int_t)r->lost, "bound_s",
        isfinite(r->bound) ? json_real(r->bound / 1e6) : json_null(), "ratio",
        r->ratio > 0 ? json_real(r->ratio) : json_null(), "machines",
        machines);
}

int bats_simulation_json(FILE *out, const struct bats_simulation *sim,
                         struct bats_error *err)
{
    for (size_t i = 0; i < sim->n; i++) {
        json_t *object = row(sim->scenario, &sim->results[i]);
        if (!object)
            return bats_no_memory(err);
        json_dumpf(object, out, BATS_JSON_SAFE | JSON_REAL_PRECISION(15));
        json_decref(object);
        putc('\n', out);
    }
    return 0;
}
