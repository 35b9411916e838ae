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

#include "util/grow.h"
#include "util/now.h"

#define KNOCK_US 15000000 /* time to authenticate */
#define HELLO_US 60000000 /* time for all ranks of a job to say HELLO */
#define STRANGERS 256     /* most connections that are not authenticated */
#define AT_ONCE 16        /* strangers let in before others have their turn */
#define IN_A_ROW 32 /* messages of one job before the next has its turn */
#define BACKLOG 512

struct rank {
    struct bats_hub_job *job; /* NULL: free */
    uint32_t rank;            /* in its job */
};

struct hub {
    struct bats_comm base;
    const struct bats_joining *side; /* NULL: the workers were forked */
    int64_t silence_us;
    struct bats_door door;
    int door_fd;  /* of its file while it listens */
    int listener; /* -1: not listening */
    struct bats_hub_job **jobs;
    size_t n, room;
    size_t turn;        /* the job whose messages are taken now */
    unsigned in_a_row;  /* messages taken from it */
    struct rank *ranks; /* by rank */
    struct pollfd *fds;
    size_t fds_room;
    void (*ended)(void); /* called at the end of forked workers; else NULL */
    struct bats_text last_words;
};

static struct hub *hub_of(const struct bats_comm *comm)
{
    return (struct hub *)(uintptr_t)comm;
}

static void enter(struct bats_hub_job *job, enum bats_hub_state state)
{
    job->state = state;
    job->since_us = bats_now_us(CLOCK_MONOTONIC);
}

static void cut(struct bats_hub_job *job, const char *why)
{
    if (job->state == BATS_HUB_CUT || job->state == BATS_HUB_LEFT)
        return;
    snprintf(job->why, sizeof job->why, "%s", why);
    enter(job, BATS_HUB_CUT);
    bats_wire_close(&job->wire);
}

static void cut_broken(struct bats_hub_job *job)
{
    char why[160];
    if (errno == EKEYREJECTED)
        snprintf(why, sizeof why, "it does not have this run's secret");
    else if (errno == EBADMSG)
        snprintf(why, sizeof why,
                 "a message arrived that its gateway did not send");
    else
        snprintf(why, sizeof why, "the connection to its gateway %s%s",
                 errno == 0 ? "was closed" : "broke: ",
                 errno == 0 ? "" : strerror(errno));
    cut(job, why);
}

static void say(struct bats_hub_job *job, const struct bats_message *message)
{
    if (!bats_wire_say(&job->wire, message))
        cut(job, "out of memory for a message to it");
    else if (!bats_wire_flush(&job->wire))
        cut_broken(job);
}

/* The sentence fits the socket's buffer, unless the other side does not read.
 * Unread bytes are dropped first, else the kernel would drop the sentence. */
static void refuse(struct bats_hub_job *job, const char *why)
{
    char dropped[4096];
    say(job, BATS_SAY(BATS_MESSAGE_ERROR, .u.sentence = why));
    if (job->wire.fd >= 0) {
        shutdown(job->wire.fd, SHUT_WR);
        while (recv(job->wire.fd, dropped, sizeof dropped, MSG_DONTWAIT) > 0)
            ;
    }
    cut(job, why);
}

/* ---- authentication ---- */

static bool make_lists(struct bats_hub_job *job, uint32_t n)
{
    job->hellos = calloc(n, sizeof *job->hellos);
    job->said = calloc(n, sizeof *job->said);
    job->rank = calloc(n, sizeof *job->rank);
    bool ok = job->hellos != NULL && job->said != NULL && job->rank != NULL;
    job->n_ranks = ok ? n : 0;
    return ok;
}

/* A second connection with the number of this job replaces the first one,
 * which is broken even if that does not show yet. */
static void supersede(const struct hub *h, const struct bats_hub_job *job)
{
    for (size_t i = 0; i < h->n; i++)
        if (h->jobs[i] != job && h->jobs[i]->state >= BATS_HUB_GATHERS &&
            strcmp(h->jobs[i]->number, job->number) == 0)
            cut(h->jobs[i], "its gateway has connected again");
}

