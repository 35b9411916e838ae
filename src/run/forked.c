#include "run/forked.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/transport.h"
#include "run/wire.h"
#include "site/hardware.h"

#define PIECE (64 * 1024) /* counts as one message that is not sent */
#define FDS 2             /* of a worker here: its stream, and its pidfd */
#define OTHER_FDS 64      /* of this process */
#define IN_A_ROW 32       /* messages of one worker before the next's turn */
#define END_US 3000000    /* for the workers to end; then they are killed */

/* One per process, like MPI: what bats_forked_start leaves for create(). */
static struct {
    int rank, size;
    int *fds;    /* rank 0: by rank; a worker: of rank 0 at [0] */
    pid_t *pids; /* rank 0: by rank */
} family;

struct forked {
    struct bats_comm base;
    struct bats_wire *wires; /* of the other side: by rank; fd -1: gone */
    struct pollfd *polled;   /* by rank */
    bool *told;              /* by rank: the master knows that it is gone */
    int turn, in_a_row;      /* whose messages are taken, and how many were */
    struct bats_packet last_words;
};

static struct forked *forked_of(const struct bats_comm *comm)
{
    return (struct forked *)(uintptr_t)comm;
}

/* ---- the transport ---- */

static int first_of(const struct forked *f)
{
    return f->base.rank == 0 ? 1 : 0;
}

static int end_of(const struct forked *f)
{
    return f->base.rank == 0 ? f->base.size : 1;
}

/* If the other side is dead, what it has sent before can still be read; reading
 * finds the end. */
static int forked_send(struct bats_comm *comm, int rank,
                       struct bats_packet *packet, bool matched,
                       struct bats_error *err)
{
    struct bats_wire *wire = &forked_of(comm)->wires[rank];
    (void)matched;
    bool fits =
        wire->fd < 0 || bats_wire_put(wire, 0, packet->bytes, packet->n);
    bats_packet_release(packet);
    if (!fits)
        return bats_error_set(err, BATS_ENOMEM, "out of memory for a message");
    if (wire->fd >= 0 && !bats_wire_flush(wire))
        wire->out_at = wire->out_end = 0;
    return 0;
}

static size_t forked_unsent(struct bats_comm *comm)
{
    struct forked *f = forked_of(comm);
    size_t n = 0;
    for (int rank = first_of(f); rank < end_of(f); rank++) {
        struct bats_wire *wire = &f->wires[rank];
        if (wire->fd >= 0 && bats_wire_unsent(wire) > 0 &&
            !bats_wire_flush(wire))
            wire->out_at = wire->out_end = 0;
        n += wire->fd < 0 ? 0 : (bats_wire_unsent(wire) + PIECE - 1) / PIECE;
    }
    return n;
}

/* Receives what is there, from everybody of whom nothing whole is left. */
static bool fill(struct forked *f)
{
    int first = first_of(f), n = end_of(f) - first;
    bool came = false;
    for (int i = 0; i < n; i++)
        f->polled[i] =
            (struct pollfd){.fd = f->wires[first + i].fd, .events = POLLIN};
    if (poll(f->polled, (nfds_t)n, 0) <= 0)
        return false;
    for (int i = 0; i < n; i++) {
        if (f->polled[i].revents == 0)
            continue;
        came = true;
        if (bats_wire_fill(&f->wires[first + i]) < 0)
            bats_wire_close(&f->wires[first + i]);
    }
    return came;
}

/* The end of a stream is a message, too: the last one. */
static int tell_end(struct forked *f, int rank, int *from, const void **bytes,
                    size_t *n, struct bats_error *err)
{
    f->told[rank] = true;
    if (f->base.rank != 0)
        return bats_error_set(err, BATS_ESYS, "rank 0 has died");
    bats_packet_release(&f->last_words);
    bats_proto_error(&f->last_words, "its process has ended");
    if (f->last_words.failed)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    *from = rank;
    *bytes = f->last_words.bytes;
    *n = f->last_words.n;
    return 1;
}

static int take(struct forked *f, int *from, const void **bytes, size_t *n,
                struct bats_error *err)
{
    int first = first_of(f), end = end_of(f);
    for (int k = first; k <= end; k++) {
        uint32_t unused;
        struct bats_wire *wire = &f->wires[f->turn];
        if (wire->fd < 0 && !f->told[f->turn])
            return tell_end(f, f->turn, from, bytes, n, err);
        if (wire->fd >= 0 && f->in_a_row < IN_A_ROW &&
            bats_wire_next(wire, &unused, bytes, n) > 0) {
            *from = f->turn;
            f->in_a_row++;
            return 1;
        }
        f->turn = f->turn + 1 < end ? f->turn + 1 : first;
        f->in_a_row = 0;
    }
    return 0;
}

static int forked_receive(struct bats_comm *comm, int *from,
                          const void **bytes, size_t *n,
                          struct bats_error *err)
{
    struct forked *f = forked_of(comm);
    if (end_of(f) == first_of(f))
        return 0;
    int rc = take(f, from, bytes, n, err);
    return rc == 0 && fill(f) ? take(f, from, bytes, n, err) : rc;
}

static bool forked_woken(const struct bats_comm *comm)
{
    (void)comm;
    return true;
}

static bool forked_is_gone(const struct bats_comm *comm, int rank)
{
    return forked_of(comm)->wires[rank].fd < 0;
}

