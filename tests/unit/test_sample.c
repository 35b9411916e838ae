/* sample: its size, its lines between clusters, complete samples, and what is
 * expected from it, by hand. */
#include "bats/sample.h"
#include "bats/stats.h"
#include "helpers/test.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

/* ---- lines ---- */

/* y = b0 + 2 x + e, where e adds up to 0, and so does e x: the least squares
 * are b0 + 2 x. The variance of b0 is 12 / 5 (1 / 7 + 4^2 / 28) = 1.31^2, and
 * t_0.9995(5) = 6.87: b0 counts if it is above 9.0. */
#define SCATTERED(b0)                                                         \
    {                                                                         \
        3 + b0, 2 + b0, 7 + b0, 8 + b0, 11 + b0, 10 + b0, 15 + b0             \
    }

TEST(lines_and_ratios_are_as_by_hand)
{
    static const struct {
        size_t n;
        double base[7], other[7];
        bool ratio;
        double b0, b1;
    } cases[] = {
        {4, {10, 20, 40, 70}, {9, 14, 24, 39}, false, 4, 0.5},
        {7, {1, 2, 3, 4, 5, 6, 7}, SCATTERED(9.1), false, 9.1, 2},
        {7, {1, 2, 3, 4, 5, 6, 7}, SCATTERED(8.9), true, 0, (8.9 + 8) / 4},
        {1, {20}, {5}, true, 0, 0.25},              /* one point */
        {3, {20, 20, 20}, {5, 6, 7}, true, 0, 0.3}, /* all equal */
        {3, {1, 2, 3}, {9, 6, 3}, true, 0, 3}};     /* it falls */
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bats_regression r =
            bats_regression_fit(cases[i].base, cases[i].other, cases[i].n);
        assert_near(r.b0, cases[i].b0, 1e-9);
        assert_near(r.b1, cases[i].b1, 1e-9);
        assert_int_equal(r.ratio, cases[i].ratio);
        double y = bats_regression_apply(&r, 100);
        assert_near(y, r.b0 + 100 * r.b1, 1e-9);
        assert_near(bats_regression_invert(&r, y), 100, 1e-9);
    }
}

/* to j: 4 + x / 2; to k: 10 + 3 x; so k = 10 + 3 * 2 (j - 4) = 6 j - 14. */
TEST(lines_are_composed)
{
    const struct bats_regression to_j = {.b0 = 4, .b1 = 0.5};
    const struct bats_regression to_k = {.b0 = 10, .b1 = 3};
    struct bats_regression r = bats_regression_compose(&to_j, &to_k);
    assert_near(r.b0, -14, 1e-9);
    assert_near(r.b1, 6, 1e-9);
    assert_false(r.ratio);
    const struct bats_regression rough = {.b1 = 2, .ratio = true};
    assert_true(bats_regression_compose(&to_j, &rough).ratio);
}

/* The thesis prints the lines of its table 6.2 as -0.01 + 0.52 x. */
TEST(short_tasks_take_no_negative_time)
{
    const struct bats_regression r = {.b0 = -10, .b1 = 0.5};
    assert_near(bats_regression_apply(&r, 4), 1, 1e-9);
    const struct bats_regression late = {.b0 = 10, .b1 = 0.5};
    assert_near(bats_regression_invert(&late, 4), 1, 1e-9);
}

/* ---- samples ---- */

