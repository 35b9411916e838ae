/* joining: the job side of run/joining.h: submits, admits, sends off and
 * settles jobs as engine and batch system demand. */
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bats/sched.h"
#include "cli/alloc/state.h"
#include "report/words.h"
#include "run/needs.h"
#include "util/now.h"

/* time for tasks to answer, beyond their grace time */
#define LEAVE_US 2000000
#define BYE_US 5000000 /* time for a job to end after its good-bye */
#define FAILURES 3     /* failures in a row before a partition is given up */
#define LINES 3        /* lines shown of what a job printed */

/* ---- between engine and batch system ---- */

static void tell(const struct bats_alloc *a, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(const struct bats_alloc *a, const char *format, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    bats_joined_notice(a->joined, sentence);
}

static int give_platform(void *context, struct bats_platform *platform,
                         struct bats_error *err)
{
    struct bats_alloc *a = context;
    uint32_t n = a->platform.n_machines;
    *platform = a->platform;
    platform->machines = calloc(n, sizeof *platform->machines);
    if (platform->machines == NULL)
        return bats_no_memory(err);
    memcpy(platform->machines, a->platform.machines,
           n * sizeof *platform->machines);
    return 0;
}

static bool expects(void *context)
{
    const struct bats_alloc *a = context;
    return bats_queue_count(a->queue) > 0 || a->own_runs;
}

/* Ends the machine's job, unless it ends by itself within `grace_us`. */
static void cancel(struct bats_alloc *a, uint32_t machine, int64_t grace_us)
{
    if (machine == a->own_machine)
        bats_alloc_end_own(a);
    else
        bats_queue_cancel(a->queue, machine,
                          bats_now_us(CLOCK_MONOTONIC) + grace_us);
}

/* Time from the start of the job until its watchdog began, at most. */
static int64_t start_of(const struct bats_alloc *a, uint32_t place,
                        const struct bats_worker_job *job)
{
    bool known;
    int64_t us =
        bats_queue_age(a->queue, place, bats_now_us(CLOCK_MONOTONIC), &known) -
        job->ranks[0].age_us;
    if (!known && us > a->billing.starting)
        us = a->billing.starting;
    return us > 0 ? us : 0;
}

static int admit(void *context, const struct bats_worker_job *job,
                 uint32_t *machine, bats_time *age, struct bats_error *why)
{
    struct bats_alloc *a = context;
    bool unsure;
    bool is_own = a->own_runs && strcmp(job->number, a->own_id) == 0;
    uint32_t place = is_own ? a->own_machine
                            : bats_queue_find(a->queue, job->number, &unsure);
    if (place == BATS_NO_JOB && unsure)
        return 0;
    if (place == BATS_NO_JOB)
        return bats_error_set(why, BATS_ESTATE,
                              "the run does not want this job (any more)");
    struct lane *lane = &a->lanes[place];
    if (job->n_ranks != a->platform.machines[place].slots)
        return bats_error_set(
            why, BATS_ESTATE, "the job has %lu ranks instead of %lu",
            (unsigned long)job->n_ranks,
            (unsigned long)a->platform.machines[place].slots);
    const struct bats_stock *node =
        &a->nodes[a->platform.machines[place].cluster];
    if (bats_needs_admit(a->options, node, job->ranks, job->n_ranks, why) < 0)
        return BATS_EINPUT;
    if (!lane->asked || lane->had || lane->leaves)
        return bats_error_set(why, BATS_ESTATE, "the job was not asked for");
    for (uint32_t k = 0; k < job->n_ranks; k++)
        machine[k] = place;
    lane->before_us = a->by_lease && !is_own ? start_of(a, place, job) : 0;
    *age = job->ranks[0].age_us + lane->before_us;
    lane->joined = lane->had = true;
    lane->paid_us = 0;
    snprintf(lane->job, sizeof lane->job, "%s", job->number);
    lane->ends_us = bats_now_us(CLOCK_MONOTONIC) + lane->work_us;
    a->failures[a->platform.machines[place].cluster] = 0;
    a->said_us = 0;
    return 1;
}

static void parted(void *context, const char *job, enum bats_parted how)
{
    struct bats_alloc *a = context;
    for (uint32_t i = 0; i < a->platform.n_machines; i++)
        if (a->lanes[i].joined && strcmp(a->lanes[i].job, job) == 0) {
            a->lanes[i].joined = false;
            cancel(a, i, how == BATS_PARTED_BYE ? BYE_US : 0);
        }
}

static void commanded(void *context, const struct bats_command *command)
{
    struct bats_alloc *a = context;
    if (command->type != BATS_COMMAND_ACQUIRE &&
        command->type != BATS_COMMAND_PARK &&
        command->type != BATS_COMMAND_RELEASE)
        return;
    struct lane *lane = &a->lanes[command->machine];
    if (command->type == BATS_COMMAND_ACQUIRE) {
        *lane = (struct lane){.asked = true};
        bats_alloc_ask(a, command->machine, command->time);
        if (command->machine == a->own_machine)
            bats_alloc_start_own(a);
        else
            bats_queue_submit(a->queue, command->machine);
    } else if (lane->asked && !lane->leaves) {
        lane->leaves = true;
        lane->leave_by_us =
            bats_now_us(CLOCK_MONOTONIC) + a->set->grace + LEAVE_US;
        if (!lane->had)
            cancel(a, command->machine, 0);
    }
}

/* ---- what jobs print, each to a file of its own, LOG.NUMBER ---- */

static int open_output(const struct bats_alloc *a, const char *id,
                       char path[PATH_MAX])
{
    if (id[0] == '\0' ||
        snprintf(path, PATH_MAX, "%s.%s", a->log, id) >= PATH_MAX)
        return -1;
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* The last lines that the job has printed, as one line; "": none. */
static void last_output(const struct bats_alloc *a, const char *id, char *text,
                        size_t size)
{
    char path[PATH_MAX];
    int fd = open_output(a, id, path);
    off_t length = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    off_t from = length > (off_t)size - 1 ? length - (off_t)size + 1 : 0;
    ssize_t n = fd >= 0 ? pread(fd, text, size - 1, from) : 0;
    if (fd >= 0)
        close(fd);
    while (n > 0 && text[n - 1] == '\n')
        n--;
    text[n > 0 ? n : 0] = '\0';
    char *first = text + strlen(text);
    for (int lines = 0; first > text; first--)
        if (first[-1] == '\n' && ++lines == LINES)
            break;
    memmove(text, first, strlen(first) + 1);
    for (char *at = text; *at != '\0'; at++)
        *at = (unsigned char)*at < ' ' ? ' ' : *at;
}

/* A file that cannot be read or written stays. */
void bats_alloc_keep_output(const struct bats_alloc *a, const char *id)
{
    char path[PATH_MAX], block[4096];
    int from = open_output(a, id, path);
    if (from < 0)
        return;
    ssize_t n = read(from, block, sizeof block);
    bool well = n >= 0;
    if (n > 0) {
        FILE *log = fopen(a->log, "ae");
        well = log != NULL && fprintf(log, "---- job %s\n", id) > 0;
        for (; well && n > 0; n = read(from, block, sizeof block))
            well = fwrite(block, 1, (size_t)n, log) == (size_t)n;
        well &= n == 0;
        if (log != NULL)
            well &= fclose(log) == 0;
    }
    close(from);
    if (well)
        unlink(path);
}

/* ---- news of the batch system ---- */

static int check_rate(const struct bats_alloc *a,
                      const struct bats_queue_news *news,
                      struct bats_error *err)
{
    uint32_t cluster = a->platform.machines[news->place].cluster;
    if (news->rate <= a->rate[cluster] * 1.001)
        return 0;
    return bats_refuse(
        err,
        "%s bills job %s in partition %s %g %s per hour, not %g as it said "
        "before it started; does it hold a node larger than others? Say which "
        "ones it may have (--sbatch '--constraint=...')",
        a->system->name, news->id, a->partitions[cluster], news->rate,
        a->system->currency, a->rate[cluster]);
}

static int close_cluster(struct bats_alloc *a, uint32_t cluster,
                         struct bats_error *err)
{
    int rc = 0;
    size_t n_closed = 0;
    if (a->closed[cluster])
        return 0;
    a->closed[cluster] = true;
    tell(a, "no more jobs are asked for in partition %s",
         a->partitions[cluster]);
    for (size_t i = 0; i < a->platform.n_clusters; i++)
        n_closed += a->closed[i];
    if (n_closed == a->platform.n_clusters)
        tell(a, "no partition is left: the run ends with what its "
                "present jobs still do");
    for (uint32_t i = 0; rc == 0 && i < a->platform.n_machines; i++) {
        struct bats_event event = {.type = BATS_EVENT_CLOSED, .machine = i};
        if (a->platform.machines[i].cluster == cluster)
            rc = bats_joined_handle(a->joined, &event, err);
    }
    return rc;
}

/* Counts a failure: the job ended without joining, and nobody withdrew it; but
 * the system's own failures do not count. */
static int job_failed(struct bats_alloc *a, const struct bats_queue_news *news,
                      struct bats_error *err)
{
    uint32_t place = news->place;
    const char *id = news->id;
    uint32_t cluster = a->platform.machines[place].cluster;
    struct bats_event event = {.type = BATS_EVENT_LOST, .machine = place};
    char last[200];
    if (a->lanes[place].is_taken || news->is_lost)
        return bats_joined_handle(a->joined, &event, err);
    last_output(a, id, last, sizeof last);
    tell(a, "job %s in partition %s ended before it joined%s%s", id,
         a->partitions[cluster],
         last[0] != '\0' ? ": " : ", and printed nothing", last);
    int rc = ++a->failures[cluster] >= FAILURES
                 ? close_cluster(a, cluster, err)
                 : 0;
    return rc < 0 ? rc : bats_joined_handle(a->joined, &event, err);
}

static int settle(struct bats_alloc *a, uint32_t place, struct bats_error *err)
{
    struct lane *lane = &a->lanes[place];
    struct bats_event event = {.type = BATS_EVENT_BILLED,
                               .machine = place,
                               .amount = lane->bill,
                               .energy_j = lane->energy_j};
    *lane = (struct lane){.asked = false};
    return bats_joined_handle(a->joined, &event, err);
}

static int take_news(struct bats_alloc *a, const struct bats_queue_news *news,
                     struct bats_error *err)
{
    struct lane *lane =
        news->place != BATS_NO_JOB ? &a->lanes[news->place] : NULL;
    switch (news->type) {
    case BATS_QUEUE_SUBMITTED:
        return 0;
    case BATS_QUEUE_RUNS:
        lane->end_s = news->end_s;
        return check_rate(a, news, err);
    case BATS_QUEUE_ENDED:
        return lane->had || lane->leaves ? 0 : job_failed(a, news, err);
    case BATS_QUEUE_BILLED:
        lane->is_billed = true;
        lane->bill = news->amount;
        lane->energy_j = news->energy_j;
        bats_alloc_keep_output(a, news->id);
        return 0;
    case BATS_QUEUE_SAYS:
        tell(a, "%s", news->sentence);
        return 0;
    }
    return 0;
}

/* ---- a turn ---- */

static bool is_busy(const struct bats_alloc *a, uint32_t machine)
{
    for (uint32_t slot = 0; slot < a->platform.machines[machine].slots; slot++)
        if (bats_sched_is_busy(bats_joined_sched(a->joined), machine, slot))
            return true;
    return false;
}

/* Checks the end of a job: it may have less time than requested, or be taken
 * over. */
static int check_end(struct bats_alloc *a, uint32_t place,
                     struct bats_error *err)
{
    struct lane *lane = &a->lanes[place];
    if (!lane->joined || lane->leaves || lane->end_s == lane->told_s)
        return 0;
    lane->told_s = lane->end_s;
    int64_t left_s =
        lane->end_s - BATS_ALLOC_MARGIN_S / 2 - (int64_t)time(NULL);
    int64_t left_us = left_s > 0 ? left_s * 1000000 : 0;
    if (a->now_us + left_us >= lane->ends_us)
        return 0;
    lane->ends_us = a->now_us + left_us;
    tell(a, "job %s has %lld s left, less than it asked for", lane->job,
         (long long)left_us / 1000000);
    struct bats_event event = {
        .type = BATS_EVENT_ENDS, .machine = place, .runtime = left_us};
    return bats_joined_handle(a->joined, &event, err);
}

/* Tells the watchdog of a job when its lease was prolonged. */
static void tell_lease(struct bats_alloc *a, uint32_t place)
{
    struct lane *lane = &a->lanes[place];
    int64_t paid_us = bats_sched_paid_age(bats_joined_sched(a->joined), place);
    if (!lane->joined || paid_us == lane->paid_us || place == a->own_machine)
        return;
    lane->paid_us = paid_us;
    bats_joined_lease(a->joined, lane->job, paid_us - lane->before_us);
}

/* A job that was taken over while it ran, and does not come back, costs money
 * for nothing. */
static void check_return(struct bats_alloc *a, uint32_t place)
{
    struct lane *lane = &a->lanes[place];
    if (lane->by_us == 0 || lane->had)
        return;
    if (a->now_us < lane->by_us) {
        a->due_us = lane->by_us < a->due_us ? lane->by_us : a->due_us;
        return;
    }
    lane->by_us = 0;
    bats_queue_cancel(a->queue, place, a->now_us);
}

static int send_off(struct bats_alloc *a, uint32_t place,
                    struct bats_error *err)
{
    struct lane *lane = &a->lanes[place];
    if (!lane->joined || !lane->leaves || lane->told)
        return 0;
    if (a->now_us < lane->leave_by_us && is_busy(a, place)) {
        a->due_us =
            lane->leave_by_us < a->due_us ? lane->leave_by_us : a->due_us;
        return 0;
    }
    lane->told = true;
    return bats_joined_send_off(a->joined, lane->job, err);
}

/* Tells why no jobs start, ever less often. */
static void say_why(struct bats_alloc *a)
{
    struct bats_queue_waiting w;
    bats_queue_waiting(a->queue, &w);
    if (w.n == 0 || w.reason[0] == '\0') {
        a->say_us = a->first_say_us;
        return;
    }
    int64_t from_us = a->said_us > w.since_us ? a->said_us : w.since_us;
    if (a->now_us - from_us < a->say_us)
        return;
    a->said_us = a->now_us;
    a->say_us *= 2;
    tell(a, "%s wait%s in the queue of %s, the oldest for %s: %s",
         bats_words_count(w.n, "job").s, w.n == 1 ? "s" : "", a->system->name,
         bats_words_duration((a->now_us - w.since_us) / 1000000 * BATS_SECOND)
             .s,
         w.reason);
}

/* Takes the end of the own worker as news of the queue: it costs nothing. */
static int look_at_own(struct bats_alloc *a, struct bats_error *err)
{
    struct bats_queue_news news = {.type = BATS_QUEUE_ENDED,
                                   .place = a->own_machine};
    if (!bats_alloc_own_ended(a))
        return 0;
    if (a->own_why.code != 0)
        tell(a, "%s", a->own_why.text);
    a->own_why = (struct bats_error){0};
    strcpy(news.id, a->own_id);
    int rc = take_news(a, &news, err);
    news.type = BATS_QUEUE_BILLED;
    return rc < 0 ? rc : take_news(a, &news, err);
}

static int step(void *context, struct bats_joined *joined, int64_t *due_us,
                struct bats_error *err)
{
    struct bats_alloc *a = context;
    struct bats_queue_news news;
    a->joined = joined;
    a->now_us = bats_now_us(CLOCK_MONOTONIC);
    if (a->n_taken > 0)
        tell(a, "%s of an earlier session taken over",
             bats_words_count(a->n_taken, "job").s);
    a->n_taken = 0;
    int rc = bats_queue_turn(a->queue, a->now_us, due_us, err);
    a->due_us = *due_us;
    while (rc == 0 && bats_queue_next(a->queue, &news))
        rc = take_news(a, &news, err);
    if (rc == 0)
        rc = look_at_own(a, err);
    for (uint32_t i = 0; rc == 0 && i < a->platform.n_machines; i++) {
        check_return(a, i);
        tell_lease(a, i);
        rc = check_end(a, i, err);
        if (rc == 0)
            rc = send_off(a, i, err);
        if (rc == 0 && a->lanes[i].is_billed && !a->lanes[i].joined)
            rc = settle(a, i, err);
    }
    if (rc == 0)
        say_why(a);
    *due_us = a->due_us;
    return rc;
}

static bool is_settled(void *context)
{
    const struct bats_alloc *a = context;
    for (uint32_t i = 0; i < a->platform.n_machines; i++)
        if (a->lanes[i].asked)
            return false;
    return true;
}

const struct bats_joining bats_alloc_joining = {
    .platform = give_platform,
    .expects = expects,
    .admit = admit,
    .parted = parted,
    .commanded = commanded,
    .step = step,
    .is_settled = is_settled,
};
