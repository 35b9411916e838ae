#include "cli/watch.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bats/lease.h"
#include "cli/cli.h"
#include "cli/dry_run.h"
#include "cli/history.h"
#include "report/live.h"
#include "report/progress.h"
#include "report/report.h"
#include "report/words.h"
#include "report/workflows.h"
#include "run/engine_options.h"
#include "run/needs.h"
#include "util/now.h"

/* ---- the observer ---- */

static void print_found(const struct bats_survey *survey)
{
    const struct bats_platform *p = &survey->platform;
    char list[4096];
    size_t n = 0;
    list[0] = '\0';
    for (size_t i = 0; i < p->n_clusters && n < sizeof list; i++)
        n += (size_t)snprintf(
            list + n, sizeof list - n, "%s%s %s", i > 0 ? ", " : "",
            p->clusters[i].name,
            bats_words_money(p->clusters[i].charge, p->currency).s);
    if (bats_lease_terms(p->billing).waits) {
        bats_tell("a job may cost, in a window of %s: %s",
                  bats_words_duration(p->window).s, list);
        return;
    }
    bats_tell("no clusters file: charges per machine and window of %s: %s "
              "('bats-mpi clusters' says why)",
              bats_words_duration(p->window).s, list);
    if (survey->site.trouble.code != 0)
        bats_tell("%s does not say what the job holds: %s",
                  survey->site.allocation.system->name,
                  survey->site.trouble.text);
}

static void print_end(const struct bats_survey *survey)
{
    bats_tell("the %s job ends at %s: tasks that do not fit before then are "
              "left (--time-limit)",
              survey->site.allocation.system->name,
              bats_words_clock(survey->job_end_us).s);
}

/* Output must not wait for tasks that will not run: skipped ones, and those
 * done in earlier sessions. */
static void pass_over(struct bats_watch *w, const struct bats_sched *sched)
{
    uint32_t task, n = w->options->bag->n_tasks;
    while (w->inorder != NULL && (task = bats_inorder_next(w->inorder)) < n &&
           (bats_sched_is_skipped(sched, task) ||
            (w->options->engine.earlier.state != NULL &&
             w->options->engine.earlier.state[task] != BATS_TASK_PENDING) ||
            (w->options->engine.earlier.fresh != NULL &&
             w->options->engine.earlier.fresh[task])))
        bats_inorder_ended(w->inorder, task, 0);
}

/* Describes the order of tasks if it is not that of the bag. A workflow begins
 * with its longest chain. */
static const char *order_words(const struct bats_run_options *o,
                               const struct bats_platform *platform)
{
    return o->bag->graph != NULL               ? ""
           : bats_draws_at_random(o, platform) ? ", random order"
           : o->engine.order != NULL           ? ", longest first"
                                               : "";
}

static void on_started(void *context, const struct bats_survey *survey,
                       const struct bats_sched *sched)
{
    struct bats_watch *w = context;
    const struct bats_platform *platform = &survey->platform;
    uint32_t all[BATS_CLUSTERS_MAX];
    char list[4096];
    char account[BATS_ACCOUNT_WORDS], most[128] = "";
    struct bats_sched_status status;
    bats_sched_status(sched, &status);
    w->policy = survey->policy;
    w->start_us = bats_now_us(CLOCK_REALTIME);
    w->begin_us = bats_now_us(CLOCK_MONOTONIC);
    pass_over(w, sched);
    bats_learner_meet(w->learner, survey);
    if (w->set->quiet || w->brief)
        return;
    bats_emulation_warn(w->options->bag, platform, w->options->time_scale);
    bool jobs = bats_lease_terms(platform->billing).waits;
    for (size_t i = 0; i < platform->n_clusters; i++)
        all[i] = jobs ? platform->clusters[i].max
                      : bats_snapshot_machines(platform, i);
    if (survey->budget != BATS_UNLIMITED && status.charged > 0)
        snprintf(most, sizeof most, " (%s of it was charged before)",
                 bats_words_amount(status.charged).s);
    bats_tell(
        "%s on %s (%s), budget %s%s%s, seed %" PRIu64 "",
        bats_words_count(w->options->bag->n_tasks, "task").s,
        bats_words_count(jobs ? survey->billing.jobs : platform->n_machines,
                         jobs ? "job" : "machine")
            .s,
        bats_words_machines(list, sizeof list, platform->clusters,
                            platform->n_clusters, all, ", "),
        bats_words_money(survey->budget, platform->currency).s, most,
        order_words(w->options, platform), w->options->engine.seed);
    if (bats_learner_words(w->learner, list, sizeof list)[0] != '\0')
        bats_words_line(stderr, "bats-mpi: %s", list);
    if (survey->by_account)
        bats_tell("the budget is what is left in %s",
                  bats_account_words(account, &survey->account));
    if (w->options->clusters == NULL)
        print_found(survey);
    if (survey->before_estimated)
        bats_tell(
            "%s, billed for this job beyond what its earlier sessions "
            "charged, is an estimate by the time",
            bats_words_money(survey->billing.before, platform->currency).s);
    if (survey->job_end_us > 0 && w->options->engine.rules.time_limit == 0)
        print_end(survey);
}

