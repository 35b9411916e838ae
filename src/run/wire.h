/*
 * wire: a stream, between the master and a gateway cut into frames.
 *
 * Layer: run. Used by the hub (master) and the gateway, and by clients.c, which
 * reads and writes lines instead of frames. A frame is a length (32 bits,
 * little-endian), a rank of the job (32 bits) and one message of proto.h, of
 * that length. The rank is the sender in frames of a gateway, the receiver in
 * frames of the master. The stream may be TLS 1.3 (GnuTLS) with a
 * pre-shared key (door.h): without the key nobody can read, change, repeat or
 * leave out messages.
 *
 * Nothing here waits: what cannot be sent now stays in a buffer, and what the
 * caller does not take stays in the kernel's, so the other side has to wait.
 * Data that arrives, or can go on, ends a sleep of the main thread
 * (util/wake.h).
 */
#ifndef BATS_WIRE_H
#define BATS_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

#include "proto/proto.h"

#define BATS_TLS_KEY 32 /* bytes */

struct bats_wire {
    int fd;       /* -1: none */
    size_t limit; /* longest message that may come; at first 64 MiB */
    uint8_t *in;  /* from `in_at` to `in_end`: received, not taken */
    size_t in_at, in_end, in_room;
    uint8_t *out; /* from `out_at` to `out_end`: not sent */
    size_t out_at, out_end, out_room;
    struct bats_tls *tls; /* NULL: plain text */
};

/* Takes over the connected socket; the calling thread is woken. False: a call
 * failed, errno is set, the socket stays the caller's. */
bool bats_wire_open(struct bats_wire *wire, int fd);
void bats_wire_close(struct bats_wire *wire);

/* Call before anything is sent or received: both directions are TLS with this
 * key. The handshake goes on as bytes are sent and received. False: out of
 * memory, or bats-mpi was built without GnuTLS. */
bool bats_wire_secure(struct bats_wire *wire, bool is_master,
                      const uint8_t key[BATS_TLS_KEY]);

/* Appends bytes as they are, or a frame. False: out of memory. */
bool bats_wire_append(struct bats_wire *wire, const void *bytes, size_t n);
bool bats_wire_put(struct bats_wire *wire, uint32_t rank, const void *bytes,
                   size_t n);

/* Appends a frame of rank 0 with this message. False: out of memory. */
bool bats_wire_say(struct bats_wire *wire, const struct bats_message *message);

/* As send(), without a frame. errno may also be EKEYREJECTED: the other side
 * has another key; or EBADMSG: a message was forged. */
ssize_t bats_wire_send(struct bats_wire *wire, const void *bytes, size_t n);

/* Sends what can be sent now. False: the connection is broken, see errno (as
 * above). */
bool bats_wire_flush(struct bats_wire *wire);

/* Drops what has not been sent: the other side is gone. */
void bats_wire_drop(struct bats_wire *wire);

/* Number of bytes that have not been sent. */
size_t bats_wire_unsent(const struct bats_wire *wire);

/* Receives up to some 64 KiB, or the rest of a frame. Returns 1 if anything
 * came, 0 if not, -1 if the connection is broken (errno) or was closed (errno
 * 0). */
int bats_wire_fill(struct bats_wire *wire);

/* Returns 1 and the next complete frame; *bytes is valid until the next call
 * of bats_wire_fill. 0: there is none. -1: the message is too long. */
int bats_wire_next(struct bats_wire *wire, uint32_t *rank, const void **bytes,
                   size_t *n);

#endif
