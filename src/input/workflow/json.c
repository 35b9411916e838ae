/*
 * json: workflows in JSON: JX and WfFormat.
 *
 * JX is Makeflow's other language, as plain JSON:
 *
 *     {"rules": [{"command": "sort a >b", "inputs": ["a"], "outputs": ["b"],
 *                 "category": "sort", "resources": {"memory": 100},
 *                 "environment": {"LC_ALL": "C"}}],
 *      "categories": {"sort": {"memory": 200, "environment": {}}},
 *      "default_category": "default", "environment": {}}
 *
 * A rule without a category belongs to "default". Values missing in a rule
 * come from its category, then from the default category, then from the top.
 * local_job, disk and members not named here have no effect. Rules have
 * numbers instead of lines.
 *
 * WfFormat 1.5 is of WfCommons (https://github.com/wfcommons/WfFormat):
 * workflow.specification.tasks has the names, parents, children and files,
 * workflow.execution.tasks the runtimes and the commands if the workflow has
 * ever run. A command is its program and its arguments with blanks between
 * them, as WfCommons' own translators read it. Its Makeflow parser repeats the
 * program as the first argument; the repetition is dropped. Tasks have no
 * lines.
 */
#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/textfile.h"
#include "input/workflow/workflow.h"

/* longest command with its environment, bytes */
#define COMMAND_MOST ((size_t)1 << 20)
#define ALL_MOST ((size_t)1 << 30)

struct reader {
    struct bats_workflow *w;
    const json_t *document;
    const json_t *categories; /* of JX */
    const char *fallback;     /* the default category of JX */
    struct bats_text command;
    struct bats_error *err;
};

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* ---- JX ---- */

static int complain(struct reader *r, const char *what, const char *name)
{
    return bats_error_at(r->err, r->w->path, 0, "rule %u: %s%.60s%s",
                         r->w->n + 1, what, name, *name != '\0' ? "'" : "");
}

/* Checks the length after an addition. */
static int check_length(struct reader *r)
{
    size_t n = r->command.n;
    if (n > COMMAND_MOST || r->w->text.n + n > ALL_MOST)
        return complain(r,
                        "with its environment, the command is longer than "
                        "1 MiB, or all of them than 1 GiB",
                        "");
    return bats_text_check(&r->command, r->err);
}

/* Adds the variables of `object` to `all`. */
static int add_environment(struct reader *r, json_t *all, const json_t *object)
{
    json_t *set = json_object_get(object, "environment"), *value;
    const char *name;
    if (set && !json_is_object(set))
        return complain(r, "\"environment\" is not an object", "");
    json_object_foreach(set, name, value)
    {
        if (!bats_text_is_name(name))
            return complain(r, "this is not the name of a variable: '", name);
        if (!json_is_string(value))
            return complain(r, "the value is not a string: '", name);
        if (json_object_set(all, name, value) < 0)
            return bats_no_memory(r->err);
    }
    return 0;
}

static int append_exports(struct reader *r, const json_t *const level[4])
{
    json_t *all = json_object(), *value;
    const char *name;
    int rc = all ? 0 : bats_no_memory(r->err);
    for (int i = 3; rc == 0 && i >= 0; i--)
        rc = add_environment(r, all, level[i]);
    json_object_foreach(all, name, value)
    {
        if (rc < 0)
            break;
        bats_text_format(&r->command, "export %s=", name);
        bats_text_encode(&r->command, BATS_ENCODE_QUOTED,
                         json_string_value(value));
        bats_text_add(&r->command, "; ");
        rc = check_length(r);
    }
    json_decref(all);
    return rc;
}

/* Takes each resource from the first level that has it; 0: none has. */
static int read_need(struct reader *r, const json_t *const level[3],
                     struct bats_need *need)
{
    static const char *const names[] = {"cores", "gpus", "memory", "disk"};
    static const json_int_t most[] = {BATS_CORES_MOST, BATS_GPUS_MOST,
                                      INT64_MAX / 1024, INT64_MAX};
    json_int_t n[] = {0, 0, 0, 0};
    for (int i = 2; i >= 0; i--)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const json_t *value = json_object_get(level[i], names[k]);
            if (!value)
                continue;
            n[k] = json_integer_value(value);
            if (!json_is_integer(value) || n[k] < 0 || n[k] > most[k])
                return complain(r, "this resource is not a whole number: '",
                                names[k]);
        }
    *need = (struct bats_need){.cores = (uint32_t)n[0],
                               .gpus = (uint32_t)n[1],
                               .memory_kib = n[2] * 1024};
    return 0;
}

