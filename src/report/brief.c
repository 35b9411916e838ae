/* brief: the short closing report of a free run on a terminal. See
 * report.h. */
#include <inttypes.h>
#include <string.h>

#include "report/report.h"
#include "report/words.h"
#include "util/text.h"

#define TEXT 4096

bool bats_report_is_brief(const struct bats_report *r)
{
    const struct bats_snapshot *s = &r->snapshot;

    return r->n_workflows == 0 && s->status.budget == BATS_UNLIMITED &&
           s->status.deadline == 0 && !s->has_promise &&
           r->settings.clusters == NULL &&
           s->status.finish != BATS_FINISH_SAMPLED;
}

/* "all: 3 of 3 in use for 80% of the time, mean 105ms a task". */
static void print_machines(FILE *out, const struct bats_snapshot *s)
{
    char text[TEXT] = "";

    for (size_t i = 0; i < s->platform->n_clusters; i++) {
        const struct bats_cluster_status *k = &s->cluster[i];
        bats_append(text, sizeof text, "%s%s: %" PRIu32 " of %" PRIu32,
                    i > 0 ? "; " : "", s->platform->clusters[i].name,
                    k->machines_used, bats_snapshot_machines(s->platform, i));
        if (k->utilisation > 0)
            bats_append(text, sizeof text, ", %.0f%% in use",
                        100 * k->utilisation);
        if (k->mean_runtime > 0)
            bats_append(text, sizeof text, ", %s a task",
                        bats_words_duration((bats_time)k->mean_runtime).s);
    }
    bats_report_labelled(out, "machines", text);
}

void bats_report_print_brief(FILE *out, const struct bats_report *r)
{
    char text[TEXT];

    if (!r->in_a_line)
        putc('\n', out);
    bats_report_outcome(out, r);
    if (!r->in_a_line)
        print_machines(out, &r->snapshot);
    bats_report_mishaps(out, r);
    if (r->causes.n > 0) {
        fputs("\nwhy tasks failed\n", out);
        bats_causes_print(out, &r->causes, BATS_REPORT_CAUSES);
    }
    if (r->run == NULL || (r->in_a_line && r->causes.n == 0))
        return;
    if (r->causes.n > 0)
        putc('\n', out);
    const char *run = r->run;
    if (r->causes.n > 0)
        snprintf(text, sizeof text,
                 "bats-mpi tasks --failed %s, bats-mpi why %s TASK", run, run);
    else
        snprintf(text, sizeof text, "bats-mpi status %s", run);
    bats_report_labelled(out, "more", text);
}
