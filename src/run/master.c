/*
 * master: rank 0. Turns messages into events, hands them to the engine with
 * the time, and carries out its commands.
 *
 * Virtual time is the real time since the start of the run times `time_scale`.
 */
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bats/sched.h"
#include "bats/status.h"
#include "input/workflow/workflow.h"
#include "run/clock.h"
#include "run/comm.h"
#include "run/crew.h"
#include "run/launcher.h"
#include "run/master.h"
#include "run/needs.h"
#include "run/open.h"
#include "run/run.h"

#define PROGRESS_US 200000 /* between two reports of progress */
/* longest interval between checks for lost ranks */
#define LOOK_US 1000000
/* messages handled before their commands are sent */
#define MESSAGES_AT_ONCE 256
#define GOODBYE_US 10000000 /* time for all workers to leave */
#define HURRY_US 1000000    /* the same after a second Ctrl-C */

/* How long the run continues while the record cannot be written: a minute,
 * except in tests. */
static bats_time unrecorded_us(void)
{
    const char *seconds = getenv("BATS_TEST_UNRECORDED_SECONDS");
    return 1000000 * (seconds == NULL ? 60 : strtol(seconds, NULL, 10));
}

/* ---- time ---- */

/* Real time until the virtual time `at`. */
static int64_t until(const struct master *m, bats_time at)
{
    double us =
        ((double)at - (double)bats_master_now(m)) / m->options->time_scale;
    return us < 1 ? 0 : us > 1e15 ? (int64_t)1e15 : (int64_t)us + 1;
}

/* ---- commands ---- */

/* Emulation: virtual time after its start when the execution is lost, unless
 * it has ended. */
static bats_time lost_after(const struct master *m,
                            const struct bats_command *run)
{
    const struct bats_platform *p = &m->survey.platform;
    const struct bats_reliability *reliability =
        &p->reliability[p->machines[run->machine].cluster];
    if (!bats_reliability_loses(reliability))
        return BATS_NEVER;
    return bats_reliability_lost(reliability, m->options->engine.seed,
                                 run->task, m->attempts[run->task],
                                 bats_master_now(m));
}

/* Emulation: delay until a loss is noticed, real microseconds; 0: never. */
static int64_t noticed_after(const struct master *m, uint32_t machine)
{
    const struct bats_platform *p = &m->survey.platform;
    bats_time time = p->clusters[p->machines[machine].cluster].noticed;
    return (int64_t)ceil((double)time / m->options->time_scale);
}

/* --delay: real microseconds until the next task may begin. */
static int64_t pace(struct master *m)
{
    int64_t now_us = bats_clock_now_us();
    if (m->options->delay_us == 0)
        return 0;
    int64_t at_us = m->next_us > now_us ? m->next_us : now_us;
    m->next_us = at_us + m->options->delay_us;
    return at_us - now_us;
}

static ptrdiff_t variables_of(struct master *m,
                              const struct bats_command *command)
{
    uint32_t task = command->task;
    struct bats_text *text = &m->variables;
    ptrdiff_t n = bats_bagfile_variables(m->options->bag, task, text);
    if (n >= 0 && m->gives_gpus) {
        bats_needs_show(
            &m->survey, command->machine, command->slot,
            bats_sched_gpus(m->sched, command->machine, command->slot), text);
        n = bats_text_length(text);
    }
    if (n < 0 || m->options->results == NULL)
        return n;
    const char *dir = bats_label_of(m->options->results, task);
    if (dir == NULL)
        return BATS_ENOMEM;
    bats_text_format(text, "BATS_RESULTS=%s%c", dir, '\0');
    return bats_text_length(text);
}

/* Removes files that an interrupted rule may have left half-written. */
static void remove_half(struct master *m, uint32_t task)
{
    struct bats_error err;
    if (m->halves == NULL || bats_sched_has_replicas(m->sched, task))
        return;
    if (m->halves[task] &&
        bats_workflow_remove(m->options->bag->workflow, task, &err) < 0)
        bats_master_notice(m, BATS_MASTER_NONE, task, "%s", err.text);
    m->halves[task] = 1;
}

