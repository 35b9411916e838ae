/* forked: a run without a launcher (run.h). */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
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
#include "run/hub.h"
#include "run/run.h"
#include "site/hardware.h"

#define FDS 2          /* descriptors per worker: its stream and its pidfd */
#define OTHER_FDS 64   /* descriptors this process needs besides */
#define END_US 3000000 /* time for workers to end before they are killed */

/* One per process, like MPI. bats_forked_start sets it, create() uses it. */
static struct {
    int rank, size;
    int *fds;    /* rank 0: by rank; a worker: of rank 0 at [0] */
    pid_t *pids; /* rank 0: by rank */
} family;

/* Waits for the workers, which were told to leave or find their stream
 * closed. */
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

static void end(void)
{
    await_workers();
    free(family.fds);
    free(family.pids);
}

static int create(struct bats_comm **comm, struct bats_error *err)
{
    return family.rank == 0 ? bats_hub_forked(family.fds + 1, family.size - 1,
                                              end, comm, err)
                            : bats_gateway_child(family.fds[0], family.rank,
                                                 family.size, comm, err);
}

/* ---- the start ---- */

/* Only rank 0 has standard input and this standard output. */
static void become_worker(int rank, int stream)
{
    char name[24]; /* ps shows 15 bytes of it */
    snprintf(name, sizeof name, "bats-mpi %d", rank);
    prctl(PR_SET_NAME, name);
    setpgid(0, 0);
    for (int other = 1; other < rank; other++)
        close(family.fds[other]); /* else their workers never read its end */
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (null >= 0) {
        dup2(null, 0);
        dup2(null, 1);
        close(null);
    }
    family.rank = rank;
    family.fds[0] = stream;
}

static int fail(int rank, uint32_t n, struct bats_error *err)
{
    int code = errno;
    for (int other = 1; other < rank; other++) {
        kill(family.pids[other], SIGKILL); /* it has no task yet */
        close(family.fds[other]);
    }
    family.size = rank;
    await_workers();
    return bats_refuse(err, "worker %d of %" PRIu32 " cannot be started: %s%s",
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
    return bats_refuse(err,
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
        return bats_no_memory(err);
    int rc = check_files(n_workers, &files, err);
    struct bats_hardware shared;
    bats_hardware_look(&shared); /* slow initialisation, done once before
                                  * forking */
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
    bats_comm_go((struct bats_way){.create = create});
    return rc;
}
