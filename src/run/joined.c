#include "run/master.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "run/comm.h"
#include "run/hub.h"
#include "run/needs.h"
#include "site/site.h"

#define ADMIT_US 60000000 /* time for the job side to recognize a job */
/* time for a job's good-bye, beyond the grace time */
#define LEAVE_US 15000000
#define REFUSALS 20 /* most refusals shown to people */

struct bats_joined {
    struct master *m;
    struct bats_comm *comm; /* belongs to the crew */
    const struct bats_joining *side;
    int64_t due_us; /* monotonic: next turn of the job side */
    unsigned n_refused;
};

/* ---- before the run ---- */

/* Numbers workers in the order of machines and their slots. */
static int make_slots(struct bats_platform *p, struct bats_error *err)
{
    size_t n = 0;
    for (uint32_t k = 0; k < p->n_machines; k++)
        n += p->machines[k].slots;
    p->slot_of = calloc(n + 1, sizeof *p->slot_of);
    if (p->slot_of == NULL)
        return bats_no_memory(err);
    p->n_workers = 0;
    for (uint32_t k = 0; k < p->n_machines; k++)
        for (uint32_t slot = 0; slot < p->machines[k].slots; slot++)
            p->slot_of[p->n_workers++] = (struct bats_slot_of){k, slot};
    return 0;
}

static int open_hub(struct bats_joined *j, const struct bats_platform *p,
                    struct bats_error *err)
{
    int64_t silence_us = j->m->options->silence_us;
    int rc = bats_hub_create(j->side, (uint32_t)p->n_workers, silence_us,
                             &j->comm, err);
    if (rc == 0)
        rc = bats_crew_expect(&j->m->crew, j->comm, err);
    if (rc == 0)
        rc = bats_heart_start(j->comm, silence_us, err);
    return rc;
}

int bats_joined_expect(struct master *m, struct bats_error *err)
{
    struct bats_platform platform;
    struct bats_joined *j = calloc(1, sizeof *j);
    if (j == NULL)
        return bats_no_memory(err);
    *j = (struct bats_joined){.m = m, .side = m->options->joining};
    m->joined = j;
    int rc = j->side->platform(j->side->context, &platform, err);
    if (rc < 0)
        return rc;
    rc = make_slots(&platform, err);
    if (rc == 0)
        rc = open_hub(j, &platform, err);
    if (rc < 0) {
        bats_platform_release(&platform);
        return rc;
    }
    return bats_survey_expect(&m->crew, m->options, &platform, &m->survey,
                              err);
}

void bats_joined_end(struct master *m)
{
    struct bats_joined *j = m->joined;
    if (j == NULL)
        return;
    if (m->crew.comm != NULL)
        bats_hub_listen(m->crew.comm, false, NULL);
    free(j);
    m->joined = NULL;
}

/* ---- arrivals ---- */

/* Finds the worker of each rank of the job: rank[k] fills the next slot of
 * machine[k]. False: the job side has made a mistake. */
static bool find_workers(const struct master *m, uint32_t n,
                         const uint32_t *machine, size_t *worker)
{
    for (uint32_t k = 0; k < n; k++) {
        uint32_t slot = 0, of_machine = 0;
        if (machine[k] >= m->survey.platform.n_machines)
            return false;
        for (uint32_t other = 0; other < n; other++) {
            of_machine += machine[other] == machine[k];
            slot += machine[other] == machine[k] && other < k;
        }
        if (of_machine != m->survey.platform.machines[machine[k]].slots)
            return false;
        worker[k] = m->worker[m->first[machine[k]] + slot];
        if (m->crew.workers[worker[k]].state != BATS_WORKER_ABSENT)
            return false;
    }
    return true;
}

/* Shares the cores of a node among its ranks. */
static int share(struct master *m, const struct bats_hub_job *job,
                 const size_t *worker, struct bats_error *err)
{
    uint32_t n = job->n_ranks;
    struct bats_node *nodes = calloc(n, sizeof *nodes);
    struct bats_share *shares = calloc(n, sizeof *shares);
    int rc = nodes == NULL || shares == NULL ? bats_no_memory(err) : 0;
    for (uint32_t k = 0; rc == 0 && k < n; k++)
        nodes[k] = m->crew.nodes[m->crew.ranks[worker[k]].rank];
    if (rc == 0)
        rc = bats_site_share(nodes, n, shares, err);
    for (uint32_t k = 0; rc == 0 && k < n; k++) {
        int rank = m->crew.ranks[worker[k]].rank;
        m->survey.shares[rank] = shares[k];
        m->survey.nodes[rank] = nodes[k];
    }
    free(nodes);
    free(shares);
    return rc;
}

