/*
 * verbs: the table of all verbs, which also feeds the help and the man page.
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
    int min, max;         /* number of arguments */
    const char *missing;  /* message if an argument is missing */
    const char *purpose;  /* a phrase */
    const char *synopsis; /* for the help, like the text below it: */
    const char *more;
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

#endif
