#include "cli/verbs.h"

#include <string.h>

#include "util/similar.h"
#include "util/text.h"

/* clang-format off */
#define ROW(verb, name, min, max, missing)                                    \
    [BATS_VERB_##verb] = {name, min, max, missing}
/* clang-format on */

#define NO_BAG "the bag of tasks is missing"
#define NO_RECORD "the record of the run is missing"

const struct bats_verb_row bats_verbs[BATS_VERBS] = {
    ROW(RUN, "run", 1, 1, NO_BAG),
    ROW(ALLOC, "alloc", 1, 1, NO_BAG),
    ROW(SAMPLE, "sample", 1, 1, NO_BAG),
    ROW(PLAN, "plan", 0, 1, ""),
    ROW(SIMULATE, "simulate", 1, 1, "the scenario is missing"),
    ROW(FRONTIER, "frontier", 1, 1, NO_RECORD),
    ROW(CLUSTERS, "clusters", 0, 0, ""),
    ROW(OUTPUT, "output", 1, 1,
        "the run is missing: its bag, or the directory with its output"),
    ROW(WORKER, "worker", 0, 0, ""),
    ROW(STATUS, "status", 1, 1, NO_RECORD),
    ROW(TOP, "top", 1, 1, NO_RECORD),
    ROW(REPORT, "report", 1, 1, NO_RECORD),
    ROW(EXPORT, "export", 1, 1, NO_RECORD),
    ROW(LOG, "log", 1, 1, NO_RECORD),
    ROW(TASKS, "tasks", 1, 1, NO_RECORD),
    ROW(WHY, "why", 1, 3, NO_RECORD),
    ROW(HISTORY, "history", 0, 2, ""),
    ROW(RECORD, "record", 2, 3,
        "record needs 'verify' or 'recover', and the record of a run"),
};

bool bats_verb_runs(enum bats_verb verb)
{
    return verb == BATS_VERB_RUN || verb == BATS_VERB_SAMPLE;
}

bool bats_verb_find(const char *word, enum bats_verb *verb)
{
    for (int i = 0; i < BATS_VERBS; i++) {
        if (strcmp(word, bats_verbs[i].name) == 0) {
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
        bats_similar_try(&similar, bats_verbs[i].name);
    if (similar.name != NULL)
        bats_append(err->text, sizeof err->text,
                    "; did you mean 'bats-mpi %s'?", similar.name);
}

int bats_verb_words(enum bats_verb verb, int n, char **words,
                    struct bats_error *err)
{
    if (n < bats_verbs[verb].min && verb != BATS_VERB_RUN)
        return bats_refuse(err,
                           "%s (a bag called '%s' is run by the name ./%s)",
                           bats_verbs[verb].missing, bats_verbs[verb].name,
                           bats_verbs[verb].name);
    if (n < bats_verbs[verb].min)
        return bats_refuse(err, "%s", bats_verbs[verb].missing);
    if (n > bats_verbs[verb].max && verb == BATS_VERB_RUN) {
        bats_refuse(err, "'%s' is one argument too many: the bag is '%s'",
                    words[bats_verbs[verb].max], words[0]);
        bats_verb_suggest(words[0], err);
        return BATS_EINPUT;
    }
    if (n > bats_verbs[verb].max)
        return bats_refuse(err, "'%s' is one argument too many",
                           words[bats_verbs[verb].max]);
    return 0;
}
