/* report: the verb report. Writes a run as a page. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/frontier.h"
#include "cli/look.h"
#include "record/read/axis.h"
#include "report/page.h"
#include "report/recorded.h"

#define PLAYS 10 /* plays of each strategy */

struct page {
    struct bats_look *look;
    json_t *status;
    struct bats_causes causes;
    struct bats_strategies *strategies; /* NULL: none */
};

/* The command of the last session; null: not known. */
static json_t *command_of(const json_t *status)
{
    const json_t *run =
        json_object_get(json_object_get(status, "options"), "run");
    const char *verb = json_string_value(json_object_get(run, "verb"));
    const char *bag = json_string_value(json_object_get(status, "bag"));
    const char *budget = json_string_value(json_object_get(status, "budget"));
    bool has_file = strcmp(bag, "sweep") != 0; /* options.c uses this name
                                                * for a sweep */
    char *given = bats_options_given(run), word[1024] = "";
    if (has_file)
        bats_encode(BATS_ENCODE_SHELL, word, sizeof word, bag);
    json_t *command =
        given == NULL
            ? json_null()
            : json_sprintf(
                  "bats-mpi %s %s%s%s%s%s%s", verb != NULL ? verb : "run",
                  word, word[0] != '\0' && given[0] != '\0' ? " " : "", given,
                  budget != NULL ? " --budget " : "",
                  budget != NULL ? budget : "", has_file ? "" : " -- ...");
    free(given);
    return command;
}

static int write_run(void *context, FILE *out, struct bats_error *err)
{
    const struct bats_look *l = context;
    return bats_axis_write(l->view, bats_recorded_terms(l->options), out, err);
}

static int write_page(void *context, FILE *out, struct bats_error *err)
{
    struct page *page = context;
    struct bats_lease_terms terms = bats_recorded_terms(page->look->options);
    json_t *data = json_pack(
        "{s:s, s:O, s:O, s:{s:b, s:b, s:b, s:b}, s:o, s:o}", "kind", "run",
        "title", json_object_get(page->status, "bag"), "status", page->status,
        "terms", "in_windows", terms.in_windows, "idle_is_free",
        terms.idle_is_free, "lasts", terms.lasts, "returns", terms.returns,
        "causes", bats_causes_json(&page->causes), "command",
        command_of(page->status));
    if (page->strategies != NULL)
        json_object_update_new(data, bats_strategies_page(page->strategies));
    return bats_page_write(out, data, write_run, page->look, err);
}

/* Finds time and cost of the other strategies, from what a run of policy
 * expert has shown. False: it was no such run, or none of its unreliable
 * machines has answered. */
static bool find_strategies(const struct bats_look *l,
                            struct bats_pools *pools,
                            struct bats_strategies *strategies)
{
    struct bats_settings all = *l->set;
    if (strcmp(l->status.policy, "expert") != 0)
        return false;
    all.jobs = 0;
    all.run.budget = l->status.budget;
    int rc = bats_pools_of_record(l->view, false, pools, &bats_why);
    if (rc == BATS_EINPUT)
        return false;
    bats_must(rc);
    bats_frontier_find(&all, pools, l->set->words[0], PLAYS, strategies);
    return true;
}

int cmd_report(struct bats_look *l)
{
    struct bats_pools pools = {0};
    struct bats_strategies strategies = {.n = 0};
    const char *word = l->set->words[0], *name = l->set->out;
    char path[4096 + 8];
    if (name == NULL) {
        snprintf(path, sizeof path, "%.*s.html", (int)bats_look_bag(word),
                 word);
        name = path;
    }
    struct page page = {.look = l,
                        .status = bats_status_json(l),
                        .causes = bats_look_causes(l->view)};
    if (find_strategies(l, &pools, &strategies))
        page.strategies = &strategies;
    bats_look_write(name, write_page, &page);
    if (strcmp(name, "-") != 0)
        bats_tell("written: %s", name);
    json_decref(page.status);
    bats_causes_release(&page.causes);
    free(strategies.list);
    bats_pools_release(&pools);
    return 0;
}