/* Announces machines in the order of their numbers. */
static int announce(struct master *m, const uint32_t *machine, uint32_t n,
                    bats_time age, struct bats_error *err)
{
    int rc = 0;
    struct bats_event event = {.type = BATS_EVENT_JOINED, .runtime = age};
    for (uint32_t id = 0; rc == 0 && id < m->survey.platform.n_machines; id++)
        for (uint32_t k = 0; k < n; k++)
            if (machine[k] == id) {
                event.machine = id;
                rc = bats_master_handle(m, &event, err);
                break;
            }
    return rc;
}

static void say_found(struct master *m, const char *job,
                      const struct bats_found *found)
{
    char results[80] = "", tasks[80] = "";
    if (found->results > 0)
        snprintf(results, sizeof results,
                 "%u result%s of the session that was killed%s",
                 (unsigned)found->results, found->results == 1 ? "" : "s",
                 found->tasks > 0 ? ", " : "");
    if (found->tasks > 0)
        snprintf(tasks, sizeof tasks, "%u task%s on", (unsigned)found->tasks,
                 found->tasks == 1 ? " goes" : "s go");
    if (found->results + found->tasks > 0)
        bats_master_notice(m, BATS_MASTER_NONE, BATS_MASTER_NONE,
                           "worker job %s is back: %s%s", job, results, tasks);
}

/* Announces the machines. Results and tasks that the job brings from an earlier
 * session come before anything new. */
static int bring(struct master *m, const struct bats_hub_job *job,
                 const uint32_t *machine, const size_t *worker, bats_time age,
                 struct bats_error *err)
{
    struct bats_event hold = {.type = BATS_EVENT_HOLD};
    struct bats_event go = {.type = BATS_EVENT_GO};
    struct bats_found found = {0};
    bool holds = false;
    for (uint32_t k = 0; k < job->n_ranks; k++)
        holds |= bats_found_any(m, &job->hellos[k]);
    if (m->journal.failing_since > 0) /* the engine is already on hold */
        holds = false;
    int rc = holds ? bats_master_handle(m, &hold, err) : 0;
    if (rc == 0)
        rc = announce(m, machine, job->n_ranks, age, err);
    for (uint32_t k = 0; rc == 0 && k < job->n_ranks; k++)
        rc = bats_joined_blame(
            m, worker[k],
            bats_found_take(m, worker[k], &job->hellos[k], &found, err), err);
    say_found(m, job->number, &found);
    return rc == 0 && holds ? bats_master_handle(m, &go, err) : rc;
}

static int take_in(struct bats_joined *j, size_t i, const uint32_t *machine,
                   bats_time age, struct bats_error *err)
{
    struct master *m = j->m;
    const struct bats_hub_job *job = bats_hub_job(j->comm, i);
    uint32_t n = job->n_ranks;
    size_t *worker = calloc(n, sizeof *worker);
    int *rank = calloc(n, sizeof *rank);
    int rc = 0;
    if (worker == NULL || rank == NULL)
        rc = bats_no_memory(err);
    else if (!find_workers(m, n, machine, worker))
        rc = bats_error_set(err, BATS_ESTATE,
                            "job %s was given machines that it does not fit",
                            job->number);
    for (uint32_t k = 0; rc == 0 && k < n; k++) {
        rank[k] = m->crew.ranks[worker[k]].rank;
        bats_crew_join(&m->crew, worker[k], &job->hellos[k]);
    }
    if (rc == 0)
        rc = share(m, job, worker, err);
    if (rc == 0)
        rc = bats_needs_join(m->options, &m->survey, machine[0], job->hellos,
                             n, err);
    if (rc == 0)
        bats_hub_admit(j->comm, i, rank);
    for (uint32_t k = 0; rc == 0 && k < n; k++)
        rc = bats_master_set_up(m, worker[k], NULL, err);
    if (rc == 0)
        rc = bring(m, job, machine, worker, age, err);
    free(worker);
    free(rank);
    return rc;
}

static struct bats_hub_job *job_of(const struct bats_joined *j,
                                   const char *number)
{
    for (size_t i = 0; i < bats_hub_count(j->comm); i++) {
        struct bats_hub_job *job = bats_hub_job(j->comm, i);
        if (job->admitted && strcmp(job->number, number) == 0)
            return job;
    }
    return NULL;
}

