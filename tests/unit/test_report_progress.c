/* Progress, from plain structs and a made-up clock. */
#include "helpers/test.h"
#include "report/progress.h"

#define EURO   "\xe2\x82\xac"
#define EUROS  EURO EURO EURO EURO EURO
#define SECOND INT64_C(1000000)

static struct bats_machine_spec machines[] = {{0, 1}, {0, 1}, {1, 4}, {1, 4}};

static struct bats_platform platform = {
    .clusters = {{"slow", 3 * BATS_UNIT, 2}, {"fast", 12 * BATS_UNIT, 2}},
    .n_clusters = 2,
    .machines = machines,
    .n_machines = 4,
    .window = BATS_HOUR,
    .currency = "SU",
};

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

TEST(line_says_tasks_money_end_and_machines)
{
    struct bats_snapshot s = a_snapshot();
    char text[256];
#define SAYS(words)                                                           \
    assert_string_equal(bats_progress_text(text, sizeof text, 256, &s, 475), words)
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
    char text[256];
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
    char text[256];
    s.status.done = 431212;
    s.status.pending = 568788 - 9;
    s.status.failed = 12;
    s.cluster[0].machines_now = 132;
#define AT(width, words)                                                      \
    assert_string_equal(                                                      \
        bats_progress_text(text, sizeof text, width, &s, 475), words);        \
    assert_true(strlen(text) <= width)
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
    char text[256];
    s.phase = BATS_SNAPSHOT_SAMPLING;
    s.status.sample_size = 30;
    s.cluster[0].done = 17;
    s.cluster[0].failed = 1;
    s.cluster[1].done = 43;
    assert_string_equal(
        bats_progress_text(text, sizeof text, 79, &s, 475),
        "1h5m  61%  61/100  7.9/min  sampling slow 18/30 fast 30/30  "
        "288/600 SU");
    assert_string_equal(bats_progress_text(text, sizeof text, 39, &s, 475),
                        "61%  61/100  sampling 48/60  288/600 SU");
    s.phase = BATS_SNAPSHOT_CHOOSING;
    assert_non_null(strstr(bats_progress_text(text, sizeof text, 79, &s, 475),
                           "  sampled: to be chosen  "));
}

TEST(rates_have_the_unit_that_suits_them)
{
    struct bats_snapshot s = a_snapshot();
    char text[256];
#define RATE(per_hour, words)                                                 \
    assert_non_null(strstr(                                                   \
        bats_progress_text(text, sizeof text, 256, &s, per_hour), words))
    RATE(2, "  2.0/h  ");
    RATE(59, "  59/h  ");
    RATE(60, "  1.0/min  ");
    RATE(3600, "  1.0/s  ");
    RATE(3600 * 300000.0, "  300000/s  ");
    bats_progress_text(text, sizeof text, 256, &s, 0);
    assert_null(strstr(text, "/h"));
}

struct screen {
    char *text;
    size_t n;
    size_t seen;
    FILE *out;
    struct bats_snapshot s; /* to be shown, in this style: */
    struct bats_progress p;
};

static void screen_open(struct screen *s, enum bats_progress_style style)
{
    *s = (struct screen){.s = a_snapshot()};
    s->out = open_memstream(&s->text, &s->n);
    bats_progress_init(&s->p, style, s->out, -1);
}

/* Returns the output since the last call. */
static const char *fresh(struct screen *s)
{
    fflush(s->out);
    const char *text = s->text + s->seen;
    s->seen = s->n;
    return text;
}

static void screen_close(struct screen *s)
{
    fclose(s->out);
    free(s->text);
}

static int lines(const char *text)
{
    int n = 0;
    for (; *text != '\0'; text++)
        n += *text == '\n';
    return n;
}

TEST(plain_lines_come_ever_more_rarely)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_PLAIN);
    bats_progress_show(&c.p, 0, &c.s);
    assert_string_equal(fresh(&c),
                        "bats-mpi: 0s  start: slow 1, fast 1\n");
    /* 2, 4, 8, 16, 32, 60, 60 ... seconds apart, asked 10 times a second */
    static const int due[] = {2, 6, 14, 30, 62, 122, 182, 242};
    size_t n = 0;
    for (int tenth = 1; tenth <= 2500; tenth++) {
        bats_progress_show(&c.p, tenth * SECOND / 10, &c.s);
        if (fresh(&c)[0] == '\0')
            continue;
        assert_true(n < 8);
        assert_int_equal(tenth, due[n] * 10);
        n++;
    }
    assert_int_equal(n, 8);
    screen_close(&c);
}

TEST(plain_style_tells_a_decision_once_and_at_once)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_PLAIN);
    bats_progress_show(&c.p, 0, &c.s);
    (void)fresh(&c);
    c.s.n_decisions = 2;
    bats_progress_show(&c.p, SECOND / 10, &c.s);
    bats_progress_show(&c.p, SECOND / 5, &c.s);
    const char *text = fresh(&c);
    assert_string_equal(text, "bats-mpi: 20m  every cluster sampled: slow 2, "
                              "fast 1 for 4 windows, 78 tasks left\n");
    assert_int_equal(lines(text), 1);
    screen_close(&c);
}

