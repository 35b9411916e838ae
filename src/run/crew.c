#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/comm.h"
#include "run/crew.h"
#include "run/launcher.h"
#include "site/deaths.h"

#define GATHER_US 60000000 /* time for all ranks to say HELLO */

static void note_node(struct bats_crew *crew, size_t i,
                      const struct bats_node *node)
{
    struct bats_worker_rank *worker = &crew->ranks[i];
    crew->nodes[worker->rank] = *node;
    strcpy(worker->host, node->host);
    strcpy(worker->partition, node->partition);
}

static int missing(struct bats_crew *crew, struct bats_error *err)
{
    char ranks[200] = "";
    size_t n = 0;
    for (size_t i = 0; i < crew->n; i++)
        if (crew->workers[i].heard_us == 0 && n < sizeof ranks - 20)
            n += (size_t)sprintf(ranks + n, " %d", crew->ranks[i].rank);
    return bats_error_set(err, BATS_ESYS,
                          "no word for %d s from rank(s)%s: is the same "
                          "bats-mpi running there?",
                          GATHER_US / 1000000, ranks);
}

static int await_hellos(struct bats_crew *crew, struct bats_error *err)
{
    int64_t start_us = bats_clock_now_us();
    for (size_t n_here = 0; n_here < crew->n;) {
        size_t i;
        struct bats_message message;
        int rc = bats_crew_receive(crew, &i, &message, err);
        if (rc == 0) {
            if (bats_clock_now_us() - start_us > GATHER_US)
                return missing(crew, err);
            bats_clock_sleep(BATS_CLOCK_MIN_US);
            continue;
        }
        if (rc > 0 && message.type != BATS_MESSAGE_HELLO)
            rc = bats_error_set(err, BATS_EPROTO,
                                "rank %d did not say hello first",
                                crew->ranks[i].rank);
        if (rc < 0)
            return rc;
        note_node(crew, i, &message.u.hello.node);
        n_here++;
    }
    return 0;
}

/* Makes a crew whose workers have not been heard of. */
static int make(struct bats_crew *crew, struct bats_comm *comm,
                struct bats_error *err)
{
    size_t size = (size_t)comm->size;
    *crew = (struct bats_crew){
        .comm = comm,
        .ranks = calloc(size, sizeof *crew->ranks),
        .workers = calloc(size, sizeof *crew->workers),
        .nodes = calloc(size, sizeof *crew->nodes),
        .looked_us = bats_clock_now_us(),
    };
    if (crew->ranks == NULL || crew->workers == NULL || crew->nodes == NULL)
        return bats_no_memory(err);
    for (; crew->n < size - 1; crew->n++) {
        crew->ranks[crew->n].rank = (int)crew->n + 1;
        crew->workers[crew->n].pidfd = -1;
    }
    bats_node_look(&crew->nodes[0]);
    return 0;
}

static void note_process(struct bats_crew *crew, size_t i)
{
    int rank = crew->ranks[i].rank;
    const struct bats_node *node = &crew->nodes[rank];
    if (node->pid_space == 0 || node->pid_space != crew->nodes[0].pid_space)
        return;
    crew->workers[i].pidfd = pidfd_open((pid_t)node->pid, 0);
    bats_comm_set_process(crew->comm, rank, node->pid);
}

int bats_crew_gather(struct bats_crew *crew, struct bats_error *err)
{
    struct bats_comm *comm;
    *crew = (struct bats_crew){0};
    int rc = bats_comm_create(&comm, err);
    if (rc == 0)
        rc = make(crew, comm, err);
    if (rc < 0)
        return rc;
    rc = await_hellos(crew, err);
    if (rc < 0) {
        bats_comm_give_up(); /* a lost rank never ends by itself */
        for (size_t i = 0; i < crew->n; i++)
            if (crew->workers[i].heard_us == 0)
                crew->workers[i].state = BATS_WORKER_GONE;
        return rc;
    }
    bats_deaths_listen(comm->size);
    crew->looked_us = bats_clock_now_us();
    for (uint32_t i = 0; i < crew->n; i++) {
        crew->workers[i].heard_us = crew->looked_us; /* the silence was ours */
        crew->workers[i].stream = crew->ranks[i].rank;
        note_process(crew, i);
    }
    return 0;
}

