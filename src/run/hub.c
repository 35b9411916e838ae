#include "run/hub.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/transport.h"
#include "util/grow.h"
#include "util/now.h"

#define KNOCK_US 15000000 /* for each step of the authentication */
#define HELLO_US 60000000 /* for all ranks of a job to say HELLO */
#define STRANGERS 256     /* connections that are not authenticated */
#define SILENT 16         /* of them, from one address, that say nothing */
#define IN_A_ROW 32       /* messages of one job before the next has its turn */
#define BACKLOG 512

struct seat {
    struct bats_peer *peer; /* NULL: free */
    uint32_t rank;          /* in its job */
};

struct hub {
    struct bats_comm base;
    struct bats_hub_options options;
    struct bats_door door;
    int door_fd; /* of its file, while it listens */
    int listener; /* -1: does not listen */
    struct bats_peer **peers;
    size_t n, room;
    size_t turn;        /* the peer whose messages are taken */
    unsigned in_a_row;  /* taken from it */
    struct seat *seats; /* by rank */
    struct pollfd *fds;
    size_t fds_room;
};

static struct hub *hub_of(const struct bats_comm *comm)
{
    return (struct hub *)(uintptr_t)comm;
}

static void enter(struct bats_peer *p, enum bats_peer_state state)
{
    p->state = state;
    p->since_us = bats_now_us(CLOCK_MONOTONIC);
}

static void cut(struct bats_peer *p, const char *why)
{
    if (p->state == BATS_PEER_CUT || p->state == BATS_PEER_LEFT)
        return;
    snprintf(p->why, sizeof p->why, "%s", why);
    enter(p, BATS_PEER_CUT);
    bats_wire_close(&p->wire);
}

static void cut_broken(struct bats_peer *p)
{
    char why[160];
    snprintf(why, sizeof why, "the connection to its gateway %s%s",
             errno == 0 ? "was closed" : "broke: ",
             errno == 0 ? "" : strerror(errno));
    cut(p, why);
}

static void put(struct bats_peer *p, struct bats_packet *packet)
{
    if (packet->failed || !bats_wire_put(&p->wire, 0, packet->bytes, packet->n))
        cut(p, "there is no memory for a message to it");
    else if (!bats_wire_flush(&p->wire))
        cut_broken(p);
    bats_packet_release(packet);
}

/* The sentence fits the socket's buffer, or the other side does not read. Bytes
 * that it has sent are dropped first: else the kernel drops our words, too. */
static void refuse(struct bats_peer *p, const char *why)
{
    struct bats_packet packet = {0};
    char dropped[4096];
    bats_proto_error(&packet, why);
    put(p, &packet);
    if (p->wire.fd >= 0) {
        shutdown(p->wire.fd, SHUT_WR);
        while (recv(p->wire.fd, dropped, sizeof dropped, MSG_DONTWAIT) > 0)
            ;
    }
    cut(p, why);
}

/* ---- authentication ---- */

static int begin_challenge(const struct hub *h, struct bats_peer *p,
                           struct bats_error *err)
{
    struct bats_auth_text text = {true, p->nonce, p->its_nonce, p->job,
                                  p->halves};
    int rc = bats_auth_random(p->nonce, sizeof p->nonce, err);
    if (rc == 0)
        rc = bats_auth_random(p->halves, BATS_AUTH_HALF, err);
    return rc < 0 ? rc
                  : bats_errand_send(&h->door.auth, &text, NULL, 0, &p->errand,
                                     err);
}

static void challenge(struct bats_peer *p, const struct bats_errand *made)
{
    struct bats_packet packet = {0};
    struct bats_proof proof = {.nonce = p->nonce, .bytes = made->proof,
                               .n = made->n};
    bats_proto_proof(&packet, &proof);
    put(p, &packet);
}

static void take_knock(const struct hub *h, struct bats_peer *p,
                       const struct bats_knock *knock)
{
    struct bats_error why;
    snprintf(p->job, sizeof p->job, "%s", knock->job);
    memcpy(p->its_nonce, knock->nonce, sizeof p->its_nonce);
    if (knock->way != h->door.auth.way)
        refuse(p, "it authenticates in another way");
    else if (begin_challenge(h, p, &why) < 0)
        refuse(p, why.text);
    else
        enter(p, BATS_PEER_PROVES);
}

