/* queue: jobs that are handed in to a batch system. Slurm's commands are shell
 * scripts here, which print what Slurm 22.05 prints; the test writes what they
 * are to say. */
#include <sys/stat.h>
#include <unistd.h>

#include "helpers/test.h"
#include "site/queue.h"
#include "site/slurm.h"
#include "util/now.h"

extern const struct bats_batch_system bats_slurm;

#define PLACES 4

static struct bed {
    char dir[64];
    struct bats_job_request requests[PLACES];
    struct bats_queue *queue;
    int64_t now_us;
    char says[256]; /* the last sentence */
    uint32_t n[BATS_QUEUE_SAYS + 1];
    struct bats_queue_news last[BATS_QUEUE_SAYS + 1];
} the_bed, *const b = &the_bed;

/* ---- a Slurm of scripts ---- */

static void write_file(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void write_file(const char *name, const char *format, ...)
{
    char path[128];
    va_list args;
    snprintf(path, sizeof path, "%s/%s", b->dir, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    va_start(args, format);
    vfprintf(f, format, args);
    va_end(args);
    assert_int_equal(fclose(f), 0);
    chmod(path, 0755);
}

/* How often the command was called. */
static int calls(const char *name)
{
    char path[128], line[1024];
    int n = 0;
    snprintf(path, sizeof path, "%s/%s.calls", b->dir, name);
    FILE *f = fopen(path, "r");
    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        n++;
    if (f != NULL)
        fclose(f);
    return n;
}

/* The command prints this, and exits with `code`. */
static void says(const char *name, int code, const char *text)
{
    write_file(name,
               "#!/bin/sh\necho \"$*\" >>%s/%s.calls\ncat <<'END'\n%s\nEND\n"
               "test %d = 0 || echo 'it does not work' >&2\nexit %d\n",
               b->dir, name, text, code, code);
}

#define SUBMITTED "900"

/* A line of squeue. */
static void lists_as(const char *id, const char *mark, const char *submitted,
                     const char *state, const char *reason, const char *start,
                     const char *end, const char *billing)
{
    char text[512];
    snprintf(text, sizeof text,
             "%-32s%-48s%-20s%-40s%-24s%-24s%-64s%-24s%-160s", id, mark, state,
             reason, start, end, "slow", submitted, billing);
    says("squeue", 0, text);
}

/* The first job at its place. */
static void lists(uint32_t place, const char *id, const char *state,
                  const char *reason, const char *start, const char *end,
                  const char *billing)
{
    char mark[BATS_JOB_ID];
    snprintf(mark, sizeof mark, "1.%u.1.end", place);
    lists_as(id, mark, SUBMITTED, state, reason, start, end, billing);
}

static int tear_down(void **state)
{
    char command[128];
    bats_queue_destroy(b->queue);
    snprintf(command, sizeof command, "rm -rf '%s'", b->dir);
    *b = (struct bed){.now_us = 0};
    return system(command);
}

static struct bats_queue_options options(bool accounts)
{
    return (struct bats_queue_options){.system = &bats_slurm,
                                       .rules = {.accounts = accounts,
                                                 .keeps_s = 300},
                                       .name = "bats-test",
                                       .requests = b->requests,
                                       .tag = "1",
                                       .n = PLACES,
                                       .interval_us = 10000000};
}

static void set_up(bool accounts)
{
    char path[4096];
    assert_int_equal(tear_down(NULL), 0);
    *b = (struct bed){.dir = "/tmp/test_queue.XXXXXX"};
    assert_non_null(mkdtemp(b->dir));
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", b->dir);
    setenv("PATH", path, 1);
    for (int i = 0; i < PLACES; i++)
        b->requests[i] = (struct bats_job_request){.mark = "end",
                                                   .partition = "slow",
                                                   .nodes = 1,
                                                   .ranks = 2,
                                                   .limit_s = 61,
                                                   .output = "/dev/null",
                                                   .command = "true"};
    struct bats_queue_options o = options(accounts);
    assert_ok(bats_queue_create(&o, &b->queue, &err));
    b->now_us = bats_now_us(CLOCK_MONOTONIC);
    says("sbatch", 0, "17");
    says("scancel", 0, "");
    says("squeue", 0, "");
    says("sacct", 0, "");
}

/* So many jobs alike may be submitted together. */
static void set_up_together(uint32_t n)
{
    struct bats_queue_options o = options(true);
    set_up(true);
    bats_queue_destroy(b->queue);
    o.rules.together = n;
    assert_ok(bats_queue_create(&o, &b->queue, &err));
}

static void hear(void)
{
    struct bats_queue_news news;
    while (bats_queue_next(b->queue, &news)) {
        b->n[news.type]++;
        b->last[news.type] = news;
    }
}

/* Turns until nothing is due before `until_us` from now; the time is the
 * test's, but for commands that run. */
static void pass(int64_t time_us)
{
    int64_t end_us = b->now_us + time_us;
    while (b->now_us < end_us) {
        int64_t due_us = INT64_MAX;
        assert_ok(bats_queue_turn(b->queue, b->now_us, &due_us, &err));
        hear();
        if (due_us <= b->now_us + 10000) { /* a command runs */
            usleep(1000);
            continue;
        }
        b->now_us = due_us < end_us ? due_us : end_us;
    }
}

#define SECONDS 1000000

/* So many jobs are billed, the last with this amount. */
static void billed(uint32_t n, bats_money amount)
{
    assert_int_equal(b->n[BATS_QUEUE_BILLED], n);
    assert_int_equal(b->last[BATS_QUEUE_BILLED].amount, amount);
}

/* A job at the place, which runs the time that sbatch takes. */
static void submit(uint32_t place)
{
    bats_queue_submit(b->queue, place);
    pass(SECONDS);
}

/* ---- tests ---- */

TEST(a_job_is_submitted_and_billed_by_the_accounting)
{
    set_up(true);
    submit(2);
    assert_int_equal(b->n[BATS_QUEUE_SUBMITTED], 1);
    assert_string_equal(b->last[BATS_QUEUE_SUBMITTED].id, "17");
    lists(2, "17", "RUNNING", "None", "1000", "1060", "cpu=2,billing=16");
    pass(10 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_RUNS], 1);
    assert_int_equal(b->last[BATS_QUEUE_RUNS].start_s, 1000);
    assert_int_equal(b->last[BATS_QUEUE_RUNS].end_s, 1060);
    assert_true(b->last[BATS_QUEUE_RUNS].rate == 16);
    lists(2, "17", "COMPLETED", "None", "1000", "1009", "cpu=2,billing=16");
    says("sacct", 0,
         "17|RUNNING|900|Unknown|8|billing=16,cpu=2,node=1|bats-test");
    pass(10 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_ENDED], 1);
    assert_int_equal(b->n[BATS_QUEUE_BILLED], 0);
    says("sacct", 0,
         "17|COMPLETED|900|1009|9|billing=16,cpu=2,energy=400,node=1|"
         "bats-test");
    pass(10 * SECONDS);
    billed(1, 40000);
    assert_int_equal(b->last[BATS_QUEUE_BILLED].energy_j, 400);
    assert_int_equal(b->last[BATS_QUEUE_BILLED].place, 2);
    /* 9 * 16/3600 */
    assert_int_equal(bats_queue_count(b->queue), 0);
}

