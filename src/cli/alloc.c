#include "cli/alloc.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "report/words.h"
#include "site/account.h"
#include "site/batch_system.h"
#include "site/queue.h"
#include "util/now.h"

#define JOBS 8                     /* --max-jobs */
#define WINDOW (10 * BATS_MINUTE)  /* --window */
#define INTERVAL (10 * BATS_SECOND) /* --poll */
#define MARGIN_S 10 /* of the time limit, for start and end of a job */
#define LEAVE_US 2000000  /* for tasks to answer, beyond their grace */
#define BYE_US 5000000    /* for a job to end, after its good-bye */
#define SAY_US 60000000   /* jobs that wait, after so long at first */
#define FAILURES 3 /* jobs in a row that end before they join: give up */
#define NAME 64
#define COMMAND (3 * PATH_MAX)

/* A machine, and its job. */
struct lane {
    bool asked;    /* by the engine; until BILLED */
    bool joined;   /* its gateway is here */
    bool had;      /* it was; */
    bool leaves;   /* the engine has done with it */
    bool told;     /* and it has been sent off */
    int64_t leave_by_us;
    int64_t ends_us; /* monotonic: as the engine knows it */
    bool is_billed;  /* but has not parted yet */
    bats_money bill;
};

struct bats_alloc {
    const struct bats_job_system *system;
    struct bats_job_rules rules;
    struct bats_platform platform;
    struct bats_billing billing;
    struct bats_joining joining;
    char partitions[BATS_CLUSTERS_MAX][BATS_CLUSTER_NAME];
    double rate[BATS_CLUSTERS_MAX]; /* of a job, per hour */
    uint32_t failures[BATS_CLUSTERS_MAX];
    struct bats_job_request *requests; /* by machine */
    struct lane *lanes;                /* the same */
    struct bats_queue *queue;
    int64_t interval_us, grace_us, window_us;
    int64_t said_us, say_us; /* jobs wait: last told, and how long to wait */
    char name[NAME], door[PATH_MAX], log[PATH_MAX], command[COMMAND];
    char own[BATS_ALLOCATION_NAME]; /* the job that the run is in, or "" */
    /* Jobs of an earlier session that still wait. Beyond the machines there is
     * a place for each of them, to be rid of it. */
    struct bats_job_view *pool;
    size_t n_pool, n_listed; /* behind them, those that wait no more */
    size_t n_taken;
    bool has_begun; /* the engine has asked for the first jobs */
    char **more; /* words of --sbatch, ended by NULL */
    char *words; /* their memory */
};

static uint32_t count_places(const struct bats_alloc *a)
{
    return a->platform.n_machines + (uint32_t)a->n_pool;
}

/* ---- between engine and batch system ---- */

static void tell(struct bats_joined *joined, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void tell(struct bats_joined *joined, const char *format, ...)
{
    char sentence[400];
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof sentence, format, args);
    va_end(args);
    bats_joined_notice(joined, sentence);
}

