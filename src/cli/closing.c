/* closing: ends a run: its report, its record, its exit code. See watch.h. */
#include "cli/watch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "bats/rules.h"
#include "bats/status.h"
#include "cli/cli.h"
#include "cli/profiling.h"
#include "report/words.h"
#include "report/workflows.h"

static int exit_code(const struct bats_run_outcome *outcome,
                     const struct bats_watch *watch)
{
    struct bats_sched_status status;
    bats_sched_status(outcome->sched, &status);
    if (watch->out_errno != 0)
        return BATS_EXIT_SYSTEM;
    if (outcome->signal == SIGUSR1)
        return BATS_EXIT_DEADLINE;
    if (outcome->signal != 0)
        return 128 + outcome->signal;
    int code =
        (int)bats_finish_row(outcome->finish,
                             status.failed + status.skipped - outcome->known)
            ->exit;
    return code == BATS_EXIT_OK ? outcome->driver : code;
}

static bool is_cut_off(const struct bats_snapshot *s)
{
    enum bats_finish finish = s->status.finish;
    return bats_snapshot_left(s) > 0 && finish != BATS_FINISH_BUDGET &&
           finish != BATS_FINISH_SAMPLED;
}

/* A result that could not be recorded does not count: --resume runs the task
 * again. */
static void report_books(struct bats_snapshot *s, const struct bats_books *b)
{
    s->status = b->status;
    memcpy(s->cluster, b->cluster, b->n_clusters * sizeof *b->cluster);
    s->n_decisions = b->n_decisions;
}

