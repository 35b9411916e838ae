#include "sim/scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/inifile.h"
#include "input/bagfile.h"
#include "input/model.h"
#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "sim/measured.h"

#define BLANKS " \t"
#define MACHINES_MAX 10000000
#define TASKS_MAX 1000000000
#define RUNS_MAX 10000000

enum { RUN, BAG, CLUSTER, SECTIONS };

#define KEYS_MAX 24

/* State while the file is read. */
struct reader {
    struct bats_scenario *scenario;
    const char *path;
    struct bats_error *err;
    int section;    /* open: RUN, BAG or CLUSTER */
    size_t cluster; /* the last one */
    bool minimizes; /* [run] says what */
    bool has_strategy;
    bool has_billing;
    bool by_hour[BATS_CLUSTERS_MAX]; /* the charge is */
    bool is_reliable[BATS_CLUSTERS_MAX]; /* the section says so */
    uint32_t machines[BATS_CLUSTERS_MAX], slots[BATS_CLUSTERS_MAX];
    /* Lines of the sections, 0: not there. Those of the clusters follow RUN
     * and BAG. */
    unsigned section_line[CLUSTER + BATS_CLUSTERS_MAX];
    bool has_runtime;
    unsigned key_line[CLUSTER + BATS_CLUSTERS_MAX][KEYS_MAX];
};

struct key {
    const char *name;
    /* Applies the value; the sentence of an error does not name the key. */
    int (*set)(struct reader *r, const char *value, struct bats_error *why);
    bool is_list;
    bool is_needed;
};

/* ---- values ---- */

static int set_count(const char *value, uint32_t max, uint32_t *count,
                     struct bats_error *why)
{
    uint64_t n;
    if (bats_count_parse(value, &n, why) || n == 0 || n > max)
        return bats_error_set(why, BATS_EINPUT,
                              "'%.60s' is not a whole number from 1 to %u",
                              value, max);
    *count = (uint32_t)n;
    return 0;
}

static int set_period(const char *value, bats_time *period,
                      struct bats_error *why)
{
    int rc = bats_duration_parse(value, period, why);
    return rc < 0 || *period > 0
               ? rc
               : bats_error_set(why, BATS_EINPUT, "must be longer than 0");
}

/* Calls `add` for every item of "a, b,c"; a trailing comma is allowed. */
static int each_item(struct reader *r, const char *value,
                     int (*add)(struct reader *r, const char *item,
                                struct bats_error *why),
                     struct bats_error *why)
{
    const char *at = value;
    do {
        char item[64];
        at += strspn(at, BLANKS);
        size_t length = strcspn(at, ",");
        const char *next = at + length;
        while (length > 0 && strchr(BLANKS, at[length - 1]))
            length--;
        if (length >= sizeof item)
            return bats_error_set(why, BATS_EINPUT,
                                  "'%.60s...' is too long for an item", at);
        snprintf(item, sizeof item, "%.*s", (int)length, at);
        int rc = add(r, item, why);
        if (rc < 0)
            return rc;
        at = next + (*next == ',');
        at += strspn(at, BLANKS);
    } while (*at != '\0');
    return 0;
}

/* ---- [run] ---- */

static int set_window(struct reader *r, const char *value,
                      struct bats_error *why)
{
    return set_period(value, &r->scenario->platform.window, why);
}

static int set_currency(struct reader *r, const char *value,
                        struct bats_error *why)
{
    struct bats_platform *p = &r->scenario->platform;
    if (strlen(value) >= sizeof p->currency)
        return bats_error_set(why, BATS_EINPUT,
                              "'%.60s' is longer than %zu bytes", value,
                              sizeof p->currency - 1);
    strcpy(p->currency, value);
    return 0;
}

static int set_billing(struct reader *r, const char *value,
                       struct bats_error *why)
{
    r->has_billing = true;
    if (bats_billing_find(value, &r->scenario->billing))
        return 0;
    return bats_error_set(why, BATS_EINPUT,
                          "'%.60s' is neither window, allocation, use, job "
                          "nor second",
                          value);
}

static int add_policy(struct reader *r, const char *item,
                      struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    const struct bats_policy *policy = bats_policy_find(item);
    if (!policy)
        return bats_error_set(why, BATS_EINPUT, "'%s' is no policy", item);
    for (size_t i = 0; i < s->n_policies; i++)
        if (s->policies[i] == policy)
            return bats_error_set(why, BATS_EINPUT, "'%s' is there twice",
                                  item);
    s->policies[s->n_policies++] = policy;
    return 0;
}

