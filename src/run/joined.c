/* joined: worker jobs, between the hub (connections), the job side (joining.h
 * has the functions it offers) and the engine. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "run/hub.h"
#include "run/master.h"
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

int bats_joined_expect(struct master *m, struct bats_error *err)
{
    struct bats_platform platform;
    int64_t silence_us = m->options->silence_us;
    struct bats_joined *j = m->joined = calloc(1, sizeof *j);
    if (j == NULL)
        return bats_no_memory(err);
    *j = (struct bats_joined){.m = m, .side = m->options->joining};
    int rc = j->side->platform(j->side->context, &platform, err);
    if (rc < 0)
        return rc;
    rc = make_slots(&platform, err);
    if (rc == 0)
        rc = bats_hub_create(j->side, (uint32_t)platform.n_workers, silence_us,
                             &j->comm, err);
    if (rc == 0)
        rc = bats_crew_expect(&m->crew, j->comm, err);
    if (rc == 0)
        rc = bats_heart_start(j->comm, silence_us, err);
    if (rc == 0)
        return bats_survey_expect(&m->crew, m->options, &platform, &m->survey,
                                  err);
    bats_platform_release(&platform);
    return rc;
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

/* ---- what a job brings from an earlier session that was killed ----
 *
 * Results that the last master did not record, and tasks that still run,
 * become FOUND events (bats/sched.h); a result follows as DONE or FAILED. The
 * first result of a task counts. If the task has one already, or the slot is
 * needed for something else, the found result is dropped, or the task told to
 * stop. */

/* The numbers of these that the run took. */
struct found {
    uint32_t results, tasks; /* tasks that run on */
};

/* True if the rank brings results or a task of the session that this run
 * continues. */
static bool brings_any(const struct master *m, const struct bats_hello *hello)
{
    const char *run = m->options->killed_run;
    return run != NULL && strcmp(hello->kept_run, run) == 0 &&
           (hello->attempt > 0 || hello->n_results > 0);
}

/* True unless the record has the end of the execution. */
static bool is_new(const struct master *m, uint32_t task, uint32_t attempt)
{
    const uint32_t *recorded = m->options->attempts;
    return task < m->options->bag->n_tasks &&
           (recorded == NULL || attempt > recorded[task]);
}

/* Sets *wanted if the engine takes over the execution. */
static int find(struct master *m, size_t i, uint32_t task, uint32_t attempt,
                bool *wanted, struct bats_error *err)
{
    const struct bats_slot_of *at = &m->survey.platform.slot_of[i];
    struct bats_event event = {.type = BATS_EVENT_FOUND,
                               .machine = at->machine,
                               .slot = at->slot,
                               .task = task};
    size_t before = m->journal.n;
    *wanted = false;
    if (!is_new(m, task, attempt))
        return 0;
    int rc = bats_master_handle(m, &event, err);
    *wanted = rc == 0 && bats_sched_execution(m->sched, at->machine, at->slot,
                                              task) != BATS_EXECUTION_NONE;
    if (!*wanted)
        return rc;
    bats_journal_take_out_run(&m->journal, before, task);
    if (m->attempts[task] < attempt)
        m->attempts[task] = attempt;
    if (m->halves != NULL)
        m->halves[task] = 1;
    return 0;
}

static int take_results(struct master *m, size_t i,
                        const struct bats_hello *hello, struct found *found,
                        struct bats_error *err)
{
    struct bats_message message;
    struct bats_task_result r;
    bool any = brings_any(m, hello);
    int rc = bats_proto_open(hello->results, hello->n_results, &message, err);
    m->crew.workers[i].n_results++;
    while (rc == 0 && bats_proto_next_result(&message, &r)) {
        bool wanted = false;
        if (any && !r.cancelled)
            rc = find(m, i, r.task, r.attempt, &wanted, err);
        found->results += wanted;
        if (rc == 0)
            rc = wanted ? bats_results_take_one(m, i, &r, err)
                        : bats_results_refuse(m, i, &r, err);
    }
    return rc;
}

/* Worker i has said this HELLO and got its SETUP, and its machine has just
 * JOINED. Takes its results and its task, and adds to *found. Nothing may
 * start meanwhile (HOLD). Errors as of bats_results_take. */
static int take_found(struct master *m, size_t i,
                      const struct bats_hello *hello, struct found *found,
                      struct bats_error *err)
{
    bool wanted = false;
    int rc = hello->n_results > 0 ? take_results(m, i, hello, found, err) : 0;
    if (rc == 0 && brings_any(m, hello) && hello->attempt > 0)
        rc = find(m, i, hello->task, hello->attempt, &wanted, err);
    found->tasks += wanted;
    if (rc < 0 || wanted || hello->attempt == 0)
        return rc;
    m->crew.workers[i].unwanted = hello->task;
    return bats_crew_say(&m->crew, i,
                         BATS_SAY(BATS_MESSAGE_CANCEL, .u.task = hello->task),
                         err);
}

/* ---- arrivals ---- */

