/* cmd_plan: the verb plan. Which machines finish a bag fastest within a
 * budget, from given runtimes; no MPI is started. A machine counts as one
 * slot, for how many ranks a node will have is not known here. */
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "bats/plan.h"
#include "cli/cli.h"
#include "cli/help.h"
#include "cli/options.h"
#include "input/platform.h"
#include "report/table.h"
#include "report/words.h"

#define LEFT_OUT "bats-mpi: left out, since --runtime does not name them: "
#define PHRASE 96 /* bytes of an amount or a count in words */

/* What the plan is made for. */
struct question {
    const struct bats_settings *set;
    const char *currency;
    bats_time window;
    size_t n; /* clusters */
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    bats_time runtime[BATS_CLUSTERS_MAX];
    struct bats_plan_item items[BATS_CLUSTERS_MAX];
};

/* ---- reading ---- */

static int read_runtime(struct question *q, const char *name, size_t length,
                        const char *duration, struct bats_error *err)
{
    struct bats_error why;

    for (size_t i = 0; i < q->n; i++) {
        if (strlen(q->clusters[i].name) != length ||
            memcmp(q->clusters[i].name, name, length) != 0)
            continue;
        if (q->runtime[i] > 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "--runtime gives cluster '%s' twice",
                                  q->clusters[i].name);
        if (bats_duration_parse(duration, &q->runtime[i], &why) != 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "--runtime of cluster '%s': %s",
                                  q->clusters[i].name, why.text);
        if (q->runtime[i] == 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "--runtime of cluster '%s' has to be above "
                                  "0",
                                  q->clusters[i].name);
        return 0;
    }
    return bats_error_set(err, BATS_EINPUT,
                          "--runtime: there is no cluster '%.*s' in '%s'",
                          (int)length, name, q->set->clusters);
}

/* "slow=15m,fast=3.75m" */
static int read_runtimes(struct question *q, struct bats_error *err)
{
    const char *text = q->set->runtime;

    for (const char *next; text != NULL; text = next) {
        char duration[64];
        next = strchr(text, ',');
        size_t length = next ? (size_t)(next - text) : strlen(text);
        const char *equals = memchr(text, '=', length);
        if (next)
            next++;
        if (!equals || equals == text)
            return bats_error_set(err, BATS_EINPUT,
                                  "--runtime: '%.*s' is not CLUSTER=DURATION",
                                  (int)length, text);
        size_t name = (size_t)(equals - text);
        snprintf(duration, sizeof duration, "%.*s", (int)(length - name - 1),
                 equals + 1);
        int error = read_runtime(q, text, name, duration, err);
        if (error < 0)
            return error;
    }
    return 0;
}

/* Clusters without a runtime are left out, and said to be: the file may be
 * that of a whole site. */
static void leave_out(struct question *q)
{
    size_t kept = 0;

    for (size_t i = 0; i < q->n; i++) {
        if (q->runtime[i] == 0) {
            fprintf(stderr, "%s%s", i == kept ? LEFT_OUT : ", ",
                    q->clusters[i].name);
            continue;
        }
        q->clusters[kept] = q->clusters[i];
        q->runtime[kept++] = q->runtime[i];
    }
    if (kept < q->n)
        fputs("\n", stderr);
    q->n = kept;
}

static int check_max(const struct question *q, struct bats_error *err)
{
    for (size_t i = 0; i < q->n; i++)
        if (q->clusters[i].max == UINT32_MAX)
            return bats_error_set(err, BATS_EINPUT,
                                  "%s: cluster '%s' has no max: plan needs to "
                                  "know how many machines there are",
                                  q->set->clusters, q->clusters[i].name);
    return 0;
}

static void read_clusters(struct question *q,
                          const struct bats_clusters_file *file)
{
    q->n = bats_clusters_file_count(file);
    q->currency = bats_clusters_file_currency(file);
    q->window = bats_clusters_file_window(file);
    for (size_t i = 0; i < q->n; i++)
        q->clusters[i] = *bats_clusters_file_cluster(file, i);
}

static int check_settings(const struct bats_settings *set,
                          struct bats_error *err)
{
    const char *missing = !set->clusters  ? "--clusters FILE"
                          : !set->runtime ? "--runtime LIST"
                          : !set->tasks   ? "--tasks N, with N at least 1"
                                          : NULL;

    if (missing)
        return bats_error_set(err, BATS_EINPUT, "plan needs %s", missing);
    return 0;
}

/* ---- figures ---- */

