/* cmd_record: the verb record. Saves what is readable of a damaged record. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/look.h"
#include "cli/options.h"
#include "record/recover.h"
#include "report/words.h"

static void print_recovery(const char *to, const struct bats_recovery *r)
{
    char tasks[96], attempts[96], holes[96];

    printf("%s: %s, %s\n", to,
           bats_words_count(tasks, sizeof tasks, (uint64_t)r->tasks, "task"),
           bats_words_count(attempts, sizeof attempts, (uint64_t)r->attempts,
                            "execution"));
    if (r->is_whole)
        puts("The record is whole: nothing is lost.");
    else if (r->holes == 0)
        puts("The record is damaged, but every row could be read.");
    else
        printf(
            "Rows of these tables could not be read, in %s: %s.\n",
            bats_words_count(holes, sizeof holes, (uint64_t)r->holes, "place"),
            r->lost);
}

int cmd_record(int argc, char **argv)
{
    struct bats_settings set;
    struct bats_error err;
    struct bats_recovery recovery;
    char path[4096], to[4096 + 16];

    int rc = bats_options_parse(BATS_VERB_RECORD, argc, argv, &set, &err);
    if (rc == 0 && !set.help && strcmp(set.words[0], "recover") != 0)
        rc = bats_error_set(&err, BATS_EINPUT,
                            "'record %s': there is only 'record recover'",
                            set.words[0]);
    if (rc != 0)
        return bats_options_complain(BATS_VERB_RECORD, &err);
    if (set.help) {
        bats_help_verb(stdout, BATS_VERB_RECORD);
        return BATS_EXIT_OK;
    }
    bats_look_find(set.words[1], path, sizeof path);
    snprintf(to, sizeof to, "%s.recovered", path);
    if (set.words[2] != NULL)
        snprintf(to, sizeof to, "%s", set.words[2]);
    rc = bats_record_recover(path, to, &recovery, &err);
    if (rc < 0)
        fprintf(stderr, "bats-mpi: %s\n", err.text);
    else
        print_recovery(to, &recovery);
    return bats_exit_of(rc);
}