static int set_policy(struct reader *r, const char *value,
                      struct bats_error *why)
{
    return each_item(r, value, add_policy, why);
}

/* Parses "+10%": 1.1. */
static bool read_share(const char *text, double *factor)
{
    char number[24];
    double percent;
    size_t n = strlen(text);
    if (n == 0) {
        *factor = 1;
        return true;
    }
    if ((*text != '+' && *text != '-') || text[n - 1] != '%' ||
        n > sizeof number)
        return false;
    snprintf(number, sizeof number, "%.*s", (int)n - 2, text + 1);
    if (bats_factor_parse(number, &percent, NULL))
        return false;
    *factor = 1 + (*text == '+' ? percent : -percent) / 100;
    return *factor > 0;
}

static int read_budget(const char *item, struct bats_scenario_budget *budget,
                       struct bats_error *why)
{
    static const char *const words[] = {[BATS_BUDGET_RR] = "rr",
                                        [BATS_BUDGET_CHEAPEST] = "cheapest",
                                        [BATS_BUDGET_MINIMUM] = "minimum",
                                        [BATS_BUDGET_FASTEST] = "fastest"};
    if (strcmp(item, "unlimited") == 0) {
        budget->base = BATS_BUDGET_UNLIMITED;
        budget->amount = BATS_UNLIMITED;
        return 0;
    }
    for (int i = BATS_BUDGET_RR; i <= BATS_BUDGET_FASTEST; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(item, words[i], length) != 0)
            continue;
        budget->base = (enum bats_budget_base)i;
        if (read_share(item + length, &budget->factor))
            return 0;
    }
    if (bats_share_parse(item, &budget->factor)) {
        budget->base = BATS_BUDGET_SHARE;
        return 0;
    }
    if (bats_money_parse(item, &budget->amount, NULL))
        return bats_error_set(why, BATS_EINPUT,
                              "invalid value '%s'; expected an amount, a "
                              "percentage up to 100%%, unlimited, rr, cheapest, "
                              "minimum or fastest, with +P%% or -P%% behind it",
                              item);
    budget->base = BATS_BUDGET_AMOUNT;
    return 0;
}

static int add_budget(struct reader *r, const char *item,
                      struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    struct bats_scenario_budget *budget = &s->budgets[s->n_budgets];
    if (s->n_budgets == BATS_SCENARIO_BUDGETS)
        return bats_error_set(why, BATS_EINPUT, "more than %d budgets",
                              BATS_SCENARIO_BUDGETS);
    if (strlen(item) >= sizeof budget->text)
        return bats_error_set(why, BATS_EINPUT, "'%s' is too long", item);
    for (size_t i = 0; i < s->n_budgets; i++)
        if (strcmp(s->budgets[i].text, item) == 0)
            return bats_error_set(why, BATS_EINPUT, "'%s' is there twice",
                                  item);
    strcpy(budget->text, item);
    int rc = read_budget(item, budget, why);
    s->n_budgets += rc == 0;
    return rc;
}

static int set_budget(struct reader *r, const char *value,
                      struct bats_error *why)
{
    return each_item(r, value, add_budget, why);
}

/* Parses "7" or "1-100". */
static int add_seeds(struct reader *r, const char *item,
                     struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    char first[64];
    uint32_t from = 0, to = 0;
    const char *dash = strchr(item, '-');
    snprintf(first, sizeof first, "%.*s",
             dash ? (int)(dash - item) : (int)strlen(item), item);
    int rc = set_count(first, UINT32_MAX, &from, why);
    to = from;
    if (rc == 0 && dash)
        rc = set_count(dash + 1, UINT32_MAX, &to, why);
    if (rc < 0)
        return rc;
    if (to < from || s->n_seeds + (to - from) >= BATS_SCENARIO_SEEDS)
        return bats_error_set(why, BATS_EINPUT,
                              to < from ? "'%s' is in descending order"
                                        : "'%s' makes more than a million",
                              item);
    size_t n = s->n_seeds + (to - from) + 1;
    uint32_t *seeds = realloc(s->seeds, n * sizeof *seeds);
    if (!seeds)
        return bats_error_set(why, BATS_ENOMEM, "out of memory");
    s->seeds = seeds;
    for (uint64_t seed = from; seed <= to; seed++)
        seeds[s->n_seeds++] = (uint32_t)seed;
    return 0;
}

static int set_seeds(struct reader *r, const char *value,
                     struct bats_error *why)
{
    return each_item(r, value, add_seeds, why);
}

static int set_repeats(struct reader *r, const char *value,
                       struct bats_error *why)
{
    return set_count(value, BATS_SCENARIO_SEEDS, &r->scenario->repeats, why);
}

