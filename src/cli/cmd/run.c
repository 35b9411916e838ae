/* run: the verb run. Rank 0 reads, runs and reports; the other ranks only
 * work. Every rank starts and ends MPI, even after a usage error: the launcher
 * prints alarming messages about a rank that does not. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bats/bag.h"
#include "cli/alloc/alloc.h"
#include "cli/choosing.h"
#include "cli/cli.h"
#include "cli/dry_run.h"
#include "cli/estimation.h"
#include "cli/help.h"
#include "cli/history.h"
#include "cli/jobs.h"
#include "cli/options.h"
#include "cli/place.h"
#include "cli/watch.h"
#include "cli/welcome.h"
#include "exec/output/outdir.h"
#include "input/workflow/workflow.h"
#include "report/words.h"
#include "run/starter.h"

/* At most ten digits, because people type it to repeat the run. */
static int random_seed(uint64_t *seed, struct bats_error *err)
{
    uint32_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        return bats_error_set(err, BATS_ESYS, "no random seed: %s",
                              strerror(errno));
    *seed = bits;
    return 0;
}

/* Checks before money is spent that the directory can be written. */
static int check_directory(const char *dir, struct bats_error *err)
{
    if ((mkdir(dir, 0777) != 0 && errno != EEXIST) || access(dir, W_OK) != 0)
        return bats_error_set(err, BATS_EINPUT, "%s: %s", dir,
                              strerror(errno));
    return 0;
}

/* ---- the result ---- */

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
    return (int)bats_finish_row(outcome->finish,
                                status.failed + status.skipped)
        ->exit;
}

static const char *output_name(enum bats_output output)
{
    switch (output) {
    case BATS_OUTPUT_RESULTS:
        return "results";
    case BATS_OUTPUT_STREAM:
        return "stream";
    case BATS_OUTPUT_NONE:
        return "none";
    case BATS_OUTPUT_LINES:
        break;
    }
    return "lines";
}

/* Tasks are left, and nothing but the end of the run kept them from
 * running. */
static bool is_cut_off(const struct bats_snapshot *s)
{
    enum bats_finish finish = s->status.finish;

    return bats_snapshot_left(s) > 0 && finish != BATS_FINISH_BUDGET &&
           finish != BATS_FINISH_SAMPLED && finish != BATS_FINISH_SHRINK;
}

/* A result that could not be written does not count: --resume runs the task
 * again. */
static void report_books(struct bats_snapshot *s, const struct bats_books *b)
{
    s->status = b->status;
    memcpy(s->cluster, b->cluster, b->n_clusters * sizeof *b->cluster);
    s->n_decisions = b->n_decisions;
}

/* Those that have taken most come first. */
static int by_work(const void *left, const void *right)
{
    const struct bats_report_category *a = left, *b = right;
    double x = a->is.done * a->is.mean, y = b->is.done * b->is.mean;
    return x != y ? (x < y) - (x > y) : strcmp(a->name, b->name);
}

/* For free(). NULL: there are none, or there is no memory for them. */
static struct bats_report_category *
list_categories(const struct bats_bagfile *bag, const struct bats_sched *sched,
                uint32_t *n)
{
    const struct bats_workflow *workflow = bats_bagfile_workflow(bag);
    struct bats_report_category *list = NULL;
    if (bats_bagfile_categories(bag, n) != NULL)
        list = calloc(*n, sizeof *list);
    for (uint32_t i = 0; list != NULL && i < *n; i++) {
        list[i].name = bats_names_text(&workflow->categories, i);
        bats_sched_category_status(sched, i, &list[i].is);
    }
    *n = list != NULL ? *n : 0;
    if (*n > 0)
        qsort(list, *n, sizeof *list, by_work);
    return list;
}

