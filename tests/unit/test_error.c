/* error: a code and one line of text that fits, whatever is quoted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "bats/error.h"

static void the_code_is_returned_and_the_sentence_kept(void **state)
{
    (void)state;
    struct bats_error err;
    int code = bats_error_set(&err, BATS_EINPUT, "%s:%d: bad", "bag.txt", 7);
    assert_int_equal(code, BATS_EINPUT);
    assert_int_equal(err.code, BATS_EINPUT);
    assert_string_equal(err.text, "bag.txt:7: bad");
}

static void nobody_need_listen(void **state)
{
    (void)state;
    assert_int_equal(bats_error_set(NULL, BATS_ENOMEM, "%d", 1), BATS_ENOMEM);
}

static void a_long_sentence_is_cut(void **state)
{
    (void)state;
    struct bats_error err;
    char longer[2 * sizeof err.text];
    memset(longer, 'x', sizeof longer - 1);
    longer[sizeof longer - 1] = '\0';
    bats_error_set(&err, BATS_ESYS, "%s", longer);
    assert_int_equal(strlen(err.text), sizeof err.text - 1);
}

static void control_characters_do_not_reach_a_terminal(void **state)
{
    (void)state;
    struct bats_error err;
    bats_error_set(&err, BATS_EINPUT, "key '%s'", "a\nb\x1b[2J\x7f\xc3\xa9");
    assert_string_equal(err.text, "key 'a\\nb\\e[2J\\x7f\xc3\xa9'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_code_is_returned_and_the_sentence_kept),
        cmocka_unit_test(nobody_need_listen),
        cmocka_unit_test(a_long_sentence_is_cut),
        cmocka_unit_test(control_characters_do_not_reach_a_terminal),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
