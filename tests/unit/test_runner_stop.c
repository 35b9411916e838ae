/* A task is stopped, and none of its processes stays behind. */
#include "helpers/runner_fixture.h"

#include <sys/prctl.h>

/* Shell: works for ever, in steps that end soon after a signal. */
#define FOREVER "while :; do sleep 0.01; done"

static void cancel_lets_a_task_end_in_its_way(void **state)
{
    struct fixture *f = *state;
    start(f, "trap 'echo bye; exit 3' TERM; echo ready; " FOREVER);
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    struct bats_runner_result r = finish(f);
    assert_true(r.cancelled);
    assert_int_equal(r.usage.exit_status, 3);
    assert_int_equal(r.usage.signal, 0);
    assert_string_equal(output(f, 1), "ready\nbye\n");
}

static void cancel_kills_after_the_grace_time(void **state)
{
    struct fixture *f = *state;
    replace_runner(f, (struct bats_runner_options){.grace_ms = 50});
    start(f, "trap '' TERM; echo ready; " FOREVER);
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    bats_runner_cancel(f->runner); /* once more changes nothing */
    struct bats_runner_result r = finish(f);
    assert_true(r.cancelled);
    assert_int_equal(r.usage.signal, SIGKILL);
    assert_true(r.usage.wall_us >= 50000);
    assert_string_equal(output(f, 1), "ready\n");
}

static void grace_time_is_for_all_of_the_group(void **state)
{
    struct fixture *f = *state;
    start(f, "sh -c 'trap \"echo saved; exit\" TERM; echo ready; " FOREVER
             "'; echo never");
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    assert_int_equal(finish(f).usage.signal, SIGTERM); /* of the outer shell */
    assert_string_equal(output(f, 1), "ready\nsaved\n");
}

static void a_child_that_ignores_term_is_killed(void **state)
{
    struct fixture *f = *state;
    replace_runner(f, (struct bats_runner_options){.grace_ms = 50});
    start(f, "sh -c 'trap \"\" TERM; echo $$; sleep 1000; " FOREVER "'; :");
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    assert_int_equal(finish(f).usage.signal, SIGTERM);
    assert_true(is_gone(output(f, 1)));
}

static void a_stopped_task_can_be_cancelled(void **state)
{
    struct fixture *f = *state;
    start(f, "trap 'exit 3' TERM; echo $$; kill -STOP $$; " FOREVER);
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    assert_int_equal(finish(f).usage.exit_status, 3);
}

static void a_slowed_task_can_be_cancelled(void **state)
{
    struct fixture *f = *state;
    replace_runner(
        f, (struct bats_runner_options){.grace_ms = 3600000, .speed = 0.02});
    start(f, "trap 'exit 3' TERM; echo $$; " FOREVER);
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    assert_int_equal(finish(f).usage.exit_status, 3);
}

static void kill_is_at_once(void **state)
{
    struct fixture *f = *state;
    start(f, "trap '' TERM; echo ready; " FOREVER);
    wait_for_line(f);
    bats_runner_kill(f->runner);
    struct bats_runner_result r = finish(f);
    assert_true(r.cancelled);
    assert_int_equal(r.usage.signal, SIGKILL);
}

static void kill_cuts_the_grace_time_short(void **state)
{
    struct fixture *f = *state;
    start(f, "trap '' TERM; echo ready; " FOREVER);
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    bats_runner_kill(f->runner);
    assert_int_equal(finish(f).usage.signal, SIGKILL);

    /* the same when only a descendant is left that uses its grace time */
    start(f, "sh -c 'trap \"\" TERM; echo $$; " FOREVER "'; :");
    wait_for_line(f);
    bats_runner_cancel(f->runner);
    struct bats_runner_result r;
    for (int i = 0; i < 50; i++)
        assert_int_equal(bats_runner_poll(f->runner, 1000, &r, NULL), 0);
    bats_runner_kill(f->runner);
    assert_int_equal(finish(f).usage.signal, SIGTERM);
    assert_true(is_gone(output(f, 1)));
}

static void a_task_that_ended_by_itself_is_not_cancelled(void **state)
{
    struct fixture *f = *state;
    siginfo_t info;
    start(f, "exit 4");
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    bats_runner_cancel(f->runner);
    struct bats_runner_result r = finish(f);
    assert_false(r.cancelled);
    assert_int_equal(r.usage.exit_status, 4);
}

