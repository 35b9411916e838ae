/*
 * replay: verifies the decisions of a session by making them again.
 *
 * Layer: record. Used by the verb record, by tests, and where a record is
 * continued whose last session was killed (killed.c). The engine is rebuilt
 * with the recorded options and hears the recorded events in order, at their
 * times. Every command it gives is compared with the recorded one: type,
 * machine, slot, task, copy, reason, the time in microseconds and the money in
 * millionths. Its decisions are compared, too. The same events give the same
 * commands (sched.h), so a difference means that the record or the engine was
 * changed: another version may decide otherwise.
 *
 * A session of a view is replayed from a copy (view.h), even if the run goes on
 * or was killed.
 */
#ifndef BATS_REPLAY_H
#define BATS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/sched.h"
#include "record/db.h"
#include "record/read/view.h"

struct bats_replay {
    int64_t events; /* events replayed; then, how many are equal: */
    int64_t commands;
    int64_t charges;
    int64_t decisions;
    char version[BATS_VIEW_WORD]; /* of bats-mpi that made the record */
    bool differs;
    char difference[600]; /* the first difference, in words */
};

/* Replays session `session` (1, 2, ...). BATS_EINPUT if the record lacks what
 * this needs. */
int bats_replay_session(struct bats_view *view, int64_t session,
                        struct bats_replay *replay, struct bats_error *err);

/* The last state of a session that was killed. */
struct bats_replay_end {
    bool differs;                  /* it is not known; the rest is not set */
    bats_time now;                 /* of its last event */
    struct bats_command *commands; /* n answers to BATS_EVENT_KILLED, then;
                                      for free(), also after an error */
    size_t n;
};

/* Replays a session in the record itself. BATS_EINPUT as above. */
int bats_replay_killed(struct bats_db *db, int64_t session,
                       struct bats_replay_end *end, struct bats_error *err);

#endif
