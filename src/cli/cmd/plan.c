/* plan: the verb plan. Lists the schedules for a bag, from a profile or from
 * given runtimes; starts no MPI. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bats/lease.h"
#include "cli/cli.h"
#include "cli/estimation.h"
#include "cli/frame.h"
#include "cli/look.h"
#include "cli/past.h"
#include "input/bagfile.h"
#include "input/clusters_file.h"
#include "input/workflow/workflow.h"
#include "report/page.h"
#include "report/sbatch.h"
#include "report/schedules.h"
#include "report/terminal.h"
#include "report/words.h"
#include "util/json.h"

#define RETRY_MEMORY 2 /* --retry-memory, for proposals */

/* The parts of the answer. */
struct answer {
    const struct bats_settings *set;
    const struct bats_estimator *e;
    struct bats_schedule offers[BATS_OFFERS];
    size_t n_offers;
    enum bats_billing_model billing;
    struct bats_schedule chosen;    /* the best for the budget or the deadline;
                                  * without these, for unlimited money */
    bats_money budget;              /* or BATS_UNLIMITED */
    bats_time deadline;             /* from now on; 0: none */
    double room[BATS_CLUSTERS_MAX]; /* tasks at a time on a machine, by cluster
                                     * of the file; for given runtimes */
    struct bats_learner past;       /* answers of the history */
    struct bats_text sizes;         /* proposals for memory, line by line */
    struct bats_error refusal; /* why there is no schedule; code 0: there is
                                  * one */
};

static bool is_asked(const struct bats_settings *set)
{
    return set->deadline.text != NULL || set->run.budget != BATS_UNLIMITED;
}

/* True if the argument is a bag; a profile is a JSON object. */
static bool is_bag(const char *path)
{
    char c = '{';
    FILE *in = path != NULL ? fopen(path, "re") : NULL;
    int n = in != NULL ? fscanf(in, " %c", &c) : 0;
    if (in != NULL)
        fclose(in);
    return n == 1 && c != '{';
}

int cmd_plan_check(struct bats_settings *set, struct bats_error *err)
{
    const char *missing = NULL;

    if (is_bag(set->words[0]) && set->tasks == NULL) {
        set->tasks = set->words[0];
        set->words[0] = NULL;
    }
    if (!set->words[0])
        missing = !set->clusters ? "a profile, or --clusters FILE"
                  : !set->tasks || strcmp(set->tasks, "0") == 0
                      ? "--tasks N, with N at least 1, or --tasks FILE"
                      : NULL;
    else if (set->runtime || set->tasks)
        return bats_refuse(
            err, "a profile says itself what --runtime and --tasks say");
    else if (set->run.window > 0 && !set->clusters)
        return bats_refuse(err, "--window needs --clusters FILE: another "
                                "window is charged differently");
    if (missing)
        return bats_refuse(err, "plan needs %s", missing);
    if (set->sbatch != NULL && !set->words[0])
        return bats_refuse(err, "--sbatch needs a profile: what is still to "
                                "be run, and of which bag");
    if (set->points && !is_bag(set->tasks))
        return bats_refuse(err, "--points needs a bag");
    if (set->csv && !set->frontier)
        return bats_refuse(err, "--csv needs --frontier");
    return 0;
}

/* ---- the answer ---- */

/* Prints the chosen schedule at the top, the offers in a list. */
static int print_json(const struct answer *a,
                      const struct bats_critical_path *path,
                      struct bats_error *err)
{
    json_t *object = bats_schedules_json(a->e, &a->chosen);
    json_t *list = bats_schedules_json_list(a->e, a->offers, a->n_offers);
    int bad = json_object_set_new(object, "schedules", list);

    if (bad == 0 && path->n > 0)
        bad = json_object_set_new(
            object, "critical_path",
            bats_schedules_path_json(a->e, path->task, path->n));
    if (bad == 0)
        return bats_look_json(object, JSON_INDENT(2), err);
    json_decref(object);
    return bats_no_memory(err);
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
    const struct bats_estimator *e = a->e;
    const struct bats_plan *p = &a->chosen.plan;
    bool is_configuration = e->plans == BATS_PLANS_CONFIGURATIONS;
    char held[4096];
    if (e->plans == BATS_PLANS_WINDOWS)
        bats_words_held(held, sizeof held, e, &a->chosen);
    else
        bats_words_machines(held, sizeof held, e->clusters, e->n_clusters,
                            p->machines, ", ");
    printf("\nmachines  %s\n", held);
    if (is_configuration)
        printf("windows   %" PRId64 "\n", p->windows);
    if (p->feasible)
        printf("makespan  %s\n",
               bats_words_makespan(a->chosen.makespan.estimate).s);
    printf("cost      %s", bats_words_money(p->cost, e->currency).s);
    if (is_configuration)
        printf(", %s per window", bats_words_money(p->price, e->currency).s);
    putchar('\n');
    if (is_configuration)
        print_at_risk(a->chosen.delta_n, p->feasible);
}

