/* interval: by hand, with quantiles from printed tables, and against an
 * interval that the thesis prints. */
#include <math.h>

#include "bats/interval.h"
#include "helpers/draw.h"

/* 1 .. 10: mean 5.5, biased variance 8.25. Nine degrees of freedom, printed
 * tables: t_0.95 = 1.833; chi2_0.95 = 16.919, chi2_0.05 = 3.325. */
TEST(bounds_agree_with_printed_tables)
{
    const double x[] = {3, 7, 1, 10, 9, 2, 8, 4, 6, 5};
    struct bats_runtimes r = bats_runtimes_normal(x, 10, 0.9);
    double s = sqrt(8.25);
    assert_int_equal(r.n, 10);
    assert_near(r.mean, 5.5, 1e-12);
    assert_near(r.longest, 10, 1e-12);
    assert_near(r.deviation, s, 1e-12);
    assert_near(r.mean_high, 5.5 + 1.833 * s / sqrt(10), 1e-3);
    assert_near(r.mean_low, 5.5 - 1.833 * s / sqrt(10), 1e-3);
    assert_near(r.deviation_low, s * sqrt(10 / 16.919), 1e-3);
    assert_near(r.deviation_high, s * sqrt(10 / 3.325), 1e-3);
}

/* 15 times 1 and 15 times 3: s^2 = 30/29, skewness 0, kurtosis 1. Mean: 2 +-
 * t_0.95(29) s / sqrt(30), t = 1.6991. Deviation: z_0.95 = 1.64485, c = 30 /
 * (30 - z) = 1.05801, se = c sqrt((1 - 27/30) / 29) = 0.062128, ln(c s^2) =
 * 0.090291; the lower bound is exp((0.090291 - z se) / 2) = 0.99407. The upper
 * one would be 1.10103; but a further task of 3 + 3 (3 - 2) = 6 would make the
 * variance (186 - 66^2 / 31) / 30 = 1.516129. */
TEST(bounds_without_assumptions_are_as_by_hand)
{
    double x[30];
    for (int i = 0; i < 30; i++)
        x[i] = i % 2 ? 3 : 1;
    struct bats_runtimes r = bats_runtimes_of(x, 30, 0.9);
    assert_near(r.mean, 2, 1e-12);
    assert_near(r.deviation, 1, 1e-12);
    assert_near(r.mean_low, 2 - 1.6991 * sqrt(30.0 / 29 / 30), 1e-4);
    assert_near(r.mean_high, 2 + 1.6991 * sqrt(30.0 / 29 / 30), 1e-4);
    assert_near(r.deviation_low, 0.99407, 1e-5);
    assert_near(r.deviation_high, sqrt(1.516129), 1e-5);
}

/* Hall's g of the studentised distance of each bound is a quantile of t. */
TEST(bounds_of_the_mean_follow_the_skewness)
{
    const double once[] = {1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 9, 14};
    const double n = 36, t = 1.6896; /* t_0.95(35), printed tables */
    double x[36], m = 0, two = 0, three = 0;
    for (int i = 0; i < 36; i++)
        x[i] = once[i % 12];
    for (int i = 0; i < 36; i++)
        m += x[i] / n;
    for (int i = 0; i < 36; i++) {
        two += pow(x[i] - m, 2);
        three += pow(x[i] - m, 3);
    }
    double c = three / n / pow(two / n, 1.5), s = sqrt(two / (n - 1));
    struct bats_runtimes r = bats_runtimes_of(x, 36, 0.9);
    double low = (m - r.mean_low) / s, high = (m - r.mean_high) / s;
    assert_near(low + c * low * low / 3 + c * c * low * low * low / 27 +
                    c / 6 / n,
                t / sqrt(n), 1e-4);
    assert_near(high + c * high * high / 3 + c * c * high * high * high / 27 +
                    c / 6 / n,
                -t / sqrt(n), 1e-4);
    assert_true(r.mean_high - m > m - r.mean_low);
}

/* Equal runtimes leave no doubt, a single one is believed, and however widely
 * they scatter, no mean falls to nothing. */