/* Submitted at 900 by Slurm's clock, which is decades late, started at 907. */
TEST(a_job_is_as_old_as_its_submission_until_its_start_is_known)
{
    bool known;
    set_up(true);
    int64_t sent_us = b->now_us;
    submit(0);
    assert_int_equal(bats_queue_age(b->queue, 0, b->now_us, &known),
                     b->now_us - sent_us);
    assert_false(known);
    lists(0, "17", "RUNNING", "None", "907", "967", "cpu=2,billing=16");
    pass(10 * SECONDS);
    assert_int_equal(bats_queue_age(b->queue, 0, b->now_us, &known),
                     b->now_us - sent_us - 6 * SECONDS);
    assert_true(known);
}

/* Places 0 to 2 in one submission; the element at 2 is withdrawn while it waits,
 * and then neither squeue nor sacct know it. */
TEST(jobs_alike_are_submitted_together)
{
    bool unsure;
    set_up_together(500);
    for (uint32_t i = 0; i < 3; i++)
        bats_queue_submit(b->queue, i);
    pass(SECONDS);
    assert_int_equal(calls("sbatch"), 1);
    assert_int_equal(b->n[BATS_QUEUE_SUBMITTED], 3);
    for (uint32_t i = 0; i < 3; i++) {
        char id[8];
        snprintf(id, sizeof id, "17_%u", i);
        assert_int_equal(bats_queue_find(b->queue, id, &unsure), i);
    }
    /* The mark is that of the first element. */
    lists_as("17_1", "1.0.1.end", SUBMITTED, "RUNNING", "None", "1000", "1060",
             "cpu=2,billing=16");
    bats_queue_cancel(b->queue, 2, 0);
    pass(9 * SECONDS);
    assert_int_equal(b->last[BATS_QUEUE_RUNS].place, 1);
    assert_string_equal(b->last[BATS_QUEUE_RUNS].id, "17_1");
    pass(40 * SECONDS);
    billed(2, 0);
    assert_int_equal(bats_queue_count(b->queue), 1);
}

