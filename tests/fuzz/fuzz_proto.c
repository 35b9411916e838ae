/* fuzz_proto: the reader of messages. What it accepts, and nothing else, is
 * what the writer makes of it again. */
#include <string.h>

#include "fuzz.h"
#include "proto/proto.h"

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
    default:
        bats_proto_plain(p, m->type);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    struct bats_message message;
    struct bats_packet packet = {0};

    if (bats_proto_open(bytes, n, &message, NULL) != 0)
        return 0;
    write_again(&message, &packet);
    /* A list without items is read, but never written. */
    if (packet.n > 0 && (packet.n != n || memcmp(packet.bytes, bytes, n) != 0))
        abort();
    bats_packet_release(&packet);
    return 0;
}