static int give_platform(void *context, struct bats_platform *platform,
                         struct bats_error *err)
{
    struct bats_alloc *a = context;
    uint32_t n = a->platform.n_machines;
    *platform = a->platform;
    platform->machines = calloc(n, sizeof *platform->machines);
    if (platform->machines == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    memcpy(platform->machines, a->platform.machines,
           n * sizeof *platform->machines);
    return 0;
}

static bool expects(void *context)
{
    const struct bats_alloc *a = context;
    return bats_queue_count(a->queue) > 0;
}

static int admit(void *context, const struct bats_joiner *joiner,
                 uint32_t *machine, struct bats_error *why)
{
    struct bats_alloc *a = context;
    bool unsure;
    uint32_t place = bats_queue_find(a->queue, joiner->job, &unsure);
    if (place == BATS_NO_JOB && unsure)
        return 0;
    if (place == BATS_NO_JOB)
        return bats_error_set(why, BATS_ESTATE,
                              "the run does not want this job (any more)");
    struct lane *lane = &a->lanes[place];
    if (joiner->n_ranks != a->platform.machines[place].slots)
        return bats_error_set(why, BATS_ESTATE,
                              "the job has %lu ranks instead of %lu",
                              (unsigned long)joiner->n_ranks,
                              (unsigned long)a->platform.machines[place].slots);
    if (!lane->asked || lane->had || lane->leaves)
        return bats_error_set(why, BATS_ESTATE, "the job was not asked for");
    for (uint32_t k = 0; k < joiner->n_ranks; k++)
        machine[k] = place;
    lane->joined = lane->had = true;
    lane->ends_us = bats_now_us(CLOCK_MONOTONIC) + a->window_us;
    a->failures[a->platform.machines[place].cluster] = 0;
    a->said_us = 0;
    return 1;
}

static void parted(void *context, const char *job, enum bats_parted how)
{
    struct bats_alloc *a = context;
    for (uint32_t i = 0; i < a->platform.n_machines; i++)
        if (a->lanes[i].joined &&
            strcmp(bats_queue_id(a->queue, i), job) == 0) {
            a->lanes[i].joined = false;
            bats_queue_cancel(a->queue, i,
                             how == BATS_PARTED_BYE ? BYE_US : 0);
        }
}

/* A job of an earlier session that waits in this partition. */
static bool take_over(struct bats_alloc *a, uint32_t machine)
{
    uint32_t cluster = a->platform.machines[machine].cluster;
    for (size_t i = 0; i < a->n_pool; i++)
        if (a->pool[i].id[0] != '\0' &&
            strcmp(a->pool[i].partition, a->partitions[cluster]) == 0) {
            bats_queue_adopt(a->queue, machine, &a->pool[i]);
            a->pool[i].id[0] = '\0';
            a->n_taken++;
            return true;
        }
    return false;
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
        if (!take_over(a, command->machine))
            bats_queue_submit(a->queue, command->machine);
    } else if (lane->asked && !lane->leaves) {
        lane->leaves = true;
        lane->leave_by_us =
            bats_now_us(CLOCK_MONOTONIC) + a->grace_us + LEAVE_US;
        if (!lane->had)
            bats_queue_cancel(a->queue, command->machine, 0);
    }
}

/* ---- news of the batch system ---- */

static int end_is_known(struct bats_alloc *a, struct bats_joined *joined,
                        const struct bats_queue_news *news,
                        struct bats_error *err)
{
    struct lane *lane = &a->lanes[news->place];
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    int64_t left_us = (news->end_s - MARGIN_S / 2 - (int64_t)time(NULL)) *
                      INT64_C(1000000);
    if (news->end_s == 0 || !lane->joined || lane->leaves ||
        now_us + left_us >= lane->ends_us)
        return 0;
    left_us = left_us > 0 ? left_us : 0;
    lane->ends_us = now_us + left_us;
    tell(joined, "job %s has %lld s left, less than its window",
         bats_queue_id(a->queue, news->place), (long long)left_us / 1000000);
    struct bats_event event = {.type = BATS_EVENT_ENDS,
                               .machine = news->place,
                               .runtime = left_us};
    return bats_joined_handle(joined, &event, err);
}

/* Else no total would hold. */
static int check_rate(const struct bats_alloc *a,
                      const struct bats_queue_news *news,
                      struct bats_error *err)
{
    uint32_t cluster = a->platform.machines[news->place].cluster;
    if (news->rate <= a->rate[cluster] * 1.001)
        return 0;
    return bats_error_set(err, BATS_EINPUT,
                          "%s bills job %s in partition %s %g %s per hour, not "
                          "%g as it said before it started; does the job hold "
                          "whole nodes (--exclusive)? Ask for all of their "
                          "cores (--slots, --sbatch '--cpus-per-task=N')",
                          a->system->name, bats_queue_id(a->queue, news->place),
                          a->partitions[cluster], news->rate,
                          a->system->currency, a->rate[cluster]);
}

static int job_runs(struct bats_alloc *a, struct bats_joined *joined,
                    const struct bats_queue_news *news, struct bats_error *err)
{
    if (news->place >= a->platform.n_machines)
        return 0;
    int rc = check_rate(a, news, err);
    return rc < 0 ? rc : end_is_known(a, joined, news, err);
}

static int close_cluster(struct bats_alloc *a, struct bats_joined *joined,
                         uint32_t cluster, struct bats_error *err)
{
    int rc = 0;
    tell(joined, "no more jobs are asked for in partition %s",
         a->partitions[cluster]);
    for (uint32_t i = 0; rc == 0 && i < a->platform.n_machines; i++) {
        struct bats_event event = {.type = BATS_EVENT_CLOSED, .machine = i};
        if (a->platform.machines[i].cluster == cluster)
            rc = bats_joined_handle(joined, &event, err);
    }
    return rc;
}

