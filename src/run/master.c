/*
 * master: rank 0. Turns messages into events, hands them to the engine with
 * the time, and carries out its commands.
 *
 * Bag time is the real time since the start of the run times `time_scale`.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/comm.h"
#include "run/crew.h"
#include "run/hosts.h"
#include "run/launcher.h"
#include "run/master.h"
#include "run/run.h"
#include "run/signals.h"
#include "run/starter.h"
#include "util/now.h"

#define PROGRESS_US 200000     /* between two reports of progress */
#define LOOK_US 1000000        /* longest between two looks for lost ranks */
#define MESSAGES_AT_ONCE 256   /* then the commands for them are sent */
#define GOODBYE_US 10000000    /* for all workers to leave */
#define HURRY_US 1000000       /* the same, after a second Ctrl-C */
#define UNRECORDED_US 60000000 /* without a record that can be written */

static bats_time now(const struct master *m);

#define NONE UINT32_MAX

/* Of this machine or task, or of NONE. */
static void notice(struct master *m, uint32_t machine, uint32_t task,
                   const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void notice(struct master *m, uint32_t machine, uint32_t task,
                   const char *format, ...)
{
    char text[600];
    if (m->observer->notice == NULL)
        return;
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    m->observer->notice(m->observer->context, text);
    if (m->journal.record != NULL)
        bats_record_notice(m->journal.record, now(m), machine, task, text,
                           NULL);
}

/* ---- time ---- */

static bats_time now(const struct master *m)
{
    return bats_master_bag_time(m, bats_clock_now_us() - m->start_us);
}

/* Real time until the bag time `at`. */
static int64_t until(const struct master *m, bats_time at)
{
    double us = ((double)at - (double)now(m)) / m->options->time_scale;
    return us < 1 ? 0 : us > 1e15 ? (int64_t)1e15 : (int64_t)us + 1;
}

/* ---- commands ---- */

static int run_task(struct master *m, size_t i,
                    const struct bats_command *command, struct bats_error *err)
{
    ptrdiff_t n = bats_bagfile_command(m->options->bag, command->task,
                                       &m->command, &m->command_size);
    if (n < 0)
        return bats_error_set(err, (int)n, "out of memory");
    bool builtin;
    bats_time duration = 0;
    int rc = bats_builtin_parse(m->command, &builtin, &duration, err);
    if (rc < 0)
        return rc;
    const struct bats_platform *p = &m->survey.platform;
    double speed = p->speed[p->machines[command->machine].cluster];
    struct bats_assign assign = {
        .task = command->task,
        .attempt = ++m->attempts[command->task],
        .copy = command->copy,
        .command = builtin ? "" : m->command,
        .sleep_us = builtin ? llround((double)duration / speed /
                                      m->options->time_scale)
                            : 0,
    };
    return bats_crew_assign(&m->crew, i, &assign, err);
}

static int tell(struct master *m, size_t i, const struct bats_command *command,
                struct bats_error *err)
{
    struct bats_packet packet = {0};
    switch (command->type) {
    case BATS_COMMAND_RUN:
        return run_task(m, i, command, err);
    case BATS_COMMAND_CANCEL:
        bats_proto_cancel(&packet, command->task);
        break;
    case BATS_COMMAND_ACQUIRE:
        bats_proto_plain(&packet, BATS_MESSAGE_UNPARK);
        break;
    case BATS_COMMAND_PARK:
    case BATS_COMMAND_RELEASE: /* the rank stays, as if parked for ever */
        bats_proto_plain(&packet, BATS_MESSAGE_PARK);
        break;
    case BATS_COMMAND_CHARGE:
    case BATS_COMMAND_QUARANTINE:
    case BATS_COMMAND_LOSE:
    case BATS_COMMAND_SAMPLED:
    case BATS_COMMAND_FINISHED:
        return 0;
    }
    return bats_crew_send(&m->crew, i, &packet, err);
}

static void tell_quarantine(struct master *m, uint32_t machine)
{
    size_t i = m->member[m->first[machine]];
    notice(m, machine, NONE,
           "machine %s (rank %d on %s) gets no more tasks: one after the "
           "other failed there at once, and most go well elsewhere",
           bats_master_machine_name(m, machine), m->crew.workers[i].rank,
           m->crew.workers[i].host);
}

/* RUN and CANCEL are for one slot, the next ones for all slots of a machine. */
static int carry_out(struct master *m, const struct bats_command *command,
                     struct bats_error *err)
{
    if (command->type == BATS_COMMAND_FINISHED) {
        m->finished = true;
        m->finish = command->finish;
        return m->finish == BATS_FINISH_SHRINK ? bats_hosts_write(m, err) : 0;
    }
    if (command->type == BATS_COMMAND_CHARGE ||
        command->type == BATS_COMMAND_LOSE)
        return 0;
    if (command->type == BATS_COMMAND_SAMPLED) {
        m->choosing = true;
        return 0;
    }
    if (command->type == BATS_COMMAND_QUARANTINE) {
        tell_quarantine(m, command->machine);
        return 0;
    }
    const uint32_t *members = m->member + m->first[command->machine];
    if (command->type == BATS_COMMAND_RUN ||
        command->type == BATS_COMMAND_CANCEL)
        return tell(m, members[command->slot], command, err);
    int rc = 0;
    uint32_t slots = m->survey.platform.machines[command->machine].slots;
    for (uint32_t slot = 0; rc == 0 && slot < slots; slot++)
        rc = tell(m, members[slot], command, err);
    return rc;
}

static int stop(struct master *m, struct bats_error *err);

/* What the engine has commanded, once all that led to it is on record. Without
 * that nothing is started, but a run that stops has to stop. */
static int carry_out_all(struct master *m, struct bats_error *err)
{
    struct bats_journal *j = &m->journal;
    struct bats_error why;
    int64_t now_us = bats_clock_now_us();
    bool failed_before = j->failing_since > 0;
    int rc = bats_journal_commit(j, m->sched, now(m), now_us, &why);
    if (rc < 0 && !failed_before)
        notice(m, NONE, NONE,
               "%s; no more tasks are started until it can be written",
               why.text);
    if (rc > 0 && failed_before)
        notice(m, NONE, NONE, "the record can be written again");
    if (rc <= 0 && !m->stopping && now_us - j->failing_since > UNRECORDED_US) {
        m->gave_up = true;
        return stop(m, err);
    }
    struct bats_command command;
    size_t at = 0;
    bool all = rc > 0 || m->stopping;
    rc = 0;
    while (rc == 0 && bats_journal_next(j, all, &at, &command))
        rc = carry_out(m, &command, err);
    return rc;
}

static int handle(struct master *m, const struct bats_event *event,
                  struct bats_error *err)
{
    return bats_journal_handle(&m->journal, m->sched, now(m), event, err);
}

static int stop(struct master *m, struct bats_error *err)
{
    if (m->stopping || m->finished)
        return 0;
    m->stopping = true;
    struct bats_event event = {.type = BATS_EVENT_STOP};
    return handle(m, &event, err);
}

/* Is there such a schedule? Asked before it becomes an event. */
static int check_choice(struct master *m, const struct bats_choice *choice,
                        struct bats_error *err)
{
    struct bats_estimator e;
    struct bats_schedule schedule;
    if (choice->offer == BATS_OFFER_NONE)
        return 0;
    int rc = bats_sched_estimator(m->sched, &e, err);
    e.currency = m->survey.platform.currency;
    return rc < 0 ? rc : bats_estimate_choose(&e, choice, &schedule, err);
}

/* What comes after the sampling phase, once it is known. */
static int choose(struct master *m, struct bats_error *err)
{
    struct bats_event event = {.type = BATS_EVENT_CHOSEN,
                               .choice = {.offer = BATS_OFFER_NONE}};
    if (!m->choosing || m->stopping || m->draining || m->finished)
        return 0;
    if (m->observer->choose != NULL &&
        !m->observer->choose(m->observer->context, &m->survey, m->sched,
                             &event.choice))
        return 0;
    m->choosing = false;
    int rc = check_choice(m, &event.choice, &m->refusal);
    if (rc == BATS_EBUDGET || rc == BATS_EDEADLINE || rc == BATS_EINPUT)
        event.choice.offer = BATS_OFFER_NONE;
    else if (rc < 0)
        return bats_error_set(err, rc, "%s", m->refusal.text);
    else
        m->refusal.code = 0;
    rc = handle(m, &event, err);
    if (rc == 0 && m->observer->chosen != NULL &&
        event.choice.offer != BATS_OFFER_NONE)
        m->observer->chosen(m->observer->context, &m->survey, m->sched);
    return rc;
}

/* Nothing more is started, what runs may end. */
static int drain(struct master *m, struct bats_error *err)
{
    if (m->draining || m->stopping || m->finished)
        return 0;
    m->draining = true;
    notice(m, NONE, NONE,
           "SIGUSR1: no more tasks are started, those that run may end");
    struct bats_event event = {.type = BATS_EVENT_DRAIN};
    return handle(m, &event, err);
}

/* ---- messages ---- */

/* What an execution that has ended means for its task. */
struct meaning {
    bool is_result;
    bool superseded; /* the task had its result before */
    bool beside;     /* it has copies, which go on */
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
        .exit_status = r->exit_status,
        .signal = r->signal,
        .start_us = r->start_us,
        .wall_us = r->wall_us,
        .user_us = r->user_us,
        .system_us = r->system_us,
        .max_rss_kib = r->max_rss_kib,
        .written = {r->written[0], r->written[1]},
        .runtime = bats_master_bag_time(m, r->wall_us),
        .to_come = r->to_come[0],
    };
    m->observer->ended(m->observer->context, &execution);
}

