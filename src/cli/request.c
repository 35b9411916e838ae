#include "cli/request.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "bats/rules.h"
#include "cli/cli.h"
#include "cli/history.h"
#include "cli/look.h"
#include "cli/profiling.h"
#include "input/clusters_file.h"
#include "record/write/record.h"
#include "site/batch_system.h"
#include "util/grow.h"
#include "util/json.h"

/* ---- run --open ---- */

#define ROOM ((uint32_t)1 << 20) /* tasks, unless more are expected */

/* The socket is next to the record. */
int bats_open_bag_announce(const struct bats_settings *set,
                           struct bats_error *err)
{
    char own[4096] = "", *path;
    const char *record = set->record != NULL ? set->record : set->bag;
    if (record[0] != '/' && getcwd(own, sizeof own) == NULL)
        own[0] = '\0';
    if (asprintf(&path, "%s%s%s%s.sock", own, own[0] != '\0' ? "/" : "",
                 record, set->record != NULL ? "" : ".bats") < 0)
        return bats_no_memory(err);
    int rc = setenv("BATS_SOCKET", path, 1);
    free(path);
    return rc == 0 ? 0 : bats_no_memory(err);
}

struct loader {
    struct bats_bagfile *bag;
    struct bats_open_bag *open;
};

static int take(void *context, const char *command, const char *given,
                struct bats_error *err)
{
    struct loader *l = context;
    struct bats_open_bag *open = l->open;
    if (!bats_grow(&open->given, &open->room, open->n + 1,
                   sizeof *open->given) ||
        (given != NULL && (given = strdup(given)) == NULL))
        return bats_no_memory(err);
    open->given[open->n++] = (char *)given;
    return bats_bagfile_add(l->bag, command, err);
}

static void load_earlier(const struct bats_settings *set, struct loader *l)
{
    struct bats_record *record;
    char *path = bats_history_path(set);
    if (access(path, F_OK) == 0) {
        bats_must(bats_record_open(path, &record, &bats_why));
        int rc = bats_record_submitted(record, take, l, &bats_why);
        bats_record_abandon(record);
        bats_must(rc);
    }
    free(path);
}

/* Makes the bag, with the tasks of the sessions that the run resumes. */
static void load_open_bag(const struct bats_settings *set,
                          struct bats_bagfile **bag,
                          struct bats_open_bag *open)
{
    uint32_t room = set->in_all > ROOM ? (uint32_t)set->in_all : ROOM;
    bats_must(bats_bagfile_open(set->bag, room, bag, &bats_why));
    if (bats_history_resumes(set))
        load_earlier(set, &(struct loader){*bag, open});
    open->is = (struct bats_run_open){.bag = *bag,
                                      .socket = getenv("BATS_SOCKET"),
                                      .driver = set->driver,
                                      .idle_us = set->idle,
                                      .in_all = (uint32_t)set->in_all,
                                      .given = open->given};
}

/* ---- run --welcome ---- */

#define MACHINES_MAX 100000
#define LOOK_US 10000000 /* between two checks for drained hosts */

static int platform(void *context, struct bats_platform *platform,
                    struct bats_error *err)
{
    struct bats_welcome *w = context;
    *platform = w->platform;
    w->platform.machines = NULL;
    for (size_t i = 0; i < w->platform.n_clusters; i++)
        platform->reliability[i] = w->file->sections[i].model.reliability;
    return 0;
}

static bool suits(const struct bats_welcome *w, uint32_t cluster,
                  const struct bats_hello *rank)
{
    const char *partition = bats_clusters_file_partition(w->file, cluster);
    return partition == NULL || strcmp(partition, rank->node.partition) == 0;
}

/* Returns n_machines if no machine is free. */
static uint32_t free_machine(const struct bats_welcome *w,
                             const struct bats_machine_spec *machines,
                             const struct bats_hello *rank)
{
    uint32_t i = 0;
    while (i < w->platform.n_machines &&
           (w->taken[i] || !suits(w, machines[i].cluster, rank)))
        i++;
    return i;
}

