/*
 * worker: every rank but 0. Executes tasks until the master says stop.
 *
 * Results of short tasks are collected and sent together, so that the master
 * need not wake up for each (clock.h). No result waits if the worker has no
 * further task.
 */
#include <stdlib.h>
#include <string.h>

#include "run/clock.h"
#include "run/comm.h"
#include "run/executor.h"
#include "run/hub.h"
#include "run/launcher.h"
#include "run/run.h"
#include "run/watchdog.h"
#include "site/deaths.h"
#include "site/node.h"
#include "util/grow.h"

#define OUTPUTS_UNSENT 4     /* with more unsent, tasks have to wait */
#define BUSY_MIN_US 1000     /* the end of a task also ends this sleep */
#define FAREWELL_US 10000000 /* silence after which the master is gone */
#define LAST_WORDS_S 30      /* time to finish the output files */
#define TWICE_US 1000000     /* two SIGTERMs within this time are one */
#define LOST_STATUS 3        /* exit status of a rank that lost the master */

/* ---- what is kept in case the master is killed ----
 *
 * If SETUP says `keep`, a RESULT is kept until the master has it on record
 * (TAKEN). When the master is gone, the running task goes on and tasks that
 * have not begun are forgotten. HELLO tells the next master about the task and
 * the results (proto.h). The SETUP of that one counts once the task has ended.
 * Memory: at most the results of the tasks that were sent ahead to this slot,
 * each with up to 64 KiB of lines. */

struct kept {
    bool on;    /* SETUP asked to keep results */
    char *run;  /* run id of SETUP, or NULL */
    bool waits; /* HELLO was said: only signs of life until SETUP */
    struct bats_text *results; /* RESULTs sent but not TAKEN, oldest first */
    size_t n, room;
};

static int kept_add(struct kept *kept, const struct bats_text *result,
                    struct bats_error *err)
{
    struct bats_text copy = {0};
    bats_text_put(&copy, result->bytes, result->n);
    if (copy.failed || !bats_grow(&kept->results, &kept->room, kept->n + 1,
                                  sizeof *kept->results)) {
        bats_text_release(&copy);
        return bats_no_memory(err);
    }
    kept->results[kept->n++] = copy;
    return 0;
}

/* Drops the oldest n RESULTs, or all. */
static void kept_drop(struct kept *kept, size_t n)
{
    n = n < kept->n ? n : kept->n;
    for (size_t i = 0; i < n; i++)
        bats_text_release(&kept->results[i]);
    kept->n -= n;
    if (kept->n > 0)
        memmove(kept->results, kept->results + n,
                kept->n * sizeof *kept->results);
}

/* False if some lines of the task were sent, or the last master has stopped
 * it. */
static bool is_whole(const struct bats_executor *executor,
                     const struct bats_task_result *r)
{
    if (r->cancelled)
        return false;
    return r->to_come[0] + r->to_come[1] == 0 ||
           (executor != NULL &&
            bats_executor_asks(executor, r->task, r->attempt));
}

/* Merges the results into one message, without those that are not whole. */
static int merge(struct kept *kept, const struct bats_executor *executor,
                 struct bats_error *err)
{
    struct bats_text all = {0};
    for (size_t i = 0; i < kept->n; i++) {
        struct bats_message message;
        struct bats_task_result r;
        bats_proto_open(kept->results[i].bytes, kept->results[i].n, &message,
                        NULL);
        while (bats_proto_next_result(&message, &r))
            if (is_whole(executor, &r))
                bats_proto_result(&all, &r);
    }
    int rc = all.failed ? bats_no_memory(err) : 0;
    kept_drop(kept, SIZE_MAX);
    if (rc == 0 && all.n > 0)
        rc = kept_add(kept, &all, err);
    bats_text_release(&all);
    return rc;
}

/* Adds to `hello` the kept results and what `executor` (may be NULL) is doing.
 * The texts belong to `kept`. BATS_ENOMEM. */
