/* run: the verb run. Rank 0 reads, runs and reports; the other ranks only
 * work. Every rank starts and ends MPI, even after a usage error: launchers
 * print alarming messages about ranks that do not. */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bats/sched.h"
#include "cli/alloc/alloc.h"
#include "cli/cli.h"
#include "cli/closing.h"
#include "cli/dry_run.h"
#include "cli/verbs.h"
#include "cli/history.h"
#include "cli/jobs.h"
#include "cli/longest.h"
#include "cli/options.h"
#include "cli/look.h"
#include "cli/frontier.h"
#include "cli/request.h"
#include "cli/watch.h"
#include "exec/output/outdir.h"
#include "input/clusters_file.h"
#include "input/workflow/workflow.h"
#include "report/words.h"
#include "run/launcher.h"

/* Checks that the directory can be written, before money is spent. */
static int check_directory(const char *dir, struct bats_error *err)
{
    if ((mkdir(dir, 0777) != 0 && errno != EEXIST) || access(dir, W_OK) != 0)
        return bats_refuse(err, "%s: %s", dir, strerror(errno));
    return 0;
}

static int run(const struct bats_settings *set,
               const struct bats_run_options *options,
               struct bats_watch *watch, FILE *json, struct bats_crew **crew,
               char **profile)
{
    struct bats_error err;
    struct bats_run_outcome outcome = {0};
    struct bats_observer observer = bats_watch_observer(watch);

    if (bats_run_master(options, &observer, crew, &outcome, &err) != 0) {
        bats_watch_finish(watch, NULL);
        return bats_complain(&err);
    }
    int code = bats_closing(set, options, watch, json, &outcome, profile);
    if (outcome.driver != 0)
        bats_tell("the driver ended with exit status %d", outcome.driver);
    bats_sched_destroy(outcome.sched);
    bats_survey_release(&outcome.survey);
    bats_class_names_release(&outcome.names);
    return code;
}

/* --dry-run of a sweep, as in GNU parallel. The commands of a plan or a script
 * need not show their parameters, which are printed, too. */
static int list_commands(const struct bats_settings *set,
                         const struct bats_bagfile *bag)
{
    struct bats_error err;
    int rc = bats_dry_run_list(stdout, bag, !set->is_sweep, &err);
    return rc == 0 ? BATS_EXIT_OK : bats_complain(&err);
}

/* --order longest. `record`: of an earlier run, or NULL. */
static int put_in_order(const struct bats_settings *set,
                        struct bats_run_options *options, const char *record,
                        struct bats_learner *learner, uint32_t **order,
                        struct bats_error *err)
{
    uint32_t known, n = options->bag->n_tasks;
    if (set->order == NULL || strcmp(set->order, "longest") != 0)
        return 0;
    int rc = bats_longest(options->bag, record, options->time_scale, learner,
                          order, &known, err);
    options->engine.order = *order;
    if (rc == 0 && !set->quiet && known < n)
        bats_tell("longest first: %" PRIu32 " of %" PRIu32
                  " runtimes are known; the others count as their mean",
                  known, n);
    return rc;
}

/* Makes the checks of a run: a dry run is refused if the run would be. */
static int check_only(const struct bats_settings *set,
                      struct bats_run_options *options,
                      struct bats_learner *learner, uint8_t **fresh,
                      uint32_t **order, struct bats_error *err)
{
    char *record = NULL;
    const struct bats_workflow *workflow = options->bag->workflow;
    int rc =
        workflow != NULL ? bats_workflow_fresh(workflow, NULL, fresh, err) : 0;
    options->engine.earlier.fresh = *fresh;
    if (rc == 0 && options->output_dir != NULL &&
        access(options->output_dir, W_OK) != 0 && errno != ENOENT)
        rc = bats_refuse(err, "%s: %s", options->output_dir, strerror(errno));
    if (rc == 0)
        rc = bats_history_check(set, &record, err);
    if (rc == 0)
        rc = bats_learner_init(learner, set, options->bag, NULL, err);
    options->believe = bats_learner_believe;
    options->believe_context = learner;
    if (rc == 0)
        rc = put_in_order(set, options, record, learner, order, err);
    free(record);
    return rc;
}

