
#include "helpers/draw.h"
#include "util/heap.h"

#define N 50

/* The earliest of the times that are not INT64_MAX, lowest id first. */
static uint32_t earliest(const int64_t *time)
{
    uint32_t best = 0;
    for (uint32_t id = 1; id < N; id++)
        if (time[id] < time[best])
            best = id;
    return best;
}

TEST(first_is_always_the_earliest_and_lowest)
{
    struct bats_heap heap;
    int64_t time[N];
    uint32_t id = 0;
    draw_from(0);
    assert_true(bats_heap_init(&heap, N));
    for (int i = 0; i < N; i++)
        time[i] = INT64_MAX;
    assert_int_equal(bats_heap_first(&heap, &id), INT64_MAX);
    for (int step = 0; step < 20000; step++) {
        uint32_t at = pick(N);
        if (uniform() < 0.4) {
            bats_heap_remove(&heap, at);
            time[at] = INT64_MAX;
        } else {
            time[at] = (int64_t)pick(30);
            bats_heap_set(&heap, at, time[at]);
        }
        assert_int_equal(bats_heap_has(&heap, at), time[at] != INT64_MAX);
        uint32_t want = earliest(time);
        assert_int_equal(bats_heap_first(&heap, &id), time[want]);
        if (time[want] != INT64_MAX)
            assert_int_equal(id, want);
    }
    bats_heap_release(&heap);
}

TEST_MAIN(NULL, NULL)