static int kept_tell(struct kept *kept, const struct bats_executor *executor,
                     struct bats_hello *hello, struct bats_error *err)
{
    int rc = merge(kept, executor, err);
    if (executor != NULL)
        bats_executor_runs(executor, &hello->task, &hello->attempt);
    if (kept->run != NULL)
        hello->kept_run = kept->run;
    if (rc == 0 && kept->n > 0) {
        hello->results = kept->results[0].bytes;
        hello->n_results = kept->results[0].n;
    }
    return rc;
}

/* ---- the worker ---- */

struct worker {
    struct bats_comm *comm;
    struct bats_executor *executor; /* NULL before SETUP and after a failure */
    struct bats_text results;
    struct bats_batch batch; /* results in `results` */
    struct kept kept;        /* results kept for another master */
    struct bats_quiet quiet;
    int64_t beat_us;    /* longest silence, from SETUP */
    int64_t grace_ms;   /* to stop a task, from SETUP */
    int64_t notice_ms;  /* between SIGTERM and the end, from SETUP */
    int64_t ends_us;    /* end of the notice; INT64_MAX: unknown */
    int64_t again_us;   /* a SIGTERM before this time is the same one */
    int64_t silence_us; /* silence after which the master is gone */
    int64_t heard_us;   /* last sign of life of the master */
    int64_t looked_us;  /* last check for its messages */
    int64_t asked_us;   /* last check of its process */
    int terminated;     /* SIGTERMs handled */
    bool is_ending;     /* no more tasks are executed */
    bool holds;         /* lines go with the results */
    bool is_gateway;
    bool prepares; /* the node has commands before its first task */
    bool leave;
    bool is_cut; /* leave: the gateway has lost the master */
    bool again;  /* stay, for another master */
};

static int post(struct worker *w, struct bats_text *packet,
                struct bats_error *err)
{
    w->batch.sent_us = bats_clock_now_us();
    return bats_comm_send(w->comm, 0, packet, false, err);
}

static int say(struct worker *w, const struct bats_message *message,
               struct bats_error *err)
{
    struct bats_text packet = {0};
    bats_proto_put(&packet, message);
    return post(w, &packet, err);
}

static void collect_result(void *context,
                           const struct bats_task_result *result)
{
    struct worker *w = context;
    bats_proto_result(&w->results, result);
    w->batch.n++;
}

static int post_results(struct worker *w, struct bats_error *err)
{
    int rc = 0;
    w->batch.n = 0;
    w->batch.answered = false;
    if (w->kept.on && !w->results.failed)
        rc = kept_add(&w->kept, &w->results, err);
    return rc < 0 ? rc : post(w, &w->results, err);
}

static int64_t left_us(const struct worker *w)
{
    return bats_batch_left_us(&w->batch, bats_executor_waiting(w->executor),
                              bats_clock_now_us());
}

static bool send_output(void *context, const struct bats_output_lines *output)
{
    struct worker *w = context;
    struct bats_text packet = {0};
    if (bats_comm_unsent(w->comm) >= OUTPUTS_UNSENT)
        return false;
    bats_proto_put(&packet,
                   BATS_SAY(BATS_MESSAGE_OUTPUT, .u.output = *output));
    w->batch.sent_us = bats_clock_now_us();
    return bats_comm_send(w->comm, 0, &packet, true, NULL) == 0;
}

/* This rank cannot run tasks any more. It reports its results and the reason,
 * and stays until the end: a rank that leaves early takes the others with
 * it. */
static int fail(struct worker *w, const char *sentence, struct bats_error *err)
{
    bats_executor_destroy(w->executor);
    w->executor = NULL;
    int rc = w->batch.n > 0 ? post_results(w, err) : 0;
    return rc < 0
               ? rc
               : say(w, BATS_SAY(BATS_MESSAGE_ERROR, .u.sentence = sentence),
                     err);
}

static int set_up(struct worker *w, const struct bats_setup *setup,
                  struct bats_error *err)
{
    struct bats_executor_sink sink = {w, collect_result, send_output};
    w->holds = setup->hold;
    w->beat_us = setup->beat_us;
    w->grace_ms = setup->grace_ms;
    w->notice_ms = setup->notice_ms;
    w->prepares = setup->n_start > 0;
    bats_comm_set_process(w->comm, 0, setup->master_pid);
    w->quiet.woken = bats_comm_woken(w->comm);
    w->kept.waits = false;
    w->kept.on = setup->keep;
    free(w->kept.run);
    w->kept.run = strdup(setup->run_id);
    if (w->kept.run == NULL)
        return bats_no_memory(err);
    return w->executor != NULL
               ? bats_executor_change(w->executor, setup, err)
               : bats_executor_create(setup, &sink, &w->executor, err);
}

