#include "bats/stats.h"
#include "helpers/test.h"

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
