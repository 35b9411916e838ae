/* The argument of --deadline. */
#include "cli/deadline.h"
#include "helpers/test.h"

#define NOON 1795348800 /* 2026-11-22T12:00:00 UTC */

static struct bats_deadline parse(const char *text)
{
    struct bats_deadline d;
    if (bats_deadline_parse(text, NOON, &d, &err) < 0)
        fail_msg("%s: %s", text, err.text);
    return d;
}

static bats_time from(const char *text, double scale)
{
    struct bats_deadline d = parse(text);
    return bats_deadline_from(&d, NOON, scale);
}

TEST(durations_count_from_the_start)
{
    assert_int_equal(from("4h", 1), 4 * BATS_HOUR);
    assert_int_equal(from("4h", 60), 4 * BATS_HOUR); /* of virtual time */
    assert_int_equal(from("90", 1), 90 * BATS_SECOND);
    assert_int_equal(from("04:00:00", 1), 4 * BATS_HOUR);
    assert_int_equal(from("1-12", 1), 36 * BATS_HOUR);
}

TEST(a_time_of_day_is_the_next_one)
{
    assert_int_equal(parse("18:30").moment, NOON + 6 * 3600 + 1800);
    assert_int_equal(from("18:30", 1), 13 * BATS_HOUR / 2);
    assert_int_equal(from("18:30", 10), 65 * BATS_HOUR);
    assert_int_equal(from("12:00", 1), 24 * BATS_HOUR);
    assert_int_equal(from("11:59", 1), 24 * BATS_HOUR - BATS_MINUTE);
}

TEST(a_date_is_a_moment)
{
    assert_int_equal(from("2026-11-22T12:30", 1), BATS_HOUR / 2);
    assert_int_equal(from("2026-11-22 12:00:10", 1), 10 * BATS_SECOND);
    assert_int_equal(from("2026-11-24", 1), 36 * BATS_HOUR);
}

TEST(a_percentage_waits_for_what_is_known)
{
    struct bats_deadline d = parse("30%");
    assert_true(d.is_share && d.share == 0.3);
    assert_int_equal(bats_deadline_from(&d, NOON, 1), 0);
    assert_true(parse("0%").share == 0 && parse("100%").share == 1);
}

static void refuse(const char *text, const char *sentence)
{
    struct bats_deadline d;
    assert_refused(bats_deadline_parse(text, NOON, &d, &err), BATS_EINPUT,
                   sentence);
}

TEST(what_is_no_deadline_is_refused)
{
    refuse("0", "it must be longer than 0");
    refuse("2026-11-22T11:59", "2026-11-22T11:59 is over");
    refuse("soon", "'soon' is neither a duration like 4h, nor a time like "
                   "18:30 or 2026-11-22T18:30, nor a percentage up to 100%");
    refuse("101%", "'101%' is neither a duration like 4h, nor a time like "
                   "18:30 or 2026-11-22T18:30, nor a percentage up to 100%");
}

int main(void)
{
    setenv("TZ", "UTC", 1);
    return run_cases(NULL, NULL);
}
