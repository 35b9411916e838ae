/*
 * results: turns the end of an execution into the event for the engine, the
 * row in the record, the line of the joblog, and the output that is shown.
 */
#include "run/results.h"

#include <inttypes.h>
#include <signal.h>

#include "util/now.h"

/* The meaning of an execution's end for its task. */
struct meaning {
    bool is_result;
    bool superseded; /* the task had a result before */
    bool beside;     /* other replicas go on */
};

static void tell_ended(struct master *m, size_t i,
                       const struct bats_task_result *r,
                       struct meaning meaning)
{
    if (m->observer->ended == NULL ||
        bats_bagfile_command(m->options->bag, r->task, &m->command,
                             &m->command_size) < 0)
        return;
    uint32_t machine = m->survey.platform.places[i].machine;
    struct bats_execution execution = {
        .task = r->task,
        .attempt = r->attempt,
        .machine = machine,
        .cluster = m->survey.platform.machines[machine].cluster,
        .rank = m->crew.workers[i].rank,
        .host = m->crew.workers[i].host,
        .command = m->command,
        .is_result = meaning.is_result,
        .preempted = r->cancelled,
        .superseded = meaning.superseded,
        .usage = r->usage,
        .runtime = bats_master_virtual_time(m, r->usage.wall_us),
        .last = r->last,
        .n_last = r->n_last,
        .to_come = r->to_come[0],
    };
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
                          struct meaning meaning, struct bats_error *err)
{
    if (m->journal.record == NULL || (meaning.is_result && m->is_unseen))
        return 0;
    struct bats_record_attempt attempt = {
        .task = r->task,
        .attempt = r->attempt,
        .machine = m->survey.platform.places[i].machine,
        .host = m->crew.workers[i].host,
        .usage = r->usage,
        .outcome = meaning.is_result                 ? BATS_RECORD_RESULT
                   : meaning.superseded              ? BATS_RECORD_SUPERSEDED
                   : r->cancelled                    ? BATS_RECORD_PREEMPTED
                   : end_of(r) == BATS_EVENT_YIELDED ? BATS_RECORD_YIELDED
                   : meaning.beside ? BATS_RECORD_FAILED_BESIDE
                                    : BATS_RECORD_RETRIED,
        .stream = m->options->output == BATS_OUTPUT_STREAM
                      ? m->crew.members[i].stream
                      : -1,
    };
    return bats_record_attempt(m->journal.record, bats_master_now(m), &attempt,
                               err);
}

/* Unlike the row of the attempt, this one need not wait for late output. */
static int record_last(struct master *m, size_t i,
                       const struct bats_task_result *r,
                       struct meaning meaning, struct bats_error *err)
{
    if (m->journal.record == NULL || meaning.superseded || r->n_last == 0 ||
        end_of(r) != BATS_EVENT_FAILED)
        return 0;
    struct bats_record_last last = {
        .task = r->task,
        .attempt = r->attempt,
        .exit_status = r->usage.exit_status,
        .signal = r->usage.signal,
        .host = m->crew.workers[i].host,
        .bytes = r->last,
        .n = r->n_last,
    };
    return bats_record_last(m->journal.record, bats_master_now(m), &last, err);
}

static void hand_over(struct master *m, const struct bats_output_lines *lines)
{
    if (m->observer->output != NULL && lines->n > 0 &&
        !m->observer->output(m->observer->context, lines->task, lines->stream,
                             lines->bytes, lines->n))
        m->is_unseen = true;
}

/* Shows only output of executions that gave a result: the lines enclosed in
 * it, and those that its worker keeps until it learns that they count. */
static int take_lines(struct master *m, size_t i,
                      const struct bats_task_result *r, struct meaning meaning,
                      struct bats_error *err)
{
    for (int k = 0; meaning.is_result && k < 2; k++)
        hand_over(m, &(struct bats_output_lines){r->task, k + 1, r->lines[k],
                                                 r->n_lines[k]});
    if (!r->asks && (!meaning.superseded || r->cancelled))
        return 0;
    struct bats_packet packet = {0};
    struct bats_verdict verdict = {r->task, r->attempt, meaning.is_result};
    bats_proto_verdict(&packet, &verdict);
    int64_t to_come = r->to_come[0] + r->to_come[1];
    if (meaning.is_result && to_come > 0) {
        m->to_come[i] = to_come;
        m->n_to_come++;
    }
    return bats_crew_send(&m->crew, i, &packet, err);
}

int bats_results_refuse(struct master *m, size_t i,
                        const struct bats_task_result *r,
                        struct bats_error *err)
{
    struct bats_packet packet = {0};
    struct bats_verdict verdict = {r->task, r->attempt, false};
    if (!r->asks)
        return 0;
    bats_proto_verdict(&packet, &verdict);
    return bats_crew_send(&m->crew, i, &packet, err);
}

