/* clients: the socket of an open bag, and who is connected to it. */
#include <errno.h>
#include <fcntl.h>
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
#include "util/grow.h"
#include "util/text.h"

#define LINE_MOST ((size_t)8 << 20) /* bytes in a request */
/* bytes; a client with more unsent is not read */
#define UNSENT_MOST ((size_t)1 << 20)
#define PIECE 65536
#define AT_ONCE 64
#define FAREWELL_US 1000000

struct client {
    uint32_t number; /* from 1; 0: the place is free */
    int fd;
    bool is_held; /* its answers wait for a commit */
    bool is_over; /* nothing more is read; closed once all is sent */
    struct bats_text in, out;
    size_t sent; /* bytes of `out` already sent */
};

struct bats_clients {
    int listener, poll;
    char *path;
    struct client *list;
    size_t n, room;
    uint32_t last; /* number of the newest client */
};

/* Makes the arrival of bytes end a sleep of this thread. */
static bool prepare(int fd)
{
    struct f_owner_ex owner = {F_OWNER_TID, gettid()};
    return fcntl(fd, F_SETSIG, BATS_WAKE_SIGNAL) == 0 &&
           fcntl(fd, F_SETOWN_EX, &owner) == 0 &&
           fcntl(fd, F_SETFL, O_NONBLOCK | O_ASYNC) == 0;
}

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
    ok = ok && listen(c->listener, SOMAXCONN) == 0 && prepare(c->listener) &&
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
    close(c->fd); /* also removes it from the epoll set */
    bats_text_release(&c->in);
    bats_text_release(&c->out);
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
        size_t i = 0;
        while (i < c->n && c->list[i].number != 0)
            i++;
        struct epoll_event event = {.events = EPOLLIN, .data.u64 = i + 1};
        if (!is_own(fd) || !prepare(fd) ||
            !bats_grow(&c->list, &c->room, i + 1, sizeof *c->list) ||
            epoll_ctl(c->poll, EPOLL_CTL_ADD, fd, &event) < 0) {
            close(fd);
            continue;
        }
        c->n += i == c->n;
        c->list[i] = (struct client){.number = ++c->last, .fd = fd};
    }
}

static void put_line(struct client *c, json_t *line)
{
    char *text = json_dumps(line, JSON_COMPACT);
    json_decref(line);
    bats_text_add(&c->out, text != NULL ? text : "{\"error\":\"no memory\"}");
    bats_text_add(&c->out, "\n");
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

/* Handles all complete lines. */
static int take_lines(struct client *c, bats_clients_request *take,
                      void *context, struct bats_error *err)
{
    size_t at = 0;
    char *end;
    int rc = 0;
    while (rc == 0 && at < c->in.n &&
           (end = memchr(c->in.bytes + at, '\n', c->in.n - at)) != NULL) {
        size_t n = (size_t)(end - c->in.bytes) - at;
        rc = take_line(c, c->in.bytes + at, n, take, context, err);
        at += n + 1;
    }
    if (at > 0) {
        memmove(c->in.bytes, c->in.bytes + at, c->in.n - at);
        bats_text_cut(&c->in, c->in.n - at);
    }
    return rc;
}

static int hear(struct client *c, bats_clients_request *take, void *context,
                struct bats_error *err)
{
    char piece[PIECE];
    if (c->is_over || c->out.n - c->sent > UNSENT_MOST)
        return 0;
    ssize_t n = recv(c->fd, piece, sizeof piece, 0);
    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return 0;
    if (n <= 0) {
        drop(c);
        return 0;
    }
    bats_text_put(&c->in, piece, (size_t)n);
    int rc = take_lines(c, take, context, err);
    if (rc == 0 && (c->in.n > LINE_MOST || c->in.failed)) {
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
    bats_text_put(&to->out, bytes, n);
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
    while (c->sent < c->out.n) {
        ssize_t n = send(c->fd, c->out.bytes + c->sent, c->out.n - c->sent,
                         MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return errno == EAGAIN;
        c->sent += (size_t)n;
    }
    bats_text_cut(&c->out, 0);
    c->sent = 0;
    return !c->is_over;
}

void bats_clients_flush(struct bats_clients *c, bool committed)
{
    for (size_t i = 0; i < c->n; i++) {
        c->list[i].is_held &= !committed;
        if (c->list[i].number != 0 && !c->list[i].is_held &&
            (c->list[i].out.n > 0 || c->list[i].is_over) &&
            (c->list[i].out.failed || !flush(&c->list[i])))
            drop(&c->list[i]);
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
        while (of->number != 0 && !of->is_held && flush(of) && of->out.n > 0 &&
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
