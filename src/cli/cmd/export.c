/* export: the verb export. Writes a run in the format of another tool. */
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"
#include "cli/look.h"

static int write(void *context, FILE *out, struct bats_error *err)
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
    bats_look_write(l->set->out != NULL ? l->set->out : "-", write, l);
    return 0;
}
