/* Progress, from plain structs and a made-up clock. */
#include "helpers/report_fixture.h"
#include "helpers/test.h"
#include "report/progress.h"

#define EURO "\xe2\x82\xac"
#define EUROS EURO EURO EURO EURO EURO
#define SECOND INT64_C(1000000)

static const struct bats_decision decisions[] = {
    {.reason = BATS_REASON_START, .feasible = true, .machines = {1, 1}},
    {.time = 20 * BATS_MINUTE,
     .reason = BATS_REASON_SAMPLED,
     .feasible = true,
     .tasks_left = 78,
     .windows = 4,
     .machines = {2, 1}},
};

/* 1 slow machine and 1 fast one are held: 5 slots. 9 tasks were handed out,
 * so 4 of them wait for a slot. */
static struct bats_snapshot a_snapshot(void)
{
    return (struct bats_snapshot){
        .platform = &platform,
        .status = {.now = 65 * BATS_MINUTE + 300000,
                   .pending = 30,
                   .running = 9,
                   .done = 61,
                   .budget = 600 * BATS_UNIT,
                   .charged = 288 * BATS_UNIT,
                   .estimated_end = 272 * BATS_MINUTE + 999999},
        .cluster = {{.machines_used = 1, .machines_now = 1},
                    {.machines_used = 1, .machines_now = 1}},
        .decisions = decisions,
        .n_decisions = 1,
    };
}

/* The line in this width. */
static const char *line(const struct bats_snapshot *s, size_t width,
                        double per_hour)
{
    static char text[256];
    bats_progress_text(text, sizeof text, width, s, per_hour);
    assert_true(strlen(text) <= width);
    return text;
}

TEST(line_says_tasks_money_end_and_machines)
{
    struct bats_snapshot s = a_snapshot();
#define SAYS(words) assert_string_equal(line(&s, 256, 475), words)
    SAYS("1h5m  61%  61/100  5 running  7.9/min  ~3h27m left  288/600 SU  "
         "slow 1 fast 1");
    s.status.failed = 2;
    s.status.running = 3; /* fewer than there are slots */
    s.status.estimated_end = BATS_NEVER;
    s.status.budget = BATS_UNLIMITED;
    s.status.charged = 288123456;
    s.cluster[0].machines_now = 0;
    SAYS("1h5m  65%  63/96  2 failed  3 running  7.9/min  288.12 SU  fast 1");
    s.status.charged = 62; /* millionths */
    s.status.pending = s.status.running = s.status.done = 0;
    SAYS("1h5m  100%  2/2  2 failed  0 running  7.9/min  0 SU  fast 1");
}

TEST(what_is_held_for_jobs_stands_beside_what_is_charged)
{
    struct bats_snapshot s = a_snapshot();
    struct bats_platform p = platform;
    s.platform = &p;
    s.status.charged = 0;
    s.status.held = 7500000;
    SAYS("1h5m  61%  61/100  5 running  7.9/min  ~3h27m left  0/600 SU  "
         "slow 1 fast 1");
    p.billing = BATS_BILLING_JOB;
    SAYS("1h5m  61%  61/100  5 running  7.9/min  ~3h27m left  "
         "0 + 7.5 held/600 SU  slow 1 fast 1");
}

/* The example: 80 columns, and 40. */
TEST(what_matters_has_room_on_narrow_screens)
{
    struct bats_snapshot s = a_snapshot();
    s.status.done = 431212;
    s.status.pending = 568788 - 9;
    s.status.failed = 12;
    s.cluster[0].machines_now = 132;
#define AT(width, words) assert_string_equal(line(&s, width, 475), words)
    AT(79, "1h5m  43%  431224/1000012  12 failed  7.9/min  ~3h27m left  "
           "288/600 SU");
    AT(39, "43%  12 failed  ~3h27m left  288/600 SU");
    s.status.failed = 0;
    AT(39, "43%  7.9/min  ~3h27m left  288/600 SU");
    AT(3, "43%");
}

TEST(it_says_that_it_samples)
{
    struct bats_snapshot s = a_snapshot();
    s.phase = BATS_SNAPSHOT_SAMPLING;
    s.status.sample_size = 30;
    s.cluster[0].done = 17;
    s.cluster[0].failed = 1;
    s.cluster[1].done = 43;
    AT(79, "1h5m  61%  61/100  5 running  7.9/min  sampling 48/60  "
           "288/600 SU");
    AT(39, "61%  61/100  sampling 48/60  288/600 SU");
    s.phase = BATS_SNAPSHOT_CHOOSING;
    AT(79,
       "1h5m  61%  61/100  5 running  7.9/min  sampled: to be chosen  288/600 SU");
}

TEST(rates_have_the_unit_that_suits_them)
{
    struct bats_snapshot s = a_snapshot();
#define RATE(per_hour, words)                                                 \
    assert_non_null(strstr(line(&s, 256, per_hour), words))
    RATE(2, "  2.0/h  ");
    RATE(59, "  59/h  ");
    RATE(60, "  1.0/min  ");
    RATE(3600, "  1.0/s  ");
    RATE(3600 * 300000.0, "  300000/s  ");
    assert_null(strstr(line(&s, 256, 0), "/h"));
}

static struct screen {
    char *text;
    size_t n, seen;
    FILE *out;
    struct bats_snapshot s; /* to be shown, in this style: */
    struct bats_progress p;
} c;

