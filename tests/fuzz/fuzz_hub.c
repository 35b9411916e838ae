/*
 * fuzz_hub: what may come over the connection of a gateway, from a stranger or
 * from a job that has been let in. Whatever it says, the hub gives out only
 * messages from the job's own ranks, and when the connection has ended, so has
 * the job.
 *
 * The first byte of the input says how far the gateway gets in order: to the
 * port, through the door, or to its ranks. Then come its words, each by a byte
 * for its kind: a HELLO or another message as it should be, a frame with bytes
 * of the input as a message, or bytes of the input without a frame.
 */
#include <arpa/inet.h>
#include <unistd.h>

#include "fuzz.h"
#include "proto/proto.h"
#include "run/door.h"
#include "run/hub.h"

#define MOST 7
#define RANKS 3

static struct bats_comm *comm;
static struct bats_door door;
static struct bats_wire wire; /* of the gateway */

struct input {
    const uint8_t *at;
    size_t n;
};

static uint8_t take(struct input *in)
{
    if (in->n == 0)
        return 0;
    in->n--;
    return *in->at++;
}

static void put_frame(uint32_t rank, const void *bytes, size_t n)
{
    must(bats_wire_put(&wire, rank, bytes, n));
    bats_wire_flush(&wire);
}

static void put_message(uint32_t rank, const struct bats_message *message)
{
    struct bats_text packet = {0};
    bats_proto_put(&packet, message);
    put_frame(rank, packet.bytes, packet.n);
    bats_text_release(&packet);
}

/* Takes all messages; those that wait get ranks. */
static void work(void)
{
    const void *bytes;
    size_t n;
    int from;
    for (int turn = 0; turn < 2; turn++) {
        while (bats_comm_receive(comm, &from, &bytes, &n, NULL) > 0) {
            struct bats_message message;
            must(from >= 1 && from <= MOST);
            bats_proto_open(bytes, n, &message, NULL);
        }
        struct bats_hub_job *job = bats_hub_job(comm, 0);
        if (job != NULL && job->state == BATS_HUB_WAITS) {
            for (uint32_t k = 0; k < job->n_ranks; k++)
                job->rank[k] = (int)k + 1;
            bats_hub_admit(comm, job);
        }
    }
}

/* The next message for the gateway has to be this one. */
static void hear(enum bats_message_type type)
{
    uint32_t rank;
    const void *bytes;
    size_t n;
    struct bats_message message;
    int rc = 0;
    for (int turn = 0; turn < 9 && rc == 0; turn++) {
        work();
        must(bats_wire_fill(&wire) >= 0 && bats_wire_flush(&wire));
        rc = bats_wire_next(&wire, &rank, &bytes, &n);
    }
    must(rc > 0 && bats_proto_open(bytes, n, &message, NULL) == 0 &&
         message.type == type);
}

static void come_in(void)
{
    struct bats_knock knock = {RANKS, "4711"};
    must(bats_wire_secure(&wire, false, door.secret));
    put_message(0, BATS_SAY(BATS_MESSAGE_KNOCK, .u.knock = knock));
    hear(BATS_MESSAGE_WELCOME);
}

/* With what the rank says are results of an earlier session, n bytes. */
static void say_hello(uint32_t rank, const void *results, size_t n)
{
    struct bats_hello hello = {.node = {.host = "node1", .partition = "fast"},
                               .kept_run = n > 0 ? "run" : "",
                               .results = results,
                               .n_results = n};
    put_message(rank, BATS_SAY(BATS_MESSAGE_HELLO, .u.hello = hello));
}

static void say(struct input *in)
{
    uint8_t kind = take(in), rank = take(in), n = take(in), bytes[256];
    for (size_t i = 0; i < n; i++)
        bytes[i] = take(in);
    if (kind % 4 == 0 || kind % 4 == 3)
        bytes[1] = BATS_PROTO_VERSION;
    if (kind % 4 == 0)
        say_hello(rank, bytes, n);
    else if (kind % 4 == 1)
        put_message(rank, n % 2 == 0 ? BATS_SAY(BATS_MESSAGE_HEARTBEAT)
                                     : BATS_SAY(BATS_MESSAGE_STOP,
                                                .u.leave = BATS_LEAVE));
    else if (kind % 4 == 2)
        (void)!bats_wire_send(&wire, bytes, n); /* the hub may have hung up */
    else
        put_frame(rank, bytes, n);
}

static void begin(void)
{
    static char file[] = "/tmp/fuzz_hub.XXXXXX";
    static const struct bats_joining side = {.file = file, .host = "here"};
    must(close(mkstemp(file)) == 0 && unlink(file) == 0);
    must(bats_hub_create(&side, MOST, 60000000, &comm, NULL) == 0 &&
         bats_hub_listen(comm, true, NULL) == 0 &&
         bats_door_read(file, &door, NULL) == 0 && unlink(file) == 0);
}

/* Connects, so that the end is a reset: no port has to wait. */
static void knock(void)
{
    static const struct linger now = {.l_onoff = 1};
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)door.port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    must(setsockopt(fd, SOL_SOCKET, SO_LINGER, &now, sizeof now) == 0 &&
         connect(fd, (const struct sockaddr *)&to, sizeof to) == 0 &&
         bats_wire_open(&wire, fd));
    work();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = {data, n};
    if (comm == NULL)
        begin();
    knock();
    uint8_t how_far = take(&in) % 3;
    if (how_far > 0)
        come_in();
    for (uint32_t rank = 0; how_far > 1 && rank < RANKS; rank++)
        say_hello(rank, NULL, 0);
    for (work(); in.n > 0; work())
        say(&in);
    bats_wire_close(&wire);
    work();
    struct bats_hub_job *job = bats_hub_job(comm, 0);
    must(job != NULL && job->state >= BATS_HUB_LEFT &&
         bats_hub_job(comm, 1) == NULL);
    bats_hub_drop(comm, job);
    for (int rank = 1; rank <= MOST; rank++)
        must(bats_comm_is_gone(comm, rank));
    return 0;
}
