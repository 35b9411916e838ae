/* queue: jobs that are handed in to a batch system. Slurm's commands are shell
 * scripts here, which print what Slurm 22.05 prints; the test writes what they
 * are to say. */
#include <sys/stat.h>

#include "helpers/directory.h"
#include "site/queue.h"
#include "site/slurm.h"
#include "util/now.h"
#include "util/text.h"

extern const struct bats_batch_system bats_slurm;

#define PLACES 4
#define SECONDS INT64_C(1000000)

static struct bed {
    struct bats_job_request requests[PLACES];
    struct bats_queue *queue;
    int64_t now_us;
    char news[512], says[256]; /* the last sentence */
    uint32_t n[BATS_QUEUE_SAYS + 1];
} the_bed, *const b = &the_bed;

/* ---- a Slurm of scripts ---- */

/* The command is this script, which counts its calls. */
static void script(const char *name, const char *lines)
{
    char text[4096];
    snprintf(text, sizeof text, "#!/bin/sh\necho >>%s.calls\n%s\n", name,
             lines);
    write_text(name, text);
    chmod(name, 0755);
}

/* How often the command was called. */
static int calls(const char *name)
{
    char path[32];
    struct stat st = {.st_size = 0};
    snprintf(path, sizeof path, "%s.calls", name);
    stat(path, &st);
    return (int)st.st_size;
}

/* The command prints this, and exits with `code`. */
static void says(const char *name, int code, const char *text)
{
    char lines[4000];
    snprintf(lines, sizeof lines,
             "cat <<'END'\n%s\nEND\n"
             "test %d = 0 || echo 'it does not work' >&2\nexit %d",
             text, code, code);
    script(name, lines);
}

static int tear_down(void **state)
{
    bats_queue_destroy(b->queue);
    b->queue = NULL;
    return leave_directory(state);
}

static int64_t late_s; /* of the rules */

/* So many jobs alike may be submitted together. */
static void set_up(bool accounts, uint32_t together)
{
    char path[64];
    struct bats_queue_options o = {.system = &bats_slurm,
                                   .rules = {.accounts = accounts,
                                             .together = together,
                                             .keeps_s = late_s > 0 ? 0 : 300,
                                             .late_s = late_s,
                                             .overrun_s = 60},
                                   .name = "bats-test",
                                   .requests = b->requests,
                                   .tag = "1",
                                   .n = PLACES,
                                   .interval_us = 10 * SECONDS};
    tear_down(NULL);
    *b = (struct bed){.now_us = 0};
    assert_int_equal(enter_directory(NULL), 0);
    snprintf(path, sizeof path, "%s:/usr/bin:/bin", directory);
    setenv("PATH", path, 1);
    for (int i = 0; i < PLACES; i++)
        b->requests[i] = (struct bats_job_request){.mark = "end",
                                                   .partition = "slow",
                                                   .nodes = 1,
                                                   .ranks = 2,
                                                   .limit_s = 61,
                                                   .output = "/dev/null",
                                                   .command = "true"};
    assert_ok(bats_queue_create(&o, &b->queue, &err));
    b->now_us = bats_now_us(CLOCK_MONOTONIC);
    says("sbatch", 0, "17");
    says("scancel", 0, "");
    says("squeue", 0, "");
    says("sacct", 0, "");
}

/* ---- a play, in words ---- */

/* A line of squeue: number, mark, time of submission, state, reason, start, end
 * and rate ("-": none). */
static void list(const char *words)
{
    char text[640], w[8][48];
    assert_int_equal(sscanf(words, "%47s%47s%47s%47s%47s%47s%47s%47s", w[0],
                            w[1], w[2], w[3], w[4], w[5], w[6], w[7]),
                     8);
    snprintf(text, sizeof text,
             "%-32s%-48s%-20s%-40s%-24s%-24s%-64s%-24s%s%-152s", w[0], w[1],
             w[3], w[4], w[5], w[6], "slow", w[2],
             strcmp(w[7], "-") ? "billing=" : "        ",
             strcmp(w[7], "-") ? w[7] : "");
    says("squeue", 0, text);
}