static int obey(struct worker *w, struct bats_message *message,
                struct bats_error *err)
{
    switch (message->type) {
    case BATS_MESSAGE_SETUP:
        if (w->executor != NULL && !w->kept.waits)
            return bats_error_set(err, BATS_EPROTO, "a second SETUP came");
        return set_up(w, &message->u.setup, err);
    case BATS_MESSAGE_TAKEN:
        kept_drop(&w->kept, message->u.taken);
        return 0;
    case BATS_MESSAGE_LEASE:
        return bats_watchdog_prolong(message->u.age_us, err);
    case BATS_MESSAGE_STOP:
        w->leave = message->u.leave != BATS_LEAVE_NOT &&
                   message->u.leave != BATS_LEAVE_AGAIN;
        w->is_cut = message->u.leave == BATS_LEAVE_CUT;
        if (message->u.leave == BATS_LEAVE_BROKEN)
            bats_comm_give_up();
        w->again = message->u.leave == BATS_LEAVE_AGAIN;
        if (w->is_cut || w->again)
            return 0;
        break;
    case BATS_MESSAGE_ASSIGN:
        w->batch.answered = true;
        break;
    case BATS_MESSAGE_CANCEL:
    case BATS_MESSAGE_VERDICT:
        break;
    case BATS_MESSAGE_HEARTBEAT:
        return 0;
    case BATS_MESSAGE_ERROR:
        w->is_cut = true;
        return bats_error_set(err, BATS_ESYS, "the master: %.400s",
                              message->u.sentence);
    default:
        return bats_error_set(err, BATS_EPROTO,
                              "the master sent a message of type %d",
                              (int)message->type);
    }
    return w->executor ? bats_executor_obey(w->executor, message, err) : 0;
}

static int receive_all(struct worker *w, struct bats_error *err)
{
    int from, rc;
    const void *bytes;
    size_t n;
    while ((rc = bats_comm_receive(w->comm, &from, &bytes, &n, err)) > 0) {
        struct bats_message message;
        struct bats_error why;
        bats_quiet_ended(&w->quiet, false);
        w->heard_us = bats_clock_now_us();
        rc = bats_proto_open(bytes, n, &message, &why);
        if (rc == 0)
            rc = obey(w, &message, &why);
        if (rc < 0 && w->is_cut)
            return bats_error_set(err, rc, "%s", why.text);
        if (rc < 0 && (rc = fail(w, why.text, err)) < 0)
            return rc;
    }
    return rc;
}

/* Sends what is due; *wait_us becomes the time until the next. */
static int send_due(struct worker *w, bool busy, int64_t *wait_us,
                    struct bats_error *err)
{
    int64_t quiet_us = bats_clock_now_us() - w->batch.sent_us;
    *wait_us = w->beat_us - quiet_us;
    if (w->batch.n > 0 && !w->kept.waits) {
        *wait_us = busy ? left_us(w) : 0;
        if (*wait_us == 0)
            return post_results(w, err);
    } else if (quiet_us >= w->beat_us) {
        return say(w, BATS_SAY(BATS_MESSAGE_HEARTBEAT), err);
    }
    return 0;
}

static int64_t patience(struct worker *w, bool busy)
{
    /* MPI makes progress only when called. */
    if (bats_comm_unsent(w->comm) > 0)
        return bats_quiet_sleep_us(&w->quiet, true, BATS_CLOCK_MIN_US);
    int64_t us = bats_quiet_sleep_us(&w->quiet, false,
                                     w->quiet.woken ? BATS_CLOCK_WOKEN_US
                                                    : BATS_CLOCK_WORKER_US);
    return busy && us < BUSY_MIN_US ? BUSY_MIN_US : us;
}

/* Checks whether the master lives. A launcher may let ranks live without it,
 * and they would wait for ever. */