/* The same, of workflows with budgets of their own. */
static struct bats_report_workflow *
list_workflows(const struct bats_bagfile *bag, const struct bats_sched *sched,
               uint32_t *n)
{
    const uint16_t *of;
    const struct bats_purse *purses = bats_bagfile_purses(bag, &of, n);
    struct bats_report_workflow *list =
        *n > 0 ? calloc(*n, sizeof *list) : NULL;
    for (uint32_t i = 0; list != NULL && i < *n; i++) {
        list[i].name = purses[i].name;
        bats_sched_purse_status(sched, i, &list[i].is);
    }
    *n = list != NULL ? *n : 0;
    return list;
}

/* Reports and returns the exit code. */
static int report(const struct bats_settings *set,
                  const struct bats_run_options *options,
                  struct bats_watch *watch, FILE *json, bool kept,
                  const struct bats_run_outcome *outcome)
{
    struct bats_error err;
    bats_causes_sort(&watch->causes);
    struct bats_report r = {
        .settings = {.bag = set->bag,
                     .clusters = set->clusters,
                     .policy = set->policy,
                     .reconfigure = set->reconfigure,
                     .tail = bats_tail_name(options->tail),
                     .seed = options->seed,
                     .time_scale = set->time_scale,
                     .monitor = set->monitor,
                     .grace = set->grace,
                     .master_works = set->master_works,
                     .output = output_name(options->output),
                     .output_dir = options->output_dir,
                     .max_output = options->max_output,
                     .joblog = set->joblog,
                     .rules = set->rules},
        .failures = watch->failures,
        .causes = watch->causes,
        .yielded = watch->yielded,
        .recorded = options->record != NULL,
        .releases = set->release != NULL,
        .reserved_before = watch->reserved_before,
        .version = BATS_VERSION,
        .not_recorded = !kept || outcome->gave_up,
        .signal = watch->out_errno == 0 ? outcome->signal : 0,
        .exit_code = kept ? exit_code(outcome, watch) : BATS_EXIT_SYSTEM,
        .start_us = watch->start_us,
        .real_us = bats_watch_elapsed(watch),
    };
    bats_snapshot_take(&r.snapshot, &outcome->survey.platform, outcome->sched);
    if (!kept)
        report_books(&r.snapshot, &outcome->books);
    struct bats_report_category *categories =
        list_categories(options->bag, outcome->sched, &r.n_categories);
    r.categories = categories;
    struct bats_report_workflow *workflows =
        list_workflows(options->bag, outcome->sched, &r.n_workflows);
    r.workflows = workflows;
    bats_watch_finish(watch);
    if (!set->quiet && watch->terminal >= 0 && bats_report_is_brief(&r))
        bats_report_print_brief(stderr, &r);
    else if (!set->quiet)
        bats_report_print(stderr, &r);
    if (!set->quiet && options->output == BATS_OUTPUT_STREAM) {
        putc('\n', stderr);
        bats_words_line(stderr,
                        "The output of the tasks is kept: bats-mpi output %s",
                        options->output_dir);
    }
    if (!set->quiet && r.recorded && is_cut_off(&r.snapshot))
        fputs("\nThe same command with --resume does the rest.\n", stderr);
    if (watch->out_errno != 0)
        fprintf(stderr,
                "bats-mpi: stopped, because standard output cannot be "
                "written: %s\n",
                strerror(watch->out_errno));
    int code = json == NULL || bats_report_json(json, &r, &err) == 0
                   ? r.exit_code
                   : bats_complain(&err);
    free(categories);
    free(workflows);
    return code;
}

/* ---- rank 0 ---- */

/* The record is written first: the bill shows what it holds. */
static bool keep_record(struct bats_record *record)
{
    struct bats_error err;
    if (record == NULL || bats_record_commit(record, &err) == 0)
        return true;
    bats_record_forget(record);
    bats_complain(&err);
    return false;
}

static int finish_record(struct bats_record *record,
                         const struct bats_run_outcome *outcome, int code)
{
    struct bats_error err;
    struct bats_sched_status status;
    bats_sched_status(outcome->sched, &status);
    if (bats_record_finish(record, status.now, outcome->finish,
                           outcome->signal, code, &err) == 0)
        return code;
    bats_complain(&err);
    return BATS_EXIT_SYSTEM;
}

