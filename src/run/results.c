/*
 * results: turns the end of an execution into the event for the engine, the
 * row in the record, the line of the joblog, and the output that is shown. The
 * loss of a machine is the end of all that it runs.
 */
#include "run/master.h"

#include <inttypes.h>
#include <signal.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "run/needs.h"
#include "run/open.h"
#include "util/now.h"

static void tell_ended(struct master *m, size_t i,
                       const struct bats_task_result *r,
                       enum bats_record_outcome outcome)
{
    if (m->observer->ended == NULL ||
        bats_bagfile_command(m->options->bag, r->task, &m->command) < 0)
        return;
    uint32_t machine = bats_master_machine(m, i);
    struct bats_execution execution = {
        .task = r->task,
        .attempt = r->attempt,
        .machine = machine,
        .cluster = m->survey.platform.machines[machine].cluster,
        .rank = m->crew.ranks[i].rank,
        .host = m->crew.ranks[i].host,
        .command = m->command.bytes,
        .need = bats_needs_of(m->options, r->task),
        .is_result = outcome == BATS_RECORD_RESULT,
        .preempted = r->cancelled,
        .superseded = outcome == BATS_RECORD_SUPERSEDED,
        .usage = r->usage,
        .runtime = bats_virtual_time(m->options, r->usage.wall_us),
        .last = r->last,
        .n_last = r->n_last,
        .to_come = r->to_come[0],
    };
    bats_open_describe(m, &execution);
    m->observer->ended(m->observer->context, &execution);
}

static enum bats_event_type end_of(const struct bats_task_result *r)
{
    if (r->cancelled) /* perhaps a time-out: the engine knows */
        return BATS_EVENT_PREEMPTED;
    if (r->usage.signal != 0)
        return BATS_EVENT_FAILED;
    return r->usage.exit_status == 0                   ? BATS_EVENT_DONE
           : r->usage.exit_status == BATS_STATUS_AGAIN ? BATS_EVENT_YIELDED
                                                       : BATS_EVENT_FAILED;
}

static int record_attempt(struct master *m, size_t i,
                          const struct bats_task_result *r,
                          enum bats_record_outcome outcome,
                          struct bats_error *err)
{
    bool is_result = outcome == BATS_RECORD_RESULT;
    int rc = is_result ? bats_open_ended(m, r->task, &r->usage, err) : 0;
    if (rc < 0 || m->journal.record == NULL || (is_result && m->is_unseen))
        return rc;
    struct bats_record_attempt attempt = {
        .task = r->task,
        .attempt = r->attempt,
        .machine = bats_master_machine(m, i),
        .host = m->crew.ranks[i].host,
        .usage = r->usage,
        .outcome = outcome,
        .stream = m->options->output == BATS_OUTPUT_STREAM
                      ? m->crew.workers[i].stream
                      : -1,
    };
    return bats_record_attempt(m->journal.record, bats_master_now(m), &attempt,
                               err);
}

/* Unlike the row of the attempt, this row need not wait for late output. */
static int record_last(struct master *m, size_t i,
                       const struct bats_task_result *r,
                       enum bats_record_outcome outcome,
                       struct bats_error *err)
{
    if (m->journal.record == NULL || outcome == BATS_RECORD_SUPERSEDED ||
        r->n_last == 0 || end_of(r) != BATS_EVENT_FAILED)
        return 0;
    struct bats_record_last last = {
        .task = r->task,
        .attempt = r->attempt,
        .exit_status = r->usage.exit_status,
        .signal = r->usage.signal,
        .host = m->crew.ranks[i].host,
        .bytes = r->last,
        .n = r->n_last,
    };
    return bats_record_last(m->journal.record, bats_master_now(m), &last, err);
}

static void hand_over(struct master *m, const struct bats_output_lines *lines)
{
    if (bats_open_output(m, lines))
        return;
    if (m->observer->output != NULL && lines->n > 0 &&
        !m->observer->output(m->observer->context, lines->task, lines->stream,
                             lines->bytes, lines->n))
        m->is_unseen = true;
}

