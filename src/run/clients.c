/* clients: the socket of an open bag, and who is connected to it. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "run/clock.h"
#include "run/open_state.h"
#include "run/wire.h"
#include "util/grow.h"

#define LINE_MOST ((size_t)8 << 20) /* bytes in a request */
/* bytes; a client with more unsent is not read */
#define UNSENT_MOST ((size_t)1 << 20)
#define AT_ONCE 64
#define FAREWELL_US 1000000

struct client {
    uint32_t number; /* from 1; 0: the place is free */
    struct bats_wire wire;
    bool is_held; /* its answers wait for a commit */
    bool is_over; /* nothing more is read; closed once all is sent */
    bool is_lost; /* no memory for an answer: closed at once */
};

struct bats_clients {
    int listener, poll;
    char *path;
    struct client *list;
    size_t n, room;
    uint32_t last; /* number of the newest client */
};

/* False for a socket without listener: a killed run left it. */
static bool is_in_use(const struct sockaddr_un *at)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool in_use = connect(fd, (const struct sockaddr *)at, sizeof *at) == 0 ||
                  (errno != ECONNREFUSED && errno != ENOENT);
    close(fd);
    return in_use;
}

static int listen_at(struct bats_clients *c, struct bats_error *err)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    if (strlen(c->path) >= sizeof at.sun_path)
        return bats_refuse(err,
                           "%s: the path of a socket has at most %zu "
                           "bytes: start the run in another directory",
                           c->path, sizeof at.sun_path - 1);
    strcpy(at.sun_path, c->path);
    if (is_in_use(&at))
        return bats_refuse(err, "%s is in use", c->path);
    unlink(c->path);
    c->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    c->poll = epoll_create1(EPOLL_CLOEXEC);
    mode_t mask = umask(0177);
    bool ok = c->listener >= 0 && c->poll >= 0 &&
              bind(c->listener, (struct sockaddr *)&at, sizeof at) == 0;
    umask(mask);
    struct epoll_event event = {.events = EPOLLIN};
    ok = ok && listen(c->listener, SOMAXCONN) == 0 &&
         bats_wake_by(c->listener) &&
         epoll_ctl(c->poll, EPOLL_CTL_ADD, c->listener, &event) == 0;
    return ok ? 0 : bats_refuse(err, "%s: %s", c->path, strerror(errno));
}

int bats_clients_open(const char *path, struct bats_clients **clients,
                      struct bats_error *err)
{
    struct bats_clients *c = calloc(1, sizeof *c);
    char *copy = strdup(path);
    *clients = NULL;
    if (c == NULL || copy == NULL) {
        free(c);
        free(copy);
        return bats_no_memory(err);
    }
    *c = (struct bats_clients){.listener = -1, .poll = -1, .path = copy};
    int rc = listen_at(c, err);
    if (rc < 0) {
        close(c->listener);
        close(c->poll);
        free(c->path);
        free(c);
        return rc;
    }
    *clients = c;
    return 0;
}

static void drop(struct client *c)
{
    bats_wire_close(&c->wire); /* also removes it from the epoll set */
    *c = (struct client){.number = 0};
}

/* True if the peer is a process of the user of this run. */
static bool is_own(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void greet(struct bats_clients *c)
{
    int fd;
    while ((fd = accept4(c->listener, NULL, NULL,
                         SOCK_CLOEXEC | SOCK_NONBLOCK)) >= 0) {
        struct bats_wire wire;
        size_t i = 0;
        while (i < c->n && c->list[i].number != 0)
            i++;
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = i + 1};
        if (!is_own(fd) || !bats_wire_open(&wire, fd) ||
            !bats_grow(&c->list, &c->room, i + 1, sizeof *c->list) ||
            epoll_ctl(c->poll, EPOLL_CTL_ADD, fd, &event) < 0) {
            close(fd);
            continue;
        }
        c->n += i == c->n;
        c->list[i] = (struct client){.number = ++c->last, .wire = wire};
    }
}

static void put_line(struct client *c, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    c->is_lost |= text == NULL ||
                  !bats_wire_append(&c->wire, text, strlen(text)) ||
                  !bats_wire_append(&c->wire, "\n", 1);
    free(text);
}