static void print_head(const struct answer *a, const struct bats_profile *p)
{
    char past[1024];
    struct bats_phrase tasks = bats_words_count(a->e->n_tasks, "task");
    struct bats_phrase window = bats_words_duration(a->e->window);

    if (p->n_tasks == 0)
        printf("%s, windows of %s", tasks.s, window.s);
    else
        printf("%s of %" PRIu32 " left, windows of %s; sampling was charged "
               "%s",
               tasks.s, p->n_tasks, window.s,
               bats_words_money(bats_profile_charged(p), p->currency).s);
    if (a->budget != BATS_UNLIMITED)
        printf("; budget %s", bats_words_money(a->budget, a->e->currency).s);
    if (a->deadline > 0)
        printf("; to end in %s", bats_words_duration(a->deadline).s);
    fputs("\n", stdout);
    if (bats_learner_words(&a->past, past, sizeof past)[0] != '\0')
        bats_words_line(stdout, "%s", past);
    putchar('\n');
}

static void print_text(const struct answer *a, const struct bats_profile *p)
{
    struct bats_schedule offers[BATS_OFFERS];

    memcpy(offers, a->offers, sizeof offers);
    print_head(a, p);
    bats_schedules_print_clusters(stdout, a->e);
    bats_schedules_print_path(stdout, a->e, p->path.task, p->path.n);
    if (is_asked(a->set))
        print_chosen(a);
    putchar('\n');
    bats_schedules_print(stdout, a->e, offers,
                         bats_offers_merge(offers, a->n_offers),
                         bats_terminal_width(STDOUT_FILENO));
    if (a->sizes.n > 0)
        printf("\n%s", a->sizes.bytes);
}

static int print_frontier(const struct answer *a, struct bats_error *err)
{
    struct bats_schedule *schedules;
    size_t n;
    bool complete;
    int rc = bats_estimate_frontier(a->e, &schedules, &n, &complete, err);

    if (rc < 0)
        return rc;
    if (!complete)
        bats_tell("the frontier is too long: only a part of it is shown");
    rc = bats_schedules_print_frontier(stdout, a->e, schedules, n, complete,
                                       a->set->json  ? BATS_FRONTIER_JSON
                                       : a->set->csv ? BATS_FRONTIER_CSV
                                                     : BATS_FRONTIER_TEXT);
    free(schedules);
    return rc < 0 ? bats_no_memory(err) : 0;
}

/* ---- the page ---- */

static int write_page(void *data, FILE *out, struct bats_error *err)
{
    return bats_page_write(out, data, NULL, NULL, err);
}

static int print_page(const struct answer *a, const struct bats_profile *p,
                      struct bats_error *err)
{
    const char *profile = a->set->words[0];
    struct bats_schedule *frontier;
    char path[512];
    size_t n;
    bool complete;
    int rc = bats_estimate_frontier(a->e, &frontier, &n, &complete, err);

    if (rc < 0)
        return rc;
    bats_schedules_path(path, sizeof path, a->e, p->path.task, p->path.n);
    json_t *data =
        bats_schedules_page(a->e, a->offers, a->n_offers, frontier, n);
    json_t *more =
        json_pack("{s:s, s:o, s:b, s:o, s:o, s:o}", "kind", "plan", "title",
                  json_sprintf("Plan of %s",
                               profile != NULL ? profile : a->set->clusters),
                  "complete", complete, "path", bats_json_text(path),
                  "profile", bats_json_text(profile), "bag",
                  bats_json_text(profile != NULL ? p->bag_name : NULL));
    json_object_update_new(data, more);
    rc = bats_look_write(a->set->html, write_page, data, err);
    free(frontier);
    return rc;
}

/* ---- making it ---- */

/* Chooses the cheapest schedule by the deadline, or the fastest within the
 * budget; the other limit must hold, too. */
static int choose(struct answer *a, struct bats_error *err)
{
    struct bats_choice choice = {.offer = bats_settings_thrifty(a->set)
                                              ? BATS_OFFER_DEADLINE
                                              : BATS_OFFER_BUDGET,
                                 .budget = a->budget,
                                 .deadline = a->deadline};
    int rc = bats_estimate_choose(a->e, &choice, &a->chosen, err);

    if (rc == 0 && a->chosen.plan.cost > a->budget)
        return bats_error_set(
            err, BATS_EBUDGET, "the deadline cannot be met for less than %s",
            bats_words_money(a->chosen.plan.cost, a->e->currency).s);
    if (rc == 0 && a->deadline > 0 &&
        a->chosen.makespan.estimate > (double)a->deadline + 1)
        return bats_error_set(
            err, BATS_EDEADLINE, "the budget pays for no end before %s",
            bats_words_makespan(a->chosen.makespan.estimate).s);
    return rc;
}