static int judge(struct master *m, size_t i, const struct bats_task_result *r,
                 bool is_result, struct bats_error *err)
{
    return bats_crew_say(
        &m->crew, i,
        BATS_SAY(BATS_MESSAGE_VERDICT,
                 .u.verdict = {r->task, r->attempt, is_result}),
        err);
}

/* Shows the output of executions that gave a result only: the lines enclosed
 * in it, and those that its worker keeps until it learns that they count. */
static int take_lines(struct master *m, size_t i,
                      const struct bats_task_result *r,
                      enum bats_record_outcome outcome, struct bats_error *err)
{
    bool is_result = outcome == BATS_RECORD_RESULT;
    for (int k = 0; is_result && k < 2; k++)
        hand_over(m, &(struct bats_output_lines){r->task, k + 1, r->lines[k],
                                                 r->n_lines[k]});
    if (!r->asks)
        return 0;
    int64_t to_come = r->to_come[0] + r->to_come[1];
    if (is_result && to_come > 0) {
        m->crew.workers[i].to_come = to_come;
        m->n_to_come++;
    }
    return judge(m, i, r, is_result, err);
}

int bats_results_refuse(struct master *m, size_t i,
                        const struct bats_task_result *r,
                        struct bats_error *err)
{
    return r->asks ? judge(m, i, r, false, err) : 0;
}

/* True if the task was begun for an earlier session, and this one does not
 * want it. */
static bool is_unwanted(struct master *m, size_t i, uint32_t task)
{
    struct bats_worker *worker = &m->crew.workers[i];
    if (m->joined == NULL || !worker->keeps || worker->unwanted != task)
        return false;
    worker->unwanted = BATS_NO_TASK;
    return true;
}

/* Why an execution that the engine still wants was cancelled: its rank was
 * told to end before this one. TOLD_ALL: the whole run is ending, or the whole
 * worker job. TOLD_ALONE: a reclaimable machine ends, and its task runs again.
 * NOT_TOLD includes emulated losses. */
enum told { NOT_TOLD, TOLD_ALONE, TOLD_ALL };

static enum told who_was_told(const struct master *m, uint32_t machine,
                              const struct bats_task_result *r,
                              enum bats_execution_state state)
{
    const struct bats_platform *p = &m->survey.platform;
    uint32_t cluster = p->machines[machine].cluster;
    if (!r->cancelled || state != BATS_EXECUTION_RUNS ||
        (p->clusters[cluster].noticed > 0 &&
         bats_reliability_loses(&p->reliability[cluster])))
        return NOT_TOLD;
    return p->clusters[cluster].reclaimable ? TOLD_ALONE : TOLD_ALL;
}

/* The exit status of an execution that the engine had cancelled for good; else
 * 0. */
static int given_status(const struct master *m,
                        const struct bats_task_result *r,
                        const struct bats_event *event,
                        enum bats_execution_state state, bool is_result)
{
    if (r->cancelled && state == BATS_EXECUTION_TIMED_OUT)
        return BATS_STATUS_TIMED_OUT;
    if (is_result && r->cancelled && bats_open_is_withdrawn(m, r->task))
        return BATS_STATUS_WITHDRAWN;
    return is_result && event->type == BATS_EVENT_PREEMPTED
               ? BATS_STATUS_TOO_LONG
               : 0;
}

/* The outcome of an execution without result, of a task that has none yet. */
static enum bats_record_outcome useless(const struct bats_task_result *end,
                                        bool has_replicas)
{
    return end->cancelled                      ? BATS_RECORD_PREEMPTED
           : end_of(end) == BATS_EVENT_YIELDED ? BATS_RECORD_YIELDED
           : has_replicas                      ? BATS_RECORD_FAILED_BESIDE
                                               : BATS_RECORD_RETRIED;
}