TEST(if_jobs_alike_are_refused_half_of_them_are_tried)
{
    set_up_together(500);
    write_file("sbatch",
               "#!/bin/sh\necho \"$*\" >>%s/sbatch.calls\n"
               "case $* in *--array=0-3*) exit 1 ;; esac\necho 17\n",
               b->dir);
    for (uint32_t i = 0; i < 4; i++)
        bats_queue_submit(b->queue, i);
    pass(30 * SECONDS);
    assert_int_equal(calls("sbatch"), 3);
    assert_int_equal(b->n[BATS_QUEUE_SUBMITTED], 4);
}

/* What a list has said of the rate holds if the next one says nothing. */
TEST(without_accounting_the_time_held_is_billed)
{
    set_up(false);
    submit(0);
    lists(0, "17", "RUNNING", "None", "1000", "1060", "cpu=2,billing=16");
    pass(10 * SECONDS);
    lists(0, "17", "TIMEOUT", "None", "1000", "1064", "");
    pass(10 * SECONDS);
    billed(1, 284445);
    assert_int_equal(calls("sacct"), 0);
}

/* Slurm lists when it plans to start a job that waits. */
TEST(a_start_that_was_only_planned_is_not_billed)
{
    set_up(false);
    submit(0);
    lists(0, "17", "PENDING", "Priority", "1000", "1060", "billing=16");
    pass(10 * SECONDS);
    says("squeue", 0, "");
    pass(30 * SECONDS);
    billed(1, 0);
}

TEST(all_jobs_are_listed_at_once_and_not_too_often)
{
    set_up(true);
    pass(100 * SECONDS);
    assert_int_equal(calls("squeue"), 0);
    lists(0, "17", "PENDING", "Priority", "N/A", "N/A", "billing=16");
    bats_queue_submit(b->queue, 0);
    pass(100 * SECONDS);
    assert_in_range(calls("squeue"), 10, 11);
    struct bats_queue_waiting waiting;
    bats_queue_waiting(b->queue, &waiting);
    assert_int_equal(waiting.n, 1);
    assert_string_equal(waiting.reason, "Priority");
}

TEST(submissions_that_fail_are_tried_again_ever_less_often)
{
    set_up(true);
    says("sbatch", 1, "");
    bats_queue_submit(b->queue, 0);
    pass(1000 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_SAYS], 1);
    assert_non_null(
        strstr(b->last[BATS_QUEUE_SAYS].sentence, "it does not work"));
    assert_in_range(calls("sbatch"), 8, 30);
    says("sbatch", 0, "18");
    pass(100 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_SUBMITTED], 1);
}

/* 10 s and 1, 2, 4, ... 60 s: some 20 in 1,000 s, instead of 100. */
TEST(lists_that_fail_become_ever_rarer)
{
    set_up(true);
    says("squeue", 1, "");
    bats_queue_submit(b->queue, 0);
    pass(1000 * SECONDS);
    assert_in_range(calls("squeue"), 15, 25);
    assert_int_equal(b->n[BATS_QUEUE_SAYS], 1);
    lists(0, "17", "PENDING", "Priority", "N/A", "N/A", "billing=16");
    pass(200 * SECONDS);
    assert_in_range(calls("squeue"), 25, 46);
}