static int dry_run(struct bats_run_options *options)
{
    struct bats_error err;
    struct bats_survey survey;

    if (bats_run_survey(options, &survey, &err) != 0)
        return bats_complain(&err);
    options->engine.policy = survey.policy;
    options->budget = survey.budget;
    options->engine.goal.deadline = survey.deadline;
    int rc = bats_dry_run_print(stdout, options, &survey,
                                options->believe_context, &err);
    bats_survey_release(&survey);
    return rc == 0 ? BATS_EXIT_OK : bats_complain(&err);
}

/* Opens everything that will be written, so that mistakes show before the
 * run. */
static int prepare(const struct bats_settings *set,
                   const struct bats_run_options *options,
                   struct bats_choosing *choosing, struct bats_label *label,
                   struct bats_watch *watch, FILE **json,
                   struct bats_error *err)
{
    int rc = 0;
    if (options->output_dir != NULL)
        rc = check_directory(options->output_dir, err);
    if (rc == 0 && options->output == BATS_OUTPUT_STREAM && !set->quiet &&
        bats_outdir_in_use(options->output_dir))
        bats_tell("%s has the output of earlier runs; that of the tasks which "
                  "end in this one will replace it",
                  options->output_dir);
    if (rc == 0 && set->json_file != NULL) {
        *json = strcmp(set->json_file, "-") == 0 ? stdout
                                                 : fopen(set->json_file, "ae");
        if (*json == NULL)
            rc = bats_refuse(err, "%s: %s", set->json_file, strerror(errno));
    }
    if (rc == 0)
        rc = bats_watch_init(watch, set, options, choosing, label, err);
    return rc;
}

/* Tasks that ended in the sampling phase count as done, even without its
 * record. */
static int continue_profile(const struct bats_profile *profile,
                            struct bats_sched_earlier *earlier,
                            uint8_t **state, struct bats_error *err)
{
    if (profile == NULL)
        return 0;
    uint32_t n = profile->n_tasks;
    *state = malloc(n * sizeof **state);
    if (*state == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; i < n; i++)
        (*state)[i] =
            earlier->state != NULL && earlier->state[i] != BATS_TASK_PENDING
                ? earlier->state[i]
                : profile->state[i];
    earlier->state = *state;
    if (earlier->charged < bats_profile_charged(profile))
        earlier->charged = bats_profile_charged(profile);
    return 0;
}

/* True if worker jobs run the tasks; this process then has no MPI. */
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

/* Finds tasks to skip: their files are newer than their sources, as for make.
 * Tasks that the record knows as failed, stopped or interrupted, and those
 * with an edited command, are run. */
static int find_fresh(const struct bats_history *history,
                      const struct bats_bagfile *bag, uint8_t **fresh,
                      struct bats_error *err)
{
    const struct bats_workflow *workflow = bag->workflow;
    if (workflow == NULL)
        return 0;
    uint8_t *undone = calloc(workflow->n, 1);
    if (undone == NULL)
        return bats_no_memory(err);
    for (uint32_t i = 0; history->attempts != NULL && i < workflow->n; i++)
        undone[i] = history->state[i] != BATS_TASK_DONE &&
                    (history->attempts[i] > 0 || history->edited[i] ||
                     (history->begun != NULL && history->begun[i]));
    int rc = bats_workflow_fresh(workflow, undone, fresh, err);
    free(undone);
    return rc;
}

/* Everything that is open during a run. */
struct opened {
    const struct bats_settings *set;
    struct bats_request *request;
    struct bats_watch watch;
    struct bats_history history;
    struct bats_learner learner;
    struct bats_alloc *alloc; /* NULL: no jobs are bought */
    FILE *json;               /* of --json, or NULL */
    uint8_t *state, *fresh;   /* by task, for `earlier`; may be NULL */
    uint32_t *order;          /* order of tasks; may be NULL */
    char *profile;            /* profile that the run has kept, or NULL */
};

/* Tells the engine about earlier sessions, the profile and files that are up
 * to date. */
static int look_back(struct bats_run_options *options, struct opened *o,
                     struct bats_error *err)
{
    const struct bats_history *history = &o->history;
    options->engine.earlier =
        (struct bats_sched_earlier){.state = history->state,
                                    .failures = history->failures,
                                    .losses = history->losses,
                                    .yields = history->yields,
                                    .memory_more = history->memory_more,
                                    .time_more = history->time_more,
                                    .charged = history->charged};
    options->record = history->record;
    options->resume = history->resume;
    options->attempts = history->attempts;
    options->killed_run = history->killed_run;
    int rc = continue_profile(options->profile, &options->engine.earlier,
                              &o->state, err);
    if (rc == 0)
        rc = find_fresh(history, options->bag, &o->fresh, err);
    options->engine.earlier.fresh = o->fresh;
    if (rc == 0)
        rc = put_in_order(o->set, options, history->path, &o->learner,
                          &o->order, err);
    return rc;
}