static int pass_on(struct master *m, size_t i,
                   const struct bats_task_result *r,
                   const struct bats_task_result *end,
                   enum bats_record_outcome outcome, struct bats_error *err)
{
    int rc = take_lines(m, i, r, outcome, err);
    tell_ended(m, i, end, outcome);
    if (rc == 0)
        rc = record_last(m, i, end, outcome, err);
    if (m->crew.workers[i].to_come > 0)
        m->crew.workers[i].late = *end;
    else if (rc == 0)
        rc = record_attempt(m, i, end, outcome, err);
    return rc;
}

static int conclude(struct master *m, size_t i,
                    const struct bats_task_result *r,
                    const struct bats_event *event,
                    enum bats_execution_state state, struct bats_error *err)
{
    struct bats_task_result end = *r;
    bool superseded = bats_sched_has_result(m->sched, r->task);
    bool has_replicas = bats_sched_has_replicas(m->sched, r->task);
    int rc = bats_master_handle(m, event, err);
    if (rc < 0)
        return rc;
    bool is_result = !superseded && bats_sched_has_result(m->sched, r->task);
    int status = given_status(m, r, event, state, is_result);
    if (status != 0) {
        end.cancelled = false;
        end.usage.exit_status = status;
        end.usage.signal = SIGTERM;
    }
    if (r->out_of_memory && !r->cancelled)
        end.usage.exit_status = BATS_STATUS_OUT_OF_MEMORY;
    if (m->halves != NULL && r->usage.exit_status == BATS_STATUS_AGAIN)
        m->halves[r->task] = 0;
    if (r->usage.start_us > 0 || is_result)
        return pass_on(m, i, r, &end,
                       is_result    ? BATS_RECORD_RESULT
                       : superseded ? BATS_RECORD_SUPERSEDED
                                    : useless(&end, has_replicas),
                       err);
    if (r->cancelled && r->attempt == m->attempts[r->task])
        m->attempts[r->task]--; /* it never started */
    return 0;
}

int bats_results_take_one(struct master *m, size_t i,
                          const struct bats_task_result *r,
                          struct bats_error *err)
{
    if (r->task >= m->options->bag->n_tasks)
        return bats_error_set(err, BATS_EPROTO,
                              "rank %d has a result of task %" PRIu64
                              ", which does not exist",
                              m->crew.ranks[i].rank, (uint64_t)r->task + 1);
    struct bats_event event = {
        .type = end_of(r),
        .machine = bats_master_machine(m, i),
        .slot = m->survey.platform.slot_of[i].slot,
        .task = r->task,
        .runtime = bats_virtual_time(m->options, r->usage.wall_us),
        .out_of_memory = r->out_of_memory,
    };
    enum bats_execution_state state =
        bats_sched_execution(m->sched, event.machine, event.slot, r->task);
    if (state == BATS_EXECUTION_NONE && is_unwanted(m, i, r->task))
        return bats_results_refuse(m, i, r, err);
    enum told told = who_was_told(m, event.machine, r, state);
    if (told == TOLD_ALL && m->joined != NULL)
        return BATS_RESULTS_ENDING;
    if (told == TOLD_ALONE)
        event.type = BATS_EVENT_YIELDED;
    int rc = told == TOLD_ALL ? bats_master_stop(m, err) : 0;
    return rc < 0 ? rc : conclude(m, i, r, &event, state, err);
}

/* Worker i will send no more output of its last result. */
static int end_output(struct master *m, size_t i, struct bats_error *err)
{
    struct bats_worker *worker = &m->crew.workers[i];
    worker->to_come = 0;
    m->n_to_come--;
    return record_attempt(m, i, &worker->late, BATS_RECORD_RESULT, err);
}

int bats_results_take(struct master *m, size_t i, struct bats_message *message,
                      struct bats_error *err)
{
    struct bats_task_result result;
    int rc = 0;
    while (rc == 0 && bats_proto_next_result(message, &result))
        rc = bats_results_take_one(m, i, &result, err);
    return rc;
}

