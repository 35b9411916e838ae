/*
 * seal: tells that the messages of a stream are those of the other side, all of
 * them, once and in order.
 *
 * Layer: run. Used by wire.c. Each direction of a connection has a key of its
 * own (auth.h). The seal of a frame is HMAC-SHA256 (RFC 2104) with this key
 * over the frame's number, from 0, and its bytes, cut to 128 bits. Nettle.
 */
#ifndef BATS_SEAL_H
#define BATS_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATS_SEAL_BYTES 16
#define BATS_SEAL_KEY 32

struct bats_seal {
    bool is_on; /* false: nothing is sealed */
    uint8_t key[BATS_SEAL_KEY];
    uint64_t n; /* frames so far */
};

/* The seal of the next frame. */
void bats_seal_make(struct bats_seal *seal, const uint8_t *bytes, size_t n,
                    uint8_t mark[BATS_SEAL_BYTES]);

/* Whether that is the seal of the next frame, in a time that does not tell. */
bool bats_seal_check(struct bats_seal *seal, const uint8_t *bytes, size_t n,
                     const uint8_t mark[BATS_SEAL_BYTES]);

#endif