/* sbatch fails, but the list shows that the job is there. */
TEST(a_job_without_an_answer_is_found_by_its_mark)
{
    set_up(true);
    write_file(
        "sbatch",
        "#!/bin/sh\nfor w; do case $w in --comment=*)\n"
        "printf '%%-32s%%-48s%%-20s%%-40s%%-24s%%-24s%%-64s%%-24s%%-160s\\n' "
        "21 ${w#*=} PENDING None N/A N/A slow 900 billing=16 >%s/list ;;\n"
        "esac; done\nexit 1\n",
        b->dir);
    write_file("squeue", "#!/bin/sh\ncat %s/list\n", b->dir);
    bats_queue_submit(b->queue, 1);
    pass(60 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_SUBMITTED], 1);
    assert_string_equal(b->last[BATS_QUEUE_SUBMITTED].id, "21");
}

TEST(a_job_that_is_to_end_is_cancelled_and_not_found)
{
    bool unsure;
    set_up(true);
    submit(3);
    assert_int_equal(bats_queue_find(b->queue, "17", &unsure), 3);
    assert_int_equal(bats_queue_find(b->queue, "18", &unsure), BATS_NO_JOB);
    assert_false(unsure);
    bats_queue_cancel(b->queue, 3, 0);
    assert_int_equal(bats_queue_find(b->queue, "17", &unsure), BATS_NO_JOB);
    pass(SECONDS);
    assert_int_equal(calls("scancel"), 1);
    lists(3, "17", "CANCELLED", "None", "N/A", "1009", "billing=16");
    says("sacct", 0, "17|CANCELLED by 0|900|1009|0||bats-test");
    pass(20 * SECONDS);
    billed(1, 0);
}

TEST(a_job_that_was_not_submitted_yet_costs_nothing)
{
    set_up(true);
    bats_queue_submit(b->queue, 0);
    bats_queue_cancel(b->queue, 0, 0);
    pass(SECONDS);
    billed(1, 0);
    assert_int_equal(calls("sbatch"), 0);
}

/* The accounting never hears of it: after ten minutes the list has to do. */
TEST(a_bill_that_never_comes_is_the_time_held)
{
    set_up(true);
    submit(0);
    lists(0, "17", "COMPLETED", "None", "1000", "1036", "billing=100");
    says("sacct", 1, "");
    pass(500 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_BILLED], 0);
    pass(200 * SECONDS);
    billed(1, 1000000);
}

/* slurmctld was killed, and does not know a job any more that it had shown to
 * run. It would show its end for five minutes, had it seen that. */
TEST(a_job_that_was_forgotten_is_billed_after_half_a_minute)
{
    set_up(true);
    submit(0);
    lists(0, "17", "RUNNING", "None", "1000", "1060", "billing=100");
    says("sacct", 0, "17|RUNNING|900|Unknown|66|billing=100|bats-test");
    pass(30 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_RUNS], 1);
    says("squeue", 0, "");
    pass(90 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_ENDED], 1);
    assert_true(b->last[BATS_QUEUE_ENDED].is_forgotten);
    billed(1, 1666667); /* until 1060 at most */
}

/* A list has shown its end, but slurmctld was killed before the accounting knew
 * it, and does not know the job. */
TEST(so_is_one_that_was_forgotten_after_its_end)
{
    set_up(true);
    submit(0);
    lists(0, "17", "FAILED", "None", "1000", "1036", "billing=100");
    pass(10 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_ENDED], 1);
    assert_false(b->last[BATS_QUEUE_ENDED].is_forgotten);
    says("squeue", 0, "");
    pass(80 * SECONDS);
    billed(1, 1000000);
}

/* slurmctld did not know the job for a while. */
TEST(a_job_that_comes_back_is_cancelled)
{
    set_up(true);
    submit(0);
    lists(0, "17", "RUNNING", "None", "1000", "1060", "billing=100");
    pass(10 * SECONDS);
    says("squeue", 0, "");
    while (b->n[BATS_QUEUE_ENDED] == 0)
        pass(SECONDS);
    assert_int_equal(calls("scancel"), 0);
    lists(0, "17", "RUNNING", "None", "1000", "1060", "billing=100");
    pass(15 * SECONDS);
    assert_int_equal(calls("scancel"), 1);
    says("sacct", 0, "17|CANCELLED|900|1036|36|billing=100|bats-test");
    pass(20 * SECONDS);
    billed(1, 1000000);
}

/* The accounting knows an element that no list has shown: it has begun, and is
 * not billed as one that has not. */
