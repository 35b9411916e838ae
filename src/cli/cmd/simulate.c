/* simulate: the verb simulate. Predicts cost and end of a bag for many seeds,
 * without running anything. */
#include <gsl/gsl_sort.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "history/believe.h"
#include "report/page.h"
#include "report/table.h"
#include "report/words.h"
#include "sim/campaign.h"
#include "util/json.h"

#define QUANTILES 101

struct simulation {
    const char *name; /* of the scenario */
    const struct bats_scenario *scenario;
    struct bats_world_result *results;
    size_t n;
};

static struct bats_campaign_summary summarise(const struct simulation *sim,
                                              uint32_t p, uint32_t b)
{
    struct bats_campaign_summary s;
    bats_must(
        bats_campaign_summarise(sim->results, sim->n, p, b, &s, &bats_why));
    return s;
}

/* ---- for people ---- */

/* Means of money, rounded to hundredths of a unit. */
static struct bats_phrase rounded(double amount)
{
    const bats_money hundredth = BATS_UNIT / 100;
    if (!isfinite(amount))
        return bats_words_amount(BATS_UNLIMITED);
    return bats_words_amount(llround(amount / (double)hundredth) * hundredth);
}

static void set_row(struct bats_table *table, size_t row, const char *policy,
                    const struct bats_campaign_summary *s)
{
    bats_table_set(table, row, 0, "%s", policy);
    bats_table_set(table, row, 5, "%s", rounded(s->charged).s);
    bats_table_set(table, row, 6, "%s", bats_words_amount(s->most).s);
    bats_table_set(table, row, 7, "%zu", s->runs - s->complete);
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

static void set_budget(struct bats_table *table, size_t row,
                       const struct bats_scenario_budget *budget,
                       const struct bats_campaign_summary *s)
{
    bool is_plain = budget->base == BATS_BUDGET_AMOUNT ||
                    budget->base == BATS_BUDGET_UNLIMITED;
    bats_table_set(table, row, 0, "budget %s%s%s", budget->text,
                   is_plain ? "" : ": ", is_plain ? "" : rounded(s->amount).s);
}

static void print_table(const struct simulation *sim)
{
    const struct bats_scenario *s = sim->scenario;
    static struct bats_table table; /* too large for a stack */
    size_t row = 0;
    bats_table_add(&table,
                   "policy\tmakespan\t+-\tmedian\tworst\tcharged\tmost\t"
                   "undone\t/bound\tworst");
    for (uint32_t b = 0; b < s->n_budgets; b++) {
        size_t heading = ++row;
        for (uint32_t p = 0; p < s->n_policies; p++) {
            struct bats_campaign_summary summary = summarise(sim, p, b);
            set_budget(&table, heading, &s->budgets[b], &summary);
            set_row(&table, ++row, bats_policy_name(s->policies[p]), &summary);
        }
    }
    bats_words_line(stdout, "%s: %s, %s in %zu cluster%s, window %s; %s each",
                    sim->name, bats_words_count(s->n_tasks, "task").s,
                    bats_words_count(s->platform.n_machines, "machine").s,
                    s->platform.n_clusters,
                    s->platform.n_clusters == 1 ? "" : "s",
                    bats_words_duration(s->platform.window).s,
                    bats_words_count(s->n_seeds * s->repeats, "run").s);
    putchar('\n');
    bats_table_print(stdout, &table);
    puts("\nmakespan, median, worst: of the runs that did the whole bag; +-: "
         "half the 95 %\ninterval of the mean. charged: mean, and most. "
         "undone: runs that left tasks.\n/bound: makespan / clairvoyant "
         "bound, mean and worst.");
}

/* ---- for programs ---- */

static json_t *result_json(const struct bats_scenario *s,
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
        bats_json_seconds(isfinite(r->bound), r->bound), "ratio",
        r->ratio > 0 ? json_real(r->ratio) : json_null(), "machines",
        machines);
}

static void print_json(const struct simulation *sim)
{
    for (size_t i = 0; i < sim->n; i++)
        bats_look_json(result_json(sim->scenario, &sim->results[i]), 0);
}

static void print_csv(FILE *out, const struct simulation *sim)
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

/* ---- a page ---- */

/* Percentiles 0 to 100 of n values in `of` runs; null if too few runs have a
 * value. Sorts the values. */
static json_t *quantiles(double *values, size_t n, size_t of)
{
    json_t *list = json_array();
    gsl_sort(values, 1, n);
    for (size_t i = 0; i < QUANTILES; i++) {
        size_t k = of > 1 ? (i * (of - 1) + 50) / 100 : 0;
        json_array_append_new(list,
                              k < n ? json_real(values[k]) : json_null());
    }
    return list;
}

static json_t *group_json(const struct simulation *sim,
                          const struct bats_campaign_summary *x, uint32_t p,
                          uint32_t b)
{
    const struct bats_scenario *s = sim->scenario;
    size_t n = sim->n, runs = 0, complete = 0, bounded = 0;
    double *values = bats_have(malloc((3 * n + 1) * sizeof *values));
    double *ends = values, *costs = values + n, *bounds = values + 2 * n;
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
        bats_json_seconds(x->complete > 0, x->mean), "margin_s",
        bats_json_seconds(x->complete > 0, x->margin), "worst_s",
        bats_json_seconds(x->complete > 0, (double)x->worst), "charged",
        x->charged / BATS_UNIT, "most", (double)x->most / BATS_UNIT, "ratio",
        x->mean_ratio, "undone", x->undone);
    free(values);
    return o;
}

