#include "run/hub.h"

#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/door.h"
#include "run/launcher.h"
#include "run/wire.h"

#define PATIENCE_US 30000000 /* time for the master to answer */
#define AGAIN_US 200000      /* between two attempts to connect */
/* unsent bytes at which the other ranks must wait */
#define PILE (1024 * 1024)
#define PIECE (64 * 1024) /* bytes that count as one unsent message */

struct gateway {
    struct bats_comm base;
    struct bats_comm *near; /* NULL without other ranks */
    const char *file, *job; /* NULL: rank 0 has forked this process */
    struct bats_wire wire;
    bool *is_new; /* by rank: it said HELLO to this master */
    int n_left;   /* other ranks that have said good-bye */
    bool leaving; /* the other ranks were told to leave */
    bool cut;     /* the master is gone */
};

static struct gateway *gateway_of(const struct bats_comm *comm)
{
    return (struct gateway *)(uintptr_t)comm;
}

/* ---- to the other ranks ---- */

static void hand_down(struct gateway *g, int rank, const void *bytes, size_t n)
{
    struct bats_text packet = {0};
    bats_text_put(&packet, bytes, n);
    if (packet.failed)
        return; /* the master will find the rank silent */
    g->near->via->send(g->near, rank, &packet, false, NULL);
}

static void tell_to_leave(struct gateway *g, enum bats_leave leave)
{
    for (int rank = 1; g->near != NULL && rank < g->base.size; rank++) {
        struct bats_text packet = {0};
        bats_proto_put(&packet, BATS_SAY(BATS_MESSAGE_STOP, .u.leave = leave));
        g->near->via->send(g->near, rank, &packet, false, NULL);
    }
    g->leaving = leave == BATS_LEAVE_CUT;
}

/* ---- to the master ---- */

/* The stream broke. That is no error once all ranks were told to leave: the
 * master may then close it. */
static int broken(struct gateway *g, struct bats_error *err)
{
    g->cut = true;
    if (g->leaving)
        return 0;
    if (g->file == NULL)
        return bats_error_set(err, BATS_ESYS, "rank 0 has died");
    if (errno == EKEYREJECTED)
        return bats_refuse(err,
                           "this is not the master: it has another secret");
    if (errno == EBADMSG)
        return bats_error_set(err, BATS_EPROTO,
                              "the master did not send what arrived");
    return bats_error_set(err, BATS_ESYS, "the connection to the master %s%s",
                          errno == 0 ? "was closed" : "broke: ",
                          errno == 0 ? "" : strerror(errno));
}

static int hand_up(struct gateway *g, int rank, const void *bytes, size_t n,
                   struct bats_error *err)
{
    if (g->cut)
        return 0;
    if (!bats_wire_put(&g->wire, (uint32_t)rank, bytes, n))
        return bats_no_memory(err);
    return bats_wire_flush(&g->wire) ? 0 : broken(g, err);
}

static int relay_up(struct gateway *g, struct bats_error *err)
{
    int rank, rc = 0;
    const void *bytes;
    size_t n;
    while (g->near != NULL && bats_wire_unsent(&g->wire) < PILE) {
        int got = g->near->via->receive(g->near, &rank, &bytes, &n, err);
        if (got <= 0)
            return got < 0 ? got : rc;
        if (n > 0 && *(const uint8_t *)bytes == BATS_MESSAGE_STOP)
            g->n_left++;
        if (n > 0 && *(const uint8_t *)bytes == BATS_MESSAGE_HELLO)
            g->is_new[rank] = true;
        /* Drops messages from before the rank's next HELLO: they are for the
         * last master. */
        if (g->is_new[rank] && (rc = hand_up(g, rank, bytes, n, err)) < 0)
            return rc;
    }
    return rc;
}

/* ---- the transport ---- */

static bool is_leave(const void *bytes, size_t n)
{
    struct bats_message message;
    return *(const uint8_t *)bytes == BATS_MESSAGE_STOP &&
           bats_proto_open(bytes, n, &message, NULL) == 0 &&
           message.u.leave != BATS_LEAVE_NOT;
}

/* Takes a frame. Returns 1 if it is for this rank; others are passed on. */
static int take_down(struct gateway *g, const void **bytes, size_t *n)
{
    uint32_t rank;
    int rc;
    while ((rc = bats_wire_next(&g->wire, &rank, bytes, n)) > 0) {
        if (rank >= (uint32_t)g->base.size)
            return -1;
        g->leaving |= *n > 0 && is_leave(*bytes, *n);
        if (rank == 0)
            return 1;
        hand_down(g, (int)rank, *bytes, *n);
    }
    return rc;
}