static enum bats_event_type end_of(const struct bats_task_result *r)
{
    if (r->cancelled) /* perhaps a time-out: the engine knows */
        return BATS_EVENT_PREEMPTED;
    if (r->signal != 0)
        return BATS_EVENT_FAILED;
    return r->exit_status == 0                   ? BATS_EVENT_DONE
           : r->exit_status == BATS_STATUS_AGAIN ? BATS_EVENT_YIELDED
                                                 : BATS_EVENT_FAILED;
}

static int record_attempt(struct master *m, size_t i,
                          const struct bats_task_result *r,
                          struct meaning meaning, struct bats_error *err)
{
    if (m->journal.record == NULL)
        return 0;
    struct bats_record_attempt attempt = {
        .task = r->task,
        .attempt = r->attempt,
        .machine = m->survey.platform.places[i].machine,
        .host = m->crew.workers[i].host,
        .start_us = r->start_us,
        .wall_us = r->wall_us,
        .user_us = r->user_us,
        .system_us = r->system_us,
        .max_rss_kib = r->max_rss_kib,
        .exit_status = r->exit_status,
        .signal = r->signal,
        .outcome = meaning.is_result                 ? BATS_RECORD_RESULT
                   : meaning.superseded              ? BATS_RECORD_SUPERSEDED
                   : r->cancelled                    ? BATS_RECORD_PREEMPTED
                   : end_of(r) == BATS_EVENT_YIELDED ? BATS_RECORD_YIELDED
                   : meaning.beside ? BATS_RECORD_FAILED_BESIDE
                                    : BATS_RECORD_RETRIED,
        .written = {r->written[0], r->written[1]},
        .stream = m->options->output == BATS_OUTPUT_STREAM
                      ? m->crew.workers[i].rank
                      : -1,
        .begin = r->begin,
        .end = r->end,
    };
    return bats_record_attempt(m->journal.record, now(m), &attempt, err);
}