static int look_for_master(struct worker *w, struct bats_error *err)
{
    int64_t now_us = bats_clock_now_us();
    int64_t beat_us = bats_heart_beat_us(w->silence_us);
    int64_t gap_us = now_us - w->looked_us;
    w->looked_us = now_us;
    /* This process was suspended, or waited for a disk, and has not yet read
     * the messages of that time. */
    if (gap_us > 2 * beat_us)
        w->heard_us += gap_us;
    if (now_us - w->asked_us >= beat_us) {
        w->asked_us = now_us;
        bats_deaths_ask();
    }
    bool died = !w->is_gateway && bats_deaths_known(0);
    if (!died && now_us - w->heard_us <= w->silence_us)
        return 0;
    bats_comm_give_up();
    return bats_error_set(err, BATS_ESYS,
                          died            ? "rank 0 has died"
                          : w->is_gateway ? "the master has been silent for "
                                            "too long"
                                          : "rank 0 has been silent for too "
                                            "long");
}

/* True if lines of the last task are still unsent: the next task must wait. */
static bool held_up(struct worker *w)
{
    return w->holds && bats_comm_unsent(w->comm) >= OUTPUTS_UNSENT;
}

/* Like bats_executor_poll. While short tasks follow one another, MPI is not
 * called in between: it yields the core. */
static int execute(struct worker *w, int64_t sleep_us, struct bats_error *err)
{
    int rc;
    while ((rc = bats_executor_poll(w->executor, sleep_us, err)) > 0) {
        bats_quiet_ended(&w->quiet, false);
        if (!bats_executor_busy(w->executor) || held_up(w) ||
            bats_signals_terminate() > w->terminated)
            break;
        int64_t due_us = left_us(w);
        if (due_us == 0) /* the next task runs while they are sent */
            return bats_executor_poll(w->executor, 0, err);
        sleep_us = patience(w, true);
        sleep_us = sleep_us < due_us ? sleep_us : due_us;
    }
    return rc;
}

static int tell_ready(struct worker *w, struct bats_error *err)
{
    if (!w->prepares || !bats_executor_ready(w->executor))
        return 0;
    w->prepares = false;
    return say(w, BATS_SAY(BATS_MESSAGE_READY), err);
}

/* The first SIGTERM, which may come twice (from Slurm, and by srun), begins
 * the notice: the master has that time to let tasks end or to move them. At
 * the end of the notice, at the next SIGTERM, or at once without a notice,
 * tasks are stopped. */
static int heed_signals(struct worker *w, struct bats_error *err)
{
    int n = bats_signals_terminate();
    int64_t now_us = bats_clock_now_us();
    if (n > 0 && w->notice_ms > 0 && now_us < w->again_us)
        w->terminated = n;
    if (n > 0 && w->notice_ms > 0 && w->terminated == 0) {
        w->terminated = n;
        w->ends_us = now_us + w->notice_ms * 1000;
        w->again_us = now_us + TWICE_US;
        return say(w, BATS_SAY(BATS_MESSAGE_NOTICE), err);
    }
    if (n > w->terminated || (!w->is_ending && now_us >= w->ends_us)) {
        w->terminated = n;
        w->is_ending = true;
        bats_executor_stop(w->executor, bats_signals_grace_us());
    }
    return 0;
}

static int step(struct worker *w, struct bats_error *err)
{
    int rc = receive_all(w, err);
    if (rc < 0 || w->leave || (rc = look_for_master(w, err)) < 0)
        return rc;
    if (w->executor != NULL && (rc = heed_signals(w, err)) < 0)
        return rc;
    struct bats_error why;
    int64_t due_us;
    bool busy = w->executor != NULL && bats_executor_busy(w->executor);
    /* A run with a single job ends with it; other runs go on without this
     * job. */
    if ((w->is_gateway || w->notice_ms > 0) && w->is_ending &&
        w->executor != NULL && !busy &&
        (rc = fail(w, "its job has been told to end", err)) < 0)
        return rc;
    if ((rc = send_due(w, busy, &due_us, err)) < 0)
        return rc;
    int64_t sleep_us = patience(w, busy);
    if (sleep_us > due_us)
        sleep_us = due_us;
    if (!busy || held_up(w)) {
        if (bats_clock_sleep(sleep_us))
            bats_quiet_ended(&w->quiet, true);
        return 0;
    }
    rc = execute(w, sleep_us, &why);
    return rc < 0 ? fail(w, why.text, err) : tell_ready(w, err);
}