static void tell_late(struct bats_watch *w,
                      const struct bats_platform *platform,
                      const struct bats_sched_status *s)
{
    char ask[96] = "";
    double scale =
        (double)(s->late_end - s->now) / (double)(s->deadline - s->now);
    if (w->is_late || s->late_end == 0)
        return;
    w->is_late = true;
    if (bats_lease_terms(platform->billing).lasts && scale > 1)
        snprintf(ask, sizeof ask,
                 "; in time would be %.0f machines instead of %" PRIu32,
                 ceil(scale * platform->n_machines), platform->n_machines);
    bats_progress_clear(&w->progress);
    bats_tell(
        "the deadline of %s will not be kept: all tasks are expected to be "
        "done after %s%s%s. The run goes on, as fast as the budget allows; "
        "Ctrl-C stops it (--resume continues)",
        bats_words_duration(s->deadline).s, bats_words_duration(s->late_end).s,
        s->done > 0 ? "" : " at the earliest, for none has ended yet", ask);
}

static void tell_late_workflows(struct bats_watch *w,
                                const struct bats_purse_status *list,
                                uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        if (!bats_workflows_is_late(&list[i]) || w->are_late[i])
            continue;
        w->are_late[i] = true;
        bats_progress_clear(&w->progress);
        bats_tell("the deadline of %s of workflow %s will not be kept: its "
                  "longest chain of tasks takes until %s",
                  bats_words_duration(list[i].deadline).s, list[i].name,
                  bats_words_duration(list[i].soonest).s);
    }
}

/* ---- the status file ---- */

static void fill_running(struct bats_watch *w, const struct bats_sched *sched,
                         struct bats_live_more *more)
{
    struct bats_text command = {0};
    more->n_running =
        bats_sched_longest(sched, more->running, BATS_LIVE_RUNNING);
    for (size_t i = 0; i < more->n_running; i++) {
        const struct bats_need *need =
            bats_sched_need(sched, more->running[i].task);
        if (need != NULL)
            bats_need_format(more->needs[i], BATS_LIVE_NEED, need);
        if (bats_bagfile_command(w->options->bag, more->running[i].task,
                                 &command) >= 0)
            snprintf(more->commands[i], BATS_LIVE_COMMAND, "%s",
                     command.bytes);
    }
    bats_text_release(&command);
}

static void write_live(struct bats_watch *w,
                       const struct bats_snapshot *snapshot,
                       const struct bats_sched *sched,
                       const struct bats_purse_status *workflows,
                       uint32_t n_workflows)
{
    struct bats_error err;
    struct bats_live_more more = {
        .bag = w->set->bag,
        .policy = bats_policy_name(w->policy),
        .started_us = w->start_us,
        .now_us = bats_now_us(CLOCK_REALTIME),
        .time_scale = w->options->time_scale,
        .per_hour = w->progress.per_hour,
        .causes = &w->causes,
        .workflows = workflows,
        .n_workflows = n_workflows,
    };
    for (size_t i = 0; i < snapshot->platform->n_clusters; i++)
        bats_sched_turns(sched, i, &more.turns[i]);
    fill_running(w, sched, &more);
    bats_causes_sort(&w->causes);
    json_t *object = bats_live_json(snapshot, &more);
    if (object != NULL && bats_live_write(w->live_path, object, &err) != 0 &&
        !w->live_failed) {
        w->live_failed = true;
        bats_progress_clear(&w->progress);
        bats_tell("the status for 'bats-mpi top' cannot be written: %s",
                  err.text);
    }
    json_decref(object);
}

void bats_watch_live(struct bats_watch *watch, const char *record)
{
    watch->record = record;
    if (asprintf(&watch->live_path, "%s" BATS_LIVE_SUFFIX, record) < 0)
        bats_have(NULL);
}

