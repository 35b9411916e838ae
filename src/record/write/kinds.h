/*
 * kinds: limits the ends of standard error that a record keeps.
 *
 * Layer: record, private to the writer. All are kept up to a number of bytes;
 * beyond, only the first of each kind on a host (util/complaint.h), and the
 * others refer to it by its seq. Kinds are counted per session, at most
 * BATS_KINDS_MAX, so that failures that all differ cannot fill the disk.
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

/* Decides about row `seq` with n bytes of kind `key`. True: keep them. False:
 * *same is the seq of the first of its kind; 0: unknown. */
bool bats_kinds_keep(struct bats_kinds *kinds, uint64_t key, int64_t seq,
                     size_t n, int64_t *same);
void bats_kinds_release(struct bats_kinds *kinds);

#endif
