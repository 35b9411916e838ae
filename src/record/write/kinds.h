/*
 * kinds: how much of the ends of standard error a record keeps.
 *
 * Layer: record, private to the writer. Up to a number of bytes, all; then the
 * first of each kind on a host (util/complaint.h), and of the others the seq of
 * that first one. Kinds are known from the present session only. So that a
 * bag of which every failure is another one cannot fill the disk, there are at
 * most BATS_KINDS_MAX of them.
 */
#ifndef BATS_RECORD_KINDS_H
#define BATS_RECORD_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BATS_KINDS_MAX 8192

/* All zero: empty. */
struct bats_kinds {
    struct bats_kind {
        uint64_t key;
        int64_t seq; /* 0: the place is free */
    } * table;       /* open addressing, 2 * BATS_KINDS_MAX; NULL: none yet */
    size_t n;
    int64_t bytes; /* kept so far */
};

/* Decides about the row `seq` with n bytes of kind `key`. True: keep them.
 * False: *same is the seq of the first one of its kind, or 0 if that is not
 * known. */
bool bats_kinds_keep(struct bats_kinds *kinds, uint64_t key, int64_t seq,
                     size_t n, int64_t *same);
void bats_kinds_release(struct bats_kinds *kinds);

#endif
