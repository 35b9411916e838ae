/*
 * spool: bytes that are kept until their use is decided. Layer: exec. Used by
 * the MPI worker for the lines of a task that may have replicas: they are
 * published once it is known which replica was first. Memory is bounded: bytes
 * beyond BATS_SPOOL_MEMORY go to a file without a name in $TMPDIR (or /tmp),
 * which disappears with the process.
 */
#ifndef BATS_SPOOL_H
#define BATS_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

#define BATS_SPOOL_MEMORY ((size_t)32 * 1024)

struct bats_spool {
    char *bytes; /* the first bytes, at most BATS_SPOOL_MEMORY */
    size_t n;
    int fd;         /* file for the rest; -1: none */
    int64_t n_file; /* number of bytes in it */
    char *piece;    /* the piece read last by bats_spool_lines */
    size_t room;
};

/* An empty spool needs no memory and no release. */
void bats_spool_init(struct bats_spool *spool);
void bats_spool_release(struct bats_spool *spool);

/* Empties it. */
void bats_spool_clear(struct bats_spool *spool);

/* Appends bytes. BATS_ESYS names the directory; earlier bytes are kept. */
int bats_spool_add(struct bats_spool *spool, const char *bytes, size_t n,
                   struct bats_error *err);

/* The number of bytes, and whether all of them are in `bytes`. */
int64_t bats_spool_size(const struct bats_spool *spool);
bool bats_spool_in_memory(const struct bats_spool *spool);

/* *lines: complete lines from `offset` on, as many as fit into 64 KiB, at
 * least one; valid until the next call or the release. Returns the number of
 * bytes, 0 at the end, or BATS_ESYS, BATS_ENOMEM. */
ptrdiff_t bats_spool_lines(struct bats_spool *spool, int64_t offset,
                           const char **lines, struct bats_error *err);

#endif
