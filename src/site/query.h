/*
 * query: commands of the batch system, and their answers.
 *
 * Layer: site. bats_ask waits for the answer; bats_query_start and _poll do
 * not. bats_answer_* read what several systems print alike.
 */
#ifndef BATS_SITE_QUERY_H
#define BATS_SITE_QUERY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "bats/error.h"
#include "util/text.h"

/* The words of a command; all zero: none. A first word with '=' sets a
 * variable in its environment, as in a shell. */
struct bats_argv {
    char **words; /* NULL-terminated, unless empty */
    size_t n, room;
    bool failed; /* memory was short */
};

/* Adds words. Blanks in `format` separate words, blanks in its arguments do
 * not. */
void bats_argv_add(struct bats_argv *argv, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void bats_argv_release(struct bats_argv *argv);

/* A running command, with files in memory as its standard streams. All zero:
 * none. */
struct bats_query {
    bool runs;
    char command[64];
    pid_t pid;
    int pidfd;      /* -1: not available */
    int fds[3];     /* standard input, output and error */
    int64_t end_us; /* time limit, monotonic */
};

/*
 * Starts the command, whose words are released, with the text `input` as
 * standard input (NULL: none). BATS_EINPUT: there is no such command;
 * BATS_ESYS: it cannot be started; BATS_ENOMEM.
 */
int bats_query_start(struct bats_query *query, struct bats_argv *argv,
                     const char *input, struct bats_error *err);

/*
 * Waits for at most `wait_us`. 1: the command has succeeded, and *answer, for
 * free(), is its output. 0: it still runs. BATS_ESYS, with the first line of
 * its standard error if any: it has failed, or was ended after 30 seconds.
 */
int bats_query_poll(struct bats_query *query, int64_t wait_us, char **answer,
                    struct bats_error *err);

/* Starts the command and waits for its answer. */
int bats_query(struct bats_argv *argv, const char *input, char **answer,
               struct bats_error *err);

/* The same with the words of bats_argv_add. */
int bats_ask(char **answer, struct bats_error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the command if it runs. */
void bats_query_release(struct bats_query *query);

/* ---- reading answers ---- */

/* The next line; NULL: the last one, or none. */
const char *bats_answer_next(const char *line);

/* The text after `before`, which is searched from `from` on; NULL: not found,
 * or `from` is NULL. */
const char *bats_answer_behind(const char *from, const char *before);

/* Seconds of "1-02:03:04", "27:00:30" or "90", after blanks; 0: another text,
 * such as "UNLIMITED". */
int64_t bats_answer_seconds(const char *text);

/* Seconds since 1970 of "Wed Apr 14 23:34:19 2021"; 0: another text. */
int64_t bats_answer_time(const char *text);

/* KiB of an amount such as "4G"; without a unit it is in `unit`, one of
 * "BKMGT". */
int64_t bats_answer_kib(const char *text, char unit);

/* The shorter of two limits; 0 means no limit. */
int64_t bats_answer_shorter(int64_t a_s, int64_t b_s);

#endif
