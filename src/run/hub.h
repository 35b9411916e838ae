/*
 * hub: the master's end of its worker jobs: a transport (transport.h) whose
 * ranks come and go.
 *
 * Layer: run. Used by joined.c. Rank 0 is the master, which has no MPI here;
 * ranks 1 .. size - 1 are seats. A gateway connects, and its ranks take seats
 * when the job side has admitted them:
 *
 *     KNOCKS   connected; a KNOCK must come
 *     PROVES   has got a CHALLENGE, with the master's proof; PROOF must come
 *     GATHERS  authenticated; each of its ranks must say HELLO
 *     WAITS    for bats_hub_admit or bats_hub_refuse
 *     WORKS    its messages are those of its seats
 *     LEFT     every rank has said good-bye (STOP), and all of it was received
 *     CUT      the connection broke, or something came that makes no sense
 *
 * Those that do not get as far as WAITS are dropped here, at once for nonsense
 * and after a quarter of a minute for silence (a minute for HELLO, which waits
 * for the job's slowest rank); until the PROOF is good no more than 4 KiB are
 * kept of anybody, of 256 at most at a time. Who has said nothing yet makes room
 * for the next then, and at once where 16 of one address say nothing. One poll() finds all that has
 * come. Messages are taken from one job after the other, and nothing is read
 * ahead of what is taken, so that a gateway that sends faster than the master
 * works has to wait.
 */
#ifndef BATS_HUB_H
#define BATS_HUB_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "run/comm.h"
#include "run/door.h"
#include "run/errand.h"
#include "run/wire.h"

enum bats_peer_state {
    BATS_PEER_KNOCKS,
    BATS_PEER_PROVES,
    BATS_PEER_GATHERS,
    BATS_PEER_WAITS,
    BATS_PEER_WORKS,
    BATS_PEER_LEFT,
    BATS_PEER_CUT
};

/* One connection; read only, outside hub.c. */
struct bats_peer {
    enum bats_peer_state state;
    bool admitted; /* it has been at WORKS */
    char job[BATS_PROTO_JOB];
    char why[240]; /* CUT: a phrase */
    uint32_t n_ranks;
    struct bats_hello *hellos; /* n_ranks, texts in `said` */
    int *rank;                 /* n_ranks: their seats, from WORKS */
    int64_t since_us;          /* monotonic: of its state */
    /* private */
    struct bats_packet *said;
    bool *is_here;
    struct bats_errand *errand; /* its proof is made or checked, or NULL */
    bool is_challenged;       /* the CHALLENGE has been sent */
    uint32_t wanted_ranks;    /* as its PROOF says */
    bool is_silent;          /* nothing of it waits to be read */
    struct in6_addr address; /* IPv4: as mapped into IPv6 */
    uint32_t n_here, n_left;
    uint8_t nonce[BATS_PROTO_NONCE], its_nonce[BATS_PROTO_NONCE];
    uint8_t halves[2 * BATS_AUTH_HALF]; /* ours, and its */
    struct bats_wire wire;
};

struct bats_hub_options {
    const char *file; /* for gateways, see door.h */
    const char *host; /* NULL: the name of this host */
    int port;         /* 0: any */
    uint32_t n_seats;
    int64_t silence_us; /* after which a gateway gives the master up */
};

/* The texts of the options are used until the end. *comm is the transport, for
 * the functions below and those of comm.h. BATS_ENOMEM, BATS_ESYS, BATS_EINPUT:
 * no way of authentication. */
int bats_hub_create(const struct bats_hub_options *options,
                    struct bats_comm **comm, struct bats_error *err);

/* Listens and writes the file, or removes the file and listens no more. Does
 * nothing if that is so. BATS_EINPUT: port or file cannot be had; BATS_ESYS. */
int bats_hub_listen(struct bats_comm *comm, bool listens,
                    struct bats_error *err);

/* How gateways are authenticated. */
const struct bats_auth *bats_hub_auth(const struct bats_comm *comm);

/* A stranger has connected by this socket, which is the hub's from now on; so
 * do those that come by the port. False: out of memory, or it is no socket; it
 * stays the caller's. */
bool bats_hub_meet(struct bats_comm *comm, int fd);

/* The connections, in the order in which they came; valid until the next
 * bats_hub_drop or receive. */
size_t bats_hub_count(const struct bats_comm *comm);
const struct bats_peer *bats_hub_peer(const struct bats_comm *comm, size_t i);

/* Seats the ranks of a peer that WAITS: rank[k] is the seat of rank k. */
void bats_hub_admit(struct bats_comm *comm, size_t i, const int *rank);

/* Tells the peer why, and cuts it. */
void bats_hub_refuse(struct bats_comm *comm, size_t i, const char *why);

/* Cuts the peer that this seat belongs to, for this reason. */
void bats_hub_cut(struct bats_comm *comm, int rank, const char *why);

/* Forgets a peer that LEFT or is CUT; its seats are free. */
void bats_hub_drop(struct bats_comm *comm, size_t i);

#endif
