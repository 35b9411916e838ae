/* The choice of a task to replicate, in cases calculated by hand; and the
 * histogram behind it. */
#include "helpers/play_fixture.h"

#include <gsl/gsl_rng.h>

#include "bats/bag.h"
#include "estimate/histogram.h"

/* ---- histogram ---- */

static void histogram_agrees_with_a_list(void **state)
{
    (void)state;
    struct bats_histogram h = {0};
    gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
    static bats_time list[2000];
    double n, sum;
    bats_histogram_above(&h, 0, &n, &sum);
    assert_true(n == 0 && sum == 0);
    for (int i = 0; i < 2000; i++) {
        list[i] = (bats_time)gsl_rng_uniform_int(rng, 4000000) *
                  (i % 10 == 0 ? 1000 : 1);
        assert_true(bats_histogram_add(&h, list[i]));
        if (i % 7 != 0)
            continue;
        /* A class is 1/32 of its place wide: that much the limit may be off,
         * and the sum is that of whole numbers. */
        double limit = (double)gsl_rng_uniform_int(rng, 4100000);
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
    gsl_rng_free(rng);
}

static void histogram_tells_longer_from_equal(void **state)
{
    (void)state;
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

static bats_time truth[32]; /* by task, on the slow machines */

static void done(struct play *p, bats_time now, uint32_t machine,
                 bats_time runtime)
{
    end(p, now, machine, BATS_EVENT_DONE, runtime);
}

static bats_time true_runtime(const void *context, uint32_t task,
                              uint32_t cluster)
{
    (void)context;
    return truth[task] / (cluster + 1);
}

static void begin(struct play *p, enum bats_tail tail, uint32_t n_tasks,
                  uint32_t n_machines)
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
    join(p);
}

/*
 * Five tasks are done at minute 21. In slow minutes they have taken 20, 60, 20
 * and, on the fast one, twice 10, 30. The early slow machine runs its task
 * since minute 1, the other one, if there is a task for it, since minute 21.
 */
static void begin_late(struct play *p, enum bats_tail tail, uint32_t n_tasks,
                       uint32_t early)
{
    uint32_t late = early == SLOW ? ALSO_SLOW : SLOW;
    begin(p, tail, n_tasks, 3);
    done(p, MINUTES(1), late, MINUTES(20));
    done(p, MINUTES(1), early, MINUTES(60));
    done(p, MINUTES(1), FAST, MINUTES(10));
    done(p, MINUTES(2), FAST, MINUTES(30));
    done(p, MINUTES(21), late, MINUTES(20));
}

/* At minute `then` the fast machine has nothing to do, after twice 10. The slow
 * ones run the last two tasks, the early one and the late one. Tasks have taken
 * 20 four times and 60 twice, mean 33.3. */
static void wait_until(struct play *p, enum bats_tail tail, uint32_t early,
                       int then)
{
    begin_late(p, tail, 8, early);
    assert_int_equal(p->replicas[SLOW] + p->replicas[FAST], 0);
    done(p, MINUTES(then), FAST, MINUTES(10));
}

/* Minute 26. Early: 60 in all, 35 left, 30 on the fast one. Late: 33.3 in all,
 * 28.3 left, 16.7 on the fast one. */
static void task_with_most_left_is_copied(void **state)
{
    (void)state;
    static const enum bats_tail tails[] = {
        BATS_TAIL_STOCHASTIC, BATS_TAIL_STOCHASTIC_RANDOM, BATS_TAIL_MIGRATE};
    for (int i = 0; i < 3; i++) {
        for (uint32_t early = SLOW; early <= ALSO_SLOW; early += ALSO_SLOW) {
            struct play p;
            wait_until(&p, tails[i], early, 26);
            assert_int_equal(p.runs[FAST], p.runs[early]);
            assert_int_equal(p.replicas[FAST], 1);
            bats_sched_destroy(p.s);
        }
    }
}

/* Minute 32. Early: 29 left, 30 on the fast one. Late: 22.3 left, 16.7. */
static void task_that_would_end_later_is_not(void **state)
{
    (void)state;
    struct play p;
    wait_until(&p, BATS_TAIL_STOCHASTIC, ALSO_SLOW, 32);
    assert_int_equal(p.runs[FAST], p.runs[SLOW]);
    bats_sched_destroy(p.s);
}

/* The same without the late one. */
static void only_random_copies_without_hope(void **state)
{
    (void)state;
    static const enum bats_tail tails[] = {
        BATS_TAIL_NONE, BATS_TAIL_STOCHASTIC, BATS_TAIL_RANDOM,
        BATS_TAIL_STOCHASTIC_RANDOM, BATS_TAIL_SOONEST};
    for (int i = 0; i < 5; i++) {
        struct play p;
        begin_late(&p, tails[i], 7, ALSO_SLOW);
        assert_int_equal(p.runs[SLOW], BATS_NO_TASK); /* it is no faster */
        done(&p, MINUTES(32), FAST, MINUTES(10));
        assert_int_equal(p.runs[FAST],
                         i < 2 ? BATS_NO_TASK : p.runs[ALSO_SLOW]);
        bats_sched_destroy(p.s);
    }
}

/* Minute 20: 33.3 in all, 14.3 left, 16.7 on the fast one. Minute 22: it has
 * taken longer than 20, so it will be 60: 39 left, and 30. */
static void idle_machine_is_asked_again(void **state)
{
    (void)state;
    struct play p;
    begin(&p, BATS_TAIL_STOCHASTIC, 7, 3);
    done(&p, MINUTES(1), SLOW, MINUTES(20));
    done(&p, MINUTES(1), ALSO_SLOW, MINUTES(60));
    done(&p, MINUTES(1), FAST, MINUTES(10));
    done(&p, MINUTES(2), FAST, MINUTES(30));
    done(&p, MINUTES(3), SLOW, MINUTES(20));
    done(&p, MINUTES(20), FAST, MINUTES(10));
    assert_int_equal(p.runs[FAST], BATS_NO_TASK);
    tell(&p, MINUTES(22), (struct bats_event){.type = BATS_EVENT_TICK});
    assert_int_equal(p.runs[FAST], p.runs[ALSO_SLOW]);
    bats_sched_destroy(p.s);
}

/* A third cluster, three times as fast as the slow one, has taken 20, 60, 20
 * as well. Early: a copy of it runs on the fast one since minute 26. Minute 35:
 * 26 left, but 21 there, and 20 on the fastest; late: 19.3 left, 11.1 there.
 * Minute 36: 25, 20, and still 20; late: 18.3, 11.1. */
static void copies_count_with_the_one_that_ends_first(void **state)
{
    (void)state;
    for (int minute = 35; minute <= 36; minute++) {
        struct play p;
        begin(&p, BATS_TAIL_STOCHASTIC, 11, 4);
        done(&p, MINUTES(1), SLOW, MINUTES(20));
        done(&p, MINUTES(1), ALSO_SLOW, MINUTES(60));
        done(&p, MINUTES(1), FAST, MINUTES(10));
        done(&p, MINUTES(1), FASTEST, MINUTES(20) / 3);
        done(&p, MINUTES(2), FAST, MINUTES(30));
        done(&p, MINUTES(2), FASTEST, MINUTES(20));
        done(&p, MINUTES(21), SLOW, MINUTES(20));
        done(&p, MINUTES(26), FAST, MINUTES(10));
        assert_int_equal(p.runs[FAST], p.runs[ALSO_SLOW]);
        done(&p, MINUTES(minute), FASTEST, MINUTES(20) / 3);
        assert_int_equal(p.runs[FASTEST],
                         p.runs[minute == 35 ? ALSO_SLOW : SLOW]);
        bats_sched_destroy(p.s);
    }
}

/* The late one is known to take 100 minutes, 95 left, and the early one 31. */
static void perfect_knows_better(void **state)
{
    (void)state;
    struct play p;
    begin_late(&p, BATS_TAIL_PERFECT, 8, ALSO_SLOW);
    truth[p.runs[ALSO_SLOW]] = MINUTES(31);
    truth[p.runs[SLOW]] = MINUTES(60);
    done(&p, MINUTES(26), FAST, MINUTES(10));
    assert_int_equal(p.runs[FAST], p.runs[SLOW]);
    bats_sched_destroy(p.s);

    /* 50 minutes on the fast one do not fit its window. */
    begin_late(&p, BATS_TAIL_PERFECT, 8, ALSO_SLOW);
    truth[p.runs[ALSO_SLOW]] = MINUTES(60);
    truth[p.runs[SLOW]] = MINUTES(100);
    done(&p, MINUTES(26), FAST, MINUTES(10));
    assert_int_equal(p.runs[FAST], p.runs[ALSO_SLOW]);
    bats_sched_destroy(p.s);

    struct bats_error err;
    p.o.true_runtime = NULL;
    assert_int_equal(bats_sched_create(&p.o, &p.s, &err), BATS_EINPUT);
}

/* Minute 26, as above, but a task is left in the bag. The fast machine takes
 * over the early one, whose machine gets that task. */
static void migrate_takes_a_task_over(void **state)
{
    (void)state;
    struct play p;
    begin_late(&p, BATS_TAIL_MIGRATE, 9, ALSO_SLOW);
    uint32_t early = p.runs[ALSO_SLOW];
    done(&p, MINUTES(26), FAST, MINUTES(10));
    assert_int_equal(p.runs[FAST], early);
    assert_int_equal(p.cancels[ALSO_SLOW], 1);
    assert_int_equal(p.cancels[FAST], 0);
    end(&p, MINUTES(26), ALSO_SLOW, BATS_EVENT_PREEMPTED, 0);
    assert_int_not_equal(p.runs[ALSO_SLOW], BATS_NO_TASK);
    assert_int_not_equal(p.runs[ALSO_SLOW], early);
    assert_int_equal(p.replicas[ALSO_SLOW], 0);
    bats_sched_destroy(p.s);
}

/* Minute 26: early will be 60 in all, so 35 are left, and 30 on the fast one;
 * late has 15 left (chance 2/3) or 55, 10 or 30 on the fast one. With a copy of
 * early the bag is over in 30 or 55 minutes, 38.3 in the mean; with one of late
 * in 35. */
static void soonest_copies_what_may_take_longest(void **state)
{
    (void)state;
    for (uint32_t early = SLOW; early <= ALSO_SLOW; early += ALSO_SLOW) {
        struct play p;
        wait_until(&p, BATS_TAIL_SOONEST, early, 26);
        assert_int_equal(p.runs[FAST],
                         p.runs[early == SLOW ? ALSO_SLOW : SLOW]);
        assert_int_equal(p.replicas[FAST], 1);
        bats_sched_destroy(p.s);
    }
}

static const enum bats_tail tails[] = {
    BATS_TAIL_SOONEST, BATS_TAIL_STOCHASTIC, BATS_TAIL_STOCHASTIC_RANDOM};

/* The fast machine is lost. On the slow ones two tasks have taken 10 minutes; a
 * third one runs since minute 10. */
static void soonest_copies_a_task_that_is_stuck(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct play p;
        begin(&p, tails[i], 3, 3);
        lose(&p, 0, FAST);
        done(&p, MINUTES(10), SLOW, MINUTES(10));
        done(&p, MINUTES(10), ALSO_SLOW, MINUTES(10));
        tell(&p, MINUTES(29), (struct bats_event){.type = BATS_EVENT_TICK});
        assert_int_equal(p.replicas[ALSO_SLOW], 0);
        tell(&p, MINUTES(31), (struct bats_event){.type = BATS_EVENT_TICK});
        assert_int_equal(p.replicas[ALSO_SLOW], i == 0);
        bats_sched_destroy(p.s);
    }
}