static void submit(const char *places)
{
    uint32_t place;
    for (int n; sscanf(places, "%u%n", &place, &n) == 1; places += n)
        bats_queue_submit(b->queue, place);
}

static void cancel(const char *place)
{
    bats_queue_cancel(b->queue, (uint32_t)atoi(place), b->now_us);
}

static void hear(void)
{
    static const char *const words[] = {"submitted", "runs", "ended", "billed",
                                        "says"};
    struct bats_queue_news n;
    while (bats_queue_next(b->queue, &n)) {
        const char *comma = b->news[0] != '\0' ? ", " : "";
        b->n[n.type]++;
        if (n.type == BATS_QUEUE_SAYS) {
            strcpy(b->says, n.sentence);
            continue;
        }
        bats_append(b->news, sizeof b->news, "%s%s %u %s", comma,
                    words[n.type], n.place, n.id);
        if (n.type == BATS_QUEUE_RUNS)
            bats_append(b->news, sizeof b->news, " %lld-%lld at %g",
                        (long long)n.start_s, (long long)n.end_s, n.rate);
        if (n.type == BATS_QUEUE_BILLED)
            bats_append(b->news, sizeof b->news, " %lld", (long long)n.amount);
        if (n.energy_j > 0)
            bats_append(b->news, sizeof b->news, " %lld J",
                        (long long)n.energy_j);
        if (n.is_lost)
            bats_append(b->news, sizeof b->news, " forgotten");
    }
}

/* Turns until nothing is due before so many seconds from now; the time is the
 * test's, but for commands that run. */
