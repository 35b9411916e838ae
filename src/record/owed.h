/*
 * owed: what the last session would be charged if it was killed.
 *
 * Layer: record, private to it. Machines: if_killed of their leases. The job
 * that the run is in is charged at ticks only: the bill by its time
 * (bats/billing.h), less what was charged.
 */
#ifndef BATS_RECORD_OWED_H
#define BATS_RECORD_OWED_H

#include "bats/units.h"
#include "record/db.h"

struct bats_owed {
    int64_t session; /* 0: it has ended */
    bats_time last;  /* of its last commit */
    bats_money machines;
    int64_t lease;  /* of its own job; 0: none is open */
    bats_money own; /* for that, until `now` */
};

/* now < 0: the last commit. */
int bats_owed_find(struct bats_db *db, bats_time now, struct bats_owed *owed,
                   struct bats_error *err);

#endif
