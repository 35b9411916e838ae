/*
 * random_run: sessions of a run on machines that do what chance wants, through
 * the journal into a record.
 */
#ifndef BATS_RANDOM_RUN_H
#define BATS_RANDOM_RUN_H

#include "bats/bag.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "record_fixture.h"
#include "run/journal.h"

#define TASKS 40
#define MACHINES 10
#define SLOTS 2
#define STEPS 3000 /* a run that lasts longer is killed */

/* In the place of libc's: nothing here has to survive the machine. */
int fdatasync(int fd)
{
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
    uint8_t state[TASKS], failures[TASKS], losses[TASKS], yields[TASKS];
    struct queue queue[MACHINES][SLOTS];
    uint32_t fragile;
    bool lost[MACHINES];
    bats_time now;
    bool sampled, finished;
    int64_t events, charges;
};

static bool only_windows;               /* no allocation */
static int steps = STEPS;               /* then it is killed */
static void (*meanwhile)(struct run *); /* after each step, unless NULL */

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
        c->lifetime =
            (struct bats_lifetime){.survival = BATS_SURVIVAL_WEIBULL,
                                   .a = 1 + pick(100) * 1e9,
                                   .b = 1 + pick(100) / 7.0,
                                   .share = (1 + pick(99)) / 100.0,
                                   .guaranteed = pick_time(BATS_HOUR)};
    }
}

/* What makes sessions end in many ways, with money of every kind. */
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
        .tells_leases = true,
        .n_tasks = n_tasks,
        .clusters = r->clusters,
        .n_clusters = 1 + pick(3),
        .machines = r->machines,
        .n_machines = MACHINES,
        .window = BATS_HOUR + pick_time(BATS_MINUTE),
        .budget = pick(3) == 0 ? BATS_UNLIMITED
                               : (40 + pick(100)) * BATS_UNIT + pick(1000),
        .preempt_lead = pick(2) * pick_time(BATS_MINUTE),
        .seed = (uint64_t)random(),
        .rules = {.retries = pick(4),
                  .losses = pick(2),
                  .yields = pick(3),
                  .timeout = pick(2) * (BATS_HOUR + pick_time(BATS_HOUR)),
                  .halt_failed = pick(4) == 0 ? 1 + pick(9) : 0,
                  .halt_now = pick(2) == 0,
                  .time_limit = pick(4) == 0 ? 5 * BATS_HOUR + pick(999) : 0},
        .goal.deadline = 3 * BATS_HOUR,
        .sampling = {.on = pick(2) == 0, .workers = pick(4)},
        .tail = (enum bats_tail)pick(BATS_TAIL_PERFECT),
    };
    for (size_t i = 0; i < o->n_clusters; i++)
        r->clusters[i] =
            (struct bats_cluster){.name = {(char)('a' + i)},
                                  .charge = 1 + pick(4 * BATS_UNIT),
                                  .max = pick(2) == 0 ? UINT32_MAX : 3};
    for (uint32_t i = 0; i < MACHINES; i++)
        r->machines[i] = (struct bats_machine_spec){
            .cluster = i < o->n_clusters ? i : pick((uint32_t)o->n_clusters),
            .slots = 1 + pick(SLOTS)};
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
}

/* ---- the machines ---- */

static void carry_out(struct run *r)
{
    struct bats_command c;
    size_t at = 0;
    int rc = bats_journal_commit(&r->journal, r->sched, r->now, r->now, &err);
    assert_true(rc >= 0);
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
    int rc = bats_journal_handle(&r->journal, r->sched, r->now, event, &err);
    if (rc < 0 && event->type != BATS_EVENT_CHOSEN)
        assert_ok(rc);
    r->events++;
    if (pick(3) == 0)
        carry_out(r);
}

