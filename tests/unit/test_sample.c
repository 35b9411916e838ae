/* sample: complete samples by hand. */
#include <math.h>

#include "bats/sample.h"
#include "helpers/test.h"

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static void expect(const struct bats_cluster_sample *c, const double *runtimes,
                   uint32_t n, uint32_t n_measured, uint32_t n_pairs)
{
    assert_int_equal(c->n, n);
    assert_int_equal(c->n_measured, n_measured);
    assert_int_equal(c->n_pairs, n_pairs);
    for (uint32_t i = 0; i < n; i++)
        assert_near(c->runtimes[i], runtimes[i], 1e-9);
}

/* Tasks 0 and 1 ran on both, 2 and 3 on the base, 4 on the other, which takes
 * 100 + x / 2. */
TEST(samples_are_completed_both_ways)
{
    const struct bats_observation o[] = {
        {4, 1, 350},  {0, 0, 1000}, {1, 0, 2000}, {3, 0, 800},
        {1, 1, 1100}, {2, 0, 600},  {0, 1, 600},
    };
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 2, o, COUNT(o), &err));
    assert_int_equal(s.base, 0);
    expect(&s.clusters[0], (double[]){1000, 2000, 600, 800, 500}, 5, 4, 4);
    expect(&s.clusters[1], (double[]){600, 1100, 400, 500, 350}, 5, 3, 2);
    assert_near(s.clusters[1].line.b0, 100, 1e-9);
    assert_near(s.clusters[1].line.b1, 0.5, 1e-9);
    assert_false(s.clusters[1].line.ratio);
    bats_sample_release(&s);
}

/* 10 -> 20, 20 -> 30, 30 -> 55 are not on one line, whose slope is 1.75 and
 * which can be taken to begin at 0. Only for the fourth task it is asked. */
TEST(what_was_measured_stays)
{
    const struct bats_observation o[] = {{0, 0, 10}, {0, 1, 20}, {1, 0, 20},
                                         {1, 1, 30}, {2, 0, 30}, {2, 1, 55},
                                         {3, 0, 40}};
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 2, o, COUNT(o), &err));
    expect(&s.clusters[0], (double[]){10, 20, 30, 40}, 4, 4, 4);
    expect(&s.clusters[1], (double[]){20, 30, 55, 70}, 4, 3, 3);
    bats_sample_release(&s);
}

TEST(base_has_most_runtimes)
{
    const struct bats_observation o[] = {
        {0, 0, 10}, {0, 1, 20}, {1, 1, 30}, {2, 2, 40}};
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 3, o, COUNT(o), &err));
    assert_int_equal(s.base, 1);
    bats_sample_release(&s);
}

TEST(first_of_several_runtimes_counts)
{
    const struct bats_observation o[] = {{7, 0, 10}, {3, 0, 5}, {7, 0, 99}};
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 1, o, COUNT(o), &err));
    expect(&s.clusters[0], (double[]){5, 10}, 2, 2, 2);
    bats_sample_release(&s);
}

TEST(cluster_without_runtimes_is_unknown)
{
    const struct bats_observation o[] = {{0, 0, 10}, {0, 2, 5}, {1, 2, 4}};
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 3, o, COUNT(o), &err));
    expect(&s.clusters[1], NULL, 0, 0, 0);
    expect(&s.clusters[0], (double[]){10, 8}, 2, 1, 1); /* one pair: a ratio */
    assert_true(s.clusters[0].line.ratio);
    bats_sample_release(&s);
    assert_ok(bats_sample_init(&s, 3, NULL, 0, &err));
    for (int i = 0; i < 3; i++)
        expect(&s.clusters[i], NULL, 0, 0, 0);
    bats_sample_release(&s);
}

/* Cluster 2 shares tasks with cluster 0 only: 0 -> 1 is 2 x, 0 -> 2 is
 * 10 + 3 x; so 1 -> 2 is 10 + 1.5 x. */
TEST(third_cluster_helps_out)
{
    const struct bats_observation o[] = {{0, 0, 10}, {0, 1, 20},  {1, 0, 20},
                                         {1, 1, 40}, {2, 0, 30},  {2, 2, 100},
                                         {3, 0, 50}, {3, 2, 160}, {4, 1, 60},
                                         {5, 1, 80}, {6, 1, 100}};
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 3, o, COUNT(o), &err));
    assert_int_equal(s.base, 1);
    assert_near(s.clusters[2].line.b0, 10, 1e-9);
    assert_near(s.clusters[2].line.b1, 1.5, 1e-9);
    expect(&s.clusters[2], (double[]){40, 70, 100, 160, 100, 130, 160}, 7, 2,
           0);
    bats_sample_release(&s);
}

/* No task in common at all: means 20 and 5. */
TEST(without_pairs_the_means_decide)
{
    const struct bats_observation o[] = {
        {0, 0, 10}, {1, 0, 20}, {2, 0, 30}, {3, 1, 4}, {4, 1, 6}};
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 2, o, COUNT(o), &err));
    assert_true(s.clusters[1].line.ratio);
    expect(&s.clusters[0], (double[]){10, 20, 30, 16, 24}, 5, 3, 3);
    expect(&s.clusters[1], (double[]){2.5, 5, 7.5, 4, 6}, 5, 2, 0);
    bats_sample_release(&s);
}

TEST(runtimes_of_nothing_count_as_something)
{
    const struct bats_observation o[] = {{0, 0, 0}, {0, 1, 0}, {1, 0, 0}};
    struct bats_sample s;
    assert_ok(bats_sample_init(&s, 2, o, COUNT(o), &err));
    expect(&s.clusters[1], (double[]){1, 1}, 2, 1, 1);
    bats_sample_release(&s);
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

TEST_MAIN(NULL, NULL)
