/* grow: room in arrays that grow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "util/grow.h"

struct thing {
    uint64_t a;
    char b[92];
};

static void what_is_in_the_array_stays(void **state)
{
    (void)state;
    uint32_t *numbers = NULL;
    size_t capacity = 0;
    for (uint32_t i = 0; i < 100000; i++) {
        assert_true(bats_grow(&numbers, &capacity, i + 1, sizeof *numbers));
        assert_true(capacity > i);
        numbers[i] = i;
    }
    for (uint32_t i = 0; i < 100000; i++)
        assert_int_equal(numbers[i], i);
    free(numbers);
}

/* 64 bytes times 1.5 to the power of 35 are more than 64 MB. */
static void an_array_seldom_moves(void **state)
{
    (void)state;
    struct thing *things = NULL;
    size_t capacity = 0, was = 0;
    int times = 0;
    for (size_t i = 0; i < 600000; i++) {
        assert_true(bats_grow(&things, &capacity, i + 1, sizeof *things));
        times += capacity != was;
        was = capacity;
    }
    assert_in_range(times, 5, 35);
    free(things);
}

static void there_is_as_much_room_as_is_needed(void **state)
{
    (void)state;
    struct thing *things = NULL;
    size_t capacity = 0;
    assert_true(bats_grow(&things, &capacity, 1000, sizeof *things));
    assert_true(capacity >= 1000);
    things[999].a = 7;
    struct thing *before = things;
    assert_true(bats_grow(&things, &capacity, 1000, sizeof *things));
    assert_true(bats_grow(&things, &capacity, 0, sizeof *things));
    assert_ptr_equal(things, before);
    free(things);
}

static void without_memory_nothing_changes(void **state)
{
    (void)state;
    struct thing *things = NULL;
    size_t capacity = 0;
    assert_true(bats_grow(&things, &capacity, 3, sizeof *things));
    struct thing *before = things;
    size_t was = capacity;
    /* So many that no number has their bytes. */
    assert_false(bats_grow(&things, &capacity, SIZE_MAX / 2, sizeof *things));
    assert_ptr_equal(things, before);
    assert_int_equal(capacity, was);
    free(things);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_in_the_array_stays),
        cmocka_unit_test(an_array_seldom_moves),
        cmocka_unit_test(there_is_as_much_room_as_is_needed),
        cmocka_unit_test(without_memory_nothing_changes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
