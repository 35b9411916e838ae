/* texts: copies stay where they are, and what comes again is there once. */
#include "helpers/test.h"
#include "sql/texts.h"

static const char *add(struct bats_texts *t, const char *text)
{
    return bats_texts_add(t, text, strlen(text));
}

static const char *name(struct bats_texts *t, const char *text)
{
    return bats_texts_name(t, text, strlen(text));
}

TEST(texts_stay_where_they_are)
{
    enum { N = 30000 };
    static const char *at[N];
    struct bats_texts t = {0};
    static char big[(3 << 20) + 1], text[64];
    memset(big, 'x', sizeof big - 1);
    const char *copy = NULL;
    for (int i = 0; i < N; i++) {
        sprintf(text, "task %d with a text of some length", i);
        at[i] = add(&t, text);
        if (i == N / 2)
            copy = add(&t, big);
    }
    for (int i = 0; i < N; i++) {
        sprintf(text, "task %d with a text of some length", i);
        assert_string_equal(at[i], text);
    }
    assert_string_equal(copy, big);
    bats_texts_release(&t);
}

TEST(what_is_missing_is_an_empty_text)
{
    struct bats_texts t = {0};
    assert_string_equal(bats_texts_add(&t, NULL, 0), "");
    assert_string_equal(bats_texts_name(&t, NULL, 0), "");
    assert_string_equal(add(&t, ""), "");
    assert_null(t.blocks);
    bats_texts_release(&t);
}

TEST(names_that_come_again_are_there_once)
{
    struct bats_texts t = {0};
    char text[8];
    const char *first = name(&t, "node-17");
    strcpy(text, "node-17");
    assert_ptr_equal(name(&t, text), first);
    /* These two share a place. */
    const char *other = name(&t, "mode-17");
    assert_string_equal(other, "mode-17");
    assert_string_equal(first, "node-17");
    assert_string_equal(name(&t, "node-17"), "node-17");
    assert_string_equal(name(&t, "7"), "7");
    bats_texts_release(&t);
}

TEST_MAIN(NULL, NULL)