static void hand_over(struct master *m, const struct bats_output_lines *lines)
{
    if (m->observer->output != NULL && lines->n > 0)
        m->observer->output(m->observer->context, lines->task, lines->stream,
                            lines->bytes, lines->n);
}

/* Only what the result has printed is seen: the lines that came with it, and
 * what its worker keeps until it hears that it is wanted. */
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

static int take_result(struct master *m, size_t i,
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
    /* Its rank was told to end before this one was: it means all of us. */
    if (r->cancelled && state == BATS_EXECUTION_RUNS) {
        int rc = stop(m, err);
        if (rc < 0)
            return rc;
    }
    struct bats_event event = {
        .type = end_of(r),
        .machine = machine,
        .slot = slot,
        .task = r->task,
        .runtime = bats_master_bag_time(m, r->wall_us),
    };
    struct bats_task_result end = *r;
    if (r->cancelled && state == BATS_EXECUTION_TIMED_OUT) {
        end.cancelled = false;
        end.exit_status = BATS_STATUS_TIMED_OUT;
        end.signal = SIGTERM;
    }
    struct meaning meaning = {
        .superseded = bats_sched_has_result(m->sched, r->task),
        .beside = bats_sched_has_copies(m->sched, r->task),
    };
    int rc = handle(m, &event, err);
    if (rc < 0)
        return rc;
    meaning.is_result =
        !meaning.superseded && bats_sched_has_result(m->sched, r->task);
    if (r->start_us > 0) {
        rc = take_lines(m, i, r, meaning, err);
        tell_ended(m, i, &end, meaning);
        if (m->to_come[i] > 0)
            m->late[i] = end;
        else if (rc == 0)
            rc = record_attempt(m, i, &end, meaning, err);
    } else if (r->cancelled && r->attempt == m->attempts[r->task]) {
        m->attempts[r->task]--; /* it never began */
    }
    return rc;
}