/* Two tasks have taken 10 minutes on the slow machines. A third one runs on the
 * fast machine, where nothing has ended: it is expected to take as long again as
 * it has. */
static void soonest_copies_from_where_nothing_has_ended(void **state)
{
    (void)state;
    for (int i = 0; i < 3; i++) {
        struct play p;
        begin(&p, tails[i], 3, 3);
        done(&p, MINUTES(9), SLOW, MINUTES(10));
        done(&p, MINUTES(9), ALSO_SLOW, MINUTES(10));
        assert_int_equal(p.replicas[SLOW] + p.replicas[ALSO_SLOW], 0);
        tell(&p, MINUTES(15), (struct bats_event){.type = BATS_EVENT_TICK});
        assert_int_equal(p.replicas[SLOW] + p.replicas[ALSO_SLOW], i == 0);
        bats_sched_destroy(p.s);
    }
}

/* The same at minute 50, after five tasks each: the copy is to end at minute 60,
 * with all windows, and has a minute left then, the other one 59. */
static void a_copy_goes_on_where_nothing_is_known_of_the_other(void **state)
{
    (void)state;
    struct play p;
    begin(&p, BATS_TAIL_SOONEST, 11, 3);
    for (int i = 1; i <= 5; i++) {
        done(&p, MINUTES(10 * i), SLOW, MINUTES(10));
        done(&p, MINUTES(10 * i), ALSO_SLOW, MINUTES(10));
    }
    assert_int_equal(p.replicas[SLOW] + p.replicas[ALSO_SLOW], 1);
    assert_int_equal(p.cancels[FAST], 0);
    tell(&p, MINUTES(60), (struct bats_event){.type = BATS_EVENT_TICK});
    assert_int_equal(p.cancels[FAST], 1);
    assert_int_equal(p.cancels[SLOW] + p.cancels[ALSO_SLOW], 0);
    bats_sched_destroy(p.s);
}

