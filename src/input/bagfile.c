#include "input/bagfile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "input/bag/state.h"
#include "input/sweep/planfile.h"
#include "input/sweep/sweep.h"
#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "util/grow.h"

/* Linux's limit for the bytes of an argument (MAX_ARG_STRLEN) */
#define LONGEST 131071

/* ---- a bag of a workflow ---- */

/* Returns `code`, and the bag unless that is an error. */
static int finish(struct bats_bagfile *b, int code, struct bats_bagfile **bag)
{
    if (code)
        bats_bagfile_destroy(b);
    else
        *bag = b;
    return code;
}

static int check_builtins(const struct bats_bagfile *bag,
                          struct bats_error *err)
{
    struct bats_text command = {0};
    int code = 0;
    for (uint32_t i = 0; !code && i < bag->n_tasks; i++) {
        bool is_builtin;
        bats_time duration;
        if (bats_bagfile_command(bag, i, &command) < 0)
            code = bats_no_memory(err);
        else
            code = bats_error_prefix(
                err,
                bats_builtin_parse(command.bytes, &is_builtin, &duration, err),
                "task %" PRIu64 ": ", (uint64_t)i + 1);
    }
    bats_text_release(&command);
    return code;
}

/* A workflow is refused if one of its tasks has no command: it can only be
 * simulated. */
static int load_workflow(const char *path, struct bats_workflow *w,
                         struct bats_error *err)
{
    char name[100];
    int code = bats_workflow_load(path, w, err);
    for (uint32_t i = 0; !code && i < w->n; i++)
        if (w->tasks[i].command == BATS_NO_COMMAND)
            return bats_error_at(
                err, w->path, w->tasks[i].line,
                "%s has no command: this workflow can only be simulated",
                bats_workflow_name(w, i, name, sizeof name));
    return code;
}

static void adopt(struct bats_bagfile *b)
{
    const struct bats_workflow *w = b->workflow;
    b->n_tasks = w->n;
    b->graph = &w->graph;
    b->category = w->category;
    b->category_names = w->category_names;
    b->n_categories = w->category ? (uint32_t)w->categories.n : 0;
}

static int read_workflow(struct bats_bagfile *b, struct bats_error *err)
{
    struct bats_workflow *w = b->workflow = calloc(1, sizeof *w);
    int code = w ? load_workflow(b->name, w, err) : bats_no_memory(err);
    if (code)
        return code;
    adopt(b);
    return check_builtins(b, err);
}

/* Loads the workflow of this word, or reads an option of the previous
 * workflow. */
static int read_word_of_several(struct bats_bagfile *b, const char *word,
                                struct bats_workflow *parts, uint32_t *n_parts,
                                struct bats_error *err)
{
    bool is_file = bats_workflow_format(word) != BATS_WORKFLOW_NONE;
    int code = is_file ? bats_sharing_begin(&b->sharing, word, strlen(word),
                                            b->n_tasks, err)
                       : bats_sharing_option(&b->sharing, word, err);
    if (code)
        return bats_error_prefix(
            err, code, "%s: ", is_file ? word : parts[*n_parts - 1].path);
    if (!is_file)
        return 0;
    struct bats_workflow *w = &parts[(*n_parts)++];
    code = load_workflow(word, w, err);
    b->n_tasks += w->n;
    return code;
}

/* Joins the names of workflows: "a.makeflow + b.json". */
static char *join_names(const struct bats_workflow *parts, uint32_t n)
{
    char *text = NULL, *more;
    for (uint32_t i = 0; i < n; i++, text = more) {
        if (asprintf(&more, "%s%s%s", text ? text : "", text ? " + " : "",
                     parts[i].path) < 0)
            more = NULL;
        free(text);
        if (!more)
            return NULL;
    }
    return text;
}

static int read_several(struct bats_bagfile *b, const char *const *words,
                        size_t n_words, struct bats_workflow *parts,
                        uint32_t *n_parts, struct bats_error *err)
{
    int code = 0;
    for (size_t i = 0; !code && i < n_words; i++)
        code = read_word_of_several(b, words[i], parts, n_parts, err);
    if (code)
        return code;
    b->name = join_names(parts, *n_parts);
    b->workflow = calloc(1, sizeof *b->workflow);
    code =
        b->name && b->workflow
            ? bats_workflow_merge(b->name, parts, *n_parts, b->workflow, err)
            : bats_no_memory(err);
    if (!code)
        code = bats_sharing_finish(&b->sharing, b->n_tasks, err);
    if (code)
        return code;
    adopt(b);
    return check_builtins(b, err);
}

/* ---- plan files ---- */

/* The command that runs the script `text`: its first line, without "#!". For
 * free(). */
static char *interpreter(const char *text)
{
    char *line = strndup(text + 2, strcspn(text + 2, "\r\n")), *command = NULL;
    if (line != NULL) {
        const char *program = bats_text_trim(line, BLANKS);
        command = strdup(*program != '\0' ? program : "/bin/sh");
    }
    free(line);
    return command;
}

/* Makes a sweep of the text of a plan file or script. */
static int read_plan(struct bats_bagfile *bag, bool is_script,
                     struct bats_error *err)
{
    char *command = is_script ? interpreter(bag->text) : NULL;
    if (is_script && command == NULL)
        return bats_no_memory(err);
    int code =
        bats_sweep_of_plan(bag->name, bag->text, command, &bag->sweep, err);
    free(command);
    if (!code)
        bag->n_tasks = (uint32_t)bag->sweep->points.n;
    if (!code && is_script)
        code = bats_bag_read_script(bag, err);
    free(bag->text);
    bag->text = NULL;
    return code ? code : bats_bag_read_columns(bag, err);
}

