/*
 * journal: what the engine hears and answers, on its way through the run
 * record.
 *
 * Layer: run. Used by the master. An event is written before the engine
 * handles it; the engine's commands wait here until all that led to them has
 * been committed, and only then are they carried out. After a crash of the
 * master the record therefore knows of everything that was ever started.
 * Without a record the commands just wait for the end of the step.
 *
 * A commit survives the master, but not at once the end of its node: for that
 * it has to reach the disk, which takes from 0.3 ms (a local one) to tens of
 * them (a network file system), and would keep the workers waiting. So that is
 * done for a group of events: at most `sync_us` or `sync_events` after the
 * first of them. What a node takes with it is thus no more than that group,
 * whose tasks are run again. Only where money was charged it is done before
 * any command goes out, for a charge that was forgotten would be spent twice.
 *
 * While the record cannot be written (a full disk) the engine is on hold: it
 * starts nothing and enters no window. Results still come in and wait, and what
 * is to be stopped is stopped. It is tried again every second.
 */
#ifndef BATS_JOURNAL_H
#define BATS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/sched.h"
#include "record/write/record.h"

/* What the record says, which is less than the engine knows while it cannot
 * be written. */
struct bats_books {
    struct bats_sched_status status;
    struct bats_cluster_status cluster[BATS_CLUSTERS_MAX];
    size_t n_clusters;  /* as the journal's creator says */
    size_t n_decisions; /* of those that the engine knows */
};

struct bats_journal {
    struct bats_record *record;    /* NULL: none; the caller's */
    struct bats_command *commands; /* that wait for the commit */
    size_t n, capacity;
    size_t n_decisions;   /* recorded so far */
    int64_t sync_us;      /* the limits of a group that is not on the disk; */
    uint64_t sync_events; /* 0: every commit is */
    uint64_t n_unsynced;  /* events in it */
    int64_t unsynced_since;
    bool has_charges;      /* it has some */
    int64_t failing_since; /* monotonic clock, microseconds; 0: it works */
    int64_t tried_us;
    bool has_books; /* these are filled in: */
    struct bats_books books;
};

void bats_journal_release(struct bats_journal *journal);

/* Has the engine handle `event` at `now`, and keeps its commands. */
int bats_journal_handle(struct bats_journal *journal, struct bats_sched *sched,
                        bats_time now, const struct bats_event *event,
                        struct bats_error *err);

/*
 * Commits what waits, and syncs if that is due. `now` is bag time, `now_us` the
 * monotonic clock. Returns 1: the commands may be carried out (take them with
 * bats_journal_next); 0: it failed a moment ago and is not tried again yet;
 * BATS_ESYS: it failed just now, and `err` says why. In these two cases only
 * those may be that stop something.
 */
int bats_journal_commit(struct bats_journal *journal, struct bats_sched *sched,
                        bats_time now, int64_t now_us, struct bats_error *err);

/* How long until a sync is due that no event can bring on; INT64_MAX: none. */
int64_t bats_journal_due_us(const struct bats_journal *journal,
                            int64_t now_us);

/* The next command to carry out, of all or only of those that stop a task; the
 * others stay. False: there is none. *at is 0 for the first. */
bool bats_journal_next(struct bats_journal *journal, bool all, size_t *at,
                       struct bats_command *command);

#endif