int bats_crew_expect(struct bats_crew *crew, struct bats_comm *comm,
                     struct bats_error *err)
{
    int rc = make(crew, comm, err);
    for (size_t i = 0; rc == 0 && i < crew->n; i++)
        crew->workers[i].state = BATS_WORKER_ABSENT;
    return rc;
}

void bats_crew_join(struct bats_crew *crew, size_t i,
                    const struct bats_hello *hello)
{
    note_node(crew, i, &hello->node);
    crew->workers[i] = (struct bats_worker){.state = BATS_WORKER_WORKS,
                                            .pidfd = -1,
                                            .unwanted = BATS_NO_TASK,
                                            .stream = ++crew->n_joined,
                                            .heard_us = bats_clock_now_us()};
}

void bats_crew_leave(struct bats_crew *crew, size_t i)
{
    bats_text_release(&crew->workers[i].assign);
    crew->workers[i].state = BATS_WORKER_ABSENT;
}

void bats_crew_release(struct bats_crew *crew)
{
    for (size_t i = 0; i < crew->n; i++) {
        bats_text_release(&crew->workers[i].assign);
        if (crew->workers[i].pidfd >= 0)
            close(crew->workers[i].pidfd);
    }
    free(crew->ranks);
    free(crew->workers);
    free(crew->nodes);
    bats_comm_destroy(crew->comm);
    *crew = (struct bats_crew){0};
}

int bats_crew_assign(struct bats_crew *crew, size_t i,
                     const struct bats_assign *assign, struct bats_error *err)
{
    struct bats_text *packet = &crew->workers[i].assign;
    bats_proto_assign(packet, assign);
    return packet->failed ? bats_no_memory(err) : 0;
}

static int flush_one(struct bats_crew *crew, size_t i, struct bats_error *err)
{
    struct bats_worker *worker = &crew->workers[i];
    if (worker->assign.n == 0)
        return 0;
    if (worker->state == BATS_WORKER_WORKS)
        return bats_comm_send(crew->comm, crew->ranks[i].rank, &worker->assign,
                              false, err);
    bats_text_release(&worker->assign);
    return 0;
}

int bats_crew_say(struct bats_crew *crew, size_t i,
                  const struct bats_message *message, struct bats_error *err)
{
    struct bats_text packet = {0};
    int rc = flush_one(crew, i, err);
    if (rc < 0 || crew->workers[i].state != BATS_WORKER_WORKS)
        return rc;
    bats_proto_put(&packet, message);
    return bats_comm_send(crew->comm, crew->ranks[i].rank, &packet, false,
                          err);
}

int bats_crew_flush(struct bats_crew *crew, struct bats_error *err)
{
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < crew->n; i++)
        rc = flush_one(crew, i, err);
    return rc;
}

int bats_crew_receive(struct bats_crew *crew, size_t *i,
                      struct bats_message *message, struct bats_error *err)
{
    int from;
    const void *bytes;
    size_t n;
    int rc = bats_comm_receive(crew->comm, &from, &bytes, &n, err);
    if (rc <= 0)
        return rc;
    struct bats_error why;
    rc = bats_proto_open(bytes, n, message, &why);
    *i = (size_t)from - 1;
    if (rc < 0)
        return bats_error_set(err, rc, "rank %d: %s", from, why.text);
    crew->workers[*i].heard_us = bats_clock_now_us();
    if (message->type == BATS_MESSAGE_STOP)
        crew->workers[*i].state = BATS_WORKER_LEFT;
    return 1;
}

static bool has_ended(const struct bats_crew *crew, size_t i)
{
    struct pollfd fd = {.fd = crew->workers[i].pidfd, .events = POLLIN};
    return poll(&fd, 1, 0) > 0 || bats_deaths_known(crew->ranks[i].rank);
}

bool bats_crew_works(const struct bats_crew *crew)
{
    for (size_t i = 0; i < crew->n; i++)
        if (crew->workers[i].state == BATS_WORKER_WORKS)
            return true;
    return false;
}

static void tell_to_stop(struct bats_crew *crew, size_t i,
                         enum bats_leave leave)
{
    bats_comm_say(crew->comm, crew->ranks[i].rank,
                  BATS_SAY(BATS_MESSAGE_STOP, .u.leave = leave), NULL);
}

/* The rank must not continue with tasks that others have got since. It stays
 * until the run ends: without --enable-recovery, a rank that leaves early
 * takes the others with it. */
