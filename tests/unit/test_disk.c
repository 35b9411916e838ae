/*
 * A run whose disk fails: each write, sync and truncation of a small run, one
 * after the other, once and for good, because the disk is full and because it
 * is broken. After each the bill, the ledger and the status of the record
 * agree, and a second session completes the bag.
 */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/failing_vfs.h"
#include "helpers/record_fixture.h"

#include <signal.h>

#include "record/read/view.h"
#include "run/journal.h"

#define N_TASKS 6
#define N_MACHINES 2
#define TASK_US (3 * BATS_MINUTE)
#define WINDOW (10 * BATS_MINUTE)
#define LEAD BATS_MINUTE
#define PATIENCE_US (60 * BATS_SECOND) /* the master's */

/* The figures at the end of a session. */
struct bill {
    bool began;
    struct bats_books books;
    enum bats_finish finish;
};

/* Two machines, and a clock that only moves when nothing is to be done. */
struct world {
    struct bats_record *record;
    struct bats_journal journal;
    struct bats_sched *sched;
    uint8_t state[N_TASKS];
    uint32_t task[N_MACHINES];  /* BATS_NO_TASK: none */
    bats_time end[N_MACHINES];  /* of this task, */
    bool cancelled[N_MACHINES]; /* which is being stopped */
    uint32_t attempts[N_TASKS];
    bats_time now, paid_end[N_MACHINES];
    bool stopping, finished;
    enum bats_finish finish;
    int begun_while_failing;
    bats_money charged; /* when it began to fail */
};

static void tell(struct world *w, struct bats_event event)
{
    assert_ok(
        bats_journal_handle(&w->journal, w->sched, w->now, &event, &err));
}

static void obey(struct world *w, const struct bats_command *c)
{
    switch (c->type) {
    case BATS_COMMAND_RUN:
        assert_int_equal(w->task[c->machine], BATS_NO_TASK);
        w->begun_while_failing += w->journal.failing_since > 0;
        w->task[c->machine] = c->task;
        w->end[c->machine] = w->now + TASK_US;
        w->cancelled[c->machine] = false;
        break;
    case BATS_COMMAND_CANCEL:
        if (w->task[c->machine] != c->task)
            break;
        w->cancelled[c->machine] = true;
        w->end[c->machine] = w->now;
        break;
    case BATS_NOTICE_FINISHED:
        w->finished = true;
        w->finish = c->finish;
        break;
    default:
        break;
    }
}

/* As the master does it. */
static void commit(struct world *w)
{
    struct bats_command c;
    size_t at = 0;
    int rc =
        bats_journal_commit(&w->journal, w->sched, w->now, 1 + w->now, &err);
    struct bats_sched_status st;
    bool failed_before = w->charged >= 0;
    bats_sched_status(w->sched, &st);
    if (rc < 0)
        assert_int_equal(rc, BATS_ESYS);
    if (rc <= 0 && failed_before) /* no window is entered meanwhile */
        assert_int_equal(st.charged, w->charged);
    w->charged = rc <= 0 ? st.charged : -1;
    if (rc <= 0 && !w->stopping &&
        w->now - w->journal.failing_since > PATIENCE_US) {
        w->stopping = true;
        tell(w, (struct bats_event){.type = BATS_EVENT_STOP});
        return;
    }
    while (bats_journal_next(&w->journal, rc > 0 || w->stopping, &at, &c))
        obey(w, &c);
}

static void end_task(struct world *w, uint32_t machine)
{
    uint32_t task = w->task[machine];
    bool done = !w->cancelled[machine];
    w->task[machine] = BATS_NO_TASK;
    tell(w, (struct bats_event){.type = done ? BATS_EVENT_DONE
                                             : BATS_EVENT_PREEMPTED,
                                .machine = machine,
                                .task = task,
                                .runtime = TASK_US});
    put_attempt(w->record, w->now, .task = task,
                .attempt = ++w->attempts[task], .machine = machine,
                .usage.wall_us = TASK_US, .usage.signal = done ? 0 : SIGTERM,
                .outcome = done ? BATS_RECORD_RESULT : BATS_RECORD_PREEMPTED,
                .stream = -1);
}

/* One thing that happens: the end of a task, or time goes by. */
static void step(struct world *w)
{
    for (uint32_t i = 0; i < N_MACHINES; i++)
        if (w->task[i] != BATS_NO_TASK && w->end[i] <= w->now) {
            end_task(w, i);
            return;
        }
    bats_time next = bats_sched_wakeup(w->sched);
    for (uint32_t i = 0; i < N_MACHINES; i++)
        if (w->task[i] != BATS_NO_TASK && w->end[i] < next)
            next = w->end[i];
    if (w->journal.failing_since > 0 && next > w->now + BATS_SECOND)
        next = w->now + BATS_SECOND;
    bats_time due = bats_journal_due_us(&w->journal, 1 + w->now);
    if (due < INT64_MAX && next > w->now + due)
        next = w->now + due;
    assert_true(next < BATS_NEVER);
    w->now = next > w->now ? next : w->now;
    if (w->now >= bats_sched_wakeup(w->sched))
        tell(w, (struct bats_event){.type = BATS_EVENT_TICK});
}

