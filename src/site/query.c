#include "site/query.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "util/grow.h"
#include "util/now.h"

#define PATIENCE_US 30000000
#define LOOK_US 5000 /* between two checks of a process without a pidfd */
#define PART '\x1f'  /* separates words in a format; no text has it */
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

/* The environment plus the variable "NAME=value" (NULL: none). In one block
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

/* Starts the command with these files as its standard streams. Returns 0 or an
 * errno. */
static int spawn(char *const *words, char *variable, const int fds[3],
                 pid_t *pid)
{
    posix_spawn_file_actions_t actions;
    char **environment = environment_with(variable);
    if (environment == NULL || posix_spawn_file_actions_init(&actions) != 0) {
        free(environment);
        return ENOMEM;
    }
    int rc = 0;
    for (int i = 0; rc == 0 && i < 3; i++)
        rc = posix_spawn_file_actions_adddup2(&actions, fds[i], i);
    if (rc == 0)
        rc = posix_spawnp(pid, words[0], &actions, NULL, words, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    return rc;
}

static void forget(struct bats_query *q)
{
    for (int i = 0; i < 3; i++)
        if (q->fds[i] >= 0)
            close(q->fds[i]);
    if (q->pidfd >= 0)
        close(q->pidfd);
    *q = (struct bats_query){.runs = false};
}

/* A file in memory with this text, to be read from its start; -1, with
 * errno. */
static int memory_file(const char *text)
{
    size_t n = strlen(text);
    int fd = memfd_create("bats-mpi", MFD_CLOEXEC);
    if (fd < 0 || n == 0 || pwrite(fd, text, n, 0) == (ssize_t)n)
        return fd;
    close(fd);
    return -1;
}

static int start(struct bats_query *q, const struct bats_argv *argv,
                 const char *input, struct bats_error *err)
{
    bool has_variable = strchr(argv->words[0], '=') != NULL;
    char *const *words = argv->words + has_variable;
    int code = 0;
    *q = (struct bats_query){.pidfd = -1};
    snprintf(q->command, sizeof q->command, "%s", words[0]);
    for (int i = 0; i < 3; i++)
        if ((q->fds[i] = memory_file(i == 0 && input ? input : "")) < 0)
            code = errno;
    if (code == 0)
        code = spawn(words, has_variable ? argv->words[0] : NULL, q->fds,
                     &q->pid);
    if (code != 0) {
        forget(q);
        return bats_error_set(err, code == ENOENT ? BATS_EINPUT : BATS_ESYS,
                              "%s: %s", words[0], strerror(code));
    }
    q->runs = true;
    q->pidfd = pidfd_open(q->pid, 0);
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

/* The content of the file, for free(). NULL: memory is short. */
static char *contents(int fd)
{
    struct stat st;
    char *text = fstat(fd, &st) == 0 ? malloc((size_t)st.st_size + 1) : NULL;
    ssize_t n = text != NULL ? pread(fd, text, (size_t)st.st_size, 0) : 0;
    if (text != NULL)
        text[n > 0 ? n : 0] = '\0';
    return text;
}

void bats_query_release(struct bats_query *q)
{
    if (!q->runs)
        return;
    kill(q->pid, SIGKILL);
    while (waitpid(q->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    forget(q);
}

static int conclude(struct bats_query *q, bool succeeded, char **answer,
                    struct bats_error *err)
{
    char *said = contents(q->fds[succeeded ? 1 : 2]);
    int rc = 1;
    if (said == NULL) {
        rc = bats_no_memory(err);
    } else if (succeeded) {
        *answer = said;
    } else {
        int n = (int)strcspn(said, "\n");
        rc = bats_error_set(err, BATS_ESYS, "%s failed%s%.*s", q->command,
                            n > 0 ? ": " : "", n, said);
        free(said);
    }
    forget(q);
    return rc;
}

int bats_query_poll(struct bats_query *q, int64_t wait_us, char **answer,
                    struct bats_error *err)
{
    int64_t until_us = bats_now_us(CLOCK_MONOTONIC) + wait_us;
    int status;
    pid_t ended;
    until_us = until_us < q->end_us ? until_us : q->end_us;
    while ((ended = waitpid(q->pid, &status, WNOHANG)) == 0) {
        struct pollfd fd = {.fd = q->pidfd, .events = POLLIN};
        int64_t left_us = until_us - bats_now_us(CLOCK_MONOTONIC);
        if (left_us <= 0)
            break;
        if (q->pidfd < 0 && left_us > LOOK_US)
            left_us = LOOK_US;
        poll(&fd, 1, (int)((left_us + 999) / 1000));
    }
    if (ended != 0)
        return conclude(
            q, ended > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0,
            answer, err);
    if (until_us < q->end_us)
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

/* ---- reading answers ---- */

const char *bats_answer_next(const char *line)
{
    const char *end = line != NULL ? strchr(line, '\n') : NULL;
    return end != NULL ? end + 1 : NULL;
}

const char *bats_answer_behind(const char *from, const char *before)
{
    const char *at = from != NULL ? strstr(from, before) : NULL;
    return at != NULL ? at + strlen(before) : NULL;
}

int64_t bats_answer_seconds(const char *text)
{
    int64_t days = 0, sum = 0;
    text += strspn(text, " ");
    for (char *end; isdigit((unsigned char)*text); text = end + 1) {
        sum = sum * 60 + strtoll(text, &end, 10);
        if (*end == '-') {
            days = sum;
            sum = 0;
        } else if (*end != ':') {
            break;
        }
    }
    return days * 86400 + sum;
}

int64_t bats_answer_time(const char *text)
{
    struct tm tm = {.tm_isdst = -1};
    return strptime(text, "%a %b %d %T %Y", &tm) != NULL ? (int64_t)mktime(&tm)
                                                         : 0;
}

int64_t bats_answer_kib(const char *text, char unit)
{
    static const char units[] = "BKMGT";
    char *end;
    double amount = strtod(text, &end);
    const char *at = strchr(units, toupper((unsigned char)*end));
    if (at == NULL || *at == '\0')
        at = strchr(units, unit);
    return (int64_t)ldexp(amount, 10 * (int)(at - units) - 10);
}

int64_t bats_answer_shorter(int64_t a_s, int64_t b_s)
{
    return a_s == 0 || (b_s > 0 && b_s < a_s) ? b_s : a_s;
}
