/* wake, clock, signals: what ends the sleep of a rank; batch: what a worker
 * sends when. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "run/batch.h"
#include "run/clock.h"
#include "run/signals.h"

#define LONG_US 60000000
#define SHORT_US 1000

static void a_signal_before_the_sleep_ends_it(void **state)
{
    (void)state;
    bats_signals_catch();
    assert_false(bats_clock_sleep(SHORT_US));
    tgkill(getpid(), getpid(), BATS_WAKE_SIGNAL);
    assert_true(bats_clock_sleep(LONG_US));
    assert_false(bats_clock_sleep(SHORT_US)); /* one sleep, no more */
    bats_signals_restore();
}

static void a_signal_from_elsewhere_ends_a_sleep(void **state)
{
    (void)state;
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
static void it_is_ignored_by_default(void **state)
{
    (void)state;
    bats_signals_catch();
    bats_signals_restore();
    assert_int_equal(kill(getpid(), BATS_WAKE_SIGNAL), 0);
    assert_false(bats_clock_sleep(SHORT_US));
}

/* Else it would take the core from those it waits for. */
static void who_is_told_of_messages_does_not_look(void **state)
{
    (void)state;
    struct bats_quiet quiet = {.woken = true};
    bats_quiet_ended(&quiet, false);
    assert_int_equal(bats_quiet_sleep_us(&quiet, false, LONG_US), LONG_US);
    /* MPI moves what is unsent only while somebody looks. */
    assert_true(bats_quiet_sleep_us(&quiet, true, LONG_US) < LONG_US);
    quiet.woken = false;
    assert_true(bats_quiet_sleep_us(&quiet, false, LONG_US) < LONG_US);
}

/* A network may deliver it after the signal. */
static void a_signal_is_followed_by_looks_for_its_message(void **state)
{
    (void)state;
    struct bats_quiet quiet = {.woken = true};
    bats_quiet_ended(&quiet, true);
    assert_true(bats_quiet_sleep_us(&quiet, false, LONG_US) < LONG_US);
    quiet.since_us -= BATS_CLOCK_LATE_US;
    assert_int_equal(bats_quiet_sleep_us(&quiet, false, LONG_US), LONG_US);
}

/* The answer takes a while, in which the rest is executed. */
static void results_are_sent_when_half_of_the_tasks_have_ended(void **state)
{
    (void)state;
    struct bats_batch batch = {.n = 3, .sent_us = 1000, .answered = true};
    assert_int_equal(bats_batch_left_us(&batch, 4, 1000), BATS_BATCH_US);
    assert_int_equal(bats_batch_left_us(&batch, 3, 1000), 0);
    assert_int_equal(bats_batch_left_us(&batch, 0, 1000), 0);
}

static void results_are_sent_after_a_while(void **state)
{
    (void)state;
    struct bats_batch batch = {.n = 1, .sent_us = 1000};
    assert_int_equal(bats_batch_left_us(&batch, 9, 1000), BATS_BATCH_US);
    assert_int_equal(bats_batch_left_us(&batch, 9, BATS_BATCH_US), 1000);
    assert_int_equal(bats_batch_left_us(&batch, 9, BATS_BATCH_US + 1000), 0);
    assert_int_equal(bats_batch_left_us(&batch, 9, 10 * BATS_BATCH_US), 0);
}

/* Else a busy master would be sent the last ones one by one. */
static void without_an_answer_half_is_not_told_again(void **state)
{
    (void)state;
    struct bats_batch batch = {.n = 3, .sent_us = 1000};
    assert_int_equal(bats_batch_left_us(&batch, 1, 1000), BATS_BATCH_US);
    assert_int_equal(bats_batch_left_us(&batch, 0, 1000), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_signal_before_the_sleep_ends_it),
        cmocka_unit_test(a_signal_from_elsewhere_ends_a_sleep),
        cmocka_unit_test(it_is_ignored_by_default),
        cmocka_unit_test(who_is_told_of_messages_does_not_look),
        cmocka_unit_test(a_signal_is_followed_by_looks_for_its_message),
        cmocka_unit_test(results_are_sent_when_half_of_the_tasks_have_ended),
        cmocka_unit_test(results_are_sent_after_a_while),
        cmocka_unit_test(without_an_answer_half_is_not_told_again),
    };

    return cmocka_run_group_tests_name("wake", tests, NULL, NULL);
}