static void use_files(struct reader *r, const json_t *list, bool writes)
{
    for (size_t i = 0; i < json_array_size(list); i++)
        bats_workflow_use(r->w, json_string_value(json_array_get(list, i)),
                          writes);
}

static int check_files(struct reader *r, const json_t *rule, const char *which)
{
    const json_t *list = json_object_get(rule, which);
    if (list && !json_is_array(list))
        return complain(r, "this is not a list: '", which);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *file = json_array_get(list, i);
        const char *name = text_at(file, "name");
        if (json_is_object(file))
            return complain(r,
                            "a file cannot have another name on the "
                            "machine: '",
                            name ? name : "?");
        if (json_string_length(file) == 0)
            return complain(r, "a file is not a string: '", which);
    }
    return 0;
}

static int check_rule(struct reader *r, const json_t *rule)
{
    const json_t *category = json_object_get(rule, "category");
    const json_t *resources = json_object_get(rule, "resources");
    const json_t *local = json_object_get(rule, "local_job");
    if (json_object_get(rule, "makeflow"))
        return complain(
            r, "a rule that runs another makeflow is not supported", "");
    if (!json_is_string(json_object_get(rule, "command")))
        return complain(r, "it has no \"command\" string", "");
    if (category && !json_is_string(category))
        return complain(r, "\"category\" is not a string", "");
    if (resources && !json_is_object(resources))
        return complain(r, "\"resources\" is not an object", "");
    if (local && !json_is_boolean(local))
        return complain(r, "\"local_job\" is neither true nor false", "");
    int rc = check_files(r, rule, "outputs");
    return rc < 0 ? rc : check_files(r, rule, "inputs");
}

static int read_rule(struct reader *r, const json_t *rule)
{
    int rc = check_rule(r, rule);
    if (rc < 0)
        return rc;
    const char *given = text_at(rule, "category");
    const char *category = given ? given : "default";
    const json_t *own = json_object_get(r->categories, category);
    const json_t *other = json_object_get(r->categories, r->fallback);
    struct bats_need need;
    rc = read_need(
        r, (const json_t *[]){json_object_get(rule, "resources"), own, other},
        &need);
    bats_text_cut(&r->command, 0);
    if (rc == 0)
        rc = append_exports(r,
                            (const json_t *[]){rule, own, other, r->document});
    if (rc == 0) {
        bats_text_add(&r->command, text_at(rule, "command"));
        rc = check_length(r);
    }
    if (rc == 0)
        rc = bats_workflow_add(r->w, NULL, r->command.bytes, -1, category, 0,
                               r->err);
    if (rc < 0)
        return rc;
    r->w->tasks[r->w->n - 1].need = need;
    use_files(r, json_object_get(rule, "outputs"), true);
    use_files(r, json_object_get(rule, "inputs"), false);
    return 0;
}

static int read_rules(struct reader *r)
{
    const json_t *document = r->document;
    const json_t *rules = json_object_get(document, "rules");
    const json_t *fallback = json_object_get(document, "default_category");
    json_t *categories = json_object_get(document, "categories"), *category;
    const char *name;
    int rc = 0;
    const char *what = !json_is_array(rules) ? "there is no list of \"rules\""
                       : fallback && !json_is_string(fallback)
                           ? "\"default_category\" is not a string"
                       : categories && !json_is_object(categories)
                           ? "\"categories\" is not an object"
                           : NULL;
    if (what)
        return bats_error_at(r->err, r->w->path, 0, "%s", what);
    json_object_foreach(categories, name, category)
    {
        if (!json_is_object(category))
            return bats_error_at(r->err, r->w->path, 0,
                                 "category '%.60s' is not an object", name);
    }
    r->categories = categories;
    r->fallback = fallback ? json_string_value(fallback) : "default";
    for (size_t i = 0; rc == 0 && i < json_array_size(rules); i++)
        rc = read_rule(r, json_array_get(rules, i));
    return rc < 0 ? rc : bats_workflow_connect(r->w, r->err);
}

/* ---- WfFormat ---- */

static int refuse(struct reader *r, const char *id, const char *what)
{
    return bats_error_at(r->err, r->w->path, 0, "task '%.60s': %s", id, what);
}