static int gateway_receive(struct bats_comm *comm, int *from,
                           const void **bytes, size_t *n,
                           struct bats_error *err)
{
    struct gateway *g = gateway_of(comm);
    int rc = relay_up(g, err);
    if (g->cut && g->file == NULL)
        return broken(g, err);
    if (rc < 0 || g->cut)
        return rc;
    if (!bats_wire_flush(&g->wire))
        return broken(g, err);
    *from = 0; /* the master, for a worker */
    for (int i = 0; i < 2; i++) {
        rc = take_down(g, bytes, n);
        if (rc > 0)
            return 1;
        if (rc < 0) {
            g->cut = true;
            return bats_error_set(err, BATS_EPROTO,
                                  "the master sent a malformed message");
        }
        if (i == 0 && (rc = bats_wire_fill(&g->wire)) <= 0)
            return rc < 0 ? broken(g, err) : 0;
    }
    return 0;
}

static int gateway_send(struct bats_comm *comm, int rank,
                        struct bats_text *packet, bool matched,
                        struct bats_error *err)
{
    int rc = hand_up(gateway_of(comm), 0, packet->bytes, packet->n, err);
    bats_text_release(packet);
    return rc;
}

/* Called by the heart of this job. */
static void gateway_repeat(struct bats_comm *comm,
                           const struct bats_text *packet)
{
    struct gateway *g = gateway_of(comm);
    if (g->near != NULL && !g->leaving)
        g->near->via->repeat(g->near, packet);
}

static bool gateway_repeated(struct bats_comm *comm)
{
    struct gateway *g = gateway_of(comm);
    return g->near == NULL || g->near->via->repeated(g->near);
}

/* The gateway stays until the other ranks have left. */
static size_t gateway_unsent(struct bats_comm *comm)
{
    struct gateway *g = gateway_of(comm);
    size_t bytes = g->cut ? 0 : bats_wire_unsent(&g->wire);
    size_t n = (bytes + PIECE - 1) / PIECE;
    if (g->near == NULL)
        return n;
    if (g->leaving && g->n_left < g->base.size - 1)
        n++;
    return n + g->near->via->unsent(g->near);
}

static void gateway_disband(struct bats_comm *comm, enum bats_leave leave)
{
    struct gateway *g = gateway_of(comm);
    g->cut = true;
    tell_to_leave(g, leave);
    memset(g->is_new, 0, (size_t)comm->size * sizeof *g->is_new);
}

static bool gateway_is_gone(const struct bats_comm *comm, int rank)
{
    const struct gateway *g = gateway_of(comm);
    return rank == 0 && g->cut && !g->leaving;
}

static void gateway_destroy(struct bats_comm *comm)
{
    struct gateway *g = gateway_of(comm);
    bats_wire_close(&g->wire);
    free(g->is_new);
    bats_comm_destroy(g->near);
}

static const struct bats_transport by_gateway = {
    .destroy = gateway_destroy,
    .send = gateway_send,
    .repeat = gateway_repeat,
    .repeated = gateway_repeated,
    .unsent = gateway_unsent,
    .receive = gateway_receive,
    .is_gone = gateway_is_gone,
    .disband = gateway_disband,
};

/* ---- joining ---- */

static int connect_once(const struct bats_door *door, struct bats_error *err)
{
    char port[16];
    struct addrinfo hints = {.ai_socktype = SOCK_STREAM}, *list;
    snprintf(port, sizeof port, "%d", door->port);
    int code = getaddrinfo(door->host, port, &hints, &list);
    if (code != 0)
        return bats_error_set(err, BATS_ESYS, "%s: %s", door->host,
                              gai_strerror(code));
    int fd = -1;
    for (struct addrinfo *a = list; a != NULL && fd < 0; a = a->ai_next) {
        fd = socket(a->ai_family, a->ai_socktype | SOCK_CLOEXEC, 0);
        if (fd >= 0 && connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
            int why = errno;
            close(fd);
            errno = why;
            fd = -1;
        }
    }
    freeaddrinfo(list);
    return fd >= 0 ? fd
                   : bats_error_set(err, BATS_ESYS, "%s port %s: %s",
                                    door->host, port, strerror(errno));
}

static int reach(const char *file, int64_t until_us, struct bats_door *door,
                 struct bats_error *err)
{
    for (;;) {
        int rc = bats_door_read(file, door, err);
        int fd = rc == 0 ? connect_once(door, err) : rc;
        if (rc < 0 || fd >= 0 || bats_clock_now_us() > until_us ||
            bats_signals_count() > 0)
            return fd;
        bats_clock_sleep(AGAIN_US);
    }
}