TEST(an_element_that_the_accounting_knows_has_begun)
{
    set_up_together(500);
    for (uint32_t i = 0; i < 2; i++)
        bats_queue_submit(b->queue, i);
    pass(SECONDS);
    says("sacct", 0, "17_1|RUNNING|900|Unknown|66|billing=100|bats-test");
    pass(28 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_ENDED], 2);
    billed(1, 0);
    assert_string_equal(b->last[BATS_QUEUE_BILLED].id, "17_0");
}

/* As Slurm 22.05 shows a job that ended while slurmdbd was away: the time goes
 * on. It is said that the run waits. */
TEST(a_bill_without_an_end_is_not_final)
{
    set_up(true);
    submit(0);
    lists(0, "17", "COMPLETED", "None", "1000", "1009", "billing=16");
    says("sacct", 0,
         "17|COMPLETED|900|Unknown|66|billing=16,cpu=2,node=1|bats-test");
    pass(25 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_ENDED], 1);
    assert_int_equal(b->n[BATS_QUEUE_SAYS], 0);
    pass(300 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_BILLED], 0);
    assert_in_range(b->n[BATS_QUEUE_SAYS], 3, 5); /* 30, 60, 120, 240 s */
    assert_non_null(strstr(b->last[BATS_QUEUE_SAYS].sentence,
                           "does not yet know the end of 1 job,"));
    /* So slurmdbd shows an element when the array's first job has failed. */
    says("sacct", 0,
         "17|NODE_FAIL|900|998|0|billing=16,cpu=2,node=1|bats-test");
    pass(10 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_BILLED], 0);
    says("sacct", 0,
         "17|COMPLETED|900|1009|9|billing=16,cpu=2,node=1|bats-test");
    pass(10 * SECONDS);
    billed(1, 40000);
    assert_string_equal(b->last[BATS_QUEUE_BILLED].id, "17");
}

/* slurmctld has lost its state while a job runs, and numbers begin again. */
TEST(a_number_that_is_given_again_is_another_job)
{
    bool unsure;
    set_up(true);
    submit(0);
    lists(0, "17", "RUNNING", "None", "1000", "1060", "billing=16");
    pass(10 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_RUNS], 1);
    bats_queue_submit(b->queue, 1);
    lists_as("17", "1.1.1.end", "2000", "RUNNING", "None", "2000", "2060",
             "billing=16");
    says("sacct", 0,
         "17|COMPLETED|2000|2030|30|billing=16,cpu=2,node=1|bats-test\n"
         "17|COMPLETED|901|990|89|billing=16,cpu=2,node=1|other\n"
         "17|NODE_FAIL|900|1009|9|billing=16,cpu=2,node=1|bats-test");
    pass(30 * SECONDS);
    assert_int_equal(bats_queue_find(b->queue, "17", &unsure), 1);
    assert_int_equal(b->n[BATS_QUEUE_ENDED], 1);
    assert_int_equal(b->last[BATS_QUEUE_ENDED].place, 0);
    billed(1, 40000);
    assert_int_equal(b->n[BATS_QUEUE_RUNS], 2);
    lists_as("17", "1.1.1.end", "2000", "COMPLETED", "None", "2000", "2030",
             "billing=16");
    pass(20 * SECONDS);
    billed(2, 133334);
    assert_int_equal(calls("scancel"), 0);
}

/* No list has shown the first one. */
TEST(a_bill_is_that_of_the_job_that_a_list_has_shown)
{
    set_up(true);
    submit(0);
    submit(1);
    lists_as("17", "1.1.1.end", "2000", "COMPLETED", "None", "2000", "2030",
             "billing=16");
    says("sacct", 0,
         "17|COMPLETED|2000|2030|30|billing=16,cpu=2,node=1|bats-test");
    pass(90 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_BILLED], 2);
    assert_int_equal(b->last[BATS_QUEUE_BILLED].place, 0);
    billed(2, 0);
}

