/* error: a code and one line of text that fits, whatever is quoted. */
#include <errno.h>

#include "bats/error.h"
#include "helpers/test.h"

TEST(the_code_is_returned_and_the_sentence_kept)
{
    struct bats_error err;
    int code = bats_error_set(&err, BATS_EINPUT, "%s:%d: bad", "bag.txt", 7);
    assert_int_equal(code, BATS_EINPUT);
    assert_int_equal(err.code, BATS_EINPUT);
    assert_string_equal(err.text, "bag.txt:7: bad");
}

TEST(a_sentence_names_the_place_in_the_input)
{
    struct bats_error err;
    char longer[400] = "";
    assert_int_equal(bats_error_at(&err, "bag", 7, "%d bad", 3), BATS_EINPUT);
    assert_int_equal(err.code, BATS_EINPUT);
    assert_string_equal(err.text, "bag:7: 3 bad");
    assert_int_equal(bats_error_at(&err, "bag", 0, "bad"), BATS_EINPUT);
    assert_string_equal(err.text, "bag: bad");
    memset(longer, 'x', sizeof longer - 1);
    bats_error_at(&err, longer, 12, "the sentence has room");
    assert_int_equal(strspn(err.text, "x"), 250);
    assert_string_equal(err.text + 250, ":12: the sentence has room");
    errno = ENOENT;
    assert_int_equal(bats_error_file(&err, "no"), BATS_EINPUT);
    assert_string_equal(err.text, "no: No such file or directory");
    assert_int_equal(bats_error_at(NULL, "bag", 1, "bad"), BATS_EINPUT);
}

TEST(whoever_knows_the_place_puts_it_before_the_sentence)
{
    struct bats_error err;
    int code = bats_error_set(&err, BATS_EOVERFLOW, "too\nlarge");
    assert_int_equal(bats_error_prefix(&err, code, "a:%d: ", 2), BATS_EINPUT);
    assert_int_equal(err.code, BATS_EINPUT);
    assert_string_equal(err.text, "a:2: too\\nlarge");
    assert_int_equal(bats_error_prefix(&err, 0, "b: "), 0);
    assert_string_equal(err.text, "a:2: too\\nlarge");
    code = bats_no_memory(&err);
    assert_int_equal(bats_error_prefix(&err, code, "b: "), BATS_ENOMEM);
    assert_string_equal(err.text, "out of memory");
    assert_int_equal(bats_error_prefix(NULL, BATS_EINPUT, "b: "), BATS_EINPUT);
}

TEST(nobody_need_listen)
{
    assert_int_equal(bats_error_set(NULL, BATS_ENOMEM, "%d", 1), BATS_ENOMEM);
}

TEST(a_long_sentence_is_cut)
{
    struct bats_error err;
    char longer[2 * sizeof err.text];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    bats_error_set(&err, BATS_ESYS, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

TEST(control_characters_do_not_reach_a_terminal)
{
    struct bats_error err;
    bats_error_set(&err, BATS_EINPUT, "key '%s'", "a\nb\x1b[2J\x7f\xc3\xa9");
    assert_string_equal(err.text, "key 'a\\nb\\e[2J\\x7f\xc3\xa9'");
}

TEST_MAIN(NULL, NULL)
