#include "run/master.h"

#include <stdlib.h>
#include <string.h>

#include "bats/lease.h"
#include "bats/sched.h"
#include "input/model.h"
#include "site/batch_system.h"
#include "util/heap.h"

#define LOOK_US INT64_C(10000000) /* between two checks for drained hosts */

struct fate {
    bats_time taken_at;
    bool told;      /* it has been given notice */
    bool retired;   /* its job gets no more tasks */
    uint32_t lives; /* acquisitions so far */
};

struct bats_reclaims {
    struct bats_heap due;   /* machines, by time of their notice, then of their
                             * end */
    struct fate *of;        /* by machine */
    struct bats_query look; /* asks for hosts that the batch system drains */
    int64_t look_us;        /* monotonic: time of the next check */
};

static const struct bats_cluster *cluster_of(const struct master *m,
                                             uint32_t machine)
{
    const struct bats_platform *p = &m->survey.platform;
    return &p->clusters[p->machines[machine].cluster];
}

typedef void (*question)(struct bats_argv *argv);

/* The function that asks the batch system which hosts of the run, or of its
 * jobs, are drained; NULL: it cannot tell. */
static question draining(const struct master *m)
{
    const struct bats_batch_system *system = m->survey.site.allocation.system;
    if (m->joined != NULL)
        return m->options->joining->draining;
    return system != NULL ? system->draining : NULL;
}

int bats_reclaims_init(struct master *m, struct bats_error *err)
{
    const struct bats_platform *p = &m->survey.platform;
    bool any = m->joined != NULL && draining(m) != NULL;
    for (size_t i = 0; i < p->n_clusters; i++)
        any |= p->clusters[i].reclaimable &&
               (p->clusters[i].lifetime.survival != BATS_SURVIVAL_ALL ||
                draining(m) != NULL);
    if (!any)
        return 0;
    struct bats_reclaims *r = m->reclaims = calloc(1, sizeof *r);
    if (r == NULL || !bats_heap_init(&r->due, p->n_machines) ||
        (r->of = calloc(p->n_machines, sizeof *r->of)) == NULL)
        return bats_no_memory(err);
    return 0;
}

void bats_reclaims_release(struct master *m)
{
    if (m->reclaims == NULL)
        return;
    bats_query_release(&m->reclaims->look);
    bats_heap_release(&m->reclaims->due);
    free(m->reclaims->of);
    free(m->reclaims);
    m->reclaims = NULL;
}

void bats_reclaims_command(struct master *m,
                           const struct bats_command *command)
{
    struct bats_reclaims *r = m->reclaims;
    uint32_t machine = command->machine;
    if (r == NULL)
        return;
    /* A machine that was given notice is taken away whichever job holds it. */
    if (command->type == BATS_COMMAND_RELEASE ||
        (command->type == BATS_COMMAND_PARK && !r->of[machine].told))
        bats_heap_remove(&r->due, machine);
    if (command->type != BATS_COMMAND_ACQUIRE)
        return;
    if (m->joined != NULL) { /* a new job, which has no notice */
        r->of[machine].told = r->of[machine].retired = false;
        bats_heap_remove(&r->due, machine);
    }
    const struct bats_cluster *c = cluster_of(m, machine);
    bats_time age = bats_model_lifetime(c, m->options->engine.seed, machine,
                                        r->of[machine].lives++);
    bats_time now = bats_master_now(m);
    if (age == BATS_NEVER ||
        (r->of[machine].told && r->of[machine].taken_at <= now + age))
        return;
    r->of[machine].told = false;
    r->of[machine].taken_at = now + age;
    bats_heap_set(&r->due, machine,
                  age > c->notice ? now + age - c->notice : now - 1);
}

bats_time bats_reclaims_due(const struct master *m)
{
    uint32_t machine;
    return m->reclaims != NULL ? bats_heap_first(&m->reclaims->due, &machine)
                               : BATS_NEVER;
}

static int tell(struct master *m, uint32_t machine, bats_time left,
                struct bats_error *err)
{
    char time[BATS_UNITS_TEXT];
    struct bats_event event = {
        .type = BATS_EVENT_NOTICE, .machine = machine, .runtime = left};
    bats_master_notice(m, machine, BATS_MASTER_NONE,
                       "machine %s will be taken away in %s",
                       bats_master_machine_name(m, machine),
                       bats_duration_format(time, left));
    return bats_master_handle(m, &event, err);
}

/* ---- hosts that are drained ---- */

/* Notes that the machine will be taken away after `left`, or at its planned
 * end, whichever is sooner. Returns the time left. */
static bats_time note(struct master *m, uint32_t machine, bats_time left)
{
    struct bats_reclaims *r = m->reclaims;
    bats_time now = bats_master_now(m), end = now + left;
    if (bats_heap_has(&r->due, machine) && r->of[machine].taken_at < end)
        end = r->of[machine].taken_at;
    r->of[machine].told = true;
    r->of[machine].taken_at = end;
    return end > now ? end - now : 0;
}

/* Gives the machine no more tasks. It leaves after its last one: with its job,
 * or without a job by let_go. */
