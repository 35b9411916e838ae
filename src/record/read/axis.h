/*
 * axis: a whole recorded run on one axis of time: the executions, and the
 * figures that a page draws.
 *
 * Layer: record. Used by cli. The axis is virtual time: the sessions
 * one after the other, without the gaps. Machines with the same name and
 * cluster are the same in all sessions. Errors: as view.h.
 */
#ifndef BATS_RECORD_AXIS_H
#define BATS_RECORD_AXIS_H

#include <stdio.h>

#include "bats/lease.h"
#include "record/read/view.h"

/* An execution that has ended. */
struct bats_axis_execution {
    bats_time given, ended; /* sent to its slot; its end arrived */
    int64_t task;           /* number */
    char cluster[BATS_CLUSTER_NAME];
    uint8_t outcome; /* enum bats_record_outcome */
    bool failed, timed_out;
    bool was_killed; /* by a signal */
};

/* All of them, those lost with their machines last. */
struct bats_axis_executions {
    struct bats_axis_execution *list; /* for free() */
    size_t n;
    bats_time end; /* of the axis */
};
int bats_axis_executions(struct bats_view *view,
                         struct bats_axis_executions *executions,
                         struct bats_error *err);

/* Writes what report/page/run.js draws, as further members of a JSON object
 * without '<': ',"session":[...],"places":[...]'; axis.c says what is in
 * each. terms: how the last session was billed. */
int bats_axis_write(struct bats_view *view, struct bats_lease_terms terms,
                    FILE *out, struct bats_error *err);

#endif
