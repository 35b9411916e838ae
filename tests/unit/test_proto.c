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
    assert_int_equal(open_exactly(bytes, n, &m, &err), BATS_EPROTO);
    assert_int_equal(err.code, BATS_EPROTO);
    if (strstr(err.text, because) == NULL)
        fail_msg("\"%s\" does not say \"%s\"", err.text, because);
}

TEST(single_messages_arrive_as_they_were_sent)
{
    struct bats_text p[KINDS] = {{0}};
    struct bats_message m[KINDS];
    for (int i = 0; i < KINDS; i++) {
        write_message((unsigned)i + 1, &p[i]);
        assert_false(p[i].failed);
        assert_int_equal(bats_proto_open(p[i].bytes, p[i].n, &m[i], NULL), 0);
        assert_int_equal(m[i].type, i + 1);
    }

    const struct bats_hello *hello = &m[BATS_MESSAGE_HELLO - 1].u.hello;
    assert_int_equal(hello->rank, 7);
    assert_int_equal(hello->node.pid, 4711);
    assert_true(hello->node.pid_space == 0x1122334455667788);
    assert_string_equal(hello->node.host, "node7");
    assert_string_equal(hello->node.partition, "fast");
    assert_int_equal(hello->node.id, 2);
    assert_int_equal(hello->node.local_rank, 3);
    assert_string_equal(hello->node.hardware.model, "EPYC");
    assert_int_equal(hello->node.hardware.packages, 4);
    assert_int_equal(hello->node.hardware.cores, 5);
    assert_int_equal(hello->node.hardware.threads, 6);
    assert_true(hello->node.hardware.memory_bytes == UINT64_MAX);
    assert_string_equal(hello->node.hardware.bound, "0-3");
    assert_int_equal(hello->node.hardware.bound_cores, 8);
    assert_true(hello->node.usable_bytes == UINT64_MAX - 1);
    assert_string_equal(hello->node.gpus, "0,1");
    assert_string_equal(hello->kept_run, "run-0");
    assert_int_equal(hello->task, 10);
    assert_int_equal(hello->attempt, 11);
    struct bats_message kept;
    struct bats_task_result result;
    assert_int_equal(
        bats_proto_open(hello->results, hello->n_results, &kept, NULL), 0);
    assert_true(bats_proto_next_result(&kept, &result));
    assert_int_equal(result.task, 7);
    assert_int_equal(kept.left, 0);

    const struct bats_setup *setup = &m[BATS_MESSAGE_SETUP - 1].u.setup;
    assert_true(setup->speed == 0.25);
    assert_int_equal(setup->grace_ms, 5000);
    assert_int_equal(setup->notice_ms, 7000);
    assert_int_equal(setup->look_us, 2000);
    assert_int_equal(setup->beat_us, 10000000);
    assert_int_equal(setup->master_pid, 4711);
    assert_int_equal(setup->output, 2);
    assert_true(setup->hold);
    assert_true(setup->keep);
    assert_int_equal(setup->bind, 1);
    assert_int_equal(setup->share_index, 6);
    assert_int_equal(setup->share_count, 7);
    assert_int_equal(setup->max_output, 4096);
    assert_int_equal(setup->nice, 19);
    assert_int_equal(setup->memfree, 1 << 30);
    assert_string_equal(setup->workdir, "/there");
    assert_string_equal(setup->output_path, "out/stream");
    assert_string_equal(setup->run_id, "run-1");
    assert_string_equal(setup->cluster, "slow");
    assert_string_equal(setup->machine, "slow-3");
    assert_string_equal(setup->task_file, "bag.txt");
    assert_int_equal(setup->number, 77);
    assert_int_equal(setup->n_start, 4);
    assert_memory_equal(setup->start, "a\0b", 4);
    assert_int_equal(setup->n_stop, 2);
    assert_string_equal(setup->stop, "c");

    assert_int_equal(m[BATS_MESSAGE_CANCEL - 1].u.task, 0x01020304);
    assert_int_equal(m[BATS_MESSAGE_TAKEN - 1].u.taken, 0x01020304);
    assert_int_equal(m[BATS_MESSAGE_STOP - 1].u.leave, BATS_LEAVE);
    const struct bats_output_lines *out = &m[BATS_MESSAGE_OUTPUT - 1].u.output;
    assert_int_equal(out->task, 9);
    assert_int_equal(out->stream, 2);
    assert_int_equal(out->n, 4);
    assert_memory_equal(out->bytes, "a\0b\n", 4);
    assert_string_equal(m[BATS_MESSAGE_ERROR - 1].u.sentence,
                        "no more processes");
    const struct bats_verdict *v = &m[BATS_MESSAGE_VERDICT - 1].u.verdict;
    assert_int_equal(v->task, 3);
    assert_int_equal(v->attempt, 4);
    assert_true(v->is_result);
    const struct bats_knock *knock = &m[BATS_MESSAGE_KNOCK - 1].u.knock;
    assert_int_equal(knock->way, 2);
    assert_int_equal(knock->n_ranks, 5);
    assert_string_equal(knock->job, "4711");
    assert_string_equal(knock->credential, "MUNGE:");
    assert_int_equal(m[BATS_MESSAGE_WELCOME - 1].u.silence_us, 60000000);
    assert_int_equal(m[BATS_MESSAGE_LEASE - 1].u.age_us, 90000000);
    for (int i = 0; i < KINDS; i++)
        bats_text_release(&p[i]);
}

