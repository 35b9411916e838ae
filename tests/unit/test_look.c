/* The verbs status, log, tasks, why and record, on a small record. */
#include "bats/sched.h"
#include "bats/status.h"
#include "helpers/record_fixture.h"

#include <fcntl.h>
#include <jansson.h>

#include "cli/verbs.h"

/* The output of a verb, standard error after standard output, and its exit
 * code. */
static char said[16384];
static int code;

/* The words begin with the verb. */
static void say(const char *line)
{
    char words[256], *argv[8];
    int argc = 0;
    enum bats_verb verb;
    snprintf(words, sizeof words, "%s", line);
    for (char *w = strtok(words, " "); w != NULL; w = strtok(NULL, " "))
        argv[argc++] = w;
    assert_true(bats_verb_find(argv[0], &verb));
    fflush(NULL);
    int fd = open("said", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(fd >= 0);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) { /* a verb may end the process */
        dup2(fd, 1);
        dup2(fd, 2);
        exit(bats_verb_carry_out(verb, argc, argv));
    }
    assert_int_equal(waitpid(pid, &code, 0), pid);
    code = WEXITSTATUS(code);
    ssize_t n = pread(fd, said, sizeof said - 1, 0);
    assert_true(n >= 0);
    said[n] = '\0';
    close(fd);
}

