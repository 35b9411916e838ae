#include "run/tls.h"

#include <errno.h>
#include <stddef.h>

#ifdef BATS_HAVE_GNUTLS

#include <gnutls/gnutls.h>
#include <stdlib.h>
#include <string.h>

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
    (void)name;
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

struct bats_tls *bats_tls_begin(int fd, bool is_master,
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
        bats_tls_end(tls);
        return NULL;
    }
    gnutls_handshake_set_max_packet_length(tls->session, HANDSHAKE);
    gnutls_session_set_ptr(tls->session, tls);
    gnutls_transport_set_int(tls->session, fd);
    return tls;
}

void bats_tls_end(struct bats_tls *tls)
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

ssize_t bats_tls_send(struct bats_tls *tls, const void *bytes, size_t n)
{
    return is_up(tls) ? answer(tls, gnutls_record_send(tls->session, bytes, n))
                      : -1;
}

ssize_t bats_tls_receive(struct bats_tls *tls, void *bytes, size_t n)
{
    return is_up(tls) ? answer(tls, gnutls_record_recv(tls->session, bytes, n))
                      : -1;
}

#else

struct bats_tls *bats_tls_begin(int fd, bool is_master,
                                const uint8_t key[BATS_TLS_KEY])
{
    (void)fd, (void)is_master, (void)key;
    return NULL;
}

void bats_tls_end(struct bats_tls *tls)
{
    (void)tls;
}

ssize_t bats_tls_send(struct bats_tls *tls, const void *bytes, size_t n)
{
    (void)tls, (void)bytes, (void)n;
    return -1;
}

ssize_t bats_tls_receive(struct bats_tls *tls, void *bytes, size_t n)
{
    (void)tls, (void)bytes, (void)n;
    return -1;
}

#endif