static uint32_t list_holds(struct master *m,
                           const struct bats_command *command)
{
    const uint32_t *workers = m->worker + m->first[command->machine];
    bats_text_cut(&m->holds, 0);
    if (!m->has_needs)
        return 1;
    uint32_t n =
        bats_sched_holds(m->sched, command->machine, command->slot, m->held);
    for (uint32_t i = 0; i < n && n > 1; i++) {
        int rank = m->crew.ranks[workers[m->held[i]]].rank;
        struct bats_share share = m->survey.shares[rank];
        bats_text_format(
            &m->holds, "%s%s:%" PRIu32 ":%" PRIu32, i > 0 ? " " : "",
            m->survey.nodes[rank].hardware.bound, share.index, share.count);
    }
    return n > 0 ? n : 1; /* 0: the machine is already lost */
}

/* --memory-limit: most memory of the task; 0: no limit. */
static int64_t memory_of(const struct master *m, uint32_t task)
{
    const struct bats_need *need = bats_sched_need(m->sched, task);
    if (!m->options->limits_memory)
        return 0;
    return need != NULL ? need->memory_kib
                        : bats_needs_of(m->options, task).memory_kib;
}

static int run_task(struct master *m, size_t i,
                    const struct bats_command *command, struct bats_error *err)
{
    ptrdiff_t n = bats_bagfile_command_for(m->options->bag, command->task,
                                           (uint32_t)i + 1, &m->command);
    if (n < 0)
        return bats_error_set(err, (int)n, "out of memory");
    uint32_t cores = list_holds(m, command);
    ptrdiff_t n_variables = variables_of(m, command);
    ptrdiff_t n_outputs = 0;
    if (m->options->bag->workflow != NULL)
        n_outputs = bats_workflow_outputs(m->options->bag->workflow,
                                          command->task, &m->outputs);
    if (n_variables < 0 || n_outputs < 0 || bats_text_length(&m->holds) < 0)
        return bats_no_memory(err);
    bool builtin;
    bats_time duration = 0;
    int rc = bats_builtin_parse(m->command.bytes, &builtin, &duration, err);
    if (rc < 0)
        return rc;
    remove_half(m, command->task);
    const struct bats_platform *p = &m->survey.platform;
    bats_time lost = lost_after(m, command);
    double speed = p->speed[p->machines[command->machine].cluster];
    struct bats_assign assign = {
        .task = command->task,
        .attempt = ++m->attempts[command->task],
        .replica = command->replica,
        .once = bats_sched_runs_once(m->sched, command->task),
        .memory_kib = memory_of(m, command->task),
        .cores = cores,
        .holds = cores > 1 ? m->holds.bytes : "",
        .command = builtin ? "" : m->command.bytes,
        .wait_us = pace(m),
        .variables = m->variables.bytes,
        .n_variables = (size_t)n_variables,
        .outputs = m->outputs.bytes,
        .n_outputs = (size_t)n_outputs,
        .sleep_us = builtin ? llround((double)duration / speed /
                                      m->options->time_scale)
                            : 0,
        .lost_us = lost == BATS_NEVER
                       ? 0
                       : 1 + llround((double)lost / m->options->time_scale),
        .noticed_us = noticed_after(m, command->machine),
    };
    return bats_crew_assign(&m->crew, i, &assign, err);
}

static void tell_quarantine(struct master *m, uint32_t machine)
{
    size_t i = bats_master_worker(m, machine, 0);
    bats_master_notice(
        m, machine, BATS_MASTER_NONE,
        "machine %s (rank %d on %s) is in quarantine: one task after the "
        "other failed there at once, and most end well elsewhere",
        bats_master_machine_name(m, machine), m->crew.ranks[i].rank,
        m->crew.ranks[i].host);
}