static int admit(void *context, const struct bats_worker_job *job,
                 uint32_t *machine, bats_time *age, struct bats_error *why)
{
    struct bats_welcome *w = context;
    for (uint32_t k = 0; k < job->n_ranks; k++) {
        machine[k] = free_machine(w, w->machines, &job->ranks[k]);
        if (machine[k] < w->platform.n_machines) {
            w->taken[machine[k]] = true;
            continue;
        }
        while (k-- > 0)
            w->taken[machine[k]] = false;
        return bats_refuse(why, "no cluster has machines left for its ranks");
    }
    return 1;
}

static void take_cluster(struct bats_welcome *w, uint32_t i)
{
    const struct bats_cluster *cluster = &w->file->sections[i].model.cluster;
    struct bats_platform *p = &w->platform;
    if (cluster->max > MACHINES_MAX)
        bats_die(BATS_EINPUT,
                 "--welcome: cluster '%s' needs a max of at most %d: how many "
                 "machines may come",
                 cluster->name, MACHINES_MAX);
    if (w->file->sections[i].by_node)
        bats_die(BATS_EINPUT,
                 "--welcome: cluster '%s': a machine can only be a rank here",
                 cluster->name);
    p->clusters[i] = *cluster;
    p->speed[i] = w->file->sections[i].model.speed;
    p->expected[i] = w->file->sections[i].model.expected;
    p->n_clusters++;
    size_t n = p->n_machines + (size_t)cluster->max;
    p->machines = bats_have(realloc(p->machines, n * sizeof *p->machines));
    while (p->n_machines < n)
        p->machines[p->n_machines++] = (struct bats_machine_spec){i, 1};
}

/* The batch system of worker jobs, if the run is in one of its jobs or a
 * cluster is a partition. */
static const struct bats_batch_system *
system_of(const struct bats_clusters_file *clusters)
{
    bool any = bats_batch_system_here() != NULL;
    for (uint32_t i = 0; i < clusters->n_sections; i++)
        any |= bats_clusters_file_partition(clusters, i) != NULL;
    return any ? bats_batch_systems[0] : NULL;
}

/* `file`: for the workers. The program ends if clusters, or their numbers of
 * machines, are missing. */
static void init_welcome(struct bats_welcome *welcome,
                         const struct bats_clusters_file *clusters,
                         const char *file, const char *host, int port)
{
    if (clusters == NULL)
        bats_die(BATS_EINPUT,
                 "--welcome needs --clusters, with what may come");
    const struct bats_batch_system *system = system_of(clusters);
    *welcome = (struct bats_welcome){
        .file = clusters,
        .platform = {.window = clusters->window, .billing = clusters->billing},
        .joining = {.context = welcome,
                    .file = file,
                    .host = host,
                    .port = port,
                    .draining = system != NULL ? system->draining : NULL,
                    .look_us = LOOK_US,
                    .platform = platform,
                    .admit = admit},
    };
    struct bats_platform *p = &welcome->platform;
    strcpy(p->currency, clusters->currency);
    for (uint32_t i = 0; i < clusters->n_sections; i++)
        take_cluster(welcome, i);
    welcome->taken =
        bats_have(calloc(p->n_machines + 1, sizeof *welcome->taken));
    welcome->machines = p->machines;
}

/* ---- the bag ---- */

struct bats_bagfile *bats_request_sweep(const struct bats_settings *set)
{
    struct bats_bagfile *bag;
    struct bats_sweep *sweep;
    struct bats_sweep_spec spec = set->sweep;
    spec.sources = set->source;
    bats_must(bats_sweep_create(&spec, &sweep, &bats_why));
    bats_must(bats_bagfile_of_sweep(sweep, &bag, &bats_why));
    return bag;
}

static struct bats_bagfile *load_file(const struct bats_settings *set)
{
    struct bats_bagfile *bag;
    int rc = set->n_files > 0 ? bats_bagfile_load_several(
                                    set->files, set->n_files, &bag, &bats_why)
                              : bats_bagfile_load(set->bag, &bag, &bats_why);
    if (rc == BATS_EINPUT && access(set->bag, F_OK) != 0)
        bats_verb_suggest(set->bag, &bats_why);
    bats_must(rc);
    if (set->quiet)
        return bag;
    if (bag->dangling > 0)
        bats_tell(
            "%s:%" PRIu32
            ": the backslash at the end joins nothing: every line is a task",
            bag->name, bag->dangling);
    if (strcmp(set->bag, "-") == 0 && set->record == NULL &&
        set->joblog == NULL && !set->no_record && !set->dry_run &&
        !bats_settings_is_local(set))
        bats_tell("a bag from standard input has no record, unless --record "
                  "FILE names one: this run cannot be resumed");
    return bag;
}