static void let_in(const struct hub *h, struct bats_hub_job *job,
                   const struct bats_knock *knock)
{
    snprintf(job->number, sizeof job->number, "%s", knock->job);
    if (knock->n_ranks == 0 || knock->n_ranks >= (uint32_t)h->base.size) {
        refuse(job, "it has more ranks than the run has room for");
    } else if (!make_lists(job, knock->n_ranks)) {
        refuse(job, "out of memory");
    } else {
        supersede(h, job);
        say(job,
            BATS_SAY(BATS_MESSAGE_WELCOME, .u.silence_us = h->silence_us));
        if (job->state == BATS_HUB_KNOCKS)
            enter(job, BATS_HUB_GATHERS);
    }
}

/* Keeps the message: the HELLO refers to its texts. */
static void take_hello(struct bats_hub_job *job, uint32_t rank,
                       const void *bytes, size_t n)
{
    struct bats_message message;
    struct bats_text *copy = &job->said[rank];
    bool is_first = copy->n == 0;
    if (is_first)
        bats_text_put(copy, bytes, n);
    if (!is_first) {
        refuse(job, "a rank of it said hello twice");
    } else if (copy->failed) {
        refuse(job, "out of memory");
    } else {
        bats_proto_open(copy->bytes, n, &message, NULL); /* it is valid */
        job->hellos[rank] = message.u.hello;
        if (++job->n_here == job->n_ranks)
            enter(job, BATS_HUB_WAITS);
    }
}

/* Takes a message of a job that has no ranks yet. */
static void take_early(const struct hub *h, struct bats_hub_job *job,
                       uint32_t rank, const void *bytes, size_t n)
{
    struct bats_message message;
    struct bats_error why;
    if (bats_proto_open(bytes, n, &message, &why) < 0)
        refuse(job, why.text);
    else if (job->state == BATS_HUB_KNOCKS && rank == 0 &&
             message.type == BATS_MESSAGE_KNOCK)
        let_in(h, job, &message.u.knock);
    else if (job->state == BATS_HUB_GATHERS && rank < job->n_ranks &&
             message.type == BATS_MESSAGE_HELLO)
        take_hello(job, rank, bytes, n);
    else if (job->state == BATS_HUB_KNOCKS ||
             message.type != BATS_MESSAGE_HEARTBEAT)
        refuse(job, "an unexpected message arrived");
}

/* ---- connections ---- */

static void release(struct bats_hub_job *job)
{
    bats_wire_close(&job->wire);
    for (uint32_t k = 0; k < job->n_ranks; k++)
        bats_text_release(&job->said[k]);
    free(job->said);
    free(job->hellos);
    free(job->rank);
    free(job);
}

static bool meet(struct hub *h, int fd)
{
    struct bats_hub_job *job = calloc(1, sizeof *job);
    if (job == NULL ||
        !bats_grow(&h->jobs, &h->room, h->n + 1, sizeof *h->jobs) ||
        !bats_wire_open(&job->wire, fd)) {
        free(job);
        return false;
    }
    if (h->side != NULL &&
        !bats_wire_secure(&job->wire, true, h->door.secret)) {
        job->wire.fd = -1; /* stays the caller's */
        release(job);
        return false;
    }
    enter(job, BATS_HUB_KNOCKS);
    h->jobs[h->n++] = job;
    return true;
}

/* If all places of strangers are taken, the one that has been here longest goes:
 * who has the secret needs its place for a moment only. */
static void make_room(struct hub *h)
{
    struct bats_hub_job *first = NULL;
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        if (h->jobs[i]->state == BATS_HUB_KNOCKS && n++ == 0)
            first = h->jobs[i];
    if (n >= STRANGERS)
        refuse(first, "it has not identified itself, and others wait");
}

static void meet_all(struct hub *h)
{
    for (int i = 0; i < AT_ONCE; i++) {
        int fd = accept4(h->listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0)
            return;
        make_room(h);
        if (!meet(h, fd))
            close(fd);
    }
}