/* Notices of charges and losses need nothing here: the record has them. */
static void take_notice(struct master *m, const struct bats_command *notice)
{
    m->choosing |= notice->type == BATS_NOTICE_SAMPLED;
    if (notice->type == BATS_NOTICE_QUARANTINE)
        tell_quarantine(m, notice->machine);
    if (notice->type == BATS_NOTICE_READMIT)
        bats_master_notice(
            m, notice->machine, BATS_MASTER_NONE,
            "machine %s gets a task again: if that fails, too, its "
            "next quarantine is twice as long",
            bats_master_machine_name(m, notice->machine));
    if (notice->type != BATS_NOTICE_FINISHED)
        return;
    m->finished = true;
    m->finish = notice->finish;
}

/* Only RUN and CANCEL concern a rank: one without a task just waits. */
static int carry_out(struct master *m, const struct bats_command *command,
                     struct bats_error *err)
{
    bats_joined_command(m, command);
    bats_reclaims_command(m, command);
    if (bats_is_notice(command->type))
        take_notice(m, command);
    if (command->type != BATS_COMMAND_RUN &&
        command->type != BATS_COMMAND_CANCEL)
        return 0;
    size_t i = bats_master_worker(m, command->machine, command->slot);
    return command->type == BATS_COMMAND_RUN
               ? run_task(m, i, command, err)
               : bats_crew_say(
                     &m->crew, i,
                     BATS_SAY(BATS_MESSAGE_CANCEL, .u.task = command->task),
                     err);
}

/* Tells ranks which of their results are on record, except those whose output
 * is still to come. */
static int confirm(struct master *m, struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < m->crew.n; i++) {
        struct bats_worker *worker = &m->crew.workers[i];
        uint32_t n = worker->n_results;
        if (!worker->keeps || n == 0 || worker->to_come > 0)
            continue;
        worker->n_results = 0;
        rc = bats_crew_say(&m->crew, i,
                           BATS_SAY(BATS_MESSAGE_TAKEN, .u.taken = n), err);
    }
    return rc;
}

/* Carries out the engine's commands once everything that led to them is
 * recorded. Until then nothing is started, but tasks are stopped. */
static int carry_out_all(struct master *m, struct bats_error *err)
{
    struct bats_journal *j = &m->journal;
    struct bats_error why;
    int64_t now_us = bats_clock_now_us();
    bool failed_before = j->failing_since > 0;
    int rc =
        bats_journal_commit(j, m->sched, bats_master_now(m), now_us, &why);
    if (rc < 0 && !failed_before)
        bats_master_tell(
            m, "%s; no more tasks are started until it can be written",
            why.text);
    if (rc > 0 && failed_before)
        bats_master_tell(m, "the record can be written again");
    if (rc <= 0 && !m->stopping &&
        now_us - j->failing_since > unrecorded_us()) {
        m->gave_up = true;
        return bats_master_stop(m, err);
    }
    struct bats_command command;
    size_t at = 0;
    bool all = rc > 0 || m->stopping;
    bats_open_answer(m, rc > 0);
    rc = rc > 0 && m->joined != NULL ? confirm(m, err) : 0;
    while (rc == 0 && bats_journal_next(j, all, &at, &command))
        rc = carry_out(m, &command, err);
    return rc == 0 ? bats_crew_flush(&m->crew, err) : rc;
}

/* Checks that the schedule exists, before the choice becomes an event. */
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

static int choose(struct master *m, struct bats_error *err)
{
    struct bats_event event = {.type = BATS_EVENT_CHOSEN,
                               .choice = {.offer = BATS_OFFER_NONE}};
    if (!m->choosing || m->stopping || m->draining || m->finished)
        return 0;
    if (m->observer->choose != NULL)
        m->observer->choose(m->observer->context, &m->survey, m->sched,
                            &event.choice);
    m->choosing = false;
    int rc = check_choice(m, &event.choice, &m->refusal);
    if (rc == BATS_EBUDGET || rc == BATS_EDEADLINE || rc == BATS_EINPUT)
        event.choice.offer = BATS_OFFER_NONE;
    else if (rc < 0)
        return bats_error_set(err, rc, "%s", m->refusal.text);
    else
        m->refusal.code = 0;
    rc = bats_master_handle(m, &event, err);
    if (rc == 0 && m->observer->chosen != NULL &&
        event.choice.offer != BATS_OFFER_NONE)
        m->observer->chosen(m->observer->context, &m->survey, m->sched);
    return rc;
}

