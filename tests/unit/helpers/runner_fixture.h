/*
 * runner_fixture: what the tests of the runner share. A runner whose output
 * is collected, in an empty directory that is the current one.
 */
#ifndef BATS_RUNNER_FIXTURE_H
#define BATS_RUNNER_FIXTURE_H

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "directory.h"
#include "exec/process/runner.h"

#define AN_HOUR 3600000000LL /* microseconds: never, for a test */

static struct fixture {
    struct bats_runner *runner;
    char *text[3]; /* what stream 1 and 2 brought, with a NUL behind it */
    size_t n[3];
    size_t longest; /* bytes handed over at once */
    int refusals;   /* answer "not now" this many times */
} the_fixture, *const f = &the_fixture;

static inline bool take_lines(void *context, uint32_t task, int stream,
                              const char *bytes, size_t n)
{
    assert_true(n > 0 && bytes[n - 1] == '\n');
    if (f->refusals > 0) {
        f->refusals--;
        return false;
    }
    f->text[stream] = realloc(f->text[stream], f->n[stream] + n + 1);
    assert_non_null(f->text[stream]);
    memcpy(f->text[stream] + f->n[stream], bytes, n);
    f->n[stream] += n;
    f->text[stream][f->n[stream]] = '\0';
    if (n > f->longest)
        f->longest = n;
    return true;
}

/* All that a stream has brought since the last call of `run`, as text. */
static inline const char *output(int stream)
{
    return f->text[stream] ? f->text[stream] : "";
}

static inline void forget_output(void)
{
    for (int i = 1; i < 3; i++) {
        free(f->text[i]);
        f->text[i] = NULL;
        f->n[i] = 0;
    }
    f->longest = 0;
}

static inline void create_runner(struct bats_runner_options options)
{
    options.lines = take_lines;
    if (options.speed == 0)
        options.speed = 1;
    assert_ok(bats_runner_create(&options, &f->runner, &err));
}

/* For tests that want other options. */
static inline void replace_runner(struct bats_runner_options options)
{
    bats_runner_destroy(f->runner);
    create_runner(options);
}

/* A grace time that only a test that waits for it lives to see. */
static inline int set_up(void **state)
{
    *f = (struct fixture){.refusals = 0};
    create_runner((struct bats_runner_options){.grace_ms = 3600000});
    return enter_directory(state);
}

static inline int tear_down(void **state)
{
    bats_runner_destroy(f->runner);
    forget_output();
    return leave_directory(state);
}

#define start_task(...)                                                       \
    assert_ok(bats_runner_start(                                              \
        f->runner, &(struct bats_runner_task){.task = 6, __VA_ARGS__}, &err))

static inline void start(const char *command)
{
    forget_output();
    start_task(.command = command);
}

static inline struct bats_runner_result finish(void)
{
    struct bats_runner_result result;
    int rc;
    while ((rc = bats_runner_poll(f->runner, AN_HOUR, &result, &err)) == 0)
        ;
    if (rc < 0)
        fail_msg("%s", err.text);
    assert_false(bats_runner_busy(f->runner));
    assert_int_equal(result.task, 6);
    return result;
}

static inline struct bats_runner_result run(const char *command)
{
    start(command);
    return finish();
}

/* Until the running task has written a line to its standard output. */
static inline void wait_for_line(void)
{
    struct bats_runner_result result;
    while (f->n[1] == 0)
        assert_int_equal(bats_runner_poll(f->runner, 1000, &result, NULL), 0);
}

static inline bool is_gone(const char *pid)
{
    assert_true(atoi(pid) > 1);
    return kill(atoi(pid), 0) < 0 && errno == ESRCH;
}

#endif