/* No more output of its last result will come from member i. */
static int end_output(struct master *m, size_t i, struct bats_error *err)
{
    m->to_come[i] = 0;
    m->n_to_come--;
    return record_attempt(m, i, &m->late[i],
                          (struct meaning){.is_result = true}, err);
}

static int take_results(struct master *m, size_t i,
                        struct bats_message *message, struct bats_error *err)
{
    struct bats_task_result result;
    int rc = 0;
    while (rc == 0 && bats_proto_next_result(message, &result))
        rc = take_result(m, i, &result, err);
    return rc;
}

/* A task that was lost with one machine after the other will not be run again.
 * It is as if it had been killed. */
static int end_lost(struct master *m, const struct bats_command *lose,
                    struct bats_error *err)
{
    size_t i = m->member[m->first[lose->machine] + lose->slot];
    struct bats_task_result r = {
        .task = lose->task,
        .attempt = m->attempts[lose->task],
        .signal = SIGKILL,
        .start_us = bats_now_us(CLOCK_REALTIME),
    };
    struct meaning meaning = {.is_result = true};
    notice(m, lose->machine, lose->task,
           "task %" PRIu64 " has failed: it was lost with its machine too "
           "often",
           (uint64_t)lose->task + 1);
    tell_ended(m, i, &r, meaning);
    return record_attempt(m, i, &r, meaning, err);
}

/* The machine of member i will not come back; what its other ranks do is of
 * no more use. */