/* Drops all that still arrives until everything is sent. False: it took too
 * long. */
static bool drain(struct bats_comm *comm, int64_t until_us)
{
    while (bats_comm_unsent(comm) > 0) {
        int from;
        const void *bytes;
        size_t n;
        bats_comm_receive(comm, &from, &bytes, &n, NULL);
        if (bats_clock_now_us() > until_us)
            return false;
        bats_clock_sleep(BATS_CLOCK_MIN_US);
    }
    return true;
}

static int say_goodbye(struct worker *w, struct bats_error *err)
{
    bats_text_release(&w->results);
    int rc = say(w, BATS_SAY(BATS_MESSAGE_STOP, .u.leave = BATS_LEAVE), err);
    return rc < 0 || drain(w->comm, w->batch.sent_us + FAREWELL_US)
               ? rc
               : bats_error_set(err, BATS_ESYS, "the master is gone");
}

/* Runs the last command of the node, with signs of life. It has no time limit,
 * except the grace time if the run is to end or the master is lost. */
static void leave_node(struct worker *w, bool hurry)
{
    int64_t until_us = INT64_MAX;
    while (w->executor != NULL &&
           !bats_executor_leave(w->executor, FAREWELL_US / 10)) {
        int64_t now_us = bats_clock_now_us();
        hurry |= bats_signals_terminate() > 0;
        if (hurry && until_us == INT64_MAX)
            until_us = now_us + w->grace_ms * 1000;
        if (now_us >= until_us)
            return;
        say(w, BATS_SAY(BATS_MESSAGE_HEARTBEAT), NULL);
    }
}

/* Nobody wants results any more. The task is stopped within its grace time and
 * the output files are closed; if that hangs, this process ends anyway. */
static void see_out(struct worker *w)
{
    bats_comm_leave_within((unsigned)(w->grace_ms / 1000) + LAST_WORDS_S,
                           LOST_STATUS);
    bats_executor_wind_up(w->executor);
    leave_node(w, true);
}

static int say_hello(struct worker *w, struct bats_error *err)
{
    struct bats_hello hello = {.age_us = bats_watchdog_age(), .kept_run = ""};
    int rc = 0;
    if (w->kept.on && w->batch.n > 0)
        rc = kept_add(&w->kept, &w->results, err);
    bats_text_release(&w->results);
    w->batch.n = 0;
    bats_node_look(&hello.node);
    if (rc == 0)
        rc = kept_tell(&w->kept, w->executor, &hello, err);
    if (rc < 0)
        return rc;
    w->kept.waits = true;
    return say(w, BATS_SAY(BATS_MESSAGE_HELLO, .u.hello = hello), err);
}

static void forget_task(struct worker *w)
{
    if (w->executor != NULL)
        bats_executor_wind_up(w->executor);
    leave_node(w, true);
    bats_executor_destroy(w->executor);
    w->executor = NULL;
}

/* The master is gone. Keeps only results for the next one. */
static void forget_master(struct worker *w)
{
    if (!w->kept.on || w->executor == NULL ||
        !bats_executor_go_on(w->executor))
        forget_task(w);
    if (!w->kept.on) {
        kept_drop(&w->kept, SIZE_MAX);
        w->batch.n = 0;
    }
    w->again = false;
}

static int work(struct worker *w, struct bats_error *err)
{
    int rc = say_hello(w, err);
    while (rc >= 0 && !w->leave) {
        rc = step(w, err);
        if (rc >= 0 && w->again) {
            forget_master(w);
            rc = say_hello(w, err);
        }
    }
    return rc;
}

