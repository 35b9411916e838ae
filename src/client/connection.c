/* connection: the socket of the run. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "client/client.h"

void bats_client_die(int code, const char *format, const char *what)
{
    fputs("bats-submit: ", stderr);
    fprintf(stderr, format, what);
    putc('\n', stderr);
    exit(code);
}

static struct {
    int fd;
    char bytes[65536];
    size_t at, n;
} run = {.fd = -1};

void bats_client_join(const char *path)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    if (path == NULL)
        path = getenv("BATS_SOCKET");
    if (path == NULL)
        bats_client_die(BATS_CLIENT_REFUSED,
                        "%s is not set: start 'bats-mpi run --open' first",
                        "BATS_SOCKET");
    if (strlen(path) >= sizeof to.sun_path)
        bats_client_die(BATS_CLIENT_REFUSED, "%s: this name is too long",
                        path);
    strcpy(to.sun_path, path);
    run.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(run.fd, (struct sockaddr *)&to, sizeof to) != 0) {
        fprintf(stderr, "bats-submit: no run listens at %s: %s\n", path,
                strerror(errno));
        exit(BATS_CLIENT_NO_RUN);
    }
}

void bats_client_say(const struct bats_text *text)
{
    if (text->failed)
        bats_client_die(BATS_CLIENT_NO_RUN, "%s", "out of memory");
    for (size_t at = 0; at < text->n;) {
        ssize_t n = send(run.fd, text->bytes + at, text->n - at, MSG_NOSIGNAL);
        if (n < 0 && errno != EINTR)
            bats_client_die(BATS_CLIENT_NO_RUN, "the run has ended: %s",
                            strerror(errno));
        at += n > 0 ? (size_t)n : 0;
    }
}

/* Returns false if a signal came. */
static bool fill(void)
{
    ssize_t n = recv(run.fd, run.bytes, sizeof run.bytes, 0);
    if (n < 0 && errno == EINTR)
        return false;
    if (n <= 0)
        bats_client_die(BATS_CLIENT_NO_RUN, "%s",
                        "the run ended before it answered");
    run.at = 0;
    run.n = (size_t)n;
    return true;
}

bool bats_client_hear(struct bats_text *line)
{
    bats_text_cut(line, 0);
    for (;;) {
        if (run.at == run.n && !fill())
            return false;
        char *begin = run.bytes + run.at;
        char *end = memchr(begin, '\n', run.n - run.at);
        size_t n = end != NULL ? (size_t)(end - begin) : run.n - run.at;
        bats_text_put(line, begin, n);
        run.at += n + (end != NULL);
        if (end != NULL)
            return true;
    }
}

/* Ends the program if the answer is a refusal. */
static void check(const struct bats_text *line)
{
    static const char head[] = "{\"error\":\"";
    if (line->n > sizeof head &&
        strncmp(line->bytes, head, sizeof head - 1) == 0)
        fprintf(stderr, "bats-submit: %.*s\n",
                (int)(line->n - sizeof head - 1),
                line->bytes + sizeof head - 1),
            exit(BATS_CLIENT_REFUSED);
}

void bats_client_copy(long stream, long n)
{
    while (n > 0) {
        if (run.at == run.n && !fill())
            continue;
        size_t left = run.n - run.at;
        size_t some = left < (size_t)n ? left : (size_t)n;
        fwrite(run.bytes + run.at, 1, some, stream == 2 ? stderr : stdout);
        run.at += some;
        n -= (long)some;
    }
    fflush(stream == 2 ? stderr : stdout);
}

void bats_client_ask(struct bats_text *text)
{
    bats_client_say(text);
    while (!bats_client_hear(text))
        ;
    check(text);
}