static int retire(struct master *m, uint32_t machine, const char *host,
                  struct bats_error *err)
{
    struct bats_event event = {.type = BATS_EVENT_RETIRED, .machine = machine};
    m->reclaims->of[machine].retired = true;
    bats_master_notice(m, machine, BATS_MASTER_NONE,
                       "%s is drained: machine %s gets no more tasks", host,
                       bats_master_machine_name(m, machine));
    return bats_master_handle(m, &event, err);
}

static int drain(struct master *m, const char *host, struct bats_error *err)
{
    struct bats_reclaims *r = m->reclaims;
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->crew.n; i++) {
        uint32_t machine = bats_master_machine(m, i);
        const struct bats_cluster *c = cluster_of(m, machine);
        if (m->crew.workers[i].state != BATS_WORKER_WORKS ||
            !(m->joined != NULL ? !r->of[machine].retired
                                : c->reclaimable && !r->of[machine].told) ||
            strcmp(m->crew.ranks[i].host, host) != 0)
            continue;
        if (m->joined != NULL) {
            rc = retire(m, machine, host, err);
            continue;
        }
        bats_time left = note(m, machine, c->notice);
        bats_heap_set(&r->due, machine, r->of[machine].taken_at);
        rc = tell(m, machine, left, err);
    }
    return rc;
}

static bool is_busy(const struct master *m, uint32_t machine)
{
    bool busy = false;
    for (uint32_t k = 0; k < m->survey.platform.machines[machine].slots; k++)
        busy |=
            m->crew.workers[bats_master_worker(m, machine, k)].to_come > 0 ||
            bats_sched_is_busy(m->sched, machine, k);
    return busy;
}

static bool works(const struct master *m, uint32_t machine)
{
    for (uint32_t k = 0; k < m->survey.platform.machines[machine].slots; k++)
        if (m->crew.workers[bats_master_worker(m, machine, k)].state ==
            BATS_WORKER_WORKS)
            return true;
    return false;
}

/* Releases retired machines that are idle. A worker job leaves with its last
 * machine. */
static int let_go(struct master *m, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t i = 0; rc == 0 && i < m->survey.platform.n_machines; i++)
        if (m->reclaims->of[i].retired && works(m, i) && !is_busy(m, i))
            rc = bats_master_part(m, i, err);
    return rc;
}

/* Looks for drained hosts. If the batch system does not answer, it is asked
 * again later. */
static int look(struct master *m, struct bats_error *err)
{
    struct bats_query *query = &m->reclaims->look;
    struct bats_argv argv = {0};
    char *hosts = NULL, *rest = NULL;
    int64_t now_us = bats_clock_now_us();
    int rc = 0;
    if (query->runs && bats_query_poll(query, 0, &hosts, NULL) > 0)
        for (char *host = strtok_r(hosts, " \n", &rest); rc == 0 && host;
             host = strtok_r(NULL, " \n", &rest))
            rc = drain(m, host, err);
    free(hosts);
    if (query->runs || now_us < m->reclaims->look_us ||
        !bats_crew_works(&m->crew))
        return rc;
    m->reclaims->look_us =
        now_us + (m->joined != NULL ? m->options->joining->look_us : LOOK_US);
    draining(m)(&argv);
    bats_query_start(query, &argv, NULL, NULL);
    return rc;
}

int bats_reclaims_step(struct master *m, struct bats_error *err)
{
    int rc = m->reclaims != NULL && !m->finished && draining(m) != NULL
                 ? look(m, err)
                 : 0;
    if (rc == 0 && m->reclaims != NULL && m->joined != NULL && !m->finished &&
        !bats_lease_terms(m->survey.platform.billing).waits)
        rc = let_go(m, err);
    uint32_t machine = 0;
    bats_time now = bats_master_now(m);
    while (rc == 0 && !m->finished && bats_reclaims_due(m) <= now) {
        struct bats_reclaims *r = m->reclaims;
        bats_time due = bats_heap_first(&r->due, &machine);
        bats_time left = r->of[machine].taken_at - now;
        bats_heap_remove(&r->due, machine);
        if (!works(m, machine))
            continue; /* it had already gone */
        if (due < r->of[machine].taken_at) {
            left = note(m, machine, left);
            bats_heap_set(&r->due, machine, r->of[machine].taken_at);
            rc = tell(m, machine, left, err);
        } else {
            bats_master_notice(m, machine, BATS_MASTER_NONE,
                               "machine %s was taken away",
                               bats_master_machine_name(m, machine));
            rc = bats_master_part(m, machine, err);
        }
    }
    return rc;
}

int bats_reclaims_notice(struct master *m, size_t i, struct bats_error *err)
{
    struct bats_reclaims *r = m->reclaims;
    uint32_t machine = bats_master_machine(m, i);
    bats_time notice = cluster_of(m, machine)->notice, left = notice;
    if (m->finished)
        return 0;
    if (r != NULL) {
        left = note(m, machine, notice);
        bats_heap_remove(&r->due, machine); /* the rank leaves by itself,
                                             * but */
        if (left < notice)
            bats_heap_set(&r->due, machine, r->of[machine].taken_at);
    }
    return tell(m, machine, left, err);
}
