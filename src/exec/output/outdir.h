/*
 * outdir: reads what the workers of one or more runs have put into a
 * directory (outfile.h says how that looks).
 *
 * Layer: exec. Used by the verb output. Model: a task may have run several
 * times. What counts is its newest run; in that, an attempt that succeeded
 * before one that failed, and of those the last one. An attempt that was
 * stopped, or whose task had its result from another copy, counts for
 * nothing.
 *
 * Files that end in the middle of a line or of a chunk, as a crash leaves
 * them, and lines that are garbled are told (`complain`), and the rest is
 * read.
 *
 * Invariant: memory grows with the number of tasks, not of bytes.
 */
#ifndef BATS_OUTDIR_H
#define BATS_OUTDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

struct bats_outdir_entry {
    uint32_t task; /* index in the bag */
    uint32_t attempt;
    uint32_t file; /* in which it is; files are sorted by run */
    int exit_status;
    int signal;
    int64_t begin; /* where in the .out file */
    int64_t end;
    int64_t written[2]; /* bytes on standard output and error */
};

struct bats_outdir {
    char *dir;
    char **names; /* of the files, without .out and .index */
    size_t n_names;
    struct bats_outdir_entry *entries; /* that count, sorted by task */
    size_t n;
    size_t capacity;
    /* Told of each damage, in one sentence; not set: they are ignored. */
    void (*complain)(void *context, const char *sentence);
    void *context;
};

/* Runs have put their output there. */
bool bats_outdir_in_use(const char *dir);

/* Reads the indexes in `dir`. BATS_EINPUT: there are none; BATS_ESYS,
 * BATS_ENOMEM. `complain` and `context` are to be set before. */
int bats_outdir_open(struct bats_outdir *outdir, const char *dir,
                     struct bats_error *err);
void bats_outdir_release(struct bats_outdir *outdir);

/* Where the entries of the tasks from `task` on (index in the bag) begin. */
size_t bats_outdir_from(const struct bats_outdir *outdir, uint32_t task);

/*
 * Hands over what is kept of an attempt on stream 1 or 2, piece by piece, in
 * order. `take` returns false to stop it; then the result is 0. 1: there is a
 * complaint (a chunk is missing or garbled). BATS_ESYS.
 */
int bats_outdir_read(const struct bats_outdir *outdir,
                     const struct bats_outdir_entry *entry, int stream,
                     bool (*take)(void *context, const char *bytes, size_t n),
                     void *context, struct bats_error *err);

#endif
