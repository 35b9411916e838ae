/*
 * query: commands of the batch system, and their answers.
 *
 * Layer: site. bats_ask waits for the answer; bats_query_start and _poll do not.
 */
#ifndef BATS_SITE_QUERY_H
#define BATS_SITE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bats/error.h"
#include "util/text.h"

/* The words of a command; all zero: none. A first word with '=' is a variable
 * for its environment, as in a shell. */
struct bats_argv {
    char **words; /* ended by NULL, if there is one */
    size_t n, room;
    bool failed; /* memory was short */
};

/* Adds words. The blanks of `format` part them, those of its arguments do
 * not. */
void bats_argv_add(struct bats_argv *argv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bats_argv_release(struct bats_argv *argv);

/* A command that runs, with files in memory as its standard streams. All zero:
 * none. */
struct bats_query {
    bool runs;
    char command[64];
    pid_t pid;
    int pidfd;      /* -1: not available */
    int fds[3];     /* standard input, output and error */
    int64_t end_us; /* of our patience, by the monotonic clock */
};

/*
 * Starts the command, whose words are released, with the text `input` as
 * standard input (NULL: none). BATS_EINPUT: there is no such command; BATS_ESYS:
 * it cannot be started; BATS_ENOMEM.
 */
int bats_query_start(struct bats_query *query, struct bats_argv *argv,
                     const char *input, struct bats_error *err);

/*
 * Waits for at most `wait_us`. 1: it has succeeded, and *answer, for free(), is
 * what it printed. 0: it still runs. BATS_ESYS, with its first line of standard
 * error if there is one: it has failed, or was ended because it took longer
 * than 30 seconds.
 */
int bats_query_poll(struct bats_query *query, int64_t wait_us, char **answer,
                    struct bats_error *err);

/* Both: starts the command and waits for its answer. */
int bats_query(struct bats_argv *argv, const char *input, char **answer,
               struct bats_error *err);

/* The same with the words of bats_argv_add. */
int bats_ask(char **answer, struct bats_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends it, if it runs. */
void bats_query_release(struct bats_query *query);

#endif