static size_t worker_at(const struct bats_hub_job *job, uint32_t k)
{
    return (size_t)job->rank[k] - 1;
}

/* Makes each rank of the job a rank of the run: rank k fills the next slot of
 * machine[k]. False: the job side has made a mistake. */
static bool seat(const struct master *m, struct bats_hub_job *job,
                 const uint32_t *machine)
{
    for (uint32_t k = 0; k < job->n_ranks; k++) {
        uint32_t slot = 0, of_machine = 0;
        for (uint32_t other = 0; other < job->n_ranks; other++) {
            of_machine += machine[other] == machine[k];
            slot += machine[other] == machine[k] && other < k;
        }
        if (machine[k] >= m->survey.platform.n_machines ||
            of_machine != m->survey.platform.machines[machine[k]].slots)
            return false;
        size_t i = bats_master_worker(m, machine[k], slot);
        if (m->crew.workers[i].state != BATS_WORKER_ABSENT)
            return false;
        job->rank[k] = m->crew.ranks[i].rank;
    }
    return true;
}

static int share(struct master *m, const struct bats_hub_job *job,
                 struct bats_error *err)
{
    uint32_t n = job->n_ranks;
    struct bats_node *nodes = calloc(n, sizeof *nodes);
    struct bats_share *shares = calloc(n, sizeof *shares);
    int rc = nodes == NULL || shares == NULL ? bats_no_memory(err) : 0;
    for (uint32_t k = 0; rc == 0 && k < n; k++)
        nodes[k] = job->hellos[k].node;
    if (rc == 0)
        rc = bats_site_share(nodes, n, shares, err);
    for (uint32_t k = 0; rc == 0 && k < n; k++) {
        m->survey.shares[job->rank[k]] = shares[k];
        m->survey.nodes[job->rank[k]] = nodes[k];
    }
    free(nodes);
    free(shares);
    return rc;
}

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
                      const struct found *found)
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
        bats_master_tell(m, "worker job %s is back: %s%s", job, results,
                         tasks);
}

/* Announces the machines. Results and tasks that the job brings from an earlier
 * session come before anything new. */
static int bring(struct master *m, const struct bats_hub_job *job,
                 const uint32_t *machine, bats_time age,
                 struct bats_error *err)
{
    struct bats_event hold = {.type = BATS_EVENT_HOLD};
    struct bats_event go = {.type = BATS_EVENT_GO};
    struct found found = {0};
    bool holds = false;
    for (uint32_t k = 0; k < job->n_ranks; k++)
        holds |= brings_any(m, &job->hellos[k]);
    if (m->journal.failing_since > 0) /* the engine is already on hold */
        holds = false;
    int rc = holds ? bats_master_handle(m, &hold, err) : 0;
    if (rc == 0)
        rc = announce(m, machine, job->n_ranks, age, err);
    for (uint32_t k = 0; rc == 0 && k < job->n_ranks; k++)
        rc = bats_joined_blame(
            m, worker_at(job, k),
            take_found(m, worker_at(job, k), &job->hellos[k], &found, err),
            err);
    say_found(m, job->number, &found);
    return rc == 0 && holds ? bats_master_handle(m, &go, err) : rc;
}

static int take_in(struct bats_joined *j, struct bats_hub_job *job,
                   const uint32_t *machine, bats_time age,
                   struct bats_error *err)
{
    struct master *m = j->m;
    uint32_t n = job->n_ranks;
    if (!seat(m, job, machine))
        return bats_error_set(err, BATS_ESTATE,
                              "job %s was given machines that it does not fit",
                              job->number);
    for (uint32_t k = 0; k < n; k++)
        bats_crew_join(&m->crew, worker_at(job, k), &job->hellos[k]);
    int rc = share(m, job, err);
    if (rc == 0)
        rc = bats_needs_join(m->options, &m->survey, machine[0], job->hellos,
                             n, err);
    if (rc == 0)
        bats_hub_admit(j->comm, job);
    for (uint32_t k = 0; rc == 0 && k < n; k++)
        rc = bats_master_set_up(m, worker_at(job, k), err);
    return rc == 0 ? bring(m, job, machine, age, err) : rc;
}

static struct bats_hub_job *job_of(const struct bats_joined *j,
                                   const char *number)
{
    struct bats_hub_job *job;
    for (size_t i = 0; (job = bats_hub_job(j->comm, i)) != NULL; i++)
        if (job->admitted && strcmp(job->number, number) == 0)
            return job;
    return NULL;
}

/* Asks the job side; it knows what its own jobs have. 1: it has set *machine
 * and *age; 0: not yet; else `why` refuses the job. */
