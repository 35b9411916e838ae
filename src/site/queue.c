#include "site/queue.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/grow.h"
#include "util/now.h"

#define PAUSE_US 1000000      /* pause after a first failure */
#define PAUSE_MAX_US 60000000 /* longest pause, after many */
#define LOOK_US 10000         /* between two checks of a running command */
#define SOON_US 1000000       /* between two questions while jobs end */
#define AT_ONCE_US 250000     /* the same in the second after an end */
#define SAY_US 30000000       /* delay of bills before it is first mentioned */
/* time after which the accounting is not asked any more */
#define BILL_US 600000000
#define FORGOTTEN_US SAY_US /* the same for a job that was forgotten */
/* time after which no accounting knows an element that has never begun: had it,
 * lists would show its end */
#define LATE_S 5
#define AT_ONCE 100 /* jobs that one command cancels */
/* lists in a row without a job before it is gone */
#define LISTS_MISSED 2

enum state { NONE, WANTED, SENT, UNSURE, QUEUED, RUNS, ENDED };

struct job {
    enum state state;
    struct bats_job_view is; /* as far as the system has told */
    int64_t sent_us; /* start of the submission; 0: by an earlier session */
    int64_t submitted_us;
    int64_t cancel_us; /* when to cancel the job; 0: never */
    int64_t listed_us; /* last list with it, or the answer to its submission */
    int64_t ended_us;
    uint32_t missed;   /* lists without the job */
    bool seen;         /* in the current list */
    bool is_forgotten; /* missed although ended jobs stay in the list */
    bool is_known;     /* to the accounting */
    bool is_back;      /* listed again after it was missed */
    bool is_cancelled; /* the command for that has run once */
    int64_t energy_j;  /* as the accounting says with the bill; 0: unknown */
    uint32_t number;   /* number of the job at its place; outlives the job */
};

/* in the order of urgency */
enum errand { CANCEL, SUBMIT, LIST, BILLS, ERRANDS };

struct bats_queue {
    struct bats_queue_options o;
    struct job *jobs; /* o.n */
    uint32_t n;       /* places with a job */
    int64_t now_us;   /* of this turn, or the last one */
    struct bats_query query;
    enum errand errand;
    uint32_t place, n_sent; /* SUBMIT: the first place, and how many */
    uint32_t together;      /* most jobs of a submission */
    uint32_t *told;         /* places of CANCEL, n_told */
    size_t n_told;
    int64_t submit_us, pause_us;    /* earliest submission; pause after a
                                     * failure */
    int64_t list_us, list_pause_us; /* start of the last list; pause after a
                                     * failure */
    int64_t bills_us;               /* start of the last question for bills */
    bool is_stale;                  /* jobs have ended since that question */
    int64_t say_us; /* delay of bills at which to mention it next */
    struct bats_queue_news *news;
    size_t first_news, n_news, room;
    bool failed; /* memory was short */
};

/* ---- news ---- */

static void tell(struct bats_queue *j, const struct bats_queue_news *news)
{
    if (!bats_grow(&j->news, &j->room, j->n_news + 1, sizeof *j->news)) {
        j->failed = true;
        return;
    }
    struct bats_queue_news *last = &j->news[j->n_news++];
    *last = *news;
    if (news->place != BATS_NO_JOB)
        strcpy(last->id, j->jobs[news->place].is.id);
}

