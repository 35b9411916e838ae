/* The choice of a task to replicate, in cases calculated by hand; and the
 * histogram behind it. */
#include "helpers/draw.h"
#include "helpers/play_fixture.h"

#include "bats/bag.h"
#include "estimate/histogram.h"

/* ---- histogram ---- */

TEST(histogram_agrees_with_a_list)
{
    struct bats_histogram h = {0};
    draw_from(0);
    static bats_time list[2000];
    double n, sum;
    bats_histogram_above(&h, 0, &n, &sum);
    assert_true(n == 0 && sum == 0);
    for (int i = 0; i < 2000; i++) {
        list[i] = (bats_time)pick(4000000) * (i % 10 == 0 ? 1000 : 1);
        assert_true(bats_histogram_add(&h, list[i]));
        if (i % 7 != 0)
            continue;
        /* A class is 1/32 of its place wide: that much the limit may be off,
         * and the sum is that of whole numbers. */
        double limit = (double)pick(4100000);
        bats_histogram_above(&h, limit, &n, &sum);
        double least = 0, most = 0, low = 0, high = 0;
        for (int k = 0; k <= i; k++) {
            double x = (double)list[k];
            least += x > limit * (33 / 32.0);
            most += x > limit * (31 / 32.0);
            low += x > limit * (33 / 32.0) ? x : 0;
            high += x > limit * (31 / 32.0) ? x : 0;
        }
        assert_true(least <= n && n <= most);
        assert_true(low <= sum && sum <= high);
    }
    bats_histogram_release(&h);
}

TEST(histogram_tells_longer_from_equal)
{
    struct bats_histogram h = {0};
    double n, sum;
    for (int i = 0; i < 3; i++) {
        bats_histogram_add(&h, 0);
        bats_histogram_add(&h, MINUTES(10));
        bats_histogram_add(&h, BATS_NEVER);
    }
    bats_histogram_above(&h, (double)MINUTES(10), &n, &sum);
    assert_true(n == 3 && sum == 3 * (double)BATS_NEVER);
    bats_histogram_above(&h, (double)MINUTES(10) - 1, &n, &sum);
    assert_true(n == 6);
    bats_histogram_above(&h, 0, &n, &sum);
    assert_true(n == 6);
    bats_histogram_above(&h, 1e30, &n, &sum);
    assert_true(n == 0);
    bats_histogram_release(&h);
}

/* ---- choices ---- */

/* Two slow machines, a fast one and (where it is used) a fastest. */
enum { SLOW, FAST, ALSO_SLOW, FASTEST, MACHINES };

static bats_time truth[MACHINES_MOST + 2]; /* by task, on the slow machines */

static bats_time true_runtime(const void *context, uint32_t task,
                              uint32_t cluster)
{
    return truth[task] / (cluster + 1);
}

static void begin(enum bats_tail tail, uint32_t n_tasks, uint32_t n_machines)
{
    *p = (struct play){.clusters = {{.name = "slow", .max = 2},
                                    {.name = "fast", .max = 1},
                                    {.name = "fastest", .max = 1}},
                       .machines = {{0, 1}, {1, 1}, {0, 1}, {2, 1}}};
    p->o = (struct bats_sched_options){.policy = &bats_policy_rr,
                                       .n_tasks = n_tasks,
                                       .n_clusters = 3,
                                       .n_machines = n_machines,
                                       .window = BATS_HOUR,
                                       .budget = BATS_UNLIMITED,
                                       .sample_error = 10, /* one task */
                                       .tail = tail,
                                       .true_runtime = true_runtime};
    join();
}

/*
 * Five tasks are done at minute 21. In slow minutes they have taken 20, 60, 20
 * and, on the fast one, twice 10, 30. The early slow machine runs its task
 * since minute 1, the other one, if there is a task for it, since minute 21.
 */
static void begin_late(enum bats_tail tail, uint32_t n_tasks, uint32_t early)
{
    uint32_t late = early == SLOW ? ALSO_SLOW : SLOW;
    begin(tail, n_tasks, 3);
    steps("1m done %u 20m; 1m done %u 60m; 1m done 1 10m; 2m done 1 30m;"
          "21m done %u 20m",
          late, early, late);
}