static int set_monitor(struct reader *r, const char *value,
                       struct bats_error *why)
{
    return set_period(value, &r->scenario->monitor, why);
}

static int set_grace(struct reader *r, const char *value,
                     struct bats_error *why)
{
    return bats_duration_parse(value, &r->scenario->grace, why);
}

static int set_deadline(struct reader *r, const char *value,
                        struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    s->has_deadline = true;
    s->deadline_is_share = bats_share_parse(value, &s->deadline_share);
    return s->deadline_is_share ? 0
                                : set_period(value, &s->goal.deadline, why);
}

static int set_minimize(struct reader *r, const char *value,
                        struct bats_error *why)
{
    r->minimizes = true;
    return bats_minimize_find(value, &r->scenario->goal.minimize)
               ? 0
               : bats_error_set(why, BATS_EINPUT,
                                "'%.60s' is neither cost nor time", value);
}

static int set_confidence(struct reader *r, const char *value,
                          struct bats_error *why)
{
    double *confidence = &r->scenario->goal.confidence;
    int rc = bats_factor_parse(value, confidence, why);
    return rc < 0 || (*confidence >= 0.5 && *confidence <= 0.9999)
               ? rc
               : bats_error_set(why, BATS_EINPUT, "not from 0.5 to 0.9999");
}

static int set_tail(struct reader *r, const char *value,
                    struct bats_error *why)
{
    return bats_tail_find(value, &r->scenario->tail)
               ? 0
               : bats_error_set(why, BATS_EINPUT,
                                "'%.60s' is no strategy for the tail; see "
                                "'bats-mpi run --help'",
                                value);
}

static int set_strategy(struct reader *r, const char *value,
                        struct bats_error *why)
{
    r->has_strategy = true;
    return bats_strategy_parse(value, &r->scenario->strategy, why);
}

static int set_utility(struct reader *r, const char *value,
                       struct bats_error *why)
{
    char *utility = r->scenario->utility;
    if (strlen(value) >= sizeof r->scenario->utility)
        return bats_error_set(why, BATS_EINPUT, "it is too long");
    strcpy(utility, value);
    return 0;
}

static int set_timeout(struct reader *r, const char *value,
                       struct bats_error *why)
{
    return set_period(value, &r->scenario->timeout, why);
}

static int set_retries(struct reader *r, const char *value,
                       struct bats_error *why)
{
    return set_count(value, UINT8_MAX, &r->scenario->retries, why);
}

static int set_reconfigure(struct reader *r, const char *value,
                           struct bats_error *why)
{
    return bats_reconfigure_find(value, &r->scenario->reconfigure)
               ? 0
               : bats_error_set(why, BATS_EINPUT,
                                "'%.60s' is neither violation nor improve",
                                value);
}

/* ---- [bag] ---- */

static int set_tasks(struct reader *r, const char *value,
                     struct bats_error *why)
{
    return set_count(value, TASKS_MAX, &r->scenario->n_tasks, why);
}

static int set_file(struct reader *r, const char *name, struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    char *path = bats_textfile_beside(r->path, name);
    if (!path)
        return bats_error_set(why, BATS_ENOMEM, "out of memory");
    r->has_runtime = true;
    size_t n;
    int rc = bats_measured_read(path, &s->measured, &n, why);
    free(path);
    if (rc < 0)
        return rc;
    s->runtime = (struct bats_draw){
        .kind = BATS_DRAW_EMPIRICAL, .values = s->measured, .n = n};
    return n <= TASKS_MAX ? 0
                          : bats_error_set(why, BATS_EINPUT,
                                           "more than %d runtimes", TASKS_MAX);
}

static int set_runtime(struct reader *r, const char *value,
                       struct bats_error *why)
{
    static const char word[] = "file";
    size_t length = sizeof word - 1;
    if (strncmp(value, word, length) == 0 && value[length] != '\0' &&
        strchr(BLANKS, value[length]))
        return set_file(r, value + length + strspn(value + length, BLANKS),
                        why);
    r->has_runtime = true;
    return bats_draw_parse(value, &r->scenario->runtime, why);
}

/* The runtimes of the workflow, if it has all of them. */
static int take_runtimes(struct reader *r, uint32_t n,
                         bats_time (*runtime)(const void *of, uint32_t task),
                         const void *of, struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    s->planned = malloc((size_t)n * sizeof *s->planned);
    if (!s->planned)
        return bats_error_set(why, BATS_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        s->planned[i] = runtime(of, i);
        if (s->planned[i] < 0) { /* `runtime` has to say them */
            free(s->planned);
            s->planned = NULL;
            return 0;
        }
    }
    return 0;
}

