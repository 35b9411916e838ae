/* prepare: the master's work between knowing its ranks and the run. */
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "run/batch.h"
#include "run/master.h"
#include "util/now.h"

#define YIELDS 5 /* in a row, without progress: see sched.h */

static bool only_builtins(struct master *m)
{
    uint32_t n = bats_bagfile_count(m->options->bag);
    for (uint32_t i = 0; i < n; i++)
        if (bats_bagfile_command(m->options->bag, i, &m->command,
                                 &m->command_size) < 0 ||
            m->command[0] != '@')
            return false;
    return true;
}

/* Finds the member of each slot: the inverse of platform.places. */
static int find_members(struct master *m, struct bats_error *err)
{
    const struct bats_platform *p = &m->survey.platform;
    m->first = calloc(p->n_machines, sizeof *m->first);
    m->member = calloc(m->crew.n, sizeof *m->member);
    if (m->first == NULL || m->member == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (uint32_t k = 1; k < p->n_machines; k++)
        m->first[k] = m->first[k - 1] + p->machines[k - 1].slots;
    for (uint32_t i = 0; i < m->crew.n; i++)
        m->member[m->first[p->places[i].machine] + p->places[i].slot] = i;
    return 0;
}

/* Takes the runtimes of a profile, for the clusters of the same name. *list is
 * for free(). */
static int take_profile(const struct master *m,
                        struct bats_sched_sampling *sampling,
                        struct bats_observation **list, struct bats_error *err)
{
    const struct bats_profile *profile = m->options->profile;
    const struct bats_platform *p = &m->survey.platform;
    size_t n = 0;
    if (profile == NULL)
        return 0;
    *list = calloc(profile->n_observations + 1, sizeof **list);
    if (*list == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (size_t i = 0; i < profile->n_observations; i++) {
        struct bats_observation seen = profile->observations[i];
        const char *name = profile->clusters[seen.cluster].cluster.name;
        for (uint32_t c = 0; c < p->n_clusters; c++)
            if (strcmp(p->clusters[c].name, name) == 0) {
                seen.cluster = c;
                (*list)[n++] = seen;
                break;
            }
    }
    if (n == 0)
        return bats_error_set(err, BATS_EINPUT,
                              "the profile knows none of the clusters of this "
                              "run: %s of the run, %s of the profile",
                              p->clusters[0].name,
                              profile->n_clusters > 0
                                  ? profile->clusters[0].cluster.name
                                  : "none");
    sampling->observations = *list;
    sampling->n_observations = n;
    return 0;
}

/* In an allocation the account's money counts from now on, and a budget that
 * nobody gave is what the job holds until its end: no limit. */
static bats_money budget_of(const struct master *m)
{
    const struct bats_survey *s = &m->survey;
    bats_money budget = s->budget;
    if (s->billing.model != BATS_BILLING_ALLOCATION)
        return budget;
    if (s->budget_found || budget == BATS_UNLIMITED)
        return BATS_UNLIMITED;
    if (s->by_account)
        budget += s->billing.before - s->uncounted;
    return budget > 0 ? budget : 0;
}

static struct bats_sched_options engine_options(struct master *m)
{
    const struct bats_run_options *o = m->options;
    const struct bats_platform *p = &m->survey.platform;
    /* A process may take the whole grace time to stop; a timer takes none. */
    bats_time lead = bats_master_virtual_time(m, o->grace_ms * 1000);
    if (lead > p->window / 12)
        lead = p->window / 12;
    if (only_builtins(m))
        lead = 0;
    struct bats_sched_options options = {
        .policy = o->policy,
        .n_tasks = bats_bagfile_count(o->bag),
        .clusters = p->clusters,
        .n_clusters = p->n_clusters,
        .expected = p->expected,
        .machines = p->machines,
        .n_machines = p->n_machines,
        .window = p->window,
        .budget = budget_of(m),
        .billing = m->survey.billing,
        .monitor_interval = o->monitor_interval,
        .preempt_lead = lead,
        .prefetch = o->delay_us > 0
                        ? 0
                        : bats_master_virtual_time(m, BATS_BATCH_AHEAD_US),
        .seed = o->seed,
        /* Schedules are on offer by a random sample. */
        .in_order = o->in_order && !(o->sampling.offers && p->n_clusters > 1),
        .goal = o->goal,
        .rules = o->rules,
        .earlier = o->earlier,
        .sampling = o->sampling,
        .tail = o->tail,
        .strategy = o->strategy,
        .utility = o->utility,
        .asks = o->asks,
        .once = o->once,
        .graph = bats_bagfile_graph(o->bag),
    };
    options.category = bats_bagfile_categories(o->bag, &options.n_categories);
    options.purses =
        bats_bagfile_purses(o->bag, &options.purse, &options.n_purses);
    options.rules.yields = YIELDS;
    options.goal.deadline = m->survey.deadline;
    options.rules.time_limit = m->survey.time_limit;
    return options;
}

static int make_lists(struct master *m, struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    uint32_t n = bats_bagfile_count(o->bag);
    m->attempts = calloc(n, sizeof *m->attempts);
    m->to_come = calloc(m->crew.n, sizeof *m->to_come);
    m->late = calloc(m->crew.n, sizeof *m->late);
    if (m->attempts == NULL || m->to_come == NULL || m->late == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (o->attempts != NULL)
        memcpy(m->attempts, o->attempts, n * sizeof *m->attempts);
    return 0;
}

/* Number of a machine within its cluster, from 1. */
/* The output path for the tasks of a rank: "" if output does not go to
 * files, or each task says where. */
static int output_path(const struct bats_run_options *o, const char *run_id,
                       int stream, char path[PATH_MAX], struct bats_error *err)
{
    int n = 0;
    path[0] = '\0';
    if (o->output == BATS_OUTPUT_RESULTS && o->results == NULL)
        n = snprintf(path, PATH_MAX, "%s", o->output_dir);
    if (o->output == BATS_OUTPUT_STREAM)
        n = snprintf(path, PATH_MAX, "%s/stream-%s-%04d", o->output_dir,
                     run_id, stream);
    if (n < PATH_MAX)
        return 0;
    return bats_error_set(err, BATS_EINPUT, "%.200s...: this name is too long",
                          o->output_dir);
}

/* In real time; at least one, or SIGTERM would end the run. */
static int64_t notice_ms(const struct master *m, const struct bats_cluster *c)
{
    double ms = (double)c->notice / m->options->time_scale / 1000;
    return !c->reclaimable ? 0
           : ms < 1        ? 1
           : ms > 1e12     ? (int64_t)1e12
                           : (int64_t)ms;
}

/* A worker job may live longer than this master. Output that is not in files
 * of a task's own can only go to one of them, and all of it. */
static bool keeps(const struct master *m, uint32_t cluster, bool holds,
                  bool prepares)
{
    const struct bats_run_options *o = m->options;
    return m->joined != NULL && o->record != NULL && !prepares &&
           !bats_reliability_loses(&m->survey.platform.reliability[cluster]) &&
           o->output != BATS_OUTPUT_STREAM &&
           (o->output != BATS_OUTPUT_LINES || holds);
}

int bats_master_set_up(struct master *m, size_t i,
                       const struct bats_executor_sink *sink,
                       struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    const struct bats_platform *p = &m->survey.platform;
    char path[PATH_MAX];
    const char *name = bats_bagfile_name(o->bag);
    const char *slash = strrchr(name, '/');
    uint32_t at = p->places[i].machine;
    uint32_t cluster = p->machines[at].cluster;
    int rank = m->crew.workers[i].rank;
    size_t n_start, n_stop;
    const char *start = bats_bagfile_per_engine(o->bag, false, &n_start);
    const char *stop = bats_bagfile_per_engine(o->bag, true, &n_stop);
    int rc = output_path(o, m->run_id, m->crew.members[i].stream, path, err);
    if (rc < 0)
        return rc;
    struct bats_setup setup = {
        .speed = p->speed[cluster],
        .grace_ms = o->grace_ms,
        .notice_ms = notice_ms(m, &p->clusters[cluster]),
        .look_us = bats_master_sleep_us(m, BATS_MASTER_LOOK_WORKER_US),
        .beat_us = bats_crew_beat_us(&m->crew),
        .master_pid =
            bats_comm_process(m->crew.comm, rank) > 0 ? (uint32_t)getpid() : 0,
        .output = (uint8_t)o->output,
        .hold = o->tail != BATS_TAIL_NONE || o->policy == &bats_policy_expert,
        .bind = (uint8_t)o->bind,
        .share_index = m->survey.shares[rank].index,
        .share_count = m->survey.shares[rank].count,
        .output_path = path,
        .max_output = o->max_output,
        .nice = (uint8_t)o->nice,
        .memfree = o->memfree,
        .workdir = o->workdir != NULL ? o->workdir : "",
        .run_id = m->run_id,
        .cluster = p->clusters[cluster].name,
        .machine = bats_master_machine_name(m, at),
        .task_file = !bats_bagfile_is_disbatch(o->bag) ? ""
                     : slash != NULL                   ? slash + 1
                                                       : name,
        .number = (uint32_t)m->crew.members[i].stream,
        .start = start,
        .n_start = n_start,
        .stop = stop,
        .n_stop = n_stop,
    };
    setup.keep = keeps(m, cluster, setup.hold, n_start > 0 || n_stop > 0);
    m->crew.members[i].keeps = setup.keep;
    m->crew.members[i].is_ready = n_start == 0;
    struct bats_packet packet = {0};
    if (rank == 0)
        return bats_executor_create(&setup, sink, &m->crew.own, err);
    bats_proto_setup(&packet, &setup);
    return bats_crew_send(&m->crew, i, &packet, err);
}

static int set_up_all(struct master *m, const struct bats_executor_sink *sink,
                      struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->crew.n; i++)
        if (m->crew.members[i].state == BATS_MEMBER_WORKS)
            rc = bats_master_set_up(m, i, sink, err);
    return rc;
}

/* Sufficiently unique among the runs of one user, and ascending in time, which
 * orders their output (exec/output/outdir). */
static int64_t name_run(struct master *m)
{
    int64_t now_us = bats_now_us(CLOCK_REALTIME);
    time_t now = (time_t)(now_us / 1000000);
    struct tm tm;
    size_t used = strftime(m->run_id, sizeof m->run_id, "%Y%m%dT%H%M%S",
                           localtime_r(&now, &tm));
    snprintf(m->run_id + used, sizeof m->run_id - used, ".%03d-%ld",
             (int)(now_us / 1000 % 1000), (long)getpid());
    return now_us;
}

static int begin_record(struct master *m, int64_t started_us,
                        const struct bats_sched_options *engine,
                        const char *const *hosts, struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    const struct bats_platform *p = &m->survey.platform;
    int rc = o->begin != NULL ? o->begin(o->begin_context, err) : 0;
    if (rc < 0 || o->record == NULL)
        return rc;
    struct bats_record_session session = {
        .run_id = m->run_id,
        .bag = bats_bagfile_name(o->bag),
        .version = o->version,
        .resume = o->resume,
        .time_scale = o->time_scale,
        .currency = p->currency,
        .options = o->settings,
        .job = m->survey.site.allocation.job,
        .life = m->survey.site.allocation.life,
        .started_us = started_us,
        .engine = engine,
        .speed = p->speed,
        .hosts = hosts,
        .categories = bats_bagfile_category_names(o->bag),
    };
    rc = bats_record_begin(o->record, &session, err);
    m->journal.record = o->record;
    m->journal.books.n_clusters = p->n_clusters;
    m->journal.sync_us = o->sync_us;
    m->journal.sync_events = o->sync_events;
    return rc;
}

/* Takes what earlier sessions have measured. */
static int take_rest(const struct master *m, struct bats_sched_options *engine,
                     struct bats_record_rest *rest, struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    if (o->record == NULL || o->resume == BATS_RECORD_NOT ||
        o->profile != NULL)
        return 0;
    int rc = bats_record_rest(o->record, engine, rest, err);
    if (rc < 0)
        return rc;
    engine->earlier.seen = rest->seen;
    engine->earlier.n_seen = rest->n_seen;
    engine->earlier.tops_up = rest->n_seen > 0;
    return 0;
}

int bats_master_prepare(struct master *m,
                        const struct bats_executor_sink *sink,
                        struct bats_error *err)
{
    int64_t started_us = name_run(m);
    int rc = find_members(m, err);
    if (rc == 0)
        rc = make_lists(m, err);
    if (rc < 0)
        return rc;
    struct bats_observation *profile = NULL;
    struct bats_sched_options engine = engine_options(m);
    struct bats_record_rest rest = {0};
    struct bats_instance known[2][BATS_POOLS_INSTANCES];
    const struct bats_platform *p = &m->survey.platform;
    const char **hosts = calloc(p->n_machines, sizeof *hosts);
    if (hosts == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (uint32_t k = 0; k < p->n_machines; k++)
        hosts[k] = m->crew.workers[m->member[m->first[k]]].host;
    for (int k = 0; m->options->pools != NULL && k < 2; k++) {
        engine.n_known[k] =
            bats_pools_instances(m->options->pools, k, known[k]);
        engine.known[k] = known[k];
    }
    rc = take_profile(m, &engine.sampling, &profile, err);
    if (rc == 0)
        rc = take_rest(m, &engine, &rest, err);
    if (rc == 0)
        rc = bats_sched_create(&engine, &m->sched, err);
    if (rc == 0)
        rc = bats_sched_may_begin(m->sched, err);
    if (rc == 0)
        rc = begin_record(m, started_us, &engine, hosts, err);
    bats_record_rest_release(&rest);
    free(hosts);
    free(profile);
    return rc < 0 ? rc : set_up_all(m, sink, err);
}
