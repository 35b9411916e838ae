#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "bats/rules.h"
#include "input/bagfile.h"
#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "sim/measured.h"
#include "sim/scenario/section.h"
#include "util/hash.h"

#define TASKS_MAX 1000000000
#define SEED 34 /* the same needs for all seeds */

static int set_file(struct bats_sections *r, const char *name,
                    struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    char *path = bats_textfile_beside(r->path, name);
    if (!path)
        return bats_no_memory(why);
    size_t n;
    int rc = bats_measured_read(path, &s->measured, &n, why);
    free(path);
    if (rc < 0)
        return rc;
    s->runtime = (struct bats_draw){
        .kind = BATS_DRAW_EMPIRICAL, .values = s->measured, .n = n};
    return n <= TASKS_MAX
               ? 0
               : bats_refuse(why, "more than %d runtimes", TASKS_MAX);
}

static int set_runtime(struct bats_sections *r, const char *value,
                       struct bats_error *why)
{
    static const char word[] = "file";
    size_t length = sizeof word - 1;
    if (strncmp(value, word, length) == 0 && value[length] != '\0' &&
        strchr(BLANKS, value[length]))
        return set_file(r, value + length + strspn(value + length, BLANKS),
                        why);
    struct bats_scenario *s = r->object;
    return bats_draw_parse(value, &s->runtime, why);
}

/* Runtime of a built-in task; -1: any other task. */
static bats_time runtime_of(const struct bats_bagfile *bag, uint32_t task)
{
    struct bats_text command = {0};
    bool is_builtin = false;
    bats_time runtime = -1;
    if (bats_bagfile_command(bag, task, &command) >= 0)
        (void)bats_builtin_parse(command.bytes, &is_builtin, &runtime, NULL);
    bats_text_release(&command);
    return is_builtin ? runtime : -1;
}

/* Takes the runtimes of the bag or the workflow, if it has all of them: else
 * `runtime` must give them. */
static int take_runtimes(struct bats_scenario *s,
                         const struct bats_bagfile *bag,
                         const struct bats_workflow *w, struct bats_error *why)
{
    uint32_t n = s->graph.n_tasks, i = 0;
    s->planned = malloc((size_t)n * sizeof *s->planned);
    if (!s->planned)
        return bats_no_memory(why);
    do
        s->planned[i] = w ? w->tasks[i].runtime : runtime_of(bag, i);
    while (s->planned[i] >= 0 && ++i < n);
    if (i < n) {
        free(s->planned);
        s->planned = NULL;
    }
    return 0;
}

/* Takes the needs from the bag or the workflow. */
static int take_needs(struct bats_scenario *s, const struct bats_bagfile *bag,
                      const struct bats_workflow *w, struct bats_error *why)
{
    s->own = calloc(s->graph.n_tasks + (size_t)1, sizeof *s->own);
    if (!s->own)
        return bats_no_memory(why);
    for (uint32_t i = 0; i < s->graph.n_tasks; i++)
        if (w)
            s->own[i] = w->tasks[i].need;
        else
            bats_bagfile_need(bag, i, &s->own[i]);
    s->own_measured = w && w->is_measured;
    return 0;
}

/* "4", "4/8G" or "4/8G/1". */
static int parse_kind(char *text, struct bats_need *need,
                      struct bats_error *why)
{
    char *memory = strchr(text, '/');
    char *gpus = memory ? strchr(memory + 1, '/') : NULL;
    int64_t bytes = 0;
    *need = (struct bats_need){0};
    if (memory)
        *memory++ = '\0';
    if (gpus)
        *gpus++ = '\0';
    int rc = bats_count_within(text, 1, BATS_CORES_MOST, &need->cores, why);
    if (rc == 0 && memory && *memory)
        rc = bats_size_parse(memory, &bytes, why);
    if (rc == 0 && gpus)
        rc = bats_count_within(gpus, 1, BATS_GPUS_MOST, &need->gpus, why);
    need->memory_kib = bytes > 0 ? (bytes - 1) / 1024 + 1 : 0;
    return rc;
}

/* "1:70" */
static int add_need(struct bats_sections *r, char *item,
                    struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    char *share = strchr(item, ':');
    if (s->n_kinds == BATS_SCENARIO_NEEDS)
        return bats_refuse(why, "more than %d kinds", BATS_SCENARIO_NEEDS);
    if (share)
        *share++ = '\0';
    int rc = parse_kind(item, &s->kind[s->n_kinds], why);
    s->share[s->n_kinds] = 1;
    if (rc == 0 && share)
        rc = bats_factor_parse(share, &s->share[s->n_kinds], why);
    s->n_kinds += rc == 0;
    return rc;
}