TEST(few_or_equal_runtimes_have_bounds)
{
    const double wild[] = {1, 1, 1, 1, 100};
    double x[30];
    for (int i = 0; i < 30; i++)
        x[i] = 900e6;
    for (uint32_t n = 1; n <= 30; n += 29) {
        struct bats_runtimes r = bats_runtimes_of(x, n, 0.9);
        assert_int_equal(r.n, n);
        double most = n == 1 ? 0 : 1e-3;
        assert_near(r.mean_low, 900e6, most);
        assert_near(r.mean_high, 900e6, most);
        assert_near(r.deviation_high, 0, most);
    }
    struct bats_runtimes r = bats_runtimes_of(wild, 5, 0.99);
    assert_true(r.mean_low > 0 && r.mean_low < r.mean);
}

/* 3 % of a bag take 24 minutes and are not in the sample of 1 to 10 minutes.
 * The thesis's bounds exclude that. */
TEST(unseen_tail_is_allowed_for)
{
    double x[30];
    for (int i = 0; i < 30; i++)
        x[i] = 1 + i % 10;
    double mean = 0.97 * 5.5 + 0.03 * 24;
    double square = 0.97 * (8.25 + 5.5 * 5.5) + 0.03 * 24 * 24;
    double deviation = sqrt(square - mean * mean);
    assert_true(bats_runtimes_normal(x, 30, 0.9).deviation_high < deviation);
    assert_true(bats_runtimes_of(x, 30, 0.9).deviation_high > deviation);
}

/* Equal machines are one that is so much faster: with exact parameters M = N mu
 * / a, and the swing is z sqrt(N) sigma / a. 4.4 and 4.5 by hand: one machine of
 * 10 and two of 5 minutes, deviations 0. gamma = 1/10 + 2/5 = 0.5; sum(a) = 3,
 * sum(a mu) = 20. sigma^2 = 20 / 0.5 - (3 / 0.5)^2 = 4, so sigma_agg = 2 / 3. */
TEST(machines_add_up_to_one)
{
    struct bats_runtimes r = bats_runtimes_given(15);
    r.deviation_high = 3;
    struct bats_prediction m =
        bats_interval_makespan(&r, (double[]){5}, 1, 100, 0.9);
    assert_near(m.estimate, 300, 1e-9);
    assert_near(m.high, 300 + 1.2816 * 10 * 3 / 5, 1e-3);
    assert_near(m.low, 300 - 1.2816 * 10 * 3 / 5, 1e-3);
    const struct bats_runtimes two[] = {
        bats_runtimes_given(10), bats_runtimes_given(5), {.mean = 0}};
    m = bats_interval_makespan(two, (double[]){1, 2, 7}, 3, 400, 0.9);
    assert_near(m.estimate, 800, 1e-9); /* unknown ones do not count */
    assert_near(m.high, 800 + 1.2816 * 20 * 2 / 3, 1e-3);
}

/* 4.10 and 4.11 by hand: two machines of 10 minutes, 8 at least and 12.5 at
 * most, with a deviation of 3 at most. gamma is 2 / 12.5 = 0.16 to 2 / 8 =
 * 0.25. S1 = 25 / 0.16 = 156.25, S2 = (2 x 9 / 8) / 0.16 = 14.0625, S3 = 4 /
 * 0.25^2 = 64, so sigma_agg = sqrt(106.3125) / 2. */
TEST(bounds_are_put_in_for_the_worst_case)
{
    struct bats_runtimes r = bats_runtimes_given(10);
    const double slots[] = {2};
    r.mean_low = 8;
    r.mean_high = 12.5;
    r.deviation_high = 3;
    struct bats_prediction m = bats_interval_makespan(&r, slots, 1, 100, 0.9);
    double swing = 1.2816 * 10 * sqrt(106.3125) / 2;
    assert_near(m.estimate, 500, 1e-9);
    assert_near(m.busy, 625 + swing, 1e-2);
    assert_near(m.low, 400 - swing, 1e-2);
}

/* One machine of 10 and one of 5 minutes, whose longest tasks are 20 and 8:
 * gamma = 0.3, so that they have shares of 1/3 and 2/3. 30 tasks keep both
 * busy for 100 minutes. */
TEST(whole_tasks_end_later)
{
    struct bats_runtimes r[] = {bats_runtimes_given(10),
                                bats_runtimes_given(5)};
    const double slots[] = {1, 1};
    r[0].longest = 20;
    r[1].longest = 8;
    struct bats_prediction m = bats_interval_makespan(r, slots, 2, 30, 0.5);
    assert_near(m.busy, 100, 1e-9);
    assert_near(m.high, 100 + 20 * 2.0 / 3, 1e-9);
    assert_near(bats_interval_end(&m, &r[0]), 100 + 20 * 2.0 / 3, 1e-9);
    assert_near(bats_interval_end(&m, &r[1]), 100 + 8 / 3.0, 1e-9);
    /* A machine alone ends when its work is done. */
    m = bats_interval_makespan(r, slots, 1, 30, 0.5);
    assert_near(m.high, 300, 1e-9);
}

