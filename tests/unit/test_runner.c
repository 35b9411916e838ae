/* The start of a task, the report of its end, and its output as lines. */
#include "helpers/runner_fixture.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>

#include "util/complaint.h"

static const struct {
    const char *command;
    int exit_status;
    const char *out, *err; /* without a newline: a part */
} ends[] = {
    {"true", 0, "", ""},
    {"false", 1, "", ""},
    {"exit 255", 255, "", ""},
    {"kill -KILL $$", 128 + SIGKILL, "", ""},
    /* as in a shell: */
    {"no-such-program a b", 127, "", "no-such-program: not found"},
    {"./no/such/file", 127, "", ""},
    {"echo exit 5 >script", 0, "", ""},
    {"./script", 126, "", "./script: Permission denied"},
    {"chmod +x script", 0, "", ""},
    {"./script", 5, "", ""}, /* it names no interpreter */
    {"-dash", 127, "", ""},
    {"A='x  y'; echo \"$A\" | cat; echo $((6 * 7)) >&2", 0, "x  y\n", "42\n"},
    {"A=3 sh -c 'exit $A'", 3, "", ""},
    {"cat", 0, "", ""}, /* standard input is empty */
    {"echo a; echo b >&2; echo c", 0, "a\nc\n", "b\n"},
    {"printf 'a\\nb'; printf c >&2", 0, "a\nb\n", "c\n"}, /* with newlines */
};

TEST_WITH(ends_and_lines_are_told_as_in_a_shell, set_up, tear_down)
{
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        struct bats_runner_result r = run(ends[i].command);
        assert_false(r.cancelled);
        assert_int_equal(r.usage.exit_status, ends[i].exit_status);
        assert_int_equal(r.usage.signal,
                         r.usage.exit_status == 128 + SIGKILL ? SIGKILL : 0);
        assert_string_equal(output(1), ends[i].out);
        if (strchr(ends[i].err, '\n') != NULL)
            assert_string_equal(output(2), ends[i].err);
        else /* a shell's sentence, which begins with its name */
            assert_non_null(strstr(output(2), ends[i].err));
    }
}

TEST_WITH(a_line_the_system_refuses_is_a_result, set_up, tear_down)
{
    size_t n = 200000; /* Linux takes 131072 bytes in one argument */
    char *line = malloc(n + 1);
    assert_non_null(line);
    memset(line, 'x', n);
    memcpy(line, ": ", 2);
    line[n] = '\0';
    assert_int_equal(run(line).usage.exit_status, 126);
    assert_string_equal(output(2),
                        "bats-mpi: /bin/sh: Argument list too long\n");
    free(line);
}

TEST_WITH(plain_lines_run_without_a_shell, set_up, tear_down)
{
    int pid, parent;
    char name[32];
    run("cat /proc/self/stat");
    assert_int_equal(
        sscanf(output(1), "%d (%31[^)]) %*c %d", &pid, name, &parent), 3);
    assert_string_equal(name, "cat");
    assert_int_equal(parent, getpid());
}

TEST_WITH(a_task_has_no_descriptors_but_three, set_up, tear_down)
{
    int fd = open("/dev/null", O_RDONLY); /* would be inherited */
    int high = fcntl(fd, F_DUPFD, 500);
    run("ls /proc/self/fd"); /* 3 is what ls reads the directory with */
    assert_string_equal(output(1), "0\n1\n2\n3\n");
    close(fd);
    close(high);
}

/* Real-time signals as well, but for the C library's own, 32 and 33: these are
 * nobody else's business. */
