#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "bats/stats.h"

/* Paper, figure 2, and the bound ceil(z^2 / (2 delta^2)) = 31. */
static void sample_size_follows_the_paper(void **state)
{
    (void)state;
    assert_int_equal(bats_stats_sample_size(1000, 1.96, 0.25), 30);
    assert_int_equal(bats_stats_sample_size(10000000, 1.96, 0.25), 31);
    assert_int_equal(bats_stats_sample_size(1, 1.96, 0.25), 1);
    /* 20 * 3.8416 / (3.8416 + 2 * 19 * 0.0625) = 12.36 */
    assert_int_equal(bats_stats_sample_size(20, 1.96, 0.25), 13);
}

static void fill(struct bats_stats *st)
{
    assert_int_equal(bats_stats_init(st, 4, NULL), 0);
    bats_stats_add(st, 30, true);
    bats_stats_add(st, 10, true);
    bats_stats_add(st, 20, true);
}

static void running_task_is_expected_like_the_longer_ones(void **state)
{
    (void)state;
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

static void mean_counts_running_tasks_too(void **state)
{
    (void)state;
    struct bats_stats st;
    fill(&st);
    assert_float_equal(st.mean, 20, 0);
    bats_stats_update(&st, 2, 25 + 55); /* (80 + 60) / (2 + 3) */
    assert_float_equal(st.mean, 28, 0);
    bats_stats_release(&st);
}

static void tasks_outside_the_sample_only_move_the_mean(void **state)
{
    (void)state;
    struct bats_stats st;
    fill(&st);
    bats_stats_add(&st, 100, false);
    assert_int_equal(st.n_sample, 3);
    assert_float_equal(st.mean, 40, 0);
    assert_float_equal(bats_stats_expected(&st, 25), 30, 0);
    bats_stats_release(&st);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sample_size_follows_the_paper),
        cmocka_unit_test(running_task_is_expected_like_the_longer_ones),
        cmocka_unit_test(mean_counts_running_tasks_too),
        cmocka_unit_test(tasks_outside_the_sample_only_move_the_mean)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