TEST(lists_arrive_complete_and_in_order)
{
    struct bats_text p = {0};
    struct bats_message m;
    struct bats_assign assign;
    struct bats_task_result result;

    write_message(BATS_MESSAGE_ASSIGN, &p);
    assert_int_equal(bats_proto_open(p.bytes, p.n, &m, NULL), 0);
    assert_int_equal(m.left, 2);
    assert_false(bats_proto_next_result(&m, &result));
    assert_true(bats_proto_next_assign(&m, &assign));
    assert_int_equal(assign.task, 0);
    assert_int_equal(assign.attempt, 1);
    assert_int_equal(assign.replica, 0);
    assert_string_equal(assign.command, "echo \"hi\"");
    assert_int_equal(assign.n_variables, 7);
    assert_memory_equal(assign.variables, "a=1\0b=", 7);
    assert_int_equal(assign.n_outputs, 4);
    assert_memory_equal(assign.outputs, "f\0g", 4);
    assert_true(assign.memory_kib == INT64_MAX - 1);
    assert_int_equal(assign.cores, 2);
    assert_string_equal(assign.holds, "0-3:0:2 0-3:1:2");
    assert_true(bats_proto_next_assign(&m, &assign));
    assert_int_equal(assign.task, UINT32_MAX - 1);
    assert_int_equal(assign.attempt, 3);
    assert_int_equal(assign.replica, 2);
    assert_true(assign.once);
    assert_int_equal(assign.sleep_us, INT64_MAX);
    assert_int_equal(assign.lost_us, 7);
    assert_int_equal(assign.noticed_us, 8);
    assert_string_equal(assign.command, "");
    assert_int_equal(assign.n_variables, 0);
    assert_int_equal(assign.n_outputs, 0);
    assert_false(bats_proto_next_assign(&m, &assign));
    bats_text_release(&p);

    write_message(BATS_MESSAGE_RESULT, &p);
    assert_int_equal(bats_proto_open(p.bytes, p.n, &m, NULL), 0);
    assert_int_equal(m.left, 3);
    assert_true(bats_proto_next_result(&m, &result));
    assert_int_equal(result.task, 5);
    assert_int_equal(result.attempt, 8);
    assert_int_equal(result.usage.exit_status, 255);
    assert_int_equal(result.n_last, 9);
    assert_memory_equal(result.last, "no\0 space", 9);
    assert_false(result.cancelled || result.out_of_memory);
    assert_false(result.asks);
    assert_int_equal(result.n_lines[0], 4);
    assert_memory_equal(result.lines[0], "\0ut\n", 4);
    assert_string_equal(result.lines[1], "e\n");
    assert_int_equal(result.usage.start_us, 1);
    assert_int_equal(result.usage.wall_us, 2);
    assert_true(bats_proto_next_result(&m, &result));
    assert_true(result.cancelled && result.out_of_memory);
    assert_int_equal(result.usage.signal, 15);
    assert_int_equal(result.usage.user_us, 3);
    assert_true(bats_proto_next_result(&m, &result));
    assert_int_equal(result.usage.system_us, 4);
    assert_int_equal(result.usage.max_rss_kib, INT64_MAX);
    assert_true(result.usage.written[0] == 11 &&
                result.usage.written[1] == INT64_MAX);
    assert_true(result.usage.begin == 12 && result.usage.end == 13);
    assert_true(result.asks);
    assert_int_equal(result.n_lines[0], 0);
    assert_true(result.to_come[0] == INT64_MAX && result.to_come[1] == 1);
    assert_false(bats_proto_next_result(&m, &result));
    bats_text_release(&p);
}