/* After the WELCOME. */
static int seal(const struct hub *h, struct bats_peer *p,
                struct bats_error *err)
{
    uint8_t ours[BATS_SEAL_KEY], its[BATS_SEAL_KEY];
    struct bats_auth_text text = {true, p->nonce, p->its_nonce, p->job, NULL};
    struct bats_auth_terms terms = {p->n_ranks, h->options.silence_us};
    int rc = bats_auth_key(&h->door.auth, &text, &terms, p->halves, ours, err);
    text.by_master = false;
    if (rc == 0)
        rc = bats_auth_key(&h->door.auth, &text, &terms, p->halves, its, err);
    if (rc == 0)
        bats_wire_seal(&p->wire, ours, its);
    return rc;
}

static bool make_lists(struct bats_peer *p)
{
    p->hellos = calloc(p->n_ranks, sizeof *p->hellos);
    p->said = calloc(p->n_ranks, sizeof *p->said);
    p->is_here = calloc(p->n_ranks, sizeof *p->is_here);
    p->rank = calloc(p->n_ranks, sizeof *p->rank);
    return p->hellos != NULL && p->said != NULL && p->is_here != NULL &&
           p->rank != NULL;
}

/* Whoever has a job's number comes in its stead: the connection of before is
 * broken, even if that does not show yet. */
static void supersede(const struct hub *h, const struct bats_peer *p)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->peers[i] != p && h->peers[i]->state >= BATS_PEER_GATHERS &&
            strcmp(h->peers[i]->job, p->job) == 0)
            cut(h->peers[i], "its gateway has connected again");
}

static void take_proof(const struct hub *h, struct bats_peer *p,
                       const struct bats_proof *proof)
{
    struct bats_error why;
    struct bats_auth_text text = {false, p->nonce, p->its_nonce, p->job,
                                  p->halves + BATS_AUTH_HALF};
    p->wanted_ranks = proof->n_ranks;
    if (bats_errand_send(&h->door.auth, &text, proof->bytes, proof->n,
                         &p->errand, &why) < 0)
        refuse(p, why.text);
}

static void let_in(const struct hub *h, struct bats_peer *p,
                   const struct bats_errand *checked)
{
    struct bats_error why;
    struct bats_packet packet = {0};
    memcpy(p->halves + BATS_AUTH_HALF, checked->half, BATS_AUTH_HALF);
    if (p->wanted_ranks == 0 || p->wanted_ranks > h->options.n_seats) {
        refuse(p, "it has more ranks than the run has room for");
        return;
    }
    p->n_ranks = p->wanted_ranks;
    if (!make_lists(p)) {
        p->n_ranks = 0;
        refuse(p, "out of memory");
        return;
    }
    supersede(h, p);
    p->wire.limit = BATS_WIRE_FRIEND;
    bats_proto_welcome(&packet, h->options.silence_us);
    put(p, &packet);
    if (p->state == BATS_PEER_PROVES && seal(h, p, &why) < 0)
        refuse(p, why.text);
    else if (p->state == BATS_PEER_PROVES)
        enter(p, BATS_PEER_GATHERS);
}

/* What was to be made or checked for it is. */
static void go_on(const struct hub *h, struct bats_peer *p)
{
    struct bats_errand *errand = p->errand;
    if (errand == NULL || !bats_errand_is_back(errand))
        return;
    p->errand = NULL;
    bool proves = p->state == BATS_PEER_PROVES;
    if (proves && errand->rc < 0)
        refuse(p, errand->err.text);
    else if (proves && p->is_challenged)
        let_in(h, p, errand);
    else if (proves)
        challenge(p, errand);
    p->is_challenged = true;
    bats_errand_forget(errand);
}

