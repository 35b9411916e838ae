#include <stdlib.h>
#include <string.h>

#include "input/bagfile.h"
#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "sim/measured.h"
#include "sim/scenario/section.h"

#define TASKS_MAX 1000000000

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

/* Takes the workflow's runtimes, if it has all of them. */
static int take_runtimes(struct bats_sections *r, uint32_t n,
                         bats_time (*runtime)(const void *of, uint32_t task),
                         const void *of, struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    s->planned = malloc((size_t)n * sizeof *s->planned);
    if (!s->planned)
        return bats_no_memory(why);
    for (uint32_t i = 0; i < n; i++) {
        s->planned[i] = runtime(of, i);
        if (s->planned[i] < 0) { /* `runtime` must give them */
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

/* Runtime of a built-in task; -1: any other task. */
static bats_time runtime_of_line(const void *bag, uint32_t task)
{
    struct bats_text command = {0};
    bool is_builtin = false;
    bats_time runtime = -1;
    if (bats_bagfile_command(bag, task, &command) >= 0)
        (void)bats_builtin_parse(command.bytes, &is_builtin, &runtime, NULL);
    bats_text_release(&command);
    return is_builtin ? runtime : -1;
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

static int set_needs(struct bats_sections *r, const char *value,
                     struct bats_error *why)
{
    return bats_scenario_needs_parse(r->object, value, why);
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
        rc = take_runtimes(r, s->graph.n_tasks,
                           is_bag ? runtime_of_line : runtime_of_task,
                           is_bag ? (const void *)bag : &w, why);
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

static int set_class(struct bats_sections *r, const char *value,
                     struct bats_error *why)
{
    struct bats_scenario *s = r->object;
    if (strlen(value) >= sizeof s->class)
        return bats_refuse(why, "the name is too long");
    strcpy(s->class, value);
    return 0;
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
    BATS_KEY("class", set_class, false, false),
    BATS_KEY("needs", set_needs, false, false),
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
