/*
 * fuzz_hub: what may come over the connection of a gateway, from a stranger or
 * from a job that has been let in. Whatever it says, the hub gives out only
 * messages from the job's own seats, and when the connection has ended, so has
 * the job.
 *
 * The first byte of the input says how far the gateway gets in order: to the
 * port, through the door, or to its seats. Then come its words, each by a byte
 * for its kind: a HELLO or another message as it should be, a frame with bytes
 * of the input as a message, or bytes of the input without a frame.
 */
#include <string.h>
#include <sys/socket.h>

#include "fuzz.h"
#include "proto/proto.h"
#include "run/hub.h"

#define SEATS 7
#define RANKS 3

static struct bats_comm *comm;
static struct bats_seal seal;
static const struct bats_hub_options options = {
    .file = "nowhere", .host = "localhost", .n_seats = SEATS,
    .silence_us = 60000000};

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

static void put(int fd, const void *bytes, size_t n)
{
    ssize_t sent = send(fd, bytes, n, MSG_DONTWAIT | MSG_NOSIGNAL);
    (void)sent; /* the hub may have hung up */
}

static void put_frame(int fd, uint32_t rank, const void *bytes, size_t n)
{
    uint8_t frame[8 + 1024 + BATS_SEAL_BYTES];
    uint32_t head[2] = {(uint32_t)n, rank};
    if (n > 1024)
        abort();
    memcpy(frame, head, 8);
    memcpy(frame + 8, bytes, n);
    if (seal.is_on)
        bats_seal_make(&seal, frame, 8 + n, frame + 8 + n);
    put(fd, frame, 8 + n + (seal.is_on ? BATS_SEAL_BYTES : 0));
}

static void put_packet(int fd, uint32_t rank, struct bats_packet *p)
{
    put_frame(fd, rank, p->bytes, p->n);
    bats_packet_release(p);
}

/* Takes all messages; those that wait get seats. */
static void work(void)
{
    const void *bytes;
    size_t n;
    int from;
    const int seats[SEATS] = {1, 2, 3, 4, 5, 6, 7};
    for (int turn = 0; turn < 2; turn++) {
        while (bats_comm_receive(comm, &from, &bytes, &n, NULL) > 0) {
            struct bats_message message;
            if (from < 1 || from > SEATS)
                abort();
            bats_proto_open(bytes, n, &message, NULL);
        }
        if (bats_hub_count(comm) == 1 &&
            bats_hub_peer(comm, 0)->state == BATS_PEER_WAITS)
            bats_hub_admit(comm, 0, seats);
    }
}

/* The next message for the gateway, into `packet`. */
static void hear(int fd, struct bats_packet *packet)
{
    uint32_t head[2];
    work();
    if (recv(fd, head, sizeof head, MSG_DONTWAIT) != sizeof head)
        abort();
    *packet = (struct bats_packet){.bytes = malloc(head[0]), .n = head[0]};
    if (packet->bytes == NULL ||
        recv(fd, packet->bytes, packet->n, MSG_DONTWAIT) !=
            (ssize_t)packet->n)
        abort();
}

static void come_in(int fd)
{
    const uint8_t nonce[BATS_PROTO_NONCE] = {7};
    struct bats_knock knock = {BATS_AUTH_SECRET, nonce, "4711"};
    struct bats_packet packet = {0}, heard;
    struct bats_message message;
    bats_proto_knock(&packet, &knock);
    put_packet(fd, 0, &packet);
    hear(fd, &heard);
    if (bats_proto_open(heard.bytes, heard.n, &message, NULL) != 0 ||
        message.type != BATS_MESSAGE_CHALLENGE)
        abort();
    uint8_t its[BATS_PROTO_NONCE];
    memcpy(its, message.u.proof.nonce, sizeof its);
    struct bats_auth_text text = {false, its, nonce, "4711", NULL};
    struct bats_proof proof = {.n_ranks = RANKS};
    char *bytes;
    if (bats_auth_prove(bats_hub_auth(comm), &text, &bytes, &proof.n, NULL))
        abort();
    proof.bytes = bytes;
    bats_packet_release(&heard);
    bats_proto_proof(&packet, &proof);
    free(bytes);
    put_packet(fd, 0, &packet);
    hear(fd, &heard);
    if (bats_proto_open(heard.bytes, heard.n, &message, NULL) != 0 ||
        message.type != BATS_MESSAGE_WELCOME)
        abort();
    const struct bats_auth_terms terms = {RANKS, message.u.silence_us};
    bats_packet_release(&heard);
    const uint8_t halves[2 * BATS_AUTH_HALF] = {0};
    if (bats_auth_key(bats_hub_auth(comm), &text, &terms, halves, seal.key, NULL) != 0)
        abort();
    seal.is_on = true;
}

/* With what the rank says are results of an earlier session, n bytes. */
static void say_hello(int fd, uint32_t rank, const void *results, size_t n)
{
    struct bats_packet packet = {0};
    struct bats_hello hello = {.rank = rank,
                               .host = "node1",
                               .partition = "fast",
                               .model = "",
                               .bound = "",
                               .kept_run = n > 0 ? "run" : "",
                               .results = results,
                               .n_results = n};
    bats_proto_hello(&packet, &hello);
    put_packet(fd, rank, &packet);
}

static void say_plain(int fd, uint32_t rank, uint8_t which)
{
    struct bats_packet packet = {0};
    if (which % 2 == 0)
        bats_proto_plain(&packet, BATS_MESSAGE_HEARTBEAT);
    else
        bats_proto_stop(&packet, BATS_LEAVE);
    put_packet(fd, rank, &packet);
}

static void say(int fd, struct input *in)
{
    uint8_t kind = take(in), rank = take(in), n = take(in), bytes[256];
    for (size_t i = 0; i < n; i++)
        bytes[i] = take(in);
    if (kind % 4 == 0 || kind % 4 == 3)
        bytes[1] = BATS_PROTO_VERSION;
    if (kind % 4 == 0)
        say_hello(fd, rank, bytes, n);
    else if (kind % 4 == 1)
        say_plain(fd, rank, n);
    else if (kind % 4 == 2)
        put(fd, bytes, n);
    else
        put_frame(fd, rank, bytes, n);
}

static void begin(void)
{
    setenv("BATS_AUTH", "secret", 1);
    if (bats_hub_create(&options, &comm, NULL) != 0)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct input in = {data, n};
    int pair[2];
    if (comm == NULL)
        begin();
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
        !bats_hub_meet(comm, pair[1]))
        abort();
    seal = (struct bats_seal){.is_on = false};
    uint8_t how_far = take(&in) % 3;
    if (how_far > 0)
        come_in(pair[0]);
    for (uint32_t rank = 0; how_far > 1 && rank < RANKS; rank++)
        say_hello(pair[0], rank, NULL, 0);
    for (work(); in.n > 0; work())
        say(pair[0], &in);
    close(pair[0]);
    work();
    if (bats_hub_count(comm) != 1 ||
        bats_hub_peer(comm, 0)->state < BATS_PEER_LEFT)
        abort();
    bats_hub_drop(comm, 0);
    return 0;
}
