/* Tasks that yield (exit status 85), told by hand: two machines at 1 per
 * window, two tasks that are one another's equals. */
#include "bats/policy.h"
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/test.h"

#define LIMIT 5
#define RUNS_MAX 2000

struct play {
    struct bats_sched *s;
    bats_time now;
    bats_time takes;     /* so long after its start an execution ends, */
    uint32_t n_yields;   /* executions of a task: first yields, then
                          * success, */
    uint32_t working;    /* and this one after a minute; 0: none */
    uint32_t of_task[2]; /* executions that were begun, */
    bats_time began[2][RUNS_MAX]; /* and when */
    uint32_t task[2];             /* by machine; BATS_NO_TASK */
    bats_time end[2];             /* the same */
    struct bats_sched_status status;
};

static void obey(struct play *p)
{
    struct bats_command c;
    check_sched(p->s);
    while (bats_sched_next(p->s, &c)) {
        if (c.type == BATS_COMMAND_RUN) {
            uint32_t n = p->of_task[c.task]++;
            assert_true(n < RUNS_MAX);
            p->began[c.task][n] = p->now;
            p->task[c.machine] = c.task;
            p->end[c.machine] =
                p->now + (n + 1 == p->working ? BATS_MINUTE : p->takes);
        }
    }
}

static void tell(struct play *p, struct bats_event event)
{
    assert_ok(bats_sched_handle(p->s, p->now, &event, &err));
    obey(p);
}

static void end_on(struct play *p, uint32_t machine)
{
    uint32_t task = p->task[machine];
    bool yields = p->of_task[task] <= p->n_yields;
    bats_time ran = p->now - p->began[task][p->of_task[task] - 1];
    p->task[machine] = BATS_NO_TASK;
    tell(p, (struct bats_event){.type = yields ? BATS_EVENT_YIELDED
                                               : BATS_EVENT_DONE,
                                .machine = machine,
                                .task = task,
                                .runtime = ran});
}

/* Until the run is over, or an hour has gone by. */
static void play(struct play *p, struct bats_sched_options o)
{
    static const struct bats_cluster cluster = {
        .name = "c", .charge = BATS_UNIT, .max = 2};
    static const struct bats_machine_spec machines[] = {{0, 1}, {0, 1}};
    o.policy = &bats_policy_rr;
    o.n_tasks = o.n_machines = 2;
    o.clusters = &cluster;
    o.n_clusters = 1;
    o.machines = machines;
    o.budget = 1000 * BATS_UNIT;
    assert_ok(bats_sched_create(&o, &p->s, &err));
    for (uint32_t i = 0; i < 2; i++) {
        p->task[i] = BATS_NO_TASK;
        tell(p, (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
    }
    for (;;) {
        bats_time next = bats_sched_wakeup(p->s);
        uint32_t machine = UINT32_MAX;
        for (uint32_t i = 0; i < 2; i++)
            if (p->task[i] != BATS_NO_TASK && p->end[i] <= next) {
                next = p->end[i];
                machine = i;
            }
        if (next > BATS_HOUR)
            break;
        p->now = next;
        if (machine != UINT32_MAX)
            end_on(p, machine);
        else
            tell(p, (struct bats_event){.type = BATS_EVENT_TICK});
    }
    bats_sched_status(p->s, &p->status);
    bats_sched_destroy(p->s);
}

static const struct bats_sched_options limited = {
    .window = 10 * BATS_MINUTE,
    .rules = {.yields = LIMIT},
};

TEST(task_that_yields_at_once_for_ever_fails)
{
    struct play p = {.takes = 1000, .n_yields = UINT32_MAX};
    play(&p, limited);
    assert_int_equal(p.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(p.status.failed, 2);
    assert_int_equal(p.of_task[0], LIMIT + 1);
    assert_int_equal(p.of_task[1], LIMIT + 1);
    assert_int_equal(p.status.charged, 2 * BATS_UNIT); /* a window for each */
}

TEST(task_waits_twice_as_long_after_each_yield)
{
    const int seconds[LIMIT] = {1, 2, 4, 8, 16};
    struct play p = {.takes = 1000, .n_yields = UINT32_MAX};
    play(&p, limited);
    for (int i = 0; i < LIMIT; i++)
        assert_int_equal(p.began[0][i + 1] - p.began[0][i],
                         1000 + seconds[i] * BATS_SECOND);
}

TEST(task_that_works_before_it_yields_may_do_so_for_ever)
{
    struct play p = {.takes = 10 * BATS_SECOND, .n_yields = 300};
    play(&p, limited);
    assert_int_equal(p.status.done, 2);
    assert_int_equal(p.of_task[0], 301);
    for (int i = 0; i < 300; i++) /* and it never waits */
        assert_int_equal(p.began[0][i + 1] - p.began[0][i], 10 * BATS_SECOND);
}

TEST(work_in_between_starts_the_count_anew)
{
    struct play p = {.takes = 1000, .n_yields = UINT32_MAX, .working = 5};
    play(&p, limited);
    assert_int_equal(p.status.failed, 2);
    assert_int_equal(p.of_task[0], 5 + LIMIT + 1);
}

TEST(yields_of_earlier_sessions_count)
{
    const uint8_t earlier[2] = {LIMIT, 2};
    struct bats_sched_options o = limited;
    o.earlier.yields = earlier;
    struct play p = {.takes = 1000, .n_yields = UINT32_MAX};
    play(&p, o);
    assert_int_equal(p.status.failed, 2);
    assert_int_equal(p.of_task[0], 1);
    assert_int_equal(p.of_task[1], LIMIT - 2 + 1);
    assert_int_equal(p.began[1][1] - p.began[1][0], 1000 + 4 * BATS_SECOND);
}

/* Records of such runs exist. */
TEST(without_the_rule_a_task_yields_at_once_and_for_ever)
{
    struct bats_sched_options o = limited;
    o.rules.yields = 0;
    struct play p = {.takes = 1000, .n_yields = 1000};
    play(&p, o);
    assert_int_equal(p.status.done, 2);
    assert_int_equal(p.of_task[0], 1001);
    assert_int_equal(p.began[0][1000], 1000 * 1000);
}

TEST_MAIN(NULL, NULL)