/* It was in no run, though nobody withdrew it. */
static int job_failed(struct bats_alloc *a, struct bats_joined *joined,
                      uint32_t place, struct bats_error *err)
{
    uint32_t cluster = a->platform.machines[place].cluster;
    struct bats_event event = {.type = BATS_EVENT_LOST, .machine = place};
    tell(joined, "job %s in partition %s ended before it joined: see %s",
         bats_queue_id(a->queue, place), a->partitions[cluster], a->log);
    int rc = ++a->failures[cluster] == FAILURES
                 ? close_cluster(a, joined, cluster, err)
                 : 0;
    return rc < 0 ? rc : bats_joined_handle(joined, &event, err);
}

static int settle(struct bats_alloc *a, struct bats_joined *joined,
                  uint32_t place, struct bats_error *err)
{
    struct lane *lane = &a->lanes[place];
    struct bats_event event = {.type = BATS_EVENT_BILLED,
                               .machine = place,
                               .amount = lane->bill};
    *lane = (struct lane){.asked = false};
    return bats_joined_handle(joined, &event, err);
}

static int take_news(struct bats_alloc *a, struct bats_joined *joined,
                     const struct bats_queue_news *news, struct bats_error *err)
{
    struct lane *lane =
        news->place != BATS_NO_JOB ? &a->lanes[news->place] : NULL;
    switch (news->type) {
    case BATS_QUEUE_SUBMITTED:
        return 0;
    case BATS_QUEUE_RUNS:
        return job_runs(a, joined, news, err);
    case BATS_QUEUE_ENDED:
        return lane->had || lane->leaves ||
                       news->place >= a->platform.n_machines
                   ? 0
                   : job_failed(a, joined, news->place, err);
    case BATS_QUEUE_BILLED:
        lane->is_billed = true;
        lane->bill = news->amount;
        return 0;
    case BATS_QUEUE_SAYS:
        tell(joined, "%s", news->sentence);
        return 0;
    }
    return 0;
}

/* ---- a turn ---- */

static bool is_busy(struct bats_joined *joined, uint32_t machine,
                    uint32_t slots)
{
    for (uint32_t slot = 0; slot < slots; slot++)
        if (bats_sched_is_busy(bats_joined_sched(joined), machine, slot))
            return true;
    return false;
}

/* Jobs leave when their tasks have answered. */
static int send_off(struct bats_alloc *a, struct bats_joined *joined,
                    uint32_t place, int64_t now_us, int64_t *due_us,
                    struct bats_error *err)
{
    struct lane *lane = &a->lanes[place];
    if (!lane->joined || !lane->leaves || lane->told)
        return 0;
    if (now_us < lane->leave_by_us &&
        is_busy(joined, place, a->platform.machines[place].slots)) {
        *due_us = lane->leave_by_us < *due_us ? lane->leave_by_us : *due_us;
        return 0;
    }
    lane->told = true;
    return bats_joined_send_off(joined, bats_queue_id(a->queue, place), err);
}

/* Says why nothing comes, ever less often. */
static void say_why(struct bats_alloc *a, struct bats_joined *joined,
                    int64_t now_us)
{
    struct bats_queue_waiting w;
    char since[BATS_UNITS_TEXT], n[64];
    bats_queue_waiting(a->queue, &w);
    if (w.n == 0 || w.reason[0] == '\0') {
        a->say_us = SAY_US;
        return;
    }
    int64_t from_us = a->said_us > w.since_us ? a->said_us : w.since_us;
    if (now_us - from_us < a->say_us)
        return;
    a->said_us = now_us;
    a->say_us *= 2;
    tell(joined, "%s in the queue of %s, the oldest for %s: %s",
         bats_words_count(n, sizeof n, w.n, w.n == 1 ? "job waits" : "job"),
         a->system->name,
         bats_duration_format(since, (now_us - w.since_us) / 1000000 *
                                         BATS_SECOND),
         w.reason);
}

/* Jobs of an earlier session that the engine has not asked for are withdrawn.
 * One may have begun: it is paid. */
