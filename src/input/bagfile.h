/*
 * bagfile: the bag of tasks as the user wrote it, one command per line.
 *
 * Layer: input. Used by cli and by the MPI master, which sends the commands
 * out. Blank lines and lines whose first non-blank character is '#' are
 * skipped; CRLF line ends and a missing last newline are accepted. disBatch's
 * "#DISBATCH PREFIX text", "#DISBATCH SUFFIX text" and "#DISBATCH REPEAT n
 * [start s] [step t] [command]" are honoured, and "#DISBATCH BARRIER [CHECK]":
 * tasks below it start when all above it have ended, or, with CHECK, are done;
 * otherwise they are left out. "#DISBATCH PERENGINE START command" and
 * "... STOP command", above all tasks, are what is done on every node before
 * its first task and after its last. Other directives are refused. PREFIX and
 * SUFFIX apply to the commands below them until they change. A repeated
 * command begins with "export DISBATCH_REPEAT_INDEX=k; ", which needs a shell.
 * "@sleep DURATION" is a built-in task. "@once COMMAND" is COMMAND, which must
 * never run twice at the same time. Any other "@word" is an error. "#BATS task
 * NAME [after NAME...]" names the command below it, or all repetitions of one:
 * it is started when all tasks of those names are done (dependencies.h).
 *
 * "#BATS workflow NAME [budget=AMOUNT] [deadline=DURATION] [begin=DURATION]"
 * begins a workflow, to which the tasks below belong (sharing.h). "#BATS memory
 * SIZE" says how much memory each of the tasks below asks for. A file in the
 * format of a workflow (workflow/workflow.h, by its name) is a bag, too, if all
 * of its tasks have commands.
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
#include "bats/purse.h"
#include "bats/units.h"

struct bats_bagfile; /* opaque */
struct bats_sweep;   /* sweep/sweep.h */
struct bats_workflow; /* workflow/workflow.h */

/*
 * A file whose name ends with .pln is a plan file, and a script (#!) with lines
 * "#BATS parameter ..." is a sweep of itself: both are as in
 * sweep/planfile.h.
 *
 * Reads the whole file at `path` ("-": standard input). BATS_EINPUT with
 * "path:line: sentence" for a NUL byte, an unknown directive, a malformed
 * @sleep, more than UINT32_MAX - 1 tasks; "path: sentence" for an unreadable
 * file, a directory, or a bag without a task. The caller destroys the result.
 */
int bats_bagfile_load(const char *path, struct bats_bagfile **bag,
                      struct bats_error *err);
void bats_bagfile_destroy(struct bats_bagfile *bag);

/*
 * Several workflows as one bag, each of which has its name and its budget
 * (bats/purse.h): words as in {"a.makeflow", "budget=6", "deadline=2h",
 * "b.dax"}, of which the first is a file. They must live as long as the bag.
 * BATS_EINPUT, too, for a word that is neither, a file that is there twice, or
 * one that two of them make.
 */
int bats_bagfile_load_several(const char *const *words, size_t n,
                              struct bats_bagfile **bag,
                              struct bats_error *err);

/* A bag of the tasks of `sweep`, which now belongs to it, also if this fails.
 * Its name is "sweep"; its tasks are on no line. BATS_EINPUT: a malformed
 * built-in task; BATS_ENOMEM. */
int bats_bagfile_of_sweep(struct bats_sweep *sweep, struct bats_bagfile **bag,
                          struct bats_error *err);

/* The sweep that the bag was made of; NULL: it is a file. */
const struct bats_sweep *bats_bagfile_sweep(const struct bats_bagfile *bag);

/* Number of tasks, >= 1. */
uint32_t bats_bagfile_count(const struct bats_bagfile *bag);

/* Name of the file, for messages ("-" is "standard input"). */
const char *bats_bagfile_name(const struct bats_bagfile *bag);

/*
 * Writes the command of task i with prefix and suffix, NUL-terminated, into
 * *text (a growing buffer of the caller: *text may be NULL with *size 0 and is
 * reallocated as needed). Returns its length, or a negative errcode.
 */
ptrdiff_t bats_bagfile_command(const struct bats_bagfile *bag, uint32_t i,
                               char **text, size_t *size);

/* The same for slot `slot` >= 1 of all machines, whose number {%} gets. */
ptrdiff_t bats_bagfile_command_for(const struct bats_bagfile *bag, uint32_t i,
                                   uint32_t slot, char **text, size_t *size);

/* Writes the variables that task i gets in its environment, "NAME=value", each
 * with its NUL, into *text as bats_bagfile_command does; returns their
 * length. */
ptrdiff_t bats_bagfile_variables(const struct bats_bagfile *bag, uint32_t i,
                                 char **text, size_t *size);

/* Line of the file with task i, counted from 1; 0: it is on none. */
uint32_t bats_bagfile_line(const struct bats_bagfile *bag, uint32_t i);

/* The memory that task i asks for in the file; 0: it does not say. */
int64_t bats_bagfile_memory_kib(const struct bats_bagfile *bag, uint32_t i);

/* The dependencies of the bag's tasks; NULL: there are none. */
const struct bats_graph *bats_bagfile_graph(const struct bats_bagfile *bag);

/* By task, of *n categories; NULL and 0: it has none, or too many. */
const uint16_t *bats_bagfile_categories(const struct bats_bagfile *bag,
                                        uint32_t *n);
/* Their names, by category; NULL: there are none. */
const char *const *bats_bagfile_category_names(const struct bats_bagfile *bag);

/* Workflows of "#BATS workflow" lines, or of several files; *of: which one, by
 * task. NULL and 0: there are none. */
const struct bats_purse *bats_bagfile_purses(const struct bats_bagfile *bag,
                                             const uint16_t **of, uint32_t *n);
/* Notes what earlier sessions have charged this one of them. */
void bats_bagfile_set_charged(struct bats_bagfile *bag, uint32_t workflow,
                              bats_money charged);

/* If the bag is a workflow of another format; else NULL. */
const struct bats_workflow *
bats_bagfile_workflow(const struct bats_bagfile *bag);

/* The first line whose command ends with an unquoted backslash, as if it
 * continued in the next line; 0: none. */
uint32_t bats_bagfile_dangling(const struct bats_bagfile *bag);

/* Task i was marked with @once. */
bool bats_bagfile_is_once(const struct bats_bagfile *bag, uint32_t i);

/* FNV-1a, 64 bits, of all commands, each with its NUL. BATS_ENOMEM. */
int bats_bagfile_hash(const struct bats_bagfile *bag, uint64_t *hash,
                      struct bats_error *err);

/* The commands of PERENGINE START and of STOP, each with its NUL, *n bytes in
 * all. */
const char *bats_bagfile_per_engine(const struct bats_bagfile *bag, bool stop,
                                    size_t *n);

/* The file used #DISBATCH lines, so tasks get the DISBATCH_* variables. */
bool bats_bagfile_is_disbatch(const struct bats_bagfile *bag);

/* Parses `command`. "@sleep DURATION": *is_builtin is true and *duration is
 * set. Another command that begins with '@': BATS_EINPUT. Any other command:
 * *is_builtin is false. */
int bats_builtin_parse(const char *command, bool *is_builtin,
                       bats_time *duration, struct bats_error *err);

#endif
