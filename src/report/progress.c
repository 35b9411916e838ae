#include "report/progress.h"

#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "report/words.h"
#include "site/batch_system.h"
#include "util/text.h"

#define TEXT 1024
#define LINE_INTERVAL_US 200000
#define PLAIN_FIRST_US 2000000
#define PLAIN_LAST_US 60000000

/* ---- the terminal ---- */

int bats_terminal_open(int fd)
{
    const char *type = getenv("TERM");
    if (type == NULL || strcmp(type, "dumb") == 0)
        return -1;
    /* Open MPI gives standard output a pseudo-terminal of its own, regardless
     * of where mpirun writes, so the parent is asked first. */
    char path[64];
    if (bats_mpirun_is_parent())
        snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getppid(), fd);
    else
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int terminal = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (terminal >= 0 && !isatty(terminal)) {
        close(terminal);
        terminal = -1;
    }
    return terminal;
}

/* 80 if unknown, or without a terminal (-1). */
static int columns_of(int terminal)
{
    struct winsize size;
    if (terminal >= 0 && ioctl(terminal, TIOCGWINSZ, &size) == 0 &&
        size.ws_col > 0)
        return size.ws_col;
    return 80;
}

int bats_terminal_width(int fd)
{
    int terminal = bats_terminal_open(fd);
    int columns = columns_of(terminal);
    if (terminal >= 0)
        close(terminal);
    return columns;
}

/* ---- progress ---- */

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

/* Machines that are held and may get tasks. */
static uint32_t working(const struct bats_snapshot *snapshot, size_t cluster)
{
    const struct bats_cluster_status *c = &snapshot->cluster[cluster];
    return c->machines_now - c->machines_out;
}

/* Tasks that really run; the engine also counts prefetched ones. */
static uint32_t running(const struct bats_snapshot *snapshot)
{
    const struct bats_platform *p = snapshot->platform;
    double slots = 0;
    for (size_t i = 0; i < p->n_clusters; i++) {
        uint32_t machines = bats_snapshot_machines(p, i);
        if (machines > 0)
            slots += (double)bats_snapshot_slots(p, i) / machines *
                     working(snapshot, i);
    }
    return snapshot->status.running < slots ? snapshot->status.running
                                            : (uint32_t)slots;
}

/* ---- the parts of the line ---- */

enum part { ELAPSED, PERCENT, COUNT, FAILED, RUNNING, RATE, END, MONEY, HELD };
#define PARTS 9

/* Parts by priority, if there is little room. */
static const enum part urgent[PARTS] = {
    PERCENT, END, MONEY, FAILED, RATE, COUNT, ELAPSED, RUNNING, HELD};

struct parts {
    char text[PARTS][TEXT];
};

/* Whole cents, or four digits below one unit. */
static struct bats_phrase money(bats_money amount)
{
    bats_money step = amount < BATS_UNIT ? BATS_UNIT / 10000 : BATS_UNIT / 100;
    return bats_words_amount(amount - amount % step);
}

static void put_money(char *text, const struct bats_snapshot *snapshot)
{
    const struct bats_sched_status *s = &snapshot->status;
    const char *currency = snapshot->platform->currency;
    char number[256], name[128];
    snprintf(number, sizeof number, "%s", money(s->charged).s);
    if (bats_snapshot_kept(snapshot) > 0)
        bats_append(number, sizeof number, " + %s held",
                    money(bats_snapshot_kept(snapshot)).s);
    if (s->budget != BATS_UNLIMITED)
        snprintf(text, TEXT, "%s/%s", number,
                 bats_words_money(s->budget, currency).s);
    else
        snprintf(text, TEXT, "%s %s", number,
                 currency[0] != '\0'
                     ? bats_encode_terminal(name, sizeof name, currency)
                     : "charged");
}

/* "sampling 48/60": otherwise a sampling run would look hung. */
static void put_sampling(char *text, const struct bats_snapshot *snapshot)
{
    uint64_t size = snapshot->status.sample_size, ended = 0;
    size_t n = snapshot->platform->n_clusters;
    for (size_t i = 0; i < n; i++) {
        const struct bats_cluster_status *c = &snapshot->cluster[i];
        uint64_t here = (uint64_t)c->done + c->failed;
        ended += here < size ? here : size;
    }
    snprintf(text, TEXT, "sampling");
    if (size > 0)
        bats_append(text, TEXT, " %" PRIu64 "/%" PRIu64, ended, n * size);
}