static int write_page(void *context, FILE *out, struct bats_error *err)
{
    const struct simulation *sim = context;
    const struct bats_scenario *s = sim->scenario;
    json_t *groups = json_array();
    for (uint32_t b = 0; b < s->n_budgets; b++)
        for (uint32_t p = 0; p < s->n_policies; p++) {
            struct bats_campaign_summary x = summarise(sim, p, b);
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

/* ---- the verb ---- */

static void overrule(struct bats_scenario *scenario,
                     const struct bats_settings *set)
{
    struct bats_goal *goal = &scenario->engine.goal;
    const struct bats_deadline *deadline = &set->deadline;
    if (deadline->moment > 0)
        bats_die(BATS_EINPUT, "--deadline: a simulation has no clock: give a "
                              "duration or a percentage");
    if (deadline->text != NULL) {
        if (!scenario->has_deadline)
            goal->minimize = BATS_MINIMIZE_COST;
        goal->deadline = deadline->duration;
        scenario->has_deadline = true;
        scenario->deadline_is_share = deadline->is_share;
        scenario->deadline_share = deadline->share;
    }
    if (set->minimize != NULL)
        bats_minimize_find(set->minimize, &goal->minimize);
    if (goal->minimize == BATS_MINIMIZE_COST && !scenario->has_deadline &&
        scenario->engine.billing.lease == 0)
        bats_die(BATS_EINPUT, "--minimize cost needs a deadline, or jobs with "
                              "leases");
    if (!bats_settings_given(set, "seed"))
        return;
    if (set->run.engine.seed == 0 || set->run.engine.seed > UINT32_MAX)
        bats_die(BATS_EINPUT, "--seed: the seed of a scenario is from 1 to %u",
                 UINT32_MAX);
    scenario->seeds[0] = (uint32_t)set->run.engine.seed;
    scenario->n_seeds = 1;
}

/* Checks that every run kept its budget; a violation is a bug in the
 * engine. */
static void check_budgets(const struct simulation *sim)
{
    for (size_t i = 0; i < sim->n; i++) {
        const struct bats_world_result *r = &sim->results[i];
        if (r->violations > 0)
            bats_die(BATS_ESTATE,
                     "seed %u, repeat %u, policy %s, budget %s: charged more "
                     "than the budget; this is a bug in bats-mpi",
                     r->seed, r->repeat,
                     bats_policy_name(sim->scenario->policies[r->policy]),
                     sim->scenario->budgets[r->budget].text);
    }
}

static void play(const struct bats_settings *set,
                 const struct bats_scenario *scenario)
{
    struct simulation sim = {.name = set->words[0], .scenario = scenario};
    bats_must(bats_campaign_run(scenario, bats_jobs_count(set->jobs),
                                &sim.results, &sim.n, &bats_why));
    if (set->html != NULL)
        bats_look_write(set->html, write_page, &sim);
    else if (set->csv)
        print_csv(stdout, &sim);
    else if (set->json)
        print_json(&sim);
    else
        print_table(&sim);
    check_budgets(&sim);
    free(sim.results);
}

/* Asks the history about the scenario; the caller frees believed->kinds. */
static void ask_history(const char *path, struct bats_scenario *scenario,
                        struct bats_believed *believed)
{
    const struct bats_platform *p = &scenario->platform;
    struct bats_past_place places[BATS_CLUSTERS_MAX] = {{.name = ""}};
    double charge[BATS_CLUSTERS_MAX];
    struct bats_task_kinds kinds = {0};
    struct bats_past past = {0};
    struct bats_store *store;
    bats_must(bats_store_open(path, false, &store, &bats_why));
    if (store == NULL)
        bats_die(BATS_EINPUT, "%s: there is no such history", path);
    bats_must(bats_store_read(store, &past, &bats_why));
    bats_store_close(store);
    for (size_t i = 0; i < p->n_clusters; i++) {
        strcpy(places[i].name, p->clusters[i].name);
        charge[i] = (double)p->clusters[i].charge;
    }
    if (bats_task_kinds_named(&kinds, scenario->class) == BATS_NO_KIND)
        bats_have(NULL);
    if (bats_must(bats_history_believe(&past, places, charge, p->n_clusters,
                                       &kinds, "", NULL, believed,
                                       &bats_why)) > 0)
        scenario->engine.prior = &believed->prior;
    bats_store_release(&past);
    bats_task_kinds_release(&kinds);
}

int cmd_simulate(const struct bats_settings *set)
{
    struct bats_scenario *scenario = NULL;
    struct bats_believed believed = {.kinds = NULL};
    bats_must(bats_scenario_load(set->words[0], &scenario, &bats_why));
    overrule(scenario, set);
    if (set->history != NULL)
        ask_history(set->history, scenario, &believed);
    play(set, scenario);
    bats_scenario_destroy(scenario);
    free(believed.kinds);
    return 0;
}
