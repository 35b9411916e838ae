#include "exec/process/pace.h"
#include "helpers/test.h"

#define START 1000000000

/*
 * Runs a process that needs `work` us at full speed; the driver asks when
 * told to, but up to `late` us late. Returns when its end is told, in us
 * after the start; *longest is the longest time it ran in one piece.
 */
static int64_t simulate(double speed, int64_t work, int64_t late,
                        int64_t *longest)
{
    struct bats_pace pace;
    int64_t now = START, done = 0, piece = 0, turn = 0;

    *longest = 0;
    bats_pace_begin(&pace, speed, now);
    for (;;) {
        bool stopped = bats_pace_stopped(&pace, now);
        int64_t next = bats_pace_next(&pace, now);
        if (next == INT64_MAX) {
            *longest = work;
            return bats_pace_end(&pace, now + work) - START;
        }
        assert_true(next > now);
        next += late * (turn++ * 7 % 11) / 10; /* uneven, at most `late` */
        if (stopped) {
            piece = 0;
        } else {
            int64_t rest = work - done;
            int64_t ran = next - now < rest ? next - now : rest;
            done += ran;
            piece += ran;
            if (piece > *longest)
                *longest = piece;
            if (done == work)
                return bats_pace_end(&pace, now + ran) - START;
        }
        now = next;
    }
}

TEST(process_takes_its_work_over_speed)
{
    const double speeds[] = {0.9, 0.5, 0.25, 0.1, 0.01};
    const int64_t works[] = {1, 700, 40000, 1000000, 12345678};
    int64_t longest;
    for (size_t i = 0; i < 5; i++)
        for (size_t k = 0; k < 5; k++) {
            double expected = (double)works[k] / speeds[i];
            int64_t took = simulate(speeds[i], works[k], 0, &longest);
            /* a switch is rounded up to the next microsecond */
            assert_true((double)took >= expected - 1);
            assert_true((double)took <= expected + 2 / speeds[i]);
        }
}

TEST(a_late_driver_is_made_good)
{
    int64_t longest;
    int64_t took = simulate(0.25, 10000000, 3000, &longest);
    /* at most the last piece is off: 3 ms ran too long, or stood too long */
    assert_true(took >= 40000000 - 1);
    assert_true(took <= 40000000 + 3000);
}

TEST(it_runs_in_short_pieces)
{
    int64_t longest;
    simulate(0.25, 1000000, 0, &longest);
    assert_in_range(longest, 4900, 5100);
    simulate(0.01, 1000000, 0, &longest);
    assert_in_range(longest, 900, 1100);
}

TEST(full_speed_is_left_alone)
{
    int64_t longest;
    assert_int_equal(simulate(1, 5000, 0, &longest), 5000);
    assert_int_equal(simulate(4, 5000, 0, &longest), 5000);
}

TEST_MAIN(NULL, NULL)