/* The number is a stranger's now: he is neither cancelled nor waited for. */
TEST(the_job_of_somebody_else_is_left_alone)
{
    set_up(false);
    submit(0);
    lists(0, "17", "RUNNING", "None", "1000", "1060", "billing=3600");
    pass(10 * SECONDS);
    lists_as("17", "2.0.1.end", "2000", "RUNNING", "None", "2000", "2060",
             "billing=3600");
    pass(30 * SECONDS);
    assert_int_equal(b->n[BATS_QUEUE_ENDED], 1);
    billed(1, 60 * BATS_UNIT);
    struct bats_argv argv = {0};
    const char *ids[] = {"17"};
    bats_slurm_jobs.cancel("bats-test", ids, 1, &argv);
    assert_string_equal(argv.words[2], "--name=bats-test");
    bats_argv_release(&argv);
}

/* Bills of an earlier session: number, name and time of submission count. */
TEST(earlier_bills_are_those_of_the_runs_own_jobs)
{
    set_up(true);
    says("sacct", 0,
         "17|COMPLETED|900|1009|9|billing=16|bats-test\n"
         "17|COMPLETED|800|880|80|billing=16|other\n"
         "17|COMPLETED|700|790|90|billing=16|bats-test\n"
         "18|RUNNING|901|Unknown|50|billing=16|bats-test\n"
         "19|COMPLETED|902|Unknown|500|billing=16|bats-test\n"
         "30|COMPLETED|903|999|36|billing=1|alloc.sh\n"
         "31|RUNNING|904|Unknown|36|billing=1|alloc.sh");
    struct bats_job_view list[] = {
        {.id = "17", .submit_s = 900, .phase = BATS_JOB_ENDED},
        {.id = "18", .submit_s = 901, .phase = BATS_JOB_RUNS},
        {.id = "19",
         .submit_s = 902,
         .phase = BATS_JOB_ENDED,
         .start_s = 1000,
         .end_s = 1036,
         .rate = 100}};
    bool is_taken[] = {false, true, false};
    struct bats_job_past past = {.name = "bats-test",
                                 .list = list,
                                 .is_taken = is_taken,
                                 .n = 3,
                                 .own = "30,31",
                                 .now = "31"};
    bats_money sum;
    size_t open;
    assert_ok(
        bats_job_system_bills(&bats_slurm, &past, false, &sum, &open, &err));
    assert_int_equal(open, 1);
    assert_ok(
        bats_job_system_bills(&bats_slurm, &past, true, &sum, &open, &err));
    assert_int_equal(open, 0);
    assert_int_equal(sum, 40000 + 400000 + 1000000 + 10000);
}

TEST(a_batch_system_that_is_away_is_told_from_none)
{
    const struct bats_batch_system *system;
    struct bats_job_rules rules;
    set_up(true);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", b->dir, 1); /* without scontrol */
    assert_int_equal(bats_job_system_find(NULL, &system, &rules, &err),
                     BATS_EINPUT);
    setenv("PATH", path, 1);
    free(path);
    set_up(true);
    says("scontrol", 1, "");
    assert_refused(bats_job_system_find(NULL, &system, &rules, &err),
                   BATS_ESYS,
                   "Slurm does not answer: scontrol failed: "
                   "it does not work");
}

/* Slurm 22.05, shortened. */
#define JOB(cpus, qos)                                                        \
    "JobId=1 UserId=anna(1000) Account=brief QOS=" qos " Partition=fast "     \
    "NumNodes=1 NumCPUs=" cpus " TRES=cpu=" cpus ",node=1,billing=24"

static void asks_for(const char *max, const char *of_partition,
                     const char *of_qos)
{
    write_file("scontrol",
               "#!/bin/sh\ncase \"$*\" in *partition*)\n"
               "echo 'PartitionName=fast QoS=%s GraceTime=10 MaxTime=%s "
               "PreemptMode=REQUEUE' ;;\n"
               "*qos=part*) echo 'QOS=part(3) MaxWallPJ=4 MinTRESPJ=' ;;\n"
               "*qos=hasty*) echo 'QOS=hasty(2) "
               "GrpTRESMins=cpu=N(0),billing=100(40) MaxWallPJ=%s "
               "MaxTRESPJ=' ;;\n"
               "*accounts=brief*)\n"
               "echo 'ClusterName=c Account=brief UserName= Partition= "
               "ParentAccount= GrpTRESMins=billing=900(0) MaxWallPJ=9 X='\n"
               "echo 'ClusterName=c Account=brief UserName=bert(1001) "
               "Partition= MaxWallPJ=1 X='\n"
               "echo 'ClusterName=c Account=brief UserName=anna(1000) "
               "Partition= GrpTRESMins=billing=N(0) MaxWallPJ=2 X=' ;;\n"
               "esac\n",
               of_partition, max, of_qos);
}