static int close_screen(void **state)
{
    if (c.out != NULL)
        fclose(c.out);
    free(c.text);
    c = (struct screen){.s = a_snapshot()};
    return 0;
}

static void open_screen(enum bats_progress_style style)
{
    close_screen(NULL);
    c.out = open_memstream(&c.text, &c.n);
    bats_progress_init(&c.p, style, c.out, -1);
}

static void show(int64_t now_us)
{
    bats_progress_show(&c.p, now_us, &c.s);
}

/* Returns the output since the last call. */
static const char *fresh(void)
{
    fflush(c.out);
    const char *text = c.text + c.seen;
    c.seen = c.n;
    return text;
}

TEST(plain_lines_come_ever_more_rarely)
{
    open_screen(BATS_PROGRESS_PLAIN);
    show(0);
    assert_string_equal(fresh(), "bats-mpi: 0s  start: slow 1, fast 1\n");
    /* 2, 4, 8, 16, 32, 60, 60 ... seconds apart, asked 10 times a second */
    static const int due[] = {2, 6, 14, 30, 62, 122, 182, 242};
    size_t n = 0;
    for (int tenth = 1; tenth <= 2500; tenth++) {
        show(tenth * SECOND / 10);
        if (fresh()[0] == '\0')
            continue;
        assert_true(n < 8);
        assert_int_equal(tenth, due[n] * 10);
        n++;
    }
    assert_int_equal(n, 8);
}

TEST(plain_style_tells_a_decision_once_and_at_once)
{
    open_screen(BATS_PROGRESS_PLAIN);
    c.s.cluster[0] = c.s.cluster[1] = (struct bats_cluster_status){0};
    c.s.status.held = 1; /* for a job that waits in a queue */
    show(0);
    assert_string_equal(fresh(), "bats-mpi: 0s  start: slow 1, fast 1\n");
    c.s = a_snapshot();
    c.s.n_decisions = 2;
    show(SECOND / 10);
    show(SECOND / 5);
    assert_string_equal(fresh(),
                        "bats-mpi: 20m  every cluster sampled: slow 2, "
                        "fast 1 for 4 windows, 78 tasks left\n");
}

/* A plan that only marks machines is told when one of them has gone, or the run
 * has ended; one that is replaced before is not. */
TEST(plain_style_tells_a_plan_when_it_is_carried_out)
{
    struct bats_decision d[4] = {decisions[0], decisions[1]};
    for (int i = 2; i < 4; i++) {
        d[i] = d[1];
        d[i].reason = BATS_REASON_PLANNED;
        d[i].time = i * 10 * BATS_MINUTE;
        d[i].ending[0] = (uint32_t)i - 1;
        d[i].replaces = i == 3;
    }
    open_screen(BATS_PROGRESS_PLAIN);
    c.s.decisions = d;
    c.s.cluster[0].machines_now = 2;
    c.s.n_decisions = 2;
    show(0);
    (void)fresh();
    for (c.s.n_decisions = 3; c.s.n_decisions <= 4; c.s.n_decisions++) {
        show(SECOND / 10);
        assert_string_equal(fresh(), "");
    }
    c.s.n_decisions = 4;
    c.s.cluster[0].machines_now = 1; /* it has been parked */
    show(SECOND / 5);
    assert_int_equal(strncmp(fresh(), "bats-mpi: 30m  planned again: ", 30),
                     0);
    bats_progress_finish(&c.p, &c.s);
    assert_string_equal(fresh(), "");
}

#define LINE "1h5m  61%  61/100  5 running  ~3h27m left  288/600 "

TEST(terminal_line_is_redrawn_and_taken_away)
{
    open_screen(BATS_PROGRESS_LINE);
    bats_progress_clear(&c.p); /* nothing drawn: nothing to take away */
    show(0);
    show(SECOND / 10); /* too early */
    show(SECOND / 2);
    bats_progress_clear(&c.p);
    bats_progress_clear(&c.p);
    assert_string_equal(fresh(),
                        "\r\033[K" LINE "SU  slow 1 fast 1\r\033[K" LINE
                        "SU  slow 1 fast 1\r\033[K");
}

/* A character of several bytes takes one column. */
TEST(terminal_line_drops_what_does_not_fit)
{
    open_screen(BATS_PROGRESS_LINE);
    memset(platform.clusters[1].name, 'f', 60);
    show(0);
    assert_string_equal(fresh(), "\r\033[K" LINE "SU");
    strcpy(platform.clusters[1].name, "fast");
    strcpy(platform.currency, EUROS);
    show(SECOND);
    strcpy(platform.currency, "SU");
    assert_string_equal(fresh(), "\r\033[K" LINE EUROS "  slow 1 fast 1");
    c.p.bar = true; /* it has the room that is left */
    show(2 * SECOND);
    assert_string_equal(fresh(),
                        "\r\033[K[##############---------] " LINE "SU");
}

/* 100 tasks an hour, then none: the rate follows. */
TEST(the_rate_is_that_of_late)
{
    open_screen(BATS_PROGRESS_LINE);
    for (int minute = 0; minute <= 600; minute++) {
        c.s.status.now = 600 * BATS_MINUTE + minute * BATS_MINUTE;
        c.s.status.done = (uint32_t)(minute < 300 ? minute * 100 / 60 : 500);
        bats_progress_rate(&c.p, &c.s.status);
        if (minute == 299)
            assert_in_range((int)c.p.per_hour, 97, 103);
    }
    assert_in_range((int)c.p.per_hour, 0, 10);
}

TEST_MAIN(NULL, close_screen)
