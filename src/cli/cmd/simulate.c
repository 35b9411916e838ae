/* simulate: the verb simulate. Predicts cost and end of a bag for many seeds,
 * without running anything. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "cli/cli.h"
#include "cli/frame.h"
#include "cli/jobs.h"
#include "cli/look.h"
#include "cli/simulation.h"
#include "history/believe.h"
#include "report/trace.h"
#include "report/words.h"

/* Lets the options override the scenario. */
static int overrule(struct bats_scenario *scenario,
                    const struct bats_settings *set, struct bats_error *err)
{
    struct bats_goal *goal = &scenario->goal;
    const struct bats_deadline *deadline = &set->deadline;
    if (deadline->moment > 0)
        return bats_refuse(err, "--deadline: a simulation has no clock: give "
                                "a duration or a percentage");
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
        scenario->lease == 0)
        return bats_refuse(err, "--minimize cost needs a deadline, or jobs "
                                "with leases");
    if (!set->seed_given)
        return 0;
    if (set->run.engine.seed == 0 || set->run.engine.seed > UINT32_MAX)
        return bats_refuse(
            err, "--seed: the seed of a scenario is from 1 to %u", UINT32_MAX);
    scenario->seeds[0] = (uint32_t)set->run.engine.seed;
    scenario->n_seeds = 1;
    return 0;
}

static int print(const struct bats_settings *set, struct bats_simulation *sim,
                 struct bats_error *err)
{
    if (set->html != NULL)
        return bats_look_write(set->html, bats_simulation_page, sim, err);
    if (!set->csv && !set->json)
        return bats_simulation_table(stdout, sim, err);
    if (!set->csv)
        return bats_simulation_json(stdout, sim, err);
    bats_simulation_csv(stdout, sim);
    return 0;
}

/* Checks that every run kept its budget; a violation is a bug in the
 * engine. */
static int check_budgets(const struct bats_scenario *scenario,
                         const struct bats_world_result *results, size_t n,
                         struct bats_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const struct bats_world_result *r = &results[i];
        if (r->violations > 0)
            return bats_error_set(
                err, BATS_ESTATE,
                "seed %u, repeat %u, policy %s, budget %s: charged more than "
                "the budget; this is a bug in bats-mpi",
                r->seed, r->repeat,
                bats_policy_name(scenario->policies[r->policy]),
                scenario->budgets[r->budget].text);
    }
    return 0;
}

/* ---- a trace ---- */

static void show_event(void *context, bats_time now,
                       const struct bats_event *event)
{
    bats_trace_event(context, now, event);
}

static void show_command(void *context, bats_time now,
                         const struct bats_command *command)
{
    bats_trace_command(context, now, command);
}

static void show_decisions(void *context, const struct bats_sched *sched)
{
    bats_trace_decisions(context, sched);
}

/* Traces every policy with every budget, in the first world. */
static int trace(const struct bats_scenario *scenario, struct bats_error *err)
{
    struct bats_world *world;
    int rc = bats_world_create(scenario, 0, 0, &world, err);
    if (rc < 0)
        return rc;
    for (uint32_t b = 0; rc == 0 && b < scenario->n_budgets; b++)
        for (uint32_t p = 0; rc == 0 && p < scenario->n_policies; p++) {
            struct bats_trace t = {.out = stdout,
                                   .platform = &scenario->platform,
                                   .terms =
                                       bats_lease_terms(scenario->billing)};
            const struct bats_sim_watch watch = {&t, show_event, show_command,
                                                 show_decisions};
            struct bats_world_result r;
            bats_words_line(stdout, "seed %u, policy %s, budget %s",
                            scenario->seeds[0],
                            bats_policy_name(scenario->policies[p]),
                            scenario->budgets[b].text);
            rc = bats_world_run(world, p, b, &watch, &r, err);
            if (rc == 0)
                printf("charged %s\n\n", bats_words_amount(r.charged).s);
        }
    bats_world_destroy(world);
    return rc;
}

static int play(const struct bats_settings *set,
                const struct bats_scenario *scenario, struct bats_error *err)
{
    struct bats_world_result *results = NULL;
    size_t n = 0;
    int rc = bats_campaign_run(scenario, bats_jobs_count(set->jobs), &results,
                               &n, err);
    if (rc == 0)
        rc = print(
            set,
            &(struct bats_simulation){set->words[0], scenario, results, n},
            err);
    if (rc == 0)
        rc = check_budgets(scenario, results, n, err);
    free(results);
    return rc;
}

/* Asks the history about the scenario; the caller frees believed->kinds. */
static int ask_history(const char *path, struct bats_scenario *scenario,
                       struct bats_believed *believed, struct bats_error *err)
{
    const struct bats_platform *p = &scenario->platform;
    struct bats_past_place places[BATS_CLUSTERS_MAX] = {{.name = ""}};
    double charge[BATS_CLUSTERS_MAX];
    struct bats_task_kinds kinds = {0};
    struct bats_past past = {0};
    struct bats_store *store;
    int rc = bats_store_open(path, false, &store, err);
    if (rc == 0 && store == NULL)
        rc = bats_refuse(err, "%s: there is no such history", path);
    if (rc == 0)
        rc = bats_store_read(store, &past, err);
    bats_store_close(store);
    for (size_t i = 0; i < p->n_clusters; i++) {
        strcpy(places[i].name, p->clusters[i].name);
        charge[i] = (double)p->clusters[i].charge;
    }
    if (rc == 0 &&
        bats_task_kinds_named(&kinds, scenario->class) == BATS_NO_KIND)
        rc = bats_no_memory(err);
    if (rc == 0)
        rc = bats_history_believe(&past, places, charge, p->n_clusters, &kinds,
                                  "", NULL, believed, err);
    if (rc > 0)
        scenario->prior = &believed->prior;
    bats_store_release(&past);
    bats_task_kinds_release(&kinds);
    return rc < 0 ? rc : 0;
}

int cmd_simulate(const struct bats_settings *set, struct bats_error *err)
{
    struct bats_scenario *scenario = NULL;
    struct bats_believed believed = {.kinds = NULL};
    int rc = bats_scenario_load(set->words[0], &scenario, err);
    if (rc == 0)
        rc = overrule(scenario, set, err);
    if (rc == 0 && set->history != NULL)
        rc = ask_history(set->history, scenario, &believed, err);
    if (rc == 0)
        rc = set->trace ? trace(scenario, err) : play(set, scenario, err);
    bats_scenario_destroy(scenario);
    free(believed.kinds);
    return rc;
}