static void on_progress(void *context, const struct bats_platform *platform,
                        const struct bats_sched *sched)
{
    struct bats_watch *w = context;
    struct bats_snapshot snapshot;
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    bool looks = now_us - w->lived_us >= BATS_LIVE_EVERY_US;
    bool lives = w->live_path != NULL && looks;
    bool shows = w->progress.style != BATS_PROGRESS_NONE;
    uint32_t n_workflows;
    pass_over(w, sched);
    if (!lives && !shows)
        return;
    bats_snapshot_take(&snapshot, platform, sched);
    if (shows)
        tell_late(w, platform, &snapshot.status);
    if (w->choosing->on && !snapshot.has_promise)
        snapshot.phase = snapshot.sampled_at == BATS_NEVER
                             ? BATS_SNAPSHOT_SAMPLING
                             : BATS_SNAPSHOT_CHOOSING;
    /* The engine's clock stands still between events. */
    double now = (double)bats_watch_elapsed(w) * w->options->time_scale;
    if (now > (double)snapshot.status.now && now < (double)BATS_NEVER)
        snapshot.status.now = (bats_time)now;
    bats_progress_rate(&w->progress, &snapshot.status);
    if (shows)
        bats_progress_show(&w->progress, now_us, &snapshot);
    if (!looks)
        return;
    w->lived_us = now_us;
    struct bats_purse_status *workflows =
        bats_workflows_take(sched, &n_workflows);
    if (shows)
        tell_late_workflows(w, workflows, n_workflows);
    if (lives)
        write_live(w, &snapshot, sched, workflows, n_workflows);
    free(workflows);
}

static void on_choose(void *context, const struct bats_survey *survey,
                      struct bats_sched *sched, struct bats_choice *choice)
{
    struct bats_watch *w = context;
    bats_progress_clear(&w->progress);
    w->choosing->budget = survey->budget;
    bats_choosing_answer(w->choosing, &survey->platform, sched, choice);
}

/* The choice may rest on other figures than the table shown, because tasks
 * have ended since. */
static void on_chosen(void *context, const struct bats_survey *survey,
                      const struct bats_sched *sched)
{
    struct bats_watch *w = context;
    struct bats_snapshot snapshot;
    char text[512];
    bats_snapshot_take(&snapshot, &survey->platform, sched);
    if (w->set->quiet || !snapshot.has_promise)
        return;
    bats_progress_clear(&w->progress);
    bats_tell("chosen: %s", bats_report_promise(text, sizeof text, &snapshot));
}

static void on_notice(void *context, const char *sentence)
{
    struct bats_watch *w = context;
    bats_progress_clear(&w->progress);
    bats_tell("%s", sentence);
}

static void write_tagged(const struct bats_watch *w, FILE *file, uint32_t task,
                         const char *bytes, size_t n)
{
    char number[24];
    snprintf(number, sizeof number, "%" PRIu64, (uint64_t)task + 1);
    const char *tag = w->label != NULL ? bats_label_of(w->label, task) : NULL;
    while (n > 0) {
        const char *newline = memchr(bytes, '\n', n);
        size_t line = newline != NULL ? (size_t)(newline - bytes) + 1 : n;
        fprintf(file, "%s\t", tag != NULL ? tag : number);
        fwrite(bytes, 1, line, file);
        bytes += line;
        n -= line;
    }
}

static void write_output(void *context, uint32_t task, int stream,
                         const char *bytes, size_t n)
{
    struct bats_watch *w = context;
    FILE *file = stream == 1 ? stdout : stderr;
    if (stream == 1 && w->out_errno != 0)
        return;
    if (w->progress.style == BATS_PROGRESS_LINE &&
        (stream == 2 || w->out_is_shown)) {
        fputs(BATS_PROGRESS_CLEAR, file);
        w->progress.is_drawn = false;
    }
    if (w->set->tag || w->label != NULL)
        write_tagged(w, file, task, bytes, n);
    else
        fwrite(bytes, 1, n, file);
    /* stdio writes large text at once, and reports its error only once. */
    if ((fflush(file) != 0 || ferror(file)) && stream == 1) {
        w->out_errno = errno;
        raise(SIGTERM);
    }
}

static bool on_output(void *context, uint32_t task, int stream,
                      const char *bytes, size_t n)
{
    struct bats_watch *w = context;
    struct bats_error err;
    if (stream == 1 && w->received != NULL)
        w->received[task] += n;
    if (w->inorder == NULL)
        write_output(w, task, stream, bytes, n);
    else if (bats_inorder_output(w->inorder, task, stream, bytes, n, &err) <
                 0 &&
             !w->not_held) {
        w->not_held = true;
        on_notice(w, err.text);
    }
    return w->out_errno == 0;
}