static int lose(struct master *m, size_t i, const char *why,
                struct bats_error *err)
{
    uint32_t machine = m->survey.platform.places[i].machine;
    notice(m, machine, NONE, "rank %d on %s is lost: %s",
           m->crew.workers[i].rank, m->crew.workers[i].host, why);
    for (size_t k = 0; k < m->crew.n; k++) {
        if (m->survey.platform.places[k].machine != machine ||
            m->crew.members[k].state != BATS_MEMBER_WORKS)
            continue;
        struct bats_packet packet = {0};
        bats_proto_stop(&packet, BATS_LEAVE_NOT);
        int rc = bats_crew_send(&m->crew, k, &packet, err);
        if (rc < 0)
            return rc;
        m->crew.members[k].state = BATS_MEMBER_RETIRED;
    }
    for (size_t k = 0; k < m->crew.n; k++)
        if (m->survey.platform.places[k].machine == machine &&
            m->to_come[k] > 0) {
            notice(m, machine, NONE,
                   "output of a task that has ended is lost with rank %d",
                   m->crew.workers[k].rank);
            int rc = end_output(m, k, err);
            if (rc < 0)
                return rc;
        }
    struct bats_event event = {.type = BATS_EVENT_LOST, .machine = machine};
    size_t before = m->journal.n;
    int rc = handle(m, &event, err);
    for (size_t k = before; rc == 0 && k < m->journal.n; k++)
        if (m->journal.commands[k].type == BATS_COMMAND_LOSE &&
            bats_sched_has_failed(m->sched, m->journal.commands[k].task))
            rc = end_lost(m, &m->journal.commands[k], err);
    return rc;
}

static int take_output(struct master *m, size_t i,
                       const struct bats_output_lines *output,
                       struct bats_error *err)
{
    hand_over(m, output);
    if (m->to_come[i] == 0)
        return 0;
    m->to_come[i] -= (int64_t)output->n;
    return m->to_come[i] > 0 ? 0 : end_output(m, i, err);
}

/* Of rank 0, which is the first member. */
static bool offer_own(void *context, const struct bats_output_lines *output)
{
    struct master *m = context;
    take_output(m, 0, output, &m->late_error);
    return true;
}

static int take(struct master *m, size_t i, struct bats_message *message,
                struct bats_error *err)
{
    if (m->crew.members[i].state != BATS_MEMBER_WORKS)
        return 0; /* its tasks have gone elsewhere */
    switch (message->type) {
    case BATS_MESSAGE_RESULT:
        return take_results(m, i, message, err);
    case BATS_MESSAGE_OUTPUT:
        return take_output(m, i, &message->u.output, err);
    case BATS_MESSAGE_ERROR:
        return lose(m, i, message->u.sentence, err);
    case BATS_MESSAGE_HEARTBEAT:
        return 0;
    default:
        return bats_error_set(err, BATS_EPROTO,
                              "rank %d sent a message of type %d",
                              m->crew.workers[i].rank, (int)message->type);
    }
}

/* ---- the loop ---- */

/* The engine has finished, and all output is here. */
static bool is_over(const struct master *m)
{
    return m->finished && m->n_to_come == 0;
}

/* 1 if there was any, else 0. */
static int take_messages(struct master *m, struct bats_error *err)
{
    int taken = 0;
    for (; taken < MESSAGES_AT_ONCE && !is_over(m); taken++) {
        size_t i;
        struct bats_message message;
        int rc = bats_crew_receive(&m->crew, &i, &message, err);
        if (rc == 0)
            break;
        if (rc > 0)
            rc = take(m, i, &message, err);
        if (rc < 0)
            return rc;
    }
    return taken > 0;
}

/* Results of this rank's own tasks wait in a packet, because they may come up
 * while a command is being carried out. */
static void collect_own(void *context, const struct bats_task_result *result)
{
    struct master *m = context;
    bats_proto_result(&m->crew.own_results, result);
}

/* 1 if there was any, else 0. */
static int take_own_results(struct master *m, struct bats_error *err)
{
    struct bats_packet packet = m->crew.own_results;
    if (m->late_error.code != 0) {
        *err = m->late_error;
        return err->code;
    }
    if (packet.n == 0)
        return 0;
    m->crew.own_results = (struct bats_packet){0};
    if (m->crew.members[0].state != BATS_MEMBER_WORKS) {
        bats_packet_release(&packet); /* its tasks have gone elsewhere */
        return 0;
    }
    struct bats_message message;
    int rc = packet.failed
                 ? bats_error_set(err, BATS_ENOMEM, "out of memory")
                 : bats_proto_open(packet.bytes, packet.n, &message, err);
    if (rc == 0)
        rc = take_results(m, 0, &message, err);
    bats_packet_release(&packet);
    return rc < 0 ? rc : 1;
}