static void happen(struct run *r, enum bats_event_type type, uint32_t machine,
                   bats_time time)
{
    tell(r, &(struct bats_event){type, .machine = machine, .runtime = time});
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
        .stream = -1,
        .host = pick(2) == 0 ? "else\"where" : NULL,
        .usage.start_us = 1000000 + r->now,
        .usage.wall_us = pick(1000000),
        .usage.user_us = pick(1000),
        .usage.max_rss_kib = pick(500),
        .usage.exit_status = event.type == BATS_EVENT_DONE ? 0 : 1,
        .usage.signal = event.type == BATS_EVENT_DONE || pick(5) > 0 ? 0 : 9,
        .outcome = result   ? BATS_RECORD_RESULT
                   : before ? BATS_RECORD_SUPERSEDED
                   : event.type == BATS_EVENT_FAILED && beside
                       ? BATS_RECORD_FAILED_BESIDE
                   : event.type == BATS_EVENT_FAILED   ? BATS_RECORD_RETRIED
                   : event.type == BATS_EVENT_YIELDED  ? BATS_RECORD_YIELDED
                   : state == BATS_EXECUTION_TIMED_OUT ? BATS_RECORD_RETRIED
                                                       : BATS_RECORD_PREEMPTED,
    };
    assert_ok(bats_record_attempt(r->record, r->now, &attempt, &err));
}

static void step(struct run *r)
{
    uint32_t m = pick(MACHINES), slot = pick(SLOTS), chance = pick(1000);
    bats_time wakeup = bats_sched_wakeup(r->sched);
    r->now += pick_time(10 * BATS_MINUTE);
    if (r->sampled && pick(20) == 0)
        choose(r);
    if (chance < 20 * r->fragile && !r->lost[m]) {
        r->lost[m] = true;
        memset(r->queue[m], 0, sizeof r->queue[m]);
        happen(r, BATS_EVENT_LOST, m, 0);
    } else if (chance >= 980 && chance < 999 && !r->lost[m] &&
               r->o.billing.model == BATS_BILLING_SECOND) {
        happen(r, BATS_EVENT_NOTICE, m, pick_time(BATS_MINUTE));
    } else if (chance == 999) {
        happen(r, pick(2) == 0 ? BATS_EVENT_DRAIN : BATS_EVENT_STOP, 0, 0);
    } else if (r->queue[m][slot].n > 0 && chance < 700) {
        end_task(r, m, slot);
    } else if (wakeup < BATS_NEVER) {
        if (wakeup > r->now)
            r->now = wakeup;
        happen(r, BATS_EVENT_TICK, 0, 0);
    }
}

/* ---- a session ---- */

/* The bag is "0", "1", ... from `first` on. */
static void open_bag(struct run *r, uint32_t first, uint32_t n)
{
    char command[16];
    assert_ok(bats_record_open(PATH, &r->record, &err));
    for (uint32_t i = 0; i < n; i++) {
        snprintf(command, sizeof command, "%u", first + i);
        assert_ok(bats_record_task(r->record, i, i + 1, command, NULL, &err));
    }
    assert_ok(bats_record_match(r->record, &err));
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
    r->o.earlier.charged = bats_record_earlier(r->record).charged;
    if (r->o.budget != BATS_UNLIMITED)
        r->o.budget += r->o.earlier.charged;
}

static void play(struct run *r, uint32_t first, uint32_t n)
{
    *r = (struct run){0};
    choose_options(r, n);
    r->fragile = pick(3) == 0;
    open_bag(r, first, n);
    enum bats_record_resume resume = BATS_RECORD_NOT;
    if (bats_record_earlier(r->record).sessions > 0) {
        resume = (enum bats_record_resume)(1 + pick(3));
        remember(r, resume);
    }
    static const char *const hosts[MACHINES] = {"f1", "s1", "f2", "s1"};
    struct bats_record_session session = {
        .engine = &r->o, .resume = resume, .hosts = hosts};
    r->o.policy = bats_policy_for(r->o.policy, r->o.billing.model, false);
    assert_ok(bats_record_begin(r->record, &session, &err));
    assert_ok(bats_sched_create(&r->o, &r->sched, &err));
    r->journal =
        (struct bats_journal){.record = r->record, .sync_us = BATS_HOUR};
    for (uint32_t m = 0; m < MACHINES; m++)
        happen(r, BATS_EVENT_JOINED, m, 0);
    for (int i = 0; i < steps && !r->finished; i++) {
        step(r);
        if (meanwhile != NULL)
            meanwhile(r);
    }
    carry_out(r);
    if (r->finished && pick(2) == 0)
        assert_ok(bats_record_finish(r->record, r->now, BATS_FINISH_STOPPED, 0,
                                     5, &err));
    bats_journal_release(&r->journal);
    bats_sched_destroy(r->sched);
    bats_record_abandon(r->record); /* killed, more or less */
}

#endif