static void put_end(char *text, const struct bats_snapshot *snapshot)
{
    const struct bats_sched_status *s = &snapshot->status;
    if (snapshot->phase == BATS_SNAPSHOT_SAMPLING)
        put_sampling(text, snapshot);
    else if (snapshot->phase == BATS_SNAPSHOT_CHOOSING)
        snprintf(text, TEXT, "sampled: to be chosen");
    else if (s->estimated_end != BATS_NEVER &&
             bats_snapshot_left(snapshot) > 0)
        snprintf(text, TEXT, "~%s left",
                 bats_words_moment(
                     s->estimated_end > s->now ? s->estimated_end - s->now : 0)
                     .s);
}

static void put_parts(struct parts *p, const struct bats_snapshot *snapshot,
                      double per_hour)
{
    const struct bats_platform *platform = snapshot->platform;
    const struct bats_sched_status *s = &snapshot->status;
    uint32_t held[BATS_CLUSTERS_MAX];
    uint32_t tasks = bats_snapshot_tasks(snapshot);
    uint64_t ended = (uint64_t)s->done + s->failed;
    bool is_partial = bats_snapshot_is_partial(snapshot);
    for (int i = 0; i < PARTS; i++)
        p->text[i][0] = '\0';
    for (size_t i = 0; i < platform->n_clusters; i++)
        held[i] = working(snapshot, i);
    snprintf(p->text[ELAPSED], TEXT, "%s", bats_words_moment(s->now).s);
    if (!is_partial)
        snprintf(p->text[PERCENT], TEXT, "%" PRIu64 "%%",
                 tasks > 0 ? 100 * ended / tasks : 100);
    snprintf(p->text[COUNT], TEXT, "%" PRIu64 "/%" PRIu32 "%s", ended, tasks,
             is_partial ? " so far" : "");
    if (s->failed > 0)
        snprintf(p->text[FAILED], TEXT, "%" PRIu32 " failed", s->failed);
    snprintf(p->text[RUNNING], TEXT, "%" PRIu32 " running", running(snapshot));
    if (per_hour > 0)
        snprintf(p->text[RATE], TEXT, "%s", bats_words_rate(per_hour, "").s);
    put_end(p->text[END], snapshot);
    put_money(p->text[MONEY], snapshot);
    bats_words_machines(p->text[HELD], TEXT, platform->clusters,
                        platform->n_clusters, held, " ");
}

/* ---- the line ---- */

static size_t columns(const char *text)
{
    size_t n = 0; /* characters of UTF-8, taken as a column each */
    for (; *text != '\0'; text++)
        n += (*text & 0xc0) != 0x80;
    return n;
}

const char *bats_progress_text(char *text, size_t size, size_t width,
                               const struct bats_snapshot *snapshot,
                               double per_hour)
{
    struct parts p;
    bool in[PARTS] = {false};
    size_t used = 0;
    put_parts(&p, snapshot, per_hour);
    for (int i = 0; i < PARTS; i++) {
        size_t more = columns(p.text[urgent[i]]);
        if (more == 0 || (used > 0 && used + 2 + more > width))
            continue;
        in[urgent[i]] = true;
        used += more + (used > 0 ? 2 : 0);
    }
    text[0] = '\0';
    for (int i = 0; i < PARTS; i++)
        if (in[i])
            bats_append(text, size, "%s%s", text[0] ? "  " : "", p.text[i]);
    return text;
}

#define BAR_MIN 12 /* columns, with its brackets */
#define BAR_MAX 50

static void print_bar(FILE *out, size_t room,
                      const struct bats_snapshot *snapshot)
{
    const struct bats_sched_status *s = &snapshot->status;
    uint32_t tasks = bats_snapshot_tasks(snapshot);
    size_t wide = room < BAR_MAX ? room : BAR_MAX;
    if (room < BAR_MIN)
        return;
    wide -= 3; /* brackets and a blank */
    size_t full = tasks > 0 ? wide * (s->done + s->failed) / tasks : wide;
    putc('[', out);
    for (size_t i = 0; i < wide; i++)
        putc(i < full ? '#' : '-', out);
    fputs("] ", out);
}

