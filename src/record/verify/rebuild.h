/*
 * rebuild: restores the options of a session's engine from its record.
 * Layer: record, private to it; used by replay.
 */
#ifndef BATS_RECORD_REBUILD_H
#define BATS_RECORD_REBUILD_H

#include "bats/sched.h"
#include "record/db.h"
#include "record/options.h"

#define BATS_REBUILT_TIME_MAX (INT64_MAX / 4) /* the limit of the engine */

struct bats_rebuilt {
    struct bats_sched_options options; /* its lists are the members below: */
    struct bats_cluster clusters[BATS_CLUSTERS_MAX];
    struct bats_machine_spec *machines;
    uint8_t *state, *failures, *losses, *yields;
    struct bats_options_lists lists;
    struct bats_graph graph;
    struct bats_rebuilt_place {
        int64_t id; /* task.id */
        uint32_t task;
    } * places; /* tasks of the bag, sorted by id */
    char version[32];
};

/* BATS_EINPUT if the record is damaged or has no such session. Release it in
 * any case. */
int bats_rebuild(struct bats_db *db, int64_t session,
                 struct bats_rebuilt *rebuilt, struct bats_error *err);
void bats_rebuilt_release(struct bats_rebuilt *rebuilt);

/* Index of a task in the bag of the session; BATS_NO_TASK: it was not in
 * it. */
int64_t bats_rebuilt_task(const struct bats_rebuilt *rebuilt, int64_t id);

#endif