/* Against bytes written down by hand: the form must not change by accident
 * while the version stays. */
TEST(cancel_is_little_endian_on_the_wire)
{
    struct bats_text p = {0};
    write_message(BATS_MESSAGE_CANCEL, &p);
    static const uint8_t expected[] = {5, 18, 4, 3, 2, 1};
    assert_int_equal(p.n, sizeof expected);
    assert_memory_equal(p.bytes, expected, sizeof expected);
    bats_text_release(&p);
}

TEST(hello_and_assign_have_the_documented_bytes)
{
    struct bats_text p = {0};
    static const uint8_t hello[] = {
        1,    18,   'B',  'A',  'T',  'S',  7,    0,    0,    0,    0x67, 0x12,
        0,    0,    0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11, 5,    0,
        0,    0,    'n',  'o',  'd',  'e',  '7',  0,    4,    0,    0,    0,
        'f',  'a',  's',  't',  0,    2,    0,    0,    0,    3,    0,    0,
        0,    4,    0,    0,    0,    'E',  'P',  'Y',  'C',  0,    4,    0,
        0,    0,    5,    0,    0,    0,    6,    0,    0,    0,    0xff, 0xff,
        0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 3,    0,    0,    0,    '0',  '-',
        '3',  0,    8,    0,    0,    0,    0xfe, 0xff, 0xff, 0xff, 0xff, 0xff,
        0xff, 0xff, 3,    0,    0,    0,    '0',  ',',  '1',  0,    12,   0,    0,    0,
        0,    0,    0,    0,    5,    0,    0,    0,    'r',  'u',  'n',  '-',  '0',  0,    10,   0,    0,    0,    11,   0,    0,    0};
    write_message(BATS_MESSAGE_HELLO, &p);
    assert_in_range(p.n, sizeof hello + 5, sizeof hello + 255); /* results */
    assert_memory_equal(p.bytes, hello, sizeof hello);
    assert_int_equal(p.bytes[sizeof hello], p.n - sizeof hello - 5);
    bats_text_release(&p);

    static const uint8_t assign[] = {
        3, 18,  1, 0, 0, 0, 2, 0,   0, 0, 4, 0, 0, 0, 5,   0, 0, 0,
        1, 9,   0, 0, 0, 0, 0, 0,   0, 6, 0, 0, 0, 0, 0,   0, 0, 7,
        0, 0,   0, 0, 0, 0, 0, 8,   0, 0, 0, 0, 0, 0, 0,   1, 0, 0,
        0, 'x', 0, 2, 0, 0, 0, '=', 0, 0, 2, 0, 0, 0, 'f', 0, 0,
        6, 0,   0, 0, 0, 0, 0, 0,   3, 0,   0, 0, 1, 0, 0, 0,   '0', 0};
    bats_proto_assign(&p, &(struct bats_assign){2, 4, 5, true, 9, 6, 7, 8, "x",
                                                "=", 2, "f", 2, 6, 3,
                                                "0"});
    assert_int_equal(p.n, sizeof assign);
    assert_memory_equal(p.bytes, assign, sizeof assign);
    bats_text_release(&p);
}

