/*
 * workflow: tasks that wait for others, as other tools write them.
 *
 * Layer: input. Used by the bag, to run them, and by the scenarios, to
 * simulate them. The name of the file determines the format:
 *
 *   *.makeflow, *.mf, Makeflow   Makeflow, the classic language (makeflow.c)
 *   *.json                       WfFormat 1.5 of WfCommons (json.c)
 *   Snakefile, ...               other languages, which are refused
 *
 * A task has a name or a line for messages, perhaps a command and a runtime, a
 * category (of similar tasks: usually the program), the files that it reads
 * and those that it writes. In a Makeflow a task waits for the tasks that write
 * what it reads, in WfFormat for its parents.
 */
#ifndef BATS_WORKFLOW_H
#define BATS_WORKFLOW_H

#include "bats/graph.h"
#include "bats/need.h"
#include "bats/units.h"
#include "input/dependencies.h"
#include "input/workflow/names.h"

enum bats_workflow_format {
    BATS_WORKFLOW_NONE, /* a bag */
    BATS_WORKFLOW_MAKEFLOW,
    BATS_WORKFLOW_JSON, /* WfFormat */
    BATS_WORKFLOW_OTHER /* a language that is not read */
};

struct bats_workflow_task {
    size_t command;    /* offset into `text`, or BATS_NO_COMMAND */
    bats_time runtime; /* on a machine of speed 1; -1: unknown */
    uint32_t category; /* number in `categories` */
    size_t first_use;  /* in `uses`; the next task's uses follow */
    uint32_t line;     /* 0: unknown */
    uint32_t part;     /* in a merged workflow: number of its own workflow */
    struct bats_need need; /* member 0: unspecified */
};

#define BATS_NO_COMMAND SIZE_MAX

struct bats_workflow_use {
    uint32_t task, file;
    bool writes;
};

struct bats_workflow {
    const char *path;   /* borrowed */
    const char **parts; /* of a merged workflow: the paths of its parts,
                         * borrowed; else NULL */
    uint32_t n;
    struct bats_workflow_task *tasks;
    struct bats_names names; /* names of tasks if the format has them; else
                              * empty */
    struct bats_names files, categories;
    struct bats_workflow_use *uses; /* in the order of the tasks */
    size_t n_uses;
    struct bats_text text; /* commands, each with its NUL; `failed`: memory
                            * was short */
    struct bats_graph graph;
    uint16_t *category; /* by task, as in tasks, for the engine; NULL: more
                         * categories than it takes */
    bool is_measured;   /* needs are measured, for simulations, and not
                       * requested */
    const char **category_names; /* by category, for the engine; borrowed */

    /* Used while reading: */
    size_t tasks_room, uses_room;
    struct bats_edges edges;
};

enum bats_workflow_format bats_workflow_format(const char *path);

/* Reads the file. BATS_EINPUT with "path:line: sentence", or "path: sentence"
 * naming the task: another format, a violation of the format, an unknown or
 * duplicate name, a file that two tasks write, tasks that wait for each other,
 * no tasks. BATS_ENOMEM. The caller releases *workflow in any case; `path`
 * must live as long. */
int bats_workflow_load(const char *path, struct bats_workflow *workflow,
                       struct bats_error *err);
int bats_workflow_load_as(enum bats_workflow_format format, const char *path,
                          struct bats_workflow *workflow,
                          struct bats_error *err);
void bats_workflow_release(struct bats_workflow *workflow);

/* All of `parts` as one workflow. Their tasks come in order and have no names;
 * parts do not wait for each other. BATS_EINPUT: a part makes a file that
 * another part reads or makes; BATS_ENOMEM. The caller releases *workflow in
 * any case; the paths must live as long. */
int bats_workflow_merge(const char *name, const struct bats_workflow *parts,
                        uint32_t n_parts, struct bats_workflow *workflow,
                        struct bats_error *err);

/* The task's name for messages: "task 'mAdd_7'", "the rule on line 12" or,
 * without lines, "rule 3". Returns `text`. */
const char *bats_workflow_name(const struct bats_workflow *workflow,
                               uint32_t task, char *text, size_t size);

/* Finds the tasks that need not run: all their outputs exist and are no older
 * than their inputs, and no task that they wait for has to run. A task without
 * outputs always runs, and so does a task in `undone` (by task; may be NULL),
 * whatever its files look like. *fresh: by task, 0 or 1; for free().
 * BATS_EINPUT for an input that neither exists nor is written by a task;
 * BATS_ENOMEM. */
int bats_workflow_fresh(const struct bats_workflow *workflow,
                        const uint8_t *undone, uint8_t **fresh,
                        struct bats_error *err);

/* Removes the files that an interrupted task has written, except those that it
 * reads, too: half a file would look complete. BATS_ESYS. */
int bats_workflow_remove(const struct bats_workflow *workflow, uint32_t task,
                         struct bats_error *err);

/* The index behind the last use of the task. */
static inline size_t
bats_workflow_end_of_uses(const struct bats_workflow *workflow, uint32_t task)
{
    return task + 1 < workflow->n ? workflow->tasks[task + 1].first_use
                                  : workflow->n_uses;
}

/* The command of the task as its author wrote it. */
static inline const char *
bats_workflow_rule(const struct bats_workflow *workflow, uint32_t task)
{
    return workflow->text.bytes + workflow->tasks[task].command;
}

/* Sets `text` to the files that the task writes, except those that it reads,
 * too, each with its NUL. Returns their bytes, or BATS_ENOMEM. */
ptrdiff_t bats_workflow_outputs(const struct bats_workflow *workflow,
                                uint32_t task, struct bats_text *text);

/* The program that a command runs first, without its directory; "": none. */
void bats_workflow_program(const char *command, char *name, size_t size);

/* ---- for the readers of formats ---- */

int bats_makeflow_read(struct bats_workflow *workflow, struct bats_error *err);
int bats_json_read(struct bats_workflow *workflow, struct bats_error *err);

/* Adds a task; `name` and `command` may be NULL. BATS_EINPUT: a duplicate
 * name, or too many tasks; BATS_ENOMEM. */
int bats_workflow_add(struct bats_workflow *workflow, const char *name,
                      const char *command, bats_time runtime,
                      const char *category, uint32_t line,
                      struct bats_error *err);

/* Notes that the task added last reads or writes the file. A lack of memory is
 * found at the end, as in `edges`. */
void bats_workflow_use(struct bats_workflow *workflow, const char *file,
                       bool writes);

/* Makes each task that reads a file wait for the task that writes it.
 * BATS_EINPUT: two tasks write it (other formats name parents, and their
 * generators let several tasks write one file); BATS_ENOMEM. */
int bats_workflow_connect(struct bats_workflow *workflow,
                          struct bats_error *err);

#endif
