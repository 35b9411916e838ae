#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "bats/bag.h"
#include "helpers/test.h"

#define N 100

TEST(every_task_is_drawn_once_in_a_seeded_order)
{
    uint32_t order[3][N];
    const uint64_t seed[3] = {1, 1, 2};
    for (int k = 0; k < 3; k++) {
        struct bats_bag bag;
        int seen[N] = {0};
        assert_int_equal(bats_bag_init(&bag, N, seed[k], NULL), 0);
        for (int i = 0; i < N; i++) {
            order[k][i] = bag.index[bats_bag_draw(&bag, 0).i];
            assert_int_equal(seen[order[k][i]]++, 0);
        }
        assert_int_equal(bag.count[BATS_TASK_PENDING], 0);
        check_bag(&bag);
        bats_bag_release(&bag);
    }
    assert_memory_equal(order[0], order[1], sizeof order[0]);
    assert_memory_not_equal(order[0], order[2], sizeof order[0]);
}

/* Runs of other versions are to be repeated: the order may never change. */
TEST(order_is_that_of_gsl_ran_shuffle)
{
    for (uint32_t n = 1; n <= N; n++) {
        struct bats_bag bag;
        uint32_t list[N];
        for (uint32_t i = 0; i < n; i++)
            list[i] = i;
        gsl_rng *rng = gsl_rng_alloc(gsl_rng_mt19937);
        gsl_rng_set(rng, n);
        gsl_ran_shuffle(rng, list, n, sizeof list[0]);
        gsl_rng_free(rng);
        assert_int_equal(bats_bag_init(&bag, n, n, NULL), 0);
        for (uint32_t i = n; i-- > 0;) {
            struct bats_position at = bats_bag_draw(&bag, 0);
            assert_int_equal(bag.index[at.i], list[i]);
            assert_int_equal(bag.position[list[i]].i, at.i);
        }
        bats_bag_release(&bag);
    }
}

TEST(task_put_back_is_drawn_next)
{
    struct bats_bag bag;
    assert_int_equal(bats_bag_init(&bag, N, 3, NULL), 0);
    struct bats_position first = bats_bag_draw(&bag, 0);
    bats_bag_draw(&bag, 0);
    bats_bag_cancel(&bag, first);
    bats_bag_put_back(&bag, first);
    check_bag(&bag);
    assert_int_equal(bats_bag_draw(&bag, 0).i, first.i);
    bats_bag_finish(&bag, first, BATS_TASK_FAILED);
    assert_int_equal(bag.count[BATS_TASK_FAILED], 1);
    check_bag(&bag);
    bats_bag_release(&bag);
}

TEST(resumed_bag_keeps_the_order_of_the_rest)
{
    struct bats_bag bag;
    struct bats_position order[N];
    uint8_t earlier[N] = {0};
    assert_int_equal(bats_bag_init(&bag, N, 3, NULL), 0);
    for (int i = 0; i < N; i++)
        order[i] = bats_bag_peek(&bag, (uint32_t)i);
    earlier[bag.index[order[0].i]] = BATS_TASK_DONE;
    earlier[bag.index[order[7].i]] = BATS_TASK_FAILED;
    bats_bag_resume(&bag, earlier);
    check_bag(&bag);
    assert_int_equal(bag.count[BATS_TASK_PENDING], N - 2);
    assert_int_equal(bats_bag_draw(&bag, 2).i, order[3].i);
    assert_int_equal(bats_bag_draw(&bag, 0).i, order[1].i);
    assert_int_equal(bats_bag_draw(&bag, 0).i, order[2].i);
    assert_int_equal(bats_bag_draw(&bag, 0).i, order[4].i);
    bats_bag_put_aside(&bag, order[3]);
    check_bag(&bag);
    bats_bag_put_back(&bag, order[3]);
    assert_int_equal(bats_bag_draw(&bag, 0).i, order[3].i);
    check_bag(&bag);
    bats_bag_release(&bag);
}

TEST(order_may_be_given)
{
    static const uint32_t given[] = {2, 0, 3, 1};
    static const uint8_t earlier[] = {BATS_TASK_DONE, 0, 0, 0};
    struct bats_bag bag;
    assert_int_equal(bats_bag_init(&bag, 4, 3, NULL), 0);
    bats_bag_keep_order(&bag, given);
    bats_bag_resume(&bag, earlier);
    check_bag(&bag);
    assert_int_equal(bag.index[bats_bag_draw(&bag, 0).i], 2);
    assert_int_equal(bag.index[bats_bag_draw(&bag, 0).i], 3);
    assert_int_equal(bag.index[bats_bag_draw(&bag, 0).i], 1);
    bats_bag_release(&bag);
}

TEST(tasks_that_are_added_come_after_all_others)
{
    static const uint8_t earlier[] = {0, BATS_TASK_DONE, BATS_TASK_LEFT_OUT,
                                      BATS_TASK_LEFT_OUT, BATS_TASK_LEFT_OUT};
    struct bats_bag bag;
    assert_int_equal(bats_bag_init(&bag, 5, 3, NULL), 0);
    bats_bag_keep_order(&bag, NULL);
    bats_bag_resume(&bag, earlier);
    assert_int_equal(bats_bag_open(&bag, NULL), 0);
    assert_int_equal(bats_bag_left(&bag), 1);
    assert_int_equal(bats_bag_add(&bag, bag.position[2], NULL), 0);
    assert_int_equal(bats_bag_add(&bag, bag.position[3], NULL), 0);
    check_bag(&bag);
    struct bats_position first = bats_bag_draw(&bag, 0);
    assert_int_equal(bag.index[first.i], 0);
    assert_int_equal(bats_bag_add(&bag, bag.position[4], NULL), 0);
    bats_bag_withdraw(&bag, bag.position[3]);
    bats_bag_put_back(&bag, first);
    check_bag(&bag);
    assert_int_equal(bag.index[bats_bag_draw(&bag, 0).i], 0);
    assert_int_equal(bag.index[bats_bag_draw(&bag, 0).i], 2);
    assert_int_equal(bag.index[bats_bag_draw(&bag, 0).i], 4);
    assert_int_equal(bag.count[BATS_TASK_SKIPPED], 1);
    assert_int_equal(bag.skipped[0], 3);
    check_bag(&bag);
    bats_bag_release(&bag);
}

TEST_MAIN(NULL, NULL)
