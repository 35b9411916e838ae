/* A policy of one file runs a bag: what src/doc/add-a-policy.md promises. */
#include "helpers/policy_probe.h"
#include "helpers/test.h"
#include "sim/sim.h"

#define TASKS 60

struct outcome {
    struct bats_sched_status status;
    struct bats_cluster_status clusters[2];
    bats_time makespan;
};

static void check(void *context, const struct bats_sched *s)
{
    (void)context;
    check_sched(s);
}

/* Four machines at 1 an hour, and four that are three times as fast for 2;
 * tasks of 20 minutes. */
static struct outcome play(const struct bats_policy *policy,
                           enum bats_tail tail)
{
    static const struct bats_cluster clusters[2] = {
        {.name = "slow", .charge = BATS_UNIT, .max = 4},
        {.name = "fast", .charge = 2 * BATS_UNIT, .max = 4}};
    static const double speed[2] = {1, 3};
    struct bats_machine_spec machines[8];
    bats_time work[TASKS];
    for (uint32_t i = 0; i < 8; i++)
        machines[i] = (struct bats_machine_spec){i / 4, 1};
    for (uint32_t i = 0; i < TASKS; i++)
        work[i] = 20 * BATS_MINUTE;
    struct bats_sim_options o = {.sched = {.policy = policy,
                                           .n_tasks = TASKS,
                                           .clusters = clusters,
                                           .n_clusters = 2,
                                           .machines = machines,
                                           .n_machines = 8,
                                           .window = BATS_HOUR,
                                           .budget = 100 * BATS_UNIT,
                                           .tail = tail,
                                           .seed = 3},
                                 .work = work,
                                 .speed = speed,
                                 .watch.after = check};
    struct outcome out;
    struct bats_sched *s;
    assert_ok(bats_sim_run(&o, &s, &out.makespan, &err));
    bats_sched_status(s, &out.status);
    for (size_t i = 0; i < 2; i++)
        bats_sched_cluster_status(s, i, &out.clusters[i]);
    bats_sched_destroy(s);
    return out;
}

/*
 * The fast machine's first task ends at 6:40, the slow one's at 20:00: then
 * three more fast machines are acquired, and the slow one is left when its
 * window ends. It takes no third task it could not end, but this policy does
 * not ask: 3 tasks in its hour. The fast ones do 57: nine an hour each.
 */
TEST(a_policy_of_one_file_runs_a_bag)
{
    struct outcome out = play(&policy_probe, BATS_TAIL_NONE);
    assert_int_equal(out.status.finish, BATS_FINISH_ALL_DONE);
    assert_int_equal(out.clusters[0].machines_used, 1);
    assert_int_equal(out.clusters[0].windows, 1);
    assert_int_equal(out.clusters[0].done, 3);
    assert_int_equal(out.clusters[1].machines_used, 4);
    assert_int_equal(out.clusters[1].done, 57);
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
    struct outcome out = play(&counting, BATS_TAIL_NONE);
    assert_int_equal(n_results, TASKS);
    assert_int_equal(n_ticks, (out.makespan - 1) / (5 * BATS_MINUTE));
    /* All windows but the first of each machine, and one more: a slow machine
     * is parked. */
    assert_int_equal(n_windows, out.clusters[0].windows +
                                    out.clusters[1].windows - 5 + 1);
}

TEST_MAIN(NULL, NULL)