static int drain(struct master *m, struct bats_error *err)
{
    if (m->draining || m->stopping || m->finished)
        return 0;
    m->draining = true;
    bats_master_tell(
        m, "SIGUSR1: no more tasks are started, those that run may end");
    struct bats_event event = {.type = BATS_EVENT_DRAIN};
    return bats_master_handle(m, &event, err);
}

/* ---- messages ---- */

/* Announces the machine if all of its ranks can run tasks. */
static int announce(struct master *m, uint32_t machine, struct bats_error *err)
{
    struct bats_event event = {.type = BATS_EVENT_JOINED, .machine = machine};
    for (uint32_t k = 0; k < m->survey.platform.machines[machine].slots; k++) {
        const struct bats_worker *worker =
            &m->crew.workers[bats_master_worker(m, machine, k)];
        if (!worker->is_ready || worker->state != BATS_WORKER_WORKS)
            return 0;
    }
    return bats_master_handle(m, &event, err);
}

/* The first command of the worker's node is done (pernode.h). The machine of a
 * worker job has joined before. */
static int get_ready(struct master *m, size_t i, struct bats_error *err)
{
    m->crew.workers[i].is_ready = true;
    return m->joined == NULL ? announce(m, bats_master_machine(m, i), err) : 0;
}

static int take(struct master *m, size_t i, struct bats_message *message,
                struct bats_error *err)
{
    int rc;
    if (m->crew.workers[i].state != BATS_WORKER_WORKS)
        return 0; /* its tasks run elsewhere */
    switch (message->type) {
    case BATS_MESSAGE_RESULT:
        m->crew.workers[i].n_results++;
        rc = bats_results_take(m, i, message, err);
        return rc != BATS_RESULTS_ENDING
                   ? rc
                   : bats_master_lose(m, i, "its job has been told to end",
                                      err);
    case BATS_MESSAGE_OUTPUT:
        return bats_results_output(m, i, &message->u.output, err);
    case BATS_MESSAGE_ERROR:
        return bats_master_lose(m, i, message->u.sentence, err);
    case BATS_MESSAGE_NOTICE:
        return bats_reclaims_notice(m, i, err);
    case BATS_MESSAGE_READY:
        return get_ready(m, i, err);
    case BATS_MESSAGE_HEARTBEAT:
        return 0;
    default:
        return bats_error_set(err, BATS_EPROTO,
                              "rank %d sent a message of type %d",
                              m->crew.ranks[i].rank, (int)message->type);
    }
}

/* ---- the loop ---- */

static bool is_over(const struct master *m)
{
    return m->finished && m->n_to_come == 0 && bats_joined_is_settled(m);
}

static int take_messages(struct master *m, struct bats_error *err)
{
    for (int i = 0; i < MESSAGES_AT_ONCE && !is_over(m); i++) {
        size_t from;
        struct bats_message message;
        int rc = bats_crew_receive(&m->crew, &from, &message, err);
        if (rc == 0)
            break;
        if (rc > 0)
            rc = take(m, from, &message, err);
        if (rc < 0 && (rc = bats_joined_blame(m, from, rc, err)) < 0)
            return rc;
        bats_quiet_ended(&m->quiet, false);
    }
    return 0;
}

/* A cancelled task has ended, and its rank has reported that, within the grace
 * time. A user who cancels the run must not wait for --silence. */
