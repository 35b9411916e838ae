/*
 * now: the state of the current session: running executions, and counts. They
 * are updated as rows are added, and written with each commit (tables now and
 * cluster_now), so that readers need not count a million tasks.
 *
 * Layer: record, private to the writer.
 *
 * Invariant: after a commit, now equals the counts of task_now and running, and
 * cluster_now the sums of their results and charges.
 */
#ifndef BATS_RECORD_NOW_H
#define BATS_RECORD_NOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/cluster.h"
#include "bats/units.h"
#include "record/write/record.h"

struct bats_record;
struct bats_row_end;

/* task_now.state; RUNNING is only counted. */
enum bats_task_now {
    BATS_NOW_PENDING,
    BATS_NOW_DONE,
    BATS_NOW_FAILED,
    BATS_NOW_SKIPPED,
    BATS_NOW_RUNNING,
    BATS_NOW_STATES
};

struct bats_now_cluster { /* of this session */
    char name[BATS_CLUSTER_NAME];
    int64_t machines, held, lost; /* of this session */
    int64_t windows, charged;     /* of all sessions, like those below */
    int64_t done, failed;
    int64_t wall_us; /* of done and failed tasks */
    double runtime;  /* the same in virtual time */
    double price;    /* money per microsecond of a machine's work */
    bool is_dirty;
};

struct bats_now_machine {
    uint32_t first_slot, n_slots;
    uint8_t cluster;
    bool is_held, is_lost;
    uint32_t lease;  /* the last lease; 0: none */
    uint32_t n_jobs; /* jobs requested */
    int64_t idle;    /* seq of its idle reason; 0: none */
    char *host;      /* or NULL */
};

struct bats_now {
    bats_time time; /* of the last event or command */
    int64_t count[BATS_NOW_STATES];
    int64_t removed, preempted;
    bool ending, sampled, chosen;
    size_t n_clusters;
    struct bats_now_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_now_machine *machines;
    uint32_t n_machines, n_tasks;
    size_t tasks_room; /* 0: exactly n_tasks */
    struct bats_now_slot {
        int32_t first, last; /* in runs, or -1 */
    } * slots;
    struct bats_now_task {
        uint32_t place;  /* in task_now */
        uint16_t n_open; /* executions */
        unsigned char state : 3,
            was : 3;        /* enum bats_task_now; `was`: in the file when the
                               session began */
        bool has_ended : 1; /* has a result of this session */
    } * tasks;
    struct bats_now_run *runs;
    size_t n_runs, capacity;
    int32_t unused; /* in runs */
    double scale;   /* virtual time per real time */
    bool has_events;
    int64_t leases_before;         /* lease ids of this session are above
                                      this */
    uint32_t own_lease;            /* lease of the run's own job; 0: none */
    struct bats_now_lease *leases; /* by id, from 1 */
    size_t n_leases, leases_room;
    struct bats_row_end *awaited; /* ended executions in the file without an
                                     attempt yet */
    size_t n_awaited, awaited_room;
};

/* A reported lease. */
struct bats_now_lease {
    size_t row; /* index of its pending row, if of this batch */
    uint64_t batch;
    bats_money if_killed;
};

/* An execution in its slot's queue. */
struct bats_now_run {
    uint32_t task, copy;
    int32_t next;
    uint8_t cancelled;
    int64_t seq;
    bats_time given;
    size_t row; /* index of its pending row, if of this batch */
    uint64_t batch;
};

/* After the match: keeps what bats_now_begin needs of the past. */
int bats_now_remember(struct bats_record *record, struct bats_error *err);

/* In the transaction that begins the session: task_now, now, cluster_now and
 * account. */
int bats_now_begin(struct bats_record *record,
                   const struct bats_record_session *session,
                   struct bats_error *err);
void bats_now_release(struct bats_now *now);

/* The execution of the task in this slot; NULL: there is none. */
struct bats_now_run *bats_now_find(struct bats_now *now, uint32_t machine,
                                   uint32_t slot, uint32_t task);

/* Adds an execution; NULL: out of memory, or no such slot or task. */
struct bats_now_run *bats_now_add(struct bats_now *now, uint32_t machine,
                                  uint32_t slot, uint32_t task);

/* Removes the task's execution, or the slot's first one (BATS_NO_TASK). */
bool bats_now_take(struct bats_now *now, uint32_t machine, uint32_t slot,
                   uint32_t task, struct bats_now_run *run);

/* Marks the task as skipped, unless it has a result. */
void bats_now_skip(struct bats_now *now, uint32_t task);

/* Sets whether the machine is held or lost. */
void bats_now_set(struct bats_now *now, uint32_t machine, bool is_held,
                  bool is_lost);

void bats_now_charge(struct bats_now *now, uint32_t machine,
                     bats_money amount);

/* Counts the end of an execution. Replaces the count of a result from an
 * earlier session. */
int bats_now_attempt(struct bats_record *record,
                     const struct bats_record_attempt *attempt,
                     struct bats_error *err);

#endif