const char *bats_crew_give_up(struct bats_crew *crew, size_t i)
{
    bats_comm_give_up();
    crew->workers[i].state = BATS_WORKER_SILENT;
    tell_to_stop(crew, i, BATS_LEAVE_NOT);
    return "it has been silent for too long";
}

const char *bats_crew_lost(struct bats_crew *crew, size_t *i)
{
    int64_t now_us = bats_clock_now_us();
    int64_t gap_us = now_us - crew->looked_us;
    crew->looked_us = now_us;
    bats_deaths_ask();
    /* This process was suspended, or busy writing, and has not yet read the
     * messages of that time. */
    if (gap_us > 2 * bats_heart_beat_us(crew->silence_us))
        for (size_t k = 0; k < crew->n; k++)
            crew->workers[k].heard_us += gap_us;
    for (size_t k = 0; k < crew->n; k++) {
        struct bats_worker *worker = &crew->workers[k];
        if (worker->state != BATS_WORKER_WORKS)
            continue;
        bool ended = has_ended(crew, k);
        if (!ended && now_us - worker->heard_us <= crew->silence_us)
            continue;
        *i = k;
        if (!ended)
            return bats_crew_give_up(crew, k);
        bats_comm_give_up();
        worker->state = BATS_WORKER_GONE;
        return "its process has ended";
    }
    return NULL;
}

static bool is_lost(const struct bats_crew *crew, size_t i)
{
    return crew->workers[i].state == BATS_WORKER_GONE ||
           crew->workers[i].state == BATS_WORKER_SILENT;
}

bool bats_crew_lost_elsewhere(const struct bats_crew *crew)
{
    for (size_t i = 0; i < crew->n; i++)
        if (is_lost(crew, i) && crew->workers[i].pidfd < 0)
            return true;
    return false;
}

static size_t count_present(const struct bats_crew *crew)
{
    size_t n = 0;
    for (size_t i = 0; i < crew->n; i++)
        n += !is_lost(crew, i) && crew->workers[i].state != BATS_WORKER_LEFT &&
             crew->workers[i].state != BATS_WORKER_ABSENT &&
             !bats_comm_is_gone(crew->comm, crew->ranks[i].rank);
    return n;
}

void bats_crew_stop(struct bats_crew *crew)
{
    for (size_t i = 0; i < crew->n; i++)
        if (crew->workers[i].state == BATS_WORKER_WORKS)
            tell_to_stop(crew, i, BATS_LEAVE_NOT);
}

/* A silent rank that sleeps on cannot leave, and mpirun --enable-recovery does
 * not always end it. Without recovery, mpirun ends all ranks, but would return
 * 137 if one was killed. */
static void end_silent(struct bats_crew *crew)
{
    if (!bats_launcher_recovers())
        return;
    for (size_t i = 0; i < crew->n; i++) {
        int fd = crew->workers[i].pidfd;
        if (crew->workers[i].state == BATS_WORKER_SILENT && fd >= 0)
            pidfd_send_signal(fd, SIGKILL, NULL, 0);
    }
}

bool bats_crew_dismiss(struct bats_crew *crew, int64_t timeout_us)
{
    bats_heart_stop(); /* no message may follow the last one */
    enum bats_leave leave = BATS_LEAVE;
    for (size_t i = 0; i < crew->n; i++)
        if (is_lost(crew, i))
            leave = BATS_LEAVE_BROKEN;
    for (size_t i = 0; i < crew->n; i++)
        if (crew->workers[i].state != BATS_WORKER_GONE &&
            crew->workers[i].state != BATS_WORKER_ABSENT)
            tell_to_stop(crew, i, leave);
    int64_t since_us = bats_clock_now_us();
    size_t present, before = crew->n;
    end_silent(crew);
    while ((present = count_present(crew)) > 0) {
        size_t i;
        struct bats_message message;
        if (present < before)
            since_us = bats_clock_now_us();
        before = present;
        if (bats_crew_receive(crew, &i, &message, NULL) > 0) {
            if (bats_signals_count() == 0)
                since_us = bats_clock_now_us();
            continue;
        }
        if (bats_clock_now_us() - since_us > timeout_us) {
            bats_comm_give_up();
            return false;
        }
        bats_clock_sleep(BATS_CLOCK_MIN_US);
    }
    return true;
}
