/* Output that the runner keeps: in its own file, in the task's, nowhere. */
#include <sys/resource.h>

#include "exec/output/outfile.h"
#include "helpers/runner_fixture.h"

static void use(enum bats_output output)
{
    replace_runner(
        (struct bats_runner_options){.output = output,
                                     .results_dir = "results",
                                     .stream_prefix = "deep/stream-r-1",
                                     .grace_ms = 3600000});
}

static bool collect(void *context, const char *bytes, size_t n)
{
    char *text = context;
    size_t used = strlen(text);
    assert_true(used + n < 1000);
    memcpy(text + used, bytes, n);
    text[used + n] = '\0';
    return true;
}

/* What an execution, the first in its file, has left there of a stream. */
static const char *kept(const struct bats_usage *usage, int stream)
{
    static char text[1000];
    const struct bats_outfile_place place = {"deep/stream-r-1.out", 6, 0,
                                             usage->begin, usage->end};
    text[0] = '\0';
    assert_int_equal(bats_outfile_read(&place, stream, collect, text, NULL),
                     0);
    return text;
}

static void holds(const char *name, const char *text)
{
    char bytes[1000];
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t n = fread(bytes, 1, sizeof bytes - 1, file);
    bytes[n] = '\0';
    fclose(file);
    assert_string_equal(bytes, text);
}

TEST_WITH(a_stream_file_has_the_bytes_as_they_are, set_up, tear_down)
{
    use(BATS_OUTPUT_STREAM);
    struct bats_usage usage =
        run("printf 'one\\ntwo'; printf bad >&2; exit 3").usage;
    assert_string_equal(kept(&usage, 1), "one\ntwo");
    assert_string_equal(kept(&usage, 2), "bad");
    assert_string_equal(output(1), "");
    struct bats_runner_task task = {.task = 6, .sleep_us = 1};
    assert_int_equal(bats_runner_start(f->runner, &task, NULL), 0);
    usage = finish().usage;
    assert_int_equal(usage.begin, 92);
    assert_string_equal(kept(&usage, 1), "");
}

TEST_WITH(none_drops_it, set_up, tear_down)
{
    use(BATS_OUTPUT_NONE);
    assert_int_equal(run("seq 100000; seq 9 >&2; exit 4").usage.exit_status,
                     4);
    assert_string_equal(output(1), "");
    assert_int_equal(system("test -z \"$(ls)\""), 0);
}

/* A limit on the size of files stands for a full disk. */
TEST_WITH(a_full_disk_is_an_error, set_up, tear_down)
{
    struct bats_runner_result result;
    struct rlimit old, limit;
    int rc;
    signal(SIGXFSZ, SIG_IGN);
    use(BATS_OUTPUT_STREAM);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    limit = old;
    limit.rlim_cur = 100000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
    start("head -c 1000000 /dev/zero");
    while ((rc = bats_runner_poll(f->runner, AN_HOUR, &result, &err)) == 0)
        ;
    setrlimit(RLIMIT_FSIZE, &old);
    assert_int_equal(rc, BATS_ESYS);
    assert_non_null(strstr(err.text, "File too large"));
    signal(SIGXFSZ, SIG_DFL);
}

static void run_attempt(uint32_t attempt, bool is_replica, const char *command)
{
    struct bats_runner_task task = {.task = 6,
                                    .attempt = attempt,
                                    .is_replica = is_replica,
                                    .command = command};
    assert_ok(bats_runner_start(f->runner, &task, &err));
    finish();
}

TEST_WITH(a_copy_writes_apart_until_it_is_the_result, set_up, tear_down)
{
    use(BATS_OUTPUT_RESULTS);
    run_attempt(1, false, "echo original; echo o >&2");
    run_attempt(2, true, "echo first copy");
    run_attempt(3, true, "echo second copy; echo s >&2");
    holds("results/7/stdout", "original\n");
    holds("results/7/stdout.2", "first copy\n");
    assert_ok(bats_runner_settle(f->runner, 6, 2, false, &err));
    assert_int_equal(access("results/7/stdout.2", F_OK), -1);
    assert_int_equal(access("results/7/stderr.2", F_OK), -1);
    holds("results/7/stdout", "original\n");
    assert_ok(bats_runner_settle(f->runner, 6, 3, true, &err));
    holds("results/7/stdout", "second copy\n");
    holds("results/7/stderr", "s\n");
    assert_int_equal(access("results/7/stdout.3", F_OK), -1);
    run_attempt(4, true, NULL); /* a built-in task has no files */
    assert_ok(bats_runner_settle(f->runner, 6, 4, true, &err));
    holds("results/7/stdout", "second copy\n");
}

TEST_MAIN(NULL, NULL)