static int end_pool(struct bats_alloc *a, struct bats_joined *joined,
                    struct bats_error *err)
{
    int rc = 0;
    if (a->n_pool > 0 && !a->has_begun)
        tell(joined, "an earlier session has left jobs that wait in the queue");
    for (size_t i = 0; a->has_begun && i < a->n_pool; i++) {
        uint32_t place = a->platform.n_machines + (uint32_t)i;
        if (a->pool[i].id[0] != '\0') {
            bats_queue_adopt(a->queue, place, &a->pool[i]);
            bats_queue_cancel(a->queue, place, 0);
            a->pool[i].id[0] = '\0';
        }
        struct bats_event event = {.type = BATS_EVENT_BILLED,
                                   .machine = BATS_NO_MACHINE,
                                   .amount = a->lanes[place].bill};
        a->lanes[place].bill = 0;
        if (rc == 0 && event.amount > 0)
            rc = bats_joined_handle(joined, &event, err);
    }
    a->has_begun = true;
    return rc;
}

static int step(void *context, struct bats_joined *joined, int64_t *due_us,
                struct bats_error *err)
{
    struct bats_alloc *a = context;
    struct bats_queue_news news;
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    int rc = bats_queue_turn(a->queue, now_us, due_us, err);
    while (rc == 0 && bats_queue_next(a->queue, &news))
        rc = take_news(a, joined, &news, err);
    if (rc == 0 && a->n_pool > 0)
        rc = end_pool(a, joined, err);
    for (uint32_t i = 0; rc == 0 && i < a->platform.n_machines; i++) {
        rc = send_off(a, joined, i, now_us, due_us, err);
        if (rc == 0 && a->lanes[i].is_billed && !a->lanes[i].joined)
            rc = settle(a, joined, i, err);
    }
    if (rc == 0)
        say_why(a, joined, now_us);
    return rc;
}

/* All jobs are billed. */
static bool is_settled(void *context)
{
    const struct bats_alloc *a = context;
    for (uint32_t i = 0; i < a->platform.n_machines; i++)
        if (a->lanes[i].asked)
            return false;
    for (uint32_t i = a->platform.n_machines; i < count_places(a); i++)
        if (!bats_queue_is_free(a->queue, i) || a->lanes[i].bill > 0)
            return false;
    return true;
}

/* ---- before the run ---- */

static int read_partitions(struct bats_alloc *a, const char *list,
                           struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    for (const char *at = list; *at != '\0'; at += *at == ',') {
        size_t n = strcspn(at, ",");
        struct bats_error why;
        char name[BATS_CLUSTER_NAME];
        if (p->n_clusters == BATS_CLUSTERS_MAX)
            return bats_error_set(err, BATS_EINPUT,
                                  "--partition: more than %d",
                                  BATS_CLUSTERS_MAX);
        snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (n >= sizeof name ||
            bats_cluster_name_parse(name, p->clusters[p->n_clusters].name,
                                    &why) < 0)
            return bats_error_set(err, BATS_EINPUT,
                                  "--partition: '%.*s' is no name of one",
                                  (int)n, at);
        for (size_t i = 0; i < p->n_clusters; i++)
            if (strcmp(a->partitions[i], name) == 0)
                return bats_error_set(err, BATS_EINPUT,
                                      "--partition: %s is given twice", name);
        strcpy(a->partitions[p->n_clusters++], name);
        at += n;
    }
    return 0;
}

