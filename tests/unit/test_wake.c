/* wake, clock, signals: what ends the sleep of a rank; batch: what a worker
 * sends when. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "helpers/test.h"
#include "run/clock.h"
#include "run/launcher.h"

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

/* At half of the tasks, so that the answer takes its while in the other half;
 * after a while; and without an answer no second time. */
TEST(results_are_sent_when_half_of_the_tasks_have_ended_or_after_a_while)
{
    static const struct {
        size_t n, waiting;
        bool answered;
        int64_t now_us, left_us;
    } rows[] = {{3, 4, true, 1000, BATS_BATCH_US},
                {3, 3, true, 1000, 0},
                {3, 0, true, 1000, 0},
                {1, 9, false, 1000, BATS_BATCH_US},
                {1, 9, false, BATS_BATCH_US, 1000},
                {1, 9, false, BATS_BATCH_US + 1000, 0},
                {1, 9, false, 10 * BATS_BATCH_US, 0},
                {3, 1, false, 1000, BATS_BATCH_US},
                {3, 0, false, 1000, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct bats_batch batch = {rows[i].n, 1000, rows[i].answered};
        assert_int_equal(
            bats_batch_left_us(&batch, rows[i].waiting, rows[i].now_us),
            rows[i].left_us);
    }
}

TEST_MAIN(NULL, NULL)
