/* frame: carries out verbs. See verbs.h. */
#include <stdio.h>

#include "cli/cli.h"
#include "cli/help.h"
#include "cli/look.h"
#include "cli/verbs.h"

static const struct way {
    bats_verb_start *start;
    bats_verb_show *show;
    bats_verb_check *check;
    bats_verb_act *act;
} ways[BATS_VERBS] = {
    [BATS_VERB_RUN] = {.start = cmd_run},
    [BATS_VERB_ALLOC] = {.start = cmd_run},
    [BATS_VERB_SAMPLE] = {.start = cmd_run},
    [BATS_VERB_PLAN] = {.check = cmd_plan_check, .act = cmd_plan},
    [BATS_VERB_SIMULATE] = {.act = cmd_simulate},
    [BATS_VERB_FRONTIER] = {.show = cmd_frontier},
    [BATS_VERB_CLUSTERS] = {.start = cmd_clusters},
    [BATS_VERB_OUTPUT] = {.check = cmd_output_check, .act = cmd_output},
    [BATS_VERB_WORKER] = {.start = cmd_worker},
    [BATS_VERB_STATUS] = {.show = cmd_status},
    [BATS_VERB_TOP] = {.act = cmd_top},
    [BATS_VERB_REPORT] = {.show = cmd_report},
    [BATS_VERB_EXPORT] = {.show = cmd_export},
    [BATS_VERB_LOG] = {.show = cmd_log},
    [BATS_VERB_TASKS] = {.show = cmd_tasks},
    [BATS_VERB_WHY] = {.show = cmd_why},
    [BATS_VERB_HISTORY] = {.check = cmd_history_check, .act = cmd_history},
    [BATS_VERB_RECORD] = {.check = cmd_record_check, .act = cmd_record},
};

int bats_verb_carry_out(enum bats_verb verb, int argc, char **argv)
{
    const struct way *v = &ways[verb];
    struct bats_settings set;
    struct bats_error err = {0};
    int rc = bats_options_parse(verb, argc, argv, &set, &err);
    if (rc == 0 && set.help) {
        bats_help_verb(stdout, verb);
        bats_must(bats_flush(&bats_why));
        return BATS_EXIT_OK;
    }
    if (v->start != NULL)
        return v->start(verb, &set, argc, argv, &err);
    if (rc == 0 && v->check != NULL)
        rc = v->check(&set, &err);
    if (rc < 0)
        return bats_options_complain(verb, &err);
    int code =
        v->show != NULL ? bats_look_answer(v->show, &set) : v->act(&set);
    bats_must(bats_flush(&bats_why));
    return code;
}
