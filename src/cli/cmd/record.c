/* record: the verb record. Recovers the readable part of a damaged record, and
 * verifies that a record agrees with itself. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "record/read/recover.h"
#include "record/verify/verify.h"
#include "report/words.h"

static void print_recovery(const char *to, const struct bats_recovery *r)
{
    bats_words_line(stdout, "%s: %s, %s", to,
                    bats_words_count((uint64_t)r->tasks, "task").s,
                    bats_words_count((uint64_t)r->attempts, "execution").s);
    if (r->is_whole)
        puts("The record is whole: nothing is lost.");
    else if (r->holes == 0)
        puts("The record is damaged, but every row could be read.");
    else
        bats_words_line(stdout, "Rows of %s could not be read: %s.",
                        bats_words_count((uint64_t)r->holes, "table").s,
                        r->lost);
}

static int recover(const struct bats_settings *set, const char *path)
{
    struct bats_recovery recovery;
    char to[4096 + 16];
    snprintf(to, sizeof to, "%s.recovered", path);
    if (set->words[2] != NULL)
        snprintf(to, sizeof to, "%s", set->words[2]);
    bats_must(bats_record_recover(path, to, &recovery, &bats_why));
    print_recovery(to, &recovery);
    return 0;
}

static int verify(const char *path)
{
    struct bats_view *view;
    struct bats_verified v = {.n = 0};
    bats_must(bats_view_open(path, &view, &bats_why));
    int rc = bats_record_verify(view, &v, &bats_why);
    bats_view_close(view);
    bats_must(rc);
    bats_words_line(stdout, "%s, %s, %s, %s: %s",
                    bats_words_count((uint64_t)v.sessions, "session").s,
                    bats_words_count((uint64_t)v.tasks, "task").s,
                    bats_words_count((uint64_t)v.executions, "execution").s,
                    bats_words_count((uint64_t)v.charges, "charge").s,
                    v.n == 0 ? "all agree"
                             : "the record does not agree with itself:");
    for (size_t i = 0; i < v.n; i++)
        bats_words_line(stdout, "  %s", v.differences[i]);
    int code = v.n > 0 ? BATS_EXIT_FAILED : 0;
    bats_verified_release(&v);
    return code;
}

int cmd_record_check(struct bats_settings *set, struct bats_error *err)
{
    const char *what = set->words[0];
    if (strcmp(what, "recover") != 0 && strcmp(what, "verify") != 0)
        return bats_refuse(err,
                           "unknown 'record %s'; expected 'record recover' or "
                           "'record verify'",
                           what);
    return strcmp(what, "verify") == 0 && set->words[2] != NULL
               ? bats_refuse(err, "'%s' is one argument too many",
                             set->words[2])
               : 0;
}

int cmd_record(const struct bats_settings *set)
{
    char path[4096];
    bats_look_find(set->words[1], path, sizeof path);
    return strcmp(set->words[0], "verify") == 0 ? verify(path)
                                                : recover(set, path);
}
