#include "exec/process/family.h"
#include "helpers/test.h"

TEST(plain_words_need_no_shell)
{
    char **argv = bats_command_split(" /bin/prog\t--x=1  a+b,c@d:50% ./_-. ");
    assert_non_null(argv);
    assert_string_equal(argv[0], "/bin/prog");
    assert_string_equal(argv[1], "--x=1");
    assert_string_equal(argv[2], "a+b,c@d:50%");
    assert_string_equal(argv[3], "./_-.");
    assert_null(argv[4]);
    free(argv);
    argv = bats_command_split("a b c d e"); /* as many words as fit */
    assert_string_equal(argv[4], "e");
    assert_null(argv[5]);
    free(argv);
}

TEST(every_other_character_needs_a_shell)
{
    const char special[] = "\n\r\v\"#$&'()*;<>?[\\]^`{|}~!\x01\x7f\xc3";
    for (size_t i = 0; i < sizeof special - 1; i++) {
        char line[] = "prog a_b";
        line[6] = special[i];
        assert_null(bats_command_split(line));
    }
}

TEST(what_a_shell_does_itself_is_left_to_it)
{
    const char *const lines[] = {
        "",           "  ",      "A=1 prog",    "cd x",   "exit 3",
        ". ./script", ":",       "echo a",      "test 1", "time prog",
        "exec prog",  "while a", "ulimit -v 5", "A=1"};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        assert_null(bats_command_split(lines[i]));
}

TEST_MAIN(NULL, NULL)