static void say(struct bats_queue *j, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void say(struct bats_queue *j, const char *format, ...)
{
    struct bats_queue_news news = {.type = BATS_QUEUE_SAYS,
                                   .place = BATS_NO_JOB};
    va_list args;
    va_start(args, format);
    vsnprintf(news.sentence, sizeof news.sentence, format, args);
    va_end(args);
    tell(j, &news);
}

bool bats_queue_next(struct bats_queue *j, struct bats_queue_news *news)
{
    if (j->first_news == j->n_news) {
        j->first_news = j->n_news = 0;
        return false;
    }
    *news = j->news[j->first_news++];
    return true;
}

/* ---- changes of a job ---- */

static void bill(struct bats_queue *j, uint32_t place, bats_money amount)
{
    tell(j, &(struct bats_queue_news){.type = BATS_QUEUE_BILLED,
                                      .place = place,
                                      .amount = amount,
                                      .energy_j = j->jobs[place].energy_j});
    j->jobs[place] = (struct job){.number = j->jobs[place].number};
    j->n--;
}

static void end(struct bats_queue *j, uint32_t place)
{
    struct job *job = &j->jobs[place];
    job->state = ENDED;
    job->ended_us = j->now_us;
    j->is_stale = true;
    tell(j, &(struct bats_queue_news){
                .type = BATS_QUEUE_ENDED,
                .place = place,
                .is_lost = job->is.is_sent ||
                           (job->is_forgotten && job->is.submit_s > 0)});
    if (job->is.id[0] == '\0' ||
        (!j->o.rules.accounts && job->is.start_s == 0))
        bill(j, place, 0);
}

/* A list would still show the job if it had ended. */
static bool is_kept(const struct bats_queue *j, const struct job *job)
{
    return j->list_us - job->listed_us < j->o.rules.keeps_s * 1000000;
}

/* The list no longer shows the job, and never has shown its end. If it would,
 * the system has lost the job: then the accounting never learns its end. */
static void lose(struct bats_queue *j, uint32_t place)
{
    struct job *job = &j->jobs[place];
    int64_t now_s = (int64_t)time(NULL);
    if (job->is.end_s == 0 || job->is.end_s > now_s)
        job->is.end_s = now_s;
    job->is_forgotten = is_kept(j, job);
    end(j, place);
}

/* Stores the number of the job. If another place had the number, its job is
 * gone: the system has lost its state and counts from the start. */
static void name_job(struct bats_queue *j, uint32_t place, const char *id)
{
    struct job *job = &j->jobs[place];
    for (uint32_t i = 0; i < j->o.n; i++)
        if ((j->jobs[i].state == QUEUED || j->jobs[i].state == RUNS) &&
            strcmp(j->jobs[i].is.id, id) == 0) {
            say(j,
                "%s has given the number %s to another job: the one that "
                "had it is gone",
                j->o.system->name, id);
            if (j->jobs[i].is.submit_s == 0) /* no bill of it is its own */
                j->jobs[i].is.submit_s = -1;
            lose(j, i);
        }
    strcpy(job->is.id, id);
    job->state = QUEUED;
    tell(j, &(struct bats_queue_news){.type = BATS_QUEUE_SUBMITTED,
                                      .place = place});
}

/* The job is billed for nothing while its host does not confirm that it runs:
 * the host may have died. */
static void await_host(struct bats_queue *j, uint32_t place)
{
    struct job *job = &j->jobs[place];
    bool known;
    int64_t age_us = bats_queue_age(j, place, j->now_us, &known);
    if (job->cancel_us != 0 || age_us < j->o.confirm_us)
        return;
    job->cancel_us = j->now_us;
    say(j, "job %s is given up: its host has not answered for %lld s",
        job->is.id, (long long)age_us / 1000000);
}

static void update(struct bats_queue *j, uint32_t place,
                   const struct bats_job_view *view)
{
    struct job *job = &j->jobs[place];
    bool changed = job->state != RUNS || job->is.end_s != view->end_s;
    if (job->state == UNSURE || job->state == SENT)
        name_job(j, place, view->id);
    struct bats_job_view before = job->is;
    job->missed = 0;
    job->is = *view;
    if (view->rate < 0)
        job->is.rate = before.rate;
    if (view->phase == BATS_JOB_WAITS) { /* its times are only planned */
        job->is.start_s = before.start_s;
        job->is.end_s = before.end_s;
        return;
    }
    if (view->phase == BATS_JOB_ENDED) {
        end(j, place);
    } else if (changed) {
        job->state = RUNS;
        tell(j, &(struct bats_queue_news){.type = BATS_QUEUE_RUNS,
                                          .place = place,
                                          .start_s = view->start_s,
                                          .end_s = view->end_s,
                                          .rate = view->rate});
    }
    if (view->is_sent)
        await_host(j, place);
}

/* ---- what the user of this says ---- */

int bats_queue_create(const struct bats_queue_options *options,
                      struct bats_queue **jobs, struct bats_error *err)
{
    struct bats_queue *j = *jobs = calloc(1, sizeof *j);
    if (j != NULL) {
        j->o = *options;
        j->say_us = SAY_US;
        j->now_us = bats_now_us(CLOCK_MONOTONIC);
        j->together = options->rules.together;
        j->jobs = calloc(options->n, sizeof *j->jobs);
        j->told = calloc(AT_ONCE, sizeof *j->told);
    }
    if (j != NULL && j->jobs != NULL && j->told != NULL)
        return 0;
    bats_queue_destroy(j);
    *jobs = NULL;
    return bats_no_memory(err);
}

void bats_queue_destroy(struct bats_queue *j)
{
    if (j == NULL)
        return;
    bats_query_release(&j->query);
    free(j->jobs);
    free(j->told);
    free(j->news);
    free(j);
}

void bats_queue_submit(struct bats_queue *j, uint32_t place)
{
    struct job *job = &j->jobs[place];
    *job = (struct job){
        .state = WANTED, .is.rate = -1, .number = job->number + 1};
    snprintf(job->is.mark, sizeof job->is.mark, "%s.%lu.%lu.%s", j->o.tag,
             (unsigned long)place, (unsigned long)job->number,
             j->o.requests[place].mark);
    j->n++;
}

void bats_queue_adopt(struct bats_queue *j, uint32_t place,
                      const struct bats_job_view *view)
{
    struct job *job = &j->jobs[place];
    *job =
        (struct job){.state = QUEUED, .is = *view, .submitted_us = j->now_us};
    job->listed_us = job->submitted_us;
    j->n++;
}

void bats_queue_cancel(struct bats_queue *j, uint32_t place, int64_t at_us)
{
    struct job *job = &j->jobs[place];
    if (job->state == WANTED) {
        end(j, place);
        return;
    }
    if (job->state != NONE && job->state != ENDED &&
        (job->cancel_us == 0 || at_us < job->cancel_us))
        job->cancel_us = at_us;
}

uint32_t bats_queue_find(const struct bats_queue *j, const char *id,
                         bool *unsure)
{
    *unsure = false;
    for (uint32_t i = 0; i < j->o.n; i++) {
        const struct job *job = &j->jobs[i];
        *unsure |= job->state == SENT || job->state == UNSURE;
        if ((job->state == QUEUED || job->state == RUNS) &&
            job->cancel_us == 0 && strcmp(job->is.id, id) == 0)
            return i;
    }
    return BATS_NO_JOB;
}

int64_t bats_queue_age(const struct bats_queue *j, uint32_t place,
                       int64_t now_us, bool *known)
{
    const struct job *job = &j->jobs[place];
    int64_t waited_s =
        job->is.start_s - job->is.submit_s - 1; /* whole seconds */
    *known = job->is.start_s > 0;
    if (job->sent_us == 0)
        return job->is.start_s > 0
                   ? ((int64_t)time(NULL) + 1 - job->is.start_s) * 1000000
                   : INT64_MAX;
    if (job->is.start_s == 0 || waited_s < 0)
        waited_s = 0;
    return now_us - job->sent_us - waited_s * 1000000;
}

uint32_t bats_queue_count(const struct bats_queue *j)
{
    return j->n;
}

void bats_queue_waiting(const struct bats_queue *j,
                        struct bats_queue_waiting *waiting)
{
    uint32_t most = 0;
    *waiting = (struct bats_queue_waiting){.since_us = INT64_MAX};
    for (uint32_t i = 0; i < j->o.n; i++) {
        const struct job *job = &j->jobs[i];
        uint32_t same = 0;
        if (job->state != QUEUED)
            continue;
        waiting->n++;
        if (job->submitted_us < waiting->since_us)
            waiting->since_us = job->submitted_us;
        for (uint32_t k = 0; k < j->o.n; k++)
            same += j->jobs[k].state == QUEUED &&
                    strcmp(j->jobs[k].is.reason, job->is.reason) == 0;
        if (same > most) {
            most = same;
            strcpy(waiting->reason, job->is.reason);
        }
    }
}

/* ---- answers ---- */

static int64_t longer(int64_t pause_us)
{
    if (pause_us == 0)
        return PAUSE_US;
    return 2 * pause_us < PAUSE_MAX_US ? 2 * pause_us : PAUSE_MAX_US;
}

/* Handles the answer to a submission. A failed command may still have
 * submitted the job. */
static void submitted(struct bats_queue *j, int rc, const char *answer,
                      const struct bats_error *why)
{
    struct bats_error wrong = {0};
    char id[BATS_JOB_ID - 12], element[BATS_JOB_ID];
    if (rc > 0)
        rc = bats_job_number(j->o.system, answer, element, &wrong);
    if (rc == 0)
        snprintf(id, sizeof id, "%.51s", element);
    for (uint32_t i = 0; i < j->n_sent; i++) {
        struct job *job = &j->jobs[j->place + i];
        job->state = UNSURE;
        job->missed = 0;
        job->submitted_us = job->listed_us = j->now_us;
        if (rc == 0 && j->n_sent > 1)
            snprintf(element, sizeof element, "%s_%lu", id, (unsigned long)i);
        if (rc == 0)
            name_job(j, j->place + i, element);
    }
    if (rc == 0) {
        uint32_t more = 2 * j->together, most = j->o.rules.together;
        j->together = more < most ? more : most;
        j->pause_us = 0;
        return;
    }
    bool first = j->pause_us == 0;
    j->pause_us = longer(j->pause_us);
    j->submit_us = j->now_us + j->pause_us;
    j->together = (j->n_sent + 1) / 2; /* a limit may allow some of them */
    if (first)
        say(j, "%s; trying again, ever less often",
            wrong.code != 0 ? wrong.text : why->text);
}

static uint32_t find_view(const struct bats_queue *j,
                          const struct bats_job_view *view)
{
    for (uint32_t i = 0; i < j->o.n; i++) {
        const struct job *job = &j->jobs[i];
        if (job->state != NONE && strcmp(job->is.mark, view->mark) == 0 &&
            (job->is.id[0] == '\0' || strcmp(job->is.id, view->id) == 0) &&
            (job->is.submit_s == 0 || job->is.submit_s == view->submit_s))
            return i;
    }
    return BATS_NO_JOB;
}

/* Handles a job that the list does not show: the submission has failed, or the
 * system has already forgotten the job. Right after a submission a list may
 * not show it yet. */
static void miss(struct bats_queue *j, uint32_t place)
{
    struct job *job = &j->jobs[place];
    if (++job->missed < LISTS_MISSED)
        return;
    if (job->state == ENDED)
        job->is_forgotten |= is_kept(j, job);
    else if (job->state == UNSURE && job->cancel_us == 0)
        job->state = WANTED;
    else
        lose(j, place);
}

/* A job that was missed is there again: the run does not want it any more. */
static void come_back(struct job *job, int64_t now_us)
{
    if (job->is_forgotten || job->cancel_us == 0)
        job->cancel_us = now_us;
    job->is_forgotten = false;
    job->is_back = true;
    job->missed = 0;
}

static void listed(struct bats_queue *j, int rc, const char *answer,
                   const struct bats_error *why)
{
    struct bats_job_view view;
    if (rc < 0) {
        if (j->list_pause_us == 0)
            say(j, "%s; trying again, ever less often", why->text);
        j->list_pause_us = longer(j->list_pause_us);
        j->list_us = j->now_us;
        return;
    }
    j->list_pause_us = 0;
    for (uint32_t i = 0; i < j->o.n; i++)
        j->jobs[i].seen = false;
    while (j->o.system->jobs->read_list(&answer, &view)) {
        bats_job_find_mark(&view);
        uint32_t place = find_view(j, &view);
        if (place == BATS_NO_JOB)
            continue;
        j->jobs[place].seen = true;
        j->jobs[place].listed_us = j->list_us;
        if (j->jobs[place].state != ENDED)
            update(j, place, &view);
        else if (view.phase != BATS_JOB_ENDED)
            come_back(&j->jobs[place], j->now_us);
    }
    for (uint32_t i = 0; i < j->o.n; i++) {
        enum state state = j->jobs[i].state;
        if (!j->jobs[i].seen && (state == UNSURE || state == QUEUED ||
                                 state == RUNS || state == ENDED))
            miss(j, i);
    }
}

static void cancelled(struct bats_queue *j, int rc, const char *answer,
                      const struct bats_error *why)
{
    for (size_t i = 0; i < j->n_told; i++) {
        struct job *job = &j->jobs[j->told[i]];
        int64_t again_us = j->o.rules.overrun_s * 1000000;
        if (job->is_cancelled || again_us > PAUSE_MAX_US)
            again_us = PAUSE_MAX_US;
        if (job->state != NONE) /* if it does not end, cancel it again */
            job->cancel_us = j->now_us + again_us;
        job->is_cancelled = true;
    }
    if (rc < 0)
        say(j, "%s", why->text);
}

/* Tells what the run waits for, ever less often. */
static void say_late(struct bats_queue *j)
{
    int64_t late_us = 0;
    uint32_t n = 0;
    for (uint32_t i = 0; i < j->o.n; i++)
        if (j->jobs[i].state == ENDED) {
            n++;
            if (j->now_us - j->jobs[i].ended_us > late_us)
                late_us = j->now_us - j->jobs[i].ended_us;
        }
    if (n == 0)
        j->say_us = SAY_US;
    if (late_us < j->say_us)
        return;
    j->say_us *= 2;
    say(j,
        "the accounting of %s does not yet know the end of %lu job%s, one "
        "of them for %lld s: each bill is awaited for %d s at most",
        j->o.system->name, (unsigned long)n, n == 1 ? "" : "s",
        (long long)late_us / 1000000, BILL_US / 1000000);
}

/* Slurm's accounting hears of a job's start up to 5 s later. Of a job that
 * slurmctld forgets before that it never learns, and bills nothing. */
static void bill_late(struct bats_queue *j, uint32_t place, bool answers)
{
    const struct job *job = &j->jobs[place];
    bool is_free = answers && job->is_forgotten && !job->is_known;
    say(j, "the accounting of %s does not know %sjob %s%s", j->o.system->name,
        is_free ? "" : "the end of ", job->is.id,
        is_free ? ", which was forgotten: it is not billed"
                : ": it is charged for the time it was held");
    bill(j, place, is_free ? 0 : bats_job_bill_by_time(&job->is));
}

/* How long a bill is awaited, if the accounting `answers`. One that is written
 * only when a job has ended does not come any more if the system itself has
 * forgotten the job: it was killed before. */
static int64_t patience(const struct bats_queue *j, const struct job *job,
                        bool answers)
{
    int64_t late_us = j->o.rules.late_s * 1000000;
    if (answers && late_us > 0 && job->missed >= LISTS_MISSED)
        return late_us + FORGOTTEN_US;
    return answers && job->is_forgotten ? FORGOTTEN_US : BILL_US;
}

static void billed(struct bats_queue *j, int rc, const char *answer,
                   const struct bats_error *why)
{
    struct bats_job_bill b;
    while (rc > 0 && j->o.system->jobs->read_bills(&answer, &b))
        for (uint32_t i = 0; i < j->o.n; i++)
            if (j->jobs[i].state == ENDED &&
                bats_job_is_billed(&b, j->o.name, j->jobs[i].is.id,
                                   j->jobs[i].is.submit_s)) {
                j->jobs[i].is_known = true;
                j->jobs[i].energy_j = b.energy_j;
                if (bats_job_bill_is_final(&b, &j->jobs[i].is))
                    bill(j, i, bats_job_bill(b.rate, b.seconds));
                break;
            }
    for (uint32_t i = 0; i < j->o.n; i++) {
        const struct job *job = &j->jobs[i];
        int64_t late_us = j->now_us - job->ended_us;
        int64_t late_s = j->o.rules.late_s;
        if (late_s == 0 && (job->is_forgotten || job->missed == 0) &&
            strchr(job->is.id, '_') != NULL)
            late_s = LATE_S;
        if (rc > 0 && job->state == ENDED && job->is.start_s == 0 &&
            !job->is_known && late_s > 0 && late_us > late_s * 1000000)
            bill(j, i, 0); /* it has never begun */
        if (job->state == ENDED && late_us >= patience(j, job, rc > 0))
            bill_late(j, i, rc > 0);
    }
    say_late(j);
}

static void (*const done[ERRANDS])(struct bats_queue *j, int rc,
                                   const char *answer,
                                   const struct bats_error *why) = {
    [CANCEL] = cancelled,
    [SUBMIT] = submitted,
    [LIST] = listed,
    [BILLS] = billed,
};

/* ---- questions ---- */

static void start(struct bats_queue *j, enum errand errand,
                  struct bats_argv *argv, const char *input)
{
    struct bats_error why;
    int rc = bats_query_start(&j->query, argv, input, &why);
    j->errand = errand;
    j->failed |= rc == BATS_ENOMEM;
    if (rc < 0 && !j->failed)
        done[errand](j, rc, NULL, &why);
}

/* True if `then_us` is in the future: lowers *due_us to it. */
static bool is_early(const struct bats_queue *j, int64_t then_us,
                     int64_t *due_us)
{
    if (then_us > j->now_us && then_us < *due_us)
        *due_us = then_us;
    return then_us > j->now_us;
}

/* Returns false if no job is due to be cancelled. */
static bool start_cancel(struct bats_queue *j, int64_t *due_us)
{
    const char *ids[AT_ONCE];
    struct bats_argv argv = {0};
    j->n_told = 0;
    for (uint32_t i = 0; i < j->o.n && j->n_told < AT_ONCE; i++) {
        struct job *job = &j->jobs[i];
        if (job->cancel_us == 0 ||
            (job->state != QUEUED && job->state != RUNS && !job->is_back))
            continue;
        if (is_early(j, job->cancel_us, due_us))
            continue;
        job->is_back = false;
        ids[j->n_told] = job->is.id;
        j->told[j->n_told++] = i;
    }
    if (j->n_told == 0)
        return false;
    j->o.system->jobs->cancel(j->o.name, ids, j->n_told, &argv);
    start(j, CANCEL, &argv, NULL);
    return true;
}

/* The job at this place can be submitted with the one before. */
static bool follows(const struct bats_queue *j, uint32_t place)
{
    if (place >= j->o.n)
        return false;
    const struct bats_job_request *a = &j->o.requests[place - 1], *b = a + 1;
    return j->jobs[place].state == WANTED &&
           j->jobs[place].number == j->jobs[place - 1].number &&
           strcmp(a->partition, b->partition) == 0 &&
           strcmp(a->mark, b->mark) == 0;
}

static bool start_submit(struct bats_queue *j, int64_t *due_us)
{
    uint32_t i = 0;
    while (i < j->o.n && j->jobs[i].state != WANTED)
        i++;
    if (i == j->o.n || is_early(j, j->submit_us, due_us))
        return false;
    struct bats_job_request request = j->o.requests[i];
    struct bats_argv argv = {0};
    char *script = NULL;
    j->place = i;
    for (j->n_sent = 1; j->n_sent < j->together && follows(j, i + j->n_sent);)
        j->n_sent++;
    request.name = j->o.name;
    request.mark = j->jobs[i].is.mark;
    request.copies = j->n_sent;
    j->o.system->jobs->submit(&request, &argv, &script);
    if (script == NULL)
        argv.failed = true;
    for (uint32_t k = i; k < i + j->n_sent; k++) {
        j->jobs[k].state = SENT;
        if (j->jobs[k].sent_us == 0)
            j->jobs[k].sent_us = j->now_us;
    }
    start(j, SUBMIT, &argv, script);
    free(script);
    return true;
}

/* True if the system has jobs whose end is not known here, or not to the
 * accounting for so long that the system may have forgotten them. */
static bool has_open(const struct bats_queue *j)
{
    for (uint32_t i = 0; i < j->o.n; i++) {
        const struct job *job = &j->jobs[i];
        if (job->state == UNSURE || job->state == QUEUED ||
            job->state == RUNS ||
            (job->state == ENDED &&
             j->now_us - job->ended_us > LATE_S * (int64_t)1000000))
            return true;
    }
    return false;
}

/* Time between two questions. It is short while a job is about to end or waits
 * for its bill, because its money cannot buy anything until then. */
static int64_t interval(const struct bats_queue *j)
{
    int64_t us = j->o.interval_us;
    for (uint32_t i = 0; i < j->o.n; i++) {
        const struct job *job = &j->jobs[i];
        int64_t since_us =
            job->state == ENDED ? job->ended_us : job->cancel_us;
        if (job->state == NONE || since_us == 0 ||
            j->now_us - since_us >= SAY_US)
            continue;
        int64_t soon_us =
            j->now_us - since_us < SOON_US ? AT_ONCE_US : SOON_US;
        us = soon_us < us ? soon_us : us;
    }
    return us;
}

static bool start_list(struct bats_queue *j, int64_t *due_us)
{
    struct bats_argv argv = {0};
    if (!has_open(j) ||
        is_early(j, j->list_us + interval(j) + j->list_pause_us, due_us))
        return false;
    j->list_us = j->now_us;
    j->o.system->jobs->list(j->o.name, &argv);
    start(j, LIST, &argv, NULL);
    return true;
}

/* Asks at once when jobs have ended, else as often as for the list. */
static bool start_bills(struct bats_queue *j, int64_t *due_us)
{
    const char *ids[AT_ONCE];
    struct bats_argv argv = {0};
    size_t n = 0;
    for (uint32_t i = 0; i < j->o.n && n < AT_ONCE; i++)
        if (j->jobs[i].state == ENDED && !j->o.rules.accounts)
            bill(j, i, bats_job_bill_by_time(&j->jobs[i].is));
        else if (j->jobs[i].state == ENDED)
            ids[n++] = j->jobs[i].is.id;
    if (n == 0 ||
        (!j->is_stale && is_early(j, j->bills_us + interval(j), due_us)))
        return false;
    j->is_stale = false;
    j->bills_us = j->now_us;
    j->o.system->jobs->bills(j->o.name, ids, n, &argv);
    start(j, BILLS, &argv, NULL);
    return true;
}

static bool (*const begin[ERRANDS])(struct bats_queue *j, int64_t *due_us) = {
    [CANCEL] = start_cancel,
    [SUBMIT] = start_submit,
    [LIST] = start_list,
    [BILLS] = start_bills,
};

int bats_queue_turn(struct bats_queue *j, int64_t now_us, int64_t *due_us,
                    struct bats_error *err)
{
    struct bats_error why = {0};
    char *answer = NULL;
    j->now_us = now_us;
    if (j->query.runs) {
        int rc = bats_query_poll(&j->query, 0, &answer, &why);
        if (rc != 0)
            done[j->errand](j, rc, answer, &why);
        free(answer);
    }
    bool starts = false;
    for (int e = 0; !starts && !j->query.runs && !j->failed && e < ERRANDS;
         e++)
        starts = begin[e](j, due_us);
    if (j->query.runs && j->now_us + LOOK_US < *due_us)
        *due_us = j->now_us + LOOK_US;
    if (j->failed)
        return bats_no_memory(err);
    return 0;
}
