#include "run/wire.h"

#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifdef BATS_HAVE_GNUTLS
#include <gnutls/gnutls.h>
#endif

#include "util/grow.h"
#include "util/wake.h"

#define HEAD 8
#define PIECE ((size_t)64 * 1024)
#define LONGEST (64 * 1024 * 1024)
#define TLS_PIECE 16384 /* most bytes received at a time by TLS */

#ifdef BATS_HAVE_GNUTLS

#define PRIORITY "NORMAL:-VERS-ALL:+VERS-TLS1.3:-KX-ALL:+ECDHE-PSK"
#define NAME "bats-mpi"
/* most bytes of one handshake message from a stranger */
#define HANDSHAKE 8192

struct bats_tls {
    gnutls_session_t session;
    gnutls_psk_server_credentials_t server;
    gnutls_psk_client_credentials_t client;
    uint8_t key[BATS_TLS_KEY];
    bool is_up; /* the handshake is over */
    int broken; /* errno of a fatal error, or 0 */
};

static int give_key(gnutls_session_t session, const char *name,
                    gnutls_datum_t *key)
{
    const struct bats_tls *tls = gnutls_session_get_ptr(session);
    *key = (gnutls_datum_t){gnutls_malloc(BATS_TLS_KEY), BATS_TLS_KEY};
    if (key->data == NULL)
        return -1;
    memcpy(key->data, tls->key, BATS_TLS_KEY);
    return 0;
}

static int set_key(struct bats_tls *tls, bool is_master)
{
    const gnutls_datum_t key = {tls->key, BATS_TLS_KEY};
    int rc = is_master ? gnutls_psk_allocate_server_credentials(&tls->server)
                       : gnutls_psk_allocate_client_credentials(&tls->client);
    if (rc < 0)
        return rc;
    if (!is_master)
        return gnutls_psk_set_client_credentials(tls->client, NAME, &key,
                                                 GNUTLS_PSK_KEY_RAW);
    gnutls_psk_set_server_credentials_function(tls->server, give_key);
    return 0;
}

static void tls_end(struct bats_tls *tls)
{
    if (tls == NULL)
        return;
    gnutls_deinit(tls->session);
    if (tls->server != NULL)
        gnutls_psk_free_server_credentials(tls->server);
    if (tls->client != NULL)
        gnutls_psk_free_client_credentials(tls->client);
    gnutls_memset(tls, 0, sizeof *tls);
    free(tls);
}

static struct bats_tls *tls_begin(int fd, bool is_master,
                                  const uint8_t key[BATS_TLS_KEY])
{
    struct bats_tls *tls = calloc(1, sizeof *tls);
    unsigned flags = is_master ? GNUTLS_SERVER : GNUTLS_CLIENT;
    flags |= GNUTLS_NONBLOCK | GNUTLS_NO_SIGNAL | GNUTLS_NO_TICKETS;
    if (tls == NULL)
        return NULL;
    memcpy(tls->key, key, BATS_TLS_KEY);
    if (gnutls_init(&tls->session, flags) < 0 || set_key(tls, is_master) < 0 ||
        gnutls_priority_set_direct(tls->session, PRIORITY, NULL) < 0 ||
        gnutls_credentials_set(tls->session, GNUTLS_CRD_PSK,
                               is_master ? (void *)tls->server
                                         : (void *)tls->client) < 0) {
        tls_end(tls);
        return NULL;
    }
    gnutls_handshake_set_max_packet_length(tls->session, HANDSHAKE);
    gnutls_session_set_ptr(tls->session, tls);
    gnutls_transport_set_int(tls->session, fd);
    return tls;
}

/* The result that send() or recv() would give. */
static ssize_t answer(struct bats_tls *tls, ssize_t rc)
{
    if (rc >= 0)
        return rc;
    if (!gnutls_error_is_fatal((int)rc)) {
        errno = EAGAIN;
        return -1;
    }
    if (rc == GNUTLS_E_PREMATURE_TERMINATION)
        tls->broken = ECONNRESET;
    else if (rc == GNUTLS_E_PULL_ERROR || rc == GNUTLS_E_PUSH_ERROR)
        tls->broken = errno;
    else
        tls->broken = tls->is_up ? EBADMSG : EKEYREJECTED;
    gnutls_alert_send_appropriate(tls->session, (int)rc);
    errno = tls->broken;
    return -1;
}

