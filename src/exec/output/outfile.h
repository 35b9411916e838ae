/*
 * outfile: the file into which a worker writes the output of all its tasks, so
 * that a million tasks do not make a million files.
 *
 * Layer: exec. Written by outlet, read by the verb output. The worker of rank R
 * in the run RUN (or, with worker jobs, the R-th that joined) writes
 * stream-RUN-R.out. It consists of chunks: a header of 41 bytes, for people,
 *
 *     #bats <task> <attempt> <stream> <length>\n
 *
 * (decimal, padded with zeros to 10, 10, 1 and 10 digits; tasks are counted
 * from 1; stream 1 is standard output, 2 standard error), then `length` bytes
 * of the task. The chunks of one attempt stand together, in the order in which
 * they were read. Where they are is in the usage of the attempt, and with that
 * in the record of the run, which says which attempts count.
 *
 * Invariant: the file only grows, and the chunks of an attempt are written
 * before its result is reported.
 */
#ifndef BATS_OUTFILE_H
#define BATS_OUTFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bats/error.h"
#include "util/usage.h"

#define BATS_OUTFILE_HEAD 41               /* bytes of a chunk's header */
#define BATS_OUTFILE_NAME "stream-%s-%04d" /* RUN, R; without ".out" */

struct bats_outfile; /* opaque */

/* Creates PREFIX.out, which must not exist, and missing directories. BATS_ESYS
 * names the file; BATS_ENOMEM. */
int bats_outfile_create(const char *prefix, struct bats_outfile **file,
                        struct bats_error *err);
void bats_outfile_destroy(struct bats_outfile *file);

/* Creates the directory and its missing parents. False, with errno: some cannot
 * be created. `path` is as it was afterwards. */
bool bats_outfile_make_directory(char *path);

/* The following output belongs to this attempt (task: index in the bag). */
void bats_outfile_begin(struct bats_outfile *file, uint32_t task,
                        uint32_t attempt);

/* BATS_ESYS if the file cannot be written; do not use it any more. */
int bats_outfile_add(struct bats_outfile *file, int stream, const char *bytes,
                     size_t n, struct bats_error *err);

/* The attempt has ended: sets `begin` and `end` of its usage. */
void bats_outfile_end(const struct bats_outfile *file,
                      struct bats_usage *usage);

/* An attempt whose output is read. */
struct bats_outfile_place {
    const char *path; /* of the file */
    uint32_t task, attempt;
    int64_t begin, end;
};

/* Passes on the output of the attempt on stream 1 or 2, in order, in pieces of
 * at most 64 KiB. `take` returns false to stop; the result is then 0. Returns 1
 * if a chunk is missing or garbled. BATS_ESYS: the file cannot be read. */
int bats_outfile_read(const struct bats_outfile_place *place, int stream,
                      bool (*take)(void *context, const char *bytes, size_t n),
                      void *context, struct bats_error *err);

#endif