static int read_bag(struct bats_bagfile *b, const char *path,
                    struct bats_error *err)
{
    size_t length = 0;
    int code = bats_textfile_read(path, &b->text, &length, err);
    bool is_script =
        !code && strcmp(path, "-") != 0 && bats_planfile_in_script(b->text);
    if (!code)
        code = is_script || bats_text_ends(path, ".pln")
                   ? read_plan(b, is_script, err)
                   : bats_bag_read_lines(b, length, err);
    if (b->own_graph.n_nodes > 0)
        b->graph = &b->own_graph;
    if (!code && b->n_tasks == 0)
        code = bats_error_at(err, b->name, 0, "no task in this bag");
    return code ? code : bats_bag_list_classes(b, err);
}

int bats_bagfile_load(const char *path, struct bats_bagfile **bag,
                      struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    if (!b || !(b->name = strdup(bats_textfile_name(path)))) {
        bats_bagfile_destroy(b);
        return bats_no_memory(err);
    }
    return finish(b,
                  bats_workflow_format(path) == BATS_WORKFLOW_NONE
                      ? read_bag(b, path, err)
                      : read_workflow(b, err),
                  bag);
}

int bats_bagfile_load_several(const char *const *words, size_t n,
                              struct bats_bagfile **bag,
                              struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    struct bats_workflow *parts = calloc(n, sizeof *parts);
    uint32_t n_parts = 0;
    int code = b && parts ? read_several(b, words, n, parts, &n_parts, err)
                          : bats_no_memory(err);
    for (uint32_t i = 0; i < n_parts; i++)
        bats_workflow_release(&parts[i]);
    free(parts);
    return finish(b, code, bag);
}

/* ---- a bag of a sweep ---- */

int bats_bagfile_of_sweep(struct bats_sweep *sweep, struct bats_bagfile **bag,
                          struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    if (!b || !(b->name = strdup("sweep"))) {
        bats_sweep_destroy(sweep);
        bats_bagfile_destroy(b);
        return bats_no_memory(err);
    }
    b->sweep = sweep;
    b->n_tasks = (uint32_t)sweep->points.n;
    int code = sweep->may_be_builtin ? check_builtins(b, err) : 0;
    if (!code)
        code = bats_bag_read_columns(b, err);
    if (!code)
        code = bats_bag_list_classes(b, err);
    return finish(b, code, bag);
}

/* ---- a bag to which tasks are added while it is run ---- */

int bats_bagfile_open(const char *name, uint32_t room,
                      struct bats_bagfile **bag, struct bats_error *err)
{
    struct bats_bagfile *b = calloc(1, sizeof *b);
    if (b) {
        b->name = strdup(name);
        b->text = calloc(1, 1); /* serves as empty prefix and suffix */
        b->groups = calloc(1, sizeof *b->groups);
    }
    if (!b || !b->name || !b->text || !b->groups) {
        bats_bagfile_destroy(b);
        return bats_no_memory(err);
    }
    b->n_groups = b->groups_room = 1;
    b->text_n = b->text_room = 1;
    b->room = room;
    *bag = b;
    return 0;
}

static int check(const struct bats_bagfile *bag, const char *command, size_t n,
                 struct bats_error *err)
{
    bool is_builtin;
    bats_time duration;
    if (bag->n_tasks >= bag->room)
        return bats_refuse(err, "the bag is full: it has %lu tasks",
                           (unsigned long)bag->room);
    if (command[strspn(command, BLANKS "\n")] == '\0')
        return bats_refuse(err, "the command is empty");
    if (n > LONGEST)
        return bats_refuse(err,
                           "the command has %zu bytes, and a process can be "
                           "given %d: put it into a file",
                           n, LONGEST);
    return bats_builtin_parse(command, &is_builtin, &duration, err);
}

int bats_bagfile_add(struct bats_bagfile *bag, const char *command,
                     struct bats_error *err)
{
    size_t n = strlen(command);
    int code = check(bag, command, n, err);
    if (code)
        return code;
    if (!bats_grow(&bag->text, &bag->text_room, bag->text_n + n + 1, 1))
        return bats_no_memory(err);
    code = bats_bag_add_entry(bag, bag->text_n, bag->n_tasks + 1, err);
    if (code)
        return code;
    memcpy(bag->text + bag->text_n, command, n + 1);
    bag->n_tasks++;
    bag->text_n += n + 1;
    return 0;
}

void bats_bagfile_destroy(struct bats_bagfile *bag)
{
    if (!bag)
        return;
    bats_sweep_destroy(bag->sweep);
    if (bag->workflow)
        bats_workflow_release(bag->workflow);
    free(bag->workflow);
    bats_graph_release(&bag->own_graph);
    bats_sharing_release(&bag->sharing);
    free(bag->name);
    free(bag->text);
    free(bag->offset);
    free(bag->line);
    free(bag->groups);
    bats_names_release(&bag->classes);
    free(bag->own_category);
    free(bag->own_names);
    free(bag->own_traits);
    bats_text_release(&bag->per_engine[0]);
    bats_text_release(&bag->per_engine[1]);
    free(bag);
}