static int take_line(struct client *c, const char *line, size_t n,
                     bats_clients_request *take, void *context,
                     struct bats_error *err)
{
    json_error_t why;
    struct bats_error refusal = {.code = 0};
    json_t *request = json_loadb(line, n, 0, &why), *answer = NULL;
    if (json_is_object(request))
        answer = take(context, c->number, request, &refusal);
    else
        bats_refuse(&refusal, "a request must be a JSON object: %s",
                    request != NULL ? "this is not one" : why.text);
    json_decref(request);
    if (answer == NULL && refusal.code != BATS_EINPUT) {
        *err = refusal;
        return refusal.code;
    }
    put_line(c, answer != NULL ? answer
                               : json_pack("{s:s}", "error", refusal.text));
    return 0;
}

static int take_lines(struct client *c, bats_clients_request *take,
                      void *context, struct bats_error *err)
{
    struct bats_wire *w = &c->wire;
    const uint8_t *end;
    int rc = 0;
    while (rc == 0 && w->in_at < w->in_end &&
           (end = memchr(w->in + w->in_at, '\n', w->in_end - w->in_at)) !=
               NULL) {
        const uint8_t *line = w->in + w->in_at;
        w->in_at += (size_t)(end - line) + 1;
        rc = take_line(c, (const char *)line, (size_t)(end - line), take,
                       context, err);
    }
    return rc;
}

static int hear(struct client *c, bats_clients_request *take, void *context,
                struct bats_error *err)
{
    if (c->is_over || bats_wire_unsent(&c->wire) > UNSENT_MOST)
        return 0;
    int got = bats_wire_fill(&c->wire);
    if (got < 0)
        drop(c);
    if (got <= 0)
        return 0;
    int rc = take_lines(c, take, context, err);
    if (rc == 0 && c->wire.in_end - c->wire.in_at > LINE_MOST) {
        put_line(c, json_pack("{s:s}", "error", "this line is too long"));
        c->is_over = true;
    }
    return rc;
}

int bats_clients_step(struct bats_clients *c, bats_clients_request *take,
                      void *context, struct bats_error *err)
{
    struct epoll_event events[AT_ONCE];
    int n = epoll_wait(c->poll, events, AT_ONCE, 0), rc = 0;
    for (int i = 0; rc == 0 && i < n; i++) {
        if (events[i].data.u64 == 0)
            greet(c);
        else if (c->list[events[i].data.u64 - 1].number != 0)
            rc = hear(&c->list[events[i].data.u64 - 1], take, context, err);
    }
    return rc < 0 ? rc : n > 0;
}

static struct client *find(struct bats_clients *clients, uint32_t number)
{
    for (size_t i = 0; number != 0 && i < clients->n; i++)
        if (clients->list[i].number == number)
            return &clients->list[i];
    return NULL;
}

bool bats_clients_send(struct bats_clients *clients, uint32_t client,
                       json_t *line, const char *bytes, size_t n)
{
    struct client *to = find(clients, client);
    if (to == NULL) {
        json_decref(line);
        return false;
    }
    put_line(to, line);
    to->is_lost |= !bats_wire_append(&to->wire, bytes, n);
    return true;
}

void bats_clients_hold(struct bats_clients *clients, uint32_t client)
{
    struct client *of = find(clients, client);
    if (of != NULL)
        of->is_held = true;
}

/* Returns false if the client has gone or is finished. */
static bool flush(struct client *c)
{
    return !c->is_lost && bats_wire_flush(&c->wire) &&
           !(c->is_over && bats_wire_unsent(&c->wire) == 0);
}

void bats_clients_flush(struct bats_clients *c, bool committed)
{
    for (size_t i = 0; i < c->n; i++) {
        struct client *of = &c->list[i];
        of->is_held &= !committed;
        if (of->number != 0 && !of->is_held &&
            (bats_wire_unsent(&of->wire) > 0 || of->is_over || of->is_lost) &&
            !flush(of))
            drop(of);
    }
}

void bats_clients_close(struct bats_clients *c)
{
    int64_t until_us = bats_clock_now_us() + FAREWELL_US;
    if (c == NULL)
        return;
    for (size_t i = 0; i < c->n; i++) {
        struct client *of = &c->list[i];
        /* Answers that wait for a commit are not sent. */
        while (of->number != 0 && !of->is_held && flush(of) &&
               bats_wire_unsent(&of->wire) > 0 &&
               bats_clock_now_us() < until_us)
            bats_clock_sleep(BATS_CLOCK_MIN_US);
        if (of->number != 0)
            drop(of);
    }
    unlink(c->path);
    close(c->listener);
    close(c->poll);
    free(c->path);
    free(c->list);
    free(c);
}
