#include "run/wire.h"

#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "util/grow.h"
#include "util/wake.h"

#define HEAD 8
#define PIECE ((size_t)64 * 1024)

bool bats_wire_open(struct bats_wire *wire, int fd)
{
    int on = 1;
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    *wire = (struct bats_wire){.fd = -1, .limit = BATS_WIRE_STRANGER};
    /* No delay: messages are answered. It fails on what is not TCP. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (fcntl(fd, F_SETSIG, BATS_WAKE_SIGNAL) < 0 ||
        fcntl(fd, F_SETOWN_EX, &owner) < 0 ||
        fcntl(fd, F_SETFD, FD_CLOEXEC) < 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) < 0)
        return false;
    wire->fd = fd;
    return true;
}

void bats_wire_close(struct bats_wire *wire)
{
    if (wire->fd >= 0)
        close(wire->fd);
    free(wire->in);
    free(wire->out);
    *wire = (struct bats_wire){.fd = -1};
}

void bats_wire_seal(struct bats_wire *wire,
                    const uint8_t ours[BATS_SEAL_KEY],
                    const uint8_t theirs[BATS_SEAL_KEY])
{
    wire->ours.is_on = wire->theirs.is_on = true;
    memcpy(wire->ours.key, ours, BATS_SEAL_KEY);
    memcpy(wire->theirs.key, theirs, BATS_SEAL_KEY);
}

bool bats_wire_put(struct bats_wire *wire, uint32_t rank, const void *bytes,
                   size_t n)
{
    if (n > UINT32_MAX ||
        !bats_grow(&wire->out, &wire->out_room,
                   wire->out_end + HEAD + n + BATS_SEAL_BYTES, 1))
        return false;
    uint32_t head[2] = {htole32((uint32_t)n), htole32(rank)};
    memcpy(wire->out + wire->out_end, head, HEAD);
    memcpy(wire->out + wire->out_end + HEAD, bytes, n);
    wire->out_end += HEAD + n;
    if (wire->ours.is_on) {
        uint8_t *end = wire->out + wire->out_end;
        bats_seal_make(&wire->ours, end - HEAD - n, HEAD + n, end);
        wire->out_end += BATS_SEAL_BYTES;
    }
    return true;
}

bool bats_wire_flush(struct bats_wire *wire)
{
    while (wire->out_at < wire->out_end) {
        ssize_t n = send(wire->fd, wire->out + wire->out_at,
                         wire->out_end - wire->out_at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        wire->out_at += (size_t)n;
    }
    wire->out_at = wire->out_end = 0;
    return true;
}

size_t bats_wire_unsent(const struct bats_wire *wire)
{
    return wire->out_end - wire->out_at;
}

static uint32_t number_at(const struct bats_wire *wire, size_t at)
{
    uint32_t number;
    memcpy(&number, wire->in + wire->in_at + at, sizeof number);
    return le32toh(number);
}

/* Bytes of the first frame; 0: its head has not come. */
static size_t frame(const struct bats_wire *wire)
{
    return wire->in_end - wire->in_at < HEAD
               ? 0
               : (size_t)HEAD + number_at(wire, 0);
}

/* Room is made for what has been announced, but only as it comes: a frame of
 * any length costs the other side as many bytes. */
int bats_wire_fill(struct bats_wire *wire)
{
    size_t left = wire->in_end - wire->in_at;
    if (wire->in_at > 0 && left > 0)
        memmove(wire->in, wire->in + wire->in_at, left);
    wire->in_at = 0;
    wire->in_end = left;
    if (!bats_grow(&wire->in, &wire->in_room, left + PIECE, 1)) {
        errno = ENOMEM;
        return -1;
    }
    ssize_t n;
    do
        n = recv(wire->fd, wire->in + left, wire->in_room - left, 0);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return errno == EAGAIN ? 0 : -1;
    if (n == 0) {
        errno = 0;
        return -1;
    }
    wire->in_end += (size_t)n;
    return 1;
}

int bats_wire_next(struct bats_wire *wire, uint32_t *rank, const void **bytes,
                   size_t *n)
{
    size_t size = frame(wire);
    size_t seal = wire->theirs.is_on ? BATS_SEAL_BYTES : 0;
    if (size > HEAD + wire->limit)
        return -1;
    if (size == 0 || wire->in_end - wire->in_at < size + seal)
        return 0;
    const uint8_t *first = wire->in + wire->in_at;
    if (seal > 0 && !bats_seal_check(&wire->theirs, first, size, first + size))
        return -2;
    *rank = number_at(wire, 4);
    *bytes = wire->in + wire->in_at + HEAD;
    *n = size - HEAD;
    wire->in_at += size + seal;
    return 1;
}
