/* Random runs go through the journal into a record; from that the engine is
 * built again and has to decide the same. A change of the record is noticed. */
#include "helpers/record_fixture.h"

#include "bats/bag.h"
#include "record/verify/replay.h"
#include "run/journal.h"

#define RECORDS 40
#define TASKS 40
#define MACHINES 10
#define SLOTS 2
#define PROFILE 30
#define STEPS 3000 /* a run that lasts longer is killed */

/* In the place of libc's: nothing here has to survive the machine. */
int fdatasync(int fd)
{
    (void)fd;
    return 0;
}

struct queue {
    uint32_t task[TASKS];
    uint32_t n;
};

/* A run on machines that do what chance wants. */
struct run {
    struct bats_record *record;
    struct bats_journal journal;
    struct bats_sched *sched;
    struct bats_sched_options o;
    struct bats_cluster clusters[3];
    struct bats_machine_spec machines[MACHINES];
    uint8_t state[TASKS], failures[TASKS], losses[TASKS], yields[TASKS],
        once[TASKS];
    bats_time expected[3];
    struct bats_observation profile[PROFILE];
    struct queue queue[MACHINES][SLOTS];
    uint32_t fragile;
    bool lost[MACHINES];
    bats_time now;
    bool sampled, finished;
    int64_t events, charges;
};

static bool only_windows; /* no allocation */
static bool hasty;        /* tasks end before they have made progress */
static int steps = STEPS; /* then it is killed */

static uint32_t pick(uint32_t n)
{
    return (uint32_t)random() % n;
}

static bats_time pick_time(bats_time most)
{
    return (bats_time)(random() % most);
}

/* Machines that are billed by their age, some of which are reclaimed. */
static void make_reclaimable(struct run *r)
{
    r->o.billing.model = BATS_BILLING_SECOND;
    r->o.sampling.on = false;
    for (size_t i = 0; i < r->o.n_clusters; i++) {
        struct bats_cluster *c = &r->clusters[i];
        c->reclaimable = pick(2);
        c->notice = pick_time(BATS_MINUTE);
        c->tariff = (struct bats_tariff){
            .per = BATS_HOUR,
            .n_steps = 1 + pick(2),
            .step = {{0, c->charge}, {pick_time(BATS_HOUR), c->charge / 2}},
            .free = pick(2) * pick_time(BATS_HOUR)};
        c->lifetime = (struct bats_lifetime){
            .survival = BATS_SURVIVAL_WEIBULL,
            .a = 1 + pick(100) * 1e9,
            .b = 1 + pick(100) / 7.0,
            .share = (1 + pick(99)) / 100.0,
            .guaranteed = pick_time(BATS_HOUR)};
    }
}