static int end(struct worker *w, int rc, struct bats_error *err)
{
    if (rc < 0)
        bats_comm_disband(w->comm, BATS_LEAVE_CUT);
    if ((rc < 0 || w->is_cut) && w->executor != NULL)
        see_out(w);
    else
        leave_node(w, false);
    bats_executor_destroy(w->executor);
    if (rc >= 0)
        rc = say_goodbye(w, err);
    bats_text_release(&w->results);
    kept_drop(&w->kept, SIZE_MAX);
    free(w->kept.results);
    free(w->kept.run);
    if (rc >= 0 && w->is_cut)
        rc = bats_error_set(err, BATS_ESYS, "the gateway has lost the master");
    return rc;
}

static struct worker beginner(struct bats_comm *comm, int64_t silence_us)
{
    int64_t now_us = bats_clock_now_us();
    return (struct worker){
        .comm = comm,
        .quiet = {.since_us = now_us},
        .silence_us = silence_us,
        .heard_us = now_us,
        .looked_us = now_us,
        .beat_us = INT64_MAX,
        .ends_us = INT64_MAX,
    };
}

int bats_run_worker(int64_t silence_us, struct bats_error *err)
{
    struct bats_comm *comm;
    bats_signals_catch();
    int rc = bats_comm_create(&comm, err);
    if (rc < 0)
        return rc;
    bats_deaths_listen(comm->size);
    /* Over a stream of its own rank 0 has no heart: its end is seen. */
    struct worker w = beginner(comm, comm->is_stream ? INT64_MAX : silence_us);
    rc = end(&w, work(&w, err), err);
    bats_comm_destroy(comm);
    return rc;
}

/* A gateway works on while it waits for another master. */
static void work_on(void *context, int64_t us)
{
    struct worker *w = context;
    struct bats_error why;
    if (w->executor == NULL || !bats_executor_busy(w->executor)) {
        bats_clock_sleep(us);
    } else if (bats_executor_poll(w->executor, us, &why) < 0) {
        bats_executor_destroy(w->executor);
        w->executor = NULL;
    }
}

static void start_over(struct worker *w, int64_t silence_us)
{
    struct worker fresh = beginner(w->comm, silence_us);
    fresh.is_gateway = true;
    fresh.executor = w->executor;
    fresh.results = w->results;
    fresh.batch.n = w->batch.n;
    fresh.kept = w->kept;
    fresh.grace_ms = w->grace_ms;
    *w = fresh;
}

/* Works for one master after the other. When one is gone, waits for the next
 * until the time at which the first would have been given up. `err` is about
 * the first. */
static int work_for_any(struct worker *w, struct bats_error *err)
{
    int rc = work(w, err);
    while (rc < 0 && bats_comm_is_gone(w->comm, 0)) {
        struct bats_error why;
        int64_t until_us = w->heard_us + w->silence_us, silence_us;
        bats_comm_disband(w->comm, BATS_LEAVE_AGAIN);
        forget_master(w);
        if (bats_clock_now_us() > until_us ||
            bats_gateway_return(w->comm, until_us, work_on, w, &silence_us,
                                &why) < 0)
            break;
        start_over(w, silence_us);
        rc = work(w, err);
    }
    return rc;
}

int bats_run_gateway(const char *file, const char *job, int n_ranks,
                     struct bats_error *err)
{
    struct bats_comm *near = NULL, *comm = NULL;
    int64_t silence_us = 0, grace_ms = 0;
    bats_signals_catch();
    int rc = n_ranks > 1 ? bats_comm_create(&near, err) : 0;
    if (rc == 0)
        rc = bats_gateway_create(file, job, near, &comm, &silence_us, err);
    if (comm == NULL)
        return rc;
    if (rc < 0) {
        bats_comm_disband(comm, BATS_LEAVE_CUT);
    } else if (n_ranks > 1) {
        bats_heart_stop(); /* from now on its ranks may leave before it does */
        rc = bats_heart_start(comm, silence_us, err);
    }
    if (rc == 0) {
        struct worker w = beginner(comm, silence_us);
        w.is_gateway = true;
        rc = end(&w, work_for_any(&w, err), err);
        grace_ms = w.grace_ms;
    }
    if (rc < 0) /* the other ranks stop their tasks */
        drain(comm,
              bats_clock_now_us() + grace_ms * 1000 + LAST_WORDS_S * 1000000L);
    bats_heart_stop();
    bats_comm_destroy(comm);
    return rc;
}