/* Two slots, tasks of 10: what is left is anything from 0 to 10, 5 on average
 * and 20 / 3 for the longer of two. At 0.2 tasks a minute the bag is empty 2 x
 * 5 / 10 / 0.2 = 5 minutes before Te. One slot is done at Te. */
TEST(last_tasks_are_expected_as_by_hand)
{
    double x[30];
    for (int i = 0; i < 30; i++)
        x[i] = 10;
    struct bats_runtimes r = bats_runtimes_of(x, 30, 0.9);
    struct bats_prediction m =
        bats_interval_makespan(&r, (double[]){2}, 1, 100, 0.9);
    assert_near(m.least, 500, 1e-9);
    assert_near(m.estimate, 500 - 5 + 20.0 / 3, 1e-3);
    assert_true(m.high >= m.estimate);
    m = bats_interval_makespan(&r, (double[]){1}, 1, 100, 0.9);
    assert_near(m.estimate, 1000, 1e-3);
}

/* When slots take the next task of a bag until it is empty. */
static double play(const double *sample, int n_sample, const double *speed,
                   int n_slots, int n_tasks)
{
    double free[16] = {0}, end = 0;
    for (int i = 0; i < n_tasks; i++) {
        int next = 0;
        for (int s = 1; s < n_slots; s++)
            if (free[s] < free[next])
                next = s;
        int task = (int)pick((unsigned long)n_sample);
        free[next] += sample[task] / speed[next];
    }
    for (int s = 0; s < n_slots; s++)
        end = fmax(end, free[s]);
    return end;
}

/* Half of the tasks take 1 to 10 minutes, the others 20 to 40; 7 slots of two
 * clusters, one twice as fast. Te is 6 % less than the mean of 4000 bags. */
TEST(estimate_is_the_mean_makespan)
{
    const double speed[] = {1, 1, 1, 1, 2, 2, 2}, slots[] = {4, 3};
    double x[2][32], mean = 0;
    for (int i = 0; i < 32; i++) {
        x[0][i] = i % 2 ? 1 + 9 * i / 31.0 : 20 + 20 * i / 31.0;
        x[1][i] = x[0][i] / 2;
    }
    const struct bats_runtimes r[] = {bats_runtimes_of(x[0], 32, 0.9),
                                      bats_runtimes_of(x[1], 32, 0.9)};
    struct bats_prediction m = bats_interval_makespan(r, slots, 2, 200, 0.9);
    draw_from(1);
    for (int i = 0; i < 4000; i++)
        mean += play(x[0], 32, speed, 7, 200) / 4000;
    assert_near(m.estimate / mean, 1, 0.01);
    assert_true(m.least / mean < 0.97);
}

/* Thesis, 4.5.5, figure 4.7, experiment 3: 21 machines of type C are expected
 * to take 358.23 minutes for 970 tasks, 377.49 at most. C takes half of
 * N(15, sqrt 5), of which the sample's deviation is not printed: the bound has
 * to come out for one that 30 such runtimes are likely to have (the 95 %
 * limits of chi2_29 are 16.05 and 45.72). */
TEST(published_interval_is_met)
{
    double mean = 358.23 * 21 / 970, from = 0, to = 10;
    for (int i = 0; i < 60; i++) {
        struct bats_runtimes r = bats_runtimes_given(mean);
        double s = (from + to) / 2;
        r.mean_high = mean + 1.6991 * s / sqrt(30);
        r.mean_low = mean - 1.6991 * s / sqrt(30);
        r.deviation_high = s * sqrt(30 / 17.708);
        const double slots[] = {21};
        double high = bats_interval_makespan(&r, slots, 1, 970, 0.9).high;
        if (high < 377.49)
            from = s;
        else
            to = s;
    }
    double sigma = sqrt(5) / 2;
    assert_true(from > sigma * sqrt(16.05 / 30));
    assert_true(from < sigma * sqrt(45.72 / 30));
}

TEST_MAIN(NULL, NULL)