/* Every option, with values that are seldom the same twice. */
static void choose_options(struct run *r, uint32_t n_tasks)
{
    static const struct bats_policy *const policies[] = {
        &bats_policy_rr,
        &bats_policy_bkp,
        &bats_policy_bats,
        &bats_policy_bats,
        &bats_policy_dbc_cost,
        &bats_policy_dbc_time,
        &bats_policy_dbc_conservative_time,
        &bats_policy_dbc_cost_time};
    struct bats_sched_options *o = &r->o;
    *o = (struct bats_sched_options){
        .policy = policies[pick(only_windows ? 4 : 8)],
        .n_tasks = n_tasks,
        .clusters = r->clusters,
        .n_clusters = 1 + pick(3),
        .machines = r->machines,
        .n_machines = MACHINES,
        .window = BATS_HOUR + pick_time(BATS_MINUTE),
        .budget = pick(3) == 0 ? BATS_UNLIMITED
                               : (40 + pick(100)) * BATS_UNIT + pick(1000),
        .monitor_interval = pick(2) * (BATS_MINUTE + pick_time(BATS_MINUTE)),
        .preempt_lead = pick(2) * pick_time(BATS_MINUTE),
        .prefetch = pick(2) * pick_time(BATS_HOUR),
        .seed = (uint64_t)random(),
        .confidence_z = pick(2) * (1 + pick(100) / 77.0),
        .sample_error = pick(2) * (0.2 + pick(100) / 333.0),
        .rules = {.retries = pick(4),
                  .retry_delay = pick(2) * pick_time(BATS_HOUR),
                  .losses = pick(2),
                  .yields = pick(3),
                  .timeout = pick(2) * (BATS_HOUR + pick_time(BATS_HOUR)),
                  .timeout_median = pick(2) * (2 + pick(100) / 7.0),
                  .halt_failed = pick(4) == 0 ? 1 + pick(9) : 0,
                  .halt_share = pick(3) == 0 ? 0.1 + pick(100) / 333.0 : 0,
                  .halt_now = pick(2) == 0,
                  .time_limit = pick(4) == 0 ? 5 * BATS_HOUR + pick(999) : 0},
        .sampling = {.on = pick(2) == 0,
                     .workers = pick(4),
                     .confidence = pick(2) * (0.6 + pick(100) / 300.0),
                     .cushion_percent = pick(2) * (20 + pick(50)),
                     .cushion = pick(2) == 0,
                     .observations = r->profile,
                     .n_observations = pick(3) == 0 ? PROFILE : 0},
        .tail = (enum bats_tail)pick(BATS_TAIL_PERFECT),
        .once = pick(2) == 0 ? NULL : r->once,
    };
    o->goal = (struct bats_goal){
        .deadline = 3 * BATS_HOUR + (bats_time)(o->seed % 999),
        .minimize = (enum bats_minimize)(o->seed % 2),
        .confidence = o->seed % 3 == 0 ? 0 : 0.5 + (double)(o->seed % 5) / 10};
    for (size_t i = 0; i < o->n_clusters; i++)
        r->clusters[i] =
            (struct bats_cluster){.name = {(char)('a' + i)},
                                  .charge = 1 + pick(4 * BATS_UNIT),
                                  .max = pick(2) == 0 ? UINT32_MAX : 3};
    for (uint32_t i = 0; i < MACHINES; i++)
        r->machines[i] = (struct bats_machine_spec){
            .cluster = i < o->n_clusters ? i : pick((uint32_t)o->n_clusters),
            .slots = 1 + pick(SLOTS)};
    for (uint32_t i = 0; i < TASKS; i++)
        r->once[i] = pick(3) == 0;
    for (uint32_t i = 0; i < PROFILE; i++)
        r->profile[i] =
            (struct bats_observation){.task = i / 2,
                                      .cluster = pick((uint32_t)o->n_clusters),
                                      .runtime = pick_time(BATS_HOUR)};
    if (only_windows)
        return;
    uint32_t billing = pick(4);
    if (billing == 0)
        o->billing =
            (struct bats_billing){.model = BATS_BILLING_ALLOCATION,
                                  .rate = 1 + pick(9 * BATS_UNIT),
                                  .before = pick(2) * pick(9 * BATS_UNIT),
                                  .leaving = pick(2) * pick_time(BATS_MINUTE)};
    if (billing == 1) {
        o->billing.model = BATS_BILLING_USE;
        o->sampling.on = false;
    }
    if (billing == 2)
        make_reclaimable(r);
    for (size_t i = 0; i < o->n_clusters; i++)
        r->expected[i] = pick(2) * pick_time(BATS_HOUR);
    o->expected = pick(2) == 0 ? NULL : r->expected;
}

/* ---- the machines ---- */

static void carry_out(struct run *r)
{
    struct bats_error err;
    struct bats_command c;
    size_t at = 0;
    int rc = bats_journal_commit(&r->journal, r->sched, r->now, r->now, &err);
    must(rc, &err);
    while (bats_journal_next(&r->journal, true, &at, &c)) {
        if (c.type == BATS_COMMAND_RUN && !r->lost[c.machine]) {
            struct queue *q = &r->queue[c.machine][c.slot];
            q->task[q->n++] = c.task;
        }
        r->charges += c.type == BATS_NOTICE_CHARGE;
        r->sampled |= c.type == BATS_NOTICE_SAMPLED;
        r->finished |= c.type == BATS_NOTICE_FINISHED;
    }
}

