/* report: the verbs report and export, which write a run: as a page, and in the
 * format of another tool. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "record/read/axis.h"
#include "report/page.h"
#include "report/recorded.h"

struct page {
    struct bats_look *look;
    json_t *status;
    struct bats_causes causes;
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
    return bats_page_write(out, data, write_run, page->look, err);
}

int cmd_report(struct bats_look *l)
{
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
    bats_look_write(name, write_page, &page);
    if (strcmp(name, "-") != 0)
        bats_tell("written: %s", name);
    json_decref(page.status);
    bats_causes_release(&page.causes);
    return 0;
}

/* ---- export ---- */

static int write_export(void *context, FILE *out, struct bats_error *err)
{
    const struct bats_look *l = context;
    char path[4096];
    snprintf(path, sizeof path, "%s", l->set->words[0]);
    path[bats_look_bag(path)] = '\0';
    const char *slash = strrchr(path, '/');
    return bats_view_wfformat(l->view, slash != NULL ? slash + 1 : path, out,
                              err);
}

int cmd_export(struct bats_look *l)
{
    if (!l->set->wfformat)
        bats_die(BATS_EINPUT, "export needs a format: --wfformat");
    bats_look_write(l->set->out != NULL ? l->set->out : "-", write_export, l);
    return 0;
}