/* The words of --sbatch. */
static int split(struct bats_alloc *a, const char *text,
                 struct bats_error *err)
{
    size_t n = 0;
    a->words = strdup(text);
    a->more = calloc(strlen(text) / 2 + 2, sizeof *a->more);
    if (a->words == NULL || a->more == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (char *word = strtok(a->words, " "); word != NULL;
         word = strtok(NULL, " "))
        a->more[n++] = word;
    return 0;
}

/* For the shell. */
static bool quote(char *to, size_t size, const char *text)
{
    size_t n = 0;
    to[n++] = '\'';
    for (; *text != '\0' && n + 6 < size; text++) {
        if (*text == '\'') {
            memcpy(to + n, "'\\'", 3);
            n += 3;
        }
        to[n++] = *text;
    }
    to[n++] = '\'';
    to[n] = '\0';
    return *text == '\0';
}

/* An absolute path beside the record or the bag. */
static int beside(const char *base, const char *suffix, char path[PATH_MAX],
                  struct bats_error *err)
{
    char here[PATH_MAX] = "";
    if (base[0] != '/' && getcwd(here, sizeof here - 1) == NULL)
        return bats_error_set(err, BATS_ESYS, "getcwd: %s", strerror(errno));
    int n = snprintf(path, PATH_MAX, "%s%s%s%s", here,
                     base[0] != '/' ? "/" : "", base, suffix);
    if (n < PATH_MAX)
        return 0;
    return bats_error_set(err, BATS_EINPUT, "%.200s...: this name is too long",
                          base);
}

static int name_files(struct bats_alloc *a, const struct bats_settings *set,
                      const char *record, struct bats_error *err)
{
    char program[PATH_MAX], quoted[2][PATH_MAX];
    const char *base = record != NULL                ? record
                       : strcmp(set->bag, "-") == 0 ? "stdin"
                                                     : set->bag;
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    if (n < 0)
        return bats_error_set(err, BATS_ESYS, "/proc/self/exe: %s",
                              strerror(errno));
    program[n] = '\0';
    int rc = beside(base, ".door", a->door, err);
    if (rc == 0)
        rc = beside(base, ".jobs", a->log, err);
    if (rc == 0 && (!quote(quoted[0], PATH_MAX, program) ||
                    !quote(quoted[1], PATH_MAX, a->door)))
        rc = bats_error_set(err, BATS_EINPUT, "%.200s: too long", a->door);
    if (rc == 0)
        snprintf(a->command, sizeof a->command, "%s worker --join %s",
                 quoted[0], quoted[1]);
    return rc;
}

static struct bats_job_request request_of(const struct bats_alloc *a,
                                          const struct bats_settings *set,
                                          size_t cluster)
{
    int64_t second = BATS_SECOND;
    return (struct bats_job_request){
        .name = a->name,
        .mark = "",
        .partition = a->partitions[cluster],
        .account = set->account,
        .nodes = set->nodes,
        .ranks = set->slots,
        .limit_s = (a->platform.window + second - 1) / second + MARGIN_S,
        .least_s = (set->least + second - 1) / second,
        .output = a->log,
        .command = a->command,
        .more = (const char *const *)a->more,
    };
}

/* The time for which a job may be billed, beyond a window. */
static bats_time overrun(const struct bats_alloc *a, int64_t limit_s)
{
    int64_t round_s = a->system->round_s;
    limit_s = (limit_s + round_s - 1) / round_s * round_s;
    return (limit_s + a->rules.overrun_s) * BATS_SECOND - a->platform.window;
}

/* The rate at which the system bills a job of each partition. */
static int find_charges(struct bats_alloc *a, const struct bats_settings *set,
                        struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    struct bats_error why;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < p->n_clusters; i++) {
        struct bats_job_request request = request_of(a, set, i);
        if (bats_job_system_rate(a->system, &request, &a->rate[i], &why) < 0)
            rc = bats_error_set(err, BATS_EINPUT, "partition %s: %s",
                                a->partitions[i], why.text);
        if (rc == 0 && a->rate[i] > 1e9)
            rc = bats_error_set(err, BATS_EINPUT, "%g per hour: too much",
                                a->rate[i]);
        p->clusters[i].charge =
            rc == 0 ? bats_billing_use(bats_job_bill(a->rate[i], 3600),
                                       BATS_HOUR, p->window)
                    : 0;
        p->clusters[i].max = (uint32_t)set->max_jobs;
        p->speed[i] = 1;
        a->billing.overrun = overrun(a, request.limit_s);
    }
    return rc;
}