static bats_time runtime_of_task(const void *workflow, uint32_t task)
{
    const struct bats_workflow *w = workflow;
    return w->tasks[task].runtime;
}

/* That of a built-in task; -1: any other. */
static bats_time runtime_of_line(const void *bag, uint32_t task)
{
    char *command = NULL;
    size_t size = 0;
    bool is_builtin = false;
    bats_time runtime = -1;
    if (bats_bagfile_command(bag, task, &command, &size) >= 0)
        (void)bats_builtin_parse(command, &is_builtin, &runtime, NULL);
    free(command);
    return is_builtin ? runtime : -1;
}

static int copy_graph(struct bats_graph *to, const struct bats_graph *from,
                      struct bats_error *why)
{
    size_t n = (size_t)from->n_nodes + 1;
    uint64_t n_edges = bats_graph_edges(from);
    *to = (struct bats_graph){.n_tasks = from->n_tasks,
                              .n_nodes = from->n_nodes};
    to->first = malloc(n * sizeof *to->first);
    to->child = malloc((n_edges + 1) * sizeof *to->child);
    to->any = from->any ? malloc(n) : NULL;
    if (!to->first || !to->child || (from->any && !to->any))
        return bats_error_set(why, BATS_ENOMEM, "out of memory");
    memcpy(to->first, from->first, n * sizeof *to->first);
    memcpy(to->child, from->child, n_edges * sizeof *to->child);
    if (from->any)
        memcpy(to->any, from->any, from->n_nodes);
    return 0;
}

static int load_workflow(struct reader *r, const char *path,
                         struct bats_error *why)
{
    struct bats_scenario *s = r->scenario;
    struct bats_workflow w;
    struct bats_bagfile *bag = NULL;
    bool is_bag = bats_workflow_format(path) == BATS_WORKFLOW_NONE;
    int rc = is_bag ? bats_bagfile_load(path, &bag, why)
                    : bats_workflow_load(path, &w, why);
    if (rc == 0 && is_bag && !bats_bagfile_graph(bag))
        rc = bats_error_set(why, BATS_EINPUT,
                            "no task of %.200s waits for another", path);
    if (rc == 0)
        rc = copy_graph(&s->graph,
                        is_bag ? bats_bagfile_graph(bag) : &w.graph, why);
    if (rc == 0)
        rc = take_runtimes(r, s->graph.n_tasks,
                           is_bag ? runtime_of_line : runtime_of_task,
                           is_bag ? (const void *)bag : &w, why);
    if (rc == 0 && !is_bag && w.category) {
        s->category = w.category;
        s->n_categories = (uint32_t)w.categories.n;
        w.category = NULL;
    }
    if (!is_bag)
        bats_workflow_release(&w);
    bats_bagfile_destroy(s->bag);
    s->bag = bag; /* knows its workflows */
    return rc < 0 || s->graph.n_tasks <= TASKS_MAX
               ? rc
               : bats_error_set(why, BATS_EINPUT, "more than %d tasks",
                                TASKS_MAX);
}

static int set_workflow(struct reader *r, const char *name,
                        struct bats_error *why)
{
    char *path = bats_textfile_beside(r->path, name);
    int rc = path ? load_workflow(r, path, why)
                  : bats_error_set(why, BATS_ENOMEM, "out of memory");
    free(path);
    return rc;
}

static int set_saves(struct reader *r, const char *value,
                     struct bats_error *why)
{
    r->scenario->saves = true;
    return bats_duration_parse(value, &r->scenario->migration, why);
}

/* ---- [cluster] ---- */

static int set_machines(struct reader *r, const char *value,
                        struct bats_error *why)
{
    return set_count(value, MACHINES_MAX, &r->machines[r->cluster], why);
}

static int set_charge(struct reader *r, const char *value,
                      struct bats_error *why)
{
    return bats_model_charge(&r->scenario->platform.clusters[r->cluster],
                             value, &r->by_hour[r->cluster], why);
}

static int set_speed(struct reader *r, const char *value,
                     struct bats_error *why)
{
    return bats_factor_parse(value, &r->scenario->platform.speed[r->cluster],
                             why);
}

static int set_slots(struct reader *r, const char *value,
                     struct bats_error *why)
{
    return set_count(value, 1024, &r->slots[r->cluster], why);
}

static int set_startup(struct reader *r, const char *value,
                       struct bats_error *why)
{
    return bats_duration_parse(value, &r->scenario->startup[r->cluster], why);
}

