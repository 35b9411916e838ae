/* proto: every message survives the way there; nothing else gets in. */
#include "helpers/messages.h"
#include "helpers/test.h"

/* Opens a copy of exactly n bytes, so that a sanitizer sees each byte too
 * far. The texts of *m dangle afterwards. */
static int open_exactly(const uint8_t *bytes, size_t n, struct bats_message *m,
                        struct bats_error *err)
{
    uint8_t *copy = malloc(n + (n == 0));
    assert_non_null(copy);
    memcpy(copy, bytes, n);
    int rc = bats_proto_open(copy, n, m, err);
    free(copy);
    return rc;
}

static void refused(const void *bytes, size_t n, const char *because)
{
    struct bats_message m;
    assert_says(open_exactly(bytes, n, &m, &err), BATS_EPROTO, because);
    assert_int_equal(err.code, BATS_EPROTO);
}

static struct bats_text p; /* the last message that was written */

static void write_one(unsigned type)
{
    bats_text_release(&p);
    write_message(type, &p);
}

static void put(const struct bats_message *message)
{
    bats_text_release(&p);
    bats_proto_put(&p, message);
}

/* FNV-1a of the bytes of one message after the other. */
static uint64_t digest(uint64_t sum)
{
    for (size_t i = 0; i < p.n; i++)
        sum = (sum ^ (uint8_t)p.bytes[i]) * 0x100000001b3;
    return sum;
}

/* What is read makes the same bytes again, and the bytes are those of this
 * version: they do not change by accident. */
TEST(each_message_arrives_as_it_was_sent)
{
    uint64_t sum = 0xcbf29ce484222325;
    for (unsigned type = 1; type <= KINDS; type++) {
        struct bats_text again = {0};
        struct bats_message m;
        write_one(type);
        assert_ok(bats_proto_open(p.bytes, p.n, &m, &err));
        assert_int_equal(m.type, type);
        write_again(&m, &again);
        assert_int_equal(again.n, p.n);
        assert_memory_equal(again.bytes, p.bytes, p.n);
        assert_int_equal(m.left, 0);
        sum = digest(sum);
        bats_text_release(&again);
    }
    assert_int_equal(sum, 0xc93e15dfd593e119);
}

TEST(items_of_a_list_are_not_those_of_another)
{
    struct bats_message m;
    struct bats_task_result result;
    write_one(BATS_MESSAGE_ASSIGN);
    assert_ok(bats_proto_open(p.bytes, p.n, &m, &err));
    assert_int_equal(m.left, 2);
    assert_false(bats_proto_next_result(&m, &result));
}

TEST(a_message_cut_anywhere_or_too_long_or_of_another_version_is_refused)
{
    for (unsigned type = 1; type <= KINDS; type++) {
        write_one(type);
        for (size_t n = 0; n < p.n; n++)
            refused(p.bytes, n, "is cut short");
        bats_text_put(&p, "", 1);
        refused(p.bytes, p.n, "is too long");
        p.bytes[1] = 1;
        refused(p.bytes, p.n, "version 1");
    }
}

TEST(a_wrong_count_is_refused)
{
    static const unsigned lists[] = {BATS_MESSAGE_ASSIGN, BATS_MESSAGE_RESULT};
    for (size_t i = 0; i < 2; i++) {
        write_one(lists[i]);
        char right = p.bytes[2];
        p.bytes[2] = (char)(right + 1);
        refused(p.bytes, p.n, "is cut short");
        p.bytes[2] = (char)(right - 1);
        refused(p.bytes, p.n, "is too long");
        memset(p.bytes + 2, 0xff, 4);
        refused(p.bytes, p.n, "is cut short");
    }
}