/* What was observed, and the sample that it makes; a line if b1 is not 0. */
static const struct {
    const char *what;
    uint32_t n_clusters, base;
    const char *seen; /* task, cluster, runtime, for each */
    struct {
        uint32_t n, n_measured, n_pairs;
        double runtimes[7], b0, b1;
        bool is_ratio;
    } clusters[3];
} samples[] = {
    /* Tasks 0 and 1 ran on both, 2 and 3 on the base, 4 on the other, which
     * takes 100 + x / 2. */
    {"they are completed both ways", 2, 0,
     .seen = "4 1 350, 0 0 1000, 1 0 2000, 3 0 800, 1 1 1100, 2 0 600, "
             "0 1 600",
     .clusters = {{5, 4, 4, {1000, 2000, 600, 800, 500}, 0, 0, false},
                  {5, 3, 2, {600, 1100, 400, 500, 350}, 100, 0.5, false}}},
    /* 10 -> 20, 20 -> 30, 30 -> 55 are not on one line, whose slope is 1.75 and
     * which can be taken to begin at 0. Only for the fourth task it is asked. */
    {"what was measured stays", 2, 0,
     .seen = "0 0 10, 0 1 20, 1 0 20, 1 1 30, 2 0 30, 2 1 55, 3 0 40",
     .clusters = {{4, 4, 4, {10, 20, 30, 40}, 0, 0, false},
                  {4, 3, 3, {20, 30, 55, 70}, 0, 1.75, true}}},
    /* Of a task that only the third one has run, in which the mean is 40, not
     * 25. */
    {"the base has most runtimes", 3, 1,
     .seen = "0 0 10, 0 1 20, 1 1 30, 2 2 40",
     .clusters = {{3, 1, 1, {10, 15, 12.5}, 0, 0.5, true},
                  {3, 2, 2, {20, 30, 25}, 0, 0, false},
                  {3, 1, 0, {32, 48, 40}, 0, 1.6, true}}},
    {"the first of several runtimes counts", 1, 0,
     .seen = "7 0 10, 3 0 5, 7 0 99",
     .clusters = {{2, 2, 2, {5, 10}, 0, 0, false}}},
    {"a cluster without runtimes is unknown", 3, 2,
     .seen = "0 0 10, 0 2 5, 1 2 4", /* one pair: a ratio */
     .clusters = {{2, 1, 1, {10, 8}, 0, 2, true},
                  {0},
                  {2, 2, 2, {5, 4}, 0, 0, false}}},
    {"so are all without any", 3, 0, .clusters = {{0}}},
    /* Cluster 2 shares tasks with cluster 0 only: 0 -> 1 is 2 x, 0 -> 2 is
     * 10 + 3 x; so 1 -> 2 is 10 + 1.5 x. */
    {"a third cluster helps out", 3, 1,
     .seen = "0 0 10, 0 1 20, 1 0 20, 1 1 40, 2 0 30, 2 2 100, 3 0 50, "
             "3 2 160, 4 1 60, 5 1 80, 6 1 100",
     .clusters =
         {{7, 4, 2, {10, 20, 30, 50, 30, 40, 50}, 0, 0.5, false},
          {7, 5, 5, {20, 40, 60, 100, 60, 80, 100}, 0, 0, false},
          {7, 2, 0, {40, 70, 100, 160, 100, 130, 160}, 10, 1.5, false}}},
    /* No task in common at all: means 20 and 5. */
    {"without pairs the means decide", 2, 0,
     .seen = "0 0 10, 1 0 20, 2 0 30, 3 1 4, 4 1 6",
     .clusters = {{5, 3, 3, {10, 20, 30, 16, 24}, 0, 0, false},
                  {5, 2, 0, {2.5, 5, 7.5, 4, 6}, 0, 0.25, true}}},
    {"runtimes of nothing count as something", 2, 0,
     .seen = "0 0 0, 0 1 0, 1 0 0",
     .clusters = {{2, 2, 2, {1, 1}, 0, 0, false},
                  {2, 1, 1, {1, 1}, 0, 0, false}}}};

TEST(samples_are_as_by_hand)
{
    for (size_t i = 0; i < COUNT(samples); i++) {
        struct bats_sample s;
        print_message("# %s\n", samples[i].what);
        struct bats_observation seen[12]; /* one more than any has */
        size_t n_seen = 0;
        const char *at = samples[i].seen;
        for (int n; at && sscanf(at, "%u%u%ld%n", &seen[n_seen].task,
                                 &seen[n_seen].cluster, &seen[n_seen].runtime,
                                 &n) == 3;
             n_seen++)
            at += n + (at[n] == ',');
        assert_ok(
            bats_sample_init(&s, samples[i].n_clusters, seen, n_seen, &err));
        assert_int_equal(s.base, samples[i].base);
        for (uint32_t c = 0; c < samples[i].n_clusters; c++) {
            const struct bats_cluster_sample *is = &s.clusters[c];
            assert_int_equal(is->n, samples[i].clusters[c].n);
            assert_int_equal(is->n_measured,
                             samples[i].clusters[c].n_measured);
            assert_int_equal(is->n_pairs, samples[i].clusters[c].n_pairs);
            for (uint32_t k = 0; k < is->n; k++)
                assert_near(is->runtimes[k],
                            samples[i].clusters[c].runtimes[k], 1e-9);
            if (samples[i].clusters[c].b1 > 0) {
                assert_near(is->line.b0, samples[i].clusters[c].b0, 1e-9);
                assert_near(is->line.b1, samples[i].clusters[c].b1, 1e-9);
                assert_int_equal(is->line.ratio,
                                 samples[i].clusters[c].is_ratio);
            }
        }
        bats_sample_release(&s);
    }
}

TEST(bad_observations_are_refused)
{
    const struct bats_observation far = {0, 2, 1}, negative = {0, 0, -1};
    struct bats_sample s = {.base = 77};
    assert_int_equal(bats_sample_init(&s, 2, &far, 1, &err), BATS_EINPUT);
    assert_int_equal(bats_sample_init(&s, 2, &negative, 1, &err), BATS_EINPUT);
    assert_int_equal(bats_sample_init(&s, 0, NULL, 0, &err), BATS_EINPUT);
    assert_int_equal(
        bats_sample_init(&s, BATS_CLUSTERS_MAX + 1, NULL, 0, &err),
        BATS_EINPUT);
    assert_int_equal(s.base, 77); /* untouched */
}

