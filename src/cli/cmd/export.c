/* export: the verb export. Writes a run in the format of another tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"
#include "input/bagfile.h"
#include "report/wfformat.h"
#include "report/words.h"

/* True if the bag still has exactly the commands that have run. */
static bool is_same(struct bats_view *view, const struct bats_bagfile *bag)
{
    struct bats_view_task t;
    struct bats_error err;
    struct bats_text text = {0};
    uint32_t n = 0;
    int rc =
        bats_view_tasks(view, NULL, 0, NULL, BATS_VIEW_BY_NUMBER, 0, &err);
    bool same = rc == 0;
    while (same && (rc = bats_view_next_task(view, &t, &err)) > 0)
        same = t.number == ++n && n <= bag->n_tasks &&
               bats_bagfile_command(bag, n - 1, &text) >= 0 &&
               strcmp(text.bytes, t.command) == 0;
    bats_text_release(&text);
    return same && rc == 0 && n == bag->n_tasks;
}

/* The bag of the run if it is a workflow with names and files; or NULL. */
static struct bats_bagfile *find_bag(const struct bats_look *l,
                                     char path[4096])
{
    struct bats_bagfile *bag = NULL;
    struct bats_error err;
    snprintf(path, 4096, "%s", l->set->words[0]);
    path[bats_look_bag(path)] = '\0';
    if (bats_workflow_format(path) == BATS_WORKFLOW_NONE)
        return NULL;
    if (bats_bagfile_load(path, &bag, &err) < 0 || !is_same(l->view, bag)) {
        bats_tell("%s is not there or has other commands now: written without "
                  "names and files",
                  path);
        bats_bagfile_destroy(bag);
        bag = NULL;
    }
    return bag;
}

int cmd_export(struct bats_look *l)
{
    char path[4096];
    if (!l->set->wfformat)
        bats_die(BATS_EINPUT, "export needs a format: --wfformat");
    struct bats_bagfile *bag = find_bag(l, path);
    const char *slash = strrchr(path, '/');
    struct bats_wfformat_source source = {.view = l->view,
                                          .name = slash ? slash + 1 : path,
                                          .workflow =
                                              bag ? bag->workflow : NULL};
    bats_look_write(l->set->out ? l->set->out : "-", bats_wfformat_write,
                    &source);
    if (source.unnameable > 0)
        bats_tell("left out: %s with other characters in the name than "
                  "WfFormat allows, letters, digits and -_./:#",
                  bats_words_count(source.unnameable, "file").s);
    bats_bagfile_destroy(bag);
    return 0;
}
