/*
 * causes: why tasks failed. Equal failures are grouped, so 412 tasks that
 * filled a disk give one line.
 *
 * Layer: report. A cause is an end (exit status, signal) and a kind of last
 * line on standard error (util/complaint.h). Hosts are counted, because a bad
 * node shows there.
 */
#ifndef BATS_CAUSES_H
#define BATS_CAUSES_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "bats/units.h"
#include "util/complaint.h"

#define BATS_CAUSES_MAX 500 /* further ones are only counted */
#define BATS_CAUSE_HOSTS 16 /* likewise */

struct bats_cause {
    int exit_status; /* as in util/usage.h */
    int signal;
    uint64_t n;                     /* tasks */
    int64_t first;                  /* number of the first one, from 1 */
    char line[BATS_COMPLAINT_LINE]; /* its last line of standard error */
    uint64_t key;
    struct bats_cause_host {
        char *name;
        uint64_t n; /* tasks */
    } hosts[BATS_CAUSE_HOSTS];
    size_t n_hosts;
    uint64_t elsewhere; /* tasks on hosts beyond the list */
};

/* All zero: empty. */
struct bats_causes {
    struct bats_cause *list;
    size_t n, capacity;
    uint64_t others; /* tasks with causes beyond the list */
};

/* Adds a failed task: its number, end, host, and the last n bytes of its
 * standard error (NULL: none). If memory runs out, it counts among the
 * others. */
void bats_causes_add(struct bats_causes *causes, int64_t task, int exit_status,
                     int signal, const char *host, const char *bytes,
                     size_t n);

/* Sorts the causes, the most frequent first. */
void bats_causes_sort(struct bats_causes *causes);

/* "412 tasks on n7, exit 1: No space left on device (first: task 17)". Returns
 * `text`, cut if it does not fit. Not encoded. */
const char *bats_causes_text(char *text, size_t size,
                             const struct bats_cause *cause);

/* A line or two for each of the first `limit` causes, 80 columns wide, encoded
 * for a terminal. */
void bats_causes_print(FILE *out, const struct bats_causes *causes,
                       size_t limit);

/* An array of objects; NULL: out of memory. */
json_t *bats_causes_json(const struct bats_causes *causes);

void bats_causes_release(struct bats_causes *causes);

/* ---- tasks that failed ---- */

#define BATS_FAILURES_KEPT 1000 /* number of failures remembered */

struct bats_failure {
    uint32_t task;   /* index in the bag */
    int exit_status; /* as in util/usage.h */
    int signal;
    bats_time runtime;
    char *host;
    char *command;
};

/* All zero: empty. */
struct bats_failures {
    struct bats_failure *list; /* in the order in which they ended */
    size_t n;                  /* kept, at most BATS_FAILURES_KEPT */
};

/* Keeps a copy of `failure` while there is room and memory. */
void bats_failures_add(struct bats_failures *failures,
                       const struct bats_failure *failure);
void bats_failures_release(struct bats_failures *failures);

#endif
