/* report: the verb report. Writes a run as a page. */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/frame.h"
#include "cli/frontier.h"
#include "cli/look.h"
#include "cli/place.h"
#include "cli/pools_source.h"
#include "record/read/axis.h"
#include "report/page.h"
#include "report/recorded.h"

#define PLAYS 10 /* plays of each strategy */

/* The file to write: "bag.txt.html", or --out. For free(). */
static char *name_of(const struct bats_settings *set)
{
    char *name = NULL;

    if (set->out != NULL)
        return strdup(set->out);
    int n = (int)bats_look_bag(set->words[0]);
    return asprintf(&name, "%.*s.html", n, set->words[0]) < 0 ? NULL : name;
}

struct page {
    struct bats_view *view;
    json_t *status;
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
    const struct page *page = context;
    return bats_axis_write(
        page->view,
        bats_recorded_terms(json_object_get(page->status, "options")), out,
        err);
}

static int write_page(void *context, FILE *out, struct bats_error *err)
{
    struct page *page = context;
    struct bats_causes causes = {0};
    int rc = bats_status_json(page->view, &page->status, err);

    if (rc == 0)
        rc = bats_look_causes(page->view, &causes, err);
    if (rc == 0) {
        struct bats_lease_terms terms =
            bats_recorded_terms(json_object_get(page->status, "options"));
        json_t *data = json_pack(
            "{s:s, s:O, s:O, s:{s:b, s:b, s:b, s:b}, s:o, s:o}", "kind", "run",
            "title", json_object_get(page->status, "bag"), "status",
            page->status, "terms", "in_windows", terms.in_windows,
            "idle_is_free", terms.idle_is_free, "lasts", terms.lasts,
            "returns", terms.returns, "causes", bats_causes_json(&causes),
            "command", command_of(page->status));
        if (page->strategies != NULL)
            json_object_update_new(data,
                                   bats_strategies_page(page->strategies));
        rc = bats_page_write(out, data, write_run, page, err);
    }
    bats_causes_release(&causes);
    json_decref(page->status);
    return rc;
}

/* Finds time and cost of the other strategies, from what a run of policy
 * expert has shown. *found: it was such a run, and its unreliable machines
 * have answered. */
static int find_strategies(struct bats_view *view,
                           const struct bats_settings *set,
                           struct bats_pools *pools,
                           struct bats_strategies *strategies, bool *found,
                           struct bats_error *err)
{
    struct bats_view_status status;
    struct bats_settings all = *set;
    char path[PATH_MAX];
    int rc = bats_view_status(view, &status, err);

    *found = false;
    if (rc < 0 || strcmp(status.policy, "expert") != 0)
        return rc;
    all.jobs = 0;
    all.run.budget = status.budget;
    bats_look_find(set->words[0], path, sizeof path);
    rc = bats_pools_of_record(path, false, pools, err);
    if (rc == BATS_EINPUT)
        return 0;
    if (rc == 0)
        rc = bats_frontier_find(&all, pools, set->words[0], PLAYS, strategies,
                                err);
    *found = rc == 0;
    return rc;
}

static int report(struct bats_view *view, const struct bats_settings *set,
                  const char *name, struct bats_error *err)
{
    struct bats_pools pools = {0};
    struct bats_strategies strategies = {.n = 0};
    bool found;
    int rc = find_strategies(view, set, &pools, &strategies, &found, err);
    struct page page = {view, NULL, found ? &strategies : NULL};

    if (rc == 0)
        rc = bats_look_write(name, write_page, &page, err);
    free(strategies.list);
    bats_pools_release(&pools);
    return rc;
}

int cmd_report(struct bats_view *view, const struct bats_settings *set,
               struct bats_error *err)
{
    char *name = name_of(set);
    if (name == NULL)
        return bats_no_memory(err);
    int rc = report(view, set, name, err);
    if (rc == 0 && strcmp(name, "-") != 0)
        bats_tell("written: %s", name);
    free(name);
    return rc;
}
