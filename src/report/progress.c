#include "report/progress.h"

#include <inttypes.h>
#include <string.h>

#include "report/terminal.h"
#include "report/words.h"

#define TEXT             4096
#define LINE_INTERVAL_US 200000
#define PLAIN_FIRST_US   2000000
#define PLAIN_LAST_US    60000000

void bats_progress_init(struct bats_progress *progress,
                        enum bats_progress_style style, FILE *out, int terminal)
{
    *progress = (struct bats_progress){
        .style = style,
        .out = out,
        .terminal = terminal,
        .next_us = INT64_MIN,
        .interval_us = PLAIN_FIRST_US,
    };
}

const char *bats_progress_text(char *text, size_t size,
                               const struct bats_snapshot *snapshot)
{
    const struct bats_platform *p = snapshot->platform;
    const struct bats_sched_status *s = &snapshot->status;
    char now[BATS_UNITS_TEXT], end[BATS_UNITS_TEXT], charged[BATS_UNITS_TEXT];
    char failed[32] = "", budget[96] = "", finish[64] = "", machines[TEXT];
    uint32_t held[BATS_CLUSTERS_MAX];

    for (size_t i = 0; i < p->n_clusters; i++)
        held[i] = snapshot->cluster[i].machines_now;
    bats_words_machines(machines, sizeof machines, p, held, " ");
    if (s->failed > 0)
        snprintf(failed, sizeof failed, ", %" PRIu32 " failed", s->failed);
    if (s->budget != BATS_UNLIMITED) {
        bats_words_money(end, sizeof end, s->budget, p->currency);
        snprintf(budget, sizeof budget, "/%s", end);
    } else if (p->currency[0] != '\0') {
        snprintf(budget, sizeof budget, " %s", p->currency);
    } else {
        snprintf(budget, sizeof budget, " charged");
    }
    if (s->estimated_end != BATS_NEVER && bats_snapshot_left(snapshot) > 0)
        snprintf(finish, sizeof finish, " | end ~%s",
                 bats_duration_format(end, s->estimated_end));
    snprintf(text, size,
             "[%s] %" PRIu32 " done%s, %" PRIu32 " running, %" PRIu32
             " left | %s%s%s | %s",
             bats_duration_format(now, s->now), s->done, failed, s->running,
             s->pending, bats_money_format(charged, s->charged), budget, finish,
             machines);
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
        fprintf(progress->out, "bats-mpi: [%s] %s\n",
                bats_duration_format(time, d->time),
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
    /* The first time the decisions have just said all there is to say. */
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