static int set_queue(struct reader *r, const char *value,
                     struct bats_error *why)
{
    return bats_duration_parse(value, &r->scenario->queue[r->cluster], why);
}

static int set_noise(struct reader *r, const char *value,
                     struct bats_error *why)
{
    double *noise = &r->scenario->noise[r->cluster];
    int rc = bats_factor_parse(value, noise, why);
    return rc < 0 || *noise <= 10
               ? rc
               : bats_error_set(why, BATS_EINPUT, "more than 10");
}

static int set_expected(struct reader *r, const char *value,
                        struct bats_error *why)
{
    return set_period(value, &r->scenario->platform.expected[r->cluster], why);
}

static int set_loss(struct reader *r, const char *value,
                    struct bats_error *why)
{
    return set_period(value, &r->scenario->loss[r->cluster], why);
}

static int set_known(struct reader *r, const char *value,
                     struct bats_error *why)
{
    double *error = &r->scenario->told_error;
    r->scenario->is_told = true;
    if (strcmp(value, "yes") == 0)
        return 0;
    int rc = bats_factor_parse(value, error, why);
    return rc < 0 || *error < 1
               ? rc
               : bats_error_set(why, BATS_EINPUT, "1 or more: 0.3 is 30 %%");
}

static int set_model(struct reader *r, enum bats_model_key key,
                     const char *value, struct bats_error *why)
{
    return bats_model_set(&r->scenario->platform.clusters[r->cluster], key,
                          value, why);
}

#define MODEL_KEY(name, key)                                                  \
    static int set_##name(struct reader *r, const char *value,                \
                          struct bats_error *why)                             \
    {                                                                         \
        return set_model(r, key, value, why);                                 \
    }

MODEL_KEY(block, BATS_MODEL_BLOCK)
MODEL_KEY(reclaimable, BATS_MODEL_RECLAIMABLE)
MODEL_KEY(notice, BATS_MODEL_NOTICE)
MODEL_KEY(guaranteed, BATS_MODEL_GUARANTEED)
MODEL_KEY(free, BATS_MODEL_FREE)
MODEL_KEY(lifetime, BATS_MODEL_LIFETIME)

static int set_yes(const char *value, bool *yes, struct bats_error *why)
{
    *yes = strcmp(value, "yes") == 0;
    return *yes || strcmp(value, "no") == 0
               ? 0
               : bats_error_set(why, BATS_EINPUT,
                                "'%.60s' is neither yes nor no", value);
}

static int set_reliable(struct reader *r, const char *value,
                        struct bats_error *why)
{
    bool *is_reliable = &r->is_reliable[r->cluster];
    int rc = set_yes(value, is_reliable, why);
    r->scenario->platform.clusters[r->cluster].unreliable |= !*is_reliable;
    return rc;
}

/* Emulated losses make the cluster unreliable. */
static struct bats_reliability *losses(struct reader *r)
{
    r->scenario->platform.clusters[r->cluster].unreliable = true;
    return &r->scenario->platform.reliability[r->cluster];
}

static int set_reliability(struct reader *r, const char *value,
                           struct bats_error *why)
{
    return bats_reliability_parse(losses(r), value, why);
}

static int set_survival(struct reader *r, const char *value,
                        struct bats_error *why)
{
    return bats_survival_parse(losses(r), value, why);
}

static int set_outages(struct reader *r, const char *value,
                       struct bats_error *why)
{
    return bats_outages_read(losses(r), r->path, value, why);
}

static int set_charge_lost(struct reader *r, const char *value,
                           struct bats_error *why)
{
    bool charged;
    int rc = set_yes(value, &charged, why);
    r->scenario->platform.clusters[r->cluster].lost_is_free = !charged;
    return rc;
}

/* ---- the file ---- */