static void a_built_in_sleep_is_cancelled_at_once(void **state)
{
    struct fixture *f = *state;
    struct bats_runner_task task = {.task = 6, .sleep_us = AN_HOUR};
    assert_int_equal(bats_runner_start(f->runner, &task, NULL), 0);
    bats_runner_cancel(f->runner);
    struct bats_runner_result r = finish(f);
    assert_true(r.cancelled);
    assert_int_equal(r.usage.signal, SIGTERM);
    assert_true(r.usage.wall_us < AN_HOUR);
}

static void cancel_without_a_task_does_nothing(void **state)
{
    struct fixture *f = *state;
    bats_runner_cancel(f->runner);
    bats_runner_kill(f->runner);
    assert_false(run(f, "true").cancelled);
}

static void a_background_child_ends_with_the_task(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run(f, "sleep 1000 & echo $!; exit 3").usage.exit_status,
                     3);
    assert_true(is_gone(output(f, 1)));
}

/* Writes its process id to `escaped` when it has left the group. */
#define ESCAPE                                                                \
    "setsid sh -c 'trap \"\" TERM; echo $$ >tmp; mv tmp escaped; sleep 1000;" \
    " :' & until test -s escaped; do :; done; cat escaped; "

static void a_daemon_ends_with_the_task(void **state)
{
    struct fixture *f = *state;
    assert_int_equal(run(f, ESCAPE "exit 3").usage.exit_status, 3);
    assert_true(is_gone(output(f, 1)));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nor its child */
    assert_int_equal(errno, ECHILD);
}

static void destroy_leaves_nothing_behind(void **state)
{
    struct fixture *f = *state;
    start(f, ESCAPE FOREVER);
    wait_for_line(f);
    bats_runner_destroy(f->runner);
    f->runner = NULL;
    assert_true(is_gone(output(f, 1)));
    assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    assert_int_equal(errno, ECHILD);
}

static void children_from_before_are_left_alone(void **state)
{
    struct fixture *f = *state;
    bats_runner_destroy(f->runner);
    pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    create_runner(f, (struct bats_runner_options){.grace_ms = 1});
    run(f, ESCAPE);
    assert_true(is_gone(output(f, 1)));
    bats_runner_destroy(f->runner);
    f->runner = NULL;
    assert_int_equal(waitpid(other, NULL, WNOHANG), 0); /* it lives */
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
}

static void a_killed_runner_leaves_no_group_behind(void **state)
{
    struct fixture *f = *state;
    bats_runner_destroy(f->runner);
    f->runner = NULL;
    /* Orphaned descendants become children of this process. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t victim = fork();
    if (victim == 0) {
        create_runner(f, (struct bats_runner_options){.grace_ms = 1});
        start(f, "trap '' TERM; sh -c 'echo $$; sleep 1000'; sleep 1000");
        wait_for_line(f);
        if (write(ready[1], "x", 1) == 1)
            finish(f);
        _exit(1);
    }
    char byte;
    assert_int_equal(read(ready[0], &byte, 1), 1);
    kill(victim, SIGKILL);
    /* The victim, its guard and the shell end here; so do the shell below and
     * the sleep, unless their parent, itself about to die, still waited for
     * them. This loop ends when none is left. */
    int killed = 0, exited = 0, status;
    while (waitpid(-1, &status, __WALL) > 0) {
        killed += WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
        exited += WIFEXITED(status) && WEXITSTATUS(status) == 0;
    }
    assert_int_equal(errno, ECHILD);
    assert_in_range(killed, 2, 4);
    assert_int_equal(exited, 1);
    close(ready[0]);
    close(ready[1]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(cancel_lets_a_task_end_in_its_way),
        TEST(cancel_kills_after_the_grace_time),
        TEST(grace_time_is_for_all_of_the_group),
        TEST(a_child_that_ignores_term_is_killed),
        TEST(a_stopped_task_can_be_cancelled),
        TEST(a_slowed_task_can_be_cancelled),
        TEST(kill_is_at_once),
        TEST(kill_cuts_the_grace_time_short),
        TEST(a_task_that_ended_by_itself_is_not_cancelled),
        TEST(a_built_in_sleep_is_cancelled_at_once),
        TEST(cancel_without_a_task_does_nothing),
        TEST(a_background_child_ends_with_the_task),
        TEST(a_daemon_ends_with_the_task),
        TEST(destroy_leaves_nothing_behind),
        TEST(children_from_before_are_left_alone),
        TEST(a_killed_runner_leaves_no_group_behind),
    };
    alarm(300); /* what is not killed as it should be is waited for */
    return cmocka_run_group_tests_name("runner_stop", tests, NULL, NULL);
}