/* The workers have been told to leave, or now read the end of their stream. */
static void await_workers(void)
{
    int64_t until_us = bats_clock_now_us() + END_US;
    for (int rank = 1; rank < family.size; rank++) {
        pid_t ended;
        while ((ended = waitpid(family.pids[rank], NULL, WNOHANG)) == 0 &&
               bats_clock_now_us() < until_us)
            bats_clock_sleep(BATS_CLOCK_MIN_US);
        if (ended == 0 && kill(family.pids[rank], SIGKILL) == 0)
            waitpid(family.pids[rank], NULL, 0);
    }
}

static void forked_destroy(struct bats_comm *comm)
{
    struct forked *f = forked_of(comm);
    for (int rank = first_of(f); f->wires != NULL && rank < end_of(f); rank++)
        bats_wire_close(&f->wires[rank]);
    if (comm->rank == 0)
        await_workers();
    free(f->wires);
    free(f->polled);
    free(f->told);
    bats_packet_release(&f->last_words);
    free(family.fds);
    free(family.pids);
}

static const struct bats_transport by_stream = {
    .destroy = forked_destroy,
    .send = forked_send,
    .unsent = forked_unsent,
    .receive = forked_receive,
    .woken = forked_woken,
    .is_gone = forked_is_gone,
};

static int create(struct bats_comm **comm, struct bats_error *err)
{
    struct forked *f = calloc(1, sizeof *f);
    size_t size = (size_t)family.size;
    if (f == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int rc =
        bats_comm_init(&f->base, &by_stream, family.rank, family.size, err);
    f->wires = calloc(size, sizeof *f->wires);
    f->polled = calloc(size, sizeof *f->polled);
    f->told = calloc(size, sizeof *f->told);
    f->turn = first_of(f);
    if (rc == 0 && (f->wires == NULL || f->polled == NULL || f->told == NULL))
        rc = bats_error_set(err, BATS_ENOMEM, "out of memory");
    for (int rank = first_of(f); rc == 0 && rank < end_of(f); rank++) {
        if (!bats_wire_open(&f->wires[rank], family.fds[rank]))
            rc = bats_error_set(err, BATS_ESYS, "rank %d: %s", rank,
                                strerror(errno));
        f->wires[rank].limit = SIZE_MAX / 2; /* a friend from the start */
    }
    if (rc < 0)
        bats_comm_destroy(&f->base);
    else
        *comm = &f->base;
    return rc;
}

/* ---- the start ---- */

/* Standard output is that of rank 0 alone, which also reads standard input. */
static void become_worker(int rank, int stream)
{
    char name[24]; /* for ps, which shows 15 of it */
    snprintf(name, sizeof name, "bats-mpi %d", rank);
    prctl(PR_SET_NAME, name);
    setpgid(0, 0);
    for (int other = 1; other < rank; other++)
        close(family.fds[other]); /* or their workers never read its end */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        close(null);
    }
    family.rank = rank;
    family.fds[0] = stream;
}

/* Leaves nobody behind. */
static int fail(int rank, uint32_t n, struct bats_error *err)
{
    int code = errno;
    for (int other = 1; other < rank; other++) {
        kill(family.pids[other], SIGKILL); /* it has not begun anything */
        close(family.fds[other]);
    }
    family.size = rank;
    await_workers();
    return bats_error_set(err, BATS_EINPUT,
                          "worker %d of %" PRIu32 " cannot be started: %s%s",
                          rank, n, strerror(code),
                          code == EAGAIN ? " (the limit of processes, see "
                                           "ulimit -u)"
                                         : "");
}

static int check_files(uint32_t n, struct rlimit *files,
                       struct bats_error *err)
{
    rlim_t needed = OTHER_FDS + (rlim_t)n * FDS;
    if (getrlimit(RLIMIT_NOFILE, files) != 0 || files->rlim_cur >= needed)
        return 0;
    struct rlimit more = {needed, files->rlim_max};
    if (needed <= files->rlim_max && setrlimit(RLIMIT_NOFILE, &more) == 0)
        return 0;
    return bats_error_set(err, BATS_EINPUT,
                          "%" PRIu32 " workers need %ju open files, and the "
                          "limit is %ju (ulimit -n)",
                          n, (uintmax_t)needed, (uintmax_t)files->rlim_max);
}

int bats_forked_start(uint32_t n_workers, int *rank, struct bats_error *err)
{
    struct rlimit files;
    family.fds = calloc((size_t)n_workers + 1, sizeof *family.fds);
    family.pids = calloc((size_t)n_workers + 1, sizeof *family.pids);
    if (family.fds == NULL || family.pids == NULL)
        return bats_error_set(err, BATS_ENOMEM, "out of memory");
    int rc = check_files(n_workers, &files, err);
    struct bats_hardware shared;
    bats_hardware_look(&shared); /* what takes time is done once for all */
    for (int i = 1; rc == 0 && i <= (int)n_workers && family.rank == 0; i++) {
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
            return fail(i, n_workers, err);
        family.pids[i] = fork();
        if (family.pids[i] < 0) {
            int code = errno;
            close(pair[0]);
            close(pair[1]);
            errno = code;
            return fail(i, n_workers, err);
        }
        family.fds[i] = pair[0];
        close(pair[family.pids[i] > 0 ? 1 : 0]);
        if (family.pids[i] == 0) {
            setrlimit(RLIMIT_NOFILE, &files);
            become_worker(i, pair[1]);
        }
    }
    family.size = (int)n_workers + 1;
    *rank = family.rank;
    bats_comm_set(false, NULL, create);
    return rc;
}