static bool open_bag(struct world *w, const struct bats_sched_options *o,
                     struct bats_sched_options *engine)
{
    char command[32];
    struct bats_record_session session = {.bag = "bag", .engine = engine};
    int rc = bats_record_open(PATH, &w->record, &err);
    for (uint32_t i = 0; rc == 0 && i < N_TASKS; i++) {
        snprintf(command, sizeof command, "task %u", i);
        rc = bats_record_task(w->record, i, i + 1, command, NULL, &err);
    }
    if (rc == 0)
        rc = bats_record_match(w->record, &err);
    *engine = *o;
    if (rc == 0 && bats_record_earlier(w->record).sessions > 0) {
        for (uint32_t i = 0; i < N_TASKS; i++) {
            struct bats_record_past past = bats_record_past(w->record, i);
            w->state[i] =
                (uint8_t)bats_record_state(BATS_RECORD_RESUME, &past);
        }
        engine->earlier.state = w->state;
        engine->earlier.charged = bats_record_earlier(w->record).charged;
        session.resume = BATS_RECORD_RESUME;
    }
    if (rc == 0)
        rc = bats_record_begin(w->record, &session, &err);
    return rc == 0;
}

/* A session, as the master and the verb run do it. */
static struct bill play(void)
{
    static const struct bats_cluster cluster = {
        .name = "c", .charge = 3 * BATS_UNIT, .max = N_MACHINES};
    static const struct bats_machine_spec machines[N_MACHINES] = {{0, 1},
                                                                  {0, 1}};
    const struct bats_sched_options options = {
        .policy = &bats_policy_rr,
        .n_tasks = N_TASKS,
        .clusters = &cluster,
        .n_clusters = 1,
        .machines = machines,
        .n_machines = N_MACHINES,
        .window = WINDOW,
        .budget = 100 * BATS_UNIT,
        .preempt_lead = LEAD,
    };
    struct bats_sched_options engine;
    struct bill bill = {0};
    struct world w = {.task = {BATS_NO_TASK, BATS_NO_TASK}, .charged = -1};

    if (!open_bag(&w, &options, &engine)) {
        bats_record_abandon(w.record);
        return bill;
    }
    bill.began = true;
    assert_ok(bats_sched_create(&engine, &w.sched, &err));
    w.journal = (struct bats_journal){.record = w.record,
                                      .sync_us = BATS_SECOND,
                                      .sync_events = 5,
                                      .books = {.n_clusters = 1}};
    for (uint32_t i = 0; i < N_MACHINES; i++)
        tell(&w, (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
    for (commit(&w); !w.finished; commit(&w))
        step(&w);
    assert_int_equal(w.begun_while_failing, 0);
    bill.finish = w.finish;
    bill.books = w.journal.books;
    if (bats_record_commit(w.record, &err) == 0) {
        bats_sched_status(w.sched, &bill.books.status);
        bats_sched_cluster_status(w.sched, 0, &bill.books.cluster[0]);
        bats_record_finish(w.record, w.now, w.finish, 0, 0, &err);
    } else {
        assert_int_equal(strstr(err.text, PATH ": disk full") != NULL,
                         failing.is_full);
        bats_record_forget(w.record);
    }
    bats_record_close(w.record, &err);
    bats_journal_release(&w.journal);
    bats_sched_destroy(w.sched);
    return bill;
}

/* The bill of the last session says what the record does. */
static void check(const struct bill *bill)
{
    struct bats_view *view;
    struct bats_view_status st;
    const struct bats_sched_status *b = &bill->books.status;
    if (!bill->began)
        return; /* it said so and has charged nothing */
    assert_ok(bats_view_open(PATH, &view, &err));
    assert_ok(bats_view_status(view, &st, &err));
    bats_view_close(view);
    assert_int_equal(st.charged, b->charged);
    assert_int_equal(st.done, b->done);
    assert_int_equal(st.failed, b->failed);
    assert_int_equal(st.pending + st.running, b->pending + b->running);
    assert_numbers(ask(PATH, "SELECT coalesce(sum(amount), 0), count(*) "
                             "FROM charge WHERE session = "
                             "(SELECT max(id) FROM session)"),
                   bill->books.cluster[0].charged,
                   bill->books.cluster[0].windows);
}

/* One session that meets the failure, and one that does not. Returns whether
 * there was such an operation. */
static bool meet(uint64_t fail, bool for_good, bool is_full)
{
    unlink(PATH);
    unlink(PATH "-wal");
    unlink(PATH "-journal");
    failing.n = failing.failed = 0;
    failing.fail = fail;
    failing.for_good = for_good;
    failing.is_full = is_full;
    struct bill first = play();
    bool met = failing.failed > 0;
    failing.fail = 0;
    check(&first);
    struct bill second = play();
    assert_true(second.began);
    assert_int_equal(second.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(second.books.status.done, N_TASKS);
    expect_rows("PRAGMA integrity_check", "ok");
    assert_int_equal(atoll(ask(PATH, "SELECT sum(amount) FROM charge")),
                     second.books.status.charged);
    return met;
}

static void every_failure_of(bool for_good, bool is_full)
{
    uint64_t n = 1;
    while (meet(n, for_good, is_full ^ (for_good && n % 2 == 0)))
        n++;
    assert_true(n > 50);
}

TEST_IN_DIRECTORY(bill_ledger_and_status_agree_after_each_failure)
{
    every_failure_of(false, true);
    every_failure_of(false, false);
    every_failure_of(true, true);
}

int main(void)
{
    failing_install();
    return run_cases(NULL, NULL);
}