static const struct {
    const char *word;
    struct key keys[KEYS_MAX]; /* unused entries have no name */
} sections[SECTIONS] = {
    [RUN] = {"run",
             {{"window", set_window, false, false},
              {"currency", set_currency, false, false},
              {"billing", set_billing, false, false},
              {"policy", set_policy, true, false},
              {"budget", set_budget, true, false},
              {"deadline", set_deadline, false, false},
              {"minimize", set_minimize, false, false},
              {"confidence", set_confidence, false, false},
              {"seeds", set_seeds, true, false},
              {"repeats", set_repeats, false, false},
              {"monitor", set_monitor, false, false},
              {"grace", set_grace, false, false},
              {"reconfigure", set_reconfigure, false, false},
              {"tail", set_tail, false, false},
              {"strategy", set_strategy, false, false},
              {"utility", set_utility, false, false},
              {"timeout", set_timeout, false, false},
              {"retries", set_retries, false, false}}},
    [BAG] = {"bag",
             {{"tasks", set_tasks, false, false}, /* or a file */
              {"runtime", set_runtime, false, false}, /* or a workflow */
              {"workflow", set_workflow, false, false},
              {"known", set_known, false, false},
              {"saves", set_saves, false, false}}},
    [CLUSTER] = {"cluster",
                 {{"machines", set_machines, false, true},
                  {"charge", set_charge, false, true},
                  {"speed", set_speed, false, false},
                  {"expected", set_expected, false, false},
                  {"slots", set_slots, false, false},
                  {"startup", set_startup, false, false},
                  {"queue", set_queue, false, false},
                  {"noise", set_noise, false, false},
                  {"loss", set_loss, false, false},
                  {"reliable", set_reliable, false, false},
                  {"reliability", set_reliability, false, false},
                  {"survival", set_survival, false, false},
                  {"outages", set_outages, false, false},
                  {"charge_lost", set_charge_lost, false, false},
                  {"block", set_block, false, false},
                  {"reclaimable", set_reclaimable, false, false},
                  {"notice", set_notice, false, false},
                  {"guaranteed", set_guaranteed, false, false},
                  {"free", set_free, false, false},
                  {"lifetime", set_lifetime, false, false}}},
};

#define FAIL(r, line, ...)                                                    \
    bats_inifile_fail((r)->path, line, (r)->err, __VA_ARGS__)

/* The index at which the lines of the open section are noted. */
static size_t place(const struct reader *r)
{
    return (size_t)r->section + (r->section == CLUSTER ? r->cluster : 0);
}

static int open_cluster(struct reader *r, unsigned line, const char *name)
{
    struct bats_platform *p = &r->scenario->platform;
    struct bats_error why;
    if (p->n_clusters == BATS_CLUSTERS_MAX)
        return FAIL(r, line, "more than %d clusters", BATS_CLUSTERS_MAX);
    r->cluster = p->n_clusters;
    if (bats_cluster_name_parse(name, p->clusters[r->cluster].name, &why))
        return FAIL(r, line, "%s", why.text);
    for (size_t i = 0; i < p->n_clusters; i++)
        if (strcmp(p->clusters[i].name, name) == 0)
            return FAIL(r, line, "cluster '%s' is already on line %u", name,
                        r->section_line[CLUSTER + i]);
    p->n_clusters++;
    p->speed[r->cluster] = 1;
    r->slots[r->cluster] = 1;
    return 0;
}

static int open_section(void *context, unsigned line, const char *word,
                        const char *name)
{
    struct reader *r = context;
    r->section = 0;
    while (r->section < SECTIONS &&
           strcmp(word, sections[r->section].word) != 0)
        r->section++;
    if (r->section == SECTIONS || (r->section != CLUSTER && *name))
        return FAIL(r, line,
                    "unknown section [%.60s%s%.60s]; known are [run], [bag] "
                    "and [cluster NAME]",
                    word, *name ? " " : "", name);
    int rc = r->section == CLUSTER ? open_cluster(r, line, name) : 0;
    if (rc < 0)
        return rc;
    unsigned *first = &r->section_line[place(r)];
    if (*first > 0)
        return FAIL(r, line, "section [%s] is already on line %u", word,
                    *first);
    *first = line;
    return 0;
}

static int set_value(struct reader *r, unsigned line, const struct key *key,
                     const char *value)
{
    struct bats_error why;
    int rc = key->set(r, value, &why);
    if (rc == BATS_ENOMEM)
        return bats_error_set(r->err, rc, "%s", why.text);
    return rc < 0 ? FAIL(r, line, "%s: %s", key->name, why.text) : 0;
}

static int complain_of_key(struct reader *r, unsigned line, const char *name)
{
    char known[500] = "";
    const struct key *keys = sections[r->section].keys;
    for (size_t i = 0; i < KEYS_MAX && keys[i].name; i++) {
        size_t used = strlen(known);
        bool last = i + 1 == KEYS_MAX || !keys[i + 1].name;
        snprintf(known + used, sizeof known - used, "%s%s",
                 i == 0 ? ""
                 : last ? " and "
                        : ", ",
                 keys[i].name);
    }
    return FAIL(r, line, "unknown key '%.60s' in [%s]; known are %s", name,
                sections[r->section].word, known);
}