static void pass(const char *seconds)
{
    int64_t end_us = b->now_us + atoi(seconds) * SECONDS;
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

static void await(const char *none)
{
    while (b->news[0] == '\0')
        pass("1");
}

/* This is what was heard, but for sentences, since the last such step. */
static void news(const char *expected)
{
    assert_string_equal(b->news, expected);
    b->news[0] = '\0';
}

/* The job with this number is at this place. */
static void find(const char *words)
{
    char id[16], place[16], at[16];
    bool unsure;
    sscanf(words, "%15s%15s", id, place);
    uint32_t is = bats_queue_find(b->queue, id, &unsure);
    snprintf(at, sizeof at, is == BATS_NO_JOB ? "nowhere" : "%u", is);
    assert_string_equal(at, place);
    assert_false(unsure);
}

/* So many places have a job. */
static void count(const char *n)
{
    assert_int_equal(bats_queue_count(b->queue), atoi(n));
}

/* The command was called so often, from the least to the most. */
static void called(const char *words)
{
    char name[16];
    int least, most, n = sscanf(words, "%15s%d-%d", name, &least, &most);
    assert_true(n >= 2);
    assert_in_range(calls(name), least, n == 3 ? most : least);
}

/* So many sentences were heard, the last of which has these words. */
static void heard(const char *words)
{
    int least, most, at;
    assert_int_equal(sscanf(words, "%d-%d %n", &least, &most, &at), 2);
    assert_in_range(b->n[BATS_QUEUE_SAYS], least, most);
    assert_non_null(strstr(b->says, words + at));
}

/* So many jobs wait, for this reason. */
static void waits(const char *words)
{
    char text[128];
    struct bats_queue_waiting waiting;
    bats_queue_waiting(b->queue, &waiting);
    snprintf(text, sizeof text, "%u %s", waiting.n, waiting.reason);
    assert_string_equal(text, words);
}

/* One step, such as "submit 1", or a command and what it prints from now on:
 * "sbatch 17", "squeue fails", "sacct" (nothing). */
static void take(const char *step)
{
    static const struct {
        const char *verb;
        void (*do_it)(const char *rest);
    } verbs[] = {{"submit", submit}, {"cancel", cancel}, {"pass", pass},
                 {"list", list},     {"news", news},     {"find", find},
                 {"count", count},   {"called", called}, {"await", await},
                 {"heard", heard},   {"waits", waits}};
    char verb[16] = "";
    int n = 0;
    sscanf(step, " %15s %n", verb, &n);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        if (strcmp(verb, verbs[i].verb) == 0) {
            verbs[i].do_it(step + n);
            return;
        }
    bool fails = strcmp(step + n, "fails") == 0;
    says(verb, fails, fails ? "" : step + n);
}

/* Steps, divided by semicolons. */
static void steps(const char *text)
{
    char copy[2048], *rest = copy, *step;
    snprintf(copy, sizeof copy, "%s", text);
    while ((step = strsep(&rest, ";")) != NULL)
        take(step);
}

/* ---- plays ---- */

/* As many jobs alike as `together` says are submitted at once. */
static const struct {
    const char *what;
    bool accounts;
    uint32_t together;
    const char *steps;
} plays[] = {
    {"a job is submitted, and billed by the accounting", true, 0,
     "submit 2; pass 1; news submitted 2 17;"
     "list 17 1.2.1.end 900 RUNNING None 1000 1060 16;"
     "pass 10; news runs 2 17 1000-1060 at 16;"
     "list 17 1.2.1.end 900 COMPLETED None 1000 1009 16;"
     "sacct 17|RUNNING|900|Unknown|8|billing=16,cpu=2,node=1|bats-test;"
     "pass 10; news ended 2 17;"
     "sacct 17|COMPLETED|900|1009|9|billing=16,cpu=2,energy=400|bats-test;"
     "pass 10; news billed 2 17 40000 400 J; count 0"}, /* 9 * 16/3600 */
    /* The mark is that of the first element. The one at 2 is withdrawn while it
     * waits, and then neither squeue nor sacct know it. */
    {"jobs alike are submitted together", true, 500,
     "submit 0 1 2; pass 1; called sbatch 1;"
     "news submitted 0 17_0, submitted 1 17_1, submitted 2 17_2;"
     "find 17_0 0; find 17_1 1; find 17_2 2;"
     "list 17_1 1.0.1.end 900 RUNNING None 1000 1060 16; cancel 2;"
     "pass 49; news runs 1 17_1 1000-1060 at 16, ended 0 17_0, "
     "ended 2 17_2, billed 0 17_0 0, billed 2 17_2 0; count 1"},
    /* What a list has said of the rate holds if the next one says nothing. */
    {"without accounting the time held is billed", false, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 RUNNING None 1000 1060 16;"
     "pass 10; list 17 1.0.1.end 900 TIMEOUT None 1000 1064 -;"
     "pass 10; called sacct 0; news submitted 0 17, "
     "runs 0 17 1000-1060 at 16, ended 0 17, billed 0 17 284445"},
    /* Slurm lists when it plans to start a job that waits. */
    {"a start that was only planned is not billed", false, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 PENDING Priority 1000 1060 16;"
     "pass 10; squeue; pass 30;"
     "news submitted 0 17, ended 0 17 forgotten, billed 0 17 0"},
    {"a job that is to end is cancelled and not found", true, 0,
     "submit 3; pass 1; find 17 3; find 18 nowhere; cancel 3;"
     "find 17 nowhere; pass 1; called scancel 1;"
     "list 17 1.3.1.end 900 CANCELLED None N/A 1009 16;"
     "sacct 17|CANCELLED by 0|900|1009|0||bats-test;"
     "pass 20; news submitted 3 17, ended 3 17, billed 3 17 0"},
    {"a job that was not submitted yet costs nothing", true, 0,
     "submit 0; cancel 0; pass 1; news ended 0 , billed 0  0;"
     "called sbatch 0"},
    /* The accounting never hears of it: after ten minutes the list has to do. */
    {"a bill that never comes is the time held", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 COMPLETED None 1000 1036 100;"
     "sacct fails; pass 500; news submitted 0 17, ended 0 17;"
     "pass 200; news billed 0 17 1000000"},
    /* slurmctld was killed, and does not know a job any more that it had shown
     * to run. It would show its end for five minutes, had it seen that. The job
     * is billed until 1060 at most. */
    {"a job that was forgotten is billed after half a minute", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 RUNNING None 1000 1060 100;"
     "sacct 17|RUNNING|900|Unknown|66|billing=100|bats-test;"
     "pass 30; news submitted 0 17, runs 0 17 1000-1060 at 100; squeue;"
     "pass 90; news ended 0 17 forgotten, billed 0 17 1666667"},
    /* A list has shown its end, but slurmctld was killed before the accounting
     * knew it, and does not know the job. */
    {"so is one that was forgotten after its end", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 FAILED None 1000 1036 100;"
     "sacct 17|RUNNING|900|Unknown|66|billing=100|bats-test;"
     "pass 10; news submitted 0 17, ended 0 17; squeue;"
     "pass 80; news billed 0 17 1000000"},
    /* It was killed before the accounting knew of the job, whose end a list has
     * shown, or not. */
    {"one that the accounting never knew costs nothing", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 FAILED None 1000 1036 100;"
     "pass 10; news submitted 0 17, ended 0 17; squeue;"
     "pass 80; news billed 0 17 0"},
    {"also one that was running", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 RUNNING None 1000 1060 100;"
     "pass 30; news submitted 0 17, runs 0 17 1000-1060 at 100; squeue;"
     "pass 90; news ended 0 17 forgotten, billed 0 17 0"},
    /* slurmctld did not know the job for a while. */
    {"a job that comes back is cancelled", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 RUNNING None 1000 1060 100;"
     "pass 10; squeue; news submitted 0 17, runs 0 17 1000-1060 at 100;"
     "await; news ended 0 17 forgotten; called scancel 0;"
     "list 17 1.0.1.end 900 RUNNING None 1000 1060 100;"
     "pass 15; called scancel 1;"
     "sacct 17|CANCELLED|900|1036|36|billing=100|bats-test;"
     "pass 20; news billed 0 17 1000000"},
    /* The accounting knows an element that no list has shown: it has begun, and
     * is not billed as one that has not. */
    {"an element that the accounting knows has begun", true, 500,
     "submit 0 1; pass 1; news submitted 0 17_0, submitted 1 17_1;"
     "sacct 17_1|RUNNING|900|Unknown|66|billing=100|bats-test;"
     "pass 28; news ended 0 17_0, ended 1 17_1, billed 0 17_0 0"},
    /* slurmctld has lost its state while a job runs, and numbers begin again. */
    {"a number that is given again is another job", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 RUNNING None 1000 1060 16;"
     "pass 10; news submitted 0 17, runs 0 17 1000-1060 at 16; submit 1;"
     "list 17 1.1.1.end 2000 RUNNING None 2000 2060 16;"
     "sacct 17|COMPLETED|2000|2030|30|billing=16,cpu=2,node=1|bats-test\n"
     "17|COMPLETED|901|990|89|billing=16,cpu=2,node=1|other\n"
     "17|NODE_FAIL|900|1009|9|billing=16,cpu=2,node=1|bats-test;"
     "pass 30; find 17 1; news ended 0 17 forgotten, submitted 1 17, "
     "runs 1 17 2000-2060 at 16, billed 0 17 40000;"
     "list 17 1.1.1.end 2000 COMPLETED None 2000 2030 16;"
     "pass 20; news ended 1 17, billed 1 17 133334; called scancel 0"},
    /* No list has shown the first one. */
    {"a bill is that of the job that a list has shown", true, 0,
     "submit 0; pass 1; submit 1; pass 1;"
     "list 17 1.1.1.end 2000 COMPLETED None 2000 2030 16;"
     "sacct 17|COMPLETED|2000|2030|30|billing=16,cpu=2,node=1|bats-test;"
     "pass 90; news submitted 0 17, ended 0 17, submitted 1 17, ended 1 17, "
     "billed 1 17 133334, billed 0 17 0"},
    /* The number is a stranger's now: he is neither cancelled nor waited for. */
    {"the job of somebody else is left alone", false, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 RUNNING None 1000 1060 3600;"
     "pass 10; list 17 2.0.1.end 2000 RUNNING None 2000 2060 3600;"
     "pass 30; news submitted 0 17, runs 0 17 1000-1060 at 3600, "
     "ended 0 17 forgotten, billed 0 17 60000000; called scancel 0"},
    {"all jobs are listed at once and not too often", true, 0,
     "pass 100; called squeue 0;"
     "list 17 1.0.1.end 900 PENDING Priority N/A N/A 16;"
     "submit 0; pass 100; called squeue 10-11; waits 1 Priority"},
    {"submissions that fail are tried again ever less often", true, 0,
     "sbatch fails; submit 0; pass 1000; called sbatch 8-30; news ;"
     "heard 1-1 it does not work; sbatch 18; pass 100;"
     "news submitted 0 18, ended 0 18, billed 0 18 0"},
    /* 10 s and 1, 2, 4, ... 60 s: some 20 in 1,000 s, instead of 100. */
    {"lists that fail become ever rarer", true, 0,
     "squeue fails; submit 0; pass 1000; called squeue 15-25; heard 1-1 ;"
     "list 17 1.0.1.end 900 PENDING Priority N/A N/A 16;"
     "pass 200; called squeue 25-46"},
    /* As Slurm 22.05 shows a job that ended while slurmdbd was away: the time
     * goes on. It is said that the run waits, after 30, 60, 120 and 240 s. And
     * as slurmdbd shows an element when the array's first job has failed. */
    {"a bill without an end is not final", true, 0,
     "submit 0; pass 1; list 17 1.0.1.end 900 COMPLETED None 1000 1009 16;"
     "sacct 17|COMPLETED|900|Unknown|66|billing=16,cpu=2|bats-test;"
     "pass 25; news submitted 0 17, ended 0 17; heard 0-0 ;"
     "pass 300; news ; heard 3-5 does not yet know the end of 1 job,;"
     "sacct 17|NODE_FAIL|900|998|0|billing=16,cpu=2|bats-test;"
     "pass 10; news ;"
     "sacct 17|COMPLETED|900|1009|9|billing=16,cpu=2|bats-test;"
     "pass 10; news billed 0 17 40000"}};

TEST(jobs_are_submitted_followed_and_billed)
{
    for (size_t i = 0; i < sizeof plays / sizeof *plays; i++) {
        print_message("# %s\n", plays[i].what);
        set_up(plays[i].accounts, plays[i].together);
        steps(plays[i].steps);
    }
}

/* As in Grid Engine, where bills are lost with a master that is killed. */
TEST(where_only_ended_jobs_have_bills_they_come_soon_or_never)
{
    late_s = 20;
    set_up(true, 0);
    late_s = 0;
    steps("submit 0; pass 1; list 17 1.0.1.end 900 RUNNING None 1000 1060 100;"
          "pass 30; news submitted 0 17, runs 0 17 1000-1060 at 100; squeue;"
          "pass 90; news ended 0 17, billed 0 17 1666667");
}

TEST(only_jobs_of_the_run_s_name_are_cancelled)
{
    struct bats_argv argv = {0};
    const char *ids[] = {"17"};
    bats_slurm_jobs.cancel("bats-test", ids, 1, &argv);
    assert_string_equal(argv.words[2], "--name=bats-test");
    bats_argv_release(&argv);
}

/* Submitted at 900 by Slurm's clock, which is decades late, started at 907. */
TEST(a_job_is_as_old_as_its_submission_until_its_start_is_known)
{
    bool known;
    set_up(true, 0);
    int64_t sent_us = b->now_us;
    steps("submit 0; pass 1");
    assert_int_equal(bats_queue_age(b->queue, 0, b->now_us, &known),
                     b->now_us - sent_us);
    assert_false(known);
    steps("list 17 1.0.1.end 900 RUNNING None 907 967 16; pass 10");
    assert_int_equal(bats_queue_age(b->queue, 0, b->now_us, &known),
                     b->now_us - sent_us - 6 * SECONDS);
    assert_true(known);
}

TEST(if_jobs_alike_are_refused_half_of_them_are_tried)
{
    set_up(true, 500);
    script("sbatch", "case $* in *--array=0-3*) exit 1 ;; esac; echo 17");
    steps("submit 0 1 2 3; pass 30; called sbatch 3");
    assert_int_equal(b->n[BATS_QUEUE_SUBMITTED], 4);
}

/* sbatch fails, but the list shows that the job is there. */
TEST(a_job_without_an_answer_is_found_by_its_mark)
{
    set_up(true, 0);
    script("sbatch",
           "for w; do case $w in --comment=*)\n"
           "printf '%-32s%-48s%-20s%-40s%-24s%-24s%-64s%-24s%-160s\\n' "
           "21 ${w#*=} PENDING None N/A N/A slow 900 billing=16 >list ;;\n"
           "esac; done\nexit 1");
    script("squeue", "cat list");
    steps("submit 1; pass 60; news submitted 1 21");
}

/* Bills of an earlier session: number, name and time of submission count. */
TEST(earlier_bills_are_those_of_the_runs_own_jobs)
{
    set_up(true, 0);
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
    set_up(true, 0);
    char *path = strdup(getenv("PATH"));
    setenv("PATH", directory, 1); /* without scontrol */
    assert_int_equal(bats_job_system_find(NULL, &system, &rules, &err),
                     BATS_EINPUT);
    setenv("PATH", path, 1);
    free(path);
    set_up(true, 0);
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
    char lines[2000];
    snprintf(lines, sizeof lines,
             "case \"$*\" in *partition*)\n"
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
             "esac",
             of_partition, max, of_qos);
    script("scontrol", lines);
}

TEST(no_job_asks_for_more_time_than_a_limit_allows)
{
    static const struct {
        const char *max, *of_partition, *of_qos, *job;
        int64_t limit_s;
    } rows[] = {{"00:01:00", "N/A", "3", JOB("3", "hasty"), 60},
                {"1-00:00:00", "N/A", "3", JOB("3", "hasty"), 180},
                {"1-00:00:00", "N/A", "3", JOB("3", "(null)"), 120},
                {"UNLIMITED", "N/A", "", JOB("3", "hasty"), 120},
                {"UNLIMITED", "N/A", "",
                 "JobId=1 Partition=fast NumNodes=1 NumCPUs=1", 0},
                {"UNLIMITED", "part", "9", JOB("3", "hasty"), 240}};
    struct bats_job_partition p;
    set_up(true, 0);
    says("sinfo", 0, "1");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        asks_for(rows[i].max, rows[i].of_partition, rows[i].of_qos);
        p = bats_slurm_partition(rows[i].job);
        assert_int_equal(p.limit_s, rows[i].limit_s);
    }
    assert_int_equal(p.notice_s, 10);
    assert_string_equal(p.quality, "hasty");
}

/* 3 CPUs of cores with two threads are billed as 4. */
TEST(jobs_are_billed_for_whole_cores)
{
    set_up(true, 0);
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
    set_up(true, 0);
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
    assert_numbers("64 0 1024000 6 1 3", kinds[0].cores, kinds[0].gpus,
                   kinds[0].memory_kib, kinds[1].gpus, kinds[2].gpus,
                   kinds[3].gpus);
    static const struct {
        const char *words[5];
        int64_t memory_kib;
        uint32_t gpus;
    } asked[] = {{{"--qos=low", "--mem", "3G", "--gres=gpu:x:2"}, 3 << 20, 2},
                 {{"--mem-per-cpu=1", "--gpus-per-node=a100:3"}, 3 << 20, 3},
                 {{"--mem=500"}, 500 * 1024, 3},
                 {{"--mem=4g"}, 4 << 20, 3}};
    struct bats_stock node = {.memory_kib = 7, .gpus = 7};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        bats_slurm_jobs.requests(asked[i].words, &node);
        assert_int_equal(node.memory_kib, asked[i].memory_kib);
        assert_int_equal(node.gpus, asked[i].gpus);
    }
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