static int make_machines(struct bats_alloc *a,
                         const struct bats_settings *set,
                         struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    uint32_t n = 2 * (uint32_t)set->max_jobs;
    p->machines = calloc(p->n_clusters * n, sizeof *p->machines);
    a->requests = calloc(p->n_clusters * n, sizeof *a->requests);
    a->lanes = calloc(p->n_clusters * n + a->n_pool, sizeof *a->lanes);
    if (p->machines == NULL || a->requests == NULL || a->lanes == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (uint32_t c = 0; c < p->n_clusters; c++)
        for (uint32_t k = 0; k < n; k++) {
            a->requests[p->n_machines] = request_of(a, set, c);
            p->machines[p->n_machines++] = (struct bats_machine_spec){
                .cluster = c, .slots = set->nodes * set->slots};
        }
    return 0;
}

/* The run may be in a job itself, which is billed until it ends. */
static int find_own_job(struct bats_alloc *a, struct bats_error *err)
{
    struct bats_allocation own;
    struct bats_error why;
    int rc = bats_batch_ask(1, &own, &why);
    if (rc == 0 && own.system != NULL) {
        int64_t held_s = (int64_t)time(NULL) - own.start_s;
        strcpy(a->own, own.job);
        a->billing.rate = bats_job_bill(own.rate, 3600);
        a->billing.before =
            own.start_s > 0 && held_s > 0 ? bats_job_bill(own.rate, held_s)
                                          : 0;
        a->billing.leaving = a->grace_us + MARGIN_S * BATS_SECOND;
    }
    bats_allocation_release(&own);
    return rc == 0 ? 0
                   : bats_error_set(err, rc, "this job is billed, too, but %s",
                                    why.text);
}

/* ---- what an earlier session has left ---- */

#define PATIENCE_US 120000000 /* for its jobs to end */
#define NAP_US 500000

static void nap(void)
{
    struct timespec time = {NAP_US / 1000000, NAP_US % 1000000 * 1000};
    nanosleep(&time, NULL);
}

/* Ends those that run: their master has gone. Keeps those that wait. Returns
 * how many run, < 0: an error. */
static int end_running(struct bats_alloc *a, struct bats_error *err)
{
    struct bats_job_view *list;
    size_t n, waiting = 0;
    int running = 0;
    int rc = bats_job_system_list(a->system, a->name, &list, &n, err);
    for (size_t i = 0; rc == 0 && i < n; i++) {
        const char *id = list[i].id;
        if (list[i].phase == BATS_JOB_RUNS) {
            rc = bats_job_system_cancel(a->system, &id, 1, err);
            running++;
        }
        if (list[i].phase == BATS_JOB_WAITS) {
            struct bats_job_view view = list[waiting];
            list[waiting++] = list[i];
            list[i] = view;
        }
    }
    free(a->pool);
    a->pool = list;
    a->n_pool = waiting;
    a->n_listed = n;
    return rc < 0 ? rc : running;
}

/* Asks the accounting for the bills of all its jobs: those of jobs that wait
 * may still be open. */
static int find_bills(struct bats_alloc *a,
                      const struct bats_record_purchase *known,
                      struct bats_error *err)
{
    bats_money sum;
    size_t open = 0, n = 0;
    int64_t end_us = bats_now_us(CLOCK_MONOTONIC) + PATIENCE_US;
    const char **ids = calloc(a->n_listed + 1, sizeof *ids);
    if (ids == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (size_t i = 0; i < a->n_listed; i++)
        ids[n++] = a->pool[i].id;
    if (known->own[0] != '\0')
        ids[n++] = known->own;
    int rc = bats_job_system_bills(a->system, a->name, ids, n, a->own, &sum,
                                   &open, err);
    while (rc == 0 && open > a->n_pool &&
           bats_now_us(CLOCK_MONOTONIC) < end_us) {
        nap();
        rc = bats_job_system_bills(a->system, a->name, ids, n, a->own, &sum,
                                   &open, err);
    }
    free(ids);
    if (rc == 0 && open > a->n_pool)
        rc = bats_error_set(err, BATS_ESYS,
                            "the accounting of %s does not know the end of all "
                            "jobs of the earlier session",
                            a->system->name);
    a->billing.before += rc == 0 ? sum - known->charged : 0;
    return rc;
}

/* Without accounting those that were not settled count with all that was held
 * for them. */
static void estimate_bills(struct bats_alloc *a,
                           const struct bats_record_purchase *known)
{
    bats_money open = known->open;
    for (size_t i = 0; i < a->n_pool; i++)
        open -= bats_job_bill(a->pool[i].rate,
                              (a->platform.window + a->billing.overrun) /
                                  BATS_SECOND);
    a->billing.before += open > 0 ? open : 0;
}

static int find_purchase(struct bats_alloc *a,
                         const struct bats_run_options *options,
                         struct bats_error *err)
{
    struct bats_record_purchase known;
    int64_t end_us = bats_now_us(CLOCK_MONOTONIC) + PATIENCE_US;
    if (options->record == NULL || options->resume == BATS_RECORD_NOT)
        return 0;
    int rc = bats_record_purchase(options->record, &known, err);
    if (rc < 0 || known.name[0] == '\0')
        return rc;
    snprintf(a->name, sizeof a->name, "%s", known.name);
    while ((rc = end_running(a, err)) > 0 &&
           bats_now_us(CLOCK_MONOTONIC) < end_us)
        nap();
    if (rc > 0)
        rc = bats_error_set(err, BATS_ESYS,
                            "jobs of the earlier session do not end: squeue "
                            "--name=%s",
                            a->name);
    if (rc == 0 && a->rules.accounts)
        rc = find_bills(a, &known, err);
    else if (rc == 0)
        estimate_bills(a, &known);
    return rc;
}

/* The charges of earlier sessions count against the budget, too. */
static int ask_account(const struct bats_alloc *a,
                       const struct bats_settings *set, bats_money charged,
                       bats_money *budget, struct bats_error *err)
{
    struct bats_account account;
    char words[BATS_ACCOUNT_WORDS];
    if (*budget != BATS_BUDGET_ACCOUNT)
        return 0;
    if (a->system->account == NULL)
        return bats_error_set(err, BATS_EINPUT,
                              "--budget account: %s keeps no accounts; give "
                              "an amount",
                              a->system->name);
    int rc = a->system->account(set->account, &account, err);
    if (rc < 0)
        return rc;
    *budget = bats_account_left(&account);
    if (!bats_units_add(*budget, charged, budget))
        *budget = BATS_UNLIMITED;
    if (!set->quiet)
        bats_words_line(stderr, "bats-mpi: %s",
                        bats_account_words(words, &account));
    return 0;
}

static int create(struct bats_alloc *a, const struct bats_settings *set,
                  const char *record, struct bats_run_options *options,
                  struct bats_error *err)
{
    struct bats_platform *p = &a->platform;
    int64_t us = bats_now_us(CLOCK_REALTIME);
    p->window = set->window > 0 ? set->window : WINDOW;
    p->billing = BATS_BILLING_JOB;
    a->window_us = p->window;
    a->grace_us = set->grace;
    a->say_us = SAY_US;
    a->billing.model = BATS_BILLING_JOB;
    a->billing.jobs = (uint32_t)set->max_jobs;
    snprintf(a->name, sizeof a->name, "bats-%08x%06x", (unsigned)(us / 1000000),
             (unsigned)(us % 1000000) ^ ((unsigned)getpid() << 4 & 0xffffff));
    int rc = bats_job_system_find(&a->system, &a->rules, err);
    if (rc == 0)
        rc = read_partitions(a, set->partition, err);
    if (rc == 0 && set->sbatch != NULL)
        rc = split(a, set->sbatch, err);
    if (rc == 0)
        rc = name_files(a, set, record, err);
    if (rc == 0)
        rc = find_charges(a, set, err);
    if (rc == 0)
        rc = find_own_job(a, err);
    if (rc == 0)
        rc = find_purchase(a, options, err);
    if (rc == 0)
        rc = make_machines(a, set, err);
    if (rc == 0)
        rc = ask_account(a, set, options->earlier.charged, &options->budget,
                         err);
    snprintf(p->currency, sizeof p->currency, "%s",
             rc == 0 ? a->system->currency : "");
    return rc;
}

int bats_alloc_create(const struct bats_settings *set, const char *record,
                      struct bats_run_options *options,
                      struct bats_alloc **alloc, struct bats_error *err)
{
    struct bats_alloc *a = *alloc = calloc(1, sizeof *a);
    if (a == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int rc = create(a, set, record, options, err);
    struct bats_queue_options jobs = {.system = a->system,
                                     .rules = a->rules,
                                     .name = a->name,
                                     .requests = a->requests,
                                     .n = count_places(a),
                                     .interval_us = set->poll};
    if (rc == 0)
        rc = bats_queue_create(&jobs, &a->queue, err);
    if (rc < 0) {
        bats_alloc_destroy(a);
        *alloc = NULL;
        return rc;
    }
    a->joining = (struct bats_joining){.context = a,
                                       .file = a->door,
                                       .host = set->host,
                                       .port = (int)set->port,
                                       .billing = &a->billing,
                                       .platform = give_platform,
                                       .expects = expects,
                                       .admit = admit,
                                       .parted = parted,
                                       .commanded = commanded,
                                       .step = step,
                                       .is_settled = is_settled};
    options->joining = &a->joining;
    return 0;
}

void bats_alloc_destroy(struct bats_alloc *a)
{
    if (a == NULL)
        return;
    bats_queue_destroy(a->queue);
    free(a->platform.machines);
    free(a->requests);
    free(a->lanes);
    free(a->pool);
    free(a->more);
    free(a->words);
    free(a);
}

int bats_alloc_note(const struct bats_alloc *a, char **settings,
                    struct bats_error *err)
{
    json_t *all = json_loads(*settings, 0, NULL);
    int bad = json_object_set_new(all, "jobs_name", json_string(a->name));
    char *text = bad == 0
                     ? json_dumps(all, JSON_COMPACT | JSON_REAL_PRECISION(15))
                     : NULL;
    json_decref(all);
    if (text == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    free(*settings);
    *settings = text;
    return 0;
}

/* ---- at the end ---- */

#define ABANDON_US 30000000

uint32_t bats_alloc_abandon(struct bats_alloc *a)
{
    struct bats_queue_news news;
    struct bats_error err;
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    int64_t end_us = now_us + ABANDON_US;
    uint32_t left = 0;
    for (uint32_t i = 0; i < count_places(a); i++)
        bats_queue_cancel(a->queue, i, 0);
    while (bats_queue_count(a->queue) > 0 && now_us < end_us) {
        int64_t due_us = now_us + 100000;
        if (bats_queue_turn(a->queue, now_us, &due_us, &err) < 0)
            break;
        while (bats_queue_next(a->queue, &news))
            if (news.type == BATS_QUEUE_SAYS)
                bats_words_line(stderr, "bats-mpi: %s", news.sentence);
        struct timespec nap = {0, 20000000};
        nanosleep(&nap, NULL);
        now_us = bats_now_us(CLOCK_MONOTONIC);
    }
    for (uint32_t i = 0; i < a->platform.n_machines; i++)
        left += a->lanes[i].asked;
    return left;
}

/* ---- --dry-run ---- */

static void print_words(FILE *out, const struct bats_argv *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        fprintf(out, "%s%s", i > 0 ? " " : "    ", argv->words[i]);
    putc('\n', out);
}

static void print_job(const struct bats_alloc *a, FILE *out, uint32_t machine,
                      bool with_script)
{
    struct bats_argv argv = {0};
    char *script = NULL;
    a->system->submit(&a->requests[machine], &argv, &script);
    print_words(out, &argv);
    if (with_script && script != NULL)
        fprintf(out, "  with this script:\n%s", script);
    bats_argv_release(&argv);
    free(script);
}

int bats_alloc_dry_run(struct bats_alloc *a, FILE *out,
                       const struct bats_run_options *options,
                       struct bats_error *err)
{
    const struct bats_platform *p = &a->platform;
    struct bats_sched_options o = {
        .policy = options->policy,
        .n_tasks = bats_bagfile_count(options->bag),
        .clusters = p->clusters,
        .n_clusters = p->n_clusters,
        .machines = p->machines,
        .n_machines = p->n_machines,
        .window = p->window,
        .budget = options->budget,
        .billing = a->billing,
        .seed = options->seed,
    };
    struct bats_event tick = {.type = BATS_EVENT_TICK};
    struct bats_command command;
    struct bats_sched *sched;
    char money[96], held[96], n[64];
    uint32_t asked = 0;
    int rc = bats_sched_create(&o, &sched, err);
    if (rc < 0)
        return rc;
    for (size_t i = 0; i < p->n_clusters; i++)
        fprintf(out, "%s: %g %s per hour and job of %s; %s for a window, %s "
                     "held until it is billed\n",
                a->partitions[i], a->rate[i], p->currency,
                bats_words_count(n, sizeof n, p->machines[0].slots, "slot"),
                bats_words_money(money, sizeof money, p->clusters[i].charge,
                                 p->currency),
                bats_words_money(held, sizeof held,
                                 bats_billing_use(p->clusters[i].charge,
                                                  p->window,
                                                  p->window +
                                                      a->billing.overrun),
                                 p->currency));
    fputs("The first jobs:\n", out);
    rc = bats_sched_handle(sched, 0, &tick, err);
    while (rc == 0 && bats_sched_next(sched, &command))
        if (command.type == BATS_COMMAND_ACQUIRE)
            print_job(a, out, command.machine, asked++ == 0);
    if (rc == 0 && asked == 0)
        fputs("    none: the budget does not pay one\n", out);
    fputs("Nothing was started.\n", out);
    bats_sched_destroy(sched);
    return rc;
}
