/* report: the verb report. Writes a run as a page, or as a trace. */
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
#include "report/html.h"
#include "report/words.h"

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
    struct bats_strategies *strategies; /* NULL: none */
};

/* The command of the last session, from its record: for free(), or NULL. */
static char *command_of(struct bats_view *view, struct bats_error *err)
{
    struct bats_view_status st;
    char *options, *command = NULL, bag[4 * sizeof st.bag];

    if (bats_view_status(view, &st, err) != 0 ||
        bats_view_options(view, &options, err) != 0)
        return NULL;
    json_t *all = json_loads(options, 0, NULL);
    char *given =
        bats_options_given(BATS_VERB_RUN, json_object_get(all, "run"));
    bats_encode(BATS_ENCODE_SHELL, bag, sizeof bag, st.bag);
    bool limited = st.budget != BATS_UNLIMITED;
    bool has_file = strcmp(st.bag, "sweep") != 0; /* options.c uses this name
                                                   * for a sweep */
    if (given != NULL &&
        asprintf(&command, "bats-mpi run %s %s%s%s%s", has_file ? bag : "",
                 given, limited ? " --budget " : "",
                 limited ? bats_words_amount(st.budget).s : "",
                 has_file ? "" : " -- ...") < 0)
        command = NULL;
    free(given);
    json_decref(all);
    free(options);
    return command;
}

static int write_page(void *context, FILE *out, struct bats_error *err)
{
    const struct page *page = context;
    struct bats_causes causes = {0};
    char *command = command_of(page->view, err);
    int rc = bats_look_causes(page->view, &causes, err);

    if (rc == 0)
        rc = bats_html_run(out, page->view, command, &causes, page->strategies,
                           err);
    bats_causes_release(&causes);
    free(command);
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

static int write_run(struct bats_view *view, const struct bats_settings *set,
                     const char *name, struct bats_error *err)
{
    struct bats_pools pools = {0};
    struct bats_strategies strategies = {.n = 0};
    bool found;
    int rc = find_strategies(view, set, &pools, &strategies, &found, err);
    struct page page = {view, found ? &strategies : NULL};

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
    int rc = write_run(view, set, name, err);
    if (rc == 0 && strcmp(name, "-") != 0)
        bats_tell("written: %s", name);
    free(name);
    return rc;
}