static void has(const char *text)
{
    if (strstr(said, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, said);
}

/* The verb ends with this exit code, and says the texts, up to NULL. */
static void shows(const char *line, int expected, ...)
{
    va_list texts;
    const char *text;
    say(line);
    assert_int_equal(code, expected);
    va_start(texts, expected);
    while ((text = va_arg(texts, const char *)) != NULL)
        has(text);
    va_end(texts);
}

/* fast-1 was parked after an hour, slow-1 is held and runs task 5, fast-2 is
 * lost; task 1 failed, task 2 is done, tasks 3 and 4 wait. */
static struct bats_record *make_record(bats_money budget)
{
    struct bats_record *r = open_with_tasks(5);
    begin(r, budget);
    for (uint32_t m = 0; m < 3; m++) {
        put_event(r, 0, BATS_EVENT_JOINED, m, 0);
        put_command(r, 0, BATS_COMMAND_ACQUIRE, m, 0);
        assert_ok(
            bats_record_charge(r, 0, m, (m == 1 ? 3 : 8) * BATS_UNIT, &err));
    }
    run_task(r, 0, 0, 0, 3);
    run_task(r, BATS_SECOND, 1, 1, 0);
    assert_ok(bats_record_notice(r, BATS_MINUTE, 2, UINT32_MAX, "it is silent",
                                 &err));
    put_event(r, BATS_MINUTE, BATS_EVENT_LOST, 2, 0);
    put(decision, r, .time = 10 * BATS_MINUTE, .reason = BATS_REASON_SAMPLED,
        .feasible = true, .tasks_open = 3, .tasks_left = 3, .tasks_paid = -1,
        .budget_left = 500 * BATS_UNIT, .windows = 2, .machines = {1, 0});
    put_command(r, BATS_HOUR, BATS_COMMAND_PARK, 0, 0);
    assert_ok(bats_record_charge(r, BATS_HOUR, 1, 3 * BATS_UNIT, &err));
    put_command(r, BATS_HOUR, BATS_COMMAND_RUN, 1, 4);
    assert_ok(bats_record_commit(r, &err));
    return r;
}

TEST_IN_DIRECTORY(status_shows_counts_and_money)
{
    struct bats_record *r = make_record(600 * BATS_UNIT);
    /* The bag means the record beside it. */
    shows("status bag.txt", 0, "bag.txt: running\n",
          "tasks     5: 1 done, 1 failed, 1 running, 2 pending\n",
          "charged   22 of 600 SU, windows of 1h, policy bats, seed 42\n"
          "options   --retries 2\n\ncluster",
          "slow          3         1     1     0        2        6     1"
          "       0    2m\n",
          "fast          8         2     0     1        2       16     0"
          "       1   ~2m\n~ is a guess: ",
          NULL);
    put(lease, r, .id = 1, .machine = 1, .kind = "window",
        .held = 5 * BATS_UNIT);
    assert_ok(bats_record_commit(r, &err));
    shows("status " PATH, 0, "charged   22 of 600 SU, 5 held for what runs, ",
          NULL);
    shows("status --json " PATH, 0, "\"live\": true", "\"charged\": \"22\"",
          "\"pending\": 2", "\"retries\": \"2\"", "\"held\": \"5\"",
          "\"losses\": 0" /* of the engine's rules */, NULL);
    bats_record_abandon(r);
    shows("status " PATH, 0, "bag.txt: interrupted", NULL);
    say("status --json " PATH);
    assert_null(strstr(said, "\"held\": \""));
}

TEST_IN_DIRECTORY(tasks_are_listed_by_state_and_time)
{
    bats_record_abandon(make_record(600 * BATS_UNIT));
    shows("tasks --failed bag.txt", 0, "      1  failed        1  exit 3",
          "\nwhy tasks failed\n  task 1 on f1, exit 3, nothing on standard "
          "error\n",
          NULL);
    assert_null(strstr(said, "  pending"));
    say("tasks --state pending --json bag.txt");
    assert_string_equal(said,
                        "{\"task\":3,\"state\":\"pending\",\"attempts\":0,"
                        "\"command\":\"task 2\",\"line\":3}\n"
                        "{\"task\":4,\"state\":\"pending\",\"attempts\":0,"
                        "\"command\":\"task 3\",\"line\":4}\n");
    shows("tasks --slowest 1 bag.txt", 0, "      2  done ", NULL);
    assert_null(strstr(said, "failed"));
}

/* The tasks of `said`, which is JSON. */
static const char *numbers(void)
{
    static char text[64];
    int n = 0, at = 0;
    for (char *line = said; sscanf(line, "{\"task\":%d", &n) == 1;
         line = strchr(line, '\n') + 1)
        at += snprintf(text + at, sizeof text - (size_t)at, "%d ", n);
    return text;
}

/* Their rows in task_now were filled in the order of another draw, and those of
 * tasks in another one than their numbers. */
TEST_IN_DIRECTORY(tasks_are_sorted_as_they_lie)
{
    enum { N = 6 };
    struct bats_record *r = begun(N, BATS_UNLIMITED);
    for (uint32_t i = 0; i < N; i++)
        run_task(r, 10, 0, (i + 2) % N, i == 3);
    close_record(r);
    ask(PATH, "UPDATE task_now SET place = -place,"
              " number = (number + 2) % 6 + 1");
    ask(PATH, "UPDATE task SET number = (number + 2) % 6 + 1");
    say("tasks --json " PATH);
    has("{\"task\":4,\"state\":\"done\",\"attempts\":1,\"command\":\"task 0\","
        "\"line\":1,");
    assert_string_equal(numbers(), "1 2 3 4 5 6 ");
    say("tasks --slowest 3 --json " PATH);
    assert_string_equal(numbers(), "3 2 1 ");
    say("tasks --where (number>2)and(line<>2) --json " PATH);
    assert_string_equal(numbers(), "3 4 6 ");
    say("tasks --failed --json " PATH);
    assert_string_equal(numbers(), "3 ");
}

/* A record of tasks with these commands, which took this long. */
static void make_odd_record(void)
{
    static const char *const commands[] = {
        "plain", "\"quoted\" \\", "two\nlines\x1b[1m", "\xe9 \xc3\xa9", "",
        "\x7f",  "a\"b",          "\xf0\x9f\x98\x80"};
    static const int64_t walls[] = {0,      7,       99,      100,
                                    123456, 1000000, 2000010, 99999999999999};
    enum { N = sizeof walls / sizeof *walls };
    struct bats_record_attempt a = {.attempt = 1, .stream = -1};
    struct bats_record *r;
    assert_ok(bats_record_open(PATH, &r, &err));
    for (uint32_t i = 0; i < N; i++)
        assert_ok(bats_record_task(r, i, i + 1, commands[i], NULL, &err));
    assert_ok(bats_record_match(r, &err));
    begin(r, BATS_UNLIMITED);
    for (a.task = 0; a.task < N; a.task++) {
        a.usage.wall_us = walls[a.task];
        a.usage.user_us = walls[N - 1 - a.task] / 2;
        a.usage.max_rss_kib = a.task * 1234567;
        a.usage.signal = a.task == 3 ? 9 : 0;
        a.usage.exit_status = a.task == 5 ? -1 : 0;
        assert_ok(bats_record_attempt(r, 10, &a, &err));
    }
    close_record(r);
}

TEST_IN_DIRECTORY(lines_are_those_of_jansson_and_printf)
{
    int n = 0;
    make_odd_record();
    say("tasks --json " PATH);
    for (char *line = strtok(said, "\n"); line != NULL; n++) {
        json_t *value = json_loads(line, 0, NULL);
        char *same = json_dumps(value, JSON_COMPACT | JSON_ENSURE_ASCII |
                                           JSON_REAL_PRECISION(15));
        assert_string_equal(line, same);
        assert_int_equal(json_object_size(value), 12);
        free(same);
        json_decref(value);
        line = strtok(NULL, "\n");
    }
    assert_int_equal(n, 8);
    say("tasks " PATH);
    assert_string_equal(
        said, "   task  state     tries  end                  took       "
              "cpu  host          command\n"
              "      1  done          1  ok                     0s   578d"
              "17h  f1            plain\n"
              "      2  done          1  ok                    7us       "
              " 1s  f1            \"quoted\" \\\n"
              "      3  done          1  ok                   99us     50"
              "0ms  f1            two\\nlines\\e[1m\n"
              "      4  failed        1  signal 9 (KILL)     100us      6"
              "2ms  f1            \\xe9 \xc3\xa9\n"
              "      5  done          1  ok                  123ms      5"
              "0us  f1            \n"
              "      6  failed        1  timed out              1s      4"
              "9us  f1            \\x7f\n"
              "      7  done          1  ok                     2s       "
              "3us  f1            a\"b\n"
              "      8  done          1  ok               1157d10h       "
              " 0s  f1            \xf0\x9f\x98\x80\n");
}

TEST_IN_DIRECTORY(the_log_is_in_order)
{
    bats_record_abandon(make_record(600 * BATS_UNIT));
    say("log bag.txt");
    assert_int_equal(code, 0);
    static const char *const lines[] = {
        "session 1\n",
        "        0s  joined     fast-1\n",
        "        0s  acquire    fast-1\n",
        "        0s  charged    fast-1                  8\n",
        "        0s  charged    slow-1                  3\n",
        "        0s  run        fast-1      task 1\n",
        "        2s  failed     fast-1      task 1      exit 3, 2.000 s\n",
        "        3s  done       slow-1      task 2      2.000 s\n",
        "        1m  notice     fast-2                  it is silent\n",
        "        1m  lost       fast-2\n",
        "       10m  decided                            sampled: machines "
        "that go on [1,0], for 2 windows; 3 tasks left\n",
        "        1h  park       fast-1\n",
        "        1h  charged    slow-1                  3\n"};
    const char *at = said;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if ((at = strstr(at, lines[i])) == NULL)
            fail_msg("'%s' is not where it belongs in:\n%s", lines[i], said);
}

TEST_IN_DIRECTORY(why_has_an_answer_for_machines_and_tasks)
{
    struct bats_record *r = make_record(600 * BATS_UNIT);
    shows("why bag.txt", 0,
          "2 pending: 2 tasks are waiting for a free slot on 1 machine, in "
          "random order\n",
          "fast-1 on f1: parked since 1h: the plan made at 10m (sampled) "
          "holds 0 machines of cluster fast\n",
          "slow-1 on s1: held since 0s and runs task 5; its window ends at 2h",
          "fast-2 on f2: lost at 1m: it is silent\n", NULL);
    shows("why bag.txt fast-1", 0, "1 execution ended there; 8 SU charged\n",
          "        1h  park       fast-1\n", NULL);
    assert_null(strstr(said, "slow-1"));
    shows("why bag.txt 1", 0,
          "task 1, line 1: task 0\nfailed: exit 3 after 2s on f1\n", NULL);
    shows("why bag.txt task 3", 0, "pending: 2 tasks are waiting", NULL);
    shows("why bag.txt 6", 2, "there is no task 6", NULL);
    shows("why bag.txt none-1", 2, "there is no machine 'none-1'", NULL);
    bats_record_abandon(r);
    shows("why bag.txt 5", 0,
          "running when the record ended: the run was interrupted", NULL);
}

TEST_IN_DIRECTORY(why_tells_of_money)
{
    struct bats_record *r = begun(4, 22 * BATS_UNIT);
    assert_ok(bats_record_finish(r, 1, BATS_FINISH_BUDGET, 0, 4, &err));
    close_record(r);
    shows("why bag.txt fast-1", 0,
          "never acquired: the budget is used up: 0 of 22 SU are charged",
          NULL);
}

TEST_IN_DIRECTORY(what_is_no_record_is_refused)
{
    static const char *const rows[][2] = {
        {"status", "the record of the run is missing"},
        {"log nothing", "nothing: there is no such record"},
        {"tasks /etc/passwd", "/etc/passwd is not a run record"},
        {"why cut", "cut is damaged: it is cut off after 16 bytes"},
        {"status bag.txt", "was written by an older bats-mpi (schema 4, this "
                           "one knows 11)"}};
    bats_record_abandon(make_record(600 * BATS_UNIT));
    ask(PATH, "PRAGMA user_version = 4");
    write_bytes("cut", "SQLite format 3", 16);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        shows(rows[i][0], 2, rows[i][1], NULL);
}

TEST_MAIN(NULL, NULL)
