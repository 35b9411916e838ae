/* The output of a task is passed on. */
#include "helpers/runner_fixture.h"

static void lines_arrive_on_their_streams(void **state)
{
    struct fixture *f = *state;
    run(f, "echo a; echo b >&2; echo c");
    assert_string_equal(output(f, 1), "a\nc\n");
    assert_string_equal(output(f, 2), "b\n");
}

static void the_last_line_gets_its_newline(void **state)
{
    struct fixture *f = *state;
    run(f, "printf 'a\\nb'; printf c >&2");
    assert_string_equal(output(f, 1), "a\nb\n");
    assert_string_equal(output(f, 2), "c\n");
}

static void lines_arrive_whole_and_early(void **state)
{
    struct fixture *f = *state;
    start(f, "printf one; printf ' line\\ntwo'; sleep 1000; echo three");
    wait_for_line(f);
    assert_string_equal(output(f, 1), "one line\n");
    bats_runner_kill(f->runner);
    finish(f);
}

static void any_byte_may_occur(void **state)
{
    struct fixture *f = *state;
    run(f, "printf 'a\\0b\\377\\r\\n\\0'");
    assert_int_equal(f->n[1], 8);
    assert_memory_equal(f->text[1], "a\0b\377\r\n\0\n", 8);
}

static void all_bytes_of_a_large_output_arrive_in_order(void **state)
{
    struct fixture *f = *state;
    run(f, "seq 1 300000");
    const char *at = output(f, 1);
    for (long i = 1; i <= 300000; i++) {
        char *end;
        assert_int_equal(strtol(at, &end, 10), i);
        assert_int_equal(*end, '\n');
        at = end + 1;
    }
    assert_int_equal(*at, '\0');
}

static void refused_lines_are_kept_and_stop_the_task(void **state)
{
    struct fixture *f = *state;
    struct bats_runner_result r;
    start(f, "seq 1 300000");
    f->refusals = 20;
    /* It writes 2 MB; nobody takes them, so it cannot end. */
    while (f->refusals > 0) {
        assert_int_equal(bats_runner_poll(f->runner, 500, &r, NULL), 0);
        assert_int_equal(f->n[1], 0);
    }
    assert_int_equal(finish(f).usage.exit_status, 0);
    assert_int_equal(f->n[1], 1988895); /* seq 1 300000 | wc -c */
    assert_memory_equal(f->text[1], "1\n2\n3\n", 6);
    assert_string_equal(f->text[1] + f->n[1] - 7, "300000\n");
}

static void the_end_is_not_told_before_all_is_taken(void **state)
{
    struct fixture *f = *state;
    struct bats_runner_result r;
    start(f, "printf 'a\\nb'");
    f->refusals = 10;
    for (int i = 0; f->refusals > 0; i++) {
        assert_int_equal(bats_runner_poll(f->runner, 1000, &r, NULL), 0);
        assert_true(bats_runner_busy(f->runner));
    }
    finish(f);
    assert_string_equal(output(f, 1), "a\nb\n");
}

static void a_line_over_one_mebibyte_is_cut(void **state)
{
    struct fixture *f = *state;
    size_t letters = 0, cuts = 0;
    run(f, "head -c 3000000 /dev/zero | tr '\\0' x; echo; echo after");
    assert_int_equal(f->longest, 1 << 20);
    for (const char *s = output(f, 1); *s; s++) {
        letters += *s == 'x';
        cuts += *s == '\n';
    }
    assert_int_equal(letters, 3000000);
    assert_int_equal(cuts, 4); /* two cuts and two newlines of the task */
    assert_string_equal(f->text[1] + f->n[1] - 7, "\nafter\n");
}

static void a_stranger_with_the_pipe_delays_nothing(void **state)
{
    struct fixture *f = *state;
    /* This process itself holds the task's pipe open. */
    start(f, "echo $$; sleep 1000");
    wait_for_line(f);
    char path[40];
    snprintf(path, sizeof path, "/proc/%d/fd/1", atoi(output(f, 1)));
    FILE *held = fopen(path, "w");
    assert_non_null(held);
    bats_runner_kill(f->runner);
    finish(f);
    fclose(held);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(lines_arrive_on_their_streams),
        TEST(the_last_line_gets_its_newline),
        TEST(lines_arrive_whole_and_early),
        TEST(any_byte_may_occur),
        TEST(all_bytes_of_a_large_output_arrive_in_order),
        TEST(refused_lines_are_kept_and_stop_the_task),
        TEST(the_end_is_not_told_before_all_is_taken),
        TEST(a_line_over_one_mebibyte_is_cut),
        TEST(a_stranger_with_the_pipe_delays_nothing),
    };
    return cmocka_run_group_tests_name("runner_output", tests, NULL, NULL);
}