static int by_work(const void *left, const void *right)
{
    const struct bats_report_category *a = left, *b = right;
    double x = a->is.done * a->is.mean, y = b->is.done * b->is.mean;
    return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

/* The work of each category, to be freed. NULL: no categories, or no
 * memory. */
static struct bats_report_category *
list_categories(const struct bats_bagfile *bag,
                const struct bats_run_outcome *outcome, uint32_t *n)
{
    const struct bats_class_names *names = &outcome->names;
    *n = names->n > 0 ? names->n : bag->n_categories;
    struct bats_report_category *list =
        *n > 0 && (bag->category != NULL || names->n > 0)
            ? calloc(*n, sizeof *list)
            : NULL;
    uint32_t shown = 0;
    for (uint32_t i = 0; list != NULL && i < *n; i++) {
        struct bats_report_category *to = &list[shown];
        to->name = names->n > 0 ? names->list[i] : bag->category_names[i];
        bats_sched_category_status(outcome->sched, i, &to->is);
        /* Leave out categories of an open bag without tasks. */
        shown += bag->category != NULL || to->is.done + to->is.left > 0;
    }
    *n = shown;
    if (*n > 0)
        qsort(list, *n, sizeof *list, by_work);
    return list;
}

static struct bats_report describe(const struct bats_watch *watch, bool kept,
                                   const struct bats_run_outcome *outcome)
{
    const struct bats_settings *set = watch->set;
    const struct bats_run_options *options = watch->options;
    bool has_file = !set->is_sweep && strcmp(set->bag, "-") != 0;
    const char *record = set->record != NULL ? set->record
                         : has_file          ? set->bag
                                             : set->joblog;
    return (struct bats_report){
        .settings = {.given = options->settings,
                     .clusters = set->clusters,
                     .policy = bats_policy_name(outcome->survey.policy),
                     .seed = options->engine.seed,
                     .time_scale = set->run.time_scale,
                     .budget = outcome->survey.budget},
        .failures = watch->failures,
        .causes = watch->causes,
        .yielded = watch->yielded,
        .is_open = options->open != NULL,
        .recorded = options->record != NULL,
        .run = options->record != NULL ? record : NULL,
        .in_a_line = watch->brief,
        .version = BATS_VERSION,
        .not_recorded = !kept || outcome->gave_up,
        .signal = watch->out_errno == 0 ? outcome->signal : 0,
        .exit_code = kept ? exit_code(outcome, watch) : BATS_EXIT_SYSTEM,
        .start_us = watch->start_us,
        .real_us = bats_watch_elapsed(watch),
        .decisions_told = watch->progress.style == BATS_PROGRESS_PLAIN,
        .charged_killed = options->record != NULL
                              ? bats_record_earlier(options->record).killed
                              : 0,
    };
}

static void print(const struct bats_watch *watch,
                  const struct bats_sched *sched, const struct bats_report *r)
{
    const struct bats_run_options *options = watch->options;
    char past[512];
    if ((watch->terminal >= 0 || watch->brief) && bats_report_is_brief(r))
        bats_report_print_brief(stderr, r);
    else
        bats_report_print(stderr, r);
    if (!watch->brief && bats_learner_outcome(watch->learner, sched, past,
                                              sizeof past)[0] != '\0') {
        putc('\n', stderr);
        bats_tell("%s", past);
    }
    if (options->output == BATS_OUTPUT_STREAM) {
        putc('\n', stderr);
        bats_words_line(stderr,
                        "The output of the tasks is kept: bats-mpi output %s",
                        watch->record);
    }
    if (r->recorded && is_cut_off(&r->snapshot))
        fputs("\nThe same command with --resume does the rest.\n", stderr);
}

/* Joules that the run's own job has used so far; 0: not known. With several
 * clusters it could not be said of which. */
static int64_t ask_energy(const struct bats_run_outcome *outcome)
{
    const struct bats_survey *s = &outcome->survey;
    const struct bats_batch_system *system = s->site.allocation.system;
    return system != NULL && system->energy != NULL &&
                   bats_lease_terms(s->billing.model).lasts &&
                   s->platform.n_clusters == 1
               ? system->energy(&s->site.allocation)
               : 0;
}

static int report(struct bats_watch *watch, FILE *json, bool kept,
                  const struct bats_run_outcome *outcome, int64_t energy_j)
{
    bats_causes_sort(&watch->causes);
    struct bats_report r = describe(watch, kept, outcome);
    struct bats_report_category *categories =
        list_categories(watch->options->bag, outcome, &r.n_categories);
    struct bats_purse_status *workflows =
        bats_workflows_take(outcome->sched, &r.n_workflows);
    r.categories = categories;
    r.workflows = workflows;
    bats_snapshot_take(&r.snapshot, &outcome->survey.platform, outcome->sched);
    if (!kept)
        report_books(&r.snapshot, &outcome->books);
    r.snapshot.cluster[0].energy_j += energy_j;
    bats_watch_finish(watch, &r.snapshot);
    if (!watch->set->quiet)
        print(watch, outcome->sched, &r);
    if (watch->out_errno != 0)
        bats_tell("stopped, because standard output cannot be written: %s",
                  strerror(watch->out_errno));
    int code = json == NULL || bats_report_json(json, &r, &bats_why) == 0
                   ? r.exit_code
                   : bats_complain(&bats_why);
    free(categories);
    free(workflows);
    return code;
}

/* Writes the record first: the bill shows what is recorded. */
static bool keep_record(struct bats_record *record)
{
    if (record == NULL || bats_record_commit(record, &bats_why) == 0)
        return true;
    bats_record_forget(record);
    bats_complain(&bats_why);
    return false;
}

static int finish_record(struct bats_record *record,
                         const struct bats_run_outcome *outcome,
                         int64_t energy_j, int code)
{
    struct bats_sched_status status;
    bats_sched_status(outcome->sched, &status);
    if (bats_record_energy(record, energy_j, &bats_why) == 0 &&
        bats_record_finish(record, status.now, outcome->finish,
                           outcome->signal, code, &bats_why) == 0)
        return code;
    bats_complain(&bats_why);
    return BATS_EXIT_SYSTEM;
}

/* Keeps what the run has learned. A sample also shows the schedules for the
 * tasks left. */
static int save_profile(const struct bats_watch *watch,
                        const struct bats_run_outcome *outcome, int code)
{
    const struct bats_settings *set = watch->set;
    bool is_sample = watch->choosing->only;
    struct bats_profile profile;
    char *path;
    int rc = bats_profiling_save(watch->options->bag,
                                 &outcome->survey.platform, outcome->sched,
                                 set->save, &profile, &path, &bats_why);
    if (rc == 0 && is_sample && outcome->finish == BATS_FINISH_SAMPLED) {
        if (!set->quiet)
            putc('\n', stderr);
        bats_profiling_show(stdout, set, &profile, outcome->sched);
        fflush(stdout);
    }
    bats_profile_release(&profile);
    if (rc < 0) {
        bats_complain(&bats_why);
        code = BATS_EXIT_SYSTEM;
    } else if (is_sample && !set->quiet) {
        putc('\n', stderr);
        bats_words_line(
            stderr,
            "Kept in %s: bats-mpi plan %s; bats-mpi run %s --profile %s "
            "--choose SCHEDULE",
            path, path, set->bag, path);
    }
    free(path);
    return code;
}

int bats_closing(struct bats_watch *watch, FILE *json,
                 const struct bats_run_outcome *outcome)
{
    const struct bats_settings *set = watch->set;
    struct bats_record *record = watch->options->record;
    bool kept = keep_record(record);
    bats_learner_end(watch->learner, outcome->run_id);
    int64_t energy_j = ask_energy(outcome);
    int code = report(watch, json, kept, outcome, energy_j);
    if (outcome->refusal.code != 0)
        code = bats_complain(&outcome->refusal);
    if (watch->choosing->only || set->save != NULL)
        code = save_profile(watch, outcome, code);
    if (record != NULL && kept)
        code = finish_record(record, outcome, energy_j, code);
    return code;
}
