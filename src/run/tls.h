/*
 * tls: TLS 1.3 between the master and a gateway, with a pre-shared key
 * (auth.h). Without the key nobody can read, change, repeat or leave out
 * messages. GnuTLS.
 *
 * Layer: run. Used by wire.c. Nothing here waits: the handshake goes on as
 * bytes are sent and received.
 */
#ifndef BATS_TLS_H
#define BATS_TLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BATS_TLS_KEY 32      /* bytes */
#define BATS_TLS_PIECE 16384 /* most bytes received at a time */

struct bats_tls;

/* Begins TLS over the connected socket, which stays the caller's. NULL: memory
 * is short, or bats-mpi was built without GnuTLS. */
struct bats_tls *bats_tls_begin(int fd, bool is_master,
                                const uint8_t key[BATS_TLS_KEY]);
void bats_tls_end(struct bats_tls *tls); /* NULL is legal */

/* As send() and recv(). errno is EAGAIN while the handshake goes on;
 * EKEYREJECTED: the other side has another key; EBADMSG: a message was
 * forged. */
ssize_t bats_tls_send(struct bats_tls *tls, const void *bytes, size_t n);
ssize_t bats_tls_receive(struct bats_tls *tls, void *bytes, size_t n);

#endif
