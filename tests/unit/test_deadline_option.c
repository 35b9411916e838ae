/* The argument of --deadline. */
#include "cli/deadline.h"
#include "helpers/test.h"

#define NOON 1795348800 /* 2026-11-22T12:00:00 UTC */

static bool parses(const char *text, struct bats_deadline *d)
{
    return bats_deadline_parse(text, NOON, d, &err) == 0;
}

TEST(a_duration_a_clock_or_a_date_is_a_moment)
{
    static const struct {
        const char *text;
        double scale;
        bats_time left;
    } rows[] = {
        {"4h", 1, 4 * BATS_HOUR},
        {"4h", 60, 4 * BATS_HOUR}, /* of virtual time */
        {"90", 1, 90 * BATS_SECOND},
        {"04:00:00", 1, 4 * BATS_HOUR},
        {"1-12", 1, 36 * BATS_HOUR},
        {"18:30", 1, 13 * BATS_HOUR / 2},
        {"18:30", 10, 65 * BATS_HOUR},
        {"12:00", 1, 24 * BATS_HOUR}, /* the next one */
        {"11:59", 1, 24 * BATS_HOUR - BATS_MINUTE},
        {"2026-11-22T12:30", 1, BATS_HOUR / 2},
        {"2026-11-22 12:00:10", 1, 10 * BATS_SECOND},
        {"2026-11-24", 1, 36 * BATS_HOUR},
        {"30%", 1, 0}, /* waits for what is known */
    };
    struct bats_deadline d;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_true(parses(rows[i].text, &d));
        assert_int_equal(bats_deadline_from(&d, NOON, rows[i].scale),
                         rows[i].left);
    }
    assert_true(d.is_share && d.share == 0.3);
    assert_true(parses("0%", &d) && d.share == 0);
    assert_true(parses("100%", &d) && d.share == 1);
}

#define NEITHER                                                               \
    "is neither a duration like 4h, nor a time like 18:30 or "                \
    "2026-11-22T18:30, nor a percentage up to 100%"

TEST(what_is_no_deadline_is_refused)
{
    static const char *const rows[][2] = {
        {"0", "it must be longer than 0"},
        {"2026-11-22T11:59", "2026-11-22T11:59 is over"},
        {"soon", "'soon' " NEITHER},
        {"25:00", "'25:00' " NEITHER},
        {"101%", "'101%' " NEITHER}};
    struct bats_deadline d;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_refused(bats_deadline_parse(rows[i][0], NOON, &d, &err),
                       BATS_EINPUT, rows[i][1]);
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    return run_cases(NULL, NULL);
}
