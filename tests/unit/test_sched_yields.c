/* Tasks that yield (exit status 85), told by hand: two machines at 1 per
 * window, two tasks that are one another's equals. */
#include "bats/sched.h"
#include "helpers/play_fixture.h"

#define LIMIT 5
#define RUNS_MAX 2000

static struct yields {
    bats_time takes;     /* so long after its start an execution ends, */
    uint32_t n_yields;   /* executions of a task: first yields, then
                          * success, */
    uint32_t working;    /* and this one after a minute; 0: none */
    uint32_t of_task[2]; /* executions that were begun, */
    bats_time began[2][RUNS_MAX]; /* and when */
    bats_time end[2];             /* by machine; BATS_NEVER: it has no task */
    struct bats_sched_status status;
} y;

/* What has begun since. */
static void note(void)
{
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t task = p->runs[i];
        if (task == BATS_NO_TASK || y.end[i] != BATS_NEVER)
            continue;
        uint32_t n = y.of_task[task]++;
        assert_true(n < RUNS_MAX);
        y.began[task][n] = p->started[i];
        y.end[i] =
            p->started[i] + (n + 1 == y.working ? BATS_MINUTE : y.takes);
    }
}

/* Until the run is over, or an hour has gone by. */
static void play(struct yields how, struct bats_sched_options o)
{
    y = how;
    y.end[0] = y.end[1] = BATS_NEVER;
    *p = (struct play){.clusters = {{"c", BATS_UNIT, 2}}, .o = o};
    p->machines[0] = p->machines[1] = (struct bats_machine_spec){0, 1};
    p->o.policy = &bats_policy_rr;
    p->o.n_tasks = p->o.n_machines = 2;
    p->o.n_clusters = 1;
    p->o.budget = 1000 * BATS_UNIT;
    join();
    for (;;) {
        note();
        uint32_t machine = y.end[1] < y.end[0];
        bats_time next = bats_sched_wakeup(p->s), ends = y.end[machine];
        if ((next < ends ? next : ends) > BATS_HOUR)
            break;
        if (next < ends) {
            tick(next);
            continue;
        }
        y.end[machine] = BATS_NEVER;
        bool yields = y.of_task[p->runs[machine]] <= y.n_yields;
        end(ends, machine, yields ? BATS_EVENT_YIELDED : BATS_EVENT_DONE,
            ends - p->started[machine]);
    }
    bats_sched_status(p->s, &y.status);
}

static const struct bats_sched_options limited = {
    .window = 10 * BATS_MINUTE,
    .rules = {.yields = LIMIT},
};

TEST(task_that_yields_at_once_waits_ever_longer_and_fails)
{
    const int seconds[LIMIT] = {1, 2, 4, 8, 16};
    play((struct yields){.takes = 1000, .n_yields = UINT32_MAX}, limited);
    assert_int_equal(y.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(y.status.failed, 2);
    assert_int_equal(y.of_task[0], LIMIT + 1);
    assert_int_equal(y.of_task[1], LIMIT + 1);
    assert_int_equal(y.status.charged, 2 * BATS_UNIT); /* a window for each */
    for (int i = 0; i < LIMIT; i++)
        assert_int_equal(y.began[0][i + 1] - y.began[0][i],
                         1000 + seconds[i] * BATS_SECOND);
}

TEST(task_that_works_before_it_yields_may_do_so_for_ever)
{
    play((struct yields){.takes = 10 * BATS_SECOND, .n_yields = 300}, limited);
    assert_int_equal(y.status.done, 2);
    assert_int_equal(y.of_task[0], 301);
    for (int i = 0; i < 300; i++) /* and it never waits */
        assert_int_equal(y.began[0][i + 1] - y.began[0][i], 10 * BATS_SECOND);
}

TEST(work_in_between_starts_the_count_anew)
{
    play((struct yields){.takes = 1000, .n_yields = UINT32_MAX, .working = 5},
         limited);
    assert_int_equal(y.status.failed, 2);
    assert_int_equal(y.of_task[0], 5 + LIMIT + 1);
}

TEST(yields_of_earlier_sessions_count)
{
    const uint8_t earlier[2] = {LIMIT, 2};
    struct bats_sched_options o = limited;
    o.earlier.yields = earlier;
    play((struct yields){.takes = 1000, .n_yields = UINT32_MAX}, o);
    assert_int_equal(y.status.failed, 2);
    assert_int_equal(y.of_task[0], 1);
    assert_int_equal(y.of_task[1], LIMIT - 2 + 1);
    assert_int_equal(y.began[1][1] - y.began[1][0], 1000 + 4 * BATS_SECOND);
}

/* Records of such runs exist. */
TEST(without_the_rule_a_task_yields_at_once_and_for_ever)
{
    struct bats_sched_options o = limited;
    o.rules.yields = 0;
    play((struct yields){.takes = 1000, .n_yields = 1000}, o);
    assert_int_equal(y.status.done, 2);
    assert_int_equal(y.of_task[0], 1001);
    assert_int_equal(y.began[0][1000], 1000 * 1000);
}

TEST_MAIN(NULL, NULL)
