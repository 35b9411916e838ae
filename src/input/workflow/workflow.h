/*
 * workflow: tasks that wait for others, as other tools write them.
 *
 * Layer: input. Used by the bag, to run them, and by the scenarios, to simulate
 * them. The format follows from the name of the file:
 *
 *   *.makeflow, *.mf, Makeflow   Makeflow, the classic language (makeflow.c)
 *   *.json, *.jx                 JX of Makeflow, if there are "rules" (jx.c);
 *                                else WfFormat 1.5 of WfCommons (wfformat.c)
 *   *.dax, *.xml                 DAX 2 and 3 of Pegasus (dax.c)
 *   Snakefile, ...               other languages, which are refused (load.c)
 *
 * A task has a name or a line for messages, perhaps a command and a runtime, a
 * category (what tasks of one kind have in common: the program, as a rule), the
 * files that it reads and those that it writes. In a Makeflow and in JX it waits
 * for those that write what it reads, elsewhere for those that are called its
 * parents.
 */
#ifndef BATS_WORKFLOW_H
#define BATS_WORKFLOW_H

#include <jansson.h>

#include "bats/graph.h"
#include "bats/need.h"
#include "bats/units.h"
#include "input/workflow/names.h"

enum bats_workflow_format {
    BATS_WORKFLOW_NONE, /* a bag */
    BATS_WORKFLOW_MAKEFLOW,
    BATS_WORKFLOW_JSON, /* WfFormat, or JX if it has "rules" */
    BATS_WORKFLOW_DAX,
    BATS_WORKFLOW_OTHER /* is not read */
};

struct bats_workflow_task {
    size_t command;     /* offset into `text`; BATS_NO_COMMAND */
    bats_time runtime;  /* on a machine of speed 1; -1: not known */
    uint32_t category;  /* number in `categories` */
    uint32_t line;      /* 0: not known */
    uint32_t part;      /* of a merged one: number of its workflow */
    struct bats_need need; /* 0 of something: it does not say */
};

#define BATS_NO_COMMAND SIZE_MAX

struct bats_workflow_use {
    uint32_t task, file;
    bool writes;
};

struct bats_workflow {
    const char *path;   /* borrowed */
    const char **parts; /* of a merged one: their paths, borrowed; else NULL */
    uint32_t n;
    struct bats_workflow_task *tasks;
    struct bats_names names; /* of tasks, if the format has them: else empty */
    struct bats_names files, categories;
    struct bats_workflow_use *uses; /* in the order of the tasks */
    size_t n_uses;
    struct bats_text text; /* commands, each with its NUL */
    struct bats_graph graph;
    uint16_t *category; /* by task, as in tasks, for the engine; NULL: there are
                           more categories than it takes */
    bool is_measured; /* needs are what tasks had when they were run, for
                       * simulations; not what they ask for */
    const char **category_names; /* likewise, by category; borrowed */

    /* While it is read: */
    size_t tasks_room, uses_room;
    struct bats_edge *edges;
    size_t n_edges, edges_room;
};

enum bats_workflow_format bats_workflow_format(const char *path);

/* Reads the file. BATS_EINPUT with "path:line: sentence", or "path: sentence"
 * naming the task: another format, what the format does not allow, a name that
 * is not known or is there twice, a file that two tasks write, tasks that wait
 * for each other, no tasks. BATS_ENOMEM. To be released in any case; `path`
 * must live as long. */
int bats_workflow_load(const char *path, struct bats_workflow *workflow,
                       struct bats_error *err);
int bats_workflow_load_as(enum bats_workflow_format format, const char *path,
                          struct bats_workflow *workflow,
                          struct bats_error *err);
void bats_workflow_release(struct bats_workflow *workflow);

/* All of `parts` as one workflow, whose tasks come in their order and have no
 * names. None waits for another one. BATS_EINPUT: one makes a file that another
 * one reads or makes; BATS_ENOMEM. To be released in any case; the paths must
 * live as long. */
int bats_workflow_merge(const char *name, const struct bats_workflow *parts,
                        uint32_t n_parts, struct bats_workflow *workflow,
                        struct bats_error *err);

/* "task 'mAdd_7'", "the rule on line 12" or, without lines, "rule 3". Returns
 * `text`. */
const char *bats_workflow_name(const struct bats_workflow *workflow,
                               uint32_t task, char *text, size_t size);

/* Finds the tasks that need not run: all that they write is there, no older
 * than what they read, and what they wait for need not run either. A task that
 * writes nothing always runs, and so does one that is not done, whatever its
 * files look like: `undone`, by task; may be NULL. *fresh: by task, 0 or 1; for
 * free(). BATS_EINPUT for files that are read and not there, and that no task
 * writes; BATS_ENOMEM. */
int bats_workflow_fresh(const struct bats_workflow *workflow,
                        const uint8_t *undone, uint8_t **fresh,
                        struct bats_error *err);

/* Removes what the task has written, except for files that it reads as well:
 * it was interrupted, and half a file would look like a whole one. BATS_ESYS.
 */
int bats_workflow_remove(const struct bats_workflow *workflow, uint32_t task,
                         struct bats_error *err);

/* The command of the task as its author wrote it. */
static inline const char *
bats_workflow_rule(const struct bats_workflow *workflow, uint32_t task)
{
    return workflow->text.bytes + workflow->tasks[task].command;
}

/* The files that the task writes, except for those that it reads as well, each
 * with its NUL, in `text` instead of what that held. Returns their bytes, or
 * BATS_ENOMEM. */
ptrdiff_t bats_workflow_outputs(const struct bats_workflow *workflow,
                                uint32_t task, struct bats_text *text);

/* The program that a command runs first, without its directory; "": none. */
void bats_workflow_program(const char *command, char *name, size_t size);

/* ---- for the readers of formats ---- */

int bats_makeflow_read(struct bats_workflow *workflow, struct bats_error *err);
int bats_wfformat_read(struct bats_workflow *workflow, struct bats_error *err);
int bats_jx_read(struct bats_workflow *workflow, const json_t *document,
                 struct bats_error *err);
int bats_dax_read(struct bats_workflow *workflow, struct bats_error *err);

/* Adds a task; `name` and `command` may be NULL. BATS_EINPUT: the name is there
 * already, or there are too many; BATS_ENOMEM. */
int bats_workflow_add(struct bats_workflow *workflow, const char *name,
                      const char *command, bats_time runtime,
                      const char *category, uint32_t line,
                      struct bats_error *err);

/* The task that was added last reads or writes the file. BATS_ENOMEM. */
int bats_workflow_use(struct bats_workflow *workflow, uint32_t task,
                      const char *file, bool writes, struct bats_error *err);

/* BATS_ENOMEM. */
int bats_workflow_edge(struct bats_workflow *workflow, uint32_t parent,
                       uint32_t child, struct bats_error *err);

/* A task that reads a file waits for the one that writes it. BATS_EINPUT: two
 * write it (other formats name parents, and their generators let several tasks
 * write one file); BATS_ENOMEM. */
int bats_workflow_connect(struct bats_workflow *workflow,
                          struct bats_error *err);

/* When all is read: lists the categories and makes the graph. */
int bats_workflow_finish(struct bats_workflow *workflow,
                         struct bats_error *err);

#endif