/* The id of a task; NULL, with an error, if it has none. */
static const char *id_of(struct reader *r, const json_t *task, size_t number)
{
    const char *id = text_at(task, "id");
    if (!id)
        bats_error_at(r->err, r->w->path, 0, "task %zu has no \"id\" string",
                      number + 1);
    return id;
}

static int read_runtime(struct reader *r, const char *id, const json_t *task,
                        bats_time *runtime)
{
    const json_t *value = json_object_get(task, "runtimeInSeconds");
    double us = json_number_value(value) * 1e6;
    *runtime = -1;
    if (!value)
        return 0;
    if (!json_is_number(value) || !(us < (double)BATS_LONGEST))
        return refuse(r, id, "\"runtimeInSeconds\" is not a runtime");
    *runtime = us > 0 ? (bats_time)llround(us) : 0;
    return 0;
}

/* Reads the resources that the task had; 0: unknown. */
static int read_need_of(struct reader *r, const char *id, const json_t *task,
                        struct bats_need *need)
{
    double cores = json_number_value(json_object_get(task, "coreCount"));
    double bytes = json_number_value(json_object_get(task, "memoryInBytes"));
    if (!(cores >= 0 && cores <= BATS_CORES_MOST))
        return refuse(r, id, "\"coreCount\" is not a number up to 4096");
    if (!(bytes >= 0 && bytes < 1e18))
        return refuse(r, id, "\"memoryInBytes\" is not an amount");
    *need = (struct bats_need){.cores = (uint32_t)ceil(cores),
                               .memory_kib = (int64_t)ceil(bytes / 1024)};
    return 0;
}

/* *command is NULL if there is none. */
static int read_command(struct reader *r, const char *id, const json_t *task,
                        const char **command)
{
    const json_t *object = json_object_get(task, "command");
    const json_t *arguments = json_object_get(object, "arguments");
    const char *program = text_at(object, "program");
    *command = NULL;
    bats_text_cut(&r->command, 0);
    if (!program)
        return object && json_object_get(object, "program")
                   ? refuse(r, id, "\"program\" is not a string")
                   : 0;
    bats_text_add(&r->command, program);
    for (size_t i = 0; i < json_array_size(arguments); i++) {
        const char *word = json_string_value(json_array_get(arguments, i));
        if (!word)
            return refuse(r, id, "an argument is not a string");
        if (!(i == 0 && strcmp(word, program) == 0))
            bats_text_format(&r->command, " %s", word);
    }
    *command = r->command.bytes;
    return bats_text_check(&r->command, r->err);
}

/* The program, or the name without its number: mAdd for mAdd_ID000012. */
static void find_category(const json_t *execution, const char *name,
                          char *category, size_t size)
{
    const char *program =
        text_at(json_object_get(execution, "command"), "program");
    /* "export" begins a command of a Makeflow */
    if (program && strcmp(program, "export") != 0) {
        const char *slash = strrchr(program, '/');
        snprintf(category, size, "%s", slash ? slash + 1 : program);
        return;
    }
    snprintf(category, size, "%s", name);
    size_t n = strlen(category);
    while (n > 0 && isdigit((unsigned char)category[n - 1]))
        n--;
    if (n > 2 && strncmp(category + n - 2, "ID", 2) == 0)
        n -= 2;
    if (n > 1 && (category[n - 1] == '_' || category[n - 1] == '-'))
        n--;
    if (n > 0)
        category[n] = '\0';
}

static int read_files(struct reader *r, const char *id, const json_t *list,
                      bool writes)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *file = json_string_value(json_array_get(list, i));
        if (!file)
            return refuse(r, id, "a file is not a string");
        bats_workflow_use(r->w, file, writes);
    }
    return 0;
}

/* `execution`: how the task was executed, or NULL. */
static int read_task(struct reader *r, const json_t *task,
                     const json_t *execution)
{
    const char *id = text_at(task, "id"), *name = text_at(task, "name");
    const char *command = NULL;
    char category[100];
    bats_time runtime;
    struct bats_need need;
    int rc = read_runtime(r, id, execution, &runtime);
    if (rc == 0)
        rc = read_need_of(r, id, execution, &need);
    if (rc == 0)
        rc = read_command(r, id, execution, &command);
    if (rc < 0)
        return rc;
    find_category(execution, name ? name : id, category, sizeof category);
    rc = bats_workflow_add(r->w, id, command, runtime, category, 0, r->err);
    if (rc < 0)
        return rc;
    r->w->tasks[r->w->n - 1].need = need;
    rc = read_files(r, id, json_object_get(task, "inputFiles"), false);
    return rc < 0
               ? rc
               : read_files(r, id, json_object_get(task, "outputFiles"), true);
}