TEST(a_message_cut_anywhere_is_refused)
{
    for (int i = 0; i < KINDS; i++) {
        struct bats_text p = {0};
        write_message((unsigned)i + 1, &p);
        for (size_t n = 0; n < p.n; n++)
            refused(p.bytes, n, "is cut short");
        bats_text_release(&p);
    }
}

TEST(a_message_with_more_behind_it_is_refused)
{
    for (int i = 0; i < KINDS; i++) {
        struct bats_text p = {0};
        write_message((unsigned)i + 1, &p);
        uint8_t *longer = malloc(p.n + 1);
        assert_non_null(longer);
        memcpy(longer, p.bytes, p.n);
        longer[p.n] = 0;
        refused(longer, p.n + 1, "is too long");
        free(longer);
        bats_text_release(&p);
    }
}

TEST(another_version_is_refused_by_name)
{
    for (int i = 0; i < KINDS; i++) {
        struct bats_text p = {0};
        write_message((unsigned)i + 1, &p);
        p.bytes[1] = 1;
        refused(p.bytes, p.n, "version 1");
        bats_text_release(&p);
    }
}

TEST(a_wrong_count_is_refused)
{
    static const unsigned lists[] = {BATS_MESSAGE_ASSIGN, BATS_MESSAGE_RESULT};
    for (size_t i = 0; i < 2; i++) {
        struct bats_text p = {0};
        write_message(lists[i], &p);
        char right = p.bytes[2];
        p.bytes[2] = (char)(right + 1);
        refused(p.bytes, p.n, "is cut short");
        p.bytes[2] = (char)(right - 1);
        refused(p.bytes, p.n, "is too long");
        memset(p.bytes + 2, 0xff, 4);
        refused(p.bytes, p.n, "is cut short");
        bats_text_release(&p);
    }
}

/* Writes `byte` over the one at `at` of a message of this type. */
static void refused_with(enum bats_message_type type, size_t at, uint8_t byte,
                         const char *because)
{
    struct bats_text p = {0};
    write_message(type, &p);
    assert_in_range(at, 0, p.n - 1);
    p.bytes[at] = (char)byte;
    refused(p.bytes, p.n, because);
    bats_text_release(&p);
}

TEST(values_out_of_range_are_refused)
{
    refused_with(BATS_MESSAGE_HELLO, 0, 0, "unknown type");
    refused_with(BATS_MESSAGE_HELLO, 0, KINDS + 1, "unknown type");
    refused_with(BATS_MESSAGE_HELLO, 2, 'X', "not from bats-mpi");
    refused_with(BATS_MESSAGE_HELLO, 27, 0, "NUL inside");
    refused_with(BATS_MESSAGE_HELLO, 31, 'x', "without its end");
    refused_with(BATS_MESSAGE_SETUP, 9, 0xff, "speed"); /* its sign bit */
    refused_with(BATS_MESSAGE_SETUP, 17, 0x80, "negative");
    refused_with(BATS_MESSAGE_SETUP, 49, 3, "out of range"); /* bind */
    refused_with(BATS_MESSAGE_RESULT, 14, 2, "out of range");
    refused_with(BATS_MESSAGE_RESULT, 15, 2, "out of range");
    refused_with(BATS_MESSAGE_RESULT, 16, 2, "out of range");
    refused_with(BATS_MESSAGE_RESULT, 18, 128, "out of range");
    refused_with(BATS_MESSAGE_RESULT, 26, 0x80, "negative");
    refused_with(BATS_MESSAGE_VERDICT, 10, 2, "out of range");
    refused_with(BATS_MESSAGE_STOP, 2, 5, "out of range");
    refused_with(BATS_MESSAGE_KNOCK, 2, 'X', "not from bats-mpi");
    refused_with(BATS_MESSAGE_WELCOME, 9, 0x80, "negative");
    refused_with(BATS_MESSAGE_OUTPUT, 6, 0, "out of range");
    refused_with(BATS_MESSAGE_OUTPUT, 6, 3, "out of range");
}