/* Keeps the message, whose texts the HELLO refers to. */
static void take_hello(struct bats_peer *p, uint32_t rank, const void *bytes,
                       size_t n)
{
    struct bats_message message;
    struct bats_packet *copy = &p->said[rank];
    if (p->is_here[rank]) {
        refuse(p, "a rank of it said hello twice");
        return;
    }
    copy->bytes = malloc(n);
    if (copy->bytes == NULL) {
        refuse(p, "out of memory");
        return;
    }
    memcpy(copy->bytes, bytes, n);
    if (bats_proto_open(copy->bytes, n, &message, NULL) < 0 ||
        message.u.hello.rank != rank) {
        refuse(p, "a rank of it said hello as another one");
        return;
    }
    p->hellos[rank] = message.u.hello;
    p->is_here[rank] = true;
    if (++p->n_here == p->n_ranks)
        enter(p, BATS_PEER_WAITS);
}

/* A message of a peer that has no seats yet. */
static void take_early(const struct hub *h, struct bats_peer *p, uint32_t rank,
                       const void *bytes, size_t n)
{
    struct bats_message message;
    struct bats_error why;
    if (bats_proto_open(bytes, n, &message, &why) < 0)
        refuse(p, why.text);
    else if (p->state == BATS_PEER_KNOCKS && rank == 0 &&
             message.type == BATS_MESSAGE_KNOCK)
        take_knock(h, p, &message.u.knock);
    else if (p->state == BATS_PEER_PROVES && rank == 0 &&
             message.type == BATS_MESSAGE_PROOF)
        take_proof(h, p, &message.u.proof);
    else if (p->state == BATS_PEER_GATHERS && rank < p->n_ranks &&
             message.type == BATS_MESSAGE_HELLO)
        take_hello(p, rank, bytes, n);
    else if (p->state < BATS_PEER_GATHERS ||
             message.type != BATS_MESSAGE_HEARTBEAT)
        refuse(p, "a message came that makes no sense yet");
}

/* ---- connections ---- */

static void release(struct bats_peer *p)
{
    bats_wire_close(&p->wire);
    bats_errand_forget(p->errand);
    for (uint32_t k = 0; p->said != NULL && k < p->n_ranks; k++)
        bats_packet_release(&p->said[k]);
    free(p->said);
    free(p->hellos);
    free(p->is_here);
    free(p->rank);
    free(p);
}

static size_t count_strangers(const struct hub *h)
{
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += h->peers[i]->state < BATS_PEER_GATHERS;
    return n;
}

static bool meet(struct hub *h, int fd, const struct in6_addr *address)
{
    struct bats_peer *p = calloc(1, sizeof *p);
    if (p == NULL ||
        !bats_grow(&h->peers, &h->room, h->n + 1, sizeof *h->peers) ||
        !bats_wire_open(&p->wire, fd)) {
        free(p);
        return false;
    }
    p->address = *address;
    enter(p, BATS_PEER_KNOCKS);
    h->peers[h->n++] = p;
    return true;
}

/* Of IPv6, one site has 2^64 addresses. */
static bool same_place(const struct in6_addr *a, const struct in6_addr *b)
{
    return memcmp(a, b, IN6_IS_ADDR_V4MAPPED(a) ? sizeof *a : 8) == 0;
}

/* Sends away whoever has said nothing for the longest time: from this address,
 * or NULL, from any. False: there are not more than `most` of them. */
static bool send_silent(struct hub *h, const struct in6_addr *address,
                        size_t most)
{
    struct bats_peer *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++) {
        struct bats_peer *p = h->peers[i];
        if (p->state != BATS_PEER_KNOCKS || !p->is_silent ||
            (address != NULL && !same_place(&p->address, address)))
            continue;
        first = n++ == 0 ? p : first;
    }
    if (n > most)
        refuse(first, "it says nothing, and others wait");
    return n > most;
}

static void meet_all(struct hub *h)
{
    size_t n = count_strangers(h);
    for (int i = 0; i < STRANGERS; i++) {
        struct sockaddr_in6 from = {0};
        socklen_t size = sizeof from;
        if (n >= STRANGERS && send_silent(h, NULL, 0))
            n--;
        if (n >= STRANGERS)
            return;
        int fd = accept4(h->listener, (struct sockaddr *)&from, &size,
                         SOCK_CLOEXEC);
        if (fd < 0)
            return;
        if (from.sin6_family == AF_INET) { /* as IPv6 has it */
            uint32_t four = ((struct sockaddr_in *)&from)->sin_addr.s_addr;
            from.sin6_addr = (struct in6_addr){
                .s6_addr = {[10] = 0xff, [11] = 0xff}};
            memcpy(from.sin6_addr.s6_addr + 12, &four, sizeof four);
        }
        if (send_silent(h, &from.sin6_addr, SILENT - 1))
            n--;
        if (meet(h, fd, &from.sin6_addr))
            n++;
        else
            close(fd);
    }
}

