/*
 * totals: what one look at the whole history tells, in memory: the result of
 * each task, and what runs.
 *
 * Layer: record, private to the views. It says of every task what the views
 * `result` and `tasks` of schema.c say. Rows of the history that are few, and
 * those of what runs, are taken into the view's tables on the way, so that
 * `running` and the statements about machines find them there.
 */
#ifndef BATS_RECORD_TOTALS_H
#define BATS_RECORD_TOTALS_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/units.h"

enum bats_totals_state { /* of a task, in the words of the view tasks */
                         BATS_TOTALS_PENDING,
                         BATS_TOTALS_RUNNING,
                         BATS_TOTALS_DONE,
                         BATS_TOTALS_FAILED,
                         BATS_TOTALS_SKIPPED,
                         BATS_TOTALS_REMOVED,
                         BATS_TOTALS_STATES
};
extern const char *const bats_totals_words[BATS_TOTALS_STATES];

struct bats_totals_task {
    bool is_known, is_removed, is_skipped, runs;
    bool is_fresh; /* done, though nobody ran it: what it makes was there */
    bool has_failed;
    bool is_unpaid;    /* skipped, because its workflow could not pay */
    bool is_taken;     /* its rows are in the view's tables */
    uint32_t number;   /* as people see it; the last one if it is removed */
    uint32_t attempts; /* executions that were not preempted */
    int64_t result;    /* seq of the result; 0: none. Of the result: */
    int32_t machine, session;
    int32_t exit_status, signal;
    int32_t host;    /* index into hosts; -1: not known */
    bats_time ended; /* in its session */
    int64_t start_us, wall_us, cpu_us, max_rss_kib;
};

struct bats_totals_open { /* an execution that has not ended */
    int64_t seq;
    bats_time since;
    int64_t task;
    int32_t machine, slot;
    int32_t next; /* in the chain of its task, or -1 */
    bool is_replica, is_used;
    bool is_running; /* as the view running has it */
};

struct bats_totals {
    struct bats_totals_task *tasks; /* by task.id, from 1 */
    int64_t n;
    int64_t session; /* the last one */
    int32_t *first;  /* by chain: the first of its elements of open, or -1 */
    struct bats_totals_open *open;
    size_t n_open, capacity;
    int32_t free;   /* the first unused element of open, or -1 */
    int64_t *lost;  /* by machine of the last session: seq of its loss, or 0 */
    int64_t *ended; /* likewise: executions */
    int64_t n_machines;
    char **hosts; /* where executions ran */
    size_t n_hosts, hosts_capacity;
    int32_t *host_at;  /* by machine of the last session: the last one there */
    int64_t preempted; /* executions */
    int64_t last_seq[2]; /* of the last event and command of all; */
    bats_time last[2];   /* their times, or -1: of an earlier session */
};

/* The chain of a task. Few executions run at a time: unlike the tasks, they
 * stay in the cache. */
#define BATS_TOTALS_CHAINS 65536
static inline size_t bats_totals_chain(int64_t task)
{
    return (size_t)task % BATS_TOTALS_CHAINS;
}

static inline enum bats_totals_state
bats_totals_state(const struct bats_totals_task *t)
{
    return t->is_removed    ? BATS_TOTALS_REMOVED
           : t->runs        ? BATS_TOTALS_RUNNING
           : t->result == 0 ? (t->is_skipped ? BATS_TOTALS_SKIPPED
                               : t->is_fresh ? BATS_TOTALS_DONE
                                             : BATS_TOTALS_PENDING)
           : t->has_failed  ? BATS_TOTALS_FAILED
                            : BATS_TOTALS_DONE;
}

struct bats_view;
struct bats_error;

/* Looks, if nobody has looked yet. */
int bats_totals_look(struct bats_view *view, struct bats_error *err);

/* Looks again, and takes all rows of the tasks that have, or had when they were
 * removed, this number. */
int bats_totals_look_at(struct bats_view *view, int64_t number,
                        struct bats_error *err);
void bats_totals_release(struct bats_totals *totals);

#endif
