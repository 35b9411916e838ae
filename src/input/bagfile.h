/*
 * bagfile: the bag of tasks as the user wrote it, one command per line.
 *
 * Layer: input. Used by cli and by the MPI master, which sends the commands
 * out. Blank lines and lines whose first non-blank character is '#' are
 * skipped; CRLF line ends and a missing last newline are accepted.
 *
 * disBatch's directives "#DISBATCH PREFIX text", "#DISBATCH SUFFIX text" and
 * "#DISBATCH REPEAT n [start s] [step t] [command]" are supported. After
 * "#DISBATCH BARRIER [CHECK]" tasks start when all tasks above have ended;
 * with CHECK, all must be done, or the tasks below are left out. "#DISBATCH
 * PERENGINE START command" and "... STOP command", above all tasks, run on
 * every node before its first task and after its last. Other directives are
 * refused. PREFIX and SUFFIX apply to the commands below them until they
 * change. A repeated command begins with "export DISBATCH_REPEAT_INDEX=k; ",
 * which needs a shell.
 *
 * "@sleep DURATION" is a built-in task. "@once COMMAND" is COMMAND, which must
 * never run twice at the same time. Any other "@word" is an error. "#BATS task
 * NAME [after NAME...]" names the command below it, or all repetitions of one:
 * it is started when all tasks of those names are done (dependencies.h).
 *
 * "#BATS workflow NAME [budget=AMOUNT] [deadline=DURATION] [begin=DURATION]"
 * begins a workflow, to which the tasks below belong (sharing.h). "#BATS
 * KEY=VALUE..." (or "#BATS KEY VALUE") applies to the tasks below until the
 * key occurs again ("#HQ --cpus N" and "#HQ --resource gpus/nvidia=N", as in
 * HyperQueue, set cores and gpus): the needs of each task, cores=N, memory=SIZE
 * and gpus=N; its runtime, time=DURATION; and class=NAME: tasks of one class
 * are alike ("-": none). Parameters of a sweep with these names say the same of
 * their task. A file in the format of a workflow (workflow/workflow.h, by its
 * name) is a bag, too, if all of its tasks have commands.
 *
 * Task i of the bag is the i-th command, counted from 0; people see i + 1.
 */
#ifndef BATS_BAGFILE_H
#define BATS_BAGFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/graph.h"
#include "bats/need.h"
#include "bats/units.h"
#include "input/sharing.h"
#include "input/workflow/names.h"
#include "util/text.h"

#define BATS_CLASS 100 /* longest name of a class, bytes */
#define BATS_NO_CLASS "-"

struct bats_sweep;    /* sweep/sweep.h */
struct bats_workflow; /* workflow/workflow.h */

/* Filled in by bats_bagfile_load and similar functions; read-only for
 * others. */
struct bats_bagfile {
    char *name;               /* name of the file for messages ("-": "standard
                       * input") */
    uint32_t n_tasks;         /* >= 1 */
    struct bats_sweep *sweep; /* a sweep that the bag was made of, or
                                     * NULL */
    struct bats_workflow *workflow; /* a workflow that the bag was made of, or
                                     * NULL */
    const struct bats_graph *graph; /* NULL: no task waits for another */
    const uint16_t *category;       /* by task, < n_categories; NULL: there are
                                     * no categories, or too many */
    uint32_t n_categories;
    const char *const *category_names; /* by category; tasks of no category
                                        * have the one named BATS_NO_CLASS */
    struct bats_sharing sharing;       /* the bag's workflows; n = 0: none */
    uint32_t dangling; /* first line whose command ends with an unquoted
                        * backslash (looks like a continuation); 0: none */
    bool is_disbatch;  /* has #DISBATCH lines: tasks get DISBATCH_*
                        * variables */
    struct bats_text
        per_engine[2]; /* commands of PERENGINE START and STOP, each with its
                        * NUL */

    uint32_t room; /* most tasks of an open bag; 0: not open */

    /* Private to bag/, see bag/state.h: */
    size_t text_n, text_room; /* open bag: bytes of the text */
    char *text;               /* the file, every line ended by a NUL */
    size_t *offset;           /* by entry: offset of its command in the text */
    uint32_t *line;           /* by entry */
    size_t n_entries, entries_room;
    struct bats_bag_group *groups;
    size_t n_groups, groups_room;
    struct bats_graph own_graph;        /* of dependencies in the text */
    struct bats_names classes;          /* number 0 is BATS_NO_CLASS */
    uint16_t *own_category;             /* by task */
    const char **own_names;             /* by class */
    struct bats_bag_traits *own_traits; /* by task of a sweep; NULL: it has
                                         * none */
};