/* The verb sample keeps what it has learned. */
static int save_profile(const struct bats_settings *set,
                        const struct bats_run_options *options,
                        const struct bats_run_outcome *outcome, int code)
{
    struct bats_error err;
    char *path;
    int rc = bats_choosing_save(options->bag, &outcome->survey.platform,
                                outcome->sched, set->save, &path, &err);
    if (rc == 0 && !set->quiet) {
        putc('\n', stderr);
        bats_words_line(
            stderr,
            "Kept in %s: bats-mpi plan %s; bats-mpi run %s --profile %s "
            "--choose SCHEDULE",
            path, path, set->bag, path);
    }
    free(path);
    return rc == 0 ? code : bats_complain(&err);
}

/* Explains that the requested schedule does not exist. The sentence is about
 * the money still to be paid. */
static int refuse(const struct bats_settings *set,
                  const struct bats_run_outcome *outcome)
{
    struct bats_sched_sampled sampled;
    char money[96];
    int code = bats_complain(&outcome->refusal);
    bats_sched_sampled(outcome->sched, &sampled);
    if (outcome->refusal.code == BATS_EBUDGET && set->budget != BATS_UNLIMITED)
        fprintf(stderr,
                "bats-mpi: beyond the %s that sampling was charged, which "
                "--budget has to pay, too\n",
                bats_words_money(money, sizeof money, sampled.charged,
                                 outcome->survey.platform.currency));
    return code;
}

static int run(const struct bats_settings *set,
               const struct bats_run_options *options,
               struct bats_watch *watch, FILE *json, struct bats_crew **crew)
{
    struct bats_error err;
    struct bats_run_outcome outcome = {0};
    struct bats_observer observer = bats_watch_observer(watch);

    if (bats_run_master(options, &observer, crew, &outcome, &err) != 0) {
        bats_watch_finish(watch);
        return bats_complain(&err);
    }
    bool kept = keep_record(options->record);
    int code = report(set, options, watch, json, kept, &outcome);
    if (outcome.refusal.code != 0)
        code = refuse(set, &outcome);
    if (watch->choosing->only)
        code = save_profile(set, options, &outcome, code);
    if (options->record != NULL && kept)
        code = finish_record(options->record, &outcome, code);
    bats_sched_destroy(outcome.sched);
    bats_survey_release(&outcome.survey);
    return code;
}

/* --dry-run of a sweep, as in GNU parallel. A plan or a script has parameters
 * that its commands need not show. */
static int list_commands(const struct bats_settings *set,
                         const struct bats_bagfile *bag)
{
    struct bats_error err;
    int rc = bats_dry_run_list(stdout, bag, !set->is_sweep, &err);
    return rc == 0 ? BATS_EXIT_OK : bats_complain(&err);
}

static int dry_run(struct bats_run_options *options)
{
    struct bats_error err;
    struct bats_survey survey;

    if (bats_run_survey(options, &survey, &err) != 0)
        return bats_complain(&err);
    options->budget = survey.budget;
    options->goal.deadline = survey.deadline;
    int rc = bats_dry_run_print(stdout, options, &survey.platform, &err);
    bats_survey_release(&survey);
    return rc == 0 ? BATS_EXIT_OK : bats_complain(&err);
}

/* Opens everything that will be written, so that a mistake shows before the
 * run and not at its end. */