/* Continues the handshake. True: it is over. */
static bool is_up(struct bats_tls *tls)
{
    if (!tls->is_up && tls->broken == 0)
        tls->is_up = answer(tls, gnutls_handshake(tls->session)) == 0;
    if (tls->broken != 0)
        errno = tls->broken;
    return tls->is_up && tls->broken == 0;
}

static ssize_t tls_send(struct bats_tls *tls, const void *bytes, size_t n)
{
    return is_up(tls) ? answer(tls, gnutls_record_send(tls->session, bytes, n))
                      : -1;
}

static ssize_t tls_receive(struct bats_tls *tls, void *bytes, size_t n)
{
    return is_up(tls) ? answer(tls, gnutls_record_recv(tls->session, bytes, n))
                      : -1;
}

#else /* there is never one */

static struct bats_tls *tls_begin(int fd, bool is_master, const uint8_t *key)
{
    return NULL;
}

static void tls_end(struct bats_tls *tls)
{
}

static ssize_t tls_send(struct bats_tls *tls, const void *bytes, size_t n)
{
    return -1;
}

static ssize_t tls_receive(struct bats_tls *tls, void *bytes, size_t n)
{
    return tls_send(tls, bytes, n);
}

#endif

/* ---- the stream ---- */

bool bats_wire_open(struct bats_wire *wire, int fd)
{
    int on = 1;
    *wire = (struct bats_wire){.fd = -1, .limit = LONGEST};
    /* No delay: messages are answered. Fails on other sockets. */
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (!bats_wake_by(fd))
        return false;
    wire->fd = fd;
    return true;
}

void bats_wire_close(struct bats_wire *wire)
{
    if (wire->fd >= 0)
        close(wire->fd);
    tls_end(wire->tls);
    free(wire->in);
    free(wire->out);
    *wire = (struct bats_wire){.fd = -1};
}

bool bats_wire_secure(struct bats_wire *wire, bool is_master,
                      const uint8_t key[BATS_TLS_KEY])
{
    wire->tls = tls_begin(wire->fd, is_master, key);
    return wire->tls != NULL;
}

bool bats_wire_append(struct bats_wire *wire, const void *bytes, size_t n)
{
    if (!bats_grow(&wire->out, &wire->out_room, wire->out_end + n, 1))
        return false;
    if (n > 0)
        memcpy(wire->out + wire->out_end, bytes, n);
    wire->out_end += n;
    return true;
}

bool bats_wire_put(struct bats_wire *wire, uint32_t rank, const void *bytes,
                   size_t n)
{
    uint32_t head[2] = {htole32((uint32_t)n), htole32(rank)};
    return n <= UINT32_MAX &&
           bats_grow(&wire->out, &wire->out_room, wire->out_end + HEAD + n,
                     1) &&
           bats_wire_append(wire, head, HEAD) &&
           bats_wire_append(wire, bytes, n);
}

bool bats_wire_say(struct bats_wire *wire, const struct bats_message *message)
{
    struct bats_text packet = {0};
    bats_proto_put(&packet, message);
    bool put =
        !packet.failed && bats_wire_put(wire, 0, packet.bytes, packet.n);
    bats_text_release(&packet);
    return put;
}

ssize_t bats_wire_send(struct bats_wire *wire, const void *bytes, size_t n)
{
    return wire->tls != NULL ? tls_send(wire->tls, bytes, n)
                             : send(wire->fd, bytes, n, MSG_NOSIGNAL);
}

bool bats_wire_flush(struct bats_wire *wire)
{
    while (wire->out_at < wire->out_end) {
        ssize_t n = bats_wire_send(wire, wire->out + wire->out_at,
                                   wire->out_end - wire->out_at);
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
        n = wire->tls != NULL ? tls_receive(wire->tls, to, room)
                              : recv(wire->fd, to, room, 0);
        wire->in_end += n > 0 ? (size_t)n : 0;
    } while (n < 0 ? errno == EINTR
                   : n > 0 && wire->tls != NULL &&
                         wire->in_room - wire->in_end >= TLS_PIECE);
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
    uint32_t head[2];
    size_t left = wire->in_end - wire->in_at;
    if (left < HEAD)
        return 0;
    memcpy(head, wire->in + wire->in_at, HEAD);
    *n = le32toh(head[0]);
    *rank = le32toh(head[1]);
    if (*n > wire->limit)
        return -1;
    if (left < HEAD + *n)
        return 0;
    *bytes = wire->in + wire->in_at + HEAD;
    wire->in_at += HEAD + *n;
    return 1;
}