/* Called after all checks: only now files of earlier runs are replaced. */
static int begin(void *context, struct bats_error *err)
{
    struct opened *o = context;
    struct bats_run_options *options = &o->request->options;
    const struct bats_bagfile *bag = options->bag;
    int rc = bats_history_begin(o->set, bag, &o->history, err);
    options->record = o->history.record;
    if (rc == 0 && options->output == BATS_OUTPUT_STREAM &&
        options->record != NULL)
        rc = bats_place_note(o->request->settings, options->output_dir,
                             o->history.path, err);
    if (rc == 0)
        rc = bats_request_settle(o->request, err);
    if (rc == 0 && o->json != NULL && o->json != stdout &&
        ftruncate(fileno(o->json), 0) != 0 && errno != EINVAL)
        rc = bats_refuse(err, "%s: %s", o->set->json_file, strerror(errno));
    if (rc < 0 || o->watch.joblog == NULL)
        return rc;
    return bats_joblog_continue(
        o->watch.joblog, bats_history_resumes(o->set) ? o->history.was : NULL,
        bag->n_tasks, err);
}

/* After an error the watch is released; the caller calls close_all in any
 * case. */
static int open_all(const struct bats_settings *set,
                    struct bats_request *request, struct opened *o,
                    struct bats_error *err)
{
    struct bats_run_options *options = &request->options;
    struct bats_history *history = &o->history;
    int rc = prepare(set, options, &request->choosing, request->tag, &o->watch,
                     &o->json, err);
    if (rc != 0)
        return rc;
    o->set = set;
    o->request = request;
    options->begin = begin;
    options->begin_context = o;
    options->believe = bats_learner_believe;
    options->believe_context = &o->learner;
    o->watch.learner = &o->learner;
    rc = bats_history_open(set, request->bag, history, err);
    if (rc == 0)
        rc = bats_learner_init(&o->learner, set, request->bag, history->path,
                               err);
    if (rc == 0 && history->resume != BATS_RECORD_NOT &&
        request->clusters != NULL)
        request->clusters->fewer_nodes = true;
    if (rc == 0)
        rc = look_back(options, o, err);
    if (rc == 0 && set->partition != NULL)
        rc = bats_alloc_create(set, history->path, options, &o->alloc, err);
    if (rc == 0 && o->alloc != NULL)
        rc = bats_alloc_note(o->alloc, request->settings, err);
    if (rc == 0)
        rc = bats_request_settle(request, err);
    if (rc == 0 && history->path != NULL)
        rc = bats_watch_live(&o->watch, history->path, err);
    if (rc != 0)
        bats_watch_release(&o->watch);
    return rc;
}

/* Adds to the profile, if any, what the closed record tells about unreliable
 * machines. */
static int keep_pools(const char *record, const char *profile, int code)
{
    struct bats_error err;
    return record == NULL || profile == NULL ||
                   bats_pools_keep(record, profile, &err) == 0
               ? code
               : bats_complain(&err);
}

/* Returns the exit code of a run that had `code` so far. */
static int close_all(const struct bats_settings *set, struct opened *o,
                     int code)
{
    struct bats_error err;
    char *record = o->history.path;
    bats_alloc_destroy(o->alloc);
    o->history.path = NULL;
    if (bats_history_close(&o->history, &err) != 0) {
        if (code != BATS_EXIT_SYSTEM) /* other errors are already reported */
            bats_complain(&err);
        code = BATS_EXIT_SYSTEM;
    } else {
        code = keep_pools(record, o->profile, code);
    }
    free(record);
    free(o->profile);
    free(o->state);
    free(o->fresh);
    free(o->order);
    bats_learner_release(&o->learner);
    if (o->json != NULL && o->json != stdout && fclose(o->json) != 0 &&
        code == BATS_EXIT_OK) {
        bats_tell("%s: %s", set->json_file, strerror(errno));
        code = BATS_EXIT_SYSTEM;
    }
    fflush(NULL);
    return code;
}

