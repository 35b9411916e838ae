/*
 * wfformat: WfFormat 1.5 of WfCommons (https://github.com/wfcommons/WfFormat).
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
    const json_t **execution; /* by task, or NULL */
    struct bats_text command;
    struct bats_error *err;
};

static int complain(struct reader *r, const char *id, const char *what)
{
    return bats_error_at(r->err, r->w->path, 0, "task '%.60s': %s", id, what);
}

/* The id of a task; NULL, with an error, if it has none. */
static const char *id_of(struct reader *r, const json_t *task, size_t number)
{
    const char *id = json_string_value(json_object_get(task, "id"));
    if (!id)
        bats_error_at(r->err, r->w->path, 0, "task %zu has no \"id\" string",
                      number + 1);
    return id;
}

/* ---- executions ---- */

/* Finds the executions, by number of the task in `ids`. */
static int find_executions(struct reader *r, const struct bats_names *ids,
                           const json_t *list)
{
    r->execution = calloc(ids->n + 1, sizeof *r->execution);
    if (!r->execution)
        return bats_no_memory(r->err);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *task = json_array_get(list, i);
        const char *id = id_of(r, task, i);
        if (!id)
            return BATS_EINPUT;
        uint32_t number = bats_names_find(ids, id);
        if (number == BATS_NO_NAME)
            return complain(r, id, "was executed, but is not specified");
        r->execution[number] = task;
    }
    return 0;
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
        return complain(r, id, "\"runtimeInSeconds\" is not a runtime");
    *runtime = us > 0 ? (bats_time)llround(us) : 0;
    return 0;
}

/* Reads the resources that the task had; 0: unknown. */
static int read_need(struct reader *r, const char *id, const json_t *task,
                     struct bats_need *need)
{
    double cores = json_number_value(json_object_get(task, "coreCount"));
    double bytes = json_number_value(json_object_get(task, "memoryInBytes"));
    if (!(cores >= 0 && cores <= BATS_CORES_MOST))
        return complain(r, id, "\"coreCount\" is not a number up to 4096");
    if (!(bytes >= 0 && bytes < 1e18))
        return complain(r, id, "\"memoryInBytes\" is not an amount");
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
    const char *program =
        json_string_value(json_object_get(object, "program"));
    *command = NULL;
    bats_text_cut(&r->command, 0);
    if (!program)
        return object && json_object_get(object, "program")
                   ? complain(r, id, "\"program\" is not a string")
                   : 0;
    bats_text_add(&r->command, program);
    for (size_t i = 0; i < json_array_size(arguments); i++) {
        const char *word = json_string_value(json_array_get(arguments, i));
        if (!word)
            return complain(r, id, "an argument is not a string");
        if (!(i == 0 && strcmp(word, program) == 0))
            bats_text_format(&r->command, " %s", word);
    }
    *command = r->command.bytes;
    return bats_text_check(&r->command, r->err);
}

/* ---- the specification ---- */

/* The program, or the name without its number: mAdd for mAdd_ID000012. */
static void find_category(const json_t *execution, const char *name,
                          char *category, size_t size)
{
    const char *program = json_string_value(
        json_object_get(json_object_get(execution, "command"), "program"));
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

static int read_files(struct reader *r, const char *id, uint32_t number,
                      const json_t *list, bool writes)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
        const char *file = json_string_value(json_array_get(list, i));
        if (!file)
            return complain(r, id, "a file is not a string");
        rc = bats_workflow_use(r->w, number, file, writes, r->err);
    }
    return rc;
}

static int read_task(struct reader *r, uint32_t number, const json_t *task)
{
    const char *id = id_of(r, task, number), *command = NULL;
    const json_t *execution = r->execution[number];
    const char *name = json_string_value(json_object_get(task, "name"));
    char category[100];
    bats_time runtime;
    struct bats_need need;
    int rc = read_runtime(r, id, execution, &runtime);
    if (rc == 0)
        rc = read_need(r, id, execution, &need);
    if (rc == 0)
        rc = read_command(r, id, execution, &command);
    if (rc < 0)
        return rc;
    find_category(execution, name ? name : id, category, sizeof category);
    rc = bats_workflow_add(r->w, id, command, runtime, category, 0, r->err);
    if (rc == 0)
        r->w->tasks[number].need = need;
    if (rc == 0)
        rc = read_files(r, id, number, json_object_get(task, "inputFiles"),
                        false);
    if (rc == 0)
        rc = read_files(r, id, number, json_object_get(task, "outputFiles"),
                        true);
    return rc;
}

static int read_relatives(struct reader *r, uint32_t number,
                          const json_t *task, const char *which, bool parents)
{
    const json_t *list = json_object_get(task, which);
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < json_array_size(list); i++) {
        const char *id = json_string_value(json_array_get(list, i));
        uint32_t other = id ? bats_names_find(&r->w->names, id) : BATS_NO_NAME;
        if (other == BATS_NO_NAME)
            return bats_error_at(
                r->err, r->w->path, 0,
                "task '%.60s': one of its %s is '%.60s', which is not a task",
                bats_names_text(&r->w->names, number), which, id ? id : "?");
        rc = parents ? bats_workflow_edge(r->w, other, number, r->err)
                     : bats_workflow_edge(r->w, number, other, r->err);
    }
    return rc;
}

/* Numbers all ids before reading any task. */
static int read_ids(struct reader *r, const json_t *list,
                    struct bats_names *ids)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *id = id_of(r, json_array_get(list, i), i);
        bool is_new;
        if (!id)
            return BATS_EINPUT;
        if (bats_names_add(ids, id, &is_new) == BATS_NO_NAME)
            return bats_no_memory(r->err);
        if (!is_new)
            return complain(r, id, "is named twice");
    }
    return 0;
}

static int read_tasks(struct reader *r, const json_t *specified,
                      const json_t *executed)
{
    struct bats_names ids = {0};
    int rc = read_ids(r, specified, &ids);
    if (rc == 0)
        rc = find_executions(r, &ids, executed);
    bats_names_release(&ids);
    uint32_t n = (uint32_t)json_array_size(specified);
    for (uint32_t i = 0; rc == 0 && i < n; i++)
        rc = read_task(r, i, json_array_get(specified, i));
    for (uint32_t i = 0; rc == 0 && i < n; i++) {
        const json_t *task = json_array_get(specified, i);
        rc = read_relatives(r, i, task, "parents", true);
        if (rc == 0)
            rc = read_relatives(r, i, task, "children", false);
    }
    return rc;
}

static int read_document(struct reader *r, const json_t *document)
{
    const json_t *workflow = json_object_get(document, "workflow");
    const json_t *specified =
        json_object_get(json_object_get(workflow, "specification"), "tasks");
    const json_t *executed =
        json_object_get(json_object_get(workflow, "execution"), "tasks");
    const char *version =
        json_string_value(json_object_get(document, "schemaVersion"));
    r->w->is_measured = true;
    if (!json_is_array(specified))
        return bats_refuse(r->err,
                           "%.250s is not WfFormat 1.5: it has no "
                           "workflow.specification.tasks%s%.20s",
                           r->w->path, version ? "; its version is " : "",
                           version ? version : "");
    return read_tasks(r, specified, executed);
}

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

int bats_wfformat_read(struct bats_workflow *w, struct bats_error *err)
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
    if (rc == 0)
        rc = bats_text_ends(w->path, ".jx") ||
                     json_object_get(document, "rules")
                 ? bats_jx_read(w, document, err)
                 : read_document(&r, document);
    json_decref(document);
    free(r.execution);
    bats_text_release(&r.command);
    return rc;
}
