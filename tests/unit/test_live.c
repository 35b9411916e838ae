/* The screens of `top`, from a status that is made up. */
#include "helpers/test.h"
#include "report/live.h"

static const char status[] =
    "{'bag': 'sim.txt', 'policy': 'bats', 'phase': 'running',"
    " 'written_unix': 1000, 'time_s': 3900, 'window_s': 3600, 'tasks': 1000,"
    " 'done': 500, 'failed': 12, 'running': 57, 'pending': 431,"
    " 'tasks_per_hour': 474, 'end_s': 16320,"
    " 'promised_s': 16200, 'promised_at_most_s': 18000,"
    " 'deadline_s': 21600,"
    " 'money': {'budget': '600', 'charged': '288', 'left': '312',"
    "  'reserved': '600.5', 'per_hour': '231', 'runs_out_s': 8762,"
    "  'currency': 'SU'},"
    " 'clusters': [{'name': 'slow', 'charge': '3', 'machines': 32, 'held': 32,"
    "  'lost': 0, 'busy': 32, 'slots': 32, 'windows': 64, 'charged': '192',"
    "  'done': 300, 'failed': 12, 'mean_s': 900, 'is_guess': false,"
    "  'profitability': 1, 'in_use': 0.97, 'window_ends_s': 4320,"
    "  'ending': 4, 'parked_then': 3},"
    " {'name': 'fast', 'charge': '12', 'machines': 32, 'held': 25,"
    "  'busy': 25, 'slots': 25, 'charged': '96', 'mean_s': 240,"
    "  'profitability': 0.9375, 'in_use': 0.88, 'window_ends_s': 4500,"
    "  'ending': 1, 'parked_then': 0},"
    " {'name': 'idle', 'machines': 2, 'held': 0, 'charged': '0'}],"
    " 'workflows': [],"
    " 'longest': [{'task': 17, 'machine': 'slow-3', 'since_s': 300,"
    "  'command': './simulate --seed 17 \\u001b[2J'},"
    " {'task': 99, 'machine': 'fast-25', 'since_s': 3840,"
    "  'command': 'sleep 100'}],"
    " 'causes': [{'tasks': 11, 'end': 'exit 1', 'last_line':"
    "  'cp: out.17: No space left on device', 'first_task': 17,"
    "  'hosts': [{'host': 'n7', 'tasks': 11}]},"
    " {'tasks': 1, 'end': 'signal 9 (KILL)', 'last_line': '',"
    "  'first_task': 40, 'hosts': [{'host': 'n1', 'tasks': 1}]}]}";

static json_t *status_json(void)
{
    char *quoted = strdup(status);
    json_error_t err;
    for (char *at = quoted; *at != '\0'; at++)
        if (*at == '\'')
            *at = '"';
    json_t *object = json_loads(quoted, 0, &err);
    if (object == NULL)
        fail_msg("%s", err.text);
    free(quoted);
    return object;
}

/* The text on the screen, three seconds after it was written; until the next
 * call. The object is decref'd. */
static const char *show(json_t *object, int rows, int columns)
{
    static char text[8192];
    FILE *out = fmemopen(text, sizeof text, "w");
    bats_live_print(out, object, rows, columns, 1003000000, "\n");
    fclose(out);
    json_decref(object);
    return text;
}

static void shows(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in:\n%s", part, text);
}

#define HEAD                                                                  \
    "sim.txt, policy bats; 3s ago\n"                                          \
    "tasks    51% [################-----------------] 512/1000, 57 running, " \
    "12 failed\n"                                                             \
    "time    1h5m, 7.9 tasks/min, end at about 4h32m\n"                       \
    "goal    promised 4h30m, at most 5h; deadline 6h\n"                       \
    "money   288 of 600 SU charged, left 312, 600.5 reserved\n"               \
    "        231 SU an hour now: lasts until 2h26m\n"                         \
    "\n"

