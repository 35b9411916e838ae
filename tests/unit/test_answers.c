/* answers: F_s and gamma of an unreliable pool, by hand. */
#include <math.h>

#include "bats/answers.h"
#include "helpers/test.h"

static struct bats_answers a; /* the last ones that were found */

static bool find(struct bats_instance *list, size_t n, bats_time now,
                 bats_time old)
{
    free(a.times);
    a.times = NULL;
    return bats_answers_find(list, n, now, old, &a);
}

/* All is known: three of four answer. */
TEST(of_an_earlier_run_all_is_known)
{
    struct bats_instance list[] = {{.sent = 30, .time = 7},
                                   {.sent = 10, .time = 5},
                                   {.sent = 0, .time = -1},
                                   {.sent = 20, .time = 9}};
    assert_true(find(list, 4, BATS_NEVER, 0));
    assert_near(a.gamma, 0.75, 1e-9);
    assert_near(a.mean, 7, 1e-9);
    assert_int_equal(a.n_times, 3);
    assert_true(a.times[0] == 5 && a.times[1] == 7 && a.times[2] == 9);
}

TEST(if_nothing_answers_nothing_is_known)
{
    struct bats_instance list[] = {{.sent = 0, .time = -1},
                                   {.sent = 1, .time = -1}};
    assert_false(find(list, 2, BATS_NEVER, 0));
    assert_null(a.times);
}

/*
 * 40 instances known, of which every second answered, half after 100 and half
 * after 300; then 20 sent 200 ago: of those that will answer, half have.
 */
static size_t two_epochs(struct bats_instance *list, int answered)
{
    size_t n = 0;
    for (int i = 0; i < 40; i++)
        list[n++] = (struct bats_instance){.sent = i,
                                           .time = i % 2   ? -1
                                                   : i % 4 ? 100
                                                           : 300};
    for (int i = 0; i < 20; i++)
        list[n++] = (struct bats_instance){.sent = 800,
                                           .time = i < answered ? 100 : -1};
    return n;
}

/* Of 20 x 1/2; at most 1, and no less than the worst set of the first epoch. */
TEST(the_second_epoch_is_known_in_part)
{
    static const struct {
        int answered;
        double gamma;
    } rows[] = {{7, 0.7}, {15, 1}, {0, 0.5}};
    for (int i = 0; i < 3; i++) {
        struct bats_instance list[60];
        size_t n = two_epochs(list, rows[i].answered);
        assert_true(find(list, n, 1000, 400));
        assert_near(a.gamma_known, 0.5, 1e-9);
        assert_near(a.gamma_partial, rows[i].gamma, 1e-9);
        if (i == 0)
            assert_near(a.mean, 200, 1e-9);
        assert_near(a.gamma, (0.5 + rows[i].gamma) / 2, 1e-9);
    }
}

/* Sent so late that no answer is due, they say nothing. */
TEST(what_is_too_new_says_nothing)
{
    struct bats_instance list[60];
    size_t n = two_epochs(list, 0);
    for (size_t i = 40; i < n; i++)
        list[i].sent = 990;
    assert_true(find(list, n, 1000, 400));
    assert_near(a.gamma_partial, 0, 1e-9);
    assert_near(a.gamma, 0.5, 1e-9);
}

/* Nothing is known for sure: 10 instances sent at 0 took 100, 10 sent at 0
 * still run at 400 or took 300, and 10 sent at 200 are 200 old: of those, 5
 * took 100. By hand: 15 of 30 at 100; then at risk at 300 are 10, of which 5:
 * 1/2 x 1/2. So gamma = 3/4, two thirds of it at 100. Without weights it were 3
 * of 4. */
TEST(times_are_weighted_for_what_still_runs)
{
    struct bats_instance list[30];
    for (int i = 0; i < 30; i++)
        list[i] = (struct bats_instance){.sent = i < 20 ? 0 : 200,
                                         .time = i < 10   ? 100
                                                 : i % 2  ? -1
                                                 : i < 20 ? 300
                                                          : 100};
    assert_true(find(list, 30, 400, 5000));
    size_t n_short = 0;
    for (size_t i = 0; i < a.n_times; i++)
        n_short += a.times[i] == 100;
    assert_int_equal(a.n_times, 20);
    assert_int_equal(n_short, 13); /* 2/3 of 20 */
    assert_true(a.times[19] == 300);
}

/*
 * Losses are noticed 5 after. By hand: two answer after 100 and one after 300;
 * one was lost at 100, one at 200, one runs since 400. Tasks: at 100 are 6, of
 * which 2 end: 1/3; at 300 are 2, one of which ends: half of 2/3; the last one
 * is taken to end now. Losses: at 100 are 6, one is lost: 1/6; at 200 are 3: a
 * third of 5/6. So 1/6 + 5/18 = 4/9 are lost in the end.
 */
TEST(where_losses_are_noticed_tasks_and_losses_have_lives)
{
    const struct bats_instance list[] = {
        {.sent = 0, .time = 100},
        {.sent = 0, .time = 100},
        {.sent = 0, .time = 300},
        {.sent = 0, .time = -1, .ended = 105, .noticed = true},
        {.sent = 0, .time = -1, .ended = 205, .noticed = true},
        {.sent = 605, .time = -1}};
    free(a.times);
    assert_true(bats_answers_noticed(list, 6, 1005, 5, &a));
    assert_near(a.gamma, 0.6, 1e-9);
    assert_near(a.loses, 4.0 / 9, 1e-9);
    assert_int_equal(a.n_lost, 2);
    assert_true(a.lost[0] == 100 && a.lost[1] == 200);
    assert_int_equal(a.n_times, 3);
    assert_true(a.times[0] == 100 && a.times[1] == 300 && a.times[2] == 400);
    free(a.lost);
}

TEST_MAIN(NULL, NULL)