static bool owes_answer(const struct master *m, size_t i, int64_t now_us)
{
    const struct bats_slot_of *at = &m->survey.platform.slot_of[i];
    const struct bats_worker *worker = &m->crew.workers[i];
    return m->stopping && now_us > m->answers_by_us &&
           now_us - worker->heard_us > BATS_MASTER_ANSWER_US &&
           worker->state == BATS_WORKER_WORKS &&
           (worker->to_come > 0 ||
            bats_sched_is_busy(m->sched, at->machine, at->slot));
}

static int look_for_lost(struct master *m, struct bats_error *err)
{
    size_t i;
    int rc = 0;
    int64_t now_us = bats_clock_now_us();
    int64_t beat_us = bats_heart_beat_us(m->crew.silence_us);
    if (now_us - m->looked_us < (beat_us < LOOK_US ? beat_us : LOOK_US))
        return 0;
    m->looked_us = now_us;
    for (const char *why;
         rc == 0 && (why = bats_crew_lost(&m->crew, &i)) != NULL;)
        rc = bats_master_lose(m, i, why, err);
    for (i = 0; rc == 0 && i < m->crew.n; i++)
        if (owes_answer(m, i, now_us))
            rc = bats_master_lose(m, i, bats_crew_give_up(&m->crew, i), err);
    return rc;
}

/* SIGUSR1 drains, another signal stops the run. */
static int heed_signals(struct master *m, struct bats_error *err)
{
    int rc = bats_signals_drain() ? drain(m, err) : 0;
    return rc == 0 && bats_signals_count() > 0 ? bats_master_stop(m, err) : rc;
}

static int tick(struct master *m, struct bats_error *err)
{
    struct bats_event event = {.type = BATS_EVENT_TICK};
    bool due =
        !m->finished && bats_master_now(m) >= bats_sched_wakeup(m->sched);
    return due ? bats_master_handle(m, &event, err) : 0;
}

static int report(struct master *m, struct bats_error *err)
{
    int64_t now_us = bats_clock_now_us();
    if (m->observer->progress == NULL || now_us - m->progress_us < PROGRESS_US)
        return 0;
    m->progress_us = now_us;
    m->observer->progress(m->observer->context, &m->survey.platform, m->sched);
    return 0;
}

/* Time until something falls due, or until the next check for messages. */
static int64_t rest_us(const struct master *m)
{
    int64_t most_us = m->quiet.woken && m->options->joining == NULL
                          ? BATS_CLOCK_WOKEN_US
                          : BATS_CLOCK_MASTER_US;
    const int64_t due[] = {
        bats_quiet_sleep_us(&m->quiet, bats_comm_unsent(m->crew.comm) > 0,
                            most_us),
        until(m, bats_sched_wakeup(m->sched)),
        until(m, bats_reclaims_due(m)),
        bats_journal_due_us(&m->journal, bats_clock_now_us()),
        bats_joined_due_us(m),
    };
    int64_t us = INT64_MAX;
    for (size_t i = 0; i < sizeof due / sizeof *due; i++)
        us = due[i] < us ? due[i] : us;
    return us;
}

static int rest(struct master *m, struct bats_error *err)
{
    if (!is_over(m) && bats_clock_sleep(rest_us(m)))
        bats_quiet_ended(&m->quiet, true);
    return 0;
}

/* One turn of the loop. Everything the engine is told here is committed, and
 * its commands are carried out, before the turn ends. */
static int (*const turn[])(struct master *m, struct bats_error *err) = {
    heed_signals,  take_messages,    tick,           bats_reclaims_step,
    look_for_lost, bats_joined_step, bats_open_step, choose,
    carry_out_all, report,           rest,
};

/* Runs until the engine has finished, or a second signal demands an immediate
 * end. The loop terminates: the engine finishes when every task has a result
 * or cannot be paid, and a rank that owes a result or output is lost once it
 * is silent. */