static void look_for_late(struct hub *h)
{
    int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
    for (size_t i = 0; i < h->n; i++) {
        struct bats_hub_job *job = h->jobs[i];
        int64_t quiet_us = now_us - job->since_us;
        if (job->state == BATS_HUB_KNOCKS && quiet_us > KNOCK_US)
            refuse(job, "it takes too long to identify itself");
        if (job->state == BATS_HUB_GATHERS && quiet_us > HELLO_US)
            refuse(job, "not every rank of it said hello within a minute");
    }
}

/* Receives from jobs whose messages may be taken, and sends what can be sent.
 * Called when no complete message is left. Returns true if anything came. */
static bool exchange(struct hub *h)
{
    bool came = false;
    if (!bats_grow(&h->fds, &h->fds_room, h->n + 1, sizeof *h->fds))
        return false;
    h->fds[h->n] = (struct pollfd){.fd = h->listener, .events = POLLIN};
    for (size_t i = 0; i < h->n; i++) {
        const struct bats_hub_job *job = h->jobs[i];
        h->fds[i].fd = job->wire.fd;
        h->fds[i].events =
            (short)((job->state != BATS_HUB_WAITS ? POLLIN : 0) |
                    (bats_wire_unsent(&job->wire) > 0 ? POLLOUT : 0));
    }
    if (poll(h->fds, h->n + 1, 0) <= 0)
        return false;
    for (size_t i = 0; i < h->n; i++) {
        struct bats_hub_job *job = h->jobs[i];
        if (h->fds[i].revents & POLLOUT && !bats_wire_flush(&job->wire))
            bats_wire_drop(&job->wire);
        if (job->wire.fd < 0 || (h->fds[i].revents & ~POLLOUT) == 0)
            continue;
        int rc = bats_wire_fill(&job->wire);
        if (rc < 0)
            cut_broken(job);
        came |= rc > 0;
    }
    if (h->fds[h->n].revents != 0)
        meet_all(h);
    return came;
}

/* ---- the transport ---- */

/* Takes messages of one job. Returns 1 at the first one for the master. */
static int take_from(struct hub *h, struct bats_hub_job *job, int *from,
                     const void **bytes, size_t *n)
{
    uint32_t rank;
    while (job->wire.fd >= 0 && job->state != BATS_HUB_WAITS) {
        int rc = bats_wire_next(&job->wire, &rank, bytes, n);
        if (rc == 0)
            return 0;
        if (rc < 0) {
            refuse(job, "a message arrived that is too long");
        } else if (job->state < BATS_HUB_WAITS) {
            take_early(h, job, rank, *bytes, *n);
        } else if (rank >= job->n_ranks) {
            refuse(job, "a message arrived from a rank that it does not have");
        } else {
            *from = job->rank[rank];
            if (*n > 0 && *(const uint8_t *)*bytes == BATS_MESSAGE_STOP)
                job->n_left++;
            return 1;
        }
    }
    return 0;
}

static int tell_end(struct hub *h, struct bats_hub_job *job, int *from,
                    const void **bytes, size_t *n)
{
    job->is_told = true;
    bats_text_release(&h->last_words);
    bats_proto_put(
        &h->last_words,
        BATS_SAY(BATS_MESSAGE_ERROR, .u.sentence = "its process has ended"));
    *from = job->rank[0];
    *bytes = h->last_words.bytes;
    *n = h->last_words.n;
    return !h->last_words.failed;
}