static int set_key(void *context, unsigned line, const char *name,
                   const char *value)
{
    struct reader *r = context;
    const struct key *keys = sections[r->section].keys;
    size_t i = 0;
    while (i < KEYS_MAX && keys[i].name && strcmp(keys[i].name, name) != 0)
        i++;
    if (i == KEYS_MAX || !keys[i].name)
        return complain_of_key(r, line, name);
    int rc = bats_inifile_once(r->path, line, name, &r->key_line[place(r)][i],
                               r->err);
    return rc < 0 ? rc : set_value(r, line, &keys[i], value);
}

static int more_of_key(void *context, unsigned line, const char *name,
                       const char *value)
{
    struct reader *r = context;
    for (size_t i = 0; i < KEYS_MAX; i++) {
        const struct key *key = &sections[r->section].keys[i];
        if (key->name && key->is_list && strcmp(key->name, name) == 0)
            return set_value(r, line, key, value);
    }
    return FAIL(r, line,
                "an indented line without '=' continues the line above, but "
                "'%.60s' is not a list",
                name);
}

/* ---- after the last line ---- */

static int check_section(struct reader *r, int section, size_t cluster,
                         unsigned last_line)
{
    const char *word = sections[section].word;
    size_t at = (size_t)section + cluster;
    if (r->section_line[at] == 0)
        return FAIL(r, last_line, "the file ends without a section [%s%s]",
                    word, section == CLUSTER ? " NAME" : "");
    for (size_t i = 0; i < KEYS_MAX; i++)
        if (sections[section].keys[i].is_needed && r->key_line[at][i] == 0)
            return FAIL(r, r->section_line[at], "[%s] has no %s", word,
                        sections[section].keys[i].name);
    return 0;
}

/* Tasks and, unless `runtime` says otherwise, runtimes are those of the
 * workflow. */
static int check_workflow(struct reader *r)
{
    struct bats_scenario *s = r->scenario;
    if (s->n_tasks > 0)
        return FAIL(r, r->section_line[BAG],
                    "[bag] has both tasks and a workflow, which has its own");
    s->n_tasks = s->graph.n_tasks;
    if (r->has_runtime)
        return 0;
    if (!s->planned)
        return FAIL(r, r->section_line[BAG],
                    "the workflow does not know all runtimes: [bag] needs "
                    "runtime");
    s->as_measured = true;
    s->measured = s->planned;
    s->planned = NULL;
    return 0;
}

/* The number of tasks: the key `tasks`, or the number of runtimes in the
 * file. */
static int check_bag(struct reader *r)
{
    struct bats_scenario *s = r->scenario;
    if (!r->has_runtime && s->graph.n_nodes == 0)
        return FAIL(r, r->section_line[BAG], "[bag] has no runtime");
    if (s->graph.n_nodes > 0)
        return check_workflow(r);
    if (s->n_tasks > 0)
        return 0;
    if (!s->measured)
        return FAIL(r, r->section_line[BAG], "[bag] has no tasks");
    s->as_measured = true;
    s->n_tasks = (uint32_t)s->runtime.n;
    return 0;
}

static int check_sections(struct reader *r, unsigned last_line)
{
    size_t n = r->scenario->platform.n_clusters;
    int rc = check_section(r, BAG, 0, last_line);
    if (rc == 0)
        rc = check_bag(r);
    for (size_t i = 0; rc == 0 && i < (n > 0 ? n : 1); i++)
        rc = check_section(r, CLUSTER, i, last_line);
    return rc;
}

static int make_machines(struct reader *r)
{
    struct bats_platform *p = &r->scenario->platform;
    uint64_t n = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        p->clusters[i].max = r->machines[i];
        n += r->machines[i];
        if (n > MACHINES_MAX)
            return FAIL(r, r->section_line[CLUSTER + i],
                        "more than %d machines in all clusters", MACHINES_MAX);
    }
    p->machines = calloc(n, sizeof *p->machines);
    if (!p->machines)
        return bats_error_set(r->err, BATS_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < p->n_clusters; i++)
        for (uint32_t k = 0; k < r->machines[i]; k++)
            p->machines[p->n_machines++] =
                (struct bats_machine_spec){i, r->slots[i]};
    return 0;
}

/* Reads the keys about lost executions; `line` is that of the section. */
static int check_losses(const struct reader *r, size_t i, unsigned line)
{
    const struct bats_cluster *c = &r->scenario->platform.clusters[i];
    if (r->is_reliable[i] && c->unreliable)
        return FAIL(r, line, "cluster '%s' is reliable, and has losses",
                    c->name);
    if (!c->lost_is_free)
        return 0;
    if (!c->unreliable)
        return FAIL(r, line, "charge_lost: cluster '%s' is reliable", c->name);
    if (r->scenario->billing != BATS_BILLING_USE)
        return FAIL(r, line, "charge_lost: an execution alone is charged for "
                             "only with billing = use");
    return r->slots[i] == 1 ? 0
                            : FAIL(r, line,
                                   "charge_lost: a machine with several slots "
                                   "is charged for all of them together");
}