static int prepare(const struct bats_settings *set,
                   const struct bats_run_options *options,
                   struct bats_choosing *choosing, struct bats_watch *watch,
                   FILE **json, struct bats_error *err)
{
    int rc = 0;
    if (options->output_dir != NULL)
        rc = check_directory(options->output_dir, err);
    if (rc == 0 && options->output == BATS_OUTPUT_STREAM && !set->quiet &&
        bats_outdir_in_use(options->output_dir))
        bats_words_line(
            stderr,
            "bats-mpi: %s has the output of earlier runs; that of the "
            "tasks which end in this one will replace it",
            options->output_dir);
    if (rc == 0 && set->json_file != NULL) {
        *json = strcmp(set->json_file, "-") == 0 ? stdout
                                                 : fopen(set->json_file, "we");
        if (*json == NULL)
            rc = bats_error_set(err, BATS_EINPUT, "%s: %s", set->json_file,
                                strerror(errno));
    }
    if (rc == 0)
        rc = bats_watch_init(watch, options, choosing, set->tag, set->quiet,
                             set->bar        ? BATS_WATCH_BAR
                             : set->progress ? BATS_WATCH_LINE
                                             : BATS_WATCH_AUTO,
                             set->joblog, bats_history_resumes(set), err);
    return rc;
}

/* Tasks that ended in the sampling phase count as done, even without a record
 * of it. */