static int look_for_lost(struct master *m, int64_t now_us,
                         struct bats_error *err)
{
    size_t i;
    int rc = 0;
    int64_t beat_us = bats_crew_beat_us(&m->crew);
    if (now_us - m->looked_us < (beat_us < LOOK_US ? beat_us : LOOK_US))
        return 0;
    m->looked_us = now_us;
    for (const char *why;
         rc == 0 && (why = bats_crew_lost(&m->crew, &i)) != NULL;)
        rc = lose(m, i, why, err);
    return rc;
}

static int sleep_until_due(struct master *m, struct bats_error *err)
{
    int64_t max_us = bats_master_sleep_us(m, BATS_MASTER_LOOK_US);
    int64_t us = bats_quiet_sleep_us(
        &m->quiet, bats_comm_unsent(m->crew.comm) > 0,
        max_us < BATS_CLOCK_MASTER_US ? max_us : BATS_CLOCK_MASTER_US);
    int64_t due_us = until(m, bats_sched_wakeup(m->sched));
    us = us < due_us ? us : due_us;
    due_us = bats_journal_due_us(&m->journal, bats_clock_now_us());
    us = us < due_us ? us : due_us;
    if (m->crew.own == NULL || m->crew.members[0].state != BATS_MEMBER_WORKS) {
        if (bats_clock_sleep(us))
            bats_quiet_ended(&m->quiet, true);
        return 0;
    }
    struct bats_error why;
    int rc = bats_executor_poll(m->crew.own, us, &why);
    return rc < 0 ? lose(m, 0, why.text, err) : 0;
}

static int step(struct master *m, struct bats_error *err)
{
    int rc = bats_signals_drain() ? drain(m, err) : 0;
    if (rc == 0 && bats_signals_count() > 0)
        rc = stop(m, err);
    int traffic = rc < 0 ? rc : take_messages(m, err);
    int own = traffic < 0 ? traffic : take_own_results(m, err);
    if (own < 0)
        return own;
    int64_t now_us = bats_clock_now_us();
    if (traffic > 0 || own > 0)
        bats_quiet_ended(&m->quiet, false);
    struct bats_event tick = {.type = BATS_EVENT_TICK};
    if (!m->finished && now(m) >= bats_sched_wakeup(m->sched) &&
        (rc = handle(m, &tick, err)) < 0)
        return rc;
    if ((rc = look_for_lost(m, now_us, err)) < 0 ||
        (rc = choose(m, err)) < 0 || (rc = carry_out_all(m, err)) < 0 ||
        (rc = bats_crew_flush(&m->crew, err)) < 0)
        return rc;
    if (m->observer->progress != NULL &&
        now_us - m->progress_us >= PROGRESS_US) {
        m->progress_us = now_us;
        m->observer->progress(m->observer->context, &m->survey.platform,
                              m->sched);
    }
    return is_over(m) ? 0 : sleep_until_due(m, err);
}

/* Until the engine has finished, or a second signal says at once. */
static int loop(struct master *m, struct bats_error *err)
{
    int rc = 0;
    bool hurried = false;
    for (uint32_t i = 0; rc == 0 && i < m->survey.platform.n_machines; i++) {
        struct bats_event event = {.type = BATS_EVENT_JOINED, .machine = i};
        rc = handle(m, &event, err);
    }
    while (rc == 0 && !is_over(m) && bats_signals_count() < 2) {
        if (!hurried && bats_signals_terminate() > 0 && m->crew.own != NULL) {
            bats_executor_stop(m->crew.own, bats_signals_grace_us());
            hurried = true;
        }
        rc = step(m, err);
    }
    return rc;
}