static void log_end(struct bats_watch *w, const struct bats_execution *e)
{
    struct bats_error err;
    struct bats_joblog_entry entry = {
        .task = e->task,
        .host = e->host,
        .start_us = e->usage.start_us,
        .wall_us = e->usage.wall_us,
        .stdout_bytes = w->options->output == BATS_OUTPUT_LINES
                            ? w->received[e->task] + (uint64_t)e->to_come
                            : (uint64_t)e->usage.written[0],
        .exit_status = e->usage.exit_status,
        .signal = e->usage.signal,
        .command = e->command,
    };
    if (bats_joblog_write(w->joblog, &entry, &err) == 0 || w->log_is_broken)
        return;
    w->log_is_broken = true;
    on_notice(w, err.text);
}

static void on_ended(void *context, const struct bats_execution *e)
{
    struct bats_watch *w = context;
    bats_learner_note(w->learner, e);
    if (!e->is_result) { /* it will run again */
        w->yielded += !e->preempted && !e->superseded &&
                      e->usage.signal == 0 &&
                      e->usage.exit_status == BATS_STATUS_AGAIN;
        if (w->received != NULL)
            w->received[e->task] = 0;
        return;
    }
    if (w->joblog != NULL)
        log_end(w, e);
    if (w->inorder != NULL)
        bats_inorder_ended(w->inorder, e->task, e->to_come);
    if (e->usage.exit_status == 0 && e->usage.signal == 0)
        return;
    bats_causes_add(&w->causes, (int64_t)e->task + 1, e->usage.exit_status,
                    e->usage.signal, e->host, e->last, e->n_last);
    struct bats_failure failure = {
        .task = e->task,
        .exit_status = e->usage.exit_status,
        .signal = e->usage.signal,
        .runtime = e->runtime,
        .host = (char *)e->host,
        .command = (char *)e->command,
    };
    bats_failures_add(&w->failures, &failure);
}

/* ---- life cycle ---- */

void bats_watch_init(struct bats_watch *watch, const struct bats_settings *set,
                     struct bats_request *request)
{
    uint32_t n = bats_bagfile_room(request->bag);
    *watch = (struct bats_watch){.set = set,
                                 .options = &request->options,
                                 .choosing = &request->choosing,
                                 .label = request->tag,
                                 .brief = bats_settings_is_local(set),
                                 .terminal = -1};
    if (set->joblog != NULL) {
        struct bats_joblog *joblog;
        bats_must((bats_history_resumes(set)
                       ? bats_joblog_open
                       : bats_joblog_create)(set->joblog, &joblog, &bats_why));
        watch->joblog = joblog;
        watch->received = bats_have(calloc(n, sizeof *watch->received));
    }
    if (set->keep_order)
        bats_must(bats_inorder_create(n, write_output, watch, &watch->inorder,
                                      &bats_why));
    if (!set->quiet)
        watch->terminal = bats_terminal_open(STDERR_FILENO);
    bool has_line =
        !set->quiet && (watch->terminal >= 0 || set->bar || set->progress);
    int out = bats_terminal_open(STDOUT_FILENO);
    watch->out_is_shown = out >= 0;
    if (out >= 0)
        close(out);
    bats_progress_init(&watch->progress,
                       has_line                     ? BATS_PROGRESS_LINE
                       : set->quiet || watch->brief ? BATS_PROGRESS_NONE
                                                    : BATS_PROGRESS_PLAIN,
                       stderr, watch->terminal);
    watch->progress.bar = set->bar;
}

void bats_watch_release(struct bats_watch *watch)
{
    if (watch->set == NULL)
        return;
    bats_inorder_destroy(watch->inorder);
    bats_joblog_destroy(watch->joblog);
    free(watch->received);
    bats_failures_release(&watch->failures);
    bats_causes_release(&watch->causes);
    free(watch->live_path);
    if (watch->terminal >= 0)
        close(watch->terminal);
}

struct bats_observer bats_watch_observer(struct bats_watch *watch)
{
    return (struct bats_observer){
        .context = watch,
        .started = on_started,
        .ended = on_ended,
        .output = on_output,
        .progress = on_progress,
        .choose = on_choose,
        .chosen = on_chosen,
        .notice = on_notice,
    };
}

void bats_watch_finish(struct bats_watch *watch,
                       const struct bats_snapshot *snapshot)
{
    bats_progress_finish(&watch->progress, snapshot);
    bats_inorder_destroy(watch->inorder);
    watch->inorder = NULL;
    if (watch->live_path != NULL)
        unlink(watch->live_path);
}

int64_t bats_watch_elapsed(const struct bats_watch *watch)
{
    return bats_now_us(CLOCK_MONOTONIC) - watch->begin_us;
}
