/*
 * json: WfFormat 1.5 of WfCommons (https://github.com/wfcommons/WfFormat).
 *
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

struct reader {
    struct bats_workflow *w;
    const json_t *document;
    struct bats_text command;
    struct bats_error *err;
};

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

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

int bats_json_read(struct bats_workflow *w, struct bats_error *err)
{
    struct reader r = {.w = w, .err = err};
    json_error_t why;
    char *text = NULL;
    size_t length;
    int rc = bats_textfile_read(w->path, &text, &length, err);
    json_t *document = rc == 0 ? json_loadb(text, length, 0, &why) : NULL;
    if (rc == 0 && !document)
        rc = bats_error_at(err, w->path, why.line > 0 ? (uint64_t)why.line : 1,
                           "%s", why.text);
    free(text);
    r.document = document;
    if (rc == 0)
        rc = read_tasks(&r);
    json_decref(document);
    bats_text_release(&r.command);
    return rc;
}