/*
 * Reads the whole file at `path` ("-": standard input). A file whose name ends
 * with .pln is a plan file, and a script (#!) with lines "#BATS parameter ..."
 * is a sweep of itself: see sweep/planfile.h for both.
 * BATS_EINPUT with "path:line: sentence" for a NUL byte, an unknown directive,
 * a malformed @sleep, more than UINT32_MAX - 1 tasks; "path: sentence" for an
 * unreadable file, a directory, or a bag without a task. The caller destroys
 * the result.
 */
int bats_bagfile_load(const char *path, struct bats_bagfile **bag,
                      struct bats_error *err);
void bats_bagfile_destroy(struct bats_bagfile *bag);

/*
 * Loads several workflows as one bag; each has its name and its budget
 * (bats/purse.h). Words are as in {"a.makeflow", "budget=6", "deadline=2h",
 * "b.json"}, the first is a file. They must live as long as the bag.
 * BATS_EINPUT, too, for a word that is neither a file nor an option, a file
 * named twice, or a file that two workflows make.
 */
int bats_bagfile_load_several(const char *const *words, size_t n,
                              struct bats_bagfile **bag,
                              struct bats_error *err);

/* Makes a bag of the tasks of `sweep`, which it takes over even on failure.
 * Its name is "sweep"; its tasks have no lines. BATS_EINPUT: a malformed
 * built-in task; BATS_ENOMEM. */
int bats_bagfile_of_sweep(struct bats_sweep *sweep, struct bats_bagfile **bag,
                          struct bats_error *err);

/* Makes a bag without tasks, with room for `room`. */
int bats_bagfile_open(const char *name, uint32_t room,
                      struct bats_bagfile **bag, struct bats_error *err);

/* Adds a task to an open bag. BATS_EINPUT: the bag is full, or the command is
 * empty, too long, or a malformed built-in one; nothing was added. */
int bats_bagfile_add(struct bats_bagfile *bag, const char *command,
                     struct bats_error *err);

/* The largest number of tasks that the bag can have. */
static inline uint32_t bats_bagfile_room(const struct bats_bagfile *bag)
{
    return bag->room > bag->n_tasks ? bag->room : bag->n_tasks;
}

/* Sets `text` to the command of task i, with prefix and suffix; {%} becomes the
 * slot's number `slot` >= 1, counted over all machines. Returns its length, or
 * BATS_ENOMEM. */
ptrdiff_t bats_bagfile_command_for(const struct bats_bagfile *bag, uint32_t i,
                                   uint32_t slot, struct bats_text *text);

/* The same as people see it: {%} stays. */
static inline ptrdiff_t bats_bagfile_command(const struct bats_bagfile *bag,
                                             uint32_t i,
                                             struct bats_text *text)
{
    return bats_bagfile_command_for(bag, i, 0, text);
}

/* Sets `text` to the environment variables of task i, "NAME=value", each with
 * its NUL. Result as above. */
ptrdiff_t bats_bagfile_variables(const struct bats_bagfile *bag, uint32_t i,
                                 struct bats_text *text);

/* The line of task i in the file, counted from 1; 0: none. */
uint32_t bats_bagfile_line(const struct bats_bagfile *bag, uint32_t i);

/* Sets the members of *need that the file specifies for task i, and no
 * others. */
void bats_bagfile_need(const struct bats_bagfile *bag, uint32_t i,
                       struct bats_need *need);

/* The maximum of each resource that the file specifies for any task; 0:
 * unspecified. */
struct bats_need bats_bagfile_most(const struct bats_bagfile *bag);

/* The runtime of task i on a machine of speed 1, from the file; 0:
 * unspecified. */
bats_time bats_bagfile_time(const struct bats_bagfile *bag, uint32_t i);

/* True if task i was marked with @once. */
bool bats_bagfile_is_once(const struct bats_bagfile *bag, uint32_t i);

/* FNV-1a, 64 bits, of all commands, each with its NUL. BATS_ENOMEM. */
int bats_bagfile_hash(const struct bats_bagfile *bag, uint64_t *hash,
                      struct bats_error *err);

/* Parses `command`. "@sleep DURATION": *is_builtin is true and *duration is
 * set. Another command that begins with '@': BATS_EINPUT. Any other command:
 * *is_builtin is false. */
int bats_builtin_parse(const char *command, bool *is_builtin,
                       bats_time *duration, struct bats_error *err);

#endif