static int load_workflow(struct bats_sections *r, const char *path,
                         struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    struct bats_workflow w;
    struct bats_bagfile *bag = NULL;
    bool is_bag = bats_workflow_format(path) == BATS_WORKFLOW_NONE;
    int rc = is_bag ? bats_bagfile_load(path, &bag, why)
                    : bats_workflow_load(path, &w, why);
    if (rc == 0 && is_bag && !bag->graph)
        rc = bats_refuse(why, "no task of %.200s waits for another", path);
    if (rc == 0) {
        struct bats_graph *graph = is_bag ? &bag->own_graph : &w.graph;
        s->graph = *graph;
        *graph = (struct bats_graph){0};
        rc = take_runtimes(s, bag, is_bag ? NULL : &w, why);
    }
    if (rc == 0)
        rc = take_needs(s, bag, is_bag ? NULL : &w, why);
    if (rc == 0 && !is_bag && w.category) {
        s->category = w.category;
        s->engine.n_categories = (uint32_t)w.categories.n;
        w.category = NULL;
    }
    if (!is_bag)
        bats_workflow_release(&w);
    bats_bagfile_destroy(s->bag);
    s->bag = bag; /* knows its workflows */
    return rc < 0 || s->graph.n_tasks <= TASKS_MAX
               ? rc
               : bats_refuse(why, "more than %d tasks", TASKS_MAX);
}

static int set_workflow(struct bats_sections *r, const char *name,
                        struct bats_error *why)
{
    char *path = bats_textfile_beside(r->path, name);
    int rc = path ? load_workflow(r, path, why) : bats_no_memory(why);
    free(path);
    return rc;
}

static int set_saves(struct bats_sections *r, const char *value,
                     struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    s->saves = true;
    return bats_duration_parse(value, &s->migration, why);
}

static int set_known(struct bats_sections *r, const char *value,
                     struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    s->is_told = true;
    if (strcmp(value, "yes") == 0)
        return 0;
    int rc = bats_factor_parse(value, &s->told_error, why);
    return rc < 0 || s->told_error < 1
               ? rc
               : bats_refuse(why, "1 or more: 0.3 is 30 %%");
}

const struct bats_key bats_scenario_bag_keys[] = {
    NUMBER("tasks", COUNT, n_tasks, TASKS_MAX),     /* or a file */
    BATS_KEY("runtime", set_runtime, false, false), /* or a workflow */
    BATS_KEY("workflow", set_workflow, false, false),
    NUMBER("class", TEXT, class, BATS_SCENARIO_CLASS),
    BATS_KEY_EACH("needs", add_need, false, false),
    BATS_KEY("known", set_known, false, false),
    BATS_KEY("saves", set_saves, false, false),
    {0},
};

/* ---- after the last line ---- */

/* Takes tasks from the workflow and, unless `runtime` says otherwise, their
 * runtimes. */
static int check_workflow(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    if (s->n_tasks > 0)
        return FAIL(r, bats_scenario_line(r, BAG, NULL),
                    "[bag] has both tasks and a workflow, which has its own");
    s->n_tasks = s->graph.n_tasks;
    if (bats_scenario_line(r, BAG, "runtime") > 0)
        return 0;
    if (!s->planned)
        return FAIL(
            r, bats_scenario_line(r, BAG, NULL),
            "the workflow does not know all runtimes: [bag] needs runtime");
    s->as_measured = true;
    s->measured = s->planned;
    s->planned = NULL;
    return 0;
}

int bats_scenario_bag_settle(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    if (!bats_scenario_line(r, BAG, "runtime") && s->graph.n_nodes == 0)
        return FAIL(r, bats_scenario_line(r, BAG, NULL),
                    "[bag] has no runtime");
    if (s->graph.n_nodes > 0)
        return check_workflow(r);
    if (s->n_tasks > 0)
        return 0;
    if (!s->measured)
        return FAIL(r, bats_scenario_line(r, BAG, NULL), "[bag] has no tasks");
    s->as_measured = true;
    s->n_tasks = (uint32_t)s->runtime.n;
    return 0;
}

/* ---- needs, once tasks and machines are known ---- */

static struct bats_need draw(const struct bats_scenario *s, uint32_t task)
{
    double sum = 0;
    for (size_t k = 0; k < s->n_kinds; k++)
        sum += s->share[k];
    double at = sum * ((double)(bats_mix_at(SEED, task) >> 11) * 0x1p-53);
    size_t k = 0;
    while (k + 1 < s->n_kinds && at >= s->share[k])
        at -= s->share[k++];
    return s->kind[k];
}

/* Measured needs differ within a category; a user would request the
 * largest. */
