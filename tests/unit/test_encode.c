/* encode: any text, safe where it is written. Expected values are written by
 * hand, after RFC 4180 and bash(1), or come from a shell. */
#include <jansson.h>

#include "helpers/test.h"
#include "util/encode.h"

static const char *encoded(enum bats_encoding encoding, const char *text)
{
    static char out[8192];
    assert_true(bats_encode(encoding, out, sizeof out, text) < sizeof out);
    return out;
}

TEST(a_terminal_gets_one_printable_line)
{
    static const char *const pairs[][2] = {
        {"sed 's/a\\b/\"/'", "sed 's/a\\b/\"/'"},
        {"a\nb\tc\rd", "a\\nb\\tc\\rd"},
        {"\x1b]0;title\x07", "\\e]0;title\\x07"},
        {"d\x7f", "d\\x7f"},
        {"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80",
         "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"},
        {"\xff\xc3", "\\xff\\xc3"},
        {"\xc0\xaf", "\\xc0\\xaf"},                   /* overlong */
        {"\xed\xa0\x80", "\\xed\\xa0\\x80"},          /* surrogate */
        {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* > U+10FFFF */
        {"\302\2332J", "\\xc2\\x9b2J"},               /* CSI of C1 */
        {"a\342\200\256b", "a\\xe2\\x80\\xaeb"},      /* turns */
    };
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        char once[256];
        strcpy(once, encoded(BATS_ENCODE_TERMINAL, pairs[i][0]));
        assert_string_equal(once, pairs[i][1]);
        assert_string_equal(encoded(BATS_ENCODE_TERMINAL, once), once);
    }
}

TEST(what_does_not_fit_is_cut_between_characters)
{
    char out[6];
    assert_int_equal(
        bats_encode(BATS_ENCODE_TERMINAL, out, sizeof out, "abc\342\202\254d"),
        7);
    assert_string_equal(out, "abc");
    assert_int_equal(
        bats_encode(BATS_ENCODE_TERMINAL, out, sizeof out, "ab\1cd"), 8);
    assert_string_equal(out, "ab");
    assert_int_equal(bats_encode(BATS_ENCODE_SHELL, NULL, 0, "a b"), 5);
}

TEST(unicode_is_valid_and_gives_every_text_back)
{
    assert_string_equal(encoded(BATS_ENCODE_UNICODE, "a\xff\n\xc3\xa9"),
                        "a\xee\xbf\xbf\n\xc3\xa9");
    /* U+EF80 itself: each of its three bytes */
    assert_string_equal(encoded(BATS_ENCODE_UNICODE, "\xee\xbe\x80"),
                        "\xee\xbf\xae\xee\xbe\xbe\xee\xbe\x80");
    uint32_t random = 1;
    for (int i = 0; i < 100000; i++) {
        static const unsigned char often[] = {0xEE, 0xBE, 0xBF, 0x80, 0xAE,
                                              'a',  0xC3, 0xF0, 0xE2};
        char text[12] = "", back[64];
        for (int k = 0; k < 11; k++) {
            random = random * 1664525 + 1013904223;
            unsigned char byte = (unsigned char)(random >> 24);
            text[k] =
                (char)(random >> 20 & 3 ? often[byte % sizeof often] : byte);
        }
        strcpy(back, encoded(BATS_ENCODE_UNICODE, text));
        json_t *json = json_string(back); /* NULL: this is not UTF-8 */
        assert_non_null(json);
        json_decref(json);
        bats_encode_undo_unicode(back);
        assert_string_equal(back, text);
    }
}

/* (Were the rest looked at again for each of its characters, it would take
 * hours.) */
TEST(a_long_text_is_cut_and_counted)
{
    char few[8];
    size_t n = (size_t)8 << 20;
    char *text = malloc(n + 1);
    assert_non_null(text);
    memset(text, 'x', n);
    text[n] = '\0';
    memcpy(text + n / 2, "\n", 1);
    assert_int_equal(bats_encode(BATS_ENCODE_TERMINAL, few, sizeof few, text),
                     n + 1);
    assert_string_equal(few, "xxxxxxx");
    assert_int_equal(bats_encode(BATS_ENCODE_TERMINAL, NULL, 0, text), n + 1);
    free(text);
}

TEST(bash_reads_the_word_that_was_meant)
{
    static const char *const texts[] = {
        "plain-1.txt",
        "",
        "two words",
        "it's",
        "$(touch /tmp/x) `id` \\ \"",
        "new\nline",
        "esc\x1b[2J it's \\ $(id)",
        "\377\3761f",
        "~",
        "#a",
        "\342\200\256a",
        "caf\xc3\xa9 !x",
        "tab\there\0011",
        "*",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        char command[8300], back[512] = "";
        const char *word = encoded(BATS_ENCODE_SHELL, texts[i]);
        assert_string_equal(strpbrk(word, "\n\x1b\x01") ? "not safe" : "", "");
        snprintf(command, sizeof command, "printf %%s %s", word);
        setenv("WORD", command, 1);
        FILE *shell = popen("LC_ALL=C bash -c \"$WORD\"", "r");
        assert_non_null(shell);
        size_t n = fread(back, 1, sizeof back - 1, shell);
        assert_int_equal(pclose(shell), 0);
        back[n] = '\0';
        assert_string_equal(back, texts[i]);
    }
}

TEST(words_are_quoted_as_the_rows_say)
{
    static const struct {
        enum bats_encoding encoding;
        const char *text, *expected;
    } rows[] = {
        /* RFC 4180; and what a spreadsheet would compute is marked. */
        {BATS_ENCODE_CSV, "1.1 cheapest", "1.1 cheapest"},
        {BATS_ENCODE_CSV, "a,b", "\"a,b\""},
        {BATS_ENCODE_CSV, "a\"b\nc", "\"a\"\"b\nc\""},
        {BATS_ENCODE_CSV, "=1+1", "'=1+1"},
        {BATS_ENCODE_CSV, "@SUM(1,2)", "\"'@SUM(1,2)\""},
        {BATS_ENCODE_CSV, "-slow", "'-slow"},
        {BATS_ENCODE_CSV, "\tx", "'\tx"},
        {BATS_ENCODE_CSV, "-1.5", "-1.5"},
        {BATS_ENCODE_CSV, "+3e2", "+3e2"},
        /* Any shell reads these. */
        {BATS_ENCODE_QUOTED, "", "''"},
        {BATS_ENCODE_QUOTED, "a-b", "'a-b'"},
        {BATS_ENCODE_QUOTED, "it's $(x)\n\x1b\\", "'it'\\''s $(x)\n\x1b\\'"}};
    char few[8];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        assert_string_equal(encoded(rows[i].encoding, rows[i].text),
                            rows[i].expected);
    assert_int_equal(bats_encode(BATS_ENCODE_QUOTED, few, sizeof few, "a'b"),
                     8);
}

TEST(a_plain_word_means_itself)
{
    static const char *const others[] = {"", "a b", "a\nb", "a;b", "\xc3\xa9"};
    assert_true(bats_encode_is_word("gpu-long_2.a"));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(bats_encode_is_word(others[i]));
}

TEST_MAIN(NULL, NULL)
