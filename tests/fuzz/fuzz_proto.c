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

#include "../unit/helpers/messages.h"
#include "fuzz.h"

/* False if the message is refused. */
static bool read_one(const uint8_t *bytes, size_t n)
{
    struct bats_message message;
    struct bats_text packet = {0};

    if (bats_proto_open(bytes, n, &message, NULL) != 0)
        return false;
    write_again(&message, &packet);
    /* A list without items is read, but never written. */
    must(packet.n == 0 ||
         (packet.n == n && memcmp(packet.bytes, bytes, n) == 0));
    bats_text_release(&packet);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct bats_text packet = {0};

    if (n == 0)
        return 0;
    write_message(data[0], &packet);
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
            packet.bytes[place] = (char)data[2];
        else
            left = place;
    }
    /* From memory that ends where the message does. */
    uint8_t *bytes = malloc(left > 0 ? left : 1);
    must(bytes != NULL);
    memcpy(bytes, packet.bytes, left);
    must(read_one(bytes, left) || !is_whole);
    free(bytes);
    bats_text_release(&packet);
    return 0;
}
