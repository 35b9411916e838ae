/* plan: the verb plan. Lists the schedules for a bag, from a profile or from
 * given runtimes; starts no MPI. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/estimation.h"
#include "cli/help.h"
#include "cli/options.h"
#include "report/sbatch.h"
#include "report/schedules.h"
#include "report/words.h"
#include "util/json.h"

#define PHRASE 96 /* bytes of an amount or a count in words */

/* The parts of the answer. */
struct answer {
    const struct bats_settings *set;
    const struct bats_estimator *e;
    struct bats_schedule offers[BATS_OFFERS];
    struct bats_schedule chosen; /* the best for the budget or the deadline;
                                  * without either, for unlimited money */
    struct bats_error refusal;   /* why there is no schedule; code 0: there is
                                  * one */
};

static bool is_asked(const struct bats_settings *set)
{
    return set->deadline > 0 || set->budget != BATS_UNLIMITED;
}

static int check_settings(const struct bats_settings *set,
                          struct bats_error *err)
{
    const char *missing = NULL;

    if (!set->words[0])
        missing = !set->clusters  ? "a profile, or --clusters FILE"
                  : !set->runtime ? "--runtime LIST"
                  : !set->tasks   ? "--tasks N, with N at least 1"
                                  : NULL;
    else if (set->runtime || set->tasks)
        return bats_error_set(err, BATS_EINPUT,
                              "a profile says itself what --runtime and "
                              "--tasks say");
    else if (set->window > 0 && !set->clusters)
        return bats_error_set(err, BATS_EINPUT,
                              "--window needs --clusters FILE: another window "
                              "is charged differently");
    if (missing)
        return bats_error_set(err, BATS_EINPUT, "plan needs %s", missing);
    if (set->deadline > 0 && set->budget != BATS_UNLIMITED)
        return bats_error_set(err, BATS_EINPUT,
                              "--budget and --deadline exclude each other: "
                              "--deadline asks for the cheapest");
    if (set->sbatch != NULL && !set->words[0])
        return bats_error_set(err, BATS_EINPUT,
                              "--sbatch needs a profile: what is still to be "
                              "run, and of which bag");
    if (set->csv && !set->frontier)
        return bats_error_set(err, BATS_EINPUT, "--csv needs --frontier");
    return 0;
}

/* ---- the answer ---- */

/* The chosen schedule at the top, the offers in a list. */
static int print_json(const struct answer *a)
{
    json_t *object = bats_schedules_json(a->e, &a->chosen);
    json_t *list = bats_schedules_json_list(a->e, a->offers, BATS_OFFERS);
    int bad = json_object_set_new(object, "schedules", list);

    if (bad == 0)
        bad = json_dumpf(object, stdout, BATS_JSON_SAFE | JSON_INDENT(2));
    putchar('\n');
    json_decref(object);
    return bad;
}

static void print_at_risk(int64_t delta_n, bool feasible)
{
    if (delta_n <= 0)
        printf("at risk   none: there is room for %" PRId64 " more tasks\n",
               -delta_n);
    else
        printf("at risk   %" PRId64 ": %s\n", delta_n,
               feasible ? "these tasks may need a further window, since no "
                          "task is divided"
                        : "these tasks are left undone");
}

/* Prints the best schedule within the budget or the deadline. */
static void print_chosen(const struct answer *a)
{
    const struct bats_plan *p = &a->chosen.plan;
    const char *currency = a->e->currency;
    char cost[PHRASE], price[PHRASE], machines[256];
    char time[BATS_UNITS_TEXT];

    bats_words_money(cost, sizeof cost, p->cost, currency);
    bats_words_money(price, sizeof price, p->price, currency);
    printf("\nmachines  %s\n",
           bats_words_machines(machines, sizeof machines, a->e->clusters,
                               a->e->n_clusters, p->machines, ", "));
    printf("windows   %" PRId64 "\n", p->windows);
    if (p->feasible)
        printf("makespan  %s\n",
               bats_words_makespan(time, a->chosen.makespan.estimate));
    printf("cost      %s, %s per window\n", cost, price);
    print_at_risk(a->chosen.delta_n, p->feasible);
}

static void print_head(const struct answer *a, const struct bats_profile *p)
{
    char tasks[PHRASE], window[BATS_UNITS_TEXT], money[PHRASE];

    bats_words_count(tasks, sizeof tasks, a->e->n_tasks, "task");
    bats_duration_format(window, a->e->window);
    if (p->n_tasks == 0)
        printf("%s, windows of %s", tasks, window);
    else
        printf("%s of %" PRIu32 " left, windows of %s; sampling was charged "
               "%s",
               tasks, p->n_tasks, window,
               bats_words_money(money, sizeof money, bats_profile_charged(p),
                                p->currency));
    if (a->set->budget != BATS_UNLIMITED)
        printf("; budget %s",
               bats_words_money(money, sizeof money, a->set->budget,
                                a->e->currency));
    if (a->set->deadline > 0)
        printf("; to end in %s",
               bats_duration_format(window, a->set->deadline));
    fputs("\n\n", stdout);
}

static void print_text(const struct answer *a, const struct bats_profile *p)
{
    print_head(a, p);
    bats_schedules_print_clusters(stdout, a->e);
    if (is_asked(a->set))
        print_chosen(a);
    putchar('\n');
    bats_schedules_print(stdout, a->e, a->offers, BATS_OFFERS);
}

