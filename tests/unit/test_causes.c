/* Equal failures are counted together. */
#include "helpers/test.h"
#include "report/causes.h"

TEST(the_last_line_is_the_last_with_something_in_it)
{
    char line[BATS_COMPLAINT_LINE], many[2 * BATS_COMPLAINT_LINE];
    bats_complaint_line(line, "first\nsecond \n\n  \n", 18);
    assert_string_equal(line, "second");
    bats_complaint_line(line, "10%\r100%\r", 9);
    assert_string_equal(line, "100%");
    bats_complaint_line(line, "a\0b", 3);
    assert_string_equal(line, "a b");
    bats_complaint_line(line, " \n", 2);
    assert_string_equal(line, "");
    bats_complaint_line(line, NULL, 0);
    assert_string_equal(line, "");
    memset(many, 'x', sizeof many);
    bats_complaint_line(line, many, sizeof many);
    assert_int_equal(strlen(line), BATS_COMPLAINT_LINE - 1);
}

TEST(all_with_a_digit_in_it_is_left_out)
{
    char kind[BATS_COMPLAINT_LINE];
    bats_complaint_kind(kind, "cp: /tmp/out.17: No space (at 0x7ffe12)");
    assert_string_equal(kind, "cp: /tmp/out.#: No space (at #)");
    bats_complaint_kind(kind, "Gr\303\266\303\237e");
    assert_string_equal(kind, "Gr\303\266\303\237e");
}

static void add(struct bats_causes *c, int64_t task, int exit_status,
                const char *host, const char *text)
{
    bats_causes_add(c, task, exit_status, 0, host, text, strlen(text));
}

TEST(the_hosts_of_a_cause_are_counted)
{
    struct bats_causes c = {0};
    char text[256], host[16];
    for (int i = 0; i < 40; i++) {
        snprintf(host, sizeof host, "n%d", i < 20 ? 0 : i);
        add(&c, i + 1, 1, host, "oops");
    }
    assert_int_equal(c.list[0].n_hosts, BATS_CAUSE_HOSTS);
    assert_int_equal(c.list[0].elsewhere, 40 - 20 - BATS_CAUSE_HOSTS + 1);
    assert_string_equal(bats_causes_text(text, sizeof text, &c.list[0]),
                        "40 tasks on n0 (20), n20 (1), n21 (1) and others "
                        "(18), exit 1: oops (first: task 1)");
    bats_causes_release(&c);
}

TEST(causes_without_end_are_counted)
{
    struct bats_causes c = {0};
    for (int i = 0; i < BATS_CAUSES_MAX + 7; i++) {
        char line[8] = {(char)('a' + i % 26), (char)('a' + i / 26 % 26),
                        (char)('a' + i / 676), '\0'};
        add(&c, i + 1, 1, "n1", line);
    }
    assert_int_equal(c.n, BATS_CAUSES_MAX);
    assert_int_equal(c.others, 7);
    bats_causes_release(&c);
}

TEST_MAIN(NULL, NULL)
