#include "run/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/now.h"

#define WORD "bats-lease " /* begins a line with an age in microseconds */
#define VARIABLE "BATS_LEASE_FROM" /* holds the time when the watchdog began */
#define ALARM_S 2                  /* time beyond the end of the lease */
#define LOOK_US 500000 /* longest sleep: sleeps do not count suspension */

struct watchdog {
    int64_t from_us, until_us; /* on the clock that counts suspension */
    pid_t child;
    int fd;         /* the command's standard output; -1: closed */
    char line[128]; /* beginning of the current line */
    size_t n;
};

static int64_t now_us(void)
{
    return bats_now_us(CLOCK_BOOTTIME);
}

int64_t bats_watchdog_age(void)
{
    const char *from = getenv(VARIABLE);
    int64_t from_us = from != NULL ? strtoll(from, NULL, 10) : 0;
    return from_us > 0 && from_us < now_us() ? now_us() - from_us : 0;
}

int bats_watchdog_prolong(int64_t age_us, struct bats_error *err)
{
    char line[64];
    int n = snprintf(line, sizeof line, WORD "%lld\n", (long long)age_us);
    if (write(STDOUT_FILENO, line, (size_t)n) == n)
        return 0;
    return bats_error_set(err, BATS_ESYS, "the watchdog: %s", strerror(errno));
}

/* ---- what the command prints ---- */

static void pass_on(struct watchdog *w)
{
    for (size_t at = 0; at < w->n;) {
        ssize_t n = write(STDOUT_FILENO, w->line + at, w->n - at);
        if (n < 0 && errno != EINTR)
            break;
        at += n > 0 ? (size_t)n : 0;
    }
    w->n = 0;
}

static void end_line(struct watchdog *w)
{
    char *end;
    w->line[w->n] = '\0';
    bool is_age = strncmp(w->line, WORD, sizeof WORD - 1) == 0;
    long long age_us =
        is_age ? strtoll(w->line + sizeof WORD - 1, &end, 10) : 0;
    if (!is_age || *end != '\n' || age_us < 0) {
        pass_on(w);
        return;
    }
    w->until_us = w->from_us + age_us;
    w->n = 0;
}

static void hear(struct watchdog *w)
{
    char block[4096];
    ssize_t n;
    while (w->fd >= 0 && (n = read(w->fd, block, sizeof block)) != 0) {
        if (n < 0 && errno != EINTR)
            return;
        for (ssize_t i = 0; i < n; i++) {
            w->line[w->n++] = block[i];
            if (block[i] == '\n')
                end_line(w);
            else if (w->n == sizeof w->line - 1)
                pass_on(w);
        }
    }
    if (w->fd >= 0)
        close(w->fd);
    w->fd = -1;
}

/* ---- the command ---- */

/* The child. Returns only if the command does not exist. */
static void become(char **command, const int pipe[2], pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(pipe[1], STDOUT_FILENO) < 0)
        _exit(127);
    execvp(command[0], command);
    fprintf(stderr, "bats-mpi: %s: %s\n", command[0], strerror(errno));
    _exit(127);
}

static int start(struct watchdog *w, char **command, struct bats_error *err)
{
    int ends[2];
    pid_t self = getpid();
    if (pipe2(ends, O_CLOEXEC) < 0)
        return bats_error_set(err, BATS_ESYS, "pipe: %s", strerror(errno));
    w->child = fork();
    if (w->child == 0)
        become(command, ends, self);
    close(ends[1]);
    w->fd = ends[0];
    fcntl(w->fd, F_SETFL, O_NONBLOCK);
    return w->child > 0
               ? 0
               : bats_error_set(err, BATS_ESYS, "fork: %s", strerror(errno));
}

static void wait_for_news(const struct watchdog *w, int64_t left_us)
{
    struct pollfd fd = {.fd = w->fd, .events = POLLIN};
    /* After closing its output the command is about to end. */
    int64_t us = w->fd >= 0 ? LOOK_US : LOOK_US / 10;
    poll(&fd, 1, (int)((left_us < us ? left_us : us) / 1000) + 1);
}

int bats_watchdog_run(int64_t lease_us, char **command, struct bats_error *err)
{
    struct watchdog w = {.from_us = now_us(), .fd = -1};
    char from[32];
    int status;
    snprintf(from, sizeof from, "%lld", (long long)w.from_us);
    setenv(VARIABLE, from, true);
    w.until_us = w.from_us + lease_us;
    if (start(&w, command, err) < 0)
        return BATS_ESYS;
    for (int64_t left_us; (left_us = w.until_us - now_us()) > 0;) {
        /* If a write to a file of the job hangs, this ends the process. */
        alarm((unsigned)(left_us / 1000000) + ALARM_S);
        wait_for_news(&w, left_us);
        bool has_ended = waitpid(w.child, &status, WNOHANG) == w.child;
        hear(&w);
        if (!has_ended)
            continue;
        pass_on(&w);
        return WIFEXITED(status) ? WEXITSTATUS(status)
                                 : 128 + WTERMSIG(status);
    }
    kill(w.child, SIGKILL);
    fputs("bats-mpi: the lease of this job was not prolonged: it ends\n",
          stderr);
    return BATS_WATCHDOG_OVER;
}
