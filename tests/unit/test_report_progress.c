/* Progress, from plain structs and a made-up clock. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/progress.h"

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
        .cluster = {{.machines_now = 1}, {.machines_now = 1}},
        .decisions = decisions,
        .n_decisions = 1,
    };
}

static void line_says_tasks_money_end_and_machines(void **state)
{
    struct bats_snapshot s = a_snapshot();
    char text[256];
    (void)state;
#define SAYS(words)                                                           \
    assert_string_equal(bats_progress_text(text, sizeof text, &s), words)
    SAYS("1h5m/~4h32m  61 done 5 running 34 left  288/600 SU  slow 1 fast 1");
    s.status.failed = 2;
    s.status.running = 3; /* fewer than there are slots */
    s.status.estimated_end = BATS_NEVER;
    s.status.budget = BATS_UNLIMITED;
    s.cluster[0].machines_now = 0;
    SAYS("1h5m  61 done 3 running 30 left 2 failed  288 SU  fast 1");
}

struct screen {
    char *text;
    size_t n;
    size_t seen;
    FILE *out;
};

static void screen_open(struct screen *s)
{
    *s = (struct screen){0};
    s->out = open_memstream(&s->text, &s->n);
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

static void plain_lines_come_ever_more_rarely(void **state)
{
    struct screen screen;
    struct bats_snapshot s = a_snapshot();
    struct bats_progress p;
    (void)state;
    screen_open(&screen);
    bats_progress_init(&p, BATS_PROGRESS_PLAIN, screen.out, -1);
    bats_progress_show(&p, 0, &s);
    assert_string_equal(fresh(&screen),
                        "bats-mpi: 0s  start: slow 1, fast 1\n");
    /* 2, 4, 8, 16, 32, 60, 60 ... seconds apart, asked 10 times a second */
    static const int due[] = {2, 6, 14, 30, 62, 122, 182, 242};
    size_t n = 0;
    for (int tenth = 1; tenth <= 2500; tenth++) {
        bats_progress_show(&p, tenth * SECOND / 10, &s);
        if (fresh(&screen)[0] == '\0')
            continue;
        assert_true(n < 8);
        assert_int_equal(tenth, due[n] * 10);
        n++;
    }
    assert_int_equal(n, 8);
    screen_close(&screen);
}

static void plain_style_tells_a_decision_once_and_at_once(void **state)
{
    struct screen screen;
    struct bats_snapshot s = a_snapshot();
    struct bats_progress p;
    (void)state;
    screen_open(&screen);
    bats_progress_init(&p, BATS_PROGRESS_PLAIN, screen.out, -1);
    bats_progress_show(&p, 0, &s);
    (void)fresh(&screen);
    s.n_decisions = 2;
    bats_progress_show(&p, SECOND / 10, &s);
    bats_progress_show(&p, SECOND / 5, &s);
    const char *text = fresh(&screen);
    assert_string_equal(text, "bats-mpi: 20m  every cluster sampled: slow 2, "
                              "fast 1 for 4 windows, 78 tasks left\n");
    assert_int_equal(lines(text), 1);
    screen_close(&screen);
}

static void terminal_line_is_redrawn_and_taken_away(void **state)
{
    struct screen screen;
    struct bats_snapshot s = a_snapshot();
    struct bats_progress p;
    (void)state;
    screen_open(&screen);
    bats_progress_init(&p, BATS_PROGRESS_LINE, screen.out, -1);
    bats_progress_clear(&p); /* nothing drawn: nothing to take away */
    bats_progress_show(&p, 0, &s);
    bats_progress_show(&p, SECOND / 10, &s); /* too early */
    bats_progress_show(&p, SECOND / 2, &s);
    bats_progress_clear(&p);
    bats_progress_clear(&p);
    fflush(screen.out);
#define LINE                                                                  \
    "1h5m/~4h32m  61 done 5 running 34 left  288/600 SU  slow 1 fast 1"
    assert_string_equal(screen.text,
                        "\r\033[K" LINE "\r\033[K" LINE "\r\033[K");
    screen_close(&screen);
}

static void terminal_line_is_cut_to_the_columns(void **state)
{
    struct screen screen;
    struct bats_snapshot s = a_snapshot();
    struct bats_progress p;
    (void)state;
    screen_open(&screen);
    memset(platform.clusters[1].name, 'f', 60);
    bats_progress_init(&p, BATS_PROGRESS_LINE, screen.out, -1);
    bats_progress_show(&p, 0, &s);
    strcpy(platform.clusters[1].name, "fast");
    fflush(screen.out);
    assert_int_equal(screen.n, strlen("\r\033[K") + 79);
    assert_int_equal(lines(screen.text), 0);
    screen_close(&screen);
}

static void quiet_says_nothing(void **state)
{
    struct screen screen;
    struct bats_snapshot s = a_snapshot();
    struct bats_progress p;
    (void)state;
    screen_open(&screen);
    bats_progress_init(&p, BATS_PROGRESS_NONE, screen.out, -1);
    for (int i = 0; i < 1000; i++)
        bats_progress_show(&p, i * SECOND, &s);
    bats_progress_clear(&p);
    fflush(screen.out);
    assert_int_equal(screen.n, 0);
    screen_close(&screen);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(line_says_tasks_money_end_and_machines),
        cmocka_unit_test(plain_lines_come_ever_more_rarely),
        cmocka_unit_test(plain_style_tells_a_decision_once_and_at_once),
        cmocka_unit_test(terminal_line_is_redrawn_and_taken_away),
        cmocka_unit_test(terminal_line_is_cut_to_the_columns),
        cmocka_unit_test(quiet_says_nothing),
    };
    return cmocka_run_group_tests_name("report_progress", tests, NULL, NULL);
}