static int loop(struct master *m, struct bats_error *err)
{
    int rc = 0;
    while (rc >= 0 && !is_over(m) && bats_signals_count() < 2)
        for (size_t i = 0; rc >= 0 && i < sizeof turn / sizeof *turn; i++)
            rc = turn[i](m, err);
    return rc < 0 ? rc : 0;
}

/* ---- start and end ---- */

static int run(struct master *m, struct bats_error *err)
{
    bool joins = m->options->joining != NULL;
    int rc =
        joins ? bats_joined_expect(m, err) : bats_crew_gather(&m->crew, err);
    m->crew.silence_us = m->options->silence_us;
    if (rc == 0 && !joins)
        rc = bats_survey_take(&m->crew, m->options, &m->survey, err);
    if (rc == 0)
        rc = bats_master_prepare(m, err);
    if (rc == 0)
        rc = bats_reclaims_init(m, err);
    if (rc < 0)
        return rc;
    m->start_us = m->looked_us = bats_clock_now_us();
    m->quiet.woken = bats_comm_woken(m->crew.comm);
    for (size_t i = 0; rc == 0 && i < m->crew.n; i++)
        if (m->crew.workers[i].state == BATS_WORKER_WORKS)
            rc = bats_master_set_up(m, i, err);
    if (rc < 0)
        return rc;
    if (m->observer->started != NULL)
        m->observer->started(m->observer->context, &m->survey, m->sched);
    rc = bats_open_start(m, err);
    for (uint32_t i = 0;
         rc == 0 && !joins && i < m->survey.platform.n_machines; i++)
        rc = announce(m, i, err);
    return rc < 0 ? rc : loop(m, err);
}

int bats_run_master(const struct bats_run_options *options,
                    const struct bats_observer *observer,
                    struct bats_crew **crew, struct bats_run_outcome *outcome,
                    struct bats_error *err)
{
    struct master m = {.options = options, .observer = observer};
    *crew = malloc(sizeof **crew);
    if (*crew == NULL)
        return bats_no_memory(err);
    bats_signals_catch();
    int rc = run(&m, err);
    bats_joined_end(&m);
    uint32_t known;
    int driver = bats_open_end(&m, &known);
    bats_reclaims_release(&m);
    bats_crew_stop(&m.crew);
    **crew = m.crew;
    free(m.first);
    free(m.worker);
    free(m.attempts);
    free(m.halves);
    bats_text_release(&m.command);
    bats_text_release(&m.holds);
    free(m.held);
    bats_text_release(&m.variables);
    bats_text_release(&m.outputs);
    struct bats_books books = m.journal.books;
    bats_journal_release(&m.journal);
    if (rc < 0) {
        bats_sched_destroy(m.sched);
        bats_survey_release(&m.survey);
        bats_class_names_release(&m.names);
        return rc;
    }
    /* A signal that came too late to stop anything does not count. */
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
        .driver = driver,
        .known = known,
        .books = books,
        .names = m.names,
    };
    strcpy(outcome->run_id, m.run_id);
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
    if (bats_crew_lost_elsewhere(crew) && bats_mpirun_is_parent())
        notice_of("mpirun may not notice the end of the run. It is told to "
                  "end in 10 s; its exit status will then not be that of "
                  "the run");
    bats_crew_release(crew);
}

void bats_run_dismiss(struct bats_crew *crew,
                      void (*notice_of)(const char *sentence))
{
    struct bats_crew idle;
    if (crew == NULL)
        bats_crew_gather(&idle, NULL);
    dismiss(crew != NULL ? crew : &idle, notice_of);
    if (crew != NULL)
        bats_signals_restore();
    free(crew);
}

int bats_run_survey(const struct bats_run_options *options,
                    struct bats_survey *survey, struct bats_error *err)
{
    struct bats_crew crew;
    int rc = bats_crew_gather(&crew, err);
    if (rc == 0)
        rc = bats_survey_take(&crew, options, survey, err);
    bats_crew_dismiss(&crew, GOODBYE_US);
    bats_crew_release(&crew);
    return rc;
}