/* Prices and lifetimes, once billing and window are known. */
static int settle_models(struct reader *r)
{
    struct bats_scenario *s = r->scenario;
    struct bats_platform *p = &s->platform;
    for (size_t i = 0; i < p->n_clusters && !r->has_billing; i++)
        if (bats_model_is_by_age(&p->clusters[i]))
            s->billing = BATS_BILLING_SECOND;
    for (size_t i = 0; i < p->n_clusters; i++) {
        enum bats_model_key key;
        struct bats_error why;
        unsigned line = r->section_line[CLUSTER + i];
        if (bats_model_check(&p->clusters[i], s->billing, &key, &why) < 0)
            return FAIL(r, line, "%s: %s",
                        key == BATS_MODEL_KEYS ? "charge"
                                               : bats_model_keys[key],
                        why.text);
        if (!bats_model_settle(&p->clusters[i], r->by_hour[i], p->window,
                               s->billing))
            return FAIL(r, line, "charge: that of a window is too large");
    }
    return 0;
}

static int set_defaults(struct reader *r)
{
    struct bats_scenario *s = r->scenario;
    int rc = 0;
    if (!r->minimizes && s->has_deadline)
        s->goal.minimize = BATS_MINIMIZE_COST;
    if (s->goal.minimize == BATS_MINIMIZE_COST && !s->has_deadline)
        return FAIL(r, r->section_line[RUN],
                    "minimize = cost needs a deadline");
    if (r->has_strategy && s->utility[0] != '\0')
        return FAIL(r, r->section_line[RUN],
                    "strategy and utility exclude each other");
    if (!r->has_strategy && s->utility[0] == '\0')
        strcpy(s->utility, "product");
    if (!r->has_strategy)
        bats_strategy_parse("AUR", &s->strategy, NULL);
    for (size_t i = 0; rc == 0 && i < s->platform.n_clusters; i++)
        rc = check_losses(r, i, r->section_line[CLUSTER + i]);
    if (s->platform.window == 0)
        s->platform.window = BATS_HOUR;
    if (rc == 0)
        rc = settle_models(r);
    if (s->repeats == 0)
        s->repeats = 1;
    if (rc == 0 && s->n_policies == 0)
        rc = add_policy(r, "bats", r->err);
    if (rc == 0 && s->n_budgets == 0)
        rc = add_budget(r, "unlimited", r->err);
    if (rc == 0 && s->n_seeds == 0)
        rc = add_seeds(r, "1", r->err);
    if (rc == 0 && s->grace >= s->platform.window)
        return FAIL(r, r->section_line[RUN],
                    "grace has to be shorter than a window");
    if (rc == 0 &&
        s->n_seeds * s->repeats * s->n_policies * s->n_budgets > RUNS_MAX)
        return FAIL(r, r->section_line[RUN], "more than ten million runs");
    return rc;
}

int bats_scenario_load(const char *path, struct bats_scenario **scenario,
                       struct bats_error *err)
{
    static const struct bats_inifile_reader reader = {open_section, set_key,
                                                      more_of_key};
    struct bats_scenario *s = calloc(1, sizeof *s);
    struct reader *r = calloc(1, sizeof *r);
    unsigned lines = 0;
    int rc = 0;
    if (!s || !r) {
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    } else {
        s->tail = BATS_TAIL_DEFAULT;
        *r = (struct reader){.scenario = s, .path = path, .err = err};
        rc = bats_inifile_read(path, NULL, &reader, r, &lines, err);
    }
    if (rc == 0)
        rc = check_sections(r, lines > 0 ? lines : 1);
    if (rc == 0)
        rc = make_machines(r);
    if (rc == 0)
        rc = set_defaults(r);
    free(r);
    if (rc == 0)
        *scenario = s;
    else
        bats_scenario_destroy(s);
    return rc;
}

void bats_scenario_destroy(struct bats_scenario *scenario)
{
    if (!scenario)
        return;
    bats_platform_release(&scenario->platform);
    free(scenario->seeds);
    free(scenario->measured);
    free(scenario->planned);
    free(scenario->category);
    bats_bagfile_destroy(scenario->bag);
    bats_graph_release(&scenario->graph);
    free(scenario);
}