static void look_for_late(struct hub *h)
{
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    for (size_t i = 0; i < h->n; i++) {
        struct bats_peer *p = h->peers[i];
        int64_t quiet_us = now_us - p->since_us;
        if (p->state < BATS_PEER_GATHERS && quiet_us > KNOCK_US)
            refuse(p, "it takes too long to say who it is");
        if (p->state == BATS_PEER_GATHERS && quiet_us > HELLO_US)
            refuse(p, "not every rank of it said hello within a minute");
    }
}

/* Its messages are taken now. */
static bool is_heard(const struct bats_peer *p)
{
    return p->state != BATS_PEER_WAITS && p->errand == NULL &&
           (p->state >= BATS_PEER_GATHERS || !bats_errand_is_enough());
}

/* Receives what is there, from every peer that has nothing whole left, and
 * sends what can be sent. Returns true if anything came. */
static bool exchange(struct hub *h)
{
    bool came = false;
    if (!bats_grow(&h->fds, &h->fds_room, h->n + 1, sizeof *h->fds))
        return false;
    h->fds[h->n] = (struct pollfd){.fd = h->listener, .events = POLLIN};
    for (size_t i = 0; i < h->n; i++) {
        const struct bats_peer *p = h->peers[i];
        h->fds[i].fd = p->wire.fd;
        h->fds[i].events =
            (short)((is_heard(p) ? POLLIN : 0) |
                    (bats_wire_unsent(&p->wire) > 0 ? POLLOUT : 0));
    }
    if (poll(h->fds, h->n + 1, 0) <= 0)
        return false;
    for (size_t i = 0; i < h->n; i++) {
        struct bats_peer *p = h->peers[i];
        if (h->fds[i].revents & POLLOUT && !bats_wire_flush(&p->wire))
            cut_broken(p);
        p->is_silent = h->fds[i].revents == 0;
        if (p->wire.fd < 0 || (h->fds[i].revents & ~POLLOUT) == 0)
            continue;
        int rc = bats_wire_fill(&p->wire);
        if (rc < 0)
            cut_broken(p);
        came |= rc > 0;
    }
    if (h->fds[h->n].revents != 0)
        meet_all(h);
    return came;
}

/* ---- the transport ---- */

/* Takes messages of one peer until one is for the master: 1. */
static int take_from(struct hub *h, struct bats_peer *p, int *from,
                     const void **bytes, size_t *n)
{
    uint32_t rank;
    for (go_on(h, p); p->wire.fd >= 0 && is_heard(p); go_on(h, p)) {
        int rc = bats_wire_next(&p->wire, &rank, bytes, n);
        if (rc == 0)
            return 0;
        if (rc < 0) {
            refuse(p, rc == -2
                          ? "a message came that its gateway has not sent"
                          : "a message came that is too long");
        } else if (p->state < BATS_PEER_WAITS) {
            take_early(h, p, rank, *bytes, *n);
        } else if (rank >= p->n_ranks) {
            refuse(p, "a message came from a rank that it does not have");
        } else {
            *from = p->rank[rank];
            if (*n > 0 && *(const uint8_t *)*bytes == BATS_MESSAGE_STOP)
                p->n_left++;
            return 1;
        }
    }
    return 0;
}

static int take_turns(struct hub *h, int *from, const void **bytes, size_t *n)
{
    for (size_t k = 0; k <= h->n && h->n > 0; k++) {
        h->turn = h->turn < h->n ? h->turn : 0;
        struct bats_peer *p = h->peers[h->turn];
        if (p->state == BATS_PEER_WORKS && p->n_left >= p->n_ranks) {
            enter(p, BATS_PEER_LEFT);
            bats_wire_close(&p->wire);
        }
        if (h->in_a_row < IN_A_ROW && take_from(h, p, from, bytes, n) > 0) {
            h->in_a_row++;
            return 1;
        }
        h->turn++;
        h->in_a_row = 0;
    }
    return 0;
}

