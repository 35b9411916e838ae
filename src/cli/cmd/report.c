/* report: the verb report. Writes a run as a page, or as a trace. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/causes.h"
#include "cli/cli.h"
#include "cli/look.h"
#include "cli/place.h"
#include "report/html.h"
#include "report/perfetto.h"
#include "report/words.h"

/* "bag.txt.html", or --out. For free(). */
static char *name_of(const struct bats_settings *set)
{
    char *name = NULL;

    if (set->out != NULL)
        return strdup(set->out);
    int n = (int)bats_look_bag(set->words[0]);
    return asprintf(&name, "%.*s.html", n, set->words[0]) < 0 ? NULL : name;
}

static int write_page(void *context, FILE *out, struct bats_error *err)
{
    struct bats_view *view = context;
    struct bats_causes causes = {0};
    int rc = bats_look_causes(view, &causes, err);

    if (rc == 0)
        rc = bats_html_run(out, view, &causes, err);
    bats_causes_release(&causes);
    return rc;
}

static int write_trace(void *context, FILE *out, struct bats_error *err)
{
    struct bats_run_history history;
    int rc = bats_run_history_read(context, &history, err);

    if (rc == 0) {
        rc = bats_perfetto_write(out, &history, err);
        bats_run_history_release(&history);
    }
    return rc;
}

static int show(struct bats_view *view, const struct bats_settings *set,
                struct bats_error *err)
{
    if (set->perfetto != NULL)
        return bats_look_write(set->perfetto, write_trace, view, err);

    char *name = name_of(set);
    if (name == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int rc = bats_look_write(name, write_page, view, err);
    if (rc == 0 && strcmp(name, "-") != 0)
        bats_words_line(stderr, "bats-mpi: written: %s", name);
    free(name);
    return rc;
}

int cmd_report(int argc, char **argv)
{
    return bats_look(BATS_VERB_REPORT, argc, argv, show);
}