/* ---- output, replicas, policy ---- */

/* At most ten digits: people type the seed to repeat the run. */
static uint64_t random_seed(void)
{
    uint32_t bits;
    if (getrandom(&bits, sizeof bits, 0) != sizeof bits)
        bats_die(BATS_ESYS, "no random seed: %s", strerror(errno));
    return bits;
}

static void make_labels(const struct bats_settings *set,
                        struct bats_request *r)
{
    int rc = 0;
    if (set->tagstring != NULL)
        rc = bats_label_create(set->tagstring, r->bag, &r->tag, &bats_why);
    if (rc < 0)
        bats_die(rc, "--tagstring: %s", bats_why.text);
    if (set->results != NULL)
        rc = bats_label_create(set->results, r->bag, &r->results, &bats_why);
    if (rc == 0 && r->results != NULL && bats_label_varies(r->results)) {
        r->options.results = r->results;
        rc = bats_label_check_directories(r->results, &bats_why);
    }
    if (rc < 0)
        bats_die(rc, "--results: %s", bats_why.text);
}

/* Derives the destination of output from --results and --output.
 * *dir is for free(). */
static void choose_output(const struct bats_settings *set,
                          struct bats_run_options *options, char **dir)
{
    const char *kind = set->output != NULL ? set->output : "lines";
    options->output = set->results != NULL          ? BATS_OUTPUT_RESULTS
                      : strcmp(kind, "none") == 0   ? BATS_OUTPUT_NONE
                      : strcmp(kind, "stream") == 0 ? BATS_OUTPUT_STREAM
                                                    : BATS_OUTPUT_LINES;
    if (options->output == BATS_OUTPUT_RESULTS && options->results == NULL)
        options->output_dir = set->results;
    if (options->output == BATS_OUTPUT_STREAM)
        options->output_dir = *dir =
            bats_have(set->output_dir != NULL ? strdup(set->output_dir)
                                              : bats_place_default(set->bag));
}

/* Derives the rules for replicas from --tail, --no-replicate and the bag.
 * Returns the tasks that run once, for free(). */
static uint8_t *choose_copies(const struct bats_settings *set,
                              const struct bats_bagfile *bag,
                              struct bats_run_options *options)
{
    struct bats_sched_options *e = &options->engine;
    bool is_expert = e->policy == &bats_policy_expert;
    if (set->strategy != NULL && !is_expert)
        bats_die(BATS_EINPUT, "--strategy goes with --policy expert");
    if (set->utility != NULL && (!is_expert || set->strategy != NULL))
        bats_die(BATS_EINPUT, "--utility goes with --policy expert, without "
                              "--strategy");
    if (is_expert &&
        bats_strategy_parse(set->strategy != NULL ? set->strategy : "AUR",
                            &e->strategy, &bats_why) < 0)
        bats_die(BATS_EINPUT, "--strategy: %s", bats_why.text);
    if (is_expert && set->strategy == NULL)
        e->utility = set->utility != NULL ? set->utility : "product";
    bats_tail_find(set->tail, &e->tail);
    if (set->no_replicate)
        e->tail = BATS_TAIL_NONE;
    uint8_t *once = bats_have(calloc(bag->n_tasks + (size_t)1, 1));
    for (uint32_t i = 0; i < bag->n_tasks; i++)
        once[i] = options->results != NULL || bats_bagfile_is_once(bag, i);
    e->once = once;
    return once;
}

