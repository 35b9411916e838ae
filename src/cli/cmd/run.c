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
#include "cli/dry_run.h"
#include "cli/history.h"
#include "cli/look.h"
#include "cli/request.h"
#include "cli/verbs.h"
#include "cli/watch.h"
#include "input/clusters_file.h"
#include "input/textfile.h"
#include "input/workflow/workflow.h"
#include "run/launcher.h"

struct opened {
    const struct bats_settings *set;
    bool dismisses; /* ranks wait for their dismissal */
    struct bats_crew *crew;
    struct bats_request request;
    struct bats_watch watch;
    struct bats_history history;
    struct bats_learner learner;
    struct bats_alloc *alloc; /* NULL: no jobs are bought */
    FILE *json;               /* of --json, or NULL */
    uint8_t *state, *fresh;   /* by task, for `earlier`; may be NULL */
    uint32_t *order;          /* order of tasks; may be NULL */
};

/* True if worker jobs run the tasks; this process then has no MPI. */
static bool is_joined(const struct bats_settings *set)
{
    return set->welcome != NULL || set->partition != NULL;
}

/* ---- ending ---- */

static int end(struct opened *o, int code)
{
    bats_watch_release(&o->watch);
    bats_alloc_destroy(o->alloc);
    if (bats_history_close(&o->history, &bats_why) != 0) {
        if (code != BATS_EXIT_SYSTEM) /* other errors are already reported */
            bats_complain(&bats_why);
        code = BATS_EXIT_SYSTEM;
    }
    free(o->state);
    free(o->fresh);
    free(o->order);
    bats_learner_release(&o->learner);
    if (o->json != NULL && o->json != stdout && fclose(o->json) != 0 &&
        code == BATS_EXIT_OK) {
        bats_tell("%s: %s", o->set->json_file, strerror(errno));
        code = BATS_EXIT_SYSTEM;
    }
    fflush(NULL);
    if (o->crew != NULL || o->dismisses)
        bats_run_dismiss(o->crew, bats_say);
    bats_request_release(&o->request);
    return code;
}

static int die(void *context, int code)
{
    bats_at_death(NULL, NULL);
    code = end(context, code);
    bats_mpi_end(code);
    return code;
}

/* ---- looking back ---- */

/* --order longest. `record`: of an earlier run, or NULL. */
static void put_in_order(struct opened *o, const char *record)
{
    struct bats_run_options *options = &o->request.options;
    uint32_t known, n = options->bag->n_tasks;
    if (o->set->order == NULL || strcmp(o->set->order, "longest") != 0)
        return;
    o->order = bats_learner_longest(&o->learner, options->bag, record,
                                    options->time_scale, &known);
    options->engine.order = o->order;
    if (!o->set->quiet && known < n)
        bats_tell("longest first: %" PRIu32 " of %" PRIu32
                  " runtimes are known; the others count as their mean",
                  known, n);
}

/* Tasks that ended in the sampling phase count as done, even without its
 * record. */
static void continue_profile(struct opened *o)
{
    const struct bats_profile *profile = o->request.options.profile;
    struct bats_sched_earlier *earlier = &o->request.options.engine.earlier;
    if (profile == NULL)
        return;
    uint32_t n = profile->n_tasks;
    o->state = bats_have(malloc(n * sizeof *o->state));
    for (uint32_t i = 0; i < n; i++)
        o->state[i] =
            earlier->state != NULL && earlier->state[i] != BATS_TASK_PENDING
                ? earlier->state[i]
                : profile->state[i];
    earlier->state = o->state;
    if (earlier->charged < bats_profile_charged(profile))
        earlier->charged = bats_profile_charged(profile);
}

/* Finds tasks to skip: their files are newer than their sources, as for make.
 * Tasks that the record knows as failed, stopped or interrupted, and those
 * with an edited command, are run. */
static void find_fresh(struct opened *o)
{
    const struct bats_history *h = &o->history;
    const struct bats_workflow *workflow = o->request.bag->workflow;
    if (workflow == NULL)
        return;
    uint8_t *undone = bats_have(calloc(workflow->n, 1));
    for (uint32_t i = 0; h->attempts != NULL && i < workflow->n; i++)
        undone[i] = h->state[i] != BATS_TASK_DONE &&
                    (h->attempts[i] > 0 || h->edited[i] ||
                     (h->begun != NULL && h->begun[i]));
    bats_must(bats_workflow_fresh(workflow, undone, &o->fresh, &bats_why));
    free(undone);
    o->request.options.engine.earlier.fresh = o->fresh;
}

