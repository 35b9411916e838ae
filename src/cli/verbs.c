#include "cli/verbs.h"

#include <stdio.h>
#include <string.h>

#include "util/similar.h"
#include "util/text.h"

static const struct {
    const char *name;
    const char *purpose;
    const char *missing; /* the message if an argument is missing */
    int min, max;        /* of arguments */
} verbs[BATS_VERBS] = {
    [BATS_VERB_RUN] = {"run", "run a bag of tasks within a budget",
                       "the bag of tasks is missing", 1, 1},
    [BATS_VERB_ALLOC] = {"alloc",
                         "run a bag on machines that are bought as jobs of "
                         "their own",
                         "the bag of tasks is missing", 1, 1},
    [BATS_VERB_SAMPLE] = {"sample",
                          "run a few tasks and show what the bag will cost",
                          "the bag of tasks is missing", 1, 1},
    [BATS_VERB_PLAN] = {"plan",
                        "list the schedules for a bag, without running "
                        "anything",
                        "", 0, 1},
    [BATS_VERB_SIMULATE] = {"simulate",
                            "predict the cost and the end of a bag, for "
                            "many seeds",
                            "the scenario is missing", 1, 1},
    [BATS_VERB_FRONTIER] = {"frontier",
                            "compare strategies of replication on machines "
                            "that may not answer",
                            "the scenario, record or file of pools is missing",
                            1, 1},
    [BATS_VERB_CLUSTERS] = {"clusters",
                            "show the machines, their charges, and the "
                            "source of each figure",
                            "", 0, 0},
    [BATS_VERB_OUTPUT] = {"output",
                          "print what the tasks of a run have written",
                          "the run is missing: its bag, or the directory "
                          "with its output",
                          1, 1},
    [BATS_VERB_WORKER] = {"worker",
                          "run tasks for a run that was started elsewhere", "",
                          0, 0},
    [BATS_VERB_STATUS] = {"status",
                          "show how far a run is, and what it has "
                          "cost",
                          "the record of the run is missing", 1, 1},
    [BATS_VERB_TOP] = {"top", "watch a run that goes on",
                       "the record of the run is missing", 1, 1},
    [BATS_VERB_REPORT] = {"report", "write a run as a page for the browser",
                          "the record of the run is missing", 1, 1},
    [BATS_VERB_EXPORT] = {"export",
                          "write what a run has measured for other tools",
                          "the record of the run is missing", 1, 1},
    [BATS_VERB_LOG] = {"log", "show what happened in a run, in order",
                       "the record of the run is missing", 1, 1},
    [BATS_VERB_TASKS] = {"tasks",
                         "list the tasks of a run, with their "
                         "states",
                         "the record of the run is missing", 1, 1},
    [BATS_VERB_WHY] = {"why",
                       "explain why a machine is parked or a task "
                       "waits",
                       "the record of the run is missing", 1, 3},
    [BATS_VERB_HISTORY] = {"history",
                           "show what tasks took in earlier bags, forget it, "
                           "or add to it",
                           "", 0, 2},
    [BATS_VERB_RECORD] = {"record",
                          "verify that a record agrees with itself, or recover "
                          "a damaged one",
                          "record needs 'verify' or 'recover', and the record "
                          "of a run",
                          2, 3},
};

const char *bats_verb_name(enum bats_verb verb)
{
    return verbs[verb].name;
}

const char *bats_verb_purpose(enum bats_verb verb)
{
    return verbs[verb].purpose;
}

bool bats_verb_runs(enum bats_verb verb)
{
    return verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE;
}

bool bats_verb_find(const char *word, enum bats_verb *verb)
{
    for (int i = 0; i < BATS_VERBS; i++) {
        if (strcmp(word, verbs[i].name) == 0) {
            *verb = (enum bats_verb)i;
            return true;
        }
    }
    return false;
}

void bats_verb_suggest(const char *word, struct bats_error *err)
{
    struct bats_similar similar = bats_similar_to(word, strlen(word));
    for (int i = 0; i < BATS_VERBS; i++)
        bats_similar_try(&similar, verbs[i].name);
    if (similar.name != NULL)
        bats_append(err->text, sizeof err->text,
                    "; did you mean 'bats-mpi %s'?", similar.name);
}

int bats_verb_check(enum bats_verb verb, int n, char **words,
                    struct bats_error *err)
{
    if (n < verbs[verb].min && verb != BATS_VERB_RUN)
        return bats_refuse(
            err, "%s (a bag called '%s' is run by the name ./%s)",
            verbs[verb].missing, verbs[verb].name, verbs[verb].name);
    if (n < verbs[verb].min)
        return bats_refuse(err, "%s", verbs[verb].missing);
    if (n > verbs[verb].max && verb == BATS_VERB_RUN) {
        bats_refuse(err, "'%s' is one argument too many: the bag is '%s'",
                    words[verbs[verb].max], words[0]);
        bats_verb_suggest(words[0], err);
        return BATS_EINPUT;
    }
    if (n > verbs[verb].max)
        return bats_refuse(err, "'%s' is one argument too many",
                           words[verbs[verb].max]);
    return 0;
}
