/*
 * places: where executions of any session ran, by the clusters of one session.
 *
 * Layer: record, private to it. Used by the tally and by the view's status:
 * both sum over all sessions, for clusters of the last one. A cluster is known
 * by its name.
 */
#ifndef BATS_RECORD_PLACES_H
#define BATS_RECORD_PLACES_H

#include <stddef.h>

#include "record/db.h"

struct bats_machine_place {
    int32_t cluster; /* in the session asked about, or -1: none of that name */
    double scale;    /* virtual time per real time */
};

struct bats_places {
    struct bats_machine_place *at; /* by session and machine */
    int64_t machines, sessions;
};

/* Loads the places of all machines, by the clusters of `session`. */
int bats_places_load(struct bats_places *places, struct bats_db *db,
                     int64_t session, struct bats_error *err);
void bats_places_release(struct bats_places *places);

/* The place of a machine, NULL if there is no such machine or cluster. */
static inline const struct bats_machine_place *
bats_places_find(const struct bats_places *p, int64_t session, int64_t machine)
{
    if (session < 0 || session >= p->sessions || machine < 0 ||
        machine >= p->machines)
        return NULL;
    const struct bats_machine_place *at =
        &p->at[session * p->machines + machine];
    return at->cluster >= 0 ? at : NULL;
}

#endif
