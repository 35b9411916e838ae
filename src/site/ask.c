#include "site/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/grow.h"
#include "util/now.h"

#define PATIENCE_MS 10000

struct text {
    char *bytes;
    size_t n, room;
};

static int64_t now_ms(void)
{
    return bats_now_us(CLOCK_MONOTONIC) / 1000;
}

/* Reads the available bytes of the descriptor. False: end of file, or memory
 * is short. */
static bool take(int fd, struct text *text)
{
    if (!bats_grow(&text->bytes, &text->room, text->n + 4096, 1))
        return false;
    ssize_t n = read(fd, text->bytes + text->n, text->room - text->n - 1);
    if (n > 0)
        text->n += (size_t)n;
    text->bytes[text->n] = '\0';
    return n > 0 || (n < 0 && errno == EINTR);
}

/* Reads both to their ends; false: that takes too long. */
static bool take_all(const int fds[2], struct text texts[2])
{
    int64_t end_ms = now_ms() + PATIENCE_MS;
    struct pollfd polls[2] = {{fds[0], POLLIN, 0}, {fds[1], POLLIN, 0}};
    while (polls[0].fd >= 0 || polls[1].fd >= 0) {
        int64_t left_ms = end_ms - now_ms();
        if (left_ms <= 0)
            return false;
        if (poll(polls, 2, (int)left_ms) <= 0)
            continue;
        for (int i = 0; i < 2; i++)
            if (polls[i].revents != 0 && !take(fds[i], &texts[i]))
                polls[i].fd = -1;
    }
    return true;
}

/* The environment, with the variable "NAME=value" (NULL: none). In one block
 * for free(); the strings are shared. */
static char **environment_with(const char *variable)
{
    size_t n = 0, kept = 0;
    size_t name = variable != NULL ? strcspn(variable, "=") + 1 : 0;
    while (environ[n] != NULL)
        n++;
    char **copy = calloc(n + 2, sizeof *copy);
    for (size_t i = 0; copy != NULL && i < n; i++)
        if (name == 0 || strncmp(environ[i], variable, name) != 0)
            copy[kept++] = environ[i];
    if (copy != NULL)
        copy[kept] = (char *)variable;
    return copy;
}

static int start(const char *const *argv, const char *variable, int out,
                 int err, pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    char **environment = environment_with(variable);
    if (environment == NULL || posix_spawn_file_actions_init(&actions) != 0) {
        free(environment);
        return ENOMEM;
    }
    int rc = posix_spawn_file_actions_addopen(&actions, 0, "/dev/null",
                                              O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, err, 2);
    /* posix_spawnp's prototype lacks the const that it keeps to. */
    if (rc == 0)
        rc = posix_spawnp(pid, argv[0], &actions, NULL, (char **)argv,
                          environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return rc;
}

/* Waits for the process to end; true if it succeeded. */
static bool reap(pid_t pid)
{
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* Starts the command with pipes, reads them, and waits for it. */
static int converse(const char *const *argv, const char *variable,
                    int pipes[2][2], struct text texts[2],
                    struct bats_error *err)
{
    pid_t pid;
    int rc = start(argv, variable, pipes[0][1], pipes[1][1], &pid);
    for (int i = 0; i < 2; i++) {
        close(pipes[i][1]);
        pipes[i][1] = -1;
    }
    if (rc != 0)
        return bats_error_set(err, BATS_ESYS, "%s: %s", argv[0], strerror(rc));
    bool in_time = take_all((int[]){pipes[0][0], pipes[1][0]}, texts);
    if (!in_time)
        kill(pid, SIGKILL);
    bool well = reap(pid);
    if (!in_time)
        return bats_error_set(err, BATS_ESYS, "%s: no answer for %d s",
                              argv[0], PATIENCE_MS / 1000);
    const char *said = texts[1].bytes != NULL ? texts[1].bytes : "";
    int line = (int)strcspn(said, "\n");
    if (!well || texts[0].bytes == NULL)
        return bats_error_set(err, BATS_ESYS, "%s failed%s%.*s", argv[0],
                              line > 0 ? ": " : "", line, said);
    return 0;
}

int bats_ask(const char *const *argv, const char *variable, char **answer,
             struct bats_error *err)
{
    int pipes[2][2] = {{-1, -1}, {-1, -1}};
    struct text texts[2] = {{0}, {0}};
    int rc = 0;
    for (int i = 0; i < 2 && rc == 0; i++)
        if (pipe2(pipes[i], O_CLOEXEC) != 0)
            rc =
                bats_error_set(err, BATS_ESYS, "no pipe: %s", strerror(errno));
    if (rc == 0)
        rc = converse(argv, variable, pipes, texts, err);
    for (int i = 0; i < 4; i++)
        if (pipes[i / 2][i % 2] >= 0)
            close(pipes[i / 2][i % 2]);
    free(texts[1].bytes);
    if (rc == 0)
        *answer = texts[0].bytes;
    else
        free(texts[0].bytes);
    return rc;
}