/* A task that was lost with several machines in a row is given up, and counts
 * as killed. */
static int tell_lost(struct master *m, const struct bats_command *lose,
                     struct bats_error *err)
{
    size_t i = bats_master_worker(m, lose->machine, lose->slot);
    struct bats_task_result r = {
        .task = lose->task,
        .attempt = m->attempts[lose->task],
        .usage.signal = SIGKILL,
        .usage.start_us = bats_now_us(CLOCK_REALTIME),
    };
    bats_master_notice(m, lose->machine, lose->task,
                       "task %" PRIu64
                       " has failed: it was lost with its machine too "
                       "often",
                       (uint64_t)lose->task + 1);
    tell_ended(m, i, &r, BATS_RECORD_RESULT);
    return record_attempt(m, i, &r, BATS_RECORD_RESULT, err);
}

int bats_results_output(struct master *m, size_t i,
                        const struct bats_output_lines *output,
                        struct bats_error *err)
{
    hand_over(m, output);
    struct bats_worker *worker = &m->crew.workers[i];
    if (worker->to_come == 0)
        return 0;
    worker->to_come -= (int64_t)output->n;
    return worker->to_come > 0 ? 0 : end_output(m, i, err);
}

/* ---- machines that will not come back ---- */

/* Gives the worker no more tasks, and waits for no more output of it. */
static int retire(struct master *m, size_t i, struct bats_error *err)
{
    struct bats_worker *worker = &m->crew.workers[i];
    int rc = 0;
    if (worker->state == BATS_WORKER_WORKS) {
        rc = bats_crew_say(
            &m->crew, i,
            BATS_SAY(BATS_MESSAGE_STOP, .u.leave = BATS_LEAVE_NOT), err);
        worker->state = BATS_WORKER_RETIRED;
    }
    if (rc < 0 || worker->to_come == 0)
        return rc;
    bats_master_notice(m, bats_master_machine(m, i), BATS_MASTER_NONE,
                       "output of a finished task was lost with rank %d",
                       m->crew.ranks[i].rank);
    return end_output(m, i, err);
}

int bats_master_part(struct master *m, uint32_t machine,
                     struct bats_error *err)
{
    struct bats_event event = {.type = BATS_EVENT_LOST, .machine = machine};
    size_t before = m->journal.n;
    int rc = 0;
    for (uint32_t k = 0;
         rc == 0 && k < m->survey.platform.machines[machine].slots; k++)
        rc = retire(m, bats_master_worker(m, machine, k), err);
    if (rc == 0)
        rc = bats_master_handle(m, &event, err);
    for (size_t k = before; rc == 0 && k < m->journal.n; k++)
        if (m->journal.commands[k].type == BATS_NOTICE_LOSE &&
            bats_sched_has_failed(m->sched, m->journal.commands[k].task))
            rc = tell_lost(m, &m->journal.commands[k], err);
    return rc;
}

static bool has_begun(const struct bats_crew *crew)
{
    bool any = bats_crew_works(crew);
    for (size_t i = 0; i < crew->n; i++)
        any |= crew->workers[i].is_ready;
    return any;
}

int bats_master_lose(struct master *m, size_t i, const char *why,
                     struct bats_error *err)
{
    uint32_t machine = bats_master_machine(m, i);
    bool was_ready = m->crew.workers[i].is_ready;
    bats_master_notice(m, machine, BATS_MASTER_NONE, "rank %d on %s %s: %s",
                       m->crew.ranks[i].rank, m->crew.ranks[i].host,
                       was_ready ? "is lost" : "gets no tasks", why);
    int rc = bats_master_part(m, machine, err);
    return rc < 0 || was_ready || m->joined != NULL || has_begun(&m->crew)
               ? rc
               : bats_error_set(err, BATS_ESYS,
                                "no node can run tasks: see the output of "
                                "PERENGINE START");
}