/* delta-N: tasks of the bag that do not fit into the plan's windows when each
 * machine does whole tasks; negative if there is time to spare. */
static int64_t delta_n(const struct question *q, const struct bats_plan *plan)
{
    __int128 rest = q->set->tasks;

    for (size_t i = 0; i < q->n; i++)
        rest -= (__int128)plan->windows * q->window / q->runtime[i] *
                plan->machines[i];
    return rest < INT64_MIN ? INT64_MIN : (int64_t)rest;
}

/* Te = N / sum(a_i / T_i), microseconds. */
static double makespan(const struct question *q, const struct bats_plan *plan)
{
    return (double)q->set->tasks / plan->rate * (double)q->window;
}

/* (T_m / T_i) (c_m / c_i), m being the cheapest; 0 where nothing is charged. */
static double profitability(const struct question *q, size_t i)
{
    const struct bats_cluster *c = q->clusters;
    size_t m = 0;

    for (size_t j = 1; j < q->n; j++)
        if (c[j].charge < c[m].charge)
            m = j;
    if (c[m].charge == 0)
        return 0;
    return (double)q->runtime[m] / (double)q->runtime[i] *
           ((double)c[m].charge / (double)c[i].charge);
}

/* The cost of the whole bag on one machine of the cluster where that is the
 * cheapest; false if there is none or it does not fit. */
static bool cheapest(const struct question *q, size_t *cluster,
                     bats_money *cost)
{
    bool found = false;

    for (size_t i = 0; i < q->n; i++) {
        int64_t windows = bats_plan_windows(q->set->tasks, q->items[i].rate);
        bats_money sum;
        if (q->items[i].max == 0 ||
            !bats_units_multiply(windows, q->items[i].charge, &sum) ||
            (found && sum >= *cost))
            continue;
        *cluster = i;
        *cost = sum;
        found = true;
    }
    return found;
}

/* ---- the answer ---- */

static json_t *money(bats_money amount)
{
    char text[BATS_UNITS_TEXT];

    return json_string(bats_money_format(text, amount));
}

static int print_json(const struct question *q, const struct bats_plan *plan)
{
    json_t *configuration = json_object();
    int bad = 0;

    for (size_t i = 0; i < q->n; i++)
        bad |= json_object_set_new(configuration, q->clusters[i].name,
                                   json_integer(plan->machines[i]));
    json_t *answer = json_pack(
        "{s:b, s:o, s:I, s:o, s:o, s:o, s:I}", "feasible", plan->feasible,
        "configuration", configuration, "windows", (json_int_t)plan->windows,
        "makespan_s",
        plan->feasible ? json_real(makespan(q, plan) / 1e6) : json_null(),
        "cost", money(plan->cost), "price_per_window", money(plan->price),
        "delta_n", (json_int_t)delta_n(q, plan));
    if (bad == 0 && answer != NULL)
        bad = json_dumpf(answer, stdout, JSON_INDENT(2));
    else
        bad = -1;
    putchar('\n');
    json_decref(answer);
    return bad;
}

static void print_clusters(const struct question *q,
                           const struct bats_plan *plan)
{
    static const char *const head[] = {"cluster",       "charge",   "runtime",
                                       "profitability", "machines", "of"};
    struct bats_table table = {.n_rows = 0};

    bats_table_head(&table, head, sizeof head / sizeof head[0]);
    for (size_t i = 0; i < q->n; i++) {
        char text[BATS_UNITS_TEXT];
        size_t row = i + 1;
        double profit = profitability(q, i);
        bats_table_set(&table, row, 0, "%s", q->clusters[i].name);
        bats_table_set(&table, row, 1, "%s",
                       bats_money_format(text, q->clusters[i].charge));
        bats_table_set(&table, row, 2, "%s",
                       bats_duration_format(text, q->runtime[i]));
        bats_table_set(&table, row, 3, profit > 0 ? "%.2f" : "-", profit);
        bats_table_set(&table, row, 4, "%" PRIu32, plan->machines[i]);
        bats_table_set(&table, row, 5, "%" PRIu32, q->clusters[i].max);
    }
    bats_table_print(stdout, &table);
}

