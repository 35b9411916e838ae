#include "site/query.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/grow.h"
#include "util/now.h"

#define PATIENCE_US 30000000
#define PART '\x1f' /* between words, in a format; no text has it */
#define PARTS "\x1f"

/* ---- words ---- */

static void add_word(struct bats_argv *argv, const char *text)
{
    char *word = strdup(text);
    if (word == NULL || !bats_grow(&argv->words, &argv->room, argv->n + 2,
                                   sizeof *argv->words)) {
        free(word);
        argv->failed = true;
        return;
    }
    argv->words[argv->n++] = word;
    argv->words[argv->n] = NULL;
}

static void add_words(struct bats_argv *argv, const char *format, va_list args)
{
    char *parted = strdup(format), *text = NULL;
    for (char *c = parted; c != NULL && *c != '\0'; c++)
        *c = *c == ' ' ? PART : *c;
    if (parted == NULL || vasprintf(&text, parted, args) < 0) {
        argv->failed = true;
        text = NULL;
    }
    for (char *rest = text, *word; (word = strsep(&rest, PARTS)) != NULL;)
        add_word(argv, word);
    free(parted);
    free(text);
}

void bats_argv_add(struct bats_argv *argv, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_words(argv, format, args);
    va_end(args);
}

void bats_argv_release(struct bats_argv *argv)
{
    for (size_t i = 0; i < argv->n; i++)
        free(argv->words[i]);
    free(argv->words);
    *argv = (struct bats_argv){0};
}

/* ---- start ---- */

/* The environment, with the variable "NAME=value" (NULL: none). In one block
 * for free(); the strings are shared. */
static char **environment_with(char *variable)
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
        copy[kept] = variable;
    return copy;
}

static int spawn(char *const *words, char *variable, int in, int out, int err,
                 pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    char **environment = environment_with(variable);
    if (environment == NULL || posix_spawn_file_actions_init(&actions) != 0) {
        free(environment);
        return ENOMEM;
    }
    int rc = in >= 0 ? posix_spawn_file_actions_adddup2(&actions, in, 0)
                     : posix_spawn_file_actions_addopen(
                           &actions, 0, "/dev/null", O_RDONLY, 0);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, out, 1);
    if (rc == 0)
        rc = posix_spawn_file_actions_adddup2(&actions, err, 2);
    if (rc == 0)
        rc = posix_spawnp(pid, words[0], &actions, NULL, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return rc;
}

static void close_all(int pipes[3][2])
{
    for (int i = 0; i < 6; i++)
        if (pipes[i / 2][i % 2] >= 0)
            close(pipes[i / 2][i % 2]);
}

/* A pipe that has the text in it. */
static bool fill(int pipe[2], const char *input)
{
    size_t n = strlen(input);
    if (pipe2(pipe, O_CLOEXEC) != 0)
        return false;
    ssize_t written = n > 0 ? write(pipe[1], input, n) : 0;
    close(pipe[1]);
    pipe[1] = -1;
    return written == (ssize_t)n;
}

static int start(struct bats_query *q, const struct bats_argv *argv,
                 const char *input, struct bats_error *err)
{
    int pipes[3][2] = {{-1, -1}, {-1, -1}, {-1, -1}};
    bool has_variable = strchr(argv->words[0], '=') != NULL;
    char *const *words = argv->words + has_variable;
    *q = (struct bats_query){.fds = {-1, -1}};
    snprintf(q->command, sizeof q->command, "%s", words[0]);
    if ((input != NULL && !fill(pipes[2], input)) ||
        pipe2(pipes[0], O_CLOEXEC) != 0 || pipe2(pipes[1], O_CLOEXEC) != 0) {
        close_all(pipes);
        return bats_error_set(err, BATS_ESYS, "no pipe: %s", strerror(errno));
    }
    int rc = spawn(words, has_variable ? argv->words[0] : NULL, pipes[2][0],
                   pipes[0][1], pipes[1][1], &q->pid);
    for (int i = 0; i < 2 && rc == 0; i++) {
        q->fds[i] = pipes[i][0];
        pipes[i][0] = -1;
        fcntl(q->fds[i], F_SETFL, O_NONBLOCK);
    }
    close_all(pipes);
    if (rc != 0)
        return bats_error_set(err, rc == ENOENT ? BATS_EINPUT : BATS_ESYS,
                              "%s: %s", q->command, strerror(rc));
    q->runs = true;
    q->end_us = bats_now_us(CLOCK_MONOTONIC) + PATIENCE_US;
    return 0;
}