/* At minute `then` the fast machine has nothing to do, after twice 10. The slow
 * ones run the last two tasks, the early one and the late one. Tasks have taken
 * 20 four times and 60 twice, mean 33.3. */
static void wait_until(enum bats_tail tail, uint32_t early, int then)
{
    begin_late(tail, 8, early);
    assert_int_equal(p->replicas[SLOW] + p->replicas[FAST], 0);
    done(MINUTES(then), FAST, MINUTES(10));
}

/* Minute 26. Early: 60 in all, 35 left, 30 on the fast one. Late: 33.3 in all,
 * 28.3 left, 16.7 on the fast one. */
TEST(task_with_most_left_is_copied)
{
    static const enum bats_tail tails[] = {
        BATS_TAIL_STOCHASTIC, BATS_TAIL_STOCHASTIC_RANDOM, BATS_TAIL_MIGRATE};
    for (int i = 0; i < 3; i++) {
        for (uint32_t early = SLOW; early <= ALSO_SLOW; early += ALSO_SLOW) {
            wait_until(tails[i], early, 26);
            assert_int_equal(p->runs[FAST], p->runs[early]);
            assert_int_equal(p->replicas[FAST], 1);
        }
    }
}

/* Minute 32. Early: 29 left, 30 on the fast one. Late: 22.3 left, 16.7. */
TEST(task_that_would_end_later_is_not)
{
    wait_until(BATS_TAIL_STOCHASTIC, ALSO_SLOW, 32);
    assert_int_equal(p->runs[FAST], p->runs[SLOW]);
}

/* The same without the late one. */
TEST(only_random_copies_without_hope)
{
    static const enum bats_tail tails[] = {
        BATS_TAIL_NONE, BATS_TAIL_STOCHASTIC, BATS_TAIL_RANDOM,
        BATS_TAIL_STOCHASTIC_RANDOM, BATS_TAIL_SOONEST};
    for (int i = 0; i < 5; i++) {
        begin_late(tails[i], 7, ALSO_SLOW);
        assert_int_equal(p->runs[SLOW], BATS_NO_TASK); /* it is no faster */
        done(MINUTES(32), FAST, MINUTES(10));
        assert_int_equal(p->runs[FAST],
                         i < 2 ? BATS_NO_TASK : p->runs[ALSO_SLOW]);
    }
}

/* Minute 20: 33.3 in all, 14.3 left, 16.7 on the fast one. Minute 22: it has
 * taken longer than 20, so it will be 60: 39 left, and 30. */
TEST(idle_machine_is_asked_again)
{
    begin(BATS_TAIL_STOCHASTIC, 7, 3);
    steps("1m done 0 20m; 1m done 2 60m; 1m done 1 10m; 2m done 1 30m;"
          "3m done 0 20m; 20m done 1 10m:; 22m tick: copy 1");
    assert_int_equal(p->runs[FAST], p->runs[ALSO_SLOW]);
}

/* A third cluster, three times as fast as the slow one, has taken 20, 60, 20
 * as well. Early: a copy of it runs on the fast one since minute 26. Minute 35:
 * 26 left, but 21 there, and 20 on the fastest; late: 19.3 left, 11.1 there.
 * Minute 36: 25, 20, and still 20; late: 18.3, 11.1. */
TEST(copies_count_with_the_one_that_ends_first)
{
    for (int minute = 35; minute <= 36; minute++) {
        begin(BATS_TAIL_STOCHASTIC, 11, 4);
        steps("1m done 0 20m; 1m done 2 60m; 1m done 1 10m; 1m done 3 400s;"
              "2m done 1 30m; 2m done 3 20m; 21m done 0 20m; 26m done 1 10m");
        assert_int_equal(p->runs[FAST], p->runs[ALSO_SLOW]);
        steps("%dm done 3 400s: copy 3", minute);
        assert_int_equal(p->runs[FASTEST],
                         p->runs[minute == 35 ? ALSO_SLOW : SLOW]);
    }
}