static void look_back(struct opened *o)
{
    const struct bats_history *history = &o->history;
    struct bats_run_options *options = &o->request.options;
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
    continue_profile(o);
    find_fresh(o);
}

static void believe(struct opened *o, const char *record)
{
    struct bats_run_options *options = &o->request.options;
    bats_learner_init(&o->learner, o->set, o->request.bag, record);
    options->believe = bats_learner_believe;
    options->believe_context = &o->learner;
}

/* ---- a dry run ---- */

/* --dry-run of a sweep, as in GNU parallel. The commands of a plan or a script
 * need not show their parameters, which are printed, too. */
static void list_commands(const struct bats_settings *set,
                          const struct bats_bagfile *bag)
{
    bats_dry_run_list(bag, !set->is_sweep);
}

static void show_run(struct opened *o)
{
    struct bats_run_options *options = &o->request.options;
    struct bats_survey survey;
    o->dismisses = false;
    bats_must(bats_run_survey(options, &survey, &bats_why));
    options->engine.policy = survey.policy;
    options->budget = survey.budget;
    options->engine.goal.deadline = survey.deadline;
    bats_dry_run_print(options, &survey, &o->learner);
    bats_survey_release(&survey);
}

/* Makes the checks of a run: a dry run is refused if the run would be. */
static int show_only(struct opened *o)
{
    struct bats_run_options *options = &o->request.options;
    find_fresh(o);
    if (options->output_dir != NULL &&
        access(options->output_dir, W_OK) != 0 && errno != ENOENT)
        bats_die(BATS_EINPUT, "%s: %s", options->output_dir, strerror(errno));
    char *record = bats_history_path(o->set);
    believe(o, NULL);
    put_in_order(o, record);
    free(record);
    if (o->set->partition != NULL) {
        bats_alloc_create(o->set, NULL, options, &o->alloc);
        bats_alloc_dry_run(o->alloc, stdout, options);
    } else if (options->bag->sweep != NULL) {
        list_commands(o->set, options->bag);
    } else {
        show_run(o);
    }
    return BATS_EXIT_OK;
}

/* ---- a run ---- */

/* For whatever measures energy, and in the record for those who read it. */
static void read_grams(struct bats_request *request)
{
    const char *grams = getenv("BATS_GRAMS_PER_KWH");
    double *number = &request->options.grams_per_kwh;
    if (grams == NULL)
        return;
    bats_must(bats_error_prefix(&bats_why,
                                bats_factor_parse(grams, number, &bats_why),
                                "BATS_GRAMS_PER_KWH: "));
    if (json_object_set_new(request->settings, "grams_per_kwh",
                            json_real(*number)) < 0)
        bats_must(bats_no_memory(&bats_why));
}

/* Opens everything that will be written, so that mistakes show before money is
 * spent. */
static void prepare(struct opened *o)
{
    const struct bats_settings *set = o->set;
    const struct bats_run_options *options = &o->request.options;
    const char *dir = options->output_dir;
    struct stat st = {.st_mode = S_IFDIR};
    if (dir != NULL && ((mkdir(dir, 0777) != 0 && errno != EEXIST) ||
                        access(dir, W_OK) != 0 || stat(dir, &st) != 0 ||
                        !S_ISDIR(st.st_mode)))
        bats_die(BATS_EINPUT, "%s: %s", dir,
                 strerror(S_ISDIR(st.st_mode) ? errno : ENOTDIR));
    if (set->save != NULL)
        bats_must(bats_textfile_write(set->save, NULL, NULL, &bats_why));
    if (set->json_file != NULL) {
        o->json = strcmp(set->json_file, "-") == 0
                      ? stdout
                      : fopen(set->json_file, "ae");
        if (o->json == NULL)
            bats_die(BATS_EINPUT, "%s: %s", set->json_file, strerror(errno));
    }
    read_grams(&o->request);
    bats_watch_init(&o->watch, set, &o->request);
}

/* A task that keeps its result also keeps its line. */
static int log_again(void *context, const struct bats_record_result *r,
                     struct bats_error *err)
{
    const struct opened *o = context;
    const struct bats_joblog_entry entry = {
        .task = (uint32_t)r->number - 1,
        .host = r->host,
        .start_us = r->start_us,
        .wall_us = r->wall_us,
        .stdout_bytes = (uint64_t)r->out_bytes,
        .exit_status = r->exit_status,
        .signal = r->signal,
        .command = r->command,
    };
    bool is_kept = r->number >= 1 && r->number <= o->request.bag->n_tasks &&
                   (o->history.state[entry.task] == BATS_TASK_DONE ||
                    o->history.state[entry.task] == BATS_TASK_FAILED);
    return is_kept ? bats_joblog_write(o->watch.joblog, &entry, err) : 0;
}