/* Waits for a message of this type; its texts are valid until the next one. */
static int await(struct gateway *g, enum bats_message_type type,
                 int64_t until_us, struct bats_message *message,
                 struct bats_error *err)
{
    uint32_t rank;
    const void *bytes;
    size_t n;
    int rc;
    while ((rc = bats_wire_next(&g->wire, &rank, &bytes, &n)) == 0) {
        struct pollfd fd = {.fd = g->wire.fd, .events = POLLIN};
        int64_t left_us = until_us - bats_clock_now_us();
        if (left_us <= 0 || bats_signals_count() > 0)
            return bats_error_set(err, BATS_ESYS,
                                  "the master does not answer");
        poll(&fd, 1, (int)(left_us / 1000) + 1);
        if (bats_wire_fill(&g->wire) < 0 || !bats_wire_flush(&g->wire))
            return broken(g, err);
    }
    if (rc < 0)
        return bats_error_set(err, BATS_EPROTO,
                              "this is not the port of a master");
    rc = bats_proto_open(bytes, n, message, err);
    if (rc == 0 && message->type == BATS_MESSAGE_ERROR)
        return bats_refuse(err, "the master refuses this job: %.400s",
                           message->u.sentence);
    if (rc == 0 && message->type != type)
        return bats_error_set(err, BATS_EPROTO,
                              "the master sent a message of type %d",
                              (int)message->type);
    return rc;
}

/* The KNOCK goes by TLS: only the master can read it. */
static int enter(struct gateway *g, const uint8_t secret[BATS_TLS_KEY],
                 int64_t until_us, struct bats_message *welcome,
                 struct bats_error *err)
{
    const struct bats_knock knock = {(uint32_t)g->base.size, g->job};
    if (!bats_wire_secure(&g->wire, false, secret) ||
        !bats_wire_say(&g->wire,
                       BATS_SAY(BATS_MESSAGE_KNOCK, .u.knock = knock)))
        return bats_no_memory(err);
    return bats_wire_flush(&g->wire)
               ? await(g, BATS_MESSAGE_WELCOME, until_us, welcome, err)
               : broken(g, err);
}

static int join(struct gateway *g, int64_t until_us, int64_t *silence_us,
                struct bats_error *err)
{
    struct bats_door door;
    struct bats_message message;
    int fd = reach(g->file, until_us, &door, err);
    if (fd < 0)
        return fd;
    until_us = bats_clock_now_us() + PATIENCE_US;
    if (!bats_wire_open(&g->wire, fd)) {
        close(fd);
        return bats_error_set(err, BATS_ESYS, "the connection: %s",
                              strerror(errno));
    }
    int rc = enter(g, door.secret, until_us, &message, err);
    if (rc < 0)
        return rc;
    *silence_us = message.u.silence_us;
    return 0;
}

/* Takes over `near`. NULL: out of memory. */
static struct gateway *make(struct bats_comm *near, int rank, int size)
{
    struct gateway *g = bats_comm_make(sizeof *g, &by_gateway, rank, size);
    if (g == NULL) {
        bats_comm_destroy(near);
        return NULL;
    }
    g->near = near;
    g->base.is_stream = near == NULL;
    g->wire.fd = -1;
    g->is_new = calloc((size_t)size, sizeof *g->is_new);
    if (g->is_new != NULL)
        return g;
    bats_comm_destroy(&g->base);
    return NULL;
}

int bats_gateway_child(int fd, int rank, int size, struct bats_comm **comm,
                       struct bats_error *err)
{
    struct gateway *g = make(NULL, rank, size);
    if (g == NULL)
        return bats_no_memory(err);
    if (!bats_wire_open(&g->wire, fd)) {
        bats_comm_destroy(&g->base);
        return bats_error_set(err, BATS_ESYS, "the stream to rank 0: %s",
                              strerror(errno));
    }
    g->wire.limit = SIZE_MAX / 2; /* authenticated from the start */
    *comm = &g->base;
    return 0;
}

int bats_gateway_create(const char *file, const char *job,
                        struct bats_comm *near, struct bats_comm **comm,
                        int64_t *silence_us, struct bats_error *err)
{
    struct gateway *g = make(near, 0, near != NULL ? near->size : 1);
    *comm = NULL;
    if (g == NULL)
        return bats_no_memory(err);
    g->file = file;
    g->job = job;
    *comm = &g->base;
    return join(g, bats_clock_now_us() + PATIENCE_US, silence_us, err);
}

int bats_gateway_return(struct bats_comm *comm, int64_t until_us,
                        void (*pause)(void *context, int64_t us),
                        void *context, int64_t *silence_us,
                        struct bats_error *err)
{
    struct gateway *g = gateway_of(comm);
    for (;;) {
        bats_wire_close(&g->wire);
        g->cut = false;
        int rc = join(g, 0, silence_us, err);
        g->cut = rc < 0;
        /* A master that refuses the job will not change its mind. Until it has
         * written the file anew, that may be missing. */
        bool is_refused = rc == BATS_EINPUT && g->wire.fd >= 0;
        if (rc == 0 || is_refused || bats_clock_now_us() > until_us ||
            bats_signals_count() > 0)
            return rc;
        pause(context, AGAIN_US);
    }
}
