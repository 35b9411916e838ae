/* The closing report, its JSON and the joblog, from plain structs: no engine,
 * no MPI. The expected text is written by hand from the specification. */
#include <unistd.h>

#include <jansson.h>

#include "helpers/report_fixture.h"
#include "helpers/test.h"
#include "report/joblog.h"
#include "report/schedules.h"
#include "report/words.h"

static const struct bats_decision decisions[] = {
    {.time = 100,
     .reason = BATS_REASON_START,
     .feasible = true,
     .tasks_left = 100,
     .tasks_paid = -1,
     .machines = {2, 1}},
    {.time = 20 * BATS_MINUTE,
     .reason = BATS_REASON_SAMPLED,
     .feasible = true,
     .tasks_left = 78,
     .tasks_paid = -1,
     .budget_left = 80 * BATS_UNIT,
     .windows = 4,
     .machines = {2, 1}},
};

/* What a test changes of it comes after it. */
#pragma GCC diagnostic ignored "-Woverride-init"
#define A_STATUS                                                              \
    .now = 4 * BATS_HOUR + 32 * BATS_MINUTE, .finish = BATS_FINISH_ALL_DONE,  \
    .done = 100, .budget = 100 * BATS_UNIT, .charged = 92500000,              \
    .sample_size = 30

#define EXHAUSTED                                                             \
    A_STATUS, .finish = BATS_FINISH_BUDGET, .done = 80, .failed = 1,          \
              .pending = 19

static struct bats_report a_report(void)
{
    return (struct bats_report){
        .snapshot = {.platform = &platform,
                     .status = {A_STATUS},
                     .cluster = {{.machines_used = 2,
                                  .windows = 10,
                                  .charged = 30 * BATS_UNIT,
                                  .done = 40,
                                  .mean_runtime = 15.0 * BATS_MINUTE,
                                  .profitability = 1,
                                  .utilisation = 0.97},
                                 {.machines_used = 1,
                                  .windows = 5,
                                  .charged = 62500000,
                                  .done = 60,
                                  .mean_runtime = 3.75 * BATS_MINUTE,
                                  .profitability = 0.96,
                                  .utilisation = 0.5}},
                     .decisions = decisions,
                     .n_decisions = 2},
        .settings = {.given = "{\"bag\":\"bag.txt\",\"verb\":\"run\"}",
                     .clusters = "c.ini",
                     .policy = "bats",
                     .seed = 42,
                     .time_scale = 1,
                     .budget = 100 * BATS_UNIT},
        .version = "1.2",
        .start_us = 1795244221500000,
        .real_us = (4 * 60 + 32) * 60 * INT64_C(1000000),
    };
}

static char *printed(const struct bats_report *report)
{
    char *text;
    PRINT(text, bats_report_print(out, report));
    return text;
}

#define add_failure(r, ...)                                                   \
    bats_failures_add(&(r)->failures, &(struct bats_failure){__VA_ARGS__})

static void look_for(const struct bats_report *report, const char *words,
                     bool is_there)
{
    char *text = printed(report);
    if ((strstr(text, words) != NULL) != is_there)
        fail_msg("%s'%s' in:\n%s", is_there ? "no " : "", words, text);
    free(text);
}

static void assert_has(const struct bats_report *report, const char *words)
{
    look_for(report, words, true);
}

static void assert_lacks(const struct bats_report *report, const char *words)
{
    look_for(report, words, false);
}

TEST(the_bill_of_a_finished_run_is_as_specified)
{
    struct bats_report r = a_report();
    char *text = printed(&r);
    /* reserved: ceil(4h32m / 1h) = 5 windows of 2 * 3 + 2 * 12.5 = 31 */
    assert_string_equal(
        text,
        "\n"
        "bats-mpi: all 100 tasks done in 4h32m\n"
        "\n"
        "cluster  machines  charge  windows  charged  tasks  mean time  profit"
        "  in use\n"
        "slow          2/2       3       10       30     40        15m    1.00"
        "     97%\n"
        "fast          1/2    12.5        5     62.5     60      3m45s    0.96"
        "     50%\n"
        "total         3/4               15     92.5    100\n"
        "\n"
        "makespan   4h32m\n"
        "charged    92.5 of the budget of 100 SU\n"
        "reserved   155 SU: all 4 machines held for 5 windows, parked or not; "
        "without\n"
        "           rank 0\n"
        "policy     bats, window 1h, seed 42\n"
        "\n"
        "reconfigurations\n"
        "      0s  start: slow 2, fast 1\n"
        "     20m  every cluster sampled: slow 2, fast 1 for 4 windows, 78 "
        "tasks left\n");
    free(text);
}

