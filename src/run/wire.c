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
    /* No delay: messages are answered. Fails on other sockets. */
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
    bats_tls_end(wire->tls);
    free(wire->in);
    free(wire->out);
    *wire = (struct bats_wire){.fd = -1};
}

bool bats_wire_secure(struct bats_wire *wire, bool is_master,
                      const uint8_t key[BATS_TLS_KEY])
{
    if (bats_wire_unsent(wire) > 0)
        return false;
    wire->in_at = wire->in_end = 0;
    wire->tls = bats_tls_begin(wire->fd, is_master, key);
    return wire->tls != NULL;
}

bool bats_wire_put(struct bats_wire *wire, uint32_t rank, const void *bytes,
                   size_t n)
{
    if (n > UINT32_MAX ||
        !bats_grow(&wire->out, &wire->out_room, wire->out_end + HEAD + n, 1))
        return false;
    uint32_t head[2] = {htole32((uint32_t)n), htole32(rank)};
    memcpy(wire->out + wire->out_end, head, HEAD);
    memcpy(wire->out + wire->out_end + HEAD, bytes, n);
    wire->out_end += HEAD + n;
    return true;
}

bool bats_wire_flush(struct bats_wire *wire)
{
    while (wire->out_at < wire->out_end) {
        const uint8_t *at = wire->out + wire->out_at;
        size_t left = wire->out_end - wire->out_at;
        ssize_t n = wire->tls != NULL ? bats_tls_send(wire->tls, at, left)
                                      : send(wire->fd, at, left, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        wire->out_at += (size_t)n;
    }
    wire->out_at = wire->out_end = 0;
    return true;
}

void bats_wire_drop(struct bats_wire *wire)
{
    wire->out_at = wire->out_end = 0;
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

/* Length of the first frame; 0: its head is incomplete. */
static size_t frame(const struct bats_wire *wire)
{
    return wire->in_end - wire->in_at < HEAD
               ? 0
               : (size_t)HEAD + number_at(wire, 0);
}

/* Memory grows with the bytes received, not with the announced length: a long
 * frame costs the sender as many bytes. */
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
    do {
        uint8_t *to = wire->in + wire->in_end;
        size_t room = wire->in_room - wire->in_end;
        n = wire->tls != NULL ? bats_tls_receive(wire->tls, to, room)
                              : recv(wire->fd, to, room, 0);
        wire->in_end += n > 0 ? (size_t)n : 0;
    } while (n < 0 ? errno == EINTR
                   : n > 0 && wire->tls != NULL &&
                         wire->in_room - wire->in_end >= BATS_TLS_PIECE);
    if (wire->in_end > left) /* an error that ends the stream comes again */
        return 1;
    if (n < 0)
        return errno == EAGAIN ? 0 : -1;
    errno = 0;
    return -1;
}

int bats_wire_next(struct bats_wire *wire, uint32_t *rank, const void **bytes,
                   size_t *n)
{
    size_t size = frame(wire);
    if (size > HEAD + wire->limit)
        return -1;
    if (size == 0 || wire->in_end - wire->in_at < size)
        return 0;
    *rank = number_at(wire, 4);
    *bytes = wire->in + wire->in_at + HEAD;
    *n = size - HEAD;
    wire->in_at += size;
    return 1;
}