static void tell(struct run *r, const struct bats_event *event)
{
    struct bats_error err;
    int rc = bats_journal_handle(&r->journal, r->sched, r->now, event, &err);
    if (rc < 0 && event->type != BATS_EVENT_CHOSEN)
        must(rc, &err);
    r->events++;
    if (pick(3) == 0)
        carry_out(r);
}

/* The choice may be refused, or be none. */
static void choose(struct run *r)
{
    struct bats_event chosen = {
        .type = BATS_EVENT_CHOSEN,
        .choice = {.offer = (enum bats_offer)pick(BATS_OFFER_KINDS),
                   .budget = pick_time(200 * BATS_UNIT),
                   .deadline = pick_time(20 * BATS_HOUR)}};
    tell(r, &chosen);
}

/* The first task of a slot ends, as it was told to or in any other way. */
static void end_task(struct run *r, uint32_t m, uint32_t slot)
{
    struct bats_error err;
    struct queue *q = &r->queue[m][slot];
    struct bats_event event = {.machine = m,
                               .slot = slot,
                               .task = q->task[0],
                               .runtime = pick_time(BATS_HOUR)};
    enum bats_execution_state state =
        bats_sched_execution(r->sched, m, slot, event.task);
    uint32_t chance = pick(20);
    event.type = state != BATS_EXECUTION_RUNS && chance < 12
                     ? BATS_EVENT_PREEMPTED
                 : chance < 15 ? BATS_EVENT_DONE
                 : chance < 19 ? BATS_EVENT_FAILED
                               : BATS_EVENT_YIELDED;
    q->n--;
    memmove(q->task, q->task + 1, q->n * sizeof *q->task);
    bool before = bats_sched_has_result(r->sched, event.task);
    bool beside = bats_sched_has_replicas(r->sched, event.task);
    tell(r, &event);
    bool result = !before && bats_sched_has_result(r->sched, event.task);
    struct bats_record_attempt attempt = {
        .task = event.task,
        .attempt = 1,
        .machine = m,
        .usage.exit_status = event.type == BATS_EVENT_DONE ? 0 : 1,
        .outcome = result   ? BATS_RECORD_RESULT
                   : before ? BATS_RECORD_SUPERSEDED
                   : event.type == BATS_EVENT_FAILED && beside
                       ? BATS_RECORD_FAILED_BESIDE
                   : event.type == BATS_EVENT_FAILED   ? BATS_RECORD_RETRIED
                   : event.type == BATS_EVENT_YIELDED  ? BATS_RECORD_YIELDED
                   : state == BATS_EXECUTION_TIMED_OUT ? BATS_RECORD_RETRIED
                                                       : BATS_RECORD_PREEMPTED,
    };
    must(bats_record_attempt(r->record, r->now, &attempt, &err), &err);
}

static void step(struct run *r)
{
    uint32_t m = pick(MACHINES), slot = pick(SLOTS), chance = pick(1000);
    bats_time wakeup = bats_sched_wakeup(r->sched);
    r->now += pick_time(hasty ? BATS_SECOND : 10 * BATS_MINUTE);
    if (r->sampled && pick(20) == 0)
        choose(r);
    if (chance < 20 * r->fragile && !r->lost[m]) {
        struct bats_event lost = {.type = BATS_EVENT_LOST, .machine = m};
        r->lost[m] = true;
        memset(r->queue[m], 0, sizeof r->queue[m]);
        tell(r, &lost);
    } else if (chance >= 980 && chance < 999 && !r->lost[m] &&
               r->o.billing.model == BATS_BILLING_SECOND) {
        struct bats_event notice = {.type = BATS_EVENT_NOTICE,
                                    .machine = m,
                                    .runtime = pick_time(BATS_MINUTE)};
        tell(r, &notice);
    } else if (chance == 999) {
        struct bats_event stop = {.type = pick(2) == 0 ? BATS_EVENT_DRAIN
                                                       : BATS_EVENT_STOP};
        tell(r, &stop);
    } else if (r->queue[m][slot].n > 0 && chance < 700) {
        end_task(r, m, slot);
    } else if (wakeup < BATS_NEVER) {
        struct bats_event tick = {.type = BATS_EVENT_TICK};
        if (wakeup > r->now)
            r->now = wakeup;
        tell(r, &tick);
    }
}