/* --profile: what an earlier sampling phase has learned about this bag. */
static void load_profile(const struct bats_settings *set,
                         struct bats_request *r)
{
    struct bats_run_options *options = &r->options;
    if (set->profile == NULL)
        return;
    if (options->engine.policy == &bats_policy_expert)
        bats_die(BATS_EINPUT, "--profile: the policy expert knows no "
                              "schedules to go on with");
    bats_must(bats_profile_load(set->profile, &r->profile, &bats_why));
    bats_must(bats_profile_check_bag(&r->profile, set->profile, options->bag,
                                     &bats_why));
    options->profile = &r->profile;
}

/* --budget 30%: converted as `plan` does it, plus the charge of the sample. */
static void resolve_budget(const struct bats_settings *set,
                           struct bats_run_options *options)
{
    const struct bats_profile *profile = options->profile;
    const struct bats_clusters_file *file = options->clusters;
    struct bats_estimation x;
    if (set->budget_text == NULL)
        return;
    bats_must(bats_estimation_from_profile(&x, profile, file, set->confidence,
                                           &bats_why));
    x.e.plans = bats_estimation_plans(set->policy,
                                      file ? file->billing : profile->billing);
    options->budget = bats_estimation_budget(&x.e, set->budget_share) +
                      bats_profile_charged(profile);
}

/* With a deadline, the default goal is the least cost. Without one, only alloc
 * may have it. */
static struct bats_goal goal_of(const struct bats_settings *set)
{
    struct bats_goal goal = {.deadline = set->deadline.duration,
                             .confidence = set->confidence};
    bool has_deadline = goal.deadline > 0 || set->deadline.moment > 0;
    if (has_deadline)
        goal.minimize = BATS_MINIMIZE_COST;
    if (set->minimize != NULL)
        bats_minimize_find(set->minimize, &goal.minimize);
    return goal;
}

static struct bats_run_options plain_options(const struct bats_settings *set)
{
    struct bats_run_options options = set->run;
    options.engine.policy = bats_policy_find(set->policy);
    options.engine.goal = goal_of(set);
    options.engine.rules.retries = set->retries > 0 ? set->retries - 1 : 0;
    options.bind = strcmp(set->bind, "none") == 0   ? BATS_BIND_NONE
                   : strcmp(set->bind, "numa") == 0 ? BATS_BIND_NUMA
                                                    : BATS_BIND_CORE;
    options.budget_given = set->budget_from != NULL;
    options.grace_ms = set->grace / 1000;
    options.deadline_us = (int64_t)set->deadline.moment * 1000000;
    options.version = BATS_VERSION;
    return options;
}

/* True if tasks begin in the order of the bag: statistics of the first ones
 * then say little about the rest. */
static bool is_in_order(const struct bats_settings *set,
                        const struct bats_run_options *options)
{
    if (set->order != NULL)
        return strcmp(set->order, "random") != 0;
    return bats_settings_is_plain(set) && !set->shuffle &&
           !bats_settings_given(set, "seed") && !options->engine.sampling.on &&
           options->engine.policy != &bats_policy_expert;
}

static struct bats_sched_sampling
sampling_of(const struct bats_choosing *choosing,
            const struct bats_settings *set)
{
    return (struct bats_sched_sampling){.on = choosing->on,
                                        .offers = choosing->goes_on,
                                        .workers = set->sample_on,
                                        .confidence = set->confidence};
}

static bool any_unreliable(const struct bats_clusters_file *file)
{
    for (size_t i = 0; i < file->n_sections; i++)
        if (file->sections[i].model.cluster.unreliable)
            return true;
    return false;
}

static void choose_policy(const struct bats_request *r, enum bats_verb verb,
                          struct bats_settings *set)
{
    bool others = verb == BATS_VERB_SAMPLE || set->choose != NULL ||
                  set->profile != NULL || set->open;
    if (!bats_settings_given(set, "policy") && !others && r->clusters != NULL)
        set->policy = bats_policy_name(bats_policy_default(
            any_unreliable(r->clusters), r->clusters->billing,
            set->run.engine.rules.timeout > 0 ||
                set->run.engine.rules.timeout_median > 0,
            r->bag->graph != NULL));
}

static int64_t memory_of(const struct bats_bagfile *bag, uint32_t task)
{
    struct bats_need need = {0};
    bats_bagfile_need(bag, task, &need);
    return need.memory_kib;
}