/* The late one is known to take 100 minutes, 95 left, and the early one 31. */
TEST(perfect_knows_better)
{
    begin_late(BATS_TAIL_PERFECT, 8, ALSO_SLOW);
    truth[p->runs[ALSO_SLOW]] = MINUTES(31);
    truth[p->runs[SLOW]] = MINUTES(60);
    done(MINUTES(26), FAST, MINUTES(10));
    assert_int_equal(p->runs[FAST], p->runs[SLOW]);

    /* 50 minutes on the fast one do not fit its window. */
    begin_late(BATS_TAIL_PERFECT, 8, ALSO_SLOW);
    truth[p->runs[ALSO_SLOW]] = MINUTES(60);
    truth[p->runs[SLOW]] = MINUTES(100);
    done(MINUTES(26), FAST, MINUTES(10));
    assert_int_equal(p->runs[FAST], p->runs[ALSO_SLOW]);

    p->o.true_runtime = NULL;
    assert_int_equal(bats_sched_create(&p->o, &p->s, &err), BATS_EINPUT);
}

/* 320 slow machines run tasks of an hour since minute 0, the one in `where` of
 * 200 minutes. At minute 40 the fast one, which is the first, has nothing to do:
 * for all others it would take 30 minutes, and 20 are left. */
static void run_many(uint32_t where)
{
    *p = (struct play){.clusters = {{.name = "slow", .max = MACHINES_MOST},
                                    {.name = "fast", .max = 1}},
                       .o = {.policy = &bats_policy_rr,
                             .n_tasks = MACHINES_MOST + 2,
                             .n_clusters = 2,
                             .n_machines = MACHINES_MOST,
                             .window = 10 * BATS_HOUR,
                             .budget = BATS_UNLIMITED,
                             .sample_error = 10, /* one task */
                             .tail = BATS_TAIL_PERFECT,
                             .true_runtime = true_runtime}};
    for (uint32_t i = 0; i < MACHINES_MOST; i++)
        p->machines[i] = (struct bats_machine_spec){i == 0, 1};
    for (uint32_t i = 0; i < MACHINES_MOST + 2; i++)
        truth[i] = MINUTES(60);
    join();
    done(MINUTES(1), 1, MINUTES(60));
    done(MINUTES(1), 0, MINUTES(30));
    truth[p->runs[where]] = MINUTES(200);
    done(MINUTES(40), 0, MINUTES(30));
}