static int estimate(struct answer *a, struct bats_error *err)
{
    const struct bats_deadline *d = &a->set->deadline;
    int rc = bats_estimate_offers(a->e, a->offers, &a->n_offers, err);

    a->budget = a->set->run.budget;
    if (rc == 0 && a->set->budget_text != NULL)
        rc = bats_estimation_budget(a->e, a->set->budget_share, &a->budget,
                                    err);
    a->deadline = bats_deadline_from(d, time(NULL), 1);
    if (rc == 0 && d->is_share)
        rc = bats_deadline_of_share(d, a->e, &a->deadline, err);
    if (rc == 0)
        rc = choose(a, err);
    if (rc == BATS_EBUDGET || rc == BATS_EDEADLINE) {
        a->refusal = *err;
        rc = 0;
    }
    if (rc == 0 && !a->chosen.plan.proven)
        bats_tell("the clusters are too many and too alike to try every plan: "
                  "there may be a better one");
    return rc;
}

/* Lists schedules for a job, which differ from those of windows. */
static void show_jobs(const struct answer *a)
{
    fputs("bats-mpi: as a job, which is billed for all that it holds:\n\n",
          stderr);
    bats_schedules_print(stderr, a->e, a->offers, a->n_offers,
                         bats_terminal_width(STDERR_FILENO));
}

/* Finds the schedule that --sbatch names. */
static int find_named(const struct answer *a, struct bats_schedule *schedule,
                      struct bats_error *err)
{
    struct bats_choice choice;
    if (strcmp(a->set->sbatch, "best") == 0) {
        *schedule = a->chosen;
        if (a->refusal.code != 0)
            *err = a->refusal;
        return a->refusal.code;
    }
    int rc = bats_choice_parse(a->e->plans, a->set->sbatch, &choice, err);
    return rc < 0 ? rc : bats_estimate_choose(a->e, &choice, schedule, err);
}

static int print_sbatch(const struct answer *a,
                        const struct bats_estimation *x,
                        const struct bats_profile *profile,
                        struct bats_error *err)
{
    struct bats_schedule schedule;
    struct bats_sbatch sbatch = {.e = a->e,
                                 .schedule = &schedule,
                                 .partition = x->partition,
                                 .by_node = x->by_node,
                                 .ranks = x->ranks,
                                 .bag = profile->bag_name,
                                 .profile = a->set->words[0],
                                 .clusters = a->set->clusters,
                                 .charged = bats_profile_charged(profile),
                                 .by_window =
                                     bats_lease_terms(a->billing).in_windows};
    int rc = find_named(a, &schedule, err);

    if (rc == 0 && bats_lease_terms(a->billing).in_windows)
        show_jobs(a);
    return rc == 0 ? bats_sbatch_print(stdout, &sbatch, err) : rc;
}

static int print(const struct answer *a, const struct bats_estimation *x,
                 const struct bats_profile *profile, struct bats_error *err)
{
    int rc = 0;

    if (a->set->sbatch)
        rc = print_sbatch(a, x, profile, err);
    else if (a->set->html != NULL)
        rc = print_page(a, profile, err);
    else if (a->set->frontier)
        rc = print_frontier(a, err);
    else if (a->set->json)
        rc = print_json(a, &profile->path, err);
    else
        print_text(a, profile);
    if (bats_flush(err) < 0)
        return BATS_ESYS;
    if (rc == 0 && a->refusal.code != 0) {
        *err = a->refusal;
        rc = err->code;
    }
    return rc;
}

static int read_bag(const char *path, struct bats_bagfile **bag,
                    struct bats_workflow *workflow, struct bats_error *err)
{
    if (bats_workflow_format(path) != BATS_WORKFLOW_NONE)
        return bats_workflow_load(path, workflow, err);
    return bats_bagfile_load(path, bag, err);
}

/* The weights of the tasks if all runtimes are known; else NULL. */
static double *weigh(const struct bats_workflow *w)
{
    double sum = 0, *weight = malloc((w->n + (size_t)1) * sizeof *weight);

    for (uint32_t i = 0; weight && i < w->n && sum >= 0; i++) {
        weight[i] = (double)w->tasks[i].runtime;
        sum = weight[i] < 0 ? -1 : sum + weight[i];
    }
    if (sum <= 0) {
        free(weight);
        return NULL;
    }
    for (uint32_t i = 0; weight && i < w->n; i++)
        weight[i] *= w->n / sum;
    return weight;
}

