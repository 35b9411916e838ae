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

/* Clusters form two pools: those that are unreliable, and the others. */
struct bats_axis_pool {
    double slots, charge; /* of all machines; for a window */
    double asked;         /* slots of machines asked for */
    double there;         /* slots of machines that stayed to the end */
};

struct bats_axis_execution {
    int64_t pool;
    bats_time sent, end; /* it came to its slot; its end arrived */
    bats_time first;     /* the first execution of its task was sent */
    enum { BATS_ANSWERED, BATS_LOST, BATS_GIVEN_UP, BATS_STOPPED } how;
    bool is_done; /* the result of a task that is done */
};

struct bats_axis_pools {
    bool is_unreliable, is_free; /* some cluster is; its losses are */
    bats_time noticed;           /* bats_strategy_noticed */
    int64_t jobs;                /* jobs at a time; 0: machines are not jobs */
    bats_time window;
    char currency[16];
    int64_t tasks;
    bats_time end; /* of the axis */
    int64_t n_machines;
    struct bats_axis_pool pool[2]; /* unreliable, reliable */
    /* All that have ended, those lost with their machines last; for free() */
    struct bats_axis_execution *list;
    size_t n;
};
int bats_axis_pools(struct bats_view *view, struct bats_axis_pools *pools,
                    struct bats_error *err);

/* Writes what report/page/run.js draws, as further members of a JSON object
 * without '<': ',"session":[...],"places":[...]'; axis.c says what is in
 * each. terms: how the last session was billed. */
int bats_axis_write(struct bats_view *view, struct bats_lease_terms terms,
                    FILE *out, struct bats_error *err);

#endif
