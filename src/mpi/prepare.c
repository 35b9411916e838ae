/* prepare: what the master does between knowing its ranks and the run. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "mpi/master.h"

#define PREFETCH_US 20000    /* real time that a slot has tasks ahead for */
#define LOOK_BAG BATS_SECOND /* bag time between two looks at the messages */

bats_time bats_master_bag_time(const struct master *m, int64_t real_us)
{
    return (bats_time)llround((double)real_us * m->options->time_scale);
}

int64_t bats_master_sleep_us(const struct master *m, int64_t min_us)
{
    double us = (double)LOOK_BAG / m->options->time_scale;
    return us > 1e6 ? 1000000 : us < (double)min_us ? min_us : (int64_t)us;
}

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

/* Who sits where: the other way round than platform.places. */
static int find_members(struct master *m, struct bats_error *err)
{
    const struct bats_platform *p = &m->platform;
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

static int create_sched(struct master *m, struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    const struct bats_platform *p = &m->platform;
    uint32_t n = bats_bagfile_count(o->bag);
    m->attempts = calloc(n, sizeof *m->attempts);
    m->cancelled = calloc(n, sizeof *m->cancelled);
    if (m->attempts == NULL || m->cancelled == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");

    /* A process may take the whole grace time to stop; a timer takes none. */
    bats_time lead = bats_master_bag_time(m, o->grace_ms * 1000);
    if (lead > p->window / 12)
        lead = p->window / 12;
    if (only_builtins(m))
        lead = 0;
    struct bats_sched_options options = {
        .policy = o->policy,
        .n_tasks = n,
        .clusters = p->clusters,
        .n_clusters = p->n_clusters,
        .machines = p->machines,
        .n_machines = p->n_machines,
        .window = p->window,
        .budget = o->budget,
        .monitor_interval = o->monitor_interval,
        .preempt_lead = lead,
        .prefetch = bats_master_bag_time(m, PREFETCH_US),
        .seed = o->seed,
    };
    return bats_sched_create(&options, &m->sched, err);
}

/* Number of a machine within its cluster, from 1. */
static uint32_t number_in_cluster(const struct bats_platform *p,
                                  uint32_t machine)
{
    uint32_t number = 1;
    for (uint32_t k = 0; k < machine; k++)
        number += p->machines[k].cluster == p->machines[machine].cluster;
    return number;
}

/* Tells every member what its tasks have in common. */
static int set_up(struct master *m, const struct bats_executor_sink *sink,
                  struct bats_error *err)
{
    const struct bats_run_options *o = m->options;
    const struct bats_platform *p = &m->platform;
    char run_id[64], machine[BATS_CLUSTER_NAME + 16];
    struct tm tm;
    time_t t = time(NULL);
    size_t used = strftime(run_id, sizeof run_id, "%Y%m%dT%H%M%S-",
                           localtime_r(&t, &tm));
    snprintf(run_id + used, sizeof run_id - used, "%ld", (long)getpid());

    const char *name = bats_bagfile_name(o->bag);
    const char *slash = strrchr(name, '/');
    for (size_t i = 0; i < m->crew.n; i++) {
        uint32_t at = p->places[i].machine;
        uint32_t cluster = p->machines[at].cluster;
        snprintf(machine, sizeof machine, "%s-%" PRIu32,
                 p->clusters[cluster].name, number_in_cluster(p, at));
        struct bats_setup setup = {
            .speed = p->speed[cluster],
            .grace_ms = o->grace_ms,
            .look_us = bats_master_sleep_us(m, BATS_MASTER_LOOK_WORKER_US),
            .results_dir = o->results_dir != NULL ? o->results_dir : "",
            .run_id = run_id,
            .cluster = p->clusters[cluster].name,
            .machine = machine,
            .task_file = !bats_bagfile_is_disbatch(o->bag) ? ""
                         : slash != NULL                   ? slash + 1
                                                           : name,
        };
        struct bats_packet packet = {0};
        int rc;
        if (m->crew.workers[i].rank == 0) {
            rc = bats_executor_create(&setup, sink, &m->crew.own, err);
        } else {
            bats_proto_setup(&packet, &setup);
            rc = bats_crew_send(&m->crew, i, &packet, err);
        }
        if (rc < 0)
            return rc;
    }
    return 0;
}

int bats_master_prepare(struct master *m,
                        const struct bats_executor_sink *sink,
                        struct bats_error *err)
{
    int rc = find_members(m, err);
    if (rc == 0)
        rc = create_sched(m, err);
    return rc < 0 ? rc : set_up(m, sink, err);
}