int bats_query_start(struct bats_query *q, struct bats_argv *argv,
                     const char *input, struct bats_error *err)
{
    int rc = argv->failed ? bats_no_memory(err) : start(q, argv, input, err);
    bats_argv_release(argv);
    return rc;
}

/* ---- the answer ---- */

/* Reads the available bytes of the descriptor. False: end of file, or memory
 * is short. */
static bool take(int fd, struct bats_text *text)
{
    if (!bats_grow(&text->bytes, &text->room, text->n + 4096, 1))
        return false;
    ssize_t n = read(fd, text->bytes + text->n, text->room - text->n - 1);
    if (n > 0)
        text->n += (size_t)n;
    text->bytes[text->n] = '\0';
    return n > 0 || (n < 0 && (errno == EINTR || errno == EAGAIN));
}

/* False: both are at their ends. */
static bool take_all(struct bats_query *q, int64_t wait_us)
{
    struct pollfd polls[2] = {{q->fds[0], POLLIN, 0}, {q->fds[1], POLLIN, 0}};
    if (poll(polls, 2, (int)((wait_us + 999) / 1000)) <= 0)
        return true;
    for (int i = 0; i < 2; i++)
        if (polls[i].revents != 0 && !take(q->fds[i], &q->texts[i])) {
            close(q->fds[i]);
            q->fds[i] = -1;
        }
    return q->fds[0] >= 0 || q->fds[1] >= 0;
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

static void forget(struct bats_query *q)
{
    for (int i = 0; i < 2; i++) {
        if (q->fds[i] >= 0)
            close(q->fds[i]);
        free(q->texts[i].bytes);
    }
    *q = (struct bats_query){.fds = {-1, -1}};
}

void bats_query_release(struct bats_query *q)
{
    if (!q->runs)
        return;
    kill(q->pid, SIGKILL);
    reap(q->pid);
    forget(q);
}

static int conclude(struct bats_query *q, char **answer,
                    struct bats_error *err)
{
    bool well = reap(q->pid);
    const char *said = q->texts[1].bytes != NULL ? q->texts[1].bytes : "";
    int line = (int)strcspn(said, "\n"), rc = 1;
    if (!well || q->texts[0].bytes == NULL) {
        rc = bats_error_set(err, BATS_ESYS, "%s failed%s%.*s", q->command,
                            line > 0 ? ": " : "", line, said);
    } else {
        *answer = q->texts[0].bytes;
        q->texts[0].bytes = NULL;
    }
    forget(q);
    return rc;
}

int bats_query_poll(struct bats_query *q, int64_t wait_us, char **answer,
                    struct bats_error *err)
{
    int64_t end_us = bats_now_us(CLOCK_MONOTONIC) + wait_us;
    for (bool first = true;; first = false) {
        int64_t now_us = bats_now_us(CLOCK_MONOTONIC);
        int64_t left_us = (end_us < q->end_us ? end_us : q->end_us) - now_us;
        if (left_us <= 0 && !first)
            break;
        if (!take_all(q, left_us > 0 ? left_us : 0))
            return conclude(q, answer, err);
    }
    if (bats_now_us(CLOCK_MONOTONIC) < q->end_us)
        return 0;
    char command[sizeof q->command];
    memcpy(command, q->command, sizeof command);
    bats_query_release(q);
    return bats_error_set(err, BATS_ESYS, "%s: no answer for %d s", command,
                          PATIENCE_US / 1000000);
}

int bats_query(struct bats_argv *argv, const char *input, char **answer,
               struct bats_error *err)
{
    struct bats_query query;
    int rc = bats_query_start(&query, argv, input, err);
    while (rc == 0)
        rc = bats_query_poll(&query, PATIENCE_US, answer, err);
    return rc < 0 ? rc : 0;
}

int bats_ask(char **answer, struct bats_error *err, const char *format, ...)
{
    struct bats_argv argv = {0};
    va_list args;
    va_start(args, format);
    add_words(&argv, format, args);
    va_end(args);
    return bats_query(&argv, NULL, answer, err);
}
