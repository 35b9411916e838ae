/* plan: the verb plan. Lists the schedules for a bag, from a profile or from
 * given runtimes; starts no MPI. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "cli/past.h"
#include "cli/profiling.h"
#include "input/bagfile.h"
#include "input/clusters_file.h"
#include "input/workflow/workflow.h"
#include "report/page.h"
#include "report/progress.h"
#include "report/schedules.h"
#include "report/words.h"
#include "util/json.h"

struct answer {
    const struct bats_settings *set;
    struct bats_estimator *e; /* that of x */
    struct bats_schedule offers[BATS_OFFERS];
    size_t n_offers;
    struct bats_schedule chosen;    /* the best for the budget or the deadline;
                                  * without these, for unlimited money */
    bats_money budget;              /* or BATS_UNLIMITED */
    bats_time deadline;             /* from now on; 0: none */
    double room[BATS_CLUSTERS_MAX]; /* tasks at a time on a machine, by cluster
                                     * of the file; for given runtimes */
    struct bats_learner past;       /* answers of the history */
    struct bats_text sizes;         /* proposals for memory, line by line */
    struct bats_error refusal;   /* why there is no schedule; code 0: there is
                                * one */
    struct bats_profile profile; /* given, or only with a bag's graph */
    struct bats_clusters_file *file; /* NULL: none is given */
    struct bats_estimation x;
};

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
    else if (set->run.need.cores > 0 || set->run.need.gpus > 0 ||
             set->run.need.memory_kib > 0)
        return bats_refuse(err, "a profile says itself what tasks need; "
                                "--cores, --memory and --gpus are for a bag");
    else if (set->run.window > 0 && !set->clusters)
        return bats_refuse(err, "--window needs --clusters FILE: another "
                                "window is charged differently");
    if (missing)
        return bats_refuse(err, "plan needs %s", missing);
    if (set->points && !is_bag(set->tasks))
        return bats_refuse(err, "--points needs a bag");
    if (set->csv && !set->frontier)
        return bats_refuse(err, "--csv needs --frontier");
    return 0;
}

/* ---- the answer ---- */

static void print_json(const struct answer *a)
{
    const struct bats_critical_path *path = &a->profile.path;
    json_t *object = bats_schedules_json(a->e, &a->chosen);
    json_t *list = bats_schedules_json_list(a->e, a->offers, a->n_offers);
    int bad = json_object_set_new(object, "schedules", list);
    if (path->n > 0)
        bad |= json_object_set_new(
            object, "critical_path",
            bats_schedules_path_json(a->e, path->task, path->n));
    bats_look_json(bats_json_whole(object, bad), JSON_INDENT(2));
}

static void print_chosen(const struct answer *a)
{
    const struct bats_estimator *e = a->e;
    const struct bats_plan *p = &a->chosen.plan;
    bool is_configuration = e->plans == BATS_PLANS_CONFIGURATIONS;
    char held[4096];
    printf("\nmachines  %s\n",
           bats_schedules_machines(held, sizeof held, e, &a->chosen));
    if (is_configuration)
        printf("windows   %" PRId64 "\n", p->windows);
    if (p->feasible)
        printf("makespan  %s\n",
               bats_words_makespan(a->chosen.makespan.estimate).s);
    printf("cost      %s", bats_words_money(p->cost, e->currency).s);
    if (is_configuration)
        printf(", %s per window", bats_words_money(p->price, e->currency).s);
    putchar('\n');
}