static int take_turns(struct hub *h, int *from, const void **bytes, size_t *n)
{
    for (size_t k = 0; k <= h->n && h->n > 0; k++) {
        h->turn = h->turn < h->n ? h->turn : 0;
        struct bats_hub_job *job = h->jobs[h->turn];
        if (job->state == BATS_HUB_WORKS && job->n_left >= job->n_ranks) {
            enter(job, BATS_HUB_LEFT);
            bats_wire_close(&job->wire);
        }
        if (h->ended != NULL && job->state == BATS_HUB_CUT && !job->is_told)
            return tell_end(h, job, from, bytes, n);
        if (h->in_a_row < IN_A_ROW && take_from(h, job, from, bytes, n) > 0) {
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
    for (int i = 0; i < 2; i++) {
        if (take_turns(h, from, bytes, n) > 0)
            return 1;
        if (!exchange(h))
            break;
    }
    look_for_late(h);
    return take_turns(h, from, bytes, n);
}

/* Drops packets for a rank that has left. What a dead side has sent before can
 * still be read, and reading finds its end. */
static int hub_send(struct bats_comm *comm, int rank, struct bats_text *packet,
                    bool matched, struct bats_error *err)
{
    struct rank *to = &hub_of(comm)->ranks[rank];
    struct bats_hub_job *job = to->job;
    if (job != NULL && job->wire.fd >= 0) {
        if (!bats_wire_put(&job->wire, to->rank, packet->bytes, packet->n))
            cut(job, "out of memory for a message to it");
        else if (!bats_wire_flush(&job->wire))
            bats_wire_drop(&job->wire);
    }
    bats_text_release(packet);
    return 0;
}

/* Sends to the gateway, which has its own heart for its ranks. */
static void hub_repeat(struct bats_comm *comm, const struct bats_text *packet)
{
    struct hub *h = hub_of(comm);
    for (size_t i = 0; i < h->n; i++) {
        struct bats_hub_job *job = h->jobs[i];
        if (job->wire.fd >= 0 && job->state >= BATS_HUB_GATHERS &&
            bats_wire_unsent(&job->wire) == 0 &&
            bats_wire_put(&job->wire, 0, packet->bytes, packet->n))
            bats_wire_flush(&job->wire); /* the main thread sees what broke */
    }
}

static size_t hub_unsent(struct bats_comm *comm)
{
    struct hub *h = hub_of(comm);
    size_t n = 0;
    for (size_t i = 0; i < h->n; i++)
        n += bats_wire_unsent(&h->jobs[i]->wire) > 0;
    return n;
}

static bool hub_is_gone(const struct bats_comm *comm, int rank)
{
    const struct bats_hub_job *job = hub_of(comm)->ranks[rank].job;
    return job == NULL || job->wire.fd < 0;
}

static void stop_listening(struct hub *h)
{
    if (h->listener < 0)
        return;
    close(h->listener);
    h->listener = -1;
    bats_door_remove(h->side->file, h->door_fd);
}

static void hub_destroy(struct bats_comm *comm)
{
    struct hub *h = hub_of(comm);
    stop_listening(h);
    for (size_t i = 0; i < h->n; i++)
        release(h->jobs[i]);
    free(h->jobs);
    free(h->ranks);
    free(h->fds);
    bats_text_release(&h->last_words);
    if (h->ended != NULL)
        h->ended();
}

static const struct bats_transport by_hub = {
    .destroy = hub_destroy,
    .send = hub_send,
    .repeat = hub_repeat,
    .unsent = hub_unsent,
    .receive = hub_receive,
    .is_gone = hub_is_gone,
};

static struct hub *make(int size)
{
    struct hub *h = bats_comm_make(sizeof *h, &by_hub, 0, size);
    if (h == NULL)
        return NULL;
    h->base.is_stream = true;
    h->listener = -1;
    h->ranks = calloc((size_t)size, sizeof *h->ranks);
    if (h->ranks != NULL)
        return h;
    bats_comm_destroy(&h->base);
    return NULL;
}

int bats_hub_create(const struct bats_joining *side, uint32_t most_ranks,
                    int64_t silence_us, struct bats_comm **comm,
                    struct bats_error *err)
{
    struct rlimit limit;
    struct hub *h = make((int)most_ranks + 1);
    if (h == NULL)
        return bats_no_memory(err);
    h->side = side;
    h->silence_us = silence_us;
    int rc = bats_door_draw(&h->door, err);
    if (rc < 0) {
        bats_comm_destroy(&h->base);
        return rc;
    }
    /* The limit of descriptors is often 1,024 at first. */
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
    *comm = &h->base;
    return 0;
}

int bats_hub_forked(const int *fds, int n, void (*ended)(void),
                    struct bats_comm **comm, struct bats_error *err)
{
    struct hub *h = make(n + 1);
    if (h == NULL)
        return bats_no_memory(err);
    int rc = 0;
    h->ended = ended;
    for (int rank = 1; rc == 0 && rank <= n; rank++) {
        if (!meet(h, fds[rank - 1])) {
            rc = bats_error_set(err, BATS_ESYS, "rank %d: %s", rank,
                                strerror(errno));
            break;
        }
        struct bats_hub_job *job = h->jobs[h->n - 1];
        job->wire.limit = SIZE_MAX / 2; /* authenticated from the start */
        if (!make_lists(job, 1)) {
            rc = bats_no_memory(err);
            break;
        }
        job->rank[0] = rank;
        bats_hub_admit(&h->base, job);
    }
    if (rc < 0)
        bats_comm_destroy(&h->base);
    else
        *comm = &h->base;
    return rc;
}

/* ---- listening ---- */

/* Listens on all addresses: workers come by whatever network the name leads
 * to. Without IPv6 in the kernel, IPv4 alone; the port has the same place in
 * both kinds of address. -1: see errno. */
static int bind_to(int port, int *bound)
{
    static const sa_family_t families[] = {AF_INET6, AF_INET};
    int fd = -1, off = 0, on = 1;
    for (size_t i = 0; fd < 0 && i < 2; i++) {
        struct sockaddr_in6 at = {.sin6_family = families[i],
                                  .sin6_port = htons((uint16_t)port)};
        socklen_t size =
            families[i] == AF_INET6 ? sizeof at : sizeof(struct sockaddr_in);
        fd =
            socket(families[i], SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
            continue;
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (families[i] == AF_INET6)
            setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
        if (bind(fd, (struct sockaddr *)&at, size) == 0 &&
            listen(fd, BACKLOG) == 0 &&
            getsockname(fd, (struct sockaddr *)&at, &size) == 0) {
            *bound = ntohs(at.sin6_port);
            continue;
        }
        int why = errno;
        close(fd);
        errno = why;
        fd = -1;
    }
    return fd;
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
    if (h->side->host != NULL)
        snprintf(h->door.host, sizeof h->door.host, "%s", h->side->host);
    else if (gethostname(h->door.host, sizeof h->door.host) != 0)
        return bats_error_set(err, BATS_ESYS, "the name of this host: %s",
                              strerror(errno));
    int fd = bind_to(h->side->port, &h->door.port);
    if (fd < 0)
        return bats_refuse(err, "cannot listen for worker jobs on port %d: %s",
                           h->side->port, strerror(errno));
    int rc = bats_door_write(h->side->file, &h->door, &h->door_fd, err);
    if (rc < 0)
        close(fd);
    else
        h->listener = fd;
    return rc;
}

/* ---- for joined.c ---- */

struct bats_hub_job *bats_hub_job(const struct bats_comm *comm, size_t i)
{
    return i < hub_of(comm)->n ? hub_of(comm)->jobs[i] : NULL;
}

void bats_hub_admit(struct bats_comm *comm, struct bats_hub_job *job)
{
    bats_comm_lock();
    for (uint32_t k = 0; k < job->n_ranks; k++)
        hub_of(comm)->ranks[job->rank[k]] = (struct rank){job, k};
    job->admitted = true;
    enter(job, BATS_HUB_WORKS);
    bats_comm_unlock();
}

void bats_hub_refuse(struct bats_hub_job *job, const char *why)
{
    bats_comm_lock();
    refuse(job, why);
    bats_comm_unlock();
}

void bats_hub_cut(struct bats_comm *comm, int rank, const char *why)
{
    struct bats_hub_job *job = hub_of(comm)->ranks[rank].job;
    if (job != NULL)
        bats_hub_refuse(job, why);
}

void bats_hub_drop(struct bats_comm *comm, struct bats_hub_job *job)
{
    struct hub *h = hub_of(comm);
    size_t kept = 0;
    bats_comm_lock();
    for (uint32_t k = 0; job->admitted && k < job->n_ranks; k++)
        h->ranks[job->rank[k]].job = NULL;
    for (size_t i = 0; i < h->n; i++)
        if (h->jobs[i] != job)
            h->jobs[kept++] = h->jobs[i];
    h->n = kept;
    bats_comm_unlock();
    release(job);
}