TEST(no_job_asks_for_more_time_than_a_limit_allows)
{
    set_up(true);
    says("sinfo", 0, "1");
    asks_for("00:01:00", "N/A", "3");
    assert_int_equal(bats_slurm_partition(JOB("3", "hasty")).limit_s, 60);
    asks_for("1-00:00:00", "N/A", "3");
    assert_int_equal(bats_slurm_partition(JOB("3", "hasty")).limit_s, 180);
    assert_int_equal(bats_slurm_partition(JOB("3", "(null)")).limit_s, 120);
    asks_for("UNLIMITED", "N/A", "");
    assert_int_equal(bats_slurm_partition(JOB("3", "hasty")).limit_s, 120);
    asks_for("UNLIMITED", "part", "9");
    struct bats_job_partition p = bats_slurm_partition(JOB("3", "hasty"));
    assert_int_equal(p.limit_s, 240);
    assert_int_equal(p.notice_s, 10);
    assert_string_equal(p.quality, "hasty");
    asks_for("UNLIMITED", "N/A", "");
    assert_int_equal(
        bats_slurm_partition("JobId=1 Partition=fast NumNodes=1 NumCPUs=1")
            .limit_s,
        0);
}

/* 3 CPUs of cores with two threads are billed as 4. */
TEST(jobs_are_billed_for_whole_cores)
{
    set_up(true);
    asks_for("UNLIMITED", "N/A", "");
    says("sinfo", 0, "1\n2");
    assert_true(bats_slurm_partition(JOB("3", "x")).rounding == 4.0 / 3);
    assert_true(bats_slurm_partition(JOB("4", "x")).rounding == 1);
    says("sinfo", 0, "1");
    assert_true(bats_slurm_partition(JOB("3", "x")).rounding == 1);
}

/* 60 of 100 minutes are left of the QOS, and what is billed counts twice. */
TEST(a_qos_has_a_limit_and_a_factor)
{
    struct bats_account account;
    struct bats_allocation job = {
        .account = "brief", .user = "anna", .qos = "hasty"};
    char words[BATS_ACCOUNT_WORDS];
    set_up(true);
    asks_for("UNLIMITED", "N/A", "");
    says("sacctmgr", 0, "2.000000");
    assert_ok(bats_slurm_account(&job, &account, &err));
    assert_string_equal(bats_account_words(words, &account),
                        "QOS hasty: 40 of 100 billing-minutes are used");
    assert_int_equal(bats_account_left(&account), BATS_UNIT / 2);
    says("sacctmgr", 1, "");
    assert_ok(bats_slurm_account(&job, &account, &err));
    assert_int_equal(bats_account_left(&account), BATS_UNIT);
    says("sacctmgr", 0, "0.000000");
    assert_ok(bats_slurm_account(&job, &account, &err));
    assert_int_equal(bats_account_left(&account), BATS_UNLIMITED);
}

TEST(options_that_break_the_accounting_are_refused)
{
    char refused[] = "--requeue --req --array=1-3 --array -a1-3 -a --hold -H "
                     "-QH --wait -W --test-only -N2 -n --ntasks=3 --time -t5 "
                     "--time=5 --job-name=x --comment=x : -Mall --nodes=2-4";
    char passed[] = "--qos=hasty --mem=4G -x slow[2-4] --export=PATH=/nowhere "
                    "--exclusive -c -c3 1 --dependency=afterok:7 -d "
                    "--nodelist=a --wait-all-nodes=1 --begin=now+5 -Cavx "
                    "--no-requeue --account-x -s --threads-per-core=1 -Dhome";
    for (char *w = strtok(refused, " "); w != NULL; w = strtok(NULL, " "))
        if (bats_slurm_jobs.refuses(w) == NULL)
            fail_msg("%s is passed on", w);
    for (char *w = strtok(passed, " "); w != NULL; w = strtok(NULL, " "))
        if (bats_slurm_jobs.refuses(w) != NULL)
            fail_msg("%s is refused", w);
}

