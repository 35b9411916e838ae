/*
 * journal: passes the engine's events and commands through the run record.
 *
 * Layer: run. Used by the master. An event is written before the engine
 * handles it. The engine's commands wait here until everything that led to them
 * has been committed, so after a crash of the master the record knows
 * everything that was ever started. Without a record, the commands just wait
 * for the end of the step.
 *
 * A commit survives the master at once, but its node only when it has reached
 * the disk: 0.3 ms (local disk) to tens of milliseconds (network file system),
 * too long to keep workers waiting. So events are synced in groups, at most
 * `sync_us` or `sync_events` after the first of them. If the node fails, at
 * most one group is lost, and its tasks are run again. A charge is synced
 * before any command goes out: a lost one would be spent twice.
 *
 * While the record cannot be written (a full disk) the engine is on hold: it
 * starts nothing and enters no window. Results still come in and wait, and
 * tasks are stopped if need be. The commit is tried again every second.
 */
#ifndef BATS_JOURNAL_H
#define BATS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/status.h"
#include "record/write/record.h"

/* The contents of the record. They lag behind the engine while the record
 * cannot be written. */
struct bats_books {
    struct bats_sched_status status;
    struct bats_cluster_status cluster[BATS_CLUSTERS_MAX];
    size_t n_clusters;  /* set by the journal's creator */
    size_t n_decisions; /* number of decisions that the engine knows */
};

struct bats_journal {
    struct bats_record *record;    /* NULL: none; owned by the caller */
    struct bats_command *commands; /* waiting for the commit */
    size_t n, capacity;
    size_t n_decisions;   /* recorded so far */
    bool has_promise;     /* a promise is recorded */
    int64_t sync_us;      /* limits of a group of unsynced events; */
    uint64_t sync_events; /* 0: every commit is synced */
    uint64_t n_unsynced;  /* events in it */
    int64_t unsynced_since;
    bool has_charges;      /* the group has charges */
    int64_t failing_since; /* monotonic, microseconds; 0: the record works */
    int64_t tried_us;
    int64_t idle_due_us; /* earliest time to write why machines are idle; */
    bool idle_waits;     /* the reasons may have changed */
    struct bats_reservation kept; /* as recorded last; machine UINT32_MAX:
                                   * none */
    bool has_books;               /* the members below are set */
    struct bats_books books;
};

void bats_journal_release(struct bats_journal *journal);

/* Lets the engine handle `event` at `now`, and keeps its commands. */
int bats_journal_handle(struct bats_journal *journal, struct bats_sched *sched,
                        bats_time now, const struct bats_event *event,
                        struct bats_error *err);

/*
 * Commits the waiting rows, and syncs if that is due. `now` is virtual time,
 * `now_us` the monotonic clock. Returns 1: the commands may be carried out
 * (take them with bats_journal_next); 0: the commit failed a moment ago and is
 * not tried again yet; BATS_ESYS: it failed just now, and `err` says why.
 * After 0 and BATS_ESYS, only commands that stop tasks may be carried out.
 */
int bats_journal_commit(struct bats_journal *journal, struct bats_sched *sched,
                        bats_time now, int64_t now_us, struct bats_error *err);

/* Time until a sync is due without any event; INT64_MAX: none. */
int64_t bats_journal_due_us(const struct bats_journal *journal,
                            int64_t now_us);

/* Takes the next command: of all commands, or only of those that stop a task
 * (the others stay). False: there is none. *at is 0 for the first. */
bool bats_journal_next(struct bats_journal *journal, bool all, size_t *at,
                       struct bats_command *command);

/* Takes out the command to run this task that has waited since n was `from`:
 * it already runs. */
void bats_journal_take_out_run(struct bats_journal *journal, size_t from,
                               uint32_t task);

#endif