TEST_WITH(a_task_starts_with_default_signals, set_up, tear_down)
{
    const int ignored[] = {SIGPIPE, SIGINT, SIGRTMIN, SIGRTMAX};
    uint64_t own = (UINT64_C(1) << (SIGRTMIN - 1)) - (UINT64_C(1) << 31);
    sigset_t set, before;
    for (int i = 0; i < 4; i++)
        signal(ignored[i], SIG_IGN);
    replace_runner((struct bats_runner_options){0});
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigprocmask(SIG_BLOCK, &set, &before);
    run("grep Sig /proc/self/status"); /* a shell would unblock them */
    for (int i = 0; i < 4; i++)
        signal(ignored[i], SIG_DFL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    const char *blocks = strstr(output(1), "SigBlk:");
    const char *ignores = strstr(output(1), "SigIgn:");
    assert_true(blocks != NULL && ignores != NULL);
    assert_int_equal(strtoul(blocks + 7, NULL, 16), 0);
    assert_int_equal(strtoul(ignores + 7, NULL, 16) & ~own, 0);
}

TEST_WITH(a_program_is_looked_for_in_the_path, set_up, tear_down)
{
    char *path = strdup(getenv("PATH"));
    assert_int_equal(system("mkdir a a/tool b && echo exit 6 >tool &&"
                            "echo '#!/bin/sh\nexit 5' >b/tool &&"
                            "chmod +x b/tool"),
                     0);
    setenv("PATH", "none:a:b", 1);
    replace_runner((struct bats_runner_options){0});
    assert_int_equal(run("tool").usage.exit_status, 5);
    setenv("PATH", "none::b", 1); /* "" is ".", where it cannot be executed */
    replace_runner((struct bats_runner_options){0});
    assert_int_equal(run("tool").usage.exit_status, 5);
    chmod("tool", 0700);
    assert_int_equal(run("tool").usage.exit_status, 6);
    setenv("PATH", path, 1);
    free(path);
}

TEST_WITH(ignored_sigchld_hides_no_result, set_up, tear_down)
{
    signal(SIGCHLD, SIG_IGN);
    replace_runner((struct bats_runner_options){.grace_ms = 1});
    assert_int_equal(run("exit 9").usage.exit_status, 9);
}

TEST_WITH(times_are_real_times, set_up, tear_down)
{
    struct timespec before, after;
    clock_gettime(CLOCK_REALTIME, &before);
    struct bats_runner_result r = run("sleep 0.05");
    clock_gettime(CLOCK_REALTIME, &after);
    assert_true(r.usage.start_us / 1000000 >= before.tv_sec);
    assert_true(r.usage.start_us / 1000000 <= after.tv_sec);
    assert_true(r.usage.wall_us >= 50000);
    assert_true(r.usage.start_us + r.usage.wall_us <=
                after.tv_sec * 1000000 + after.tv_nsec / 1000 + 1000);
    assert_true(r.usage.user_us >= 0 && r.usage.system_us >= 0);
}

TEST_WITH(cpu_time_of_children_counts, set_up, tear_down)
{
    struct bats_runner_result r =
        run("sh -c 'i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done'; :");
    assert_true(r.usage.user_us > 5000);
    assert_true(r.usage.user_us + r.usage.system_us <=
                r.usage.wall_us + 20000);
}

TEST_WITH(memory_is_the_tasks_or_not_told, set_up, tear_down)
{
    struct bats_runner_result r =
        run("dd if=/dev/zero of=/dev/null bs=300M count=1");
    assert_in_range(r.usage.max_rss_kib, 300 * 1024, 330 * 1024);

    /* posix_spawn makes the kernel count the runner's own memory, too. */
    size_t n = 50 << 20;
    char *mine = malloc(n);
    assert_non_null(mine);
    memset(mine, 1, n);
    r = run("true");
    assert_int_equal(mine[n - 1], 1);
    free(mine);
    assert_true(r.usage.max_rss_kib < 20 * 1024);
}

TEST_WITH(built_in_sleep_is_a_timer, set_up, tear_down)
{
    struct bats_runner_result r;
    start_task(.sleep_us = 20000);
    assert_int_equal(bats_runner_poll(f->runner, 0, &r, NULL), 0);
    assert_true(bats_runner_busy(f->runner));
    r = finish();
    assert_int_equal(r.usage.wall_us, 20000);
    assert_int_equal(r.usage.exit_status, 0);

    start_task(.sleep_us = 0);
    assert_int_equal(bats_runner_poll(f->runner, 0, &r, NULL), 1);
    assert_int_equal(r.usage.wall_us, 0);
}

TEST_WITH(a_second_task_is_refused, set_up, tear_down)
{
    start("sleep 1000");
    struct bats_runner_task task = {.command = "true"};
    assert_int_equal(bats_runner_start(f->runner, &task, NULL), BATS_ESTATE);
    bats_runner_kill(f->runner);
    assert_int_equal(finish().usage.signal, SIGKILL);
}

static void on_alarm(int signal)
{
}

TEST_WITH(a_signal_ends_the_wait, set_up, tear_down)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval timer = {.it_value.tv_usec = 1000,
                              .it_interval.tv_usec = 1000};
    struct bats_runner_result r;
    start("sleep 1000");
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &timer, NULL);
    assert_int_equal(bats_runner_poll(f->runner, AN_HOUR, &r, NULL), 0);
    timer = (struct itimerval){0};
    setitimer(ITIMER_REAL, &timer, NULL);
    bats_runner_kill(f->runner);
    finish();
}