/* ---- start and end ---- */

static int run(struct master *m, struct bats_error *err)
{
    struct bats_executor_sink sink = {m, collect_own, offer_own};
    int rc = bats_crew_gather(&m->crew, m->options->master_works, err);
    m->crew.silence_us = m->options->silence_us;
    if (rc == 0)
        rc = bats_survey_take(&m->crew, m->options, &m->survey, err);
    if (rc == 0)
        rc = bats_master_prepare(m, &sink, err);
    if (rc < 0)
        return rc;
    m->start_us = m->looked_us = bats_clock_now_us();
    m->quiet.woken = bats_comm_woken(m->crew.comm);
    if (m->observer->started != NULL)
        m->observer->started(m->observer->context, &m->survey, m->sched);
    return loop(m, err);
}

int bats_run_master(const struct bats_run_options *options,
                    const struct bats_observer *observer,
                    struct bats_crew **crew, struct bats_run_outcome *outcome,
                    struct bats_error *err)
{
    struct master m = {.options = options, .observer = observer};
    *crew = malloc(sizeof **crew);
    if (*crew == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    bats_signals_catch();
    bats_starter_ready();
    int rc = run(&m, err);
    bats_crew_stop(&m.crew);
    **crew = m.crew;
    if (options->hosts_file != NULL && m.finish != BATS_FINISH_SHRINK)
        unlink(options->hosts_file);
    free(m.first);
    free(m.member);
    free(m.attempts);
    free(m.to_come);
    free(m.late);
    free(m.command);
    struct bats_books books = m.journal.books;
    bats_journal_release(&m.journal);
    if (rc < 0) {
        bats_sched_destroy(m.sched);
        bats_survey_release(&m.survey);
        return rc;
    }
    /* A signal that came too late to stop anything is none. */
    int signal = bats_signals_first() != 0 ? bats_signals_first() : SIGTERM;
    if (m.gave_up && bats_signals_first() == 0)
        signal = 0;
    if (!m.stopping && m.finished)
        signal = m.draining && m.finish == BATS_FINISH_STOPPED ? SIGUSR1 : 0;
    *outcome = (struct bats_run_outcome){
        .survey = m.survey,
        .sched = m.sched,
        .finish = m.finished ? m.finish : BATS_FINISH_STOPPED,
        .signal = signal,
        .refusal = m.refusal,
        .gave_up = m.gave_up,
        .books = books,
    };
    return 0;
}

static void dismiss(struct bats_crew *crew,
                    void (*notice_of)(const char *sentence))
{
    bool hurry = bats_signals_count() > 1;
    bool all_left = bats_crew_dismiss(crew, hurry ? HURRY_US : GOODBYE_US);
    if (!all_left && bats_signals_count() > 1)
        bats_comm_abort(128 + bats_signals_first());
    if (!all_left)
        notice_of("not every rank said good-bye");
    if (bats_crew_lost_elsewhere(crew) && bats_launcher_is_mpirun())
        notice_of("mpirun may not see by itself that the run has ended; in "
                  "10 s it is told to end, and then its exit status is not "
                  "that of this run");
    bats_crew_release(crew);
}

void bats_run_dismiss(struct bats_crew *crew,
                      void (*notice_of)(const char *sentence))
{
    struct bats_crew idle;
    if (crew == NULL)
        bats_crew_gather(&idle, false, NULL);
    dismiss(crew != NULL ? crew : &idle, notice_of);
    if (crew != NULL)
        bats_signals_restore();
    free(crew);
}

int bats_run_survey(const struct bats_run_options *options,
                    struct bats_survey *survey, struct bats_error *err)
{
    struct bats_crew crew;
    int rc = bats_crew_gather(&crew, options->master_works, err);
    if (rc == 0)
        rc = bats_survey_take(&crew, options, survey, err);
    bats_crew_dismiss(&crew, GOODBYE_US);
    bats_crew_release(&crew);
    return rc;
}