TEST(bill_fits_80_columns)
{
    struct bats_report r = a_report();
    r.settings.time_scale = 3600;
    r.snapshot.status = (struct bats_sched_status){
        EXHAUSTED, .preempted = 3, .rest_cost = 15 * BATS_UNIT};
    char command[300];
    memset(command, 'x', sizeof command - 1);
    command[sizeof command - 1] = '\0';
    add_failure(&r, .task = 999999, .signal = 11, .runtime = 83 * BATS_SECOND,
                .host = "a-rather-long-host-name.example", .command = command);
    char *text = printed(&r);
    for (char *line = strtok(text, "\n"); line != NULL;
         line = strtok(NULL, "\n"))
        if (strlen(line) > 80)
            fail_msg("%zu columns: %s", strlen(line), line);
    free(text);
    bats_failures_release(&r.failures);
}

TEST(reserved_counts_windows_started_on_all_machines)
{
    static const int64_t rows[][3] = {
        /* now, all that was reserved, windows */
        {4 * BATS_HOUR + 32 * BATS_MINUTE, 155 * BATS_UNIT, 5},
        {2 * BATS_HOUR, 62 * BATS_UNIT, 2}, /* on the edge: no third window */
        {0, 0, 0}};
    struct bats_report r = a_report();
    for (int i = 0; i < 3; i++) {
        int64_t windows;
        r.snapshot.status.now = rows[i][0];
        assert_int_equal(bats_snapshot_reserved(&r.snapshot, &windows),
                         rows[i][1]);
        assert_int_equal(windows, rows[i][2]);
    }
}

#define ONE_LEFT A_STATUS, .done = 99, .pending = 1, .finish
#define RESUMED A_STATUS, .charged = 99 * BATS_UNIT, .charged_before = 6500000
#define DEADLINE A_STATUS, .deadline = 9 * BATS_HOUR

static const struct end {
    const char *words;
    struct bats_sched_status status;
    bats_money asked; /* the user's budget, if there is a promise */
    enum bats_billing_model billing;
    int signal;
    bool recorded, is_not_there;
} ends[] = {
    {"budget exhausted: 80 of 100 tasks done, 1 failed, 19 left, in 4h32m\n",
     .status = {EXHAUSTED}},
    /* 92.5 + 15 = 107.5, to whole units 108 */
    {"left       19 tasks, which would cost about 15 SU; for the whole bag, "
     "run again\n           with --budget 108\n",
     .status = {EXHAUSTED, .rest_cost = 15 * BATS_UNIT}},
    {"for the whole bag, run again\n           with --resume --budget 108\n",
     .status = {EXHAUSTED, .rest_cost = 15 * BATS_UNIT}, .recorded = true},
    {" --budget 0.53\n", /* little is missing: 0.5 + 0.0296 = 0.5296 */
     .status = {EXHAUSTED, .charged = BATS_UNIT / 2, .rest_cost = 29600}},
    {"not known", .status = {EXHAUSTED, .rest_cost = -1}},
    {"stopped by SIGINT: 99 of 100 tasks done, 1 left, in",
     .status = {ONE_LEFT = BATS_FINISH_STOPPED}, .signal = 2},
    {"no machine is left: 99 of 100 tasks done, 1 left",
     .status = {ONE_LEFT = BATS_FINISH_NO_MACHINES}},
    {"charged    92.5 SU (no budget was set)\n",
     .status = {A_STATUS, .budget = BATS_UNLIMITED}},
    /* 30 + 62.5 are of this session. */
    {"charged    99 of the budget of 100 SU, 6.5 of it before this session\n",
     .status = {RESUMED}},
    {"total         3/4               15     92.5    100\n",
     .status = {RESUMED}},
    {"charged    99 SU, 6.5 of it before this session (no budget was set)\n",
     .status = {RESUMED, .budget = BATS_UNLIMITED}},
    {"charged    99 of the budget of 100 SU, 6.5 of it before this run; an "
     "allocation\n           is billed for all that it holds, until it is "
     "given back\n",
     .status = {RESUMED}, .billing = BATS_BILLING_ALLOCATION},
    /* The limit of a schedule is no budget. */
    {"charged    92.5 of at most 100 SU with the chosen schedule (no budget "
     "was set)\n",
     .status = {A_STATUS}, BATS_UNLIMITED},
    {"charged    92.5 of at most 100 SU with the chosen schedule (the budget "
     "is 300\n           SU)\n",
     .status = {A_STATUS}, 300 * BATS_UNIT},
    {"bats-mpi: the chosen schedule may cost no more: 99 of 100 tasks done, "
     "1 left",
     .status = {ONE_LEFT = BATS_FINISH_BUDGET}, 300 * BATS_UNIT},
    {"bats-mpi: budget exhausted: 99 of 100",
     .status = {ONE_LEFT = BATS_FINISH_BUDGET}, 100 * BATS_UNIT},
    {"charged    92.5 of the budget of 100 SU\n", .status = {A_STATUS},
     100 * BATS_UNIT},
    {"deadline   9h, kept with 4h28m to spare\n", .status = {DEADLINE}},
    {"deadline   9h, missed: tasks are left\n",
     .status = {DEADLINE, .done = 12, .pending = 88}},
    /* A sample misses none. */
    {"deadline",
     .status = {DEADLINE, .done = 12, .pending = 88,
                .finish = BATS_FINISH_SAMPLED},
     .is_not_there = true},
};

