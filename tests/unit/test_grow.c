/* grow and text: room in arrays that grow, and text that is added to. */
#include "helpers/test.h"
#include "util/grow.h"
#include "util/text.h"

struct thing {
    uint64_t a;
    char b[92];
};

TEST(what_is_in_the_array_stays)
{
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
TEST(an_array_seldom_moves)
{
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

TEST(without_memory_nothing_changes)
{
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

TEST(text_is_all_that_was_added_with_a_NUL_behind_it)
{
    struct bats_text text = {0};
    char expected[4000] = "";
    for (int i = 0; i < 300; i++) {
        bats_text_put(&text, "abcdef", (size_t)i % 4);
        strncat(expected, "abcdef", (size_t)i % 4);
        bats_text_format(&text, "<%d>", i);
        sprintf(expected + strlen(expected), "<%d>", i);
        bats_text_add(&text, "|");
        strcat(expected, "|");
        assert_string_equal(text.bytes, expected);
        assert_int_equal(text.n, strlen(expected));
        assert_true(text.room > text.n);
    }
    bats_text_cut(&text, 5);
    assert_string_equal(text.bytes, "<0>|a");
    bats_text_encode(&text, BATS_ENCODE_QUOTED, "b c");
    assert_string_equal(text.bytes, "<0>|a'b c'");
    bats_text_format(&text, "%c", '\0');
    assert_int_equal(bats_text_length(&text), 11);
    assert_int_equal(bats_text_check(&text, NULL), 0);
    bats_text_release(&text);
    assert_null(text.bytes);
}

TEST(text_that_lacks_something_says_so_until_it_is_empty)
{
    struct bats_text text = {0};
    bats_text_add(&text, "ab");
    bats_text_put(&text, "", SIZE_MAX - 2); /* no machine has so much */
    bats_text_add(&text, "c");
    assert_string_equal(text.bytes, "ab");
    assert_int_equal(bats_text_length(&text), BATS_ENOMEM);
    assert_int_equal(bats_text_check(&text, &err), BATS_ENOMEM);
    bats_text_cut(&text, 1);
    assert_int_equal(bats_text_length(&text), BATS_ENOMEM);
    bats_text_cut(&text, 0);
    assert_int_equal(bats_text_length(&text), 0);
    bats_text_add(&text, "c");
    assert_string_equal(text.bytes, "c");
    bats_text_release(&text);
}

TEST(only_whole_words_are_listed)
{
    static const char words[] = " python2 python nice ";
    assert_true(bats_text_lists(words, "python"));
    assert_true(bats_text_lists(words, "nice"));
    for (const char *const *no =
             (const char *const[]){"pytho", "ython2", "", "sh", NULL};
         *no != NULL; no++)
        assert_false(bats_text_lists(words, *no));
}

TEST_MAIN(NULL, NULL)
