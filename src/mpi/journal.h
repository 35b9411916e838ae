/*
 * journal: what the engine hears and answers, on its way through the run
 * record.
 *
 * Layer: mpi. Used by the master. An event is written before the engine
 * handles it; the engine's commands wait here until all that led to them has
 * been committed, and only then are they carried out. After a crash the record
 * therefore knows of everything that was ever started. Without a record the
 * commands just wait for the end of the step.
 *
 * While the record cannot be written (a full disk) nothing new is started;
 * results still come in and wait. It is tried again every second.
 */
#ifndef BATS_JOURNAL_H
#define BATS_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "bats/sched.h"
#include "record/record.h"

struct bats_journal {
    struct bats_record *record;    /* NULL: none; the caller's */
    struct bats_command *commands; /* that wait for the commit */
    size_t n, capacity;
    size_t n_decisions;    /* recorded so far */
    int64_t failing_since; /* monotonic clock, microseconds; 0: it works */
    int64_t tried_us;
};

void bats_journal_release(struct bats_journal *journal);

/* Has the engine handle `event` at `now`, and keeps its commands. */
int bats_journal_handle(struct bats_journal *journal, struct bats_sched *sched,
                        bats_time now, const struct bats_event *event,
                        struct bats_error *err);

/*
 * Commits what waits. Returns 1: the commands may be carried out (take them
 * with bats_journal_next); 0: it failed a moment ago and is not tried again
 * yet; BATS_ESYS: it failed just now, and `err` says why. In these two cases
 * the commands stay.
 */
int bats_journal_commit(struct bats_journal *journal,
                        const struct bats_sched *sched, int64_t now_us,
                        struct bats_error *err);

/* The next command to carry out; false: there is none. */
bool bats_journal_next(struct bats_journal *journal, size_t *at,
                       struct bats_command *command);

#endif