static int hub_receive(struct bats_comm *comm, int *from, const void **bytes,
                       size_t *n, struct bats_error *err)
{
    struct hub *h = hub_of(comm);
    (void)err;
    for (int i = 0; i < 2; i++) {
        if (take_turns(h, from, bytes, n) > 0)
            return 1;
        if (!exchange(h))
            break;
    }
    look_for_late(h);
    return take_turns(h, from, bytes, n);
}

/* To somebody who has gone, nothing is sent. */
static int hub_send(struct bats_comm *comm, int rank,
                    struct bats_packet *packet, bool matched,
                    struct bats_error *err)
{
    struct seat *seat = &hub_of(comm)->seats[rank];
    (void)matched;
    (void)err;
    struct bats_peer *p = seat->peer;
    if (p != NULL && p->wire.fd >= 0) {
        if (!bats_wire_put(&p->wire, seat->rank, packet->bytes, packet->n))
            cut(p, "there is no memory for a message to it");
        else if (!bats_wire_flush(&p->wire))
            cut_broken(p);
    }
    bats_packet_release(packet);
    return 0;
}

/* For its gateway, which has a heart of its own for its ranks. */
static void hub_repeat(struct bats_comm *comm,
                       const struct bats_packet *packet)
{
    struct hub *h = hub_of(comm);
    for (size_t i = 0; i < h->n; i++) {
        struct bats_peer *p = h->peers[i];
        if (p->wire.fd >= 0 && p->state >= BATS_PEER_GATHERS &&
            bats_wire_unsent(&p->wire) == 0 &&
            bats_wire_put(&p->wire, 0, packet->bytes, packet->n))
            bats_wire_flush(&p->wire); /* the main thread sees what broke */
    }
}

static bool hub_repeated(struct bats_comm *comm)
{
    (void)comm;
    return true;
}

static size_t hub_unsent(struct bats_comm *comm)
{
    struct hub *h = hub_of(comm);
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += bats_wire_unsent(&h->peers[i]->wire) > 0;
    return n;
}

static bool hub_woken(const struct bats_comm *comm)
{
    (void)comm;
    return true;
}

static bool hub_is_gone(const struct bats_comm *comm, int rank)
{
    const struct bats_peer *p = hub_of(comm)->seats[rank].peer;
    return p == NULL || p->wire.fd < 0;
}

static void stop_listening(struct hub *h)
{
    if (h->listener < 0)
        return;
    close(h->listener);
    h->listener = -1;
    bats_door_remove(h->options.file, h->door_fd);
}

static void hub_destroy(struct bats_comm *comm)
{
    struct hub *h = hub_of(comm);
    stop_listening(h);
    for (size_t i = 0; i < h->n; i++)
        release(h->peers[i]);
    free(h->peers);
    free(h->seats);
    free(h->fds);
}

static const struct bats_transport by_hub = {
    .destroy = hub_destroy,
    .send = hub_send,
    .repeat = hub_repeat,
    .repeated = hub_repeated,
    .unsent = hub_unsent,
    .receive = hub_receive,
    .woken = hub_woken,
    .is_gone = hub_is_gone,
};