static int level(struct bats_scenario *s, struct bats_error *err)
{
    int64_t *most = calloc(BATS_CATEGORIES_MAX, sizeof *most);
    if (!most)
        return bats_no_memory(err);
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < s->n_tasks; i++) {
            int64_t *of = &most[s->category ? s->category[i] : 0];
            if (pass == 1)
                s->own[i].memory_kib = *of;
            else if (s->own[i].memory_kib > *of)
                *of = s->own[i].memory_kib;
        }
    free(most);
    return 0;
}

static int draw_all(struct bats_scenario *s, struct bats_error *err)
{
    if (s->n_kinds == 0)
        return s->own_measured ? level(s, err) : 0;
    free(s->own);
    s->own = calloc(s->n_tasks, sizeof *s->own);
    for (uint32_t i = 0; s->own && i < s->n_tasks; i++)
        s->own[i] = draw(s, i);
    return s->own ? 0 : bats_no_memory(err);
}

static struct bats_stock stock_of(const struct bats_scenario *s, uint32_t id)
{
    return s->stock[s->platform.machines[id].cluster];
}

static bool fits(const struct bats_scenario *s, const struct bats_need *need)
{
    bool does = false;
    for (uint32_t i = 0; i < s->platform.n_machines && !does; i++) {
        struct bats_stock stock = stock_of(s, i);
        does = bats_need_room(&stock, need) > 0;
    }
    return does;
}

/* Every slot of any machine satisfies every task. */
static bool are_none(const struct bats_scenario *s)
{
    struct bats_need most = {.cores = 1};
    for (uint32_t i = 0; i < s->n_tasks; i++) {
        const struct bats_need *need = &s->own[i];
        if (need->cores > 1 || need->gpus > 0)
            return false;
        if (need->memory_kib > most.memory_kib)
            most.memory_kib = need->memory_kib;
    }
    for (uint32_t i = 0; i < s->platform.n_machines; i++) {
        struct bats_stock stock = stock_of(s, i);
        if (bats_need_room(&stock, &most) < stock.cores)
            return false;
    }
    return true;
}

struct kind {
    struct bats_need need;
    uint16_t of; /* category of the bag */
};

/* Splits categories whose tasks differ in needs. */
static int sort(struct bats_sections *r, struct kind *list)
{
    struct bats_scenario *s = r->object;
    uint16_t *category = calloc(s->n_tasks, sizeof *category);
    uint32_t n = 0;
    int rc = category ? 0 : bats_no_memory(r->err);
    for (uint32_t i = 0; rc == 0 && i < s->n_tasks; i++) {
        struct kind kind = {s->own[i], s->category ? s->category[i] : 0};
        uint32_t k = 0;
        while (k < n && (list[k].of != kind.of ||
                         list[k].need.cores != kind.need.cores ||
                         list[k].need.gpus != kind.need.gpus ||
                         list[k].need.memory_kib != kind.need.memory_kib))
            k++;
        if (k == BATS_CATEGORIES_MAX)
            rc = FAIL(r, bats_scenario_line(r, BAG, NULL),
                      "tasks of more than %d kinds", BATS_CATEGORIES_MAX);
        else if (k == n && !fits(s, &kind.need))
            rc = FAIL(r, bats_scenario_line(r, BAG, NULL),
                      "task %" PRIu64 " needs %" PRIu32 " cores, %" PRId64
                      " KiB of memory and %" PRIu32
                      " GPUs: no machine has all of it",
                      (uint64_t)i + 1, kind.need.cores, kind.need.memory_kib,
                      kind.need.gpus);
        if (rc == 0 && k == n)
            list[n++] = kind;
        category[i] = (uint16_t)k;
    }
    free(s->category);
    s->category = category;
    s->engine.n_categories = n;
    return rc;
}

int bats_scenario_needs_settle(struct bats_sections *r)
{
    struct bats_scenario *s = r->object;
    uint32_t n_machines = s->platform.n_machines;
    int rc = draw_all(s, r->err);
    for (uint32_t i = 0; rc == 0 && s->own && i < s->n_tasks; i++)
        if (s->own[i].cores == 0)
            s->own[i].cores = 1;
    if (rc < 0 || !s->own || are_none(s))
        return rc;
    struct kind *list = calloc(BATS_CATEGORIES_MAX, sizeof *list);
    s->needs = calloc(BATS_CATEGORIES_MAX, sizeof *s->needs);
    s->stocks = calloc(n_machines, sizeof *s->stocks);
    rc =
        list && s->needs && s->stocks ? sort(r, list) : bats_no_memory(r->err);
    for (uint32_t k = 0; rc == 0 && k < s->engine.n_categories; k++)
        s->needs[k] = list[k].need;
    for (uint32_t i = 0; rc == 0 && i < n_machines; i++)
        s->stocks[i] = stock_of(s, i);
    free(list);
    return rc;
}
