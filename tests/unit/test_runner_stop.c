/* A task is stopped, and none of its processes stays behind. */
#include "helpers/runner_fixture.h"

#include <sys/prctl.h>

/* Shell: works for ever, in steps that end soon after a signal. */
#define FOREVER "while :; do sleep 0.01; done"

/* Tasks that are told to stop after their first line, which is either "ready"
 * or the id of a process. */
static const struct stop {
    const char *command;
    int64_t grace_ms; /* 0: longer than any test */
    double speed;     /* 0: 1 */
    int end;          /* its exit code, or the signal that ends it, negated */
    const char *out;  /* NULL: that process is gone */
    bool kill;        /* the grace time is cut short, */
    int polls;        /* after so many looks at what goes on */
} stops[] = {
    {"trap 'echo bye; exit 3' TERM; echo ready; " FOREVER, .end = 3,
     .out = "ready\nbye\n"},
    {"trap '' TERM; echo ready; " FOREVER, 50, .end = -SIGKILL,
     .out = "ready\n"},
    /* The grace time is for all of the group. */
    {"sh -c 'trap \"echo saved; exit\" TERM; echo ready; " FOREVER
     "'; echo never",
     .end = -SIGTERM, .out = "ready\nsaved\n"},
    /* Enough for the shell to end by TERM, also on a busy machine. */
    {"sh -c 'trap \"\" TERM; echo $$; sleep 1000; " FOREVER "'; :", 1000,
     .end = -SIGTERM},
    /* The line says that it stands still. */
    {"trap 'exit 3' TERM; { until grep -q '^State:.T' /proc/$$/status; do :;"
     " done; echo ready; } & kill -STOP $$; " FOREVER,
     .end = 3, .out = "ready\n"},
    {"trap 'exit 3' TERM; echo $$; " FOREVER, .speed = 0.02, .end = 3},
    {"trap '' TERM; echo ready; " FOREVER, .end = -SIGKILL, .out = "ready\n",
     .kill = true},
    /* Only a descendant is left that uses its grace time. */
    {"sh -c 'trap \"\" TERM; echo $$; " FOREVER "'; :", .end = -SIGTERM,
     .kill = true, .polls = 50},
};

static void stop(const struct stop *s)
{
    struct bats_runner_result r;
    replace_runner((struct bats_runner_options){
        .grace_ms = s->grace_ms > 0 ? s->grace_ms : 3600000,
        .speed = s->speed});
    start(s->command);
    wait_for_line();
    bats_runner_cancel(f->runner);
    bats_runner_cancel(f->runner); /* once more changes nothing */
    for (int i = 0; i < s->polls; i++)
        assert_int_equal(bats_runner_poll(f->runner, 1000, &r, NULL), 0);
    if (s->kill)
        bats_runner_kill(f->runner);
    r = finish();
    assert_true(r.cancelled);
    assert_int_equal(
        r.usage.signal > 0 ? -r.usage.signal : r.usage.exit_status, s->end);
    assert_true(s->grace_ms == 0 || r.usage.signal != SIGKILL ||
                r.usage.wall_us >= s->grace_ms * 1000);
    if (s->out != NULL)
        assert_string_equal(output(1), s->out);
    else
        assert_true(is_gone(output(1)));
}

TEST_WITH(tasks_end_in_their_way_or_after_their_grace_time, set_up, tear_down)
{
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        stop(&stops[i]);
}

TEST_WITH(a_task_that_ended_by_itself_is_not_cancelled, set_up, tear_down)
{
    siginfo_t info;
    start("exit 4");
    assert_int_equal(waitid(P_ALL, 0, &info, WEXITED | WNOWAIT), 0);
    bats_runner_cancel(f->runner);
    struct bats_runner_result r = finish();
    assert_false(r.cancelled);
    assert_int_equal(r.usage.exit_status, 4);
}

TEST_WITH(a_built_in_sleep_is_cancelled_at_once, set_up, tear_down)
{
    start_task(.sleep_us = AN_HOUR);
    bats_runner_cancel(f->runner);
    struct bats_runner_result r = finish();
    assert_true(r.cancelled);
    assert_int_equal(r.usage.signal, SIGTERM);
    assert_true(r.usage.wall_us < AN_HOUR);
}

TEST_WITH(cancel_without_a_task_does_nothing, set_up, tear_down)
{
    bats_runner_cancel(f->runner);
    bats_runner_kill(f->runner);
    assert_false(run("true").cancelled);
}