/* The job side knows what its own jobs have. */
static bool is_large_enough(const struct bats_joined *j,
                            const struct bats_hub_job *job,
                            struct bats_error *why)
{
    return j->side->nodes != NULL ||
           bats_needs_hold(j->m->options, job->hellos, job->n_ranks, why) == 0;
}

static int admit(struct bats_joined *j, size_t i, int64_t now_us,
                 struct bats_error *err)
{
    const struct bats_hub_job *job = bats_hub_job(j->comm, i);
    if (job_of(j, job->number) != NULL)
        return 0; /* its earlier connection must end first */
    struct bats_worker_job said = {job->number, job->n_ranks, job->hellos};
    struct bats_error why;
    bats_time age = 0;
    uint32_t *machine = calloc(job->n_ranks, sizeof *machine);
    if (machine == NULL)
        return bats_no_memory(err);
    int rc =
        j->m->stopping || j->m->finished
            ? bats_error_set(&why, BATS_ESTATE, "the run is ending")
        : !is_large_enough(j, job, &why)
            ? BATS_EINPUT
            : j->side->admit(j->side->context, &said, machine, &age, &why);
    if (rc == 0 && now_us - job->since_us > ADMIT_US)
        rc =
            bats_error_set(&why, BATS_ESTATE, "the run asked for no such job");
    if (rc > 0) {
        rc = take_in(j, i, machine, age, err);
    } else if (rc < 0) {
        bats_hub_refuse(j->comm, i, why.text);
        rc = 0;
    }
    free(machine);
    return rc;
}

/* ---- departures ---- */

static size_t worker_at(const struct master *m, const struct bats_hub_job *job,
                        uint32_t k)
{
    return m->crew.of_rank[job->rank[k]];
}

/* True if some machine of the job is not lost. */
static bool has_machines(const struct master *m,
                         const struct bats_hub_job *job)
{
    for (uint32_t k = 0; k < job->n_ranks; k++)
        if (m->crew.workers[worker_at(m, job, k)].state == BATS_WORKER_WORKS)
            return true;
    return false;
}

static bool owes_output(const struct master *m, const struct bats_hub_job *job)
{
    for (uint32_t k = 0; k < job->n_ranks; k++)
        if (m->crew.workers[worker_at(m, job, k)].to_come > 0)
            return true;
    return false;
}

/* Takes all machines of the job from the engine; with a reason, as lost. */
static int part(struct master *m, const struct bats_hub_job *job,
                const char *why, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t k = 0; rc == 0 && k < job->n_ranks; k++) {
        size_t i = worker_at(m, job, k);
        if (m->crew.workers[i].state != BATS_WORKER_WORKS)
            continue;
        rc = why != NULL ? bats_master_lose(m, i, why, err)
                         : bats_master_part(
                               m, m->survey.platform.slot_of[i].machine, err);
    }
    return rc;
}

static void tell_to_leave(struct bats_joined *j,
                          const struct bats_hub_job *job)
{
    enum bats_leave leave = BATS_LEAVE;
    for (uint32_t k = 0; k < job->n_ranks; k++) {
        enum bats_worker_state state =
            j->m->crew.workers[worker_at(j->m, job, k)].state;
        if (state == BATS_WORKER_SILENT || state == BATS_WORKER_GONE)
            leave = BATS_LEAVE_BROKEN;
    }
    for (uint32_t k = 0; k < job->n_ranks; k++)
        bats_comm_say(j->comm, job->rank[k],
                      BATS_SAY(BATS_MESSAGE_STOP, .u.leave = leave), NULL);
}

/* Sends the job off if the job side wants that, or if all its machines are
 * lost. */
static int send_off(struct bats_joined *j, struct bats_hub_job *job,
                    int64_t now_us, struct bats_error *err)
{
    int rc = 0;
    if (job->leaves_by_us > 0 && now_us > job->leaves_by_us)
        bats_hub_cut(j->comm, job->rank[0], "it did not leave when told to");
    if (job->leaves_by_us > 0 ||
        (!job->is_to_leave && has_machines(j->m, job)) ||
        owes_output(j->m, job))
        return 0;
    rc = part(j->m, job, NULL, err);
    tell_to_leave(j, job);
    job->leaves_by_us = now_us + j->m->options->grace_ms * 1000 + LEAVE_US;
    return rc;
}

static void forget(struct bats_joined *j, size_t i, enum bats_parted how)
{
    struct master *m = j->m;
    const struct bats_hub_job *job = bats_hub_job(j->comm, i);
    char number[BATS_PROTO_JOB];
    strcpy(number, job->number);
    for (uint32_t k = 0; k < job->n_ranks; k++)
        bats_crew_leave(&m->crew, worker_at(m, job, k));
    bats_hub_drop(j->comm, i);
    if (j->side->parted != NULL)
        j->side->parted(j->side->context, number, how);
}

