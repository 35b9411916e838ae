/* prepare: the master's work between knowing its ranks and the run. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "exec/output/outfile.h"
#include "run/engine_options.h"
#include "run/master.h"
#include "run/open.h"
#include "util/now.h"

/* Makes the lists of tasks, and finds the worker of each slot: the inverse of
 * platform.slot_of. */
static int make_lists(struct master *m, struct bats_error *err)
{
    const struct bats_platform *p = &m->survey.platform;
    const struct bats_run_options *o = m->options;
    uint32_t n = o->bag->n_tasks, most = 0;
    bool makes_files = o->bag->workflow != NULL;
    m->first = calloc(p->n_machines, sizeof *m->first);
    m->worker = calloc(m->crew.n, sizeof *m->worker);
    m->attempts = calloc(bats_bagfile_room(o->bag), sizeof *m->attempts);
    if (makes_files)
        m->halves = calloc(n, sizeof *m->halves);
    for (uint32_t i = 0; i < p->n_machines; i++)
        most = p->machines[i].slots > most ? p->machines[i].slots : most;
    m->held = calloc(most, sizeof *m->held);
    if (m->first == NULL || m->worker == NULL || m->attempts == NULL ||
        m->held == NULL || (makes_files && m->halves == NULL))
        return bats_no_memory(err);
    for (uint32_t k = 1; k < p->n_machines; k++)
        m->first[k] = m->first[k - 1] + p->machines[k - 1].slots;
    for (uint32_t i = 0; i < m->crew.n; i++)
        m->worker[m->first[p->slot_of[i].machine] + p->slot_of[i].slot] = i;
    if (o->attempts != NULL)
        memcpy(m->attempts, o->attempts, n * sizeof *m->attempts);
    return 0;
}

/* The output path for the tasks of a rank: "" if output does not go to files,
 * or each task has its own. */
static int output_path(const struct bats_run_options *o, const char *run_id,
                       int stream, char path[PATH_MAX], struct bats_error *err)
{
    int n = 0;
    path[0] = '\0';
    if (o->output == BATS_OUTPUT_RESULTS && o->results == NULL)
        n = snprintf(path, PATH_MAX, "%s", o->output_dir);
    if (o->output == BATS_OUTPUT_STREAM)
        n = snprintf(path, PATH_MAX, "%s/" BATS_OUTFILE_NAME, o->output_dir,
                     run_id, stream);
    if (n < PATH_MAX)
        return 0;
    return bats_refuse(err, "%.200s...: this name is too long", o->output_dir);
}

/* Real time of the notice, milliseconds; at least 1, or SIGTERM would end the
 * run. */
static int64_t notice_ms(const struct master *m, const struct bats_cluster *c)
{
    double ms = (double)c->notice / m->options->time_scale / 1000;
    return !c->reclaimable ? 0
           : ms < 1        ? 1
           : ms > 1e12     ? (int64_t)1e12
                           : (int64_t)ms;
}

/* True if a worker job may outlive this master: its output goes to files of
 * the tasks, or comes with the result. */
static bool keeps(const struct master *m, uint32_t cluster, bool holds,
                  bool prepares)
{
    const struct bats_run_options *o = m->options;
    return m->joined != NULL && o->record != NULL && !prepares &&
           !bats_reliability_loses(&m->survey.platform.reliability[cluster]) &&
           o->output != BATS_OUTPUT_STREAM &&
           (o->output != BATS_OUTPUT_LINES || holds);
}