/* Called after all checks: only now files of earlier runs are replaced. */
static int begin(void *context, struct bats_error *err)
{
    struct opened *o = context;
    struct bats_run_options *options = &o->request.options;
    int rc = bats_history_begin(&o->history, err);
    options->record = o->history.record;
    if (rc == 0 && options->output == BATS_OUTPUT_STREAM &&
        options->record != NULL)
        rc = bats_place_note(o->request.settings, options->output_dir,
                             o->history.path, err);
    if (rc == 0)
        rc = bats_request_settle(&o->request, err);
    if (rc == 0 && o->json != NULL && o->json != stdout &&
        ftruncate(fileno(o->json), 0) != 0 && errno != EINVAL)
        rc = bats_refuse(err, "%s: %s", o->set->json_file, strerror(errno));
    if (rc < 0 || o->watch.joblog == NULL)
        return rc;
    bats_joblog_begin(o->watch.joblog);
    return bats_history_resumes(o->set) && bats_joblog_is_file(o->watch.joblog)
               ? bats_record_results(o->history.record, log_again, o, err)
               : 0;
}

static void open_all(struct opened *o)
{
    struct bats_request *request = &o->request;
    struct bats_run_options *options = &request->options;
    struct bats_history *history = &o->history;
    prepare(o);
    options->begin = begin;
    options->begin_context = o;
    o->watch.learner = &o->learner;
    /* Once the record is open for writing, reading it would unlock it. */
    char *record = bats_history_path(o->set);
    believe(o, record);
    put_in_order(o, record);
    free(record);
    bats_history_open(history, o->set, request->bag);
    if (history->resume != BATS_RECORD_NOT && request->clusters != NULL)
        request->clusters->fewer_nodes = true;
    look_back(o);
    if (o->set->partition != NULL) {
        bats_alloc_create(o->set, history->path, options, &o->alloc);
        bats_must(bats_alloc_note(o->alloc, request->settings, &bats_why));
    }
    bats_must(bats_request_settle(request, &bats_why));
    if (history->path != NULL)
        bats_watch_live(&o->watch, history->path);
}

static void say_alone(const struct bats_settings *set)
{
    if (set->workers == NULL && !set->quiet && !is_joined(set) &&
        bats_launcher_ranks() == 0)
        bats_tell("1 worker, on this machine; -j N starts N (%" PRIu32
                  " cores)",
                  bats_jobs_count(0));
}

static int run(struct opened *o)
{
    struct bats_run_outcome outcome = {0};
    struct bats_observer observer = bats_watch_observer(&o->watch);
    open_all(o);
    say_alone(o->set);
    int rc = bats_run_master(&o->request.options, &observer, &o->crew,
                             &outcome, &bats_why);
    int code;
    if (rc < 0) {
        bats_watch_finish(&o->watch, NULL);
        code = bats_complain(&bats_why);
    } else {
        code = bats_closing(&o->watch, o->json, &outcome);
        if (outcome.driver != 0)
            bats_tell("the driver ended with exit status %d", outcome.driver);
        bats_sched_destroy(outcome.sched);
        bats_survey_release(&outcome.survey);
        bats_class_names_release(&outcome.names);
    }
    if (o->alloc != NULL && bats_alloc_abandon(o->alloc) > 0)
        bats_tell("not all jobs are settled: --resume does that");
    return code;
}

static int master(enum bats_verb verb, struct bats_settings *set)
{
    struct opened o = {.set = set, .dismisses = !is_joined(set)};
    bats_at_death(die, &o);
    bats_request_init(&o.request, verb, set);
    int code = set->dry_run ? show_only(&o) : run(&o);
    bats_at_death(NULL, NULL);
    return end(&o, code);
}

/* ---- the verb ---- */

/* True if only the commands of a sweep are requested: without a launcher, this
 * process lists them. */
static bool lists_only(const struct bats_settings *set)
{
    return set->dry_run && set->is_sweep && bats_launcher_ranks() == 0;
}

static int list_sweep(const struct bats_settings *set)
{
    struct bats_bagfile *bag = bats_request_sweep(set);
    list_commands(set, bag);
    bats_bagfile_destroy(bag);
    return BATS_EXIT_OK;
}

static int check_welcome(const struct bats_settings *set,
                         struct bats_error *usage)
{
    if (bats_launcher_ranks() > 1)
        return bats_refuse(
            usage, "%s is for a run on one process: worker jobs run its tasks",
            set->welcome != NULL ? "--welcome" : "alloc");
    if (set->workers != NULL)
        return bats_refuse(usage, "--welcome excludes --jobs");
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
