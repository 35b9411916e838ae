/*
 * recover: saves the readable part of a damaged record in a new record. Layer:
 * record. Used by the verb record. Table by table, rows are read in the order
 * of their rowids up to a page that cannot be read, and then backwards from the
 * last one; rows between two such pages of a table are lost. Lost states and sums are rebuilt from executions and
 * charges. The original is only read; it may even be in use by a run, and the
 * result is then a copy for queries. A record whose first page, with the
 * schema, is lost cannot be recovered.
 */
#ifndef BATS_RECOVER_H
#define BATS_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_recovery {
    bool is_whole;    /* the record was not damaged */
    int64_t rows;     /* saved */
    int64_t tasks;    /* tasks among them */
    int64_t attempts; /* executions among them */
    int64_t holes;    /* tables some of whose rows could not be read */
    char lost[256];   /* names of the tables that have holes, or "" */
};

/*
 * Saves the readable rows of the record at `path` in a new record at `to`.
 * BATS_EINPUT if `to` exists already, if `path` is not a record, was written
 * by a newer bats-mpi, or nothing in it can be read; then no file is left at
 * `to`. BATS_ESYS, BATS_ENOMEM.
 */
int bats_record_recover(const char *path, const char *to,
                        struct bats_recovery *recovery,
                        struct bats_error *err);

#endif