/* ---- a session ---- */

/* The bag is "0", "1", ... from `first` on. */
static void open_bag(struct run *r, uint32_t first, uint32_t n)
{
    struct bats_error err;
    char command[16];
    must(bats_record_open(PATH, &r->record, &err), &err);
    for (int again = 0; again < 2; again++) {
        for (uint32_t i = 0; i < n; i++) {
            snprintf(command, sizeof command, "%u", first + i);
            if (!again || bats_record_lacks(r->record, i))
                must(bats_record_task(r->record, i, i + 1, command, &err),
                     &err);
        }
        must(bats_record_match(r->record, &err), &err);
    }
}

static void remember(struct run *r, enum bats_record_resume resume)
{
    for (uint32_t i = 0; i < r->o.n_tasks; i++) {
        struct bats_record_past past = bats_record_past(r->record, i);
        r->state[i] = (uint8_t)bats_record_state(resume, &past);
        r->failures[i] = past.failures;
        r->losses[i] = past.losses;
        r->yields[i] = past.yields;
    }
    r->o.earlier.state = r->state;
    r->o.earlier.failures = r->failures;
    r->o.earlier.losses = r->losses;
    r->o.earlier.yields = r->yields;
    r->o.earlier.charged = bats_record_charged(r->record);
    if (r->o.budget != BATS_UNLIMITED)
        r->o.budget += r->o.earlier.charged;
}

static void play(struct run *r, uint32_t first, uint32_t n)
{
    struct bats_error err;
    *r = (struct run){0};
    choose_options(r, n);
    r->fragile = pick(3) == 0;
    open_bag(r, first, n);
    enum bats_record_resume resume = BATS_RECORD_NOT;
    if (bats_record_sessions(r->record) > 0) {
        resume = (enum bats_record_resume)(1 + pick(3));
        remember(r, resume);
    }
    struct bats_record_session session = {.engine = &r->o, .resume = resume};
    must(bats_record_begin(r->record, &session, &err), &err);
    must(bats_sched_create(&r->o, &r->sched, &err), &err);
    r->journal =
        (struct bats_journal){.record = r->record, .sync_us = BATS_HOUR};
    for (uint32_t m = 0; m < MACHINES; m++) {
        struct bats_event joined = {.type = BATS_EVENT_JOINED, .machine = m};
        tell(r, &joined);
    }
    for (int i = 0; i < steps && !r->finished; i++)
        step(r);
    carry_out(r);
    bats_journal_release(&r->journal);
    bats_sched_destroy(r->sched);
    bats_record_abandon(r->record); /* killed, more or less */
}

static struct bats_replay replay(int64_t session)
{
    struct bats_error err;
    struct bats_view *view;
    struct bats_replay replay;
    must(bats_view_open(PATH, &view, &err), &err);
    must(bats_replay_session(view, session, &replay, &err), &err);
    bats_view_close(view);
    return replay;
}

/* The number of rows to compare. */
static int rows(int session)
{
    static const char *const tables[] = {"event", "command", "ledger",
                                         "decision"};
    char sql[100];
    int n = 0;
    for (int i = 0; i < 4; i++) {
        snprintf(sql, sizeof sql, "SELECT count(*) FROM %s WHERE session = %d",
                 tables[i], session);
        n += atoi(ask(PATH, sql));
    }
    return n;
}