int bats_master_set_up(struct master *m, size_t i, struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    const struct bats_platform *p = &m->survey.platform;
    char path[PATH_MAX];
    const char *name = o->bag->name;
    const char *slash = strrchr(name, '/');
    uint32_t at = bats_master_machine(m, i);
    uint32_t cluster = p->machines[at].cluster;
    int rank = m->crew.ranks[i].rank;
    const struct bats_text *start = &o->bag->per_engine[0];
    const struct bats_text *stop = &o->bag->per_engine[1];
    int rc = output_path(o, m->run_id, m->crew.workers[i].stream, path, err);
    if (rc < 0)
        return rc;
    struct bats_setup setup = {
        .speed = p->speed[cluster],
        .grace_ms = o->grace_ms,
        .notice_ms = notice_ms(m, &p->clusters[cluster]),
        .beat_us = bats_heart_beat_us(m->crew.silence_us),
        .master_pid = m->crew.comm->process[rank] > 0 ? (uint32_t)getpid() : 0,
        .output = (uint8_t)o->output,
        .hold = o->engine.tail != BATS_TAIL_NONE ||
                o->engine.policy == &bats_policy_expert,
        .bind = (uint8_t)o->bind,
        .share_index = m->survey.shares[rank].index,
        .share_count = m->survey.shares[rank].count,
        .output_path = path,
        .nice = (uint8_t)o->nice,
        .memfree = o->memfree,
        .workdir = o->workdir != NULL ? o->workdir : "",
        .run_id = m->run_id,
        .cluster = p->clusters[cluster].name,
        .machine = bats_master_machine_name(m, at),
        .task_file = !o->bag->is_disbatch ? ""
                     : slash != NULL      ? slash + 1
                                          : name,
        .number = (uint32_t)m->crew.workers[i].stream,
        .start = start->bytes,
        .n_start = start->n,
        .stop = stop->bytes,
        .n_stop = stop->n,
    };
    setup.keep = keeps(m, cluster, setup.hold, start->n > 0 || stop->n > 0);
    m->crew.workers[i].keeps = setup.keep;
    m->crew.workers[i].is_ready = start->n == 0;
    return bats_crew_say(&m->crew, i,
                         BATS_SAY(BATS_MESSAGE_SETUP, .u.setup = setup), err);
}

/* Unique enough among the runs of one user; ascending in time. */
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
                        const struct bats_engine_options *e,
                        const char *const *hosts, struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    const struct bats_platform *p = &m->survey.platform;
    int rc = o->begin != NULL ? o->begin(o->begin_context, err) : 0;
    if (rc < 0 || o->record == NULL)
        return rc;
    struct bats_record_session session = {
        .run_id = m->run_id,
        .bag = o->bag->name,
        .version = o->version,
        .resume = o->resume,
        .time_scale = o->time_scale,
        .currency = p->currency,
        .options = o->settings,
        .job = m->survey.site.allocation.job,
        .life = m->survey.site.allocation.life,
        .started_us = started_us,
        .engine = &e->options,
        .speed = p->speed,
        .hosts = hosts,
        .categories = e->names.n > 0 ? (const char *const *)e->names.list
                                     : o->bag->category_names,
    };
    rc = bats_record_begin(o->record, &session, err);
    m->journal.record = o->record;
    m->journal.kept.machine = UINT32_MAX;
    m->journal.books.n_clusters = p->n_clusters;
    m->journal.sync_us = o->sync_us;
    m->journal.sync_events = o->sync_events;
    return rc;
}

/* Takes the measurements of earlier sessions. */
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

int bats_master_prepare(struct master *m, struct bats_error *err)
{
    int64_t started_us = name_run(m);
    int rc = make_lists(m, err);
    if (rc < 0)
        return rc;
    struct bats_engine_options e;
    struct bats_sched_options *engine = &e.options;
    struct bats_record_rest rest = {0};
    const struct bats_platform *p = &m->survey.platform;
    const char **hosts = calloc(p->n_machines, sizeof *hosts);
    if (hosts == NULL)
        return bats_no_memory(err);
    for (uint32_t k = 0; k < p->n_machines; k++)
        hosts[k] = m->crew.ranks[bats_master_worker(m, k, 0)].host;
    rc = bats_engine_options(m->options, &m->survey, &e, err);
    if (rc == 0)
        rc = take_rest(m, engine, &rest, err);
    if (rc == 0 && m->options->open != NULL)
        rc = bats_open_begin(m, engine, err);
    m->has_needs = engine->needs != NULL;
    for (uint32_t k = 0; engine->needs && k < engine->n_categories; k++)
        m->gives_gpus |= engine->needs[k].gpus > 0;
    for (uint32_t i = 0;
         engine->open && engine->stocks != NULL && i < p->n_machines; i++)
        m->gives_gpus |= engine->stocks[i].gpus > 0;
    if (rc == 0)
        rc = bats_sched_create(engine, &m->sched, err);
    if (rc == 0)
        rc = bats_sched_may_begin(m->sched, err);
    if (rc == 0)
        rc = begin_record(m, started_us, &e, hosts, err);
    bats_record_rest_release(&rest);
    free(hosts);
    m->names = e.names;
    e.names = (struct bats_class_names){.n = 0};
    bats_engine_options_release(&e);
    return rc;
}