static int read_relatives(struct reader *r, uint32_t number,
                          const json_t *task, const char *which, bool parents)
{
    const json_t *list = json_object_get(task, which);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *id = json_string_value(json_array_get(list, i));
        uint32_t other = id ? bats_names_find(&r->w->names, id) : BATS_NO_NAME;
        if (other == BATS_NO_NAME)
            return bats_error_at(
                r->err, r->w->path, 0,
                "task '%.60s': one of its %s is '%.60s', which is not a task",
                bats_names_text(&r->w->names, number), which, id ? id : "?");
        bats_edges_add(&r->w->edges, parents ? other : number,
                       parents ? number : other);
    }
    return 0;
}

/* Sets execution[] by number of the task, after all ids are numbered. */
static int find_executions(struct reader *r, const json_t *specified,
                           const json_t *executed, const json_t **execution)
{
    struct bats_names ids = {0};
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(specified); i++) {
        const char *id = id_of(r, json_array_get(specified, i), i);
        bool is_new;
        if (!id)
            rc = BATS_EINPUT;
        else if (bats_names_add(&ids, id, &is_new) == BATS_NO_NAME)
            rc = bats_no_memory(r->err);
        else if (!is_new)
            rc = refuse(r, id, "is named twice");
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(executed); i++) {
        const json_t *task = json_array_get(executed, i);
        const char *id = id_of(r, task, i);
        uint32_t number = id ? bats_names_find(&ids, id) : 0;
        if (!id)
            rc = BATS_EINPUT;
        else if (number == BATS_NO_NAME)
            rc = refuse(r, id, "was executed, but is not specified");
        else
            execution[number] = task;
    }
    bats_names_release(&ids);
    return rc;
}

static int read_tasks(struct reader *r)
{
    const json_t *workflow = json_object_get(r->document, "workflow");
    const json_t *specified =
        json_object_get(json_object_get(workflow, "specification"), "tasks");
    const json_t *executed =
        json_object_get(json_object_get(workflow, "execution"), "tasks");
    const char *version = text_at(r->document, "schemaVersion");
    r->w->is_measured = true;
    if (!json_is_array(specified))
        return bats_refuse(r->err,
                           "%.250s is not WfFormat 1.5: it has no "
                           "workflow.specification.tasks%s%.20s",
                           r->w->path, version ? "; its version is " : "",
                           version ? version : "");
    uint32_t n = (uint32_t)json_array_size(specified);
    const json_t **execution = calloc((size_t)n + 1, sizeof *execution);
    int rc = execution ? find_executions(r, specified, executed, execution)
                       : bats_no_memory(r->err);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = read_task(r, json_array_get(specified, i), execution[i]);
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        const json_t *task = json_array_get(specified, i);
        rc = read_relatives(r, i, task, "parents", true);
        if (rc == 0)
            rc = read_relatives(r, i, task, "children", false);
    }
    free(execution);
    return rc;
}

/* ---- the file ---- */

/* JX may have expressions, which are not JSON; jx2json expands them. */
static int complain_json(struct reader *r, const char *text,
                         const json_error_t *why)
{
    bool may_be_jx =
        bats_text_ends(r->w->path, ".jx") || strstr(text, "\"rules\"");
    return bats_error_at(
        r->err, r->w->path, why->line > 0 ? (uint64_t)why->line : 1, "%s%s",
        why->text,
        may_be_jx ? "; if this is JX with expressions, expand "
                    "it with jx2json"
                  : "");
}

int bats_json_read(struct bats_workflow *w, struct bats_error *err)
{
    struct reader r = {.w = w, .err = err};
    json_error_t why;
    char *text = NULL;
    size_t length;
    int rc = bats_textfile_read(w->path, &text, &length, err);
    json_t *document = rc == 0 ? json_loadb(text, length, 0, &why) : NULL;
    if (rc == 0 && !document)
        rc = complain_json(&r, text, &why);
    free(text);
    r.document = document;
    if (rc == 0)
        rc = bats_text_ends(w->path, ".jx") ||
                     json_object_get(document, "rules")
                 ? read_rules(&r)
                 : read_tasks(&r);
    json_decref(document);
    bats_text_release(&r.command);
    return rc;
}