static int ask_side(struct bats_joined *j, const struct bats_hub_job *job,
                    uint32_t *machine, bats_time *age, struct bats_error *why)
{
    struct bats_worker_job said = {job->number, job->n_ranks, job->hellos};
    if (j->m->stopping || j->m->finished)
        return bats_error_set(why, BATS_ESTATE, "the run is ending");
    int rc =
        j->side->nodes == NULL
            ? bats_needs_hold(j->m->options, job->hellos, job->n_ranks, why)
            : 0;
    if (rc == 0)
        rc = j->side->admit(j->side->context, &said, machine, age, why);
    return rc == 0 && bats_clock_now_us() - job->since_us > ADMIT_US
               ? bats_error_set(why, BATS_ESTATE,
                                "the run asked for no such job")
               : rc;
}

static int admit(struct bats_joined *j, struct bats_hub_job *job,
                 struct bats_error *err)
{
    struct bats_error why;
    bats_time age = 0;
    if (job_of(j, job->number) != NULL)
        return 0; /* its earlier connection must end first */
    uint32_t *machine = calloc(job->n_ranks, sizeof *machine);
    if (machine == NULL)
        return bats_no_memory(err);
    int said = ask_side(j, job, machine, &age, &why);
    int rc = said > 0 ? take_in(j, job, machine, age, err) : 0;
    if (said < 0)
        bats_hub_refuse(job, why.text);
    free(machine);
    return rc;
}

/* ---- departures ---- */

static bool has_any(const struct master *m, const struct bats_hub_job *job,
                    enum bats_worker_state state)
{
    for (uint32_t k = 0; k < job->n_ranks; k++)
        if (m->crew.workers[worker_at(job, k)].state == state)
            return true;
    return false;
}

static bool owes_output(const struct master *m, const struct bats_hub_job *job)
{
    for (uint32_t k = 0; k < job->n_ranks; k++)
        if (m->crew.workers[worker_at(job, k)].to_come > 0)
            return true;
    return false;
}

/* Takes all machines of the job from the engine; with a reason, as lost. */
static int part(struct master *m, const struct bats_hub_job *job,
                const char *why, struct bats_error *err)
{
    int rc = 0;
    for (uint32_t k = 0; rc == 0 && k < job->n_ranks; k++) {
        size_t i = worker_at(job, k);
        if (m->crew.workers[i].state == BATS_WORKER_WORKS)
            rc = why != NULL
                     ? bats_master_lose(m, i, why, err)
                     : bats_master_part(m, bats_master_machine(m, i), err);
    }
    return rc;
}

/* Sends the job off if the job side wants that, or if all its machines are
 * lost. */
static int send_off(struct bats_joined *j, struct bats_hub_job *job,
                    int64_t now_us, struct bats_error *err)
{
    struct master *m = j->m;
    if (job->leaves_by_us > 0 && now_us > job->leaves_by_us)
        bats_hub_refuse(job, "it did not leave when told to");
    if (job->leaves_by_us > 0 ||
        (!job->is_to_leave && has_any(m, job, BATS_WORKER_WORKS)) ||
        owes_output(m, job))
        return 0;
    int rc = part(m, job, NULL, err);
    bool is_broken = has_any(m, job, BATS_WORKER_SILENT) ||
                     has_any(m, job, BATS_WORKER_GONE);
    for (uint32_t k = 0; k < job->n_ranks; k++)
        bats_comm_say(
            j->comm, job->rank[k],
            BATS_SAY(BATS_MESSAGE_STOP,
                     .u.leave = is_broken ? BATS_LEAVE_BROKEN : BATS_LEAVE),
            NULL);
    job->leaves_by_us = now_us + m->options->grace_ms * 1000 + LEAVE_US;
    return rc;
}

/* Drops a job that has left: its ranks of the run are free for others. */
static int see_off(struct bats_joined *j, struct bats_hub_job *job,
                   struct bats_error *err)
{
    char number[BATS_PROTO_JOB];
    bool cut = job->state == BATS_HUB_CUT, admitted = job->admitted;
    strcpy(number, job->number);
    if (!admitted && j->n_refused++ < REFUSALS)
        bats_master_tell(j->m, "a client%s%s was rejected: %s",
                         number[0] != '\0' ? " for worker job " : "", number,
                         job->why);
    int rc =
        admitted ? part(j->m, job, cut ? job->why : "it has left", err) : 0;
    if (rc < 0)
        return rc;
    for (uint32_t k = 0; admitted && k < job->n_ranks; k++)
        bats_crew_leave(&j->m->crew, worker_at(job, k));
    bats_hub_drop(j->comm, job);
    if (admitted && j->side->parted != NULL)
        j->side->parted(j->side->context, number,
                        cut ? BATS_PARTED_CUT : BATS_PARTED_BYE);
    return 0;
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
    struct bats_hub_job *job;
    for (size_t i = 0; rc == 0 && (job = bats_hub_job(j->comm, i)) != NULL;) {
        if (job->state == BATS_HUB_WAITS)
            rc = admit(j, job, err);
        if (rc == 0 && job->state == BATS_HUB_WORKS)
            rc = send_off(j, job, now_us, err);
        if (rc == 0 && job->state >= BATS_HUB_LEFT)
            rc = see_off(j, job, err);
        else
            i++;
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
    bats_master_tell(joined->m, "%s", sentence);
}