TEST(everything_has_its_place_on_80_columns)
{
    assert_string_equal(
        show(status_json(), 23, 80), HEAD
        "cluster   held   busy  charged  in use  mean  profit\n"
        "slow     32/32  32/32      192     97%   15m    1.00\n"
        "fast     25/32  25/25       96     88%    4m    0.94\n"
        "idle       0/2    0/0        0      0%     -       -\n"
        "failed  11 on n7, exit 1: cp: out.17: No space left on device "
        "(first: task 17)\n"
        "failed  1 on n1, signal 9 (KILL): nothing on standard error (first: "
        "task 40)\n"
        "\n"
        "    task   runs for  machine         command\n"
        "      17         1h  slow-3          ./simulate --seed 17 \\e[2J\n"
        "      99         1m  fast-25         sleep 100\n");
}

TEST(what_tasks_need_is_a_column)
{
    json_t *object = status_json();
    json_t *first = json_array_get(json_object_get(object, "longest"), 0);
    json_object_set_new(first, "needs", json_string("4 cores"));
    const char *text = show(object, 23, 80);
    shows(text, "machine         needs    command\n"
                "      17         1h  slow-3          4 cores  ./sim");
    shows(text, "fast-25                  sleep 100");
}

#define NARROW                                                                \
    "sim.txt, policy bats; 3s ago\n"                                          \
    "tasks    51% 512/1000, 57 running, 12\n"                                 \
    "        failed\n"                                                        \
    "time    1h5m, 7.9 tasks/min, end at\n"                                   \
    "        about 4h32m\n"                                                   \
    "goal    promised 4h30m, at most 5h;\n"                                   \
    "        deadline 6h\n"                                                   \
    "money   288 of 600 SU charged, left 312,\n"                              \
    "        600.5 reserved\n"                                                \
    "        231 SU an hour now: lasts until\n"                               \
    "        2h26m\n"                                                         \
    "\n"

TEST(a_narrow_screen_has_whole_words)
{
    const char *text = show(status_json(), 40, 40);
    assert_int_equal(strncmp(text, NARROW, strlen(NARROW)), 0);
    shows(text, "\ncluster   held   busy  charged  in use\n"
                "slow     32/32  32/32      192     97%\n");
    shows(text, "\n      17         1h  ./simulate --seed");
}

/* Nothing is charged for a job until it ends, and the site's money may have no
 * name. */
TEST(what_is_held_is_shown)
{
    json_t *object = status_json();
    json_t *money = json_object_get(object, "money");
    json_object_set_new(money, "charged", json_string("0"));
    json_object_set_new(money, "held", json_string("7.5"));
    json_object_set_new(money, "reserved", json_null());
    json_object_set_new(money, "currency", json_string(""));
    shows(show(object, 23, 80),
          "\nmoney   0 of 600 charged, 7.5 held, left 312\n"
          "        231 an hour now: lasts until ");
}

TEST(no_screen_is_overrun)
{
    static const int sizes[][2] = {
        {24, 80}, {50, 132}, {12, 40}, {5, 20}, {1, 1}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const char *text = show(status_json(), sizes[i][0], sizes[i][1]);
        int rows = 0;
        for (; *text != '\0'; text = strchr(text, '\n') + 1) {
            assert_in_range(strcspn(text, "\n"), 0, sizes[i][1]);
            rows++;
        }
        assert_in_range(rows, 1, sizes[i][0]);
    }
}

/* Anybody may have written the file. */
TEST(impossible_numbers_do_no_harm)
{
    json_t *object =
        json_pack("{s:i, s:I, s:I}", "tasks", 10, "done",
                  (json_int_t)INT64_MAX, "failed", (json_int_t)INT64_MAX);
    shows(show(object, 2, 80), "\ntasks   100% [####");
}

TEST(an_old_status_says_so)
{
    json_t *object = status_json();
    json_object_set_new(object, "written_unix", json_integer(703));
    assert_string_equal(show(object, 1, 80),
                        "sim.txt, policy bats; NOT CURRENT, written 5m ago\n");
}

TEST_MAIN(NULL, NULL)
