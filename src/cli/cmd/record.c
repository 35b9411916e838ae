/* record: the verb record. Recovers the readable part of a damaged record, and
 * verifies the decisions in a record. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/look.h"
#include "cli/options.h"
#include "record/read/recover.h"
#include "record/verify/replay.h"
#include "report/words.h"

static void print_recovery(const char *to, const struct bats_recovery *r)
{
    char tasks[96], attempts[96], holes[96];

    bats_words_line(
        stdout, "%s: %s, %s", to,
        bats_words_count(tasks, sizeof tasks, (uint64_t)r->tasks, "task"),
        bats_words_count(attempts, sizeof attempts, (uint64_t)r->attempts,
                         "execution"));
    if (r->is_whole)
        puts("The record is whole: nothing is lost.");
    else if (r->holes == 0)
        puts("The record is damaged, but every row could be read.");
    else
        bats_words_line(
            stdout, "Rows of these tables could not be read, in %s: %s.",
            bats_words_count(holes, sizeof holes, (uint64_t)r->holes, "place"),
            r->lost);
}

static int recover(const struct bats_settings *set, const char *path,
                   struct bats_error *err)
{
    struct bats_recovery recovery;
    char to[4096 + 16];

    snprintf(to, sizeof to, "%s.recovered", path);
    if (set->words[2] != NULL)
        snprintf(to, sizeof to, "%s", set->words[2]);
    int rc = bats_record_recover(path, to, &recovery, err);
    if (rc == 0)
        print_recovery(to, &recovery);
    return rc;
}

/* True if the engine decides the same again. */
static bool print_replay(int64_t session, const struct bats_replay *r)
{
    char events[96], commands[96], charges[96], decisions[96];

    printf(
        "session %" PRId64 ": %s, %s, %s, %s: ", session,
        bats_words_count(events, sizeof events, (uint64_t)r->events, "event"),
        bats_words_count(commands, sizeof commands, (uint64_t)r->commands,
                         "command"),
        bats_words_count(charges, sizeof charges, (uint64_t)r->charges,
                         "charge"),
        bats_words_count(decisions, sizeof decisions, (uint64_t)r->decisions,
                         "decision"));
    if (!r->differs) {
        puts("the engine decides the same again");
        return true;
    }
    puts("then it differs:");
    bats_words_line(stdout, "  %s", r->difference);
    if (strcmp(r->version, BATS_VERSION) != 0)
        bats_words_line(stdout,
                        "  (recorded by version %s, this is " BATS_VERSION ")",
                        r->version);
    return false;
}

/* Returns 1 if a session differs. */
static int verify(const char *path, struct bats_error *err)
{
    struct bats_view *view;
    struct bats_view_status status;
    struct bats_replay replay;
    bool same = true;

    int rc = bats_view_open(path, &view, err);
    if (rc < 0)
        return rc;
    rc = bats_view_status(view, &status, err);
    for (int64_t i = 1; rc == 0 && i <= status.sessions; i++) {
        rc = bats_replay_session(view, i, &replay, err);
        if (rc == 0)
            same = print_replay(i, &replay) && same;
    }
    bats_view_close(view);
    return rc < 0 ? rc : !same;
}

int cmd_record(int argc, char **argv)
{
    struct bats_settings set;
    struct bats_error err;
    char path[4096];

    int rc = bats_options_parse(BATS_VERB_RECORD, argc, argv, &set, &err);
    const char *what = set.words[0];
    if (rc == 0 && !set.help && strcmp(what, "recover") != 0 &&
        strcmp(what, "verify") != 0)
        rc = bats_error_set(&err, BATS_EINPUT,
                            "unknown 'record %s'; expected 'record recover' "
                            "or 'record verify'",
                            what);
    if (rc == 0 && !set.help && strcmp(what, "verify") == 0 &&
        set.words[2] != NULL)
        rc = bats_error_set(&err, BATS_EINPUT, "'%s' is one argument too many",
                            set.words[2]);
    if (rc != 0)
        return bats_options_complain(BATS_VERB_RECORD, &err);
    if (set.help) {
        bats_help_verb(stdout, BATS_VERB_RECORD);
        return BATS_EXIT_OK;
    }
    bats_look_find(set.words[1], path, sizeof path);
    rc = strcmp(what, "verify") == 0 ? verify(path, &err)
                                     : recover(&set, path, &err);
    if (rc < 0)
        return bats_complain(&err);
    return rc > 0 ? BATS_EXIT_FAILED : BATS_EXIT_OK;
}