TEST(plain_style_tells_no_start_that_no_money_pays)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_PLAIN);
    c.s.cluster[0] = c.s.cluster[1] = (struct bats_cluster_status){0};
    bats_progress_show(&c.p, 0, &c.s);
    bats_progress_finish(&c.p, &c.s);
    assert_string_equal(fresh(&c), "");
    screen_close(&c);
    screen_open(&c, BATS_PROGRESS_PLAIN);
    c.s.cluster[0] = c.s.cluster[1] = (struct bats_cluster_status){0};
    c.s.status.held = 1; /* for a job that waits in a queue */
    bats_progress_show(&c.p, 0, &c.s);
    assert_string_equal(fresh(&c),
                        "bats-mpi: 0s  start: slow 1, fast 1\n");
    screen_close(&c);
}

/* A plan that only marks machines is told when one of them has gone, or the run
 * has ended; one that is replaced before is not. */
TEST(plain_style_tells_a_plan_when_it_is_carried_out)
{
    struct screen c;
    struct bats_decision d[4] = {decisions[0], decisions[1]};
    for (int i = 2; i < 4; i++) {
        d[i] = d[1];
        d[i].reason = BATS_REASON_PLANNED;
        d[i].time = i * 10 * BATS_MINUTE;
        d[i].ending[0] = (uint32_t)i - 1;
        d[i].replaces = i == 3;
    }
    screen_open(&c, BATS_PROGRESS_PLAIN);
    c.s.decisions = d;
    c.s.cluster[0].machines_now = 2;
    c.s.n_decisions = 2;
    bats_progress_show(&c.p, 0, &c.s);
    (void)fresh(&c);
    for (c.s.n_decisions = 3; c.s.n_decisions <= 4; c.s.n_decisions++) {
        bats_progress_show(&c.p, SECOND / 10, &c.s);
        assert_string_equal(fresh(&c), "");
    }
    c.s.n_decisions = 4;
    c.s.cluster[0].machines_now = 1; /* it has been parked */
    bats_progress_show(&c.p, SECOND / 5, &c.s);
    assert_int_equal(strncmp(fresh(&c), "bats-mpi: 30m  planned again: ", 30),
                     0);
    bats_progress_finish(&c.p, &c.s);
    assert_string_equal(fresh(&c), "");
    screen_close(&c);
}

TEST(terminal_line_is_redrawn_and_taken_away)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_LINE);
    bats_progress_clear(&c.p); /* nothing drawn: nothing to take away */
    bats_progress_show(&c.p, 0, &c.s);
    bats_progress_show(&c.p, SECOND / 10, &c.s); /* too early */
    bats_progress_show(&c.p, SECOND / 2, &c.s);
    bats_progress_clear(&c.p);
    bats_progress_clear(&c.p);
    fflush(c.out);
#define LINE                                                                  \
    "1h5m  61%  61/100  5 running  ~3h27m left  288/600 SU  slow 1 fast 1"
    assert_string_equal(c.text,
                        "\r\033[K" LINE "\r\033[K" LINE "\r\033[K");
    screen_close(&c);
}

TEST(terminal_line_drops_what_does_not_fit)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_LINE);
    memset(platform.clusters[1].name, 'f', 60);
    bats_progress_show(&c.p, 0, &c.s);
    strcpy(platform.clusters[1].name, "fast");
    fflush(c.out);
    assert_string_equal(
        c.text,
        "\r\033[K1h5m  61%  61/100  5 running  ~3h27m left  288/600 SU");
    screen_close(&c);
}

/* A character of several bytes takes one column. */
TEST(nothing_is_cut_off_in_other_alphabets)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_LINE);
    strcpy(platform.currency, EUROS);
    bats_progress_show(&c.p, 0, &c.s);
    strcpy(platform.currency, "SU");
    fflush(c.out);
    assert_string_equal(
        c.text,
        "\r\033[K1h5m  61%  61/100  5 running  ~3h27m left  288/600 "
        EUROS "  slow 1 fast 1");
    screen_close(&c);
}

TEST(the_bar_has_the_room_that_is_left)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_LINE);
    c.p.bar = true;
    bats_progress_show(&c.p, 0, &c.s);
    fflush(c.out);
    assert_string_equal(c.text,
                        "\r\033[K[##############---------] 1h5m  61%  61/100  "
                        "5 running  ~3h27m left  288/600 SU");
    assert_int_equal(c.n, strlen("\r\033[K") + 79);
    screen_close(&c);
}

/* 100 tasks an hour, then none: the rate follows. */
TEST(the_rate_is_that_of_late)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_LINE);
    for (int minute = 0; minute <= 600; minute++) {
        c.s.status.now = 600 * BATS_MINUTE + minute * BATS_MINUTE;
        c.s.status.done = (uint32_t)(minute < 300 ? minute * 100 / 60 : 500);
        bats_progress_rate(&c.p, &c.s.status);
        if (minute == 299)
            assert_in_range((int)c.p.per_hour, 97, 103);
    }
    assert_in_range((int)c.p.per_hour, 0, 10);
    screen_close(&c);
}

TEST(quiet_says_nothing)
{
    struct screen c;
    screen_open(&c, BATS_PROGRESS_NONE);
    for (int i = 0; i < 1000; i++)
        bats_progress_show(&c.p, i * SECOND, &c.s);
    bats_progress_clear(&c.p);
    fflush(c.out);
    assert_int_equal(c.n, 0);
    screen_close(&c);
}

TEST_MAIN(NULL, NULL)
