/*
 * replay: verifies the decisions of a session by making them again.
 *
 * Layer: record. Used by the verb record and by tests. The engine is rebuilt
 * with the recorded options and hears the recorded events in order, at their
 * times. Every command it gives is compared with the recorded one: type,
 * machine, slot, task, copy, reason, the time in microseconds and the money in
 * millionths. Its decisions are compared, too. The same events give the same
 * commands (sched.h), so a difference means that the record or the engine was
 * changed: another version may decide otherwise.
 *
 * It works on a copy (view.h), even if the run goes on or was killed.
 */
#ifndef BATS_REPLAY_H
#define BATS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"
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

#endif