TEST(values_out_of_range_are_refused)
{
    static const struct {
        enum bats_message_type type;
        size_t at;
        uint8_t byte; /* instead of that in the message */
        const char *because;
    } rows[] = {{BATS_MESSAGE_HELLO, 0, 0, "unknown type"},
                {BATS_MESSAGE_HELLO, 0, KINDS + 1, "unknown type"},
                {BATS_MESSAGE_HELLO, 19, 0, "NUL inside"},
                {BATS_MESSAGE_HELLO, 23, 'x', "without its end"},
                {BATS_MESSAGE_SETUP, 9, 0xff, "speed"},
                {BATS_MESSAGE_SETUP, 17, 0x80, "negative"},
                {BATS_MESSAGE_SETUP, 41, 3, "out of range"},
                {BATS_MESSAGE_RESULT, 14, 2, "out of range"},
                {BATS_MESSAGE_RESULT, 15, 2, "out of range"},
                {BATS_MESSAGE_RESULT, 16, 2, "out of range"},
                {BATS_MESSAGE_RESULT, 18, 128, "out of range"},
                {BATS_MESSAGE_RESULT, 26, 0x80, "negative"},
                {BATS_MESSAGE_VERDICT, 10, 2, "out of range"},
                {BATS_MESSAGE_STOP, 2, 5, "out of range"},
                {BATS_MESSAGE_WELCOME, 9, 0x80, "negative"},
                {BATS_MESSAGE_OUTPUT, 6, 0, "out of range"},
                {BATS_MESSAGE_OUTPUT, 6, 3, "out of range"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        write_one(rows[i].type);
        assert_in_range(rows[i].at, 0, p.n - 1);
        p.bytes[rows[i].at] = (char)rows[i].byte;
        refused(p.bytes, p.n, rows[i].because);
    }
}

TEST(a_name_that_is_too_long_is_refused)
{
    char job[BATS_PROTO_JOB + 1];
    struct bats_hello hello = {.kept_run = ""};
    memset(hello.node.host, 'h', BATS_NODE_HOST - 1);
    put(BATS_SAY(BATS_MESSAGE_HELLO, .u.hello = hello));
    assert_int_equal((uint8_t)p.bytes[14], BATS_NODE_HOST - 1);
    p.bytes[14] = 0; /* its length becomes BATS_NODE_HOST */
    p.bytes[15] = 1;
    refused(p.bytes, p.n, "too long");
    memset(job, '7', sizeof job);
    job[BATS_PROTO_JOB] = '\0';
    put(BATS_SAY(BATS_MESSAGE_KNOCK, .u.knock = {1, job}));
    refused(p.bytes, p.n, "too long");
}

TEST(results_in_a_hello_are_checked)
{
    struct bats_text kept = {0};
    struct bats_hello hello = {.kept_run = ""};
    bats_proto_put(&kept,
                   BATS_SAY(BATS_MESSAGE_VERDICT, .u.verdict = {3, 4, true}));
    for (int i = 0; i < 2; i++) {
        hello.results = (const char *)kept.bytes;
        hello.n_results = kept.n;
        put(BATS_SAY(BATS_MESSAGE_HELLO, .u.hello = hello));
        refused(p.bytes, p.n, "has invalid results");
        bats_text_release(&kept);
        bats_proto_result(&kept, &(struct bats_task_result){.task = 1});
        kept.n--; /* its last byte is missing */
    }
    bats_text_release(&kept);
}

/* Whatever opens can be taken out to its end. */
static void open_and_take(const void *bytes, size_t n)
{
    struct bats_text again = {0};
    struct bats_task_result r;
    struct bats_message m;
    if (bats_proto_open(bytes, n, &m, NULL) != 0)
        return;
    if (m.type == BATS_MESSAGE_RESULT)
        for (struct bats_message list = m; bats_proto_next_result(&list, &r);)
            assert_in_range(r.usage.exit_status, 0, 255);
    write_again(&m, &again);
    assert_int_equal(m.left, 0);
    assert_true(m.at == m.end);
    bats_text_release(&again);
}

TEST(flipped_bits_do_no_harm)
{
    for (unsigned type = 1; type <= KINDS; type++) {
        write_one(type);
        for (size_t bit = 0; bit < 8 * p.n; bit++) {
            p.bytes[bit / 8] = (char)(p.bytes[bit / 8] ^ 1 << bit % 8);
            open_and_take(p.bytes, p.n);
            p.bytes[bit / 8] = (char)(p.bytes[bit / 8] ^ 1 << bit % 8);
        }
    }
}

TEST_MAIN(NULL, NULL)