static int continue_profile(const struct bats_profile *profile,
                            struct bats_sched_earlier *earlier,
                            uint8_t **state, struct bats_error *err)
{
    if (profile == NULL)
        return 0;
    *state = bats_profile_states(profile);
    if (*state == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (uint32_t i = 0; earlier->state != NULL && i < profile->n_tasks; i++)
        if (earlier->state[i] != BATS_TASK_PENDING)
            (*state)[i] = earlier->state[i];
    earlier->state = *state;
    if (earlier->charged < bats_profile_charged(profile))
        earlier->charged = bats_profile_charged(profile);
    return 0;
}

/* Worker jobs run its tasks; it has no MPI. */
static bool is_joined(const struct bats_settings *set)
{
    return set->welcome != NULL || set->partition != NULL;
}

static int dry_run_alloc(const struct bats_settings *set,
                         struct bats_run_options *options)
{
    struct bats_error err;
    struct bats_alloc *alloc;
    int rc = bats_alloc_create(set, NULL, options, &alloc, &err);
    if (rc == 0)
        rc = bats_alloc_dry_run(alloc, stdout, options, &err);
    bats_alloc_destroy(alloc);
    return rc == 0 ? BATS_EXIT_OK : bats_complain(&err);
}

/* A task whose files are newer than its sources is not run again, as make does
 * it; but one that the record knows to have failed, or to have been stopped, is
 * not done. */
static int find_fresh(const struct bats_history *history,
                      const struct bats_bagfile *bag, uint8_t **fresh,
                      struct bats_error *err)
{
    const struct bats_workflow *workflow = bats_bagfile_workflow(bag);
    if (workflow == NULL)
        return 0;
    int rc = bats_workflow_fresh(workflow, fresh, err);
    for (uint32_t i = 0; rc == 0 && history->attempts != NULL && i < workflow->n;
         i++)
        if (history->attempts[i] > 0 &&
            history->state[i] != BATS_TASK_DONE)
            (*fresh)[i] = 0;
    return rc;
}

static int with_bag(const struct bats_settings *set,
                    struct bats_run_options *options,
                    struct bats_choosing *choosing, char **settings)
{
    struct bats_error err;
    struct bats_watch watch;
    struct bats_crew *crew = NULL;
    FILE *json = NULL;
    int code;

    struct bats_history history = {0};

    if (set->dry_run && bats_bagfile_sweep(options->bag) != NULL) {
        code = list_commands(set, options->bag);
        if (!is_joined(set)) /* the other ranks wait to be sent home */
            bats_run_dismiss(NULL, bats_say);
        return code;
    }
    if (set->dry_run && set->partition != NULL)
        return dry_run_alloc(set, options);
    if (set->dry_run)
        return dry_run(options);
    uint8_t *state = NULL, *fresh = NULL;
    struct bats_alloc *alloc = NULL;
    int rc = prepare(set, options, choosing, &watch, &json, &err);
    if (rc == 0) {
        rc = bats_history_open(set, options->bag, &history, &err);
        options->earlier =
            (struct bats_sched_earlier){.state = history.state,
                                        .failures = history.failures,
                                        .losses = history.losses,
                                        .yields = history.yields,
                                        .charged = history.charged};
        if (rc == 0 && options->output == BATS_OUTPUT_STREAM &&
            history.record != NULL)
            rc = bats_place_note(settings, options->output_dir, history.path,
                                 &err);
        options->settings = *settings;
        if (rc == 0 && watch.joblog != NULL && bats_history_resumes(set))
            rc = bats_joblog_continue(watch.joblog, history.was,
                                      bats_bagfile_count(options->bag), &err);
        if (rc == 0)
            rc = continue_profile(options->profile, &options->earlier, &state,
                                  &err);
        if (rc == 0)
            rc = find_fresh(&history, options->bag, &fresh, &err);
        options->earlier.fresh = fresh;
        options->record = history.record;
        options->resume = history.resume;
        if (rc == 0 && set->partition != NULL)
            rc = bats_alloc_create(set, history.path, options, &alloc, &err);
        if (rc == 0 && alloc != NULL)
            rc = bats_alloc_note(alloc, settings, &err);
        options->settings = *settings;
        if (rc == 0 && history.record != NULL)
            rc = bats_watch_live(&watch, history.path, &err);
        if (rc != 0)
            bats_watch_release(&watch);
    }
    if (rc != 0) {
        code = bats_complain(&err);
    } else {
        options->attempts = history.attempts;
        watch.reserved_before = history.reserved;
        watch.bag = set->bag;
        code = run(set, options, &watch, json, &crew);
        bats_watch_release(&watch);
        if (alloc != NULL && bats_alloc_abandon(alloc) > 0)
            bats_words_line(stderr,
                            "bats-mpi: not all jobs are settled: --resume does "
                            "that");
    }
    bats_alloc_destroy(alloc);
    if (bats_history_close(&history, &err) != 0) {
        if (code != BATS_EXIT_SYSTEM) /* others are reported already */
            bats_complain(&err);
        code = BATS_EXIT_SYSTEM;
    }
    free(state);
    free(fresh);
    if (json != NULL && json != stdout && fclose(json) != 0 &&
        code == BATS_EXIT_OK) {
        bats_words_line(stderr, "bats-mpi: %s: %s", set->json_file,
                        strerror(errno));
        code = BATS_EXIT_SYSTEM;
    }
    fflush(NULL);
    if (crew != NULL || !is_joined(set))
        bats_run_dismiss(crew, bats_say);
    return code;
}

/* Derives the destination of output from --results, --output and --max-output.
 * *dir is for free(). */
static int choose_output(const struct bats_settings *set,
                         struct bats_run_options *options, char **dir,
                         struct bats_error *err)
{
    const char *kind = set->output != NULL ? set->output : "lines";
    options->max_output = set->max_output;
    *dir = NULL;
    if (set->results != NULL) {
        options->output = BATS_OUTPUT_RESULTS;
        options->output_dir = set->results;
    } else if (strcmp(kind, "none") == 0) {
        options->output = BATS_OUTPUT_NONE;
    } else if (strcmp(kind, "stream") == 0) {
        options->output = BATS_OUTPUT_STREAM;
        *dir = set->output_dir != NULL ? strdup(set->output_dir)
                                       : bats_place_default(set->bag);
        options->output_dir = *dir;
        if (*dir == NULL)
            return bats_error_set(err, BATS_ENOMEM, "out of memory");
    } else {
        options->output = BATS_OUTPUT_LINES;
    }
    return 0;
}

/* Derives the rules for replicas from --tail, --no-replicate and the bag.
 * *once is for free(). */
static int choose_copies(const struct bats_settings *set,
                         const struct bats_bagfile *bag,
                         struct bats_run_options *options, uint8_t **once,
                         struct bats_error *err)
{
    struct bats_error why;
    bool is_expert = options->policy == &bats_policy_expert;
    if (set->strategy != NULL && !is_expert)
        return bats_error_set(err, BATS_EINPUT,
                              "--strategy goes with --policy expert");
    if (set->utility != NULL && (!is_expert || set->strategy != NULL))
        return bats_error_set(err, BATS_EINPUT,
                              "--utility goes with --policy expert, without "
                              "--strategy");
    if (is_expert &&
        bats_strategy_parse(set->strategy != NULL ? set->strategy : "AUR",
                            &options->strategy, &why) < 0)
        return bats_error_set(err, BATS_EINPUT, "--strategy: %s", why.text);
    if (is_expert && set->strategy == NULL)
        options->utility = set->utility != NULL ? set->utility : "product";
    bats_tail_find(set->tail, &options->tail);
    if (set->no_replicate)
        options->tail = BATS_TAIL_NONE;
    uint32_t n = bats_bagfile_count(bag);
    options->once = *once = calloc(n, 1);
    if (*once == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (uint32_t i = 0; i < n; i++)
        (*once)[i] = bats_bagfile_is_once(bag, i);
    return 0;
}

/* --profile: what an earlier sampling phase has learned about this bag. */
static int load_profile(const struct bats_settings *set,
                        struct bats_run_options *options,
                        struct bats_profile *profile, struct bats_error *err)
{
    if (set->profile == NULL)
        return 0;
    int rc = bats_profile_load(set->profile, profile, err);
    if (rc == 0)
        rc = bats_profile_check_bag(profile, set->profile, options->bag, err);
    options->profile = profile;
    return rc;
}

/* --budget 30%: what `plan` makes of it, and what the sample was charged. */
static int resolve_budget(const struct bats_settings *set,
                          struct bats_run_options *options,
                          struct bats_error *err)
{
    const struct bats_profile *profile = options->profile;
    const struct bats_clusters_file *file = options->clusters;
    struct bats_estimation x;
    if (set->budget_text == NULL)
        return 0;
    int rc =
        bats_estimation_from_profile(&x, profile, file, set->confidence, err);
    if (rc < 0)
        return rc;
    x.e.plans = bats_estimation_plans(set->policy,
                                      file ? bats_clusters_file_billing(file)
                                           : profile->billing);
    rc =
        bats_estimation_budget(&x.e, set->budget_share, &options->budget, err);
    options->budget += bats_profile_charged(profile);
    return rc;
}

static int load_sweep(const struct bats_settings *set,
                      struct bats_bagfile **bag, struct bats_error *err)
{
    struct bats_sweep *sweep;
    struct bats_sweep_spec spec = set->sweep;
    spec.sources = set->source;
    int rc = bats_sweep_create(&spec, &sweep, err);
    return rc < 0 ? rc : bats_bagfile_of_sweep(sweep, bag, err);
}

/* Shows the warnings about a plan file, one in a line. */
static void warn(const struct bats_bagfile *bag)
{
    const struct bats_sweep *sweep = bats_bagfile_sweep(bag);
    const char *lines = sweep != NULL ? bats_sweep_warnings(sweep) : NULL;
    for (size_t n; lines != NULL && *lines != '\0'; lines += n + 1) {
        n = strcspn(lines, "\n");
        bats_words_line(stderr, "bats-mpi: %.*s", (int)n, lines);
    }
}

/* Loads the bag, and warns of what may not have been meant. */
static int load_bag(const struct bats_settings *set, struct bats_bagfile **bag,
                    struct bats_error *err)
{
    if (set->is_sweep)
        return load_sweep(set, bag, err);
    int rc = bats_bagfile_load(set->bag, bag, err);
    if (rc == BATS_EINPUT && access(set->bag, F_OK) != 0)
        bats_verb_suggest(set->bag, err);
    if (rc < 0 || set->quiet)
        return rc;
    warn(*bag);
    uint32_t line = bats_bagfile_dangling(*bag);
    if (line > 0)
        bats_words_line(stderr,
                        "bats-mpi: %s:%" PRIu32 ": the backslash at the end "
                        "joins nothing: every line is a task",
                        bats_bagfile_name(*bag), line);
    if (strcmp(set->bag, "-") == 0 && set->record == NULL && !set->no_record &&
        !set->dry_run)
        fputs("bats-mpi: a bag from standard input has no record, unless "
              "--record FILE names one: this run cannot be resumed\n",
              stderr);
    return 0;
}

/* By default, a deadline is met for least money. */
static struct bats_goal goal_of(const struct bats_settings *set)
{
    struct bats_goal goal = {.deadline = set->deadline.duration,
                             .confidence = set->confidence};
    bool has_deadline = goal.deadline > 0 || set->deadline.moment > 0;
    if (has_deadline)
        goal.minimize = BATS_MINIMIZE_COST;
    if (has_deadline && set->minimize != NULL)
        bats_minimize_find(set->minimize, &goal.minimize);
    return goal;
}

static int master(enum bats_verb verb, const struct bats_settings *set)
{
    struct bats_error err;
    struct bats_bagfile *bag = NULL;
    struct bats_clusters_file *clusters = NULL;
    struct bats_run_options options = {
        .policy = bats_policy_find(set->policy),
        .machine = set->machine,
        .bind = strcmp(set->bind, "none") == 0   ? BATS_BIND_NONE
                : strcmp(set->bind, "numa") == 0 ? BATS_BIND_NUMA
                                                 : BATS_BIND_CORE,
        .budget = set->budget,
        .budget_given = set->budget_from != NULL,
        .window = set->window,
        .time_scale = set->time_scale,
        .seed = set->seed,
        .grace_ms = set->grace / 1000,
        .silence_us = set->silence,
        .hosts_file = set->release,
        .restart = set->restart,
        .master_works = set->master_works,
        .monitor_interval = set->monitor,
        .rules = set->rules,
        .goal = goal_of(set),
        .deadline_us = (int64_t)set->deadline.moment * 1000000,
        .sync_us = set->sync,
        .sync_events = set->sync_events,
        .version = BATS_VERSION,
    };
    uint8_t *once = NULL;
    char *dir = NULL, *settings = bats_options_json(verb, set);
    struct bats_choosing choosing;
    struct bats_profile profile = {0};
    bats_reconfigure_find(set->reconfigure, &options.reconfigure);
    int rc = bats_choosing_init(&choosing, verb, set, &err);
    if (rc == 0)
        rc = choose_output(set, &options, &dir, &err);
    options.settings = settings;
    if (rc == 0 && settings == NULL)
        rc = bats_error_set(&err, BATS_ENOMEM, "out of memory");
    if (rc == 0)
        rc = load_bag(set, &bag, &err);
    options.bag = bag;
    options.asks = choosing.strategies;
    options.sampling =
        (struct bats_sched_sampling){.on = choosing.on,
                                     .offers = choosing.offers ||
                                               choosing.goes_on,
                                     .workers = set->sample_on,
                                     .confidence = set->confidence,
                                     .cushion = set->cushion};
    if (rc == 0)
        rc = load_profile(set, &options, &profile, &err);
    if (rc == 0)
        rc = choose_copies(set, bag, &options, &once, &err);
    if (rc == 0 && set->clusters != NULL)
        rc = bats_clusters_file_load(set->clusters, set->window, &clusters,
                                     &err);
    options.clusters = clusters;
    if (rc == 0)
        rc = resolve_budget(set, &options, &err);
    if (rc == 0 && !set->seed_given)
        rc = random_seed(&options.seed, &err);
    struct bats_welcome welcome = {0};
    if (rc == 0 && set->welcome != NULL) {
        rc = bats_welcome_init(&welcome, clusters, set->welcome, set->host,
                               (int)set->port, &err);
        options.joining = &welcome.joining;
        if (rc == 0 && !set->quiet)
            bats_words_line(stderr,
                            "bats-mpi: worker jobs join by: bats-mpi worker "
                            "--join %s",
                            set->welcome);
    }

    int code;
    if (rc == 0) {
        if (clusters != NULL && set->release != NULL)
            bats_clusters_file_allow_fewer(clusters);
        code = with_bag(set, &options, &choosing, &settings);
    } else {
        code = bats_complain(&err);
        if (!is_joined(set))
            bats_run_dismiss(NULL, bats_say);
    }
    bats_welcome_release(&welcome);
    bats_profile_release(&profile);
    bats_clusters_file_destroy(clusters);
    bats_bagfile_destroy(bag);
    free(settings);
    free(once);
    free(dir);
    return code;
}

static int worker(int rank, const struct bats_settings *set)
{
    struct bats_error err;
    int rc = bats_run_worker(set->silence, &err);
    if (rc != 0)
        fprintf(stderr, "bats-mpi: rank %d: %s\n", rank, err.text);
    return bats_exit_of(rc);
}

/* Nothing but the commands of a sweep is wanted: without a launcher, this
 * process can do it. */
static bool lists_only(const struct bats_settings *set)
{
    return set->dry_run && set->is_sweep && bats_starter_ranks() == 0 &&
           !bats_starter_is_used();
}

static int list_sweep(const struct bats_settings *set)
{
    struct bats_error err;
    struct bats_bagfile *bag = NULL;
    if (load_sweep(set, &bag, &err) < 0)
        return bats_complain(&err);
    int code = list_commands(set, bag);
    bats_bagfile_destroy(bag);
    return code;
}

static int check_welcome(const struct bats_settings *set,
                         struct bats_error *usage)
{
    if (bats_starter_ranks() > 1)
        return bats_error_set(usage, BATS_EINPUT,
                              "%s is for a run on one process: worker "
                              "jobs run its tasks",
                              set->welcome != NULL ? "--welcome" : "alloc");
    if (set->jobs != 1 || set->master_works || set->release != NULL)
        return bats_error_set(usage, BATS_EINPUT,
                              "--welcome excludes --jobs, --master-works and "
                              "--release");
    if (set->port > 65535)
        return bats_error_set(usage, BATS_EINPUT, "--port: at most 65535");
    return 0;
}

static int start(enum bats_verb verb, int argc, char **argv)
{
    struct bats_settings set;
    struct bats_error usage = {0}, err;
    int rank, n_ranks, code;

    int rc = bats_options_parse(verb, argc, argv, &set, &usage);
    if (rc == 0 && set.help) {
        bats_help_verb(stdout, verb);
        return BATS_EXIT_OK;
    }
    if (rc == 0 && lists_only(&set))
        return list_sweep(&set);
    if (rc == 0 && is_joined(&set))
        rc = check_welcome(&set, &usage);
    if (rc < 0 && verb == BATS_VERB_ALLOC)
        return bats_options_complain(verb, &usage);
    if (rc == 0 && !is_joined(&set) &&
        (code = bats_jobs_start(verb, &set, argv, &usage)) >= 0)
        return code;
    /* If the reader of the output goes away, writing reports it. */
    signal(SIGPIPE, SIG_IGN);
    /* If a file would grow beyond the limit of ulimit, writing reports it. */
    signal(SIGXFSZ, SIG_IGN);
    if (rc == 0 && is_joined(&set)) {
        bats_mpi_omit();
        code = master(verb, &set);
        bats_mpi_end(code);
        return code;
    }
    if (bats_mpi_start(&argc, &argv, set.silence, &rank, &n_ranks, &err) != 0)
        return bats_complain(&err);
    if (rank != 0) {
        code = worker(rank, &set);
    } else if (usage.code != 0) {
        bats_run_dismiss(NULL, bats_say);
        code = bats_options_complain(verb, &usage);
    } else {
        code = master(verb, &set);
    }
    bats_mpi_end(code);
    return code;
}

int cmd_run(int argc, char **argv)
{
    return start(BATS_VERB_RUN, argc, argv);
}

int cmd_alloc(int argc, char **argv)
{
    return start(BATS_VERB_ALLOC, argc, argv);
}

int cmd_sample(int argc, char **argv)
{
    return start(BATS_VERB_SAMPLE, argc, argv);
}