static int show_only(const struct bats_settings *set,
                     struct bats_run_options *options)
{
    struct bats_error err;
    uint8_t *fresh = NULL;
    uint32_t *order = NULL;
    struct bats_learner learner = {.path = NULL};
    bool is_refused =
        check_only(set, options, &learner, &fresh, &order, &err) < 0;
    bool is_list = set->partition == NULL && options->bag->sweep != NULL;
    int code = is_refused               ? bats_complain(&err)
               : is_list                ? list_commands(set, options->bag)
               : set->partition != NULL ? dry_run_alloc(set, options)
                                        : dry_run(options);
    bats_learner_release(&learner);
    free(fresh);
    free(order);
    /* The other ranks wait for their dismissal. */
    if ((is_refused || is_list) && !is_joined(set))
        bats_run_dismiss(NULL, bats_say);
    return code;
}

static void say_alone(const struct bats_settings *set)
{
    if (set->workers == NULL && !set->quiet && !is_joined(set) &&
        bats_launcher_ranks() == 0)
        bats_tell("1 worker, on this machine; -j N starts N (%" PRIu32
                  " cores)",
                  bats_jobs_count(0));
}

static int with_bag(const struct bats_settings *set,
                    struct bats_request *request)
{
    struct bats_error err;
    struct bats_crew *crew = NULL;
    struct opened o = {0};
    int code;

    if (set->dry_run)
        return show_only(set, &request->options);
    if (open_all(set, request, &o, &err) != 0) {
        code = bats_complain(&err);
    } else {
        say_alone(set);
        code =
            run(set, &request->options, &o.watch, o.json, &crew, &o.profile);
        bats_watch_release(&o.watch);
        if (o.alloc != NULL && bats_alloc_abandon(o.alloc) > 0)
            bats_tell("not all jobs are settled: --resume does that");
    }
    code = close_all(set, &o, code);
    if (crew != NULL || !is_joined(set))
        bats_run_dismiss(crew, bats_say);
    return code;
}

static int master(enum bats_verb verb, struct bats_settings *set)
{
    struct bats_error err;
    struct bats_request request;
    int code;

    if (bats_request_init(&request, verb, set, &err) == 0) {
        code = with_bag(set, &request);
    } else {
        code = bats_complain(&err);
        if (!is_joined(set))
            bats_run_dismiss(NULL, bats_say);
    }
    bats_request_release(&request);
    return code;
}

/* True if only the commands of a sweep are requested: without a launcher, this
 * process lists them. */
static bool lists_only(const struct bats_settings *set)
{
    return set->dry_run && set->is_sweep && bats_launcher_ranks() == 0;
}

static int list_sweep(const struct bats_settings *set)
{
    struct bats_error err;
    struct bats_bagfile *bag = NULL;
    if (bats_request_sweep(set, &bag, &err) < 0)
        return bats_complain(&err);
    int code = list_commands(set, bag);
    bats_bagfile_destroy(bag);
    return code;
}

static int check_welcome(const struct bats_settings *set,
                         struct bats_error *usage)
{
    if (bats_launcher_ranks() > 1)
        return bats_refuse(
            usage, "%s is for a run on one process: worker jobs run its tasks",
            set->welcome != NULL ? "--welcome" : "alloc");
    if (set->workers != NULL || set->run.master_works)
        return bats_refuse(usage,
                           "--welcome excludes --jobs and --master-works");
    return 0;
}

int cmd_run(enum bats_verb verb, struct bats_settings *set, int argc,
            char **argv, struct bats_error *usage)
{
    int rc = usage->code;
    if (rc == 0 && lists_only(set))
        return list_sweep(set);
    if (rc == 0 && is_joined(set))
        rc = check_welcome(set, usage);
    if (rc == 0 && set->open)
        rc = bats_open_bag_announce(set, usage);
    if (rc < 0 && verb == BATS_VERB_ALLOC)
        return bats_options_complain(verb, usage);
    /* Write calls report that a reader has gone. */
    signal(SIGPIPE, SIG_IGN);
    /* Write calls report that a file exceeds the limit of ulimit. */
    signal(SIGXFSZ, SIG_IGN);
    if (rc == 0 && is_joined(set)) {
        bats_mpi_omit();
        int code = master(verb, set);
        bats_mpi_end(code);
        return code;
    }
    return bats_jobs_run(verb, set, argc, argv, usage, master);
}