static void the_engine_decides_the_same_again(void **state)
{
    (void)state;
    int64_t events = 0;
    for (unsigned seed = 1; seed <= RECORDS; seed++) {
        static struct run runs[3];
        srandom(seed);
        unlink(PATH);
        /* The second bag lacks lines and has new ones; the third is the
         * second. */
        play(&runs[0], 0, TASKS);
        play(&runs[1], 5 + pick(10), TASKS - 3);
        play(&runs[2], 5 + pick(10), TASKS);
        for (int i = 0; i < 3; i++) {
            struct bats_replay r = replay(i + 1);
            if (r.differs)
                fail_msg("seed %u, session %d: %s", seed, i + 1, r.difference);
            assert_int_equal(r.events, runs[i].events);
            assert_int_equal(r.charges, runs[i].charges);
            assert_int_equal(r.charges + r.commands + r.decisions + r.events,
                             rows(i + 1));
            events += r.events;
        }
    }
    assert_true(events > 20 * RECORDS);
}

/* Money that was held when it was killed is charged when it is continued. */
static void a_killed_run_stays_within_its_budget(void **state)
{
    (void)state;
    static struct run run;
    int killed = 0;
    for (unsigned seed = 1; seed <= RECORDS; seed++) {
        srandom(seed);
        unlink(PATH);
        for (int i = 1; i <= 3; i++) {
            steps = 1 + (int)pick(150);
            play(&run, 0, TASKS);
            bats_money before =
                atoll(ask(PATH, "SELECT sum(amount) FROM ledger"));
            open_bag(&run, 0, TASKS);
            bats_money after = bats_record_charged(run.record);
            assert_int_equal(after - before, bats_record_killed(run.record));
            if (run.o.billing.model != BATS_BILLING_ALLOCATION)
                assert_true(after <= run.o.budget);
            killed += after > before;
            bats_record_abandon(run.record);
        }
        for (int i = 1; i <= 3; i++) {
            struct bats_replay r = replay(i);
            if (r.differs)
                fail_msg("seed %u, session %d: %s", seed, i, r.difference);
        }
        assert_string_equal(ask(PATH, "SELECT count(*) FROM notice WHERE "
                                      "sentence LIKE '%cannot tell%'"),
                            "0");
    }
    steps = STEPS;
    assert_true(killed > RECORDS / 2);
}

/* Its tasks yield without a limit, and its options do not say so. */
static void a_record_from_before_the_limit_on_yields_is_true(void **state)
{
    (void)state;
    static struct run run;
    bool differs = false; /* where the limit is put in */
    only_windows = hasty = true;
    for (unsigned seed = 1; !differs; seed++) {
        assert_true(seed < 1000);
        srandom(seed);
        unlink(PATH);
        play(&run, 0, TASKS);
        if (run.o.rules.yields > 0)
            continue;
        ask(PATH, "UPDATE session SET options = "
                  "json_remove(options, '$.engine.yields')");
        assert_false(replay(1).differs);
        ask(PATH, "UPDATE session SET options = "
                  "json_set(options, '$.engine.yields', 1)");
        differs = replay(1).differs;
    }
    hasty = false;
}

