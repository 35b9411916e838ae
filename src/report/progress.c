#include "report/progress.h"

#include <inttypes.h>
#include <string.h>

#include "report/terminal.h"
#include "report/words.h"

#define TEXT 4096
#define LINE_INTERVAL_US 200000
#define PLAIN_FIRST_US 2000000
#define PLAIN_LAST_US 60000000

void bats_progress_init(struct bats_progress *progress,
                        enum bats_progress_style style, FILE *out,
                        int terminal)
{
    *progress = (struct bats_progress){
        .style = style,
        .out = out,
        .terminal = terminal,
        .next_us = INT64_MIN,
        .interval_us = PLAIN_FIRST_US,
    };
}

/* Tasks that really run: the engine also counts tasks that were sent ahead and
 * wait for a slot. */
static uint32_t running(const struct bats_snapshot *snapshot)
{
    const struct bats_platform *p = snapshot->platform;
    double slots = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        uint32_t machines = bats_snapshot_machines(p, i);
        if (machines > 0)
            slots += (double)bats_snapshot_slots(p, i) / machines *
                     snapshot->cluster[i].machines_now;
    }
    return snapshot->status.running < slots ? snapshot->status.running
                                            : (uint32_t)slots;
}

const char *bats_progress_text(char *text, size_t size,
                               const struct bats_snapshot *snapshot)
{
    const struct bats_platform *p = snapshot->platform;
    const struct bats_sched_status *s = &snapshot->status;
    char now[BATS_UNITS_TEXT], number[96], end[64] = "", failed[32] = "";
    char budget[128] = "", machines[TEXT];
    uint32_t held[BATS_CLUSTERS_MAX];
    uint32_t left = bats_snapshot_left(snapshot), run = running(snapshot);

    for (size_t i = 0; i < p->n_clusters; i++)
        held[i] = snapshot->cluster[i].machines_now;
    bats_words_machines(machines, sizeof machines, p->clusters, p->n_clusters,
                        held, " ");
    if (s->estimated_end != BATS_NEVER && left > 0)
        snprintf(end, sizeof end, "/~%s",
                 bats_words_moment(number, s->estimated_end));
    if (s->failed > 0)
        snprintf(failed, sizeof failed, " %" PRIu32 " failed", s->failed);
    if (s->budget != BATS_UNLIMITED)
        snprintf(
            budget, sizeof budget, "/%s",
            bats_words_money(number, sizeof number, s->budget, p->currency));
    else
        snprintf(budget, sizeof budget, " %s",
                 p->currency[0] != '\0'
                     ? bats_encode_terminal(number, sizeof number, p->currency)
                     : "charged");
    snprintf(text, size,
             "%s%s  %" PRIu32 " done %" PRIu32 " running %" PRIu32
             " left%s  %s%s  %s",
             bats_words_moment(now, s->now), end, s->done, run, left - run,
             failed, bats_money_format(number, s->charged), budget, machines);
    return text;
}

static void show_line(struct bats_progress *progress,
                      const struct bats_snapshot *snapshot)
{
    char text[TEXT];
    /* The last column stays free: writing there makes some terminals wrap. */
    int room = bats_terminal_columns(progress->terminal) - 1;
    fprintf(progress->out, BATS_PROGRESS_CLEAR "%.*s", room,
            bats_progress_text(text, sizeof text, snapshot));
    fflush(progress->out);
    progress->is_drawn = true;
}

static void show_decisions(struct bats_progress *progress,
                           const struct bats_snapshot *snapshot)
{
    char text[TEXT], time[BATS_UNITS_TEXT];
    while (progress->n_decisions < snapshot->n_decisions) {
        const struct bats_decision *d =
            &snapshot->decisions[progress->n_decisions++];
        fprintf(progress->out, "bats-mpi: %s  %s\n",
                bats_words_moment(time, d->time),
                bats_words_decision(text, sizeof text, snapshot->platform, d));
    }
}

void bats_progress_show(struct bats_progress *progress, int64_t now_us,
                        const struct bats_snapshot *snapshot)
{
    char text[TEXT];

    if (progress->style == BATS_PROGRESS_PLAIN)
        show_decisions(progress, snapshot);
    if (progress->style == BATS_PROGRESS_NONE || now_us < progress->next_us)
        return;
    if (progress->style == BATS_PROGRESS_LINE) {
        show_line(progress, snapshot);
        progress->next_us = now_us + LINE_INTERVAL_US;
        return;
    }
    /* Before the first time, the decisions have just said all there is to
     * say. */
    if (progress->next_us != INT64_MIN) {
        fprintf(progress->out, "bats-mpi: %s\n",
                bats_progress_text(text, sizeof text, snapshot));
        progress->interval_us *= 2;
        if (progress->interval_us > PLAIN_LAST_US)
            progress->interval_us = PLAIN_LAST_US;
    }
    progress->next_us = now_us + progress->interval_us;
}

void bats_progress_clear(struct bats_progress *progress)
{
    if (!progress->is_drawn)
        return;
    fputs(BATS_PROGRESS_CLEAR, progress->out);
    fflush(progress->out);
    progress->is_drawn = false;
}
