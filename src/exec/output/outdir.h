/*
 * outdir: reads the output that the workers of one or more runs have written
 * into a directory (outfile.h has the format).
 *
 * Layer: exec. Used by the verb output. Model: a task may have run several
 * times. Its newest run counts. Within that run, an attempt that succeeded is
 * preferred to one that failed, and a later one to an earlier one. An attempt
 * that was stopped, or whose task got its result from another replica, does
 * not count.
 *
 * Garbled lines, and files that end in the middle of a line or of a chunk
 * after a crash, are reported (`complain`), and the rest is read.
 *
 * Invariant: memory grows with the number of tasks, not with their output.
 */
#ifndef BATS_OUTDIR_H
#define BATS_OUTDIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"

struct dirent;

struct bats_outdir_entry {
    uint32_t task; /* index in the bag */
    uint32_t attempt;
    uint32_t file; /* its file; files are sorted by run */
    int exit_status;
    int signal;
    int64_t begin; /* offset in the .out file */
    int64_t end;
    int64_t written[2]; /* bytes on standard output and error */
};

struct bats_outdir {
    char *dir;
    struct dirent **files; /* their names without .out and .index */
    size_t n_files;
    struct bats_outdir_entry *entries; /* the attempts that count, sorted by
                                        * task */
    size_t n;
    size_t capacity;
    /* Called with a sentence about each damage; NULL: damage is ignored. */
    void (*complain)(void *context, const char *sentence);
    void *context;
};

/* True if `dir` has output of runs. */
bool bats_outdir_in_use(const char *dir);

/* Reads the indexes in `dir`. BATS_EINPUT: there are none; BATS_ESYS,
 * BATS_ENOMEM. Set `complain` and `context` before the call. */
int bats_outdir_open(struct bats_outdir *outdir, const char *dir,
                     struct bats_error *err);
void bats_outdir_release(struct bats_outdir *outdir);

/* Index of the first entry whose task is `task` (index in the bag) or a later
 * one. */
size_t bats_outdir_from(const struct bats_outdir *outdir, uint32_t task);

/*
 * Passes on the kept output of an attempt on stream 1 or 2, piece by piece, in
 * order. `take` returns false to stop; the result is then 0. Returns 1 after a
 * complaint (a chunk is missing or garbled). BATS_ESYS.
 */
int bats_outdir_read(const struct bats_outdir *outdir,
                     const struct bats_outdir_entry *entry, int stream,
                     bool (*take)(void *context, const char *bytes, size_t n),
                     void *context, struct bats_error *err);

#endif