static void a_changed_record_is_noticed(void **state)
{
    (void)state;
    static struct run run;
    static const struct {
        const char *change, *undo;
    } changes[] = {
#define MIDDLE(table, column)                                                 \
    {"UPDATE " table " SET " column " = " column " + 1 WHERE seq = "          \
     "(SELECT seq FROM " table " ORDER BY seq LIMIT 1 OFFSET 3)",             \
     "UPDATE " table " SET " column " = " column " - 1 WHERE seq = "          \
     "(SELECT seq FROM " table " ORDER BY seq LIMIT 1 OFFSET 3)"}
/* The same in the history, where what the view shows as a column is an element
 * of an array. */
#define ELEMENT(view, type, at, to)                                           \
    "UPDATE history SET " view "s = (SELECT json_group_array(json(CASE "      \
    "json_extract(value, '$[0]') WHEN (SELECT seq FROM " view                 \
    " WHERE type = '" type "' ORDER BY seq LIMIT 1 OFFSET 3 % (SELECT "       \
    "count(*) FROM " view " WHERE type = '" type "')) "                       \
    "THEN json_set(value, '$[" at "]', " to ") ELSE value END)) "             \
    "FROM json_each(" view "s)) WHERE " view "s IS NOT NULL"
#define PACKED(view, type, at)                                                \
    {ELEMENT(view, type, at, "json_extract(value, '$[" at "]') + 1"),         \
     ELEMENT(view, type, at, "json_extract(value, '$[" at "]') - 1")}
        PACKED("event", "done", "1"),    /* time_us */
        PACKED("command", "run", "1"),   /* time_us */
        PACKED("command", "run", "3"),   /* machine */
        PACKED("command", "run", "4"),   /* slot */
        PACKED("command", "run", "5"),   /* task */
        PACKED("command", "copy", "6"),  /* copy */
        MIDDLE("ledger", "amount"),
        MIDDLE("ledger", "cushion"),
        MIDDLE("ledger", "time_us"),
        {"UPDATE decision SET tasks_left = tasks_left + 1",
         "UPDATE decision SET tasks_left = tasks_left - 1"},
        {ELEMENT("command", "finished", "7", "'halted'"),
         ELEMENT("command", "finished", "7", "'all done'")},
        {"UPDATE session SET seed = seed + 1",
         "UPDATE session SET seed = seed - 1"},
        {"UPDATE cluster SET charge = charge + 1",
         "UPDATE cluster SET charge = charge - 1"},
        {ELEMENT("command", "run", "0", "1000000"), NULL},
    };
    only_windows = true;
    /* A run with all of that. */
    for (unsigned seed = 1;; seed++) {
        srandom(seed);
        unlink(PATH);
        play(&run, 0, TASKS);
        if (run.finished && run.o.policy == &bats_policy_bats &&
            atoi(ask(PATH, "SELECT count(*) >= 4 AND (SELECT count(*) FROM "
                           "command WHERE why = 'all done') AND (SELECT "
                           "count(*) FROM command WHERE type = 'run' AND "
                           "time_us = (SELECT time_us FROM event WHERE type = "
                           "'done' ORDER BY seq LIMIT 1 OFFSET 3)) FROM "
                           "command WHERE type = 'copy'")) != 0)
            break;
        assert_true(seed < 1000);
    }
    assert_false(replay(1).differs);
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        ask(PATH, changes[i].change);
        if (!replay(1).differs)
            fail_msg("not noticed: %s", changes[i].change);
        if (changes[i].undo == NULL)
            break;
        ask(PATH, changes[i].undo);
        assert_false(replay(1).differs);
    }
}

static void what_is_missing_is_said(void **state)
{
    (void)state;
    static struct run run;
    struct bats_error err;
    struct bats_view *view;
    struct bats_replay r;
    srandom(1);
    play(&run, 0, TASKS);
    must(bats_view_open(PATH, &view, &err), &err);
    assert_int_equal(bats_replay_session(view, 2, &r, &err), BATS_EINPUT);
    bats_view_close(view);
    static const char *const changes[][2] = {
        {"UPDATE session SET options = '{}'", "is damaged"},
        {"UPDATE session SET options = "
         "json_remove(options, '$.engine.tail')",
         "cannot be replayed: its engine, of bats-mpi"},
        {"DELETE FROM machine WHERE id = 1", "is damaged"},
        {"DELETE FROM task WHERE id = 2", "is damaged"},
    };
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        unlink(PATH);
        play(&run, 0, TASKS);
        ask(PATH, changes[i][0]);
        must(bats_view_open(PATH, &view, &err), &err);
        assert_int_equal(bats_replay_session(view, 1, &r, &err), BATS_EINPUT);
        assert_non_null(strstr(err.text, PATH));
        assert_non_null(strstr(err.text, changes[i][1]));
        bats_view_close(view);
    }
}

int main(void)
{
#define T(test)                                                               \
    cmocka_unit_test_setup_teardown(test, enter_directory, leave_directory)
    const struct CMUnitTest tests[] = {
        T(the_engine_decides_the_same_again),
        T(a_killed_run_stays_within_its_budget),
        T(a_record_from_before_the_limit_on_yields_is_true),
        T(a_changed_record_is_noticed),
        T(what_is_missing_is_said),
    };
    return cmocka_run_group_tests_name("replay", tests, NULL, NULL);
}