static int open_descriptors(void)
{
    DIR *dir = opendir("/proc/self/fd");
    int n = 0;
    while (readdir(dir))
        n++;
    closedir(dir);
    return n;
}

TEST_WITH(nothing_piles_up, set_up, tear_down)
{
    const char *const lines[] = {"true", "echo a; sleep 100 &", "none-such"};
    run("true");
    int before = open_descriptors();
    for (int i = 0; i < 300; i++)
        run(lines[i % 3]);
    assert_int_equal(open_descriptors(), before);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no children */
    assert_int_equal(errno, ECHILD);
}

TEST_WITH(a_slowed_process_stands_still_in_between, set_up, tear_down)
{
    char path[40], letter;
    bool stood = false, ran = false;
    struct bats_runner_result r;
    int rc;
    replace_runner((struct bats_runner_options){.speed = 0.25});
    start("echo $$; i=0; while [ $i -lt 100000 ]; do i=$((i+1)); done");
    wait_for_line();
    snprintf(path, sizeof path, "/proc/%d/stat", atoi(output(1)));
    while ((rc = bats_runner_poll(f->runner, 1000, &r, NULL)) == 0) {
        FILE *file = fopen(path, "r");
        if (!file)
            continue; /* it has ended, and its end is held back */
        assert_int_equal(fscanf(file, "%*d (%*[^)]) %c", &letter), 1);
        fclose(file);
        stood |= letter == 'T';
        ran |= letter != 'T';
    }
    assert_int_equal(rc, 1);
    assert_int_equal(r.usage.exit_status, 0);
    assert_true(stood && ran);
    /* It used its share at most; signals may arrive a little late. */
    double cpu = (double)(r.usage.user_us + r.usage.system_us);
    assert_true((double)r.usage.wall_us * 0.25 * 1.2 + 20000 > cpu);
}

TEST_WITH(a_short_slowed_task_is_held_back, set_up, tear_down)
{
    replace_runner((struct bats_runner_options){.speed = 0.01});
    struct bats_runner_result r = run("true");
    double cpu = (double)(r.usage.user_us + r.usage.system_us);
    assert_true((double)r.usage.wall_us >= cpu / 0.01 * 0.8);
    assert_int_equal(r.usage.exit_status, 0);
}

TEST_WITH(results_that_cannot_be_written_are_an_error, set_up, tear_down)
{
    struct bats_runner_task task = {.command = "true"};
    assert_int_equal(system(": >file"), 0);
    replace_runner((struct bats_runner_options){
        .output = BATS_OUTPUT_RESULTS, .results_dir = "file/results"});
    assert_refused(bats_runner_start(f->runner, &task, &err), BATS_ESYS,
                   "file/results/1: cannot create this directory for "
                   "the output of a task: Not a directory");
    assert_false(bats_runner_busy(f->runner));
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

static void run_attempt(uint32_t attempt, bool is_replica, const char *command)
{
    start_task(.attempt = attempt, .is_replica = is_replica,
               .command = command);
    finish();
}

TEST_WITH(a_copy_writes_apart_until_it_is_the_result, set_up, tear_down)
{
    replace_runner((struct bats_runner_options){
        .output = BATS_OUTPUT_RESULTS, .results_dir = "deep/results"});
    run_attempt(1, false, "echo original; echo o >&2");
    run_attempt(2, true, "echo first copy");
    run_attempt(3, true, "echo second copy; echo s >&2");
    holds("deep/results/7/stdout", "original\n");
    holds("deep/results/7/stdout.2", "first copy\n");
    assert_ok(bats_runner_settle(f->runner, 6, 2, false, &err));
    assert_int_equal(access("deep/results/7/stdout.2", F_OK), -1);
    assert_int_equal(access("deep/results/7/stderr.2", F_OK), -1);
    holds("deep/results/7/stdout", "original\n");
    assert_ok(bats_runner_settle(f->runner, 6, 3, true, &err));
    holds("deep/results/7/stdout", "second copy\n");
    holds("deep/results/7/stderr", "s\n");
    assert_int_equal(access("deep/results/7/stdout.3", F_OK), -1);
    run_attempt(4, true, NULL); /* a built-in task has no files */
    assert_ok(bats_runner_settle(f->runner, 6, 4, true, &err));
    holds("deep/results/7/stdout", "second copy\n");
}

/* ---- output ---- */

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