/* The recent rate: a moving average over about a tenth of the run. */
void bats_progress_rate(struct bats_progress *p,
                        const struct bats_sched_status *s)
{
    uint64_t ended = (uint64_t)s->done + s->failed;
    double passed = (double)(s->now - p->rated_at);
    double memory = fmax((double)s->now / 10, 10 * (double)BATS_SECOND);
    if (p->rated_at == 0 || ended < p->rated_ended) { /* the first time */
        p->rated_at = s->now > 0 ? s->now : 1;
        p->rated_ended = ended;
        return;
    }
    if (passed < (double)BATS_SECOND / 2)
        return;
    double rate =
        (double)(ended - p->rated_ended) / passed * (double)BATS_HOUR;
    double share = p->per_hour > 0 ? 1 - exp(-passed / memory) : 1;
    p->per_hour += share * (rate - p->per_hour);
    p->rated_at = s->now;
    p->rated_ended = ended;
}

static void show_line(struct bats_progress *progress,
                      const struct bats_snapshot *snapshot)
{
    char text[TEXT];
    /* The last column stays free: writing there makes some terminals wrap. */
    size_t room = (size_t)columns_of(progress->terminal) - 1;
    size_t width = progress->bar && room > 60 ? room - BAR_MIN : room;
    bats_progress_text(text, sizeof text, width, snapshot, progress->per_hour);
    fputs(BATS_PROGRESS_CLEAR, progress->out);
    if (progress->bar && room > columns(text))
        print_bar(progress->out, room - columns(text), snapshot);
    fprintf(progress->out, "%.*s", bats_words_cut(text, (int)room), text);
    fflush(progress->out);
    progress->is_drawn = true;
}

/* The last decision is carried out. Until machines have come or gone, another
 * plan may replace it. */
static bool is_settled(const struct bats_snapshot *snapshot)
{
    const struct bats_decision *d =
        &snapshot->decisions[snapshot->n_decisions - 1];
    bool is_plan =
        d->reason == BATS_REASON_PLANNED || d->reason == BATS_REASON_VIOLATION;
    for (size_t i = 0; i < snapshot->platform->n_clusters; i++)
        if (snapshot->cluster[i].machines_now != d->machines[i])
            return true;
    return d->acts || !is_plan;
}

/* Machines are or were held, or money is for them: the start is not in vain. */
static bool has_begun(const struct bats_snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->platform->n_clusters; i++)
        if (snapshot->cluster[i].machines_used > 0)
            return true;
    return snapshot->status.held > 0;
}

static void show_decisions(struct bats_progress *progress,
                           const struct bats_snapshot *snapshot, bool all)
{
    const struct bats_decision *list = snapshot->decisions;
    size_t n = snapshot->n_decisions;
    char text[TEXT];
    for (size_t i = progress->n_decisions; i < n; i++) {
        bool in_vain =
            list[i].reason == BATS_REASON_START && !has_begun(snapshot);
        if (i + 1 == n && !all && (in_vain || !is_settled(snapshot)))
            break;
        progress->n_decisions++;
        if (!in_vain && bats_words_counts(snapshot->platform, list, n, i))
            fprintf(progress->out, "bats-mpi: %s  %s\n",
                    bats_words_moment(list[i].time).s,
                    bats_words_decision(text, sizeof text, snapshot->platform,
                                        &list[i]));
    }
}

void bats_progress_finish(struct bats_progress *progress,
                          const struct bats_snapshot *snapshot)
{
    if (progress->style == BATS_PROGRESS_PLAIN && snapshot != NULL)
        show_decisions(progress, snapshot, true);
    bats_progress_clear(progress);
}

void bats_progress_show(struct bats_progress *progress, int64_t now_us,
                        const struct bats_snapshot *snapshot)
{
    char text[TEXT];
    if (progress->style == BATS_PROGRESS_NONE)
        return;
    if (progress->style == BATS_PROGRESS_PLAIN)
        show_decisions(progress, snapshot, false);
    if (now_us < progress->next_us)
        return;
    if (progress->style == BATS_PROGRESS_LINE) {
        show_line(progress, snapshot);
        progress->next_us = now_us + LINE_INTERVAL_US;
        return;
    }
    /* The first time, the decisions just printed say enough. */
    if (progress->next_us != INT64_MIN) {
        fprintf(progress->out, "bats-mpi: %s\n",
                bats_progress_text(text, sizeof text, sizeof text, snapshot,
                                   progress->per_hour));
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