/* Many systems allow 1,024 descriptors at first, and more on demand. */
static void allow_descriptors(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

int bats_hub_create(const struct bats_hub_options *options,
                    struct bats_comm **comm, struct bats_error *err)
{
    struct hub *h = calloc(1, sizeof *h);
    if (h == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int size = (int)options->n_seats + 1;
    int rc = bats_comm_init(&h->base, &by_hub, 0, size, err);
    h->options = *options;
    h->listener = -1;
    h->seats = calloc((size_t)size, sizeof *h->seats);
    if (rc == 0 && h->seats == NULL)
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    if (rc == 0)
        rc = bats_auth_choose(&h->door.auth, err);
    if (rc < 0) {
        bats_comm_destroy(&h->base);
        return rc;
    }
    allow_descriptors();
    *comm = &h->base;
    return 0;
}

/* ---- listening ---- */

static int name_host(struct hub *h, struct bats_error *err)
{
    const char *host = h->options.host;
    if (host != NULL)
        snprintf(h->door.host, sizeof h->door.host, "%s", host);
    else if (gethostname(h->door.host, sizeof h->door.host) != 0)
        return bats_error_set(err, BATS_ESYS, "the name of this host: %s",
                              strerror(errno));
    return 0;
}

/* On all addresses: workers come by whatever network the name leads to. A
 * kernel without IPv6 has IPv4 alone. */
static int bind_to(int port, int *bound)
{
    struct sockaddr_in6 six = {.sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)port)};
    struct sockaddr_in four = {.sin_family = AF_INET,
                               .sin_port = htons((uint16_t)port)};
    socklen_t size = sizeof six;
    int off = 0, on = 1;
    int type = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;
    int fd = socket(AF_INET6, type, 0);
    if (fd >= 0) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    }
    if (fd < 0 || bind(fd, (struct sockaddr *)&six, sizeof six) != 0) {
        if (fd >= 0)
            close(fd);
        fd = socket(AF_INET, type, 0);
        if (fd >= 0)
            setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (fd < 0 || bind(fd, (struct sockaddr *)&four, sizeof four) != 0)
            goto error;
    }
    /* The port has the same place in both kinds of address. */
    if (listen(fd, BACKLOG) != 0 ||
        getsockname(fd, (struct sockaddr *)&six, &size) != 0)
        goto error;
    *bound = ntohs(six.sin6_port);
    return fd;
error:
    if (fd >= 0)
        close(fd);
    return -1;
}

int bats_hub_listen(struct bats_comm *comm, bool listens,
                    struct bats_error *err)
{
    struct hub *h = hub_of(comm);
    if (listens == (h->listener >= 0))
        return 0;
    if (!listens) {
        stop_listening(h);
        return 0;
    }
    int rc = name_host(h, err);
    if (rc < 0)
        return rc;
    int fd = bind_to(h->options.port, &h->door.port);
    if (fd < 0)
        return bats_error_set(err, BATS_EINPUT,
                              "cannot listen for worker jobs on port %d: %s",
                              h->options.port, strerror(errno));
    rc = bats_door_write(h->options.file, &h->door, &h->door_fd, err);
    if (rc < 0)
        close(fd);
    else
        h->listener = fd;
    return rc;
}

const struct bats_auth *bats_hub_auth(const struct bats_comm *comm)
{
    return &hub_of(comm)->door.auth;
}

bool bats_hub_meet(struct bats_comm *comm, int fd)
{
    bats_comm_lock();
    bool met = meet(hub_of(comm), fd, &in6addr_any);
    bats_comm_unlock();
    return met;
}

/* ---- for joined.c ---- */

size_t bats_hub_count(const struct bats_comm *comm)
{
    return hub_of(comm)->n;
}

const struct bats_peer *bats_hub_peer(const struct bats_comm *comm, size_t i)
{
    return hub_of(comm)->peers[i];
}

void bats_hub_admit(struct bats_comm *comm, size_t i, const int *rank)
{
    struct hub *h = hub_of(comm);
    struct bats_peer *p = h->peers[i];
    bats_comm_lock();
    for (uint32_t k = 0; k < p->n_ranks; k++) {
        p->rank[k] = rank[k];
        h->seats[rank[k]] = (struct seat){p, k};
    }
    p->admitted = true;
    enter(p, BATS_PEER_WORKS);
    bats_comm_unlock();
}

void bats_hub_refuse(struct bats_comm *comm, size_t i, const char *why)
{
    bats_comm_lock();
    refuse(hub_of(comm)->peers[i], why);
    bats_comm_unlock();
}

void bats_hub_cut(struct bats_comm *comm, int rank, const char *why)
{
    struct bats_peer *p = hub_of(comm)->seats[rank].peer;
    bats_comm_lock();
    if (p != NULL)
        refuse(p, why);
    bats_comm_unlock();
}

void bats_hub_drop(struct bats_comm *comm, size_t i)
{
    struct hub *h = hub_of(comm);
    struct bats_peer *p = h->peers[i];
    bats_comm_lock();
    for (uint32_t k = 0; p->admitted && k < p->n_ranks; k++)
        h->seats[p->rank[k]].peer = NULL;
    memmove(h->peers + i, h->peers + i + 1,
            (--h->n - i) * sizeof *h->peers);
    bats_comm_unlock();
    release(p);
}