TEST(what_nodes_have_is_read_from_sinfo_and_from_the_words_of_sbatch)
{
    struct bats_stock kinds[4];
    assert_int_equal(bats_slurm_jobs.read_nodes(
                         "64|1000|(null)\n"
                         "128|515000|gpu:a100:4(S:0,2),gpu:t4:2,nic:1\n"
                         "8|900|gpu\n"
                         "8|900|gpu:a100,gpu=2,gpus:3,shard:2\n",
                         kinds, 4),
                     4);
    assert_int_equal(kinds[0].cores, 64);
    assert_int_equal(kinds[0].gpus, 0);
    assert_int_equal(kinds[0].memory_kib, 1000 * 1024);
    assert_int_equal(kinds[1].gpus, 6);
    assert_int_equal(kinds[2].gpus, 1);
    assert_int_equal(kinds[3].gpus, 3);

    const char *words[] = {"--qos=low", "--mem", "3G", "--gres=gpu:x:2", NULL};
    struct bats_stock node = {.memory_kib = 7, .gpus = 7};
    bats_slurm_jobs.requests(words, &node);
    assert_int_equal(node.memory_kib, 3 << 20);
    assert_int_equal(node.gpus, 2);
    const char *others[] = {"--mem-per-cpu=1", "--gpus-per-node=a100:3", NULL};
    bats_slurm_jobs.requests(others, &node);
    assert_int_equal(node.memory_kib, 3 << 20);
    assert_int_equal(node.gpus, 3);
    const char *small[] = {"--mem=500", NULL};
    bats_slurm_jobs.requests(small, &node);
    assert_int_equal(node.memory_kib, 500 * 1024);
    const char *lower[] = {"--mem=4g", NULL};
    bats_slurm_jobs.requests(lower, &node);
    assert_int_equal(node.memory_kib, 4 << 20);
}

TEST(what_the_site_adds_to_a_limit_is_known)
{
    struct bats_job_rules rules;
    assert_ok(bats_slurm_jobs.read_rules(
        "KillOnBadExit           = 0\n"
        "KillWait                = 30 sec\n"
        "OverTimeLimit           = 2 min\n"
        "SlurmdTimeout           = 300 sec\n"
        "MessageTimeout          = 10 sec\n"
        "AccountingStorageType   = accounting_storage/slurmdbd",
        &rules, &err));
    assert_int_equal(rules.overrun_s, 30 + 120 + 5);
    assert_int_equal(rules.hang_s, 300 + 100 + 10 + 5);
    assert_true(rules.accounts);
    assert_int_equal(bats_slurm_jobs.read_rules(
                         "slurm_load: Unable to contact", &rules, &err),
                     BATS_EINPUT);
    assert_int_equal(bats_slurm_jobs.read_rules("KillWait = 30 sec\n"
                                                "OverTimeLimit = UNLIMITED\n",
                                                &rules, &err),
                     BATS_EINPUT);
}

TEST(a_job_with_nodes_of_its_own_is_known_by_what_slurm_shows)
{
    uint32_t whole;
    assert_true(bats_slurm_read_rate("JobId=1 Partition=fast NumNodes=1-1 "
                                     "TRES=cpu=2,mem=1000M,node=1,billing=16 "
                                     "Socks/Node=* OverSubscribe=OK",
                                     &whole) == 16);
    assert_int_equal(whole, 0);
    assert_true(bats_slurm_read_rate("JobId=1 Partition=fast NumNodes=3-3 "
                                     "TRES=cpu=6,mem=1000M,node=3,billing=48 "
                                     "Socks/Node=* OverSubscribe=NO",
                                     &whole) == 48);
    assert_int_equal(whole, 3);
    assert_true(bats_slurm_read_rate("JobId=1 JobName=x", &whole) < 0);
    assert_true(bats_slurm_read_rate("JobId=1 TRES=cpu=1,mem=1000M,node=1",
                                     &whole) == 0); /* less than 1 */
    assert_true(
        bats_slurm_read_node_rate("PartitionName=whole TotalCPUs=128 "
                                  "TotalNodes=2 TRES=cpu=128,mem=2000M,"
                                  "node=2,billing=1024 MaxMem=1") == 512);
    assert_true(bats_slurm_read_node_rate("PartitionName=whole TotalNodes=2") <
                0);
}

TEST_MAIN(NULL, tear_down)
