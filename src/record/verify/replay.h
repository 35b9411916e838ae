/*
 * replay: proves the decisions of a session, by taking them again.
 *
 * Layer: record. Used by the verb record and by tests. The engine is built
 * again from what the record says it was given, hears the recorded events in
 * their order and at their times, and every command it answers is compared
 * with the recorded one: type, machine, slot, task, copy, reason, the time in
 * microseconds and the money in millionths; and so are its decisions. The same
 * events give the same commands (sched.h), so that any difference means that
 * the record was changed, or that the engine was: another version may decide
 * otherwise.
 *
 * It works on a copy (view.h): also of a run that is live, or was killed.
 */
#ifndef BATS_REPLAY_H
#define BATS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
#include "record/read/view.h"

struct bats_replay {
    int64_t events; /* that were replayed, and what was the same: */
    int64_t commands;
    int64_t charges;
    int64_t decisions;
    char version[BATS_VIEW_WORD]; /* of bats-mpi, when it was recorded */
    bool differs;
    char difference[600]; /* the first one, in words */
};

/* Replays session `session` (1, 2, ...). BATS_EINPUT where the record does not
 * say what is needed for that. */
int bats_replay_session(struct bats_view *view, int64_t session,
                        struct bats_replay *replay, struct bats_error *err);

#endif