/* Asks the history for runtimes of the tasks on the clusters of the file. */
static int ask_history(const struct bats_settings *set,
                       const struct bats_bagfile *bag,
                       const struct bats_clusters_file *file, struct answer *a,
                       struct bats_error *err)
{
    struct bats_learner *past = &a->past;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    int rc = bats_learner_init(past, set, bag, NULL, err);
    for (size_t i = 0; i < file->n_sections; i++)
        clusters[i] = file->sections[i].model.cluster;
    if (rc == 0)
        bats_learner_expect(past, clusters, file->n_sections);
    if (rc == 0)
        rc = bats_learner_sizes(
            past, file,
            set->run.retry_memory > 0 ? set->run.retry_memory : RETRY_MEMORY,
            &a->sizes, err);
    if (rc == 0 && set->points && !past->believes)
        return bats_refuse(err, "the history knows nothing of these tasks");
    return rc == 0 && set->points
               ? bats_learner_list(stdout, past, clusters, file->window, err)
               : rc;
}

/* Counts the tasks (--tasks N, or a bag), and reads their dependencies. */
static int count_tasks(const struct bats_settings *set, uint64_t *n,
                       struct bats_profile *profile, struct answer *a,
                       const struct bats_clusters_file *file,
                       struct bats_error *err)
{
    const char *text = set->tasks;
    struct bats_bagfile *bag = NULL;
    struct bats_workflow w = {0};
    struct bats_error why;
    struct bats_need each = bats_past_need(set);

    if (bats_count_parse(text, n, &why) == 0)
        return bats_estimation_room(file, NULL, &each, a->room, err);
    int rc = read_bag(text, &bag, &w, err);
    const struct bats_graph *graph = rc < 0 ? NULL
                                     : bag  ? bag->graph
                                            : &w.graph;
    *n = rc < 0 ? 0 : bag ? bag->n_tasks : w.n;
    if (graph && bats_graph_edges(graph) > 0) {
        double *weight = weigh(&w);
        uint8_t *left = malloc(graph->n_tasks);
        if (left)
            memset(left, 1, graph->n_tasks);
        rc = left ? bats_profile_set_graph(profile, graph, left, weight, err)
                  : bats_no_memory(err);
        free(left);
        free(weight);
    }
    const struct bats_bagfile only = {.n_tasks = w.n, .workflow = &w};
    if (rc == 0)
        rc =
            bats_estimation_room(file, bag ? bag : &only, &each, a->room, err);
    if (rc == 0 && bag)
        rc = ask_history(set, bag, file, a, err);
    bats_bagfile_destroy(bag);
    bats_workflow_release(&w);
    return rc;
}

int cmd_plan(const struct bats_settings *set, struct bats_error *err)
{
    uint64_t n_tasks = 0;
    struct bats_clusters_file *file = NULL;
    struct bats_profile profile = {.n_tasks = 0};
    struct bats_estimation x;
    struct answer a = {.set = set, .e = &x.e};
    int rc = 0;

    if (set->clusters)
        rc = bats_clusters_file_load(set->clusters, set->run.window, &file,
                                     err);
    if (rc == 0 && set->words[0])
        rc = bats_profile_load(set->words[0], &profile, err);
    else if (rc == 0)
        rc = count_tasks(set, &n_tasks, &profile, &a, file, err);
    if (rc < 0 || set->points)
        goto end;
    if (set->words[0] && bats_profile_left(&profile) == 0) {
        puts("every task has been run");
        goto end;
    }
    rc = set->words[0] ? bats_estimation_from_profile(&x, &profile, file,
                                                      set->confidence, err)
                       : bats_estimation_from_runtimes(
                             &x, n_tasks, set->runtime,
                             a.past.believes ? &a.past.believed.prior : NULL,
                             a.room, file, set->clusters, err);
    if (rc == 0 && !set->words[0])
        bats_estimation_set_graph(&x, &profile);
    a.billing = file ? file->billing : profile.billing;
    /* A job of Slurm is billed as an allocation, whatever the ledger of its
     * run counts. */
    x.e.plans = bats_estimation_plans(
        set->policy, set->sbatch ? BATS_BILLING_ALLOCATION : a.billing);
    if (rc == 0)
        rc = estimate(&a, err);
    if (rc == 0)
        rc = print(&a, &x, &profile, err);
end:
    bats_text_release(&a.sizes);
    bats_learner_release(&a.past);
    bats_profile_release(&profile);
    bats_clusters_file_destroy(file);
    return rc;
}