TEST(each_end_and_its_money_are_put_in_words)
{
    for (const struct end *e = ends; e < ends + sizeof ends / sizeof *ends;
         e++) {
        struct bats_report r = a_report();
        struct bats_platform p = platform;
        p.billing = e->billing;
        r.snapshot.platform = &p;
        r.snapshot.status = e->status;
        r.snapshot.has_promise = e->asked > 0;
        r.settings.budget = e->asked;
        r.signal = e->signal;
        r.recorded = e->recorded;
        look_for(&r, e->words, !e->is_not_there);
    }
}

/* The ledger has what is billed: nothing else is to be told. */
TEST(only_windows_are_compared_with_what_is_reserved)
{
    static const enum bats_billing_model models[] = {
        BATS_BILLING_ALLOCATION, BATS_BILLING_USE, BATS_BILLING_JOB,
        BATS_BILLING_SECOND};
    struct bats_report r = a_report();
    struct bats_platform p = *r.snapshot.platform;
    int64_t windows;
    r.snapshot.platform = &p;
    for (size_t i = 0; i < sizeof models / sizeof *models; i++) {
        p.billing = models[i];
        assert_lacks(&r, "reserved");
        assert_true(bats_snapshot_reserved(&r.snapshot, &windows) == 92500000);
    }
    p.billing = BATS_BILLING_WINDOW;
    r.snapshot.status.charged_before = BATS_UNIT;
    assert_has(&r, "without\n           rank 0 and earlier sessions\n");
    r.snapshot.status.charged_before = 0;
    assert_has(&r,
               "for 5 windows, parked or not; without\n           rank 0\n");
}

TEST(failures_kept_for_programs_are_bounded)
{
    struct bats_report r = a_report();
    for (uint32_t i = 0; i < 1500; i++) {
        add_failure(&r, .task = i, .exit_status = i == 0 ? 137 : 3,
                    .signal = i == 0 ? 9 : 0, .runtime = 2 * BATS_SECOND,
                    .host = "n1", .command = "false");
    }
    assert_int_equal(r.failures.n, BATS_FAILURES_KEPT); /* bounded */
    bats_failures_release(&r.failures);
}