/* Adds the memory that the bag's tasks request to the options in the record:
 * [KiB, tasks, KiB, tasks, ...]. */
static void note_memory(struct bats_request *r)
{
    uint32_t n = r->bag->n_tasks;
    json_t *list = json_array();
    bool says = false;
    int bad = 0;
    for (uint32_t i = 0, first = 0; i < n && bad == 0; first = i) {
        int64_t kib = memory_of(r->bag, i);
        while (++i < n && memory_of(r->bag, i) == kib)
            ;
        bad |= json_array_append_new(list, json_integer(kib));
        bad |= json_array_append_new(list, json_integer(i - first));
        says |= kib > 0;
    }
    bats_have(bats_json_whole(list, bad));
    if (says)
        json_object_set(r->settings, "task_memory_kib", list);
    json_decref(list);
}

static bats_time time_of_silence(const struct bats_settings *set)
{
    double time = (double)set->run.silence_us * set->run.time_scale;
    return time < (double)BATS_LONGEST ? (bats_time)time : BATS_LONGEST;
}

static void load(struct bats_request *r, const struct bats_settings *set)
{
    if (set->open)
        load_open_bag(set, &r->bag, &r->open);
    else
        r->bag = set->is_sweep ? bats_request_sweep(set) : load_file(set);
    if (set->run.workdir != NULL && r->bag->workflow != NULL)
        bats_die(BATS_EINPUT,
                 "--wd: the files of a workflow are found where it is "
                 "started; cd %s first",
                 set->run.workdir);
    if (set->run.limits_memory && set->run.need.memory_kib == 0 &&
        bats_bagfile_most(r->bag).memory_kib == 0)
        bats_die(BATS_EINPUT, "--memory-limit: no task says what memory it "
                              "needs; give --memory SIZE");
    if (set->clusters == NULL)
        return;
    bats_must(bats_clusters_file_load(set->clusters, set->run.window,
                                      &r->clusters, &bats_why));
    bats_clusters_file_notice(r->clusters, time_of_silence(set));
}

void bats_request_init(struct bats_request *r, enum bats_verb verb,
                       struct bats_settings *set)
{
    struct bats_run_options *options = &r->options;
    r->settings = bats_have(bats_options_json(verb, set));
    load(r, set);
    note_memory(r);
    choose_policy(r, verb, set);
    *options = plain_options(set);
    options->bag = r->bag;
    options->open = set->open ? &r->open.is : NULL;
    options->clusters = r->clusters;
    r->choosing = bats_choosing(verb, set);
    options->engine.sampling = sampling_of(&r->choosing, set);
    options->engine.in_order = is_in_order(set, options);
    make_labels(set, r);
    choose_output(set, options, &r->output_dir);
    load_profile(set, r);
    r->once = choose_copies(set, r->bag, options);
    resolve_budget(set, options);
    if (!bats_settings_given(set, "seed"))
        options->engine.seed = random_seed();
    if (set->welcome == NULL)
        return;
    init_welcome(&r->welcome, r->clusters, set->welcome, set->host,
                 (int)set->port);
    options->joining = &r->welcome.joining;
    if (!set->quiet)
        bats_tell("worker jobs join by: bats-mpi worker --join %s",
                  set->welcome);
}

void bats_request_release(struct bats_request *r)
{
    free(r->welcome.taken);
    free(r->welcome.platform.machines);
    for (size_t i = 0; i < r->open.n; i++)
        free(r->open.given[i]);
    free(r->open.given);
    bats_profile_release(&r->profile);
    bats_clusters_file_destroy(r->clusters);
    bats_label_destroy(r->tag);
    bats_label_destroy(r->results);
    bats_bagfile_destroy(r->bag);
    json_decref(r->settings);
    free(r->settings_text);
    free(r->once);
    free(r->output_dir);
}

int bats_request_settle(struct bats_request *r, struct bats_error *err)
{
    free(r->settings_text);
    r->settings_text =
        json_dumps(r->settings, JSON_COMPACT | JSON_REAL_PRECISION(15));
    r->options.settings = r->settings_text;
    return r->settings_text != NULL ? 0 : bats_no_memory(err);
}