static void print_text(const struct question *q, const struct bats_plan *plan)
{
    char tasks[PHRASE], cost[PHRASE], price[PHRASE],
        budget[PHRASE] = "unlimited";
    char window[BATS_UNITS_TEXT];
    int64_t short_of = delta_n(q, plan);

    bats_words_count(tasks, sizeof tasks, q->set->tasks, "task");
    bats_words_money(cost, sizeof cost, plan->cost, q->currency);
    bats_words_money(price, sizeof price, plan->price, q->currency);
    bats_duration_format(window, q->window);
    if (q->set->budget != BATS_UNLIMITED)
        bats_words_money(budget, sizeof budget, q->set->budget, q->currency);
    printf("%s, budget %s, windows of %s\n\n", tasks, budget, window);
    print_clusters(q, plan);
    printf("\nwindows   %" PRId64 "\n", plan->windows);
    if (plan->feasible) {
        /* To the second: the runtimes were estimates. */
        double us = makespan(q, plan);
        bats_time time = us < 9e18 ? (bats_time)us : BATS_NEVER;
        if (time >= BATS_MINUTE && time < BATS_NEVER)
            time -= time % BATS_SECOND;
        printf("makespan  %s\n", bats_duration_format(window, time));
    }
    printf("cost      %s, %s per window\n", cost, price);
    if (short_of > 0 && plan->feasible)
        printf("delta-N   %" PRId64 ": so many tasks may need a further "
               "window, since no task is divided\n",
               short_of);
    else if (short_of > 0)
        printf("delta-N   %" PRId64 ": so many tasks are left undone\n",
               short_of);
    else
        printf("delta-N   %" PRId64 ": room for so many tasks more\n",
               short_of);
}

static void complain_of_budget(const struct question *q)
{
    char tasks[PHRASE], budget[PHRASE], least[PHRASE];
    size_t cluster;
    bats_money cost;

    bats_words_count(tasks, sizeof tasks, q->set->tasks, "task");
    bats_words_money(budget, sizeof budget, q->set->budget, q->currency);
    fprintf(stderr, "bats-mpi: %s cannot be done for %s", tasks, budget);
    if (cheapest(q, &cluster, &cost))
        fprintf(stderr, "; for %s they can, on one machine of cluster '%s'",
                bats_words_money(least, sizeof least, cost, q->currency),
                q->clusters[cluster].name);
    fputc('\n', stderr);
}

static int answer(const struct question *q, const struct bats_plan *plan,
                  struct bats_error *err)
{
    int bad = 0;

    if (!plan->proven)
        fputs("bats-mpi: the clusters are too many and too alike to try every "
              "plan: there may be a better one\n",
              stderr);
    if (q->set->json)
        bad = print_json(q, plan);
    else
        print_text(q, plan);
    if (fflush(stdout) != 0 || ferror(stdout) || bad != 0)
        return bats_error_set(err, BATS_ESYS, "standard output: %s",
                              strerror(errno));
    if (plan->feasible)
        return BATS_EXIT_OK;
    complain_of_budget(q);
    return BATS_EXIT_BUDGET;
}

static int make_plan(struct question *q, struct bats_error *err)
{
    struct bats_clusters_file *file = NULL;
    struct bats_plan plan;
    int result =
        bats_clusters_file_load(q->set->clusters, q->set->window, &file, err);

    if (result < 0)
        return result;
    read_clusters(q, file);
    result = read_runtimes(q, err);
    if (result == 0) {
        leave_out(q);
        result = check_max(q, err);
    }
    if (result == 0) {
        for (size_t i = 0; i < q->n; i++)
            q->items[i] = (struct bats_plan_item){
                .rate = (double)q->window / (double)q->runtime[i],
                .charge = q->clusters[i].charge,
                .max = q->clusters[i].max,
            };
        result = bats_plan_solve(q->items, q->n, q->set->tasks, q->set->budget,
                                 &plan, err);
    }
    if (result == 0)
        result = answer(q, &plan, err);
    bats_clusters_file_destroy(file);
    return result;
}

int cmd_plan(int argc, char **argv)
{
    struct bats_settings set;
    struct question q = {.set = &set};
    struct bats_error err;

    if (bats_options_parse(BATS_VERB_PLAN, argc, argv, &set, &err) != 0)
        return bats_options_complain(BATS_VERB_PLAN, &err);
    if (set.help) {
        bats_help_verb(stdout, BATS_VERB_PLAN);
        return BATS_EXIT_OK;
    }
    if (check_settings(&set, &err) != 0)
        return bats_options_complain(BATS_VERB_PLAN, &err);
    int result = make_plan(&q, &err);
    if (result < 0) {
        fprintf(stderr, "bats-mpi: %s\n", err.text);
        return bats_exit_of(result);
    }
    return result;
}
