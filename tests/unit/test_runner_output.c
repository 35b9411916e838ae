/* The output of a task is passed on. */
#include "helpers/runner_fixture.h"
#include "util/complaint.h"

TEST_WITH(lines_arrive_on_their_streams, set_up, tear_down)
{
    run("echo a; echo b >&2; echo c");
    assert_string_equal(output(1), "a\nc\n");
    assert_string_equal(output(2), "b\n");
}

TEST_WITH(the_last_line_gets_its_newline, set_up, tear_down)
{
    run("printf 'a\\nb'; printf c >&2");
    assert_string_equal(output(1), "a\nb\n");
    assert_string_equal(output(2), "c\n");
}

TEST_WITH(lines_arrive_whole_and_early, set_up, tear_down)
{
    start("printf one; printf ' line\\ntwo'; sleep 1000; echo three");
    wait_for_line();
    assert_string_equal(output(1), "one line\n");
    bats_runner_kill(f->runner);
    finish();
}

TEST_WITH(any_byte_may_occur, set_up, tear_down)
{
    run("printf 'a\\0b\\377\\r\\n\\0'");
    assert_int_equal(f->n[1], 8);
    assert_memory_equal(f->text[1], "a\0b\377\r\n\0\n", 8);
}

TEST_WITH(all_bytes_of_a_large_output_arrive_in_order, set_up, tear_down)
{
    run("seq 1 300000");
    const char *at = output(1);
    for (long i = 1; i <= 300000; i++) {
        char *end;
        assert_int_equal(strtol(at, &end, 10), i);
        assert_int_equal(*end, '\n');
        at = end + 1;
    }
    assert_int_equal(*at, '\0');
}

TEST_WITH(refused_lines_are_kept_and_stop_the_task, set_up, tear_down)
{
    struct bats_runner_result r;
    start("seq 1 300000");
    f->refusals = 20;
    /* It writes 2 MB; nobody takes them, so it cannot end. */
    while (f->refusals > 0) {
        assert_int_equal(bats_runner_poll(f->runner, 500, &r, NULL), 0);
        assert_int_equal(f->n[1], 0);
    }
    assert_int_equal(finish().usage.exit_status, 0);
    assert_int_equal(f->n[1], 1988895); /* seq 1 300000 | wc -c */
    assert_memory_equal(f->text[1], "1\n2\n3\n", 6);
    assert_string_equal(f->text[1] + f->n[1] - 7, "300000\n");
}

TEST_WITH(the_end_is_not_told_before_all_is_taken, set_up, tear_down)
{
    struct bats_runner_result r;
    start("printf 'a\\nb'");
    f->refusals = 10;
    for (int i = 0; f->refusals > 0; i++) {
        assert_int_equal(bats_runner_poll(f->runner, 1000, &r, NULL), 0);
        assert_true(bats_runner_busy(f->runner));
    }
    finish();
    assert_string_equal(output(1), "a\nb\n");
}

TEST_WITH(a_line_over_one_mebibyte_is_cut, set_up, tear_down)
{
    size_t letters = 0, cuts = 0;
    run("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after");
    assert_int_equal(f->longest, 1 << 20);
    for (const char *s = output(1); *s; s++) {
        letters += *s == 'x';
        cuts += *s == '\n';
    }
    assert_int_equal(letters, 3000000);
    assert_int_equal(cuts, 4); /* two cuts and two newlines of the task */
    assert_string_equal(f->text[1] + f->n[1] - 7, "\nafter\n");
}

TEST_WITH(a_stranger_with_the_pipe_delays_nothing, set_up, tear_down)
{
    /* This process itself holds the task's pipe open. */
    start("echo $$; sleep 1000");
    wait_for_line();
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/fd/1", atoi(output(1)));
    FILE *held = fopen(path, "w");
    assert_non_null(held);
    bats_runner_kill(f->runner);
    finish();
    fclose(held);
}

/* Numbers of six bytes; the pipe brings them in pieces of any size. */
TEST_WITH(the_last_words_of_a_task_that_fails_are_kept, set_up, tear_down)
{
    struct bats_runner_result r = run("seq 10000 12999 >&2; exit 1");
    assert_int_equal(r.n_last, BATS_COMPLAINT_BYTES);
    assert_memory_equal(r.last + r.n_last - 12, "12998\n12999\n", 12);
    assert_int_equal(strtol(r.last + 4, NULL, 10), 13000 - 4092 / 6);
    r = run("echo few >&2; exit 1");
    assert_int_equal(r.n_last, 4);
    assert_memory_equal(r.last, "few\n", 4);
    assert_int_equal(run("echo few >&2").n_last, 0);
}

TEST_MAIN(NULL, NULL)