/* 64 slots at a time, for up to 192 tasks; the next look begins behind them. */
TEST(one_look_sees_192_tasks_and_the_next_one_others)
{
    static const struct {
        uint32_t where;
        int looks;
    } cases[] = {{2, 1}, {64, 1}, {191, 1}, {192, 2}, {256, 2}, {320, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        run_many(cases[i].where);
        for (int k = 1; k < cases[i].looks; k++) {
            assert_int_equal(p->runs[0], BATS_NO_TASK);
            tick(MINUTES(40 + k));
        }
        assert_int_equal(p->runs[0], p->runs[cases[i].where]);
    }
}

/* Minute 26, as above, but a task is left in the bag. The fast machine takes
 * over the early one, whose machine gets that task. */
TEST(migrate_takes_a_task_over)
{
    begin_late(BATS_TAIL_MIGRATE, 9, ALSO_SLOW);
    uint32_t early = p->runs[ALSO_SLOW];
    steps("26m done 1 10m: copy 1, cancel 2");
    assert_int_equal(p->runs[FAST], early);
    steps("26m stopped 2: run 2");
    assert_int_not_equal(p->runs[ALSO_SLOW], early);
}

static const enum bats_tail tails[] = {BATS_TAIL_SOONEST, BATS_TAIL_STOCHASTIC,
                                       BATS_TAIL_STOCHASTIC_RANDOM};

/* The fast machine is lost. On the slow ones two tasks have taken 10 minutes; a
 * third one runs since minute 10. */
TEST(soonest_copies_a_task_that_is_stuck)
{
    for (int i = 0; i < 3; i++) {
        begin(tails[i], 3, 3);
        steps("0 lost 1; 10m done 0; 10m done 2; 29m tick:; 31m tick:%s",
              i == 0 ? "copy 2" : "");
    }
}

/* Two tasks have taken 10 minutes on the slow machines. A third one runs on the
 * fast machine, where nothing has ended: it is expected to take as long again as
 * it has. */
TEST(soonest_copies_from_where_nothing_has_ended)
{
    for (int i = 0; i < 3; i++) {
        begin(tails[i], 3, 3);
        steps("9m done 0 10m:; 9m done 2 10m:; 15m tick:%s",
              i == 0 ? "copy 0" : "");
    }
}

/* The same at minute 50, after five tasks each: the copy is to end at minute 60,
 * with all windows, and has a minute left then, the other one 59. */
TEST(a_copy_goes_on_where_nothing_is_known_of_the_other)
{
    begin(BATS_TAIL_SOONEST, 11, 3);
    for (int i = 1; i <= 4; i++)
        steps("%d0m done 0: run 0; %d0m done 2: run 2", i, i);
    steps("50m done 0: copy 0; 50m done 2:;"
          "60m tick: cancel 1, charge 0, park 1, park 2");
}

/* As with the task that is stuck, but tasks take a minute, and monitoring is
 * every 5 minutes: at minute 5 the last one has been running for twice as long as any other, but for 4
 * minutes only. */
TEST(nothing_is_stuck_within_an_interval)
{
    begin(BATS_TAIL_SOONEST, 3, 3);
    steps("0 lost 1; 1m done 0: run 0; 1m done 2:; 301s tick:;"
          "601s tick: copy 2");
}

/*
 * A sample of seven tasks says that the slow machine takes 10, 20 .. 70
 * minutes for them and the fast one 5 minutes + a tenth of that, 6 .. 12. Then
 * the fast machine has a task of 12 minutes to end, while the slow one is at
 * its own; the others of the sample are left out. That is one of 70 minutes on
 * the slow machine, if it is longer than it has run already, and 12 on the
 * fast one: at minute 57, 13 are left, at 59 only 11. (By the ratio of the
 * means, 40 : 9, it would at minute 59 be beyond 12, take 22 and have 40
 * left.)
 */
TEST(regression_converts_runtimes)
{
    for (int minute = 57; minute <= 59; minute += 2) {
        struct bats_observation sample[14];
        uint8_t earlier[9] = {0};
        for (uint32_t i = 0; i < 7; i++) {
            int x = 10 * ((int)i + 1);
            sample[2 * i] = (struct bats_observation){i, 0, MINUTES(x)};
            sample[2 * i + 1] =
                (struct bats_observation){i, 1, MINUTES(5) + MINUTES(x) / 10};
            earlier[i] = BATS_TASK_DONE;
        }
        *p = (struct play){.clusters = {{.name = "slow", .max = 1},
                                        {.name = "fast", .max = 1}},
                           .machines = {{0, 1}, {1, 1}},
                           .o = {.policy = &bats_policy_bats,
                                 .n_tasks = 9,
                                 .n_clusters = 2,
                                 .n_machines = 2,
                                 .window = 10 * BATS_HOUR,
                                 .budget = BATS_UNLIMITED,
                                 .tail = BATS_TAIL_STOCHASTIC,
                                 .earlier = {.state = earlier},
                                 .sampling = {.on = true,
                                              .observations = sample,
                                              .n_observations = 14}}};
        join();
        tell(0, (struct bats_event){.type = BATS_EVENT_CHOSEN,
                                    .choice = {.offer = BATS_OFFER_FASTEST}});
        done(MINUTES(minute), FAST, MINUTES(12));
        assert_int_equal(p->runs[FAST],
                         minute == 57 ? p->runs[SLOW] : BATS_NO_TASK);
    }
}

TEST(strategies_have_names)
{
    static const char *const names[] = {
        [BATS_TAIL_NONE] = "none",
        [BATS_TAIL_RANDOM] = "random",
        [BATS_TAIL_STOCHASTIC] = "stochastic",
        [BATS_TAIL_STOCHASTIC_RANDOM] = "stochastic-random",
        [BATS_TAIL_MIGRATE] = "migrate",
        [BATS_TAIL_PERFECT] = "perfect",
        [BATS_TAIL_SOONEST] = "soonest",
    };
    enum bats_tail tail;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_true(bats_tail_find(names[i], &tail));
        assert_int_equal(tail, i);
        assert_string_equal(bats_tail_name(tail), names[i]);
    }
    assert_false(bats_tail_find("", &tail));
    assert_false(bats_tail_find("stochastic-", &tail));
}

TEST_MAIN(NULL, NULL)
