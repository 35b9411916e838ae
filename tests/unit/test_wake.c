/* wake, clock, signals: what ends the sleep of a rank; batch: what a worker
 * sends when. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers/test.h"
#include "run/batch.h"
#include "run/clock.h"
#include "run/signals.h"

#define LONG_US 60000000
#define SHORT_US 1000

TEST(a_signal_before_the_sleep_ends_it)
{
    bats_signals_catch();
    assert_false(bats_clock_sleep(SHORT_US));
    tgkill(getpid(), getpid(), BATS_WAKE_SIGNAL);
    assert_true(bats_clock_sleep(LONG_US));
    assert_false(bats_clock_sleep(SHORT_US)); /* one sleep, no more */
    bats_signals_restore();
}

TEST(a_signal_from_elsewhere_ends_a_sleep)
{
    pid_t parent = getpid();
    bats_signals_catch();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        bats_clock_sleep(SHORT_US);
        _exit(tgkill(parent, parent, BATS_WAKE_SIGNAL) != 0);
    }
    int64_t start_us = bats_clock_now_us();
    assert_true(bats_clock_sleep(LONG_US));
    assert_true(bats_clock_now_us() - start_us < LONG_US);
    bats_signals_restore();
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* Nobody else who is sent it notices. */
TEST(it_is_ignored_by_default)
{
    bats_signals_catch();
    bats_signals_restore();
    assert_int_equal(kill(getpid(), BATS_WAKE_SIGNAL), 0);
    assert_false(bats_clock_sleep(SHORT_US));
}

/* Else it would take the core from those it waits for. */
TEST(who_is_told_of_messages_does_not_look)
{
    struct bats_quiet quiet = {.woken = true};
    bats_quiet_ended(&quiet, false);
    assert_int_equal(bats_quiet_sleep_us(&quiet, false, LONG_US), LONG_US);
    /* MPI moves what is unsent only while somebody looks. */
    assert_true(bats_quiet_sleep_us(&quiet, true, LONG_US) < LONG_US);
    quiet.woken = false;
    assert_true(bats_quiet_sleep_us(&quiet, false, LONG_US) < LONG_US);
}

/* A network may deliver it after the signal. */
TEST(a_signal_is_followed_by_looks_for_its_message)
{
    struct bats_quiet quiet = {.woken = true};
    bats_quiet_ended(&quiet, true);
    assert_true(bats_quiet_sleep_us(&quiet, false, LONG_US) < LONG_US);
    quiet.since_us -= BATS_CLOCK_LATE_US;
    assert_int_equal(bats_quiet_sleep_us(&quiet, false, LONG_US), LONG_US);
}

/* The answer takes a while, in which the rest is executed. */
TEST(results_are_sent_when_half_of_the_tasks_have_ended)
{
    struct bats_batch batch = {.n = 3, .sent_us = 1000, .answered = true};
    assert_int_equal(bats_batch_left_us(&batch, 4, 1000), BATS_BATCH_US);
    assert_int_equal(bats_batch_left_us(&batch, 3, 1000), 0);
    assert_int_equal(bats_batch_left_us(&batch, 0, 1000), 0);
}

TEST(results_are_sent_after_a_while)
{
    struct bats_batch batch = {.n = 1, .sent_us = 1000};
    assert_int_equal(bats_batch_left_us(&batch, 9, 1000), BATS_BATCH_US);
    assert_int_equal(bats_batch_left_us(&batch, 9, BATS_BATCH_US), 1000);
    assert_int_equal(bats_batch_left_us(&batch, 9, BATS_BATCH_US + 1000), 0);
    assert_int_equal(bats_batch_left_us(&batch, 9, 10 * BATS_BATCH_US), 0);
}

/* Else a busy master would be sent the last ones one by one. */
TEST(without_an_answer_half_is_not_told_again)
{
    struct bats_batch batch = {.n = 3, .sent_us = 1000};
    assert_int_equal(bats_batch_left_us(&batch, 1, 1000), BATS_BATCH_US);
    assert_int_equal(bats_batch_left_us(&batch, 0, 1000), 0);
}

TEST_MAIN(NULL, NULL)