/* As with the task that is stuck, but tasks take a minute, and monitoring is
 * every 5 minutes: at minute 5 the last one has been running for twice as long as any other, but for 4
 * minutes only. */
static void nothing_is_stuck_within_an_interval(void **state)
{
    (void)state;
    struct play p;
    begin(&p, BATS_TAIL_SOONEST, 3, 3);
    lose(&p, 0, FAST);
    done(&p, MINUTES(1), SLOW, MINUTES(1));
    done(&p, MINUTES(1), ALSO_SLOW, MINUTES(1));
    tell(&p, MINUTES(5) + 1, (struct bats_event){.type = BATS_EVENT_TICK});
    assert_int_equal(p.replicas[ALSO_SLOW], 0);
    tell(&p, MINUTES(10) + 1, (struct bats_event){.type = BATS_EVENT_TICK});
    assert_int_equal(p.replicas[ALSO_SLOW], 1);
    bats_sched_destroy(p.s);
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
static void regression_converts_runtimes(void **state)
{
    (void)state;
    for (int minute = 57; minute <= 59; minute += 2) {
        struct play p = {.clusters = {{.name = "slow", .max = 1},
                                      {.name = "fast", .max = 1}},
                         .machines = {{0, 1}, {1, 1}},
                         .runs = {BATS_NO_TASK, BATS_NO_TASK}};
        struct bats_observation sample[14];
        uint8_t earlier[9] = {0};
        struct bats_error err;
        for (uint32_t i = 0; i < 7; i++) {
            int x = 10 * ((int)i + 1);
            sample[2 * i] = (struct bats_observation){i, 0, MINUTES(x)};
            sample[2 * i + 1] =
                (struct bats_observation){i, 1, MINUTES(5) + MINUTES(x) / 10};
            earlier[i] = BATS_TASK_DONE;
        }
        p.o = (struct bats_sched_options){.policy = &bats_policy_bats,
                                          .n_tasks = 9,
                                          .clusters = p.clusters,
                                          .n_clusters = 2,
                                          .machines = p.machines,
                                          .n_machines = 2,
                                          .window = 10 * BATS_HOUR,
                                          .budget = BATS_UNLIMITED,
                                          .tail = BATS_TAIL_STOCHASTIC,
                                          .earlier = {.state = earlier},
                                          .sampling = {.on = true,
                                                       .observations = sample,
                                                       .n_observations = 14}};
        assert_int_equal(bats_sched_create(&p.o, &p.s, &err), 0);
        for (uint32_t i = 0; i < 2; i++)
            tell(&p, 0,
                 (struct bats_event){.type = BATS_EVENT_JOINED, .machine = i});
        tell(&p, 0,
             (struct bats_event){.type = BATS_EVENT_CHOSEN,
                                 .choice = {.offer = BATS_OFFER_FASTEST}});
        done(&p, MINUTES(minute), FAST, MINUTES(12));
        assert_int_equal(p.runs[FAST],
                         minute == 57 ? p.runs[SLOW] : BATS_NO_TASK);
        bats_sched_destroy(p.s);
    }
}

static void strategies_have_names(void **state)
{
    (void)state;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(histogram_agrees_with_a_list),
        cmocka_unit_test(histogram_tells_longer_from_equal),
        cmocka_unit_test(task_with_most_left_is_copied),
        cmocka_unit_test(task_that_would_end_later_is_not),
        cmocka_unit_test(only_random_copies_without_hope),
        cmocka_unit_test(idle_machine_is_asked_again),
        cmocka_unit_test(copies_count_with_the_one_that_ends_first),
        cmocka_unit_test(perfect_knows_better),
        cmocka_unit_test(migrate_takes_a_task_over),
        cmocka_unit_test(soonest_copies_what_may_take_longest),
        cmocka_unit_test(soonest_copies_a_task_that_is_stuck),
        cmocka_unit_test(soonest_copies_from_where_nothing_has_ended),
        cmocka_unit_test(a_copy_goes_on_where_nothing_is_known_of_the_other),
        cmocka_unit_test(nothing_is_stuck_within_an_interval),
        cmocka_unit_test(regression_converts_runtimes),
        cmocka_unit_test(strategies_have_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