static int print_frontier(const struct answer *a, struct bats_error *err)
{
    struct bats_frontier frontier;
    int rc = bats_estimate_frontier(a->e, &frontier, err);

    if (rc < 0)
        return rc;
    if (!frontier.complete)
        fputs("bats-mpi: the frontier is too long: only a part of it is "
              "shown\n",
              stderr);
    rc = bats_schedules_print_frontier(stdout, a->e, &frontier,
                                       a->set->json  ? BATS_FRONTIER_JSON
                                       : a->set->csv ? BATS_FRONTIER_CSV
                                                     : BATS_FRONTIER_TEXT);
    bats_frontier_release(&frontier);
    return rc;
}

/* ---- making it ---- */

static int estimate(struct answer *a, struct bats_error *err)
{
    const struct bats_choice choice = {.offer = a->set->deadline > 0
                                                    ? BATS_OFFER_DEADLINE
                                                    : BATS_OFFER_BUDGET,
                                       .budget = a->set->budget,
                                       .deadline = a->set->deadline};
    int rc = bats_estimate_offers(a->e, a->offers, err);

    if (rc == 0)
        rc = bats_estimate_choose(a->e, &choice, &a->chosen, err);
    if (rc == BATS_EBUDGET || rc == BATS_EDEADLINE) {
        a->refusal = *err;
        rc = 0;
    }
    if (rc == 0 && !a->chosen.plan.proven)
        fputs("bats-mpi: the clusters are too many and too alike to try every "
              "plan: there may be a better one\n",
              stderr);
    return rc;
}

/* Index of the cluster of the file with this name; SIZE_MAX: none. */
static size_t find_cluster(const struct bats_clusters_file *file,
                           const char *name)
{
    for (size_t i = 0; file && i < bats_clusters_file_count(file); i++)
        if (strcmp(bats_clusters_file_cluster(file, i)->name, name) == 0)
            return i;
    return SIZE_MAX;
}

/* A cluster that was found is named after its partition. */
static int print_sbatch(const struct answer *a,
                        const struct bats_profile *profile,
                        const struct bats_clusters_file *file,
                        struct bats_error *err)
{
    struct bats_choice choice;
    struct bats_schedule schedule;
    struct bats_sbatch sbatch = {.e = a->e,
                                 .schedule = &schedule,
                                 .bag = profile->bag_name,
                                 .profile = a->set->words[0],
                                 .clusters = a->set->clusters,
                                 .charged = bats_profile_charged(profile)};
    int rc = bats_choice_parse(a->set->sbatch, &choice, err);

    if (rc == 0)
        rc = bats_estimate_choose(a->e, &choice, &schedule, err);
    if (rc < 0)
        return rc;
    for (size_t c = 0; c < a->e->n_clusters; c++) {
        const char *name = a->e->clusters[c].name, *partition = NULL;
        size_t i = find_cluster(file, name);
        if (i != SIZE_MAX)
            partition = bats_clusters_file_partition(file, i);
        sbatch.partition[c] = partition ? partition : name;
        sbatch.by_node[c] = i != SIZE_MAX ? bats_clusters_file_by_node(file, i)
                                          : a->e->slots && a->e->slots[c] > 1;
    }
    return bats_sbatch_print(stdout, &sbatch, err);
}

static int print(const struct answer *a, const struct bats_profile *profile,
                 const struct bats_clusters_file *file, struct bats_error *err)
{
    int rc = 0;

    if (a->set->sbatch)
        rc = print_sbatch(a, profile, file, err);
    else if (a->set->frontier)
        rc = print_frontier(a, err);
    else if (a->set->json)
        rc = print_json(a) == 0 ? 0 : BATS_ESYS;
    else
        print_text(a, profile);
    if (fflush(stdout) != 0 || ferror(stdout) || rc == BATS_ESYS)
        return bats_error_set(err, BATS_ESYS, "standard output: %s",
                              strerror(errno));
    if (rc == 0 && a->refusal.code != 0) {
        *err = a->refusal;
        rc = err->code;
    }
    return rc;
}

static int make_plan(const struct bats_settings *set, struct bats_error *err)
{
    struct bats_clusters_file *file = NULL;
    struct bats_profile profile = {.n_tasks = 0};
    struct bats_estimation x;
    struct answer a = {.set = set, .e = &x.e};
    int rc = 0;

    if (set->clusters)
        rc = bats_clusters_file_load(set->clusters, set->window, &file, err);
    if (rc == 0 && set->words[0])
        rc = bats_profile_load(set->words[0], &profile, err);
    if (rc < 0)
        goto end;
    if (set->words[0] && bats_profile_left(&profile) == 0) {
        puts("every task has been run");
        goto end;
    }
    rc = set->words[0]
             ? bats_estimation_from_profile(&x, &profile, file,
                                            set->confidence, err)
             : bats_estimation_from_runtimes(&x, set->tasks, set->runtime,
                                             file, set->clusters, err);
    if (rc == 0)
        rc = estimate(&a, err);
    if (rc == 0)
        rc = print(&a, &profile, file, err);
end:
    bats_profile_release(&profile);
    bats_clusters_file_destroy(file);
    return rc;
}

int cmd_plan(int argc, char **argv)
{
    struct bats_settings set;
    struct bats_error err;

    if (bats_options_parse(BATS_VERB_PLAN, argc, argv, &set, &err) != 0)
        return bats_options_complain(BATS_VERB_PLAN, &err);
    if (set.help) {
        bats_help_verb(stdout, BATS_VERB_PLAN);
        return BATS_EXIT_OK;
    }
    if (check_settings(&set, &err) != 0)
        return bats_options_complain(BATS_VERB_PLAN, &err);
    return make_plan(&set, &err) < 0 ? bats_complain(&err) : BATS_EXIT_OK;
}