static void print_head(const struct answer *a)
{
    const struct bats_profile *p = &a->profile;
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

static void print_text(const struct answer *a)
{
    struct bats_schedule offers[BATS_OFFERS];
    memcpy(offers, a->offers, sizeof offers);
    print_head(a);
    bats_schedules_print_clusters(stdout, a->e);
    bats_schedules_print_path(stdout, a->e, a->profile.path.task,
                              a->profile.path.n);
    if (a->set->deadline.text != NULL || a->set->run.budget != BATS_UNLIMITED)
        print_chosen(a);
    putchar('\n');
    bats_schedules_print(stdout, a->e, offers,
                         bats_offers_merge(offers, a->n_offers),
                         bats_terminal_width(STDOUT_FILENO));
    if (a->sizes.n > 0)
        printf("\n%s", a->sizes.bytes);
}

static void print_frontier(const struct answer *a)
{
    struct bats_schedule *schedules;
    size_t n;
    bool complete;
    bats_must(
        bats_estimate_frontier(a->e, &schedules, &n, &complete, &bats_why));
    if (!complete)
        bats_tell("the frontier is too long: only a part of it is shown");
    if (bats_schedules_print_frontier(stdout, a->e, schedules, n, complete,
                                      a->set->json  ? BATS_FRONTIER_JSON
                                      : a->set->csv ? BATS_FRONTIER_CSV
                                                    : BATS_FRONTIER_TEXT) < 0)
        bats_have(NULL);
    free(schedules);
}

/* ---- the page ---- */

static int write_page(void *data, FILE *out, struct bats_error *err)
{
    return bats_page_write(out, data, NULL, NULL, err);
}

static void print_page(const struct answer *a)
{
    const struct bats_profile *p = &a->profile;
    const char *profile = a->set->words[0];
    struct bats_schedule *frontier;
    char path[512];
    size_t n;
    bool complete;
    bats_must(
        bats_estimate_frontier(a->e, &frontier, &n, &complete, &bats_why));
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
    bats_look_write(a->set->html, write_page, data);
    free(frontier);
}

/* ---- making it ---- */

/* Chooses the cheapest schedule by the deadline, or the fastest within the
 * budget; the other limit must hold, too. */
static int choose(struct answer *a)
{
    struct bats_choice choice = {.offer = bats_settings_thrifty(a->set)
                                              ? BATS_OFFER_DEADLINE
                                              : BATS_OFFER_BUDGET,
                                 .budget = a->budget,
                                 .deadline = a->deadline};
    int rc = bats_estimate_choose(a->e, &choice, &a->chosen, &a->refusal);
    if (rc == 0 && a->chosen.plan.cost > a->budget)
        return bats_error_set(
            &a->refusal, BATS_EBUDGET,
            "the deadline cannot be met for less than %s",
            bats_words_money(a->chosen.plan.cost, a->e->currency).s);
    if (rc == 0 && a->deadline > 0 &&
        a->chosen.makespan.estimate > (double)a->deadline + 1)
        return bats_error_set(
            &a->refusal, BATS_EDEADLINE,
            "the budget pays for no end before %s",
            bats_words_makespan(a->chosen.makespan.estimate).s);
    return rc;
}

static void estimate(struct answer *a)
{
    const struct bats_deadline *d = &a->set->deadline;
    bats_must(bats_estimate_offers(a->e, a->offers, &a->n_offers, &bats_why));
    a->budget = a->set->run.budget;
    if (a->set->budget_text != NULL)
        a->budget = bats_estimation_budget(a->e, a->set->budget_share);
    a->deadline = bats_deadline_from(d, time(NULL), 1);
    if (d->is_share)
        bats_must(bats_deadline_of_share(d, a->e, &a->deadline, &bats_why));
    int rc = choose(a);
    if (rc < 0 && rc != BATS_EBUDGET && rc != BATS_EDEADLINE)
        bats_die(rc, "%s", a->refusal.text);
    if (!a->chosen.plan.proven)
        bats_tell("the clusters are too many and too alike to try every plan: "
                  "there may be a better one");
}

static void print(const struct answer *a)
{
    if (a->set->html != NULL)
        print_page(a);
    else if (a->set->frontier)
        print_frontier(a);
    else if (a->set->json)
        print_json(a);
    else
        print_text(a);
    bats_must(bats_flush(&bats_why));
    if (a->refusal.code != 0)
        bats_die(a->refusal.code, "%s", a->refusal.text);
}

/* ---- a bag, or a number of tasks ---- */

/* The weights of the tasks if all runtimes are known; else NULL. */
static double *weigh(const struct bats_workflow *w)
{
    double sum = 0;
    double *weight = bats_have(malloc((w->n + (size_t)1) * sizeof *weight));
    for (uint32_t i = 0; i < w->n && sum >= 0; i++) {
        weight[i] = (double)w->tasks[i].runtime;
        sum = weight[i] < 0 ? -1 : sum + weight[i];
    }
    if (sum <= 0) {
        free(weight);
        return NULL;
    }
    for (uint32_t i = 0; i < w->n; i++)
        weight[i] *= w->n / sum;
    return weight;
}

static void set_graph(struct bats_profile *profile,
                      const struct bats_graph *graph,
                      const struct bats_workflow *w)
{
    double *weight = weigh(w);
    uint8_t *left =
        memset(bats_have(malloc(graph->n_tasks)), 1, graph->n_tasks);
    bats_must(bats_profile_set_graph(profile, graph, left, weight, &bats_why));
    free(left);
    free(weight);
}

static void ask_history(struct answer *a, const struct bats_bagfile *bag)
{
    const struct bats_settings *set = a->set;
    struct bats_learner *past = &a->past;
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    double factor =
        set->run.retry_memory > 0 ? set->run.retry_memory : BATS_SIZE_FACTOR;
    bats_learner_init(past, set, bag, NULL);
    for (size_t i = 0; i < a->file->n_sections; i++)
        clusters[i] = a->file->sections[i].model.cluster;
    bats_learner_expect(past, clusters, a->file->n_sections);
    bats_learner_sizes(past, a->file, factor, &a->sizes);
    if (set->points && !past->believes)
        bats_die(BATS_EINPUT, "the history knows nothing of these tasks");
    if (set->points)
        bats_learner_list(stdout, past, a->file);
}

/* Counts the tasks (--tasks N, or a bag), and reads their dependencies. */
static uint64_t count_tasks(struct answer *a)
{
    const char *text = a->set->tasks;
    struct bats_bagfile *bag = NULL;
    struct bats_workflow w = {0};
    struct bats_need each = bats_past_need(a->set);
    struct bats_bagfile only = {.workflow = &w};
    const struct bats_bagfile *tasks = NULL;
    const struct bats_graph *graph = NULL;
    uint64_t n;
    if (bats_count_parse(text, &n, &bats_why) < 0) {
        if (bats_workflow_format(text) != BATS_WORKFLOW_NONE)
            bats_must(bats_workflow_load(text, &w, &bats_why));
        else
            bats_must(bats_bagfile_load(text, &bag, &bats_why));
        only.n_tasks = w.n;
        tasks = bag ? bag : &only;
        graph = bag ? bag->graph : &w.graph;
        n = tasks->n_tasks;
    }
    if (graph && bats_graph_edges(graph) > 0)
        set_graph(&a->profile, graph, &w);
    bats_estimation_room(a->file, tasks, &each, a->room);
    if (bag)
        ask_history(a, bag);
    bats_bagfile_destroy(bag);
    bats_workflow_release(&w);
    return n;
}

/* ---- the verb ---- */

static void answer(struct answer *a)
{
    const struct bats_settings *set = a->set;
    uint64_t n_tasks = 0;
    if (set->clusters)
        bats_must(bats_clusters_file_load(set->clusters, set->run.window,
                                          &a->file, &bats_why));
    if (set->words[0])
        bats_must(bats_profile_load(set->words[0], &a->profile, &bats_why));
    else
        n_tasks = count_tasks(a);
    if (set->points)
        return;
    if (set->words[0] && bats_profile_left(&a->profile) == 0) {
        puts("every task has been run");
        return;
    }
    if (set->words[0]) {
        bats_must(bats_estimation_from_profile(&a->x, &a->profile, a->file,
                                               set->confidence, &bats_why));
    } else {
        bats_estimation_from_runtimes(
            &a->x, n_tasks, set->runtime,
            a->past.believes ? &a->past.believed.prior : NULL, a->room,
            a->file, set->clusters);
        bats_estimation_set_graph(&a->x, &a->profile);
    }
    a->e->plans = bats_estimation_plans(
        set->policy, a->file ? a->file->billing : a->profile.billing);
    estimate(a);
    print(a);
}

int cmd_plan(const struct bats_settings *set)
{
    struct answer a = {.set = set};
    a.e = &a.x.e;
    answer(&a);
    bats_text_release(&a.sizes);
    bats_learner_release(&a.past);
    bats_profile_release(&a.profile);
    bats_clusters_file_destroy(a.file);
    return 0;
}