/* 20 tasks on the first cluster, one of them on the second, where it took
 * twice as long: so should the others, but of that there is no evidence. */
TEST(what_follows_from_one_runtime_is_a_guess)
{
    struct bats_observation seen[21];
    struct bats_runtimes runtimes[2];
    struct bats_sample sample;
    for (uint32_t i = 0; i < 20; i++)
        seen[i] = (struct bats_observation){i, 0, (10 + i) * BATS_MINUTE};
    seen[20] = (struct bats_observation){0, 1, 20 * BATS_MINUTE};
    assert_ok(bats_sample_init(&sample, 2, seen, 21, &err));
    bats_sample_runtimes(&sample, 0.9, NULL, runtimes, NULL);
    assert_int_equal(runtimes[0].n, 20);
    assert_false(runtimes[0].is_guess);
    assert_true(runtimes[1].is_guess);
    assert_float_equal(runtimes[1].mean, 2 * 19.5 * (double)BATS_MINUTE, 1);
    bats_sample_release(&sample);
}

/* 20 tasks of 19.5 min on the first cluster, of which half was expected, and a
 * fifth of it on the second. */
TEST(what_is_expected_is_a_guess_in_proportion)
{
    bats_time expected[3] = {390 * BATS_SECOND, 78 * BATS_SECOND, 0};
    struct bats_observation seen[20];
    struct bats_runtimes runtimes[3];
    struct bats_sample sample;
    for (uint32_t i = 0; i < 20; i++)
        seen[i] = (struct bats_observation){i, 0, (10 + i) * BATS_MINUTE};
    assert_ok(bats_sample_init(&sample, 3, seen, 20, &err));
    assert_ok(bats_sample_runtimes(&sample, 0.9, expected, runtimes, &err));
    assert_false(runtimes[0].is_guess);
    assert_true(runtimes[1].is_guess);
    assert_int_equal(lround(runtimes[1].mean), 234 * BATS_SECOND);
    assert_int_equal(lround(5 * runtimes[1].deviation),
                     lround(runtimes[0].deviation));
    assert_true(runtimes[2].mean == 0); /* unknown */

    /* Without an expectation of the first one it is believed as it is. */
    expected[0] = 0;
    assert_ok(bats_sample_runtimes(&sample, 0.9, expected, runtimes, &err));
    assert_int_equal(lround(runtimes[1].mean), 78 * BATS_SECOND);
    bats_sample_release(&sample);
}

/* ---- statistics ---- */

/* Paper, figure 2, and the bound ceil(z^2 / (2 delta^2)) = 31. */
TEST(sample_size_follows_the_paper)
{
    assert_int_equal(bats_stats_sample_size(1000, 1.96, 0.25), 30);
    assert_int_equal(bats_stats_sample_size(10000000, 1.96, 0.25), 31);
    assert_int_equal(bats_stats_sample_size(1, 1.96, 0.25), 1);
    /* 20 * 3.8416 / (3.8416 + 2 * 19 * 0.0625) = 12.36 */
    assert_int_equal(bats_stats_sample_size(20, 1.96, 0.25), 13);
}

static void fill(struct bats_stats *st)
{
    assert_ok(bats_stats_init(st, 4, &err));
    bats_stats_add(st, 30, true);
    bats_stats_add(st, 10, true);
    bats_stats_add(st, 20, true);
}

TEST(running_task_is_expected_like_the_longer_ones)
{
    struct bats_stats st;
    fill(&st);
    assert_float_equal(bats_stats_expected(&st, 0), 20, 0);
    assert_float_equal(bats_stats_expected(&st, 9), 20, 0);
    assert_float_equal(bats_stats_expected(&st, 10), 25, 0);
    assert_float_equal(bats_stats_expected(&st, 25), 30, 0);
    /* None took longer: what has passed and a mean. */
    assert_float_equal(bats_stats_expected(&st, 30), 30 + 20, 0);
    bats_stats_release(&st);
}

TEST(mean_counts_running_tasks_too)
{
    struct bats_stats st;
    fill(&st);
    assert_float_equal(st.mean, 20, 0);
    bats_stats_update(&st, 2, 25 + 55); /* (80 + 60) / (2 + 3) */
    assert_float_equal(st.mean, 28, 0);
    bats_stats_release(&st);
}

TEST(tasks_outside_the_sample_only_move_the_mean)
{
    struct bats_stats st;
    fill(&st);
    bats_stats_add(&st, 100, false);
    assert_int_equal(st.n_sample, 3);
    assert_float_equal(st.mean, 40, 0);
    assert_float_equal(bats_stats_expected(&st, 25), 30, 0);
    bats_stats_release(&st);
}

TEST_MAIN(NULL, NULL)