TEST(a_name_that_is_too_long_is_refused)
{
    char job[BATS_PROTO_JOB + 1];
    struct bats_text p = {0};
    struct bats_hello hello = {.kept_run = ""};
    memset(hello.node.host, 'h', BATS_NODE_HOST - 1);
    bats_proto_put(&p, BATS_SAY(BATS_MESSAGE_HELLO, .u.hello = hello));
    assert_int_equal((uint8_t)p.bytes[22], BATS_NODE_HOST - 1);
    p.bytes[22] = 0; /* its length becomes BATS_NODE_HOST */
    p.bytes[23] = 1;
    refused(p.bytes, p.n, "too long");
    bats_text_release(&p);
    memset(job, '7', sizeof job);
    job[BATS_PROTO_JOB] = '\0';
    bats_proto_put(&p,
                   BATS_SAY(BATS_MESSAGE_KNOCK, .u.knock = {2, 1, job, ""}));
    refused(p.bytes, p.n, "too long");
    bats_text_release(&p);
}

TEST(results_in_a_hello_are_checked)
{
    struct bats_text p = {0}, kept = {0};
    struct bats_hello hello = {.kept_run = ""};
    bats_proto_put(&kept,
                   BATS_SAY(BATS_MESSAGE_VERDICT, .u.verdict = {3, 4, true}));
    for (int i = 0; i < 2; i++) {
        hello.results = (const char *)kept.bytes;
        hello.n_results = kept.n;
        bats_proto_put(&p, BATS_SAY(BATS_MESSAGE_HELLO, .u.hello = hello));
        refused(p.bytes, p.n, "has invalid results");
        bats_text_release(&p);
        bats_text_release(&kept);
        bats_proto_result(&kept, &(struct bats_task_result){.task = 1});
        kept.n--; /* its last byte is missing */
    }
    bats_text_release(&kept);
}

/* Takes everything out of whatever opens, as a receiver would. */
static void take_all(struct bats_message *m)
{
    struct bats_assign assign;
    struct bats_task_result result;
    size_t length = 0;
    while (bats_proto_next_assign(m, &assign))
        length += strlen(assign.command);
    while (bats_proto_next_result(m, &result))
        assert_in_range(result.usage.exit_status, 0, 255);
    assert_int_equal(m->left, 0);
    assert_true(m->at == m->end);
    (void)length;
}

/* xorshift64: the same bytes on every machine. */
static uint64_t draw(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

TEST(random_bytes_do_no_harm)
{
    uint64_t x = 20240711;
    for (int i = 0; i < 100000; i++) {
        uint8_t bytes[64];
        size_t n = draw(&x) % sizeof bytes;
        for (size_t k = 0; k < n; k++)
            bytes[k] = (uint8_t)draw(&x);
        if (n > 1 && i % 2 == 0) { /* get past the first two checks */
            bytes[0] = (uint8_t)(1 + bytes[0] % KINDS);
            bytes[1] = BATS_PROTO_VERSION;
        }
        struct bats_message m;
        if (bats_proto_open(bytes, n, &m, NULL) == 0)
            take_all(&m);
    }
}

TEST(flipped_bits_do_no_harm)
{
    for (int i = 0; i < KINDS; i++) {
        struct bats_text p = {0};
        write_message((unsigned)i + 1, &p);
        for (size_t bit = 0; bit < 8 * p.n; bit++) {
            struct bats_message m;
            p.bytes[bit / 8] = (char)(p.bytes[bit / 8] ^ 1 << bit % 8);
            if (bats_proto_open(p.bytes, p.n, &m, NULL) == 0)
                take_all(&m);
            p.bytes[bit / 8] = (char)(p.bytes[bit / 8] ^ 1 << bit % 8);
        }
        bats_text_release(&p);
    }
}

TEST_MAIN(NULL, NULL)