TEST(long_lists_of_decisions_are_cut_in_the_middle)
{
    struct bats_decision many[40];
    struct bats_report r = a_report();
    for (int i = 0; i < 40; i++) {
        many[i] = decisions[1];
        many[i].time = i * BATS_MINUTE;
    }
    r.snapshot.decisions = many;
    r.snapshot.n_decisions = 40;
    assert_has(&r, "\n     ...  28 more\n     32m  every");
    assert_has(&r, "\n     39m  every");
    assert_lacks(&r, "\n      4m  every");
}

#define DECISION(why, left, ...)                                              \
    {                                                                         \
        .reason = BATS_REASON_##why, .tasks_left = left, .tasks_paid = -1,    \
        .feasible = true, __VA_ARGS__                                         \
    }
#define MORE_RESULTS                                                          \
    .trigger = BATS_TRIGGER_RESULTS, .tasks_open = 83, .windows = 4,          \
    .machines = {2, 1} /* 5 of the tasks run */

TEST(decisions_are_put_in_words)
{
    static const struct {
        struct bats_decision decision;
        const char *words;
    } rows[] = {
        {DECISION(VIOLATION, 78, .tasks_paid = 60, .windows = 1,
                  .machines = {2}),
         "the plan no longer fits (it pays for 60 of 78 tasks left): slow 2 "
         "for 1 window"},
        {DECISION(LOST, 78, .feasible = false, .windows = 1, .machines = {2}),
         "machines were lost: slow 2 for 1 window, 78 tasks left; the budget "
         "is too small for all tasks"},
        {DECISION(STALLED, 0, .windows = 1),
         "tasks are left, but no machine is held: none is bought, "
         "the windows already paid suffice"},
        {DECISION(PLANNED, 78, MORE_RESULTS,
                  .end = 5 * BATS_HOUR + 12 * BATS_MINUTE,
                  .cost = 44 * BATS_UNIT),
         "planned again (more results): slow 2, fast 1 for 4 windows, 83 "
         "tasks left; to end after 5h12m for 44 SU"},
        {DECISION(PLANNED, 78, MORE_RESULTS, .trigger = BATS_TRIGGER_WINDOW),
         "planned again (a window ends): slow 2, fast 1 for 4 windows, 83 "
         "tasks left"}, /* its end is not known */
        /* Machines in use are told from those that go on. */
        {DECISION(PLANNED, 17, .windows = 1, .machines = {4, 2},
                  .ending = {3, 2}),
         "planned again: slow 1 for 1 window; 5 machines will be parked; 17 "
         "tasks left"},
        {DECISION(PLANNED, 17, .windows = 1, .machines = {4, 2},
                  .ending = {4, 2}),
         "planned again: all machines will be parked; 17 tasks left"},
        {DECISION(PLANNED, 17, .windows = 1, .machines = {4, 2}),
         "planned again: slow 4, fast 2 for 1 window, 17 tasks left"},
        {DECISION(SAMPLED, 78, .windows = 4, .machines = {2, 1},
                  .is_guess = true),
         "every cluster sampled: slow 2, fast 1 for 4 windows, 78 tasks "
         "left; a guess: on one cluster no task has succeeded"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[512];
        assert_string_equal(bats_words_decision(text, sizeof text, &platform,
                                                &rows[i].decision),
                            rows[i].words);
    }
}

/* Of 2 slow machines and 1 fast one, the second plan parks the fast one, and
 * the third does not, before any window has ended; the fourth does. */
TEST(plans_that_undo_each_other_are_one)
{
    struct bats_report r = a_report();
    struct bats_decision d[5] = {decisions[0], decisions[1]};
    for (int i = 2; i < 5; i++) {
        d[i] = d[1];
        d[i].reason = BATS_REASON_PLANNED;
        d[i].time = i * 10 * BATS_MINUTE;
        d[i].replaces = i > 2;
    }
    d[2].ending[1] = d[4].ending[1] = 1;
    r.snapshot.decisions = d;
    r.snapshot.n_decisions = 4;
    assert_lacks(&r, "planned again");
    r.snapshot.n_decisions = 5;
    assert_lacks(&r, "20m  planned again");
    assert_lacks(&r, "30m  planned again");
    assert_has(
        &r, "     40m  planned again: slow 2 for 4 windows; 1 machine will");
    r.decisions_told = true;
    assert_lacks(&r, "reconfigurations");
}

/* A machine, 8 tasks of 30 minutes: it needs 4 windows, whatever is chosen. A
 * second cluster does as much in half of the time, for four times as much. */
TEST(a_name_without_a_row_is_explained)
{
    const struct bats_cluster clusters[] = {
        {.name = "slow", .charge = 3 * BATS_UNIT, .max = 1},
        {.name = "fast", .charge = 12 * BATS_UNIT, .max = 1}};
    const struct bats_runtimes runtimes[] = {
        bats_runtimes_given(30.0 * BATS_MINUTE),
        bats_runtimes_given(15.0 * BATS_MINUTE)};
    struct bats_estimator e = {.clusters = clusters,
                               .runtimes = runtimes,
                               .n_clusters = 1,
                               .n_tasks = 8,
                               .window = BATS_HOUR};
    struct bats_schedule offers[BATS_OFFERS];
    for (e.n_clusters = 1; e.n_clusters <= 2; e.n_clusters++) {
        char *text;
        size_t n;
        assert_ok(bats_estimate_offers(&e, offers, &n, &err));
        assert_int_equal(n, e.n_clusters == 1 ? 1 : 3);
        PRINT(text, bats_schedules_print(out, &e, offers, n, 200));
        if (!strstr(text, e.n_clusters == 1
                              ? "\ncheapest, cheaper, balanced and faster are "
                                "the same schedule as fastest here.\n"
                              : "\ncheaper is the same schedule as cheapest "
                                "here.\nfaster is the same schedule as "
                                "balanced here.\n"))
            fail_msg("%s", text);
        free(text);
    }
}

/* The value of the report's JSON at a path such as "clusters.0.name" is this,
 * written as JSON. */
static void has(const struct bats_report *r, const char *path,
                const char *expected)
{
    char words[100], *rest = words, *word, *text;
    PRINT(text, assert_ok(bats_report_json(out, r, &err)));
    assert_int_equal(text[strlen(text) - 1], '\n');
    json_t *all = json_loads(text, 0, NULL), *o = all;
    assert_non_null(all);
    free(text);
    snprintf(words, sizeof words, "%s", path);
    while ((word = strsep(&rest, ".")))
        o = json_is_array(o) ? json_array_get(o, (size_t)atoi(word))
                             : json_object_get(o, word);
    text = json_dumps(o, JSON_ENCODE_ANY | JSON_COMPACT);
    if (!text || strcmp(text, expected) != 0)
        fail_msg("%s is %s, not %s", path, text, expected);
    free(text);
    json_decref(all);
}

TEST(json_holds_everything_in_stated_units)
{
    struct bats_report r = a_report();
    struct bats_decision d[] = {decisions[0], decisions[1]};
    d[0].ending[0] = 3;
    r.snapshot.decisions = d;
    add_failure(&r, .task = 6, .exit_status = 3, .runtime = 1500000,
                .host = "n1", .command = "caf\xe9"); /* not UTF-8 */
    r.snapshot.status.done = 99;
    r.snapshot.status.failed = 1;
    r.exit_code = 1;
    static const char *const facts[][2] = {
        {"outcome", "\"tasks_failed\""},
        {"makespan_s", "16320.0"},
        {"start_s", "1795244221.5"},
        {"reserved", "\"155\""},
        {"currency", "\"SU\""},
        {"settings.bag", "\"bag.txt\""},
        {"clusters.0.charge", "\"3\""},
        {"clusters.0.mean_runtime_s", "900.0"},
        {"decisions.0.machines_ending.slow", "3"},
        {"decisions.1.time_s", "1200.0"},
        {"decisions.1.windows", "4"},
        {"decisions.1.budget_left", "\"80\""},
        {"decisions.1.tasks_paid", "null"},
        {"decisions.1.machines.slow", "2"},
        {"failed_tasks.0.runtime_s", "1.5"},
        {"failed_tasks.0.command", "\"caf\xee\xbf\xa9\""}};
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        has(&r, facts[i][0], facts[i][1]);
    bats_failures_release(&r.failures);
}

TEST(joblog_is_what_gnu_parallel_writes)
{
    char path[] = "/tmp/test_report.XXXXXX", text[512] = "";
    struct bats_joblog *log;
    struct bats_joblog_entry e = {.task = 2,
                                  .host = "n1",
                                  .start_us = 1795242957060600,
                                  .wall_us = 1506400,
                                  .stdout_bytes = 5,
                                  .exit_status = 0,
                                  .command = "echo  'a\tb'"};
    FILE *file = fdopen(mkstemp(path), "r+");
    assert_int_equal(write(fileno(file), "old\n", 4), 4);
    assert_int_equal(bats_joblog_create(path, &log, NULL), 0);
    assert_int_equal(lseek(fileno(file), 0, SEEK_END), 4); /* not yet */
    bats_joblog_begin(log);
    rewind(file);
    assert_int_equal(bats_joblog_write(log, &e, NULL), 0);
    e.task = 0;
    e.signal = 9;
    e.exit_status = 137;
    e.wall_us = 86400 * INT64_C(1000000);
    assert_int_equal(bats_joblog_write(log, &e, NULL), 0);
    /* Read before it is closed: a line must be there at once. */
    size_t n = fread(text, 1, sizeof text - 1, file);
    assert_int_equal(strlen(text), n);
    assert_string_equal(
        text, "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\t"
              "Signal\tCommand\n"
              "3\tn1\t1795242957.061\t     1.506\t0\t5\t0\t0\techo  'a\tb'\n"
              "1\tn1\t1795242957.061\t 86400.000\t0\t5\t0\t9\techo  'a\tb'\n");
    bats_joblog_destroy(log);
    fclose(file);
    remove(path);
}

TEST(joblog_that_cannot_be_written_is_refused)
{
    struct bats_joblog *log;
    assert_refused(bats_joblog_create("/nowhere/log", &log, &err), BATS_EINPUT,
                   "/nowhere/log: No such file or directory");
    struct bats_joblog_entry e = {.host = "", .command = ""};
    if (bats_joblog_create("/dev/full", &log, &err) == 0) {
        assert_int_equal(bats_joblog_write(log, &e, &err), BATS_ESYS);
        bats_joblog_destroy(log);
    }
}

/* 2 hours and 32 minutes for 52.5 after the sample. */
TEST(promise_is_held_against_what_it_came_to)
{
    struct bats_report r = a_report();
    r.snapshot.has_promise = true;
    r.snapshot.promise = (struct bats_schedule){
        .offer = BATS_OFFER_CHEAPEST_10,
        .plan = {.cost = 50 * BATS_UNIT},
        .cost_high = 60 * BATS_UNIT,
        .is_bounded = true,
        .makespan = {.estimate = 2.5 * (double)BATS_HOUR,
                     .high = 3 * (double)BATS_HOUR}};
    r.snapshot.sampled_at = 2 * BATS_HOUR;
    r.snapshot.sampled_charged = 40 * BATS_UNIT;
    assert_has(&r, "promised   cheapest+10%: 50 SU in 2h30m, at most 60 SU "
                   "in 3h\nactual     52.5 SU in 2h32m\n");
    has(&r, "promise.schedule", "\"cheapest+10%\"");
    has(&r, "promise.actual_cost", "\"52.5\"");
    has(&r, "promise.actual_makespan_s", "9120.0");
    /* Its upper bound would rest on no more than one task. */
    r.snapshot.promise.is_bounded = false;
    assert_has(&r, "promised   cheapest+10%: 50 SU in 2h30m\nactual ");
    has(&r, "promise.cost_high", "null");
    has(&r, "promise.makespan_high_s", "null");
}

/* The first cluster has only failed tasks. */
TEST(what_is_guessed_is_marked)
{
    struct bats_report r = a_report();
    r.snapshot.cluster[0].done = 0;
    r.snapshot.cluster[0].failed = 40;
    r.snapshot.cluster[0].is_guess = true;
    assert_has(&r, "   ~15m   ~1.00 ");
    assert_has(&r, "15     92.5    100\n"); /* failed tasks count, too */
    assert_has(&r, "  3m45s    0.96 ");
    assert_has(&r, "\n~ is a guess: ");
    has(&r, "clusters.0.is_guess", "true");
    has(&r, "clusters.1.is_guess", "false");
}

TEST_MAIN(NULL, NULL)
