/*
 * verbs: the table of all verbs, which also feeds the help and the man page
 * (verbs.c), and carrying them out (frame.c).
 *
 * Layer: cli. Used by main, options and help.
 */
#ifndef BATS_VERBS_H
#define BATS_VERBS_H

#include <stdbool.h>

#include "bats/error.h"

enum bats_verb {
    BATS_VERB_RUN,
    BATS_VERB_ALLOC,
    BATS_VERB_SAMPLE,
    BATS_VERB_PLAN,
    BATS_VERB_SIMULATE,
    BATS_VERB_CLUSTERS,
    BATS_VERB_OUTPUT,
    BATS_VERB_WORKER,
    BATS_VERB_STATUS,
    BATS_VERB_TOP,
    BATS_VERB_REPORT,
    BATS_VERB_EXPORT,
    BATS_VERB_LOG,
    BATS_VERB_TASKS,
    BATS_VERB_WHY,
    BATS_VERB_RECORD,
    BATS_VERB_HISTORY,
    BATS_VERB_FRONTIER,
    BATS_VERBS
};

#define BATS_WORDS_MAX 3 /* most arguments of a verb */

struct bats_verb_row {
    const char *name;
    int min, max;        /* number of arguments */
    const char *missing; /* message if an argument is missing */
};

extern const struct bats_verb_row bats_verbs[BATS_VERBS];

/* True if the verb runs tasks on the ranks it was started on: run, sample. */
bool bats_verb_runs(enum bats_verb verb);

/* True if `word` is a verb; sets *verb. */
bool bats_verb_find(const char *word, enum bats_verb *verb);

/* Appends to the sentence of `err` the verb that `word` resembles, if any: a
 * mistyped verb is taken for a bag. */
void bats_verb_suggest(const char *word, struct bats_error *err);

/* BATS_EINPUT with one sentence if `verb` does not take `n` arguments. */
int bats_verb_words(enum bats_verb verb, int n, char **words,
                    struct bats_error *err);

/* ---- carrying out ---- */

struct bats_look;
struct bats_settings;

/*
 * The parts of a verb, called once its options are read; it has one of start,
 * act and show. `start` starts the ranks itself, and reports *usage, the
 * mistake in the options (code 0: none); it returns the exit code. `check`
 * finds mistakes in the options, and may complete them. `act` does the work;
 * `show` writes the answer from the record that the first argument names; both
 * return the exit code, and end the program at an error (cli.h).
 */
typedef int bats_verb_start(enum bats_verb verb, struct bats_settings *set,
                            int argc, char **argv, struct bats_error *usage);
typedef int bats_verb_check(struct bats_settings *set, struct bats_error *err);
typedef int bats_verb_act(const struct bats_settings *set);
typedef int bats_verb_show(struct bats_look *look);

bats_verb_start cmd_run, cmd_clusters, cmd_worker;
bats_verb_check cmd_history_check, cmd_output_check, cmd_plan_check,
    cmd_record_check;
bats_verb_act cmd_history, cmd_output, cmd_plan, cmd_record, cmd_simulate,
    cmd_top;
bats_verb_show cmd_export, cmd_frontier, cmd_log, cmd_report, cmd_sizes,
    cmd_status, cmd_tasks, cmd_why;

/* Reads the options, answers --help and carries the verb out. argv[0] is
 * ignored. Reports errors, also those of standard output; returns the exit
 * code. */
int bats_verb_carry_out(enum bats_verb verb, int argc, char **argv);

#endif