/* Drops a job that has left: its ranks of the run are free for others. */
static int see_off(struct bats_joined *j, size_t i, struct bats_error *err)
{
    const struct bats_hub_job *job = bats_hub_job(j->comm, i);
    bool cut = job->state == BATS_HUB_CUT;
    if (!job->admitted) {
        if (j->n_refused++ < REFUSALS)
            bats_master_notice(j->m, BATS_MASTER_NONE, BATS_MASTER_NONE,
                               "a client claiming to be worker job '%s' was "
                               "rejected: %s",
                               job->number, job->why);
        bats_hub_drop(j->comm, i);
        return 0;
    }
    int rc = part(j->m, job, cut ? job->why : "it has left", err);
    if (rc == 0)
        forget(j, i, cut ? BATS_PARTED_CUT : BATS_PARTED_BYE);
    return rc;
}

/* ---- in the loop ---- */

int bats_joined_step(struct master *m, struct bats_error *err)
{
    struct bats_joined *j = m->joined;
    int64_t now_us = bats_clock_now_us();
    if (j == NULL)
        return 0;
    int rc = bats_hub_listen(
        j->comm,
        !m->stopping && !m->finished &&
            (j->side->expects == NULL || j->side->expects(j->side->context)),
        err);
    for (size_t i = bats_hub_count(j->comm); rc == 0 && i-- > 0;) {
        struct bats_hub_job *job = bats_hub_job(j->comm, i);
        if (job->state == BATS_HUB_WAITS)
            rc = admit(j, i, now_us, err);
        if (rc == 0 && job->state == BATS_HUB_WORKS)
            rc = send_off(j, job, now_us, err);
        if (rc == 0 && job->state >= BATS_HUB_LEFT)
            rc = see_off(j, i, err);
    }
    j->due_us = INT64_MAX;
    return rc == 0 && j->side->step != NULL &&
                   (!m->finished || j->side->is_settled != NULL)
               ? j->side->step(j->side->context, j, &j->due_us, err)
               : rc;
}

bool bats_joined_is_settled(const struct master *m)
{
    const struct bats_joining *side = m->options->joining;
    return side == NULL || side->is_settled == NULL ||
           side->is_settled(side->context);
}

int64_t bats_joined_due_us(const struct master *m)
{
    int64_t now_us = bats_clock_now_us();
    if (m->joined == NULL)
        return INT64_MAX;
    return m->joined->due_us > now_us ? m->joined->due_us - now_us : 0;
}

void bats_joined_command(struct master *m, const struct bats_command *command)
{
    const struct bats_joining *side = m->options->joining;
    if (side != NULL && side->commanded != NULL &&
        command->type != BATS_COMMAND_RUN &&
        command->type != BATS_COMMAND_CANCEL)
        side->commanded(side->context, command);
}

int bats_joined_blame(struct master *m, size_t i, int rc,
                      struct bats_error *err)
{
    if (m->joined == NULL || (rc != BATS_EPROTO && rc != BATS_ESTATE) ||
        i >= m->crew.n)
        return rc;
    bats_hub_cut(m->joined->comm, m->crew.ranks[i].rank, err->text);
    return 0;
}

/* ---- for the job side ---- */

struct bats_sched *bats_joined_sched(struct bats_joined *joined)
{
    return joined->m->sched;
}

int bats_joined_handle(struct bats_joined *joined,
                       const struct bats_event *event, struct bats_error *err)
{
    return bats_master_handle(joined->m, event, err);
}

void bats_joined_lease(struct bats_joined *joined, const char *number,
                       int64_t age_us)
{
    const struct bats_hub_job *job = job_of(joined, number);
    if (job != NULL)
        bats_comm_say(joined->comm, job->rank[0],
                      BATS_SAY(BATS_MESSAGE_LEASE, .u.age_us = age_us), NULL);
}

int bats_joined_send_off(struct bats_joined *joined, const char *number,
                         struct bats_error *err)
{
    struct bats_hub_job *job = job_of(joined, number);
    if (job == NULL)
        return 0;
    job->is_to_leave = true;
    return send_off(joined, job, bats_clock_now_us(), err);
}

void bats_joined_notice(struct bats_joined *joined, const char *sentence)
{
    bats_master_notice(joined->m, BATS_MASTER_NONE, BATS_MASTER_NONE, "%s",
                       sentence);
}