/* It was begun for an earlier session, and this one has no use for it. */
static bool is_unwanted(struct master *m, size_t i, uint32_t task)
{
    struct bats_member *member = &m->crew.members[i];
    if (m->joined == NULL || !member->keeps || member->unwanted != task)
        return false;
    member->unwanted = BATS_NO_TASK;
    return true;
}

int bats_results_take_one(struct master *m, size_t i,
                          const struct bats_task_result *r,
                          struct bats_error *err)
{
    if (r->task >= bats_bagfile_count(m->options->bag))
        return bats_error_set(err, BATS_EPROTO,
                              "rank %d has a result of task %" PRIu64
                              ", which does not exist",
                              m->crew.workers[i].rank, (uint64_t)r->task + 1);
    uint32_t machine = m->survey.platform.places[i].machine;
    uint32_t slot = m->survey.platform.places[i].slot;
    enum bats_execution_state state =
        bats_sched_execution(m->sched, machine, slot, r->task);
    if (state == BATS_EXECUTION_NONE && is_unwanted(m, i, r->task))
        return bats_results_refuse(m, i, r, err);
    /* Its rank was told to end before this one was: the order is for all
     * ranks, but for those of other jobs, and those that may be reclaimed:
     * there the task is to be run again. (Or this is an emulated loss.) */
    const struct bats_platform *p = &m->survey.platform;
    uint32_t cluster = p->machines[machine].cluster;
    bool told = r->cancelled && state == BATS_EXECUTION_RUNS &&
                !(p->clusters[cluster].noticed > 0 &&
                  bats_reliability_loses(&p->reliability[cluster]));
    bool moves = told && p->clusters[cluster].reclaimable;
    if (told && !moves && m->joined != NULL)
        return BATS_RESULTS_ENDING;
    if (told && !moves) {
        int rc = bats_master_stop(m, err);
        if (rc < 0)
            return rc;
    }
    struct bats_event event = {
        .type = moves ? BATS_EVENT_YIELDED : end_of(r),
        .machine = machine,
        .slot = slot,
        .task = r->task,
        .runtime = bats_master_virtual_time(m, r->usage.wall_us),
    };
    struct meaning meaning = {
        .superseded = bats_sched_has_result(m->sched, r->task),
        .beside = bats_sched_has_replicas(m->sched, r->task),
    };
    int rc = bats_master_handle(m, &event, err);
    if (rc < 0)
        return rc;
    meaning.is_result =
        !meaning.superseded && bats_sched_has_result(m->sched, r->task);
    bool timed_out = r->cancelled && state == BATS_EXECUTION_TIMED_OUT;
    struct bats_task_result end = *r;
    if (timed_out ||
        (meaning.is_result && event.type == BATS_EVENT_PREEMPTED)) {
        end.cancelled = false;
        end.usage.exit_status =
            timed_out ? BATS_STATUS_TIMED_OUT : BATS_STATUS_TOO_LONG;
        end.usage.signal = SIGTERM;
    }
    if (r->usage.start_us > 0) {
        rc = take_lines(m, i, r, meaning, err);
        tell_ended(m, i, &end, meaning);
        if (rc == 0)
            rc = record_last(m, i, &end, meaning, err);
        if (m->to_come[i] > 0)
            m->late[i] = end;
        else if (rc == 0)
            rc = record_attempt(m, i, &end, meaning, err);
    } else if (r->cancelled && r->attempt == m->attempts[r->task]) {
        m->attempts[r->task]--; /* it never started */
    }
    return rc;
}

int bats_results_end_output(struct master *m, size_t i, struct bats_error *err)
{
    m->to_come[i] = 0;
    m->n_to_come--;
    return record_attempt(m, i, &m->late[i],
                          (struct meaning){.is_result = true}, err);
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

int bats_results_lost(struct master *m, const struct bats_command *lose,
                      struct bats_error *err)
{
    size_t i = m->member[m->first[lose->machine] + lose->slot];
    struct bats_task_result r = {
        .task = lose->task,
        .attempt = m->attempts[lose->task],
        .usage.signal = SIGKILL,
        .usage.start_us = bats_now_us(CLOCK_REALTIME),
    };
    struct meaning meaning = {.is_result = true};
    bats_master_notice(m, lose->machine, lose->task,
                       "task %" PRIu64
                       " has failed: it was lost with its machine too "
                       "often",
                       (uint64_t)lose->task + 1);
    tell_ended(m, i, &r, meaning);
    return record_attempt(m, i, &r, meaning, err);
}

int bats_results_output(struct master *m, size_t i,
                        const struct bats_output_lines *output,
                        struct bats_error *err)
{
    hand_over(m, output);
    if (m->to_come[i] == 0)
        return 0;
    m->to_come[i] -= (int64_t)output->n;
    return m->to_come[i] > 0 ? 0 : bats_results_end_output(m, i, err);
}
