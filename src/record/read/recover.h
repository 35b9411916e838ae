/*
 * recover: what can still be read of a damaged record, in a new one.
 *
 * Layer: record. Used by the verb record. Table by table, rows are read in
 * the order of their rowids; where a page cannot be read, reading goes on
 * behind it, and backwards towards it. The original is only read; it may even
 * be live, then the result is a copy for queries. A record of which the first
 * page, with the schema, is gone cannot be helped.
 */
#ifndef BATS_RECOVER_H
#define BATS_RECOVER_H

#include <stdbool.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_recovery {
    bool is_whole;    /* nothing was wrong with it */
    int64_t rows;     /* saved */
    int64_t tasks;    /* of them, tasks */
    int64_t attempts; /* of them, executions */
    int64_t holes;    /* places where rows could not be read */
    char lost[256];   /* names of the tables that have holes, or "" */
};

/*
 * Saves what is readable of the record at `path` into a new record at `to`.
 * BATS_EINPUT if `to` exists already, if `path` is no record, was written by a
 * newer bats-mpi, or nothing at all can be read of it; then no file is left at
 * `to`. BATS_ESYS, BATS_ENOMEM.
 */
int bats_record_recover(const char *path, const char *to,
                        struct bats_recovery *recovery,
                        struct bats_error *err);

#endif