/* Writes its process id to `escaped` when it has left the group. */
#define ESCAPE                                                                \
    "setsid sh -c 'trap \"\" TERM; echo $$ >tmp; mv tmp escaped; sleep 1000;" \
    " :' & until test -s escaped; do :; done; cat escaped; "

TEST_WITH(a_daemon_ends_with_the_task, set_up, tear_down)
{
    assert_int_equal(run(ESCAPE "exit 3").usage.exit_status, 3);
    assert_true(is_gone(output(1)));
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* nor its child */
    assert_int_equal(errno, ECHILD);
}

TEST_WITH(destroy_leaves_nothing_behind, set_up, tear_down)
{
    start(ESCAPE FOREVER);
    wait_for_line();
    bats_runner_destroy(f->runner);
    f->runner = NULL;
    assert_true(is_gone(output(1)));
    assert_int_equal(waitpid(-1, NULL, WNOHANG | __WALL), -1);
    assert_int_equal(errno, ECHILD);
}

TEST_WITH(children_from_before_are_left_alone, set_up, tear_down)
{
    bats_runner_destroy(f->runner);
    pid_t other = fork();
    if (other == 0) {
        pause();
        _exit(0);
    }
    create_runner((struct bats_runner_options){.grace_ms = 1});
    run(ESCAPE);
    assert_true(is_gone(output(1)));
    bats_runner_destroy(f->runner);
    f->runner = NULL;
    assert_int_equal(waitpid(other, NULL, WNOHANG), 0); /* it lives */
    kill(other, SIGKILL);
    assert_int_equal(waitpid(other, NULL, 0), other);
}

TEST_WITH(a_killed_runner_leaves_no_group_behind, set_up, tear_down)
{
    bats_runner_destroy(f->runner);
    f->runner = NULL;
    /* Orphaned descendants become children of this process. */
    assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t victim = fork();
    if (victim == 0) {
        create_runner((struct bats_runner_options){.grace_ms = 1});
        run(ESCAPE); /* what is swept after it is not the guard */
        start("trap '' TERM; sh -c 'echo $$; sleep 1000'; sleep 1000");
        wait_for_line();
        if (write(ready[1], "x", 1) == 1)
            finish();
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

/* ---- memory ---- */

static struct bats_runner_result run_within(const char *command, int64_t mib)
{
    start_task(.command = command, .memory_kib = mib * 1024);
    return finish();
}

/* Piped bytes without a newline are kept by tail. */
#define HOLD_80_MIB "{ head -c 80M /dev/zero; sleep 1000; } | tail -n 1"

TEST_WITH(a_task_that_holds_too_much_is_killed, set_up, tear_down)
{
    struct bats_runner_result r = run_within(HOLD_80_MIB, 60);
    assert_true(r.out_of_memory && !r.cancelled);
    assert_int_equal(r.usage.exit_status, 128 + SIGKILL);
    assert_true(r.usage.max_rss_kib > 60 << 10);
    r = run_within("setsid sh -c '" HOLD_80_MIB "'; :", 60);
    assert_true(r.out_of_memory);
}

TEST_WITH(one_that_holds_less_is_not, set_up, tear_down)
{
    struct bats_runner_result r = run_within("sleep 1.2; exit 3", 60);
    assert_false(r.out_of_memory);
    assert_int_equal(r.usage.exit_status, 3);
}

static void write_count(int n)
{
    FILE *out = fopen("vmstat", "w");
    assert_non_null(out);
    fprintf(out, "nr_free_pages 7\noom_kill %d\nswap_ra 0\n", n);
    fclose(out);
}

TEST_WITH(what_the_kernel_kills_is_out_of_memory, set_up, tear_down)
{
    write_count(4);
    replace_runner((struct bats_runner_options){.vmstat = "vmstat"});
    assert_false(run_within("kill -9 $$", 0).out_of_memory);
    write_count(5);
    assert_false(run_within("exit 1", 0).out_of_memory);
    assert_true(run_within("sh -c 'kill -9 $$'; exit $?", 0).out_of_memory);
    assert_false(run_within("kill -9 $$", 0).out_of_memory);
}

int main(void)
{
    alarm(300); /* what is not killed as it should be is waited for */
    return run_cases(NULL, NULL);
}
