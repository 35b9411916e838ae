/* A policy of one file runs a bag: what src/doc/add-a-policy.md promises. */
#include "helpers/policy_probe.h"
#include "helpers/sim_fixture.h"

#define TASKS 60

/* Four machines at 1 an hour, and four that are three times as fast for 2;
 * tasks of 20 minutes. */
static void run(const struct bats_policy *policy)
{
    set_up_world(policy, TASKS, 20 * BATS_MINUTE, 4, 1, 2, 100 * BATS_UNIT);
    w->speed[1] = 3;
    w->o.sched.tail = BATS_TAIL_NONE;
    w->o.sched.seed = 3;
    play();
}

/*
 * The fast machine's first task ends at 6:40, the slow one's at 20:00: then
 * three more fast machines are acquired, and the slow one is left when its
 * window ends. It takes no third task it could not end, but this policy does
 * not ask: 3 tasks in its hour. The fast ones do 57: nine an hour each.
 */
TEST(a_policy_of_one_file_runs_a_bag)
{
    run(&policy_probe);
    assert_end(.finish = BATS_FINISH_ALL_DONE, .used0 = 1, .windows0 = 1,
               .done0 = 3, .used1 = 4, .done1 = 57);
}

static uint32_t n_results, n_ticks, n_windows;

static bool count(void *self, const struct state *s,
                  const struct occasion *why)
{
    n_results += why->type == OCCASION_RESULT;
    n_ticks += why->type == OCCASION_TICK;
    n_windows += why->type == OCCASION_WINDOW;
    return probe_wants(self, s, why);
}

/* Every result, every window that begins or ends, and every twelfth of an hour
 * while a machine is held. */
TEST(a_policy_sees_every_result_window_and_tick)
{
    struct bats_policy counting = policy_probe;
    counting.wants = count;
    n_results = n_ticks = n_windows = 0;
    run(&counting);
    assert_int_equal(n_results, TASKS);
    assert_int_equal(n_ticks, (w->makespan - 1) / (5 * BATS_MINUTE));
    /* All windows but the first of each machine, and one more: a slow machine
     * is parked. */
    assert_int_equal(n_windows, w->of[0].windows + w->of[1].windows - 5 + 1);
}

TEST_MAIN(NULL, NULL)
