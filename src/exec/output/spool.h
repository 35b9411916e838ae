/*
 * spool: bytes that are kept until it is known what becomes of them.
 *
 * Layer: exec. Used by the MPI worker for the lines of a task that may have
 * copies: they are nobody's before it is known which copy was first. Memory is
 * bounded: what exceeds BATS_SPOOL_MEMORY goes to a file without a name in
 * $TMPDIR (or /tmp), which disappears with the process.
 */
#ifndef BATS_SPOOL_H
#define BATS_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

#define BATS_SPOOL_MEMORY ((size_t)32 * 1024)

struct bats_spool {
    char *bytes; /* the first so many of them: BATS_SPOOL_MEMORY at most */
    size_t n;
    int fd;         /* the others; -1: there are none */
    int64_t n_file; /* how many */
};

/* An empty one needs no memory, and no release. */
void bats_spool_init(struct bats_spool *spool);
void bats_spool_release(struct bats_spool *spool);

/* Empties it. */
void bats_spool_clear(struct bats_spool *spool);

/* BATS_ESYS names the directory: what was added before is still there. */
int bats_spool_add(struct bats_spool *spool, const char *bytes, size_t n,
                   struct bats_error *err);

/* Bytes in it, and whether all of them are in `bytes`. */
int64_t bats_spool_size(const struct bats_spool *spool);
bool bats_spool_in_memory(const struct bats_spool *spool);

/* Copies up to `size` bytes from `offset` on. Returns how many: 0 at the end;
 * or BATS_ESYS. */
ptrdiff_t bats_spool_read(const struct bats_spool *spool, int64_t offset,
                          char *to, size_t size, struct bats_error *err);

#endif
