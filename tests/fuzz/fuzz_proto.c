/*
 * fuzz_proto: the reader of messages. What it accepts, and nothing else, is
 * what the writer makes of it again.
 *
 * The first byte of the input says which message is damaged: one of the type
 * with that number, or, if there is none, what follows is the message. Else
 * two bytes of place and one of value each follow; two bytes left over at the
 * end say where the message is cut off.
 */
#include <string.h>

#include "fuzz.h"
#include "proto/proto.h"

/* A message of this type as the writer makes it, however that changes. */
static void write_one(unsigned type, struct bats_packet *p)
{
    struct bats_hello hello = {.rank = 3,
                               .pid = 4711,
                               .pid_space = 99,
                               .host = "node1",
                               .partition = "fast",
                               .model = "CPU",
                               .bound = "0-3",
                               .kept_run = "run",
                               .task = 7,
                               .attempt = 1};
    struct bats_packet kept = {0};
    struct bats_setup setup = {.speed = 0.5,
                               .output_path = "out/stream-1",
                               .run_id = "run",
                               .cluster = "fast",
                               .machine = "fast-1",
                               .task_file = "",
                               .start = "a\0b",
                               .n_start = 4};
    struct bats_assign assign = {.task = 7,
                                 .attempt = 1,
                                 .command = "echo",
                                 .variables = "a=1",
                                 .n_variables = 4};
    struct bats_assign sleep = {.task = 8, .sleep_us = 5, .command = ""};
    struct bats_task_result result = {.task = 7,
                                      .usage.exit_status = 3,
                                      .lines = {"a\n", ""},
                                      .n_lines = {2}};
    struct bats_verdict verdict = {7, 1, true};
    struct bats_output_lines output = {7, 2, "a\nb\0c\n", 6};
    uint8_t nonce[BATS_PROTO_NONCE] = {1, 2, 3};
    struct bats_knock knock = {1, nonce, "4711"};
    struct bats_proof challenge = {.nonce = nonce, .bytes = "MUNGE:", .n = 6};
    struct bats_proof proof = {.n_ranks = 4, .bytes = "a\0c", .n = 3};

    switch ((enum bats_message_type)type) {
    case BATS_MESSAGE_HELLO:
        bats_proto_result(&kept, &result);
        hello.results = (const char *)kept.bytes;
        hello.n_results = kept.n;
        bats_proto_hello(p, &hello);
        bats_packet_release(&kept);
        break;
    case BATS_MESSAGE_SETUP:
        bats_proto_setup(p, &setup);
        break;
    case BATS_MESSAGE_ASSIGN:
        bats_proto_assign(p, &assign);
        bats_proto_assign(p, &sleep);
        break;
    case BATS_MESSAGE_RESULT:
        bats_proto_result(p, &result);
        bats_proto_result(p, &result);
        break;
    case BATS_MESSAGE_CANCEL:
        bats_proto_cancel(p, 7);
        break;
    case BATS_MESSAGE_TAKEN:
        bats_proto_taken(p, 3);
        break;
    case BATS_MESSAGE_VERDICT:
        bats_proto_verdict(p, &verdict);
        break;
    case BATS_MESSAGE_STOP:
        bats_proto_stop(p, BATS_LEAVE);
        break;
    case BATS_MESSAGE_OUTPUT:
        bats_proto_output(p, &output);
        break;
    case BATS_MESSAGE_ERROR:
        bats_proto_error(p, "no memory");
        break;
    case BATS_MESSAGE_KNOCK:
        bats_proto_knock(p, &knock);
        break;
    case BATS_MESSAGE_CHALLENGE:
        bats_proto_proof(p, &challenge);
        break;
    case BATS_MESSAGE_PROOF:
        bats_proto_proof(p, &proof);
        break;
    case BATS_MESSAGE_WELCOME:
        bats_proto_welcome(p, 60000000);
        break;
    case BATS_MESSAGE_PARK:
    case BATS_MESSAGE_UNPARK:
    case BATS_MESSAGE_READY:
    case BATS_MESSAGE_NOTICE:
    case BATS_MESSAGE_HEARTBEAT:
        bats_proto_plain(p, (enum bats_message_type)type);
        break;
    }
}

static void write_again(struct bats_message *m, struct bats_packet *p)
{
    struct bats_assign assign;
    struct bats_task_result result;

    switch (m->type) {
    case BATS_MESSAGE_HELLO:
        bats_proto_hello(p, &m->u.hello);
        break;
    case BATS_MESSAGE_SETUP:
        bats_proto_setup(p, &m->u.setup);
        break;
    case BATS_MESSAGE_ASSIGN:
        while (bats_proto_next_assign(m, &assign))
            bats_proto_assign(p, &assign);
        break;
    case BATS_MESSAGE_RESULT:
        while (bats_proto_next_result(m, &result))
            bats_proto_result(p, &result);
        break;
    case BATS_MESSAGE_CANCEL:
        bats_proto_cancel(p, m->u.task);
        break;
    case BATS_MESSAGE_TAKEN:
        bats_proto_taken(p, m->u.taken);
        break;
    case BATS_MESSAGE_VERDICT:
        bats_proto_verdict(p, &m->u.verdict);
        break;
    case BATS_MESSAGE_STOP:
        bats_proto_stop(p, m->u.leave);
        break;
    case BATS_MESSAGE_OUTPUT:
        bats_proto_output(p, &m->u.output);
        break;
    case BATS_MESSAGE_ERROR:
        bats_proto_error(p, m->u.sentence);
        break;
    case BATS_MESSAGE_KNOCK:
        bats_proto_knock(p, &m->u.knock);
        break;
    case BATS_MESSAGE_CHALLENGE:
    case BATS_MESSAGE_PROOF:
        bats_proto_proof(p, &m->u.proof);
        break;
    case BATS_MESSAGE_WELCOME:
        bats_proto_welcome(p, m->u.silence_us);
        break;
    case BATS_MESSAGE_PARK:
    case BATS_MESSAGE_UNPARK:
    case BATS_MESSAGE_READY:
    case BATS_MESSAGE_NOTICE:
    case BATS_MESSAGE_HEARTBEAT:
        bats_proto_plain(p, m->type);
        break;
    }
}

/* False if the message is refused. */
static bool read_one(const uint8_t *bytes, size_t n)
{
    struct bats_message message;
    struct bats_packet packet = {0};

    if (bats_proto_open(bytes, n, &message, NULL) != 0)
        return false;
    write_again(&message, &packet);
    /* A list without items is read, but never written. */
    if (packet.n > 0 && (packet.n != n || memcmp(packet.bytes, bytes, n) != 0))
        abort();
    bats_packet_release(&packet);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct bats_packet packet = {0};

    if (n == 0)
        return 0;
    write_one(data[0], &packet);
    data++, n--;
    if (packet.n == 0) {
        read_one(data, n);
        return 0;
    }
    size_t left = packet.n;
    bool is_whole = n < 2;
    for (; n >= 2; n -= n > 2 ? 3 : 2, data += 3) {
        size_t place = ((size_t)data[0] << 8 | data[1]) % packet.n;
        if (n > 2)
            packet.bytes[place] = data[2];
        else
            left = place;
    }
    /* From memory that ends where the message does. */
    uint8_t *bytes = malloc(left > 0 ? left : 1);
    if (bytes == NULL)
        abort();
    memcpy(bytes, packet.bytes, left);
    if (!read_one(bytes, left) && is_whole)
        abort();
    free(bytes);
    bats_packet_release(&packet);
    return 0;
}
